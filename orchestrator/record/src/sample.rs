//! One of every event, for tests.

use std::time::Duration;

use chrono::DateTime;
use packtrain_drivers::{ActionReport, DeviceEvent, DeviceId, DeviceInfo, Located, Platform, Size};
use packtrain_model::{
    Artifact, ArtifactKind, AttemptNumber, Blame, CancelCause, Entry, Failure, Outcome,
    PlannedSession, RecordAs, RunEvent, RunId, RunOptionsSummary, SCHEMA_VERSION, SessionId,
    SessionIndex, SourceCall, StepIndex, StepKind, StepSummary, TrailSummary, Verdict,
};

pub(crate) fn run() -> RunId {
    RunId("20261121-093015-k3f9".to_owned())
}

fn failure() -> Failure {
    Failure {
        message: "expected \"Welcome\"\nand found none".to_owned(),
        tool: Some("assertVisibleWithText".to_owned()),
        log: vec!["looked for text \"Welcome\"".to_owned()],
        hint: Some("is the app logged in?".to_owned()),
        at: Some("trails/login.trail.yaml:12:9".to_owned()),
        fatal: true,
    }
}

fn device() -> DeviceInfo {
    DeviceInfo {
        id: DeviceId::new(Platform::Web, "desktop"),
        driver: "playwright".to_owned(),
        classifiers: vec!["web".into(), "desktop".into()],
        model: "desktop 1280x800".to_owned(),
        system: "Chromium 156".to_owned(),
        screen: Size {
            width: 1280.0,
            height: 800.0,
        },
    }
}

/// A run in which everything happens that can happen.
pub(crate) fn entries() -> Vec<Entry> {
    let session = SessionId::new(SessionIndex(0), AttemptNumber(1));
    let step = StepIndex(1);
    let duration_ms = Duration::from_micros(1_234_567);
    let planned = PlannedSession {
        trail: 0,
        device: Some(device().id),
        ..PlannedSession::default()
    };
    let mut events = vec![
        RunEvent::RunStarted {
            schema_version: SCHEMA_VERSION,
            packtrain: "0.1.0".to_owned(),
            run: run(),
            trails: vec![TrailSummary {
                name: "login".to_owned(),
                title: "Log in".to_owned(),
                path: "trails/login.trail.yaml".to_owned(),
                tags: vec!["smoke".to_owned()],
                steps: vec![StepSummary {
                    step,
                    kind: StepKind::Verify,
                    text: "the welcome page shows".to_owned(),
                    line: 12,
                }],
            }],
            devices: vec![device()],
            sessions: vec![planned.clone()],
            options: RunOptionsSummary::default(),
            matrix: None,
        },
        RunEvent::session_started(session.clone(), planned, AttemptNumber(1), device()),
        RunEvent::StepStarted {
            session: session.clone(),
            step,
        },
        RunEvent::ToolStarted {
            session: session.clone(),
            step,
            call: 0,
            depth: 0,
            tool: "assertVisibleWithText".to_owned(),
            arguments: serde_json::json!({"text": "Welcome", "seq": 9, "at": "x", "big": 1u64 << 60}),
        },
        RunEvent::ArtifactSaved {
            session: session.clone(),
            step,
            artifact: Artifact {
                kind: ArtifactKind::Screenshot,
                path: "artifacts/s1/01-end.png".to_owned(),
                bytes: 9,
            },
        },
        RunEvent::DeviceReported {
            session: session.clone(),
            step,
            report: DeviceEvent::RequestFailed {
                method: "GET".to_owned(),
                url: "http://localhost/\u{2028}".to_owned(),
                status: Some(500),
                error: None,
            },
        },
        RunEvent::SessionWillRetry {
            session: session.clone(),
            next: AttemptNumber(2),
            outcome: Outcome::Failed(failure()),
            duration_ms,
        },
        RunEvent::SinkFailed {
            sink: "html".to_owned(),
            message: "no space".to_owned(),
            unsaved: None,
        },
        RunEvent::SinkFailed {
            sink: "journal".to_owned(),
            message: "no space".to_owned(),
            unsaved: Some("screen.png".to_owned()),
        },
        RunEvent::StopRequested {
            by: CancelCause::Interrupt,
        },
    ];
    let outcomes = [
        Outcome::Passed,
        Outcome::Skipped {
            reason: "not on the web".to_owned(),
        },
        Outcome::Failed(failure()),
        Outcome::NeedsAgent {
            why: "no recording for web".to_owned(),
        },
        Outcome::Infrastructure {
            blame: Blame::Device,
            cause: "the browser is gone".to_owned(),
            hint: Some("start it again".to_owned()),
            unstarted: Vec::new(),
        },
        Outcome::Cancelled {
            by: CancelCause::Interrupt,
        },
    ];
    for outcome in outcomes {
        events.push(RunEvent::ToolFinished {
            session: session.clone(),
            step,
            call: 0,
            depth: 0,
            tool: "tap".to_owned(),
            outcome: outcome.clone(),
            report: ActionReport {
                located: Some(Located {
                    by: "textRegex \"Welcome\"".to_owned(),
                    matched: 3,
                }),
                notes: vec!["3 matched, first used".to_owned()],
            },
            answer: Some("done".to_owned()),
            record: RecordAs::Children,
            via: Some(SourceCall {
                source: "acme".to_owned(),
                replica: 1,
                callbacks: 2,
                device_ms: Duration::from_millis(3),
                log: Some("sources/acme.log".to_owned()),
            }),
            duration_ms,
        });
        events.push(RunEvent::StepFinished {
            session: session.clone(),
            step,
            outcome: outcome.clone(),
            duration_ms,
        });
        events.push(RunEvent::SessionFinished {
            session: session.clone(),
            outcome,
            flaky: false,
            duration_ms,
        });
    }
    let mut verdict = Verdict::default();
    verdict.count(&Outcome::Passed, true);
    events.push(RunEvent::RunFinished {
        verdict,
        duration_ms,
    });
    let start = DateTime::from_timestamp(1_795_253_415, 123_456_789).unwrap();
    (1..)
        .zip(events)
        .map(|(seq, event)| Entry {
            seq,
            at: start + Duration::from_millis(seq),
            event,
        })
        .collect()
}

/// The keys of a JSON object as they stand in its text, repeated ones included.
pub(crate) fn top_level_keys(json: &str) -> Vec<String> {
    use std::fmt;

    use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};

    struct Keys;
    impl<'de> Visitor<'de> for Keys {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut keys = Vec::new();
            while let Some((key, _)) = map.next_entry::<String, IgnoredAny>()? {
                keys.push(key);
            }
            Ok(keys)
        }
    }
    serde_json::Deserializer::from_str(json)
        .deserialize_map(Keys)
        .unwrap()
}
