//! Makes a run up, event by event: the same shape always gives the same run.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::DateTime;
use packtrain_drivers::{ActionReport, DeviceInfo, Located, Platform};
use packtrain_model::{
    Artifact, ArtifactKind, AttemptNumber, Entry, Outcome, PlannedSession, RecordAs, RunEvent,
    RunId, RunOptionsSummary, SCHEMA_VERSION, SessionId, SessionIndex, StepIndex, Verdict,
};
use serde_json::{Value, json};

use super::picture::{self, Screen};
use super::scenario::{self, PlannedFailure, SNAPSHOT, Step, Trail};

/// A run and its files, by path below the run's folder.
pub struct Sample {
    pub entries: Vec<Entry>,
    pub files: BTreeMap<String, Vec<u8>>,
}

/// What to make up.
#[derive(Clone, Copy)]
pub struct Shape {
    pub devices: usize,
    /// Up to four.
    pub trails: usize,
    pub screenshots: bool,
}

/// Makes the run up.
pub fn sample(shape: Shape) -> Sample {
    let trails = scenario::trails(shape.trails);
    let devices = scenario::devices(shape.devices);
    let planned: Vec<PlannedSession> = (0..trails.len())
        .flat_map(|trail| {
            devices.iter().map(move |device| PlannedSession {
                trail,
                device: Some(device.id.clone()),
                ..PlannedSession::default()
            })
        })
        .collect();
    let mut tape = Tape::default();
    let mut verdict = Verdict::default();
    let mut free = vec![Duration::from_millis(40); devices.len()];
    for (place, plan) in planned.iter().enumerate() {
        let on = place % devices.len();
        let mut session = Session {
            tape: &mut tape,
            trail: &trails[plan.trail],
            device: &devices[on],
            place,
            plan,
            screenshots: shape.screenshots,
            now: free[on],
        };
        let (outcome, flaky) = session.run();
        free[on] = session.now;
        verdict.count(&outcome, flaky);
    }
    let end = free.iter().max().copied().unwrap_or_default() + Duration::from_millis(12);
    // Devices work at the same time; each has its own order.
    tape.events.sort_by_key(|(at, _)| *at);
    let started = RunEvent::RunStarted {
        schema_version: SCHEMA_VERSION,
        packtrain: "0.1.0".to_owned(),
        run: RunId("20261121-093015-k3f9".to_owned()),
        trails: trails.iter().map(Trail::summary).collect(),
        devices,
        sessions: planned,
        matrix: None,
        options: RunOptionsSummary {
            shard: "all".to_owned(),
            retries: 1,
            working_directory: "/home/ada/shop".to_owned(),
            ..RunOptionsSummary::default()
        },
    };
    tape.events.insert(0, (Duration::ZERO, started));
    tape.push(
        end,
        RunEvent::RunFinished {
            verdict,
            duration_ms: end,
        },
    );
    let start = DateTime::from_timestamp(1_795_253_415, 0).expect("a fixed time");
    Sample {
        entries: (1..)
            .zip(tape.events)
            .map(|(seq, (after, event))| Entry {
                seq,
                at: start + after,
                event,
            })
            .collect(),
        files: tape.files,
    }
}

/// Events with their time since the run's start, and files.
#[derive(Default)]
struct Tape {
    events: Vec<(Duration, RunEvent)>,
    files: BTreeMap<String, Vec<u8>>,
    pictures: BTreeMap<(Screen, u32, u32), Vec<u8>>,
}

impl Tape {
    fn push(&mut self, at: Duration, event: RunEvent) {
        self.events.push((at, event));
    }

    fn picture(&mut self, screen: Screen, device: &DeviceInfo) -> Vec<u8> {
        let (width, height) = (device.screen.width, device.screen.height);
        let scale = 300.0 / width.min(height);
        let (width, height) = ((width * scale) as u32, (height * scale) as u32);
        let accent = match device.id.platform() {
            Platform::Android => [46, 125, 106],
            Platform::Ios => [52, 104, 214],
            Platform::Web => [120, 82, 190],
        };
        self.pictures
            .entry((screen, width, height))
            .or_insert_with(|| picture::draw(screen, width, height, accent))
            .clone()
    }
}

/// A tool call to be made up.
struct Call<'a> {
    place: u32,
    depth: u32,
    tool: &'a str,
    arguments: Value,
    report: ActionReport,
    outcome: Outcome,
    answer: Option<&'a str>,
    took: Duration,
}

/// One trail on one device, being made up.
struct Session<'a> {
    tape: &'a mut Tape,
    trail: &'a Trail,
    device: &'a DeviceInfo,
    place: usize,
    plan: &'a PlannedSession,
    screenshots: bool,
    now: Duration,
}

impl Session<'_> {
    fn run(&mut self) -> (Outcome, bool) {
        if let Some(reason) = self.trail.skip(self.device) {
            let outcome = Outcome::Skipped { reason };
            self.finished(1, &outcome, Duration::ZERO);
            return (outcome, false);
        }
        let begun = self.now;
        let outcome = self.attempt(1);
        if matches!(outcome, Outcome::Passed | Outcome::NeedsAgent { .. }) {
            self.finished(1, &outcome, self.now - begun);
            return (outcome, false);
        }
        self.push(RunEvent::SessionWillRetry {
            session: self.id(1),
            next: AttemptNumber(2),
            outcome,
            duration_ms: self.now - begun,
        });
        let begun = self.now;
        let outcome = self.attempt(2);
        self.finished(2, &outcome, self.now - begun);
        let flaky = outcome == Outcome::Passed;
        (outcome, flaky)
    }

    fn id(&self, attempt: u32) -> SessionId {
        SessionId::new(SessionIndex(self.place), AttemptNumber(attempt))
    }

    fn push(&mut self, event: RunEvent) {
        self.tape.push(self.now, event);
    }

    fn finished(&mut self, attempt: u32, outcome: &Outcome, duration_ms: Duration) {
        self.push(RunEvent::SessionFinished {
            session: self.id(attempt),
            outcome: outcome.clone(),
            flaky: attempt > 1 && *outcome == Outcome::Passed,
            duration_ms,
        });
    }

    fn attempt(&mut self, number: u32) -> Outcome {
        let session = self.id(number);
        self.now += Duration::from_millis(180 + 37 * (self.place as u64 % 7));
        self.push(RunEvent::session_started(
            session.clone(),
            self.plan.clone(),
            AttemptNumber(number),
            self.device.clone(),
        ));
        let trouble = self.trail.trouble(self.device, number);
        let trail = self.trail;
        for step in &trail.steps {
            let trouble = trouble.as_ref().filter(|t| t.step == step.index);
            let outcome = self.step(&session, step, trouble);
            if outcome != Outcome::Passed {
                return outcome;
            }
        }
        Outcome::Passed
    }

    fn step(
        &mut self,
        session: &SessionId,
        step: &Step,
        trouble: Option<&PlannedFailure>,
    ) -> Outcome {
        let index = StepIndex(step.index);
        self.push(RunEvent::StepStarted {
            session: session.clone(),
            step: index,
        });
        let begun = self.now;
        for report in self.trail.noise(step.index, self.device) {
            self.push(RunEvent::DeviceReported {
                session: session.clone(),
                step: index,
                report,
            });
        }
        let outcome = trouble.map_or(Outcome::Passed, |trouble| trouble.outcome.clone());
        if !matches!(outcome, Outcome::NeedsAgent { .. }) {
            self.calls(session, step, &outcome);
        }
        let duration_ms = self.now - begun;
        if self.screenshots {
            let screen = trouble.map_or(step.screen, |trouble| trouble.screen);
            let png = self.tape.picture(screen, self.device);
            self.save(session, index, ArtifactKind::Screenshot, "end.png", png);
        }
        if trouble.is_some() {
            let text = SNAPSHOT.into();
            self.save(session, index, ArtifactKind::Snapshot, "screen.txt", text);
        }
        self.push(RunEvent::StepFinished {
            session: session.clone(),
            step: index,
            outcome: outcome.clone(),
            duration_ms,
        });
        outcome
    }

    fn save(
        &mut self,
        session: &SessionId,
        step: StepIndex,
        kind: ArtifactKind,
        name: &str,
        bytes: Vec<u8>,
    ) {
        let path = format!("artifacts/{session}/{:02}-{name}", step.0);
        self.push(RunEvent::ArtifactSaved {
            session: session.clone(),
            step,
            artifact: Artifact {
                kind,
                path: path.clone(),
                bytes: bytes.len() as u64,
            },
        });
        self.tape.files.insert(path, bytes);
    }

    fn calls(&mut self, session: &SessionId, step: &Step, outcome: &Outcome) {
        // Slow devices are slow at everything; what fails waited for its deadline.
        let pace = 60 + self.device.model.bytes().map(u64::from).sum::<u64>() % 90;
        let took = Duration::from_millis(match (outcome, step.tool) {
            (Outcome::Passed, "launchApp") => pace * 14,
            (Outcome::Passed, _) => pace * (2 + u64::from(step.index) * 3 % 5),
            _ => 5_030 + pace,
        });
        let by = match step.by {
            "" => "role=button[name=\"Add to basket\"]",
            by => by,
        };
        let call = |place, depth, tool, arguments, matched: Option<u32>, took| Call {
            place,
            depth,
            tool,
            arguments,
            report: ActionReport {
                located: matched.map(|matched| Located {
                    by: by.to_owned(),
                    matched,
                }),
                notes: matched
                    .filter(|matched| *matched > 1)
                    .map(|matched| format!("{matched} elements match {by}; the first was used"))
                    .into_iter()
                    .collect(),
            },
            outcome: Outcome::Passed,
            answer: None,
            took,
        };
        let index = StepIndex(step.index);
        match step.tool {
            "launchApp" => {
                let arguments = json!({"appId": "com.example.shop", "launchMode": "REINSTALL"});
                let mut call = call(0, 0, step.tool, arguments, None, took);
                call.outcome = outcome.clone();
                self.call(session, index, call, Vec::new());
            }
            "inputText" => {
                let field = json!({"selector": {"textRegex": "E-mail|Street|Search products"}});
                let tap = call(0, 0, "tapOnElement", field, Some(1), took / 3);
                self.call(session, index, tap, Vec::new());
                let text = json!({"text": "espresso cups"});
                let mut input = call(1, 0, step.tool, text, None, took * 2 / 3);
                input
                    .report
                    .notes
                    .push("the field was empty before".to_owned());
                input.outcome = outcome.clone();
                self.call(session, index, input, Vec::new());
            }
            "shop_addToBasket" => {
                let what = json!({"product": "Espresso cup, white", "quantity": 2});
                let mut add = call(0, 0, step.tool, what, None, took / 2);
                add.answer = Some(r#"{"basket":{"items":2,"total":"38.00"}}"#);
                add.outcome = outcome.clone();
                let button = json!({"selector": {"role": "button", "name": "Add to basket"}});
                let taps = (1..3)
                    .map(|place| call(place, 1, "tapOnElement", button.clone(), Some(2), took / 4))
                    .collect();
                self.call(session, index, add, taps);
            }
            _ => {
                let wanted = step.by.split('"').nth(1).unwrap_or_default();
                let arguments = json!({"selector": {"textRegex": wanted}});
                let wide = self.device.screen.width > 1200.0 && step.tool == "tapOnElement";
                let matched = (*outcome == Outcome::Passed).then_some(if wide { 3 } else { 1 });
                let mut call = call(0, 0, step.tool, arguments, matched, took);
                call.outcome = outcome.clone();
                self.call(session, index, call, Vec::new());
            }
        }
    }

    fn call(&mut self, session: &SessionId, step: StepIndex, call: Call<'_>, inner: Vec<Call<'_>>) {
        let begun = self.now;
        self.push(RunEvent::ToolStarted {
            session: session.clone(),
            step,
            call: call.place,
            depth: call.depth,
            tool: call.tool.to_owned(),
            arguments: call.arguments,
        });
        for inner in inner {
            self.call(session, step, inner, Vec::new());
        }
        self.now += call.took;
        self.push(RunEvent::ToolFinished {
            session: session.clone(),
            step,
            call: call.place,
            depth: call.depth,
            tool: call.tool.to_owned(),
            outcome: call.outcome,
            report: call.report,
            answer: call.answer.map(str::to_owned),
            record: RecordAs::Itself,
            via: None,
            duration_ms: self.now - begun,
        });
    }
}
