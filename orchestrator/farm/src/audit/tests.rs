use std::time::Duration;

use chrono::TimeDelta;
use packtrain_drivers::{ActionReport, DeviceInfo, Size};
use packtrain_model::{
    Artifact, ArtifactKind, AttemptNumber, Blame, Entry, Outcome, PlannedSession, RecordAs,
    RunEvent, RunId, RunOptionsSummary, SessionIndex, StepKind, StepSummary, TrailSummary, Verdict,
};

use super::*;

/// Steps of the trail.
const STEPS: u32 = 3;
/// How long a step takes.
const STEP_MS: i64 = 10;

fn at(ms: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(1_700_000_000_000 + ms).unwrap()
}

fn device(name: &str) -> DeviceId {
    name.parse().unwrap()
}

fn lost() -> Outcome {
    Outcome::Infrastructure {
        blame: Blame::HostLost,
        cause: "its host is gone".to_owned(),
        hint: None,
        unstarted: Vec::new(),
    }
}

/// A run as it is written down while it goes on.
struct Story {
    entries: Vec<Entry>,
    arrivals: Vec<Arrival>,
    now: i64,
}

impl Story {
    fn of(sessions: usize) -> Self {
        let steps = (1..=STEPS).map(|step| StepSummary {
            step: StepIndex(step),
            kind: StepKind::Step,
            text: "x".to_owned(),
            line: step,
        });
        let trail = TrailSummary {
            name: "a".to_owned(),
            title: "a".to_owned(),
            path: "a.trail.yaml".to_owned(),
            tags: Vec::new(),
            steps: steps.collect(),
        };
        let mut story = Self {
            entries: Vec::new(),
            arrivals: Vec::new(),
            now: 0,
        };
        story.tell(RunEvent::RunStarted {
            schema_version: 1,
            packtrain: "0".to_owned(),
            run: RunId("r".to_owned()),
            trails: vec![trail],
            devices: Vec::new(),
            sessions: vec![PlannedSession::default(); sessions],
            options: RunOptionsSummary::default(),
            matrix: None,
        });
        story
    }

    fn tell(&mut self, event: RunEvent) {
        self.entries.push(Entry {
            seq: self.entries.len() as u64 + 1,
            at: at(self.now),
            event,
        });
    }

    fn start(&mut self, session: &SessionId, on: &str) {
        let (_, attempt) = parse_session(session).unwrap();
        self.tell(RunEvent::session_started(
            session.clone(),
            PlannedSession::default(),
            AttemptNumber(attempt),
            info(on),
        ));
    }

    fn step(&mut self, session: &SessionId, on: &str, step: u32) {
        let step = StepIndex(step);
        let (session, duration_ms) = (session.clone(), Duration::from_millis(1));
        self.tell(RunEvent::StepStarted {
            session: session.clone(),
            step,
        });
        self.tell(RunEvent::ToolStarted {
            session: session.clone(),
            step,
            call: 0,
            depth: 0,
            tool: "t".to_owned(),
            arguments: serde_json::Value::Null,
        });
        self.now += STEP_MS;
        self.arrive(on, step.0);
        self.tell(RunEvent::ToolFinished {
            session: session.clone(),
            step,
            call: 0,
            depth: 0,
            tool: "t".to_owned(),
            outcome: Outcome::Passed,
            report: ActionReport::default(),
            answer: None,
            record: RecordAs::Itself,
            via: None,
            duration_ms,
        });
        self.tell(RunEvent::StepFinished {
            session,
            step,
            outcome: Outcome::Passed,
            duration_ms,
        });
    }

    fn arrive(&mut self, on: &str, step: u32) {
        self.arrivals.push(Arrival {
            device: device(on),
            at: at(self.now),
            step: StepIndex(step),
        });
    }

    fn retry(&mut self, session: &SessionId) {
        let (_, attempt) = parse_session(session).unwrap();
        self.tell(RunEvent::SessionWillRetry {
            session: session.clone(),
            next: AttemptNumber(attempt + 1),
            outcome: lost(),
            duration_ms: Duration::ZERO,
        });
    }

    fn finish(&mut self, session: &SessionId, outcome: Outcome) {
        self.tell(RunEvent::SessionFinished {
            session: session.clone(),
            outcome,
            flaky: false,
            duration_ms: Duration::ZERO,
        });
    }

    fn pass(&mut self, session: &SessionId, on: &str) {
        self.start(session, on);
        for step in 1..=STEPS {
            self.step(session, on, step);
        }
        self.now += 1;
        self.finish(session, Outcome::Passed);
        self.now += 1;
    }

    fn end(&mut self, passed: u32) {
        self.tell(RunEvent::RunFinished {
            verdict: Verdict {
                passed,
                ..Verdict::default()
            },
            duration_ms: Duration::ZERO,
        });
    }

    fn findings(&self) -> Vec<Finding> {
        let mut findings = journal(&self.entries);
        findings.extend(devices(&attempts(&self.entries), &self.arrivals));
        findings
    }
}

fn info(name: &str) -> DeviceInfo {
    DeviceInfo {
        id: device(name),
        driver: "d".to_owned(),
        classifiers: Vec::new(),
        model: "m".to_owned(),
        system: "s".to_owned(),
        screen: Size::new(1.0, 1.0),
    }
}

fn session(number: usize, attempt: u32) -> SessionId {
    SessionId::new(SessionIndex(number - 1), AttemptNumber(attempt))
}

const A: &str = "android/one@h1";
const B: &str = "android/two@h2";

/// Three sessions; the second's first attempt is lost with its host in its second step, after the command
/// of that step had reached the device, and goes to the other device.
fn story() -> Story {
    let mut story = Story::of(3);
    story.pass(&session(1, 1), A);
    let second = session(2, 1);
    story.start(&second, A);
    story.step(&second, A, 1);
    story.arrive(A, 2);
    story.now += 500;
    story.retry(&second);
    story.pass(&session(2, 2), B);
    story.pass(&session(3, 1), B);
    story.end(3);
    story
}

fn kinds(findings: &[Finding]) -> Vec<FindingKind> {
    findings.iter().map(|finding| finding.kind).collect()
}

fn numbered(entries: &mut [Entry]) {
    for (seq, entry) in (1..).zip(entries) {
        entry.seq = seq;
    }
}

#[test]
fn a_run_that_lost_a_host_and_went_on_is_in_order() {
    assert_eq!(story().findings(), []);
    let after: Vec<_> = attempts(&story().entries);
    let lost: Vec<_> = after.iter().filter(|attempt| attempt.is_lost()).collect();
    assert_eq!((lost.len(), lost[0].host()), (1, "h1"));
}

#[test]
fn any_event_that_is_left_out_is_missed_also_when_the_numbers_hide_it() {
    let whole = story().entries;
    for left_out in 0..whole.len() {
        let mut entries = whole.clone();
        entries.remove(left_out);
        let event = &whole[left_out].event;
        if left_out + 1 < whole.len() {
            assert_eq!(kinds(&journal(&entries))[0], FindingKind::Lost, "{event:?}");
        }
        numbered(&mut entries);
        // The last word of an attempt that was torn off may always have been another.
        let next = whole.get(left_out + 1).map(|next| &next.event);
        let is_torn = matches!(next, Some(RunEvent::SessionWillRetry { .. }));
        assert_eq!(journal(&entries).is_empty(), is_torn, "without {event:?}");
    }
}

#[test]
fn any_event_that_is_told_twice_is_noticed_wherever_the_second_stands() {
    let whole = story().entries;
    for twice in 0..whole.len() {
        for place in twice + 1..=whole.len() {
            let mut entries = whole.clone();
            entries.insert(place, whole[twice].clone());
            numbered(&mut entries);
            assert_ne!(
                journal(&entries),
                [],
                "{:?} again at {place}",
                whole[twice].event
            );
        }
    }
}

#[test]
fn neighbours_of_one_session_that_change_places_are_noticed() {
    let whole = story().entries;
    for first in 0..whole.len() - 1 {
        let mut entries = whole.clone();
        entries.swap(first, first + 1);
        numbered(&mut entries);
        let sessions = [first, first + 1].map(|at| whole[at].event.session());
        if sessions[0] == sessions[1] || sessions.contains(&None) {
            assert_ne!(journal(&entries), [], "{:?}", whole[first].event);
        }
    }
}

#[test]
fn the_attempt_after_a_lost_one_is_its_next_and_begins_when_it_has_ended() {
    let whole = story().entries;
    // Before the first was lost, and numbered as the one after the next.
    let retry = |entry: &Entry| matches!(entry.event, RunEvent::SessionWillRetry { .. });
    let place = whole.iter().position(retry).unwrap();
    let mut early = whole.clone();
    early.swap(place, place + 1);
    numbered(&mut early);
    assert_eq!(kinds(&journal(&early))[0], FindingKind::Doubled);

    let text = serde_json::to_string(&whole).unwrap();
    let skipping = text.replace("s2.2", "s2.3");
    let skipping: Vec<Entry> = serde_json::from_str(&skipping).unwrap();
    assert!(kinds(&journal(&skipping)).contains(&FindingKind::Lost));
}

#[test]
fn a_session_that_nobody_planned_and_a_count_that_does_not_hold_are_told() {
    let mut more = Story::of(1);
    more.pass(&session(1, 1), A);
    more.pass(&session(2, 1), A);
    more.end(1);
    assert!(kinds(&more.findings()).contains(&FindingKind::Doubled));
    for (count, kind) in [(1, FindingKind::Lost), (4, FindingKind::Doubled)] {
        let mut story = story();
        story.entries.pop();
        story.end(count);
        assert_eq!(kinds(&story.findings()), [kind]);
    }
}

#[test]
fn a_command_that_comes_when_its_holder_was_declared_lost_is_stale() {
    // The zombie goes on where it was, even if the device has a new holder.
    let clean = story();
    let places = clean.arrivals.len();
    for place in 0..=places {
        for step in 2..=STEPS {
            let mut story = story();
            story.now = match place.checked_sub(1) {
                Some(before) => (clean.arrivals[before].at - at(0)).num_milliseconds() + 1,
                None => 0,
            };
            let lost = story.now <= 600 && step == 3 && place == 5;
            let stale = Arrival {
                device: device(A),
                at: at(story.now),
                step: StepIndex(step),
            };
            story.arrivals.insert(place, stale);
            // Its own next command, before it was declared lost, is not a crime.
            if !lost {
                assert_ne!(story.findings(), [], "step {step} at {place}");
            }
        }
    }
    let mut story = story();
    story.arrive(A, 3);
    assert_eq!(kinds(&story.findings()), [FindingKind::Stale]);
    story.arrivals.pop();
    story.arrive(A, 1);
    assert_eq!(kinds(&story.findings()), [FindingKind::Stale]);
}

#[test]
fn a_command_that_a_device_never_saw_is_missed() {
    for gone in 0..story().arrivals.len() {
        let mut story = story();
        let arrival = story.arrivals.remove(gone);
        // What the torn attempt did in the step that it did not end, nobody promised.
        let is_torn = gone == STEPS as usize + 1;
        assert_eq!(story.findings().is_empty(), is_torn, "{arrival:?}");
    }
}

#[test]
fn two_sessions_at_once_on_one_device_are_two_holders() {
    let mut story = Story::of(2);
    let (first, second) = (session(1, 1), session(2, 1));
    story.start(&first, A);
    story.step(&first, A, 1);
    story.start(&second, A);
    story.step(&second, A, 1);
    story.step(&first, A, 2);
    let found = devices(&attempts(&story.entries), &[]);
    assert_eq!(found[0].kind, FindingKind::Doubled);
    assert!(found[0].what.contains("s1 and s2"), "{found:?}");
}

/// The first session on a phone was lost before any of its messages arrived, and its run was told late: when the
/// next one had begun. Its command is that of nobody else.
#[test]
fn an_attempt_of_which_nothing_was_heard_explains_one_turn_and_holds_nothing() {
    let unheard = |turns: usize| {
        let mut story = Story::of(2);
        let (first, second) = (session(1, 1), session(2, 1));
        for _ in 0..turns {
            story.arrive(A, 1);
        }
        story.now += 10;
        story.start(&second, A);
        story.step(&second, A, 1);
        story.start(&first, A);
        story.retry(&first);
        story.now += 10;
        story.step(&second, A, 2);
        story.step(&second, A, 3);
        story.finish(&second, Outcome::Passed);
        story.pass(&session(1, 2), A);
        story.end(2);
        story
    };
    assert_eq!(unheard(0).findings(), []);
    assert_eq!(unheard(1).findings(), []);
    assert_eq!(kinds(&unheard(2).findings()), [FindingKind::Stale]);
    let mut late = unheard(0);
    late.now += 10;
    late.arrive(A, 1);
    assert_eq!(kinds(&late.findings()), [FindingKind::Stale]);
}

#[test]
fn each_of_several_attempts_of_which_nothing_was_heard_explains_a_turn_of_its_own() {
    let lost_twice = |turns: [usize; 2]| {
        let mut story = Story::of(2);
        for (number, turns) in [1, 2].into_iter().zip(turns) {
            for _ in 0..turns {
                story.arrive(A, 1);
            }
            story.now += 10;
            story.start(&session(number, 1), A);
            story.retry(&session(number, 1));
            story.pass(&session(number, 2), A);
        }
        story.end(2);
        kinds(&story.findings())
    };
    for turns in [[0, 0], [1, 0], [0, 1], [1, 1], [2, 0]] {
        assert_eq!(lost_twice(turns), [], "{turns:?}");
    }
    for turns in [[0, 2], [1, 2], [2, 1], [3, 0]] {
        assert_eq!(lost_twice(turns), [FindingKind::Stale], "{turns:?}");
    }
}

#[test]
fn a_file_that_arrives_when_the_next_session_has_begun_holds_no_device() {
    let mut story = Story::of(2);
    let (first, second) = (session(1, 1), session(2, 1));
    story.start(&first, A);
    story.now += 10;
    story.start(&second, A);
    story.now += 10;
    story.tell(RunEvent::ArtifactSaved {
        session: first,
        step: StepIndex(1),
        artifact: Artifact {
            kind: ArtifactKind::DeviceLog,
            path: "logs/a".to_owned(),
            bytes: 1,
        },
    });
    assert_eq!(devices(&attempts(&story.entries), &[]), []);
}

#[test]
fn an_attempt_that_was_told_to_be_lost_too_late_is_late() {
    let story = story();
    let freed = [Freed {
        host: "h1".to_owned(),
        at: at(60),
    }];
    let took = |within| {
        late(
            &attempts(&story.entries),
            &freed,
            TimeDelta::milliseconds(within),
        )
    };
    assert_eq!(took(600), []);
    assert_eq!(kinds(&took(400)), [FindingKind::Late]);
}

#[test]
fn a_run_that_waits_while_another_has_all_devices_is_treated_unfairly() {
    // Twenty sessions in turns on two devices, and a late run of one.
    let run = |first: i64, count: usize| {
        let mut story = Story::of(count);
        for number in 1..=count {
            story.now = first + 32 * (number as i64 - 1);
            story.pass(&session(number, 1), A);
        }
        story.end(0);
        story.entries
    };
    let (long, soon, late) = (run(0, 20), run(30, 1), run(800, 1));
    let mut waiting = late;
    waiting[0].at = at(100);
    let slack = TimeDelta::milliseconds(30);
    assert_eq!(unfair(&[&long, &soon], 2, slack), []);
    let found = unfair(&[&long, &waiting], 2, slack);
    assert_eq!(kinds(&found), [FindingKind::Unfair]);
    assert!(found[0].what.contains("waited 700 ms"), "{found:?}");
}

#[test]
fn marks_are_read_from_command_lines_and_names_of_sessions_are_read_back() {
    assert_eq!(marked("log -t x packtrain-step-12"), Some(StepIndex(12)));
    assert_eq!(marked("'packtrain-step-3'"), Some(StepIndex(3)));
    assert_eq!(marked("packtrain-step-"), None);
    assert_eq!(marked("log x"), None);
    for (number, attempt) in [(1, 1), (12, 1), (3, 2)] {
        let named = parse_session(&session(number, attempt));
        assert_eq!(named, Some((number - 1, attempt)));
    }
    for wrong in ["", "s", "s0", "x1", "s1.", "s1.x", "s-1"] {
        assert_eq!(parse_session(&SessionId(wrong.to_owned())), None, "{wrong}");
    }
}
