//! What a view promises about a run's events.

use std::time::Duration;

use chrono::DateTime;
use packtrain_drivers::{DeviceId, DeviceInfo, Platform, Size};
use packtrain_model::{
    AttemptNumber, Blame, Entry, Exit, Outcome, PlannedSession, RunEvent, RunId, RunOptionsSummary,
    SCHEMA_VERSION, SessionId, StepIndex, StepKind, StepSummary, TrailSummary, Verdict,
};

use super::{RunState, RunView, Status};
use crate::mark::Mark;

fn device() -> DeviceInfo {
    DeviceInfo {
        id: DeviceId::new(Platform::Android, "a"),
        driver: "adb".to_owned(),
        classifiers: vec!["android".into()],
        model: "Pixel".to_owned(),
        system: "Android 16".to_owned(),
        screen: Size {
            width: 1080.0,
            height: 2400.0,
        },
    }
}

fn planned() -> PlannedSession {
    PlannedSession {
        trail: 0,
        device: Some(device().id),
        ..PlannedSession::default()
    }
}

fn started(sessions: Vec<PlannedSession>) -> RunEvent {
    RunEvent::RunStarted {
        schema_version: SCHEMA_VERSION,
        packtrain: "0.1.0".to_owned(),
        run: RunId("r".to_owned()),
        trails: vec![TrailSummary {
            name: "t".to_owned(),
            title: "T".to_owned(),
            path: "t.trail.yaml".to_owned(),
            tags: Vec::new(),
            steps: [1, 2]
                .map(|step| StepSummary {
                    step: StepIndex(step),
                    kind: StepKind::Step,
                    text: format!("step {step}"),
                    line: step,
                })
                .into(),
        }],
        devices: vec![device()],
        sessions,
        options: RunOptionsSummary::default(),
        matrix: None,
    }
}

fn session_started(id: &str, attempt: u32) -> RunEvent {
    RunEvent::session_started(
        SessionId(id.to_owned()),
        planned(),
        AttemptNumber(attempt),
        device(),
    )
}

fn session_finished(id: &str, outcome: Outcome, flaky: bool) -> RunEvent {
    RunEvent::SessionFinished {
        session: SessionId(id.to_owned()),
        outcome,
        flaky,
        duration_ms: Duration::from_secs(3),
    }
}

fn step_started(id: &str, step: u32) -> RunEvent {
    RunEvent::StepStarted {
        session: SessionId(id.to_owned()),
        step: StepIndex(step),
    }
}

fn will_retry(id: &str) -> RunEvent {
    RunEvent::SessionWillRetry {
        session: SessionId(id.to_owned()),
        next: AttemptNumber(2),
        outcome: Outcome::failed("no"),
        duration_ms: Duration::from_secs(5),
    }
}

fn view(events: impl IntoIterator<Item = RunEvent>) -> RunView {
    let start = DateTime::from_timestamp(1_795_253_415, 0).unwrap();
    RunView::from_events((1..).zip(events).map(|(seq, event)| Entry {
        seq,
        at: start + Duration::from_secs(seq),
        event,
    }))
}

#[test]
fn no_events_at_all_are_a_run_that_was_cut_short() {
    let view = view([]);
    assert_eq!(view.state, RunState::CutShort);
    assert_eq!(view.mark(), Mark::NotRun);
    assert_eq!(view.verdict.exit, Exit::Infrastructure);
}

#[test]
fn a_planned_session_that_never_began_is_there_and_says_so() {
    let view = view([started(vec![planned()])]);
    let session = &view.trails[0].sessions[0];
    assert_eq!(session.status, Status::NotRun);
    assert_eq!(session.device_name(), "android/a");
    assert_eq!(view.unfinished(), 1);
}

#[test]
fn attempts_belong_to_one_session_and_their_cost_is_known() {
    let view = view([
        started(vec![planned()]),
        session_started("s1", 1),
        will_retry("s1"),
        session_started("s1.2", 2),
        session_finished("s1.2", Outcome::Passed, true),
    ]);
    let session = &view.trails[0].sessions[0];
    assert_eq!(session.mark(), Mark::Flaky);
    assert_eq!(session.attempts.len(), 2);
    assert_eq!(Mark::of(&session.attempts[0].status), Mark::Failed);
    assert_eq!(session.retry_cost(), Duration::from_secs(5));
    assert_eq!(view.retry_cost(), Duration::from_secs(5));
    assert_eq!(session.total_duration(), Duration::from_secs(8));
    assert_eq!((view.verdict.passed, view.verdict.flaky), (1, 1));
}

#[test]
fn a_session_between_two_attempts_is_unfinished() {
    let view = view([
        started(vec![planned()]),
        session_started("s1", 1),
        will_retry("s1"),
    ]);
    assert_eq!(view.trails[0].sessions[0].mark(), Mark::Unfinished);
}

#[test]
fn a_step_under_way_when_the_events_stop_is_unfinished_and_the_ones_after_it_not_run() {
    let view = view([
        started(vec![planned()]),
        session_started("s1", 1),
        step_started("s1", 1),
    ]);
    let attempt = view.trails[0].sessions[0].last().unwrap();
    assert_eq!(attempt.status, Status::Unfinished);
    assert_eq!(attempt.steps[0].status, Status::Unfinished);
    assert_eq!(attempt.steps[1].status, Status::NotRun);
    assert_eq!(attempt.duration, Duration::from_secs(1));
    assert_eq!(view.verdict.exit, Exit::Infrastructure);
}

#[test]
fn a_step_under_way_when_its_session_ended_shares_the_end() {
    let lost = Outcome::Infrastructure {
        blame: Blame::Device,
        cause: "device lost".to_owned(),
        hint: None,
        unstarted: Vec::new(),
    };
    let view = view([
        started(vec![planned()]),
        session_started("s1", 1),
        step_started("s1", 1),
        session_finished("s1", lost.clone(), false),
    ]);
    let attempt = view.trails[0].sessions[0].last().unwrap();
    assert_eq!(
        attempt.first_bad_step().unwrap().status,
        Status::Ended(lost)
    );
}

#[test]
fn a_session_whose_device_was_never_ready_has_its_end() {
    let lost = Outcome::Infrastructure {
        blame: Blame::Device,
        cause: "no answer".to_owned(),
        hint: None,
        unstarted: Vec::new(),
    };
    let view = view([
        started(vec![planned()]),
        session_finished("s1", lost, false),
    ]);
    let session = &view.trails[0].sessions[0];
    assert_eq!(session.mark(), Mark::Infrastructure);
    assert_eq!(session.attempts.len(), 1);
    assert_eq!(view.verdict.infrastructure, 1);
}

#[test]
fn a_device_from_a_queue_takes_its_planned_place() {
    let waiting = PlannedSession {
        trail: 0,
        device: None,
        ..PlannedSession::default()
    };
    let events = [started(vec![waiting]), session_started("s1", 1)];
    assert_eq!(
        view(events[..1].to_vec()).trails[0].sessions[0].device_name(),
        "any device"
    );
    let view = view(events);
    assert_eq!(view.trails[0].sessions.len(), 1);
    assert_eq!(view.trails[0].sessions[0].device_name(), "android/a");
}

#[test]
fn events_that_make_no_sense_are_left_out() {
    let odd = PlannedSession {
        trail: usize::MAX,
        device: None,
        ..PlannedSession::default()
    };
    let view = view([
        step_started("s9", 1),
        started(vec![odd.clone(), odd]),
        step_started("nobody", 7),
        session_finished("s77", Outcome::Passed, false),
        session_started("s5", 1),
        step_started("s5", 4_000_000_000),
    ]);
    assert_eq!(view.trails.len(), 2);
    assert_eq!(view.trails[1].sessions.len(), 2);
    assert_eq!(view.trails[0].sessions[0].id, SessionId("s5".to_owned()));
}

#[test]
fn the_verdict_of_a_finished_run_is_the_runs_own() {
    let verdict = Verdict {
        exit: Exit::Failed,
        failed: 7,
        ..Verdict::default()
    };
    let view = view([
        started(vec![planned()]),
        RunEvent::RunFinished {
            verdict: verdict.clone(),
            duration_ms: Duration::from_secs(9),
        },
    ]);
    assert_eq!(view.state, RunState::Finished);
    assert_eq!(view.verdict, verdict);
    assert_eq!(view.duration, Duration::from_secs(9));
}
