//! The engine's promises, on a fleet in memory: no browser, no phone, no file.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fleet;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use packtrain_drivers::{BoxFuture, Reach};
use packtrain_engine::{
    Ambiguity, Anywhere, CellSettings, DeviceChange, Journal, NoStore, RequestedTrail, Run,
    RunOptions, RunRequest, SessionHost, SessionOptions, SessionOrder, SessionOutput, SessionStop,
    Shard, Stop, StopReason, resolve,
};
use packtrain_model::memory::Redactor;
use packtrain_model::{Blame, CancelCause, Exit, Outcome, RunEvent, RunId};
use packtrain_testing::in_system;
use packtrain_tools::{AgentPermissions, Caller, Registry, SharedRegistry};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::fleet::{Bench, Fake, registry, trail};

fn retrying(retries: u32) -> RunOptions {
    RunOptions {
        retries,
        ..RunOptions::default()
    }
}

fn lasting(timeout: Duration) -> RunOptions {
    RunOptions {
        session: SessionOptions {
            timeout,
            ..SessionOptions::default()
        },
        ..RunOptions::default()
    }
}

#[test]
fn a_trail_runs_on_every_device_and_each_is_given_back() {
    in_system(async {
        let (a, b) = (Fake::new("a"), Fake::new("b"));
        let trails = [trail("t", &["pass", "pass"]), trail("u", &["fail"])];
        let ran = Bench::new(&[&a, &b], &trails).run().await;
        ran.assert_whole();
        assert_eq!((ran.verdict.passed, ran.verdict.failed), (2, 2));
        assert_eq!(ran.verdict.exit, Exit::Failed);
        for fake in [a, b] {
            assert_eq!(fake.begun.load(Ordering::SeqCst), 2);
            assert_eq!(fake.ended.load(Ordering::SeqCst), 2);
        }
    });
}

#[test]
fn split_retries_what_a_dead_device_spoiled_on_a_healthy_one() {
    in_system(async {
        let (dead, healthy) = (Fake::broken("dead"), Fake::new("healthy"));
        let trails = [trail("t", &["pass"]), trail("u", &["pass"])];
        let mut bench = Bench::new(&[&dead, &healthy], &trails);
        bench.shard = Shard::Split;
        bench.options = retrying(1);
        let ran = bench.run().await;
        ran.assert_whole();
        assert_eq!(ran.verdict.passed, 2, "{:?}", ran.started());
        assert!(ran.started().contains(&"s1.2 on healthy".to_owned()));
    });
}

#[test]
fn a_device_that_breaks_twice_in_a_row_gets_no_further_sessions() {
    in_system(async {
        let dead = Fake::broken("dead");
        let trails = [(); 5].map(|()| trail("t", &["pass"]));
        let ran = Bench::new(&[&dead], &trails).run().await;
        ran.assert_whole();
        assert_eq!(ran.verdict.infrastructure, 5);
        assert_eq!(dead.begun.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn a_session_that_runs_out_of_time_has_failed_and_starves_nobody() {
    in_system(async {
        let a = Fake::new("a");
        let trails = [
            trail("slow", &["wait"]),
            trail("deaf", &["stall"]),
            trail("slow", &["wait"]),
            trail("quick", &["pass"]),
        ];
        let mut bench = Bench::new(&[&a], &trails);
        bench.options = lasting(Duration::from_millis(400));
        let ran = bench.run().await;
        ran.assert_whole();
        assert_eq!(
            (ran.verdict.failed, ran.verdict.passed),
            (3, 1),
            "{:?}",
            ran.outcomes()
        );
        assert_eq!(ran.verdict.exit, Exit::Failed);
        for (session, outcome) in &ran.outcomes()[..3] {
            let message = outcome.message().unwrap();
            assert!(
                message.starts_with("session timed out after 400 ms"),
                "{session}: {message}"
            );
        }
    });
}

#[test]
fn a_step_whose_time_is_over_keeps_the_cause() {
    in_system(async {
        let a = Fake::new("a");
        let mut bench = Bench::new(&[&a], &[trail("t", &["dawdle"]), trail("u", &["pass"; 3])]);
        bench.options.session.step_timeout = Some(Duration::from_millis(100));
        let ran = bench.run().await;
        ran.assert_whole();
        let message = ran.outcomes()[0].1.message().unwrap();
        let expected = "the step timed out after 100 ms: `act` was still running";
        assert_eq!(message, expected);
        assert_eq!(ran.verdict.passed, 1);
    });
}

#[test]
fn nothing_that_ends_after_the_sessions_time_counts_as_passed() {
    in_system(async {
        let a = Fake::new("a");
        let mut bench = Bench::new(&[&a], &[trail("t", &["dawdle"]), trail("u", &["pass"; 3])]);
        bench.options = lasting(Duration::from_millis(100));
        let ran = bench.run().await;
        ran.assert_whole();
        let Outcome::Failed(failure) = &ran.outcomes()[0].1 else {
            panic!("{:?}", ran.outcomes());
        };
        let expected = "session timed out after 100 ms: `act` was still running";
        assert_eq!(failure.message, expected);
        assert_eq!(ran.verdict.passed, 1);
    });
}

#[test]
fn a_panic_costs_its_own_session_and_is_never_a_pass() {
    in_system(async {
        let (a, b) = (Fake::new("a"), Fake::new("b"));
        let trails = [trail("t", &["panic"]), trail("u", &["pass"])];
        let ran = Bench::new(&[&a, &b], &trails).run().await;
        ran.assert_whole();
        assert_eq!((ran.verdict.infrastructure, ran.verdict.passed), (2, 2));
        assert_eq!(ran.verdict.exit, Exit::Infrastructure);
        let (_, outcome) = &ran.outcomes()[0];
        assert!(
            matches!(outcome, Outcome::Infrastructure { blame: Blame::Host, cause, .. }
                if cause.contains("a tool with a bug")),
            "{outcome:?}"
        );
    });
}

#[test]
fn a_run_that_is_stopped_at_any_point_settles_every_session_and_gives_every_device_back() {
    in_system(async {
        let reasons = [
            StopReason::FailFast,
            StopReason::TimeLimit,
            StopReason::Interrupt,
            StopReason::SecondInterrupt,
        ];
        for (point, reason) in (1..40).zip(reasons.into_iter().cycle()) {
            let (a, b) = (Fake::new("a"), Fake::new("b"));
            let trails = [trail("t", &["pass", "fail"]), trail("u", &["pass", "lose"])];
            let mut bench = Bench::new(&[&a, &b], &trails);
            bench.options = retrying(1);
            bench.stops = vec![(point, reason)];
            let ran = bench.run().await;
            ran.assert_whole();
            for fake in [a, b] {
                let begun = fake.begun.load(Ordering::SeqCst);
                let ended = fake.ended.load(Ordering::SeqCst);
                let lost = ran.outcomes().len() as u32 * 2;
                assert!(
                    ended <= begun && begun - ended <= lost,
                    "{begun} begun, {ended} ended"
                );
            }
        }
    });
}

#[test]
fn an_interrupt_cancels_what_runs_and_a_second_one_waits_for_nobody() {
    in_system(async {
        let (a, b) = (Fake::new("a"), Fake::new("b"));
        let mut bench = Bench::new(&[&a], &[trail("t", &["wait"]), trail("u", &["pass"])]);
        bench.stops = vec![(4, StopReason::Interrupt)];
        let ran = bench.run().await;
        ran.assert_whole();
        let by = CancelCause::Interrupt;
        assert!(
            ran.outcomes()
                .iter()
                .all(|(_, outcome)| *outcome == Outcome::Cancelled { by })
        );
        assert_eq!(ran.verdict.exit, Exit::Infrastructure);

        let mut bench = Bench::new(&[&b], &[trail("t", &["stall"])]);
        bench.stops = vec![(4, StopReason::Interrupt), (5, StopReason::SecondInterrupt)];
        let begun = Instant::now();
        let ran = bench.run().await;
        ran.assert_whole();
        assert_eq!(ran.verdict.cancelled, 1);
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "it waited for a tool that stalls"
        );
    });
}

#[test]
fn a_run_that_takes_longer_than_it_may_has_failed() {
    in_system(async {
        let a = Fake::new("a");
        let mut bench = Bench::new(&[&a], &[trail("t", &["wait"]), trail("u", &["pass"])]);
        bench.options.time_limit = Some(Duration::from_millis(50));
        let ran = bench.run().await;
        ran.assert_whole();
        let by = CancelCause::TimeLimit;
        assert!(
            ran.outcomes()
                .iter()
                .all(|(_, outcome)| *outcome == Outcome::Cancelled { by })
        );
        assert_eq!(ran.verdict.exit, Exit::Failed);
    });
}

/// A farm on which nothing is ever granted.
struct Deserted;

impl SessionHost for Deserted {
    fn run(
        &self,
        _: SessionOrder,
        _: SessionOutput,
        stop: SessionStop,
    ) -> BoxFuture<'static, Outcome> {
        Box::pin(async move {
            stop.token().cancelled().await;
            Outcome::Cancelled { by: stop.cause() }
        })
    }

    fn device_changes(&self) -> mpsc::Receiver<DeviceChange> {
        mpsc::channel(1).1
    }
}

#[tokio::test]
async fn a_run_whose_time_is_over_before_anything_began_could_not_find_out() {
    let plan = resolve(RunRequest {
        run: RunId("r".into()),
        trails: vec![RequestedTrail {
            trail: trail("t", &["pass"]),
            only: None,
            matrix: None,
        }],
        devices: Vec::new(),
        only_declared: false,
        alike: Vec::new(),
        anywhere: Some(Anywhere {
            on: "has=bun".to_owned(),
            count: None,
        }),
        driver: None,
        tags: Vec::new(),
        shard: Shard::All,
        options: RunOptions {
            time_limit: Some(Duration::from_millis(10)),
            ..RunOptions::default()
        },
    });
    let (journal, thread) =
        Journal::start(Box::new(NoStore), Vec::new(), Redactor::default()).unwrap();
    let run = Run {
        plan,
        host: Arc::new(Deserted),
        journal,
        stop: Stop::default(),
    };
    let verdict = run.execute().await;
    thread.finish().await;
    assert_eq!((verdict.cancelled, verdict.exit.code()), (1, 2));
}

#[test]
fn a_strict_run_fails_what_is_ambiguous_and_another_one_notes_it() {
    in_system(async {
        for (ambiguity, passed) in [(Ambiguity::Report, 1), (Ambiguity::Fail, 0)] {
            let a = Fake::new("a");
            let mut bench = Bench::new(&[&a], &[trail("t", &["ambiguous"])]);
            bench.options.session.ambiguity = ambiguity;
            let ran = bench.run().await;
            ran.assert_whole();
            assert_eq!(ran.verdict.passed, passed);
            let notes: Vec<String> = ran
                .entries
                .into_iter()
                .filter_map(|entry| match entry.event {
                    RunEvent::ToolFinished { report, .. } => Some(report.notes),
                    _ => None,
                })
                .flatten()
                .collect();
            let noted: &[&str] = match ambiguity {
                Ambiguity::Report => &["3 elements match text \"OK\"; the first was used"],
                Ambiguity::Fail => &[],
            };
            assert_eq!(notes, noted);
        }
    });
}

#[test]
fn commands_of_this_computer_are_a_persons_own() {
    in_system(async {
        for (caller, passed) in [
            (Caller::Person, 1),
            (
                Caller::Remote {
                    host_commands: false,
                },
                0,
            ),
            (
                Caller::Remote {
                    host_commands: true,
                },
                1,
            ),
        ] {
            let a = Fake::new("a");
            let mut bench = Bench::new(&[&a], &[trail("t", &["act_on_host pass"])]);
            bench.caller = caller.clone();
            assert_eq!(bench.run().await.verdict.passed, passed, "{caller:?}");
        }
    });
}

fn agent(host_commands: bool, device_shell: bool) -> (Caller, Reach) {
    let reach = Reach {
        schemes: ["shop".to_owned()].into(),
        folder: "/project".into(),
    };
    let confines = AgentPermissions {
        host_commands,
        device_shell,
        reach: reach.clone(),
    };
    (Caller::Agent(Arc::new(confines)), reach)
}

/// Why the only call of a trail failed for a caller; `None` when it passed.
async fn refusal(caller: &Caller, order: &str) -> Option<String> {
    let a = Fake::new("a");
    let mut bench = Bench::new(&[&a], &[trail("t", &[order])]);
    bench.caller = caller.clone();
    let ran = bench.run().await;
    assert_eq!(a.reach.lock().as_ref(), caller.reach());
    ran.outcomes()[0].1.message()
}

#[test]
fn what_an_agent_may_not_do_nobody_whom_it_calls_does_for_it() {
    in_system(async {
        for (host, shell) in [(false, false), (true, false), (false, true), (true, true)] {
            let (caller, reach) = agent(host, shell);
            assert_eq!(caller.reach(), Some(&reach));
            for tool in ["act", "act_on_host", "act_in_shell"] {
                let direct = refusal(&caller, &format!("{tool} pass")).await;
                let by_source = refusal(&caller, &format!("call_back {tool}")).await;
                let may = match tool {
                    "act_on_host" => host,
                    "act_in_shell" => shell,
                    _ => true,
                };
                assert_eq!(direct.is_none(), may, "{direct:?}");
                assert_eq!(by_source.is_none(), may, "{by_source:?}");
                let says =
                    |said: Option<String>| said.is_none_or(|said| said.contains("for agents"));
                assert!(says(direct) && says(by_source));
            }
        }
        // A caller that is not an agent keeps its rights, by a source too.
        for tool in ["act", "act_on_host", "act_in_shell"] {
            let by_source = refusal(&Caller::Person, &format!("call_back {tool}")).await;
            assert_eq!(by_source, None);
        }
        // A source that may do less than its caller does less.
        for bound in [Caller::Person, agent(true, true).0] {
            let said = refusal(&bound, "call_back_bound act_on_host")
                .await
                .unwrap();
            assert!(said.contains("for remote callers"), "{said}");
            assert_eq!(refusal(&bound, "call_back_bound act_in_shell").await, None);
        }
    });
}

#[test]
fn trails_that_an_agent_has_run_lie_within_its_reach() {
    in_system(async {
        for order in ["runTrail", "call_back runTrail"] {
            for (caller, message) in [
                (agent(true, true).0, "no trail t.trail.yaml in /project"),
                (Caller::Person, "more than 16 deep"),
            ] {
                let a = Fake::new("a");
                let call = match order.split_once(' ') {
                    Some((tool, order)) => format!("{tool}: {{ do: {order} }}"),
                    None => format!("{order}: {{ path: t.trail.yaml }}"),
                };
                let text = format!(
                    "trail:\n  - step: again\n    recording:\n      web:\n        - {call}\n"
                );
                let trail = packtrain_model::Trail::parse(&text, "t.trail.yaml").unwrap();
                let mut bench = Bench::new(&[&a], &[Arc::new(trail.trail)]);
                let builtin = Registry::builtin();
                let run_trail = Arc::clone(builtin.get("runTrail").unwrap());
                bench.registry = SharedRegistry::new(registry().with(run_trail));
                bench.caller = caller;
                let ran = bench.run().await;
                let said = ran.outcomes()[0].1.message().unwrap();
                assert!(said.contains(message), "{said}");
            }
        }
    });
}

#[test]
fn a_registry_that_is_replaced_serves_the_calls_that_follow() {
    in_system(async {
        let a = Fake::new("a");
        let mut bench = Bench::new(&[&a], &[trail("t", &["pass"])]);
        bench.registry = SharedRegistry::new(Registry::default());
        let ran = bench.run().await;
        assert_eq!(ran.verdict.failed, 1);
        let message = ran.outcomes()[0].1.message().unwrap();
        assert_eq!(message, "unknown tool `act`");

        let b = Fake::new("b");
        let mut bench = Bench::new(&[&b], &[trail("t", &["pass"])]);
        bench.registry = SharedRegistry::new(Registry::default());
        bench.registry.replace(registry());
        assert_eq!(bench.run().await.verdict.passed, 1);
    });
}

#[test]
fn trails_that_run_each_other_for_ever_fail() {
    in_system(async {
        let a = Fake::new("a");
        let text = "trail:\n  - step: again\n    recording:\n      web:\n        - runTrail: { path: t.trail.yaml }\n";
        let trail = packtrain_model::Trail::parse(text, "t.trail.yaml")
            .unwrap()
            .trail;
        let mut bench = Bench::new(&[&a], &[Arc::new(trail)]);
        bench.registry = SharedRegistry::new(Registry::builtin());
        let ran = bench.run().await;
        let message = ran.outcomes()[0].1.message().unwrap();
        assert!(message.contains("more than 16 deep"), "{message}");
    });
}

#[test]
fn an_order_that_was_written_down_is_the_same_order() {
    use packtrain_engine::{DeviceRequirement, SessionValues};
    use packtrain_model::{AttemptNumber, Cell, PlannedSession, RunId, SessionId, SessionIndex};
    let fake = packtrain_drivers::DeviceInfo {
        id: packtrain_drivers::DeviceId::new(packtrain_drivers::Platform::Web, "a"),
        driver: "fake".into(),
        classifiers: vec!["web".into()],
        model: String::new(),
        system: String::new(),
        screen: packtrain_drivers::Size::new(1.0, 2.0),
    };
    let order = SessionOrder {
        run: RunId("r".into()),
        session: SessionId::new(SessionIndex(3), AttemptNumber(2)),
        attempt: AttemptNumber(2),
        planned: PlannedSession {
            trail: 0,
            device: None,
            one_of: Vec::new(),
            cell: Cell([("locale".to_owned(), "de".to_owned())].into()),
            repeat: Some(2),
            place: Some(7),
        },
        trail: trail("t", &["pass"]),
        requires: DeviceRequirement::Exactly(fake),
        target: packtrain_tools::Target {
            name: Some("shop".into()),
            ..Default::default()
        },
        values: SessionValues {
            secrets: vec![("password".into(), "s3cret".into())],
            ..SessionValues::default()
        },
        cell: CellSettings::default(),
        options: SessionOptions::default(),
    };
    assert!(!format!("{order:?}").contains("s3cret"));
    let wire = serde_json::to_string(&order).unwrap();
    assert_eq!(serde_json::from_str::<SessionOrder>(&wire).unwrap(), order);
}

#[test]
fn what_stopped_the_run_is_in_its_journal() {
    in_system(async {
        let a = Fake::new("a");
        let mut bench = Bench::new(&[&a], &[trail("t", &["fail"]), trail("u", &["pass"])]);
        bench.options.fail_fast = true;
        let ran = bench.run().await;
        let mut events = ran.entries.iter().map(|entry| &entry.event);
        assert!(events.any(|event| matches!(
            event,
            RunEvent::StopRequested {
                by: CancelCause::FailFast
            }
        )));
    });
}

#[test]
fn an_argument_that_a_tool_does_not_take_is_noted_and_the_call_goes_on() {
    in_system(async {
        let a = Fake::new("a");
        let text = "trail:\n  - step: wait\n    recording:\n      web:\n        - wait: { timeToWaitInSeconds: 0, because: it is slow, reasonning: x }\n";
        let trail = packtrain_model::Trail::parse(text, "t.trail.yaml")
            .unwrap()
            .trail;
        let mut bench = Bench::new(&[&a], &[Arc::new(trail)]);
        bench.registry = SharedRegistry::new(Registry::builtin());
        let ran = bench.run().await;
        assert_eq!(ran.verdict.passed, 1, "{:?}", ran.outcomes());
        let notes = ran.entries.iter().find_map(|entry| match &entry.event {
            RunEvent::ToolFinished { report, .. } => Some(report.notes.clone()),
            _ => None,
        });
        let expected = [
            "unknown argument `because` was ignored",
            "unknown argument `reasonning` was ignored; did you mean `reasoning`?",
        ];
        assert_eq!(notes.unwrap(), expected);
    });
}

#[test]
fn a_misspelled_argument_of_an_assertion_fails_it() {
    in_system(async {
        let a = Fake::new("a");
        let text = "trail:\n  - step: compare\n    recording:\n      web:\n        - assertEquals: { actual: a, expected: a, expectd: b }\n";
        let trail = packtrain_model::Trail::parse(text, "t.trail.yaml")
            .unwrap()
            .trail;
        let mut bench = Bench::new(&[&a], &[Arc::new(trail)]);
        bench.registry = SharedRegistry::new(Registry::builtin());
        let ran = bench.run().await;
        let Outcome::Failed(failure) = &ran.outcomes()[0].1 else {
            panic!("{:?}", ran.outcomes());
        };
        assert_eq!(failure.message, "unknown argument `expectd`");
        assert_eq!(failure.hint.as_deref(), Some("did you mean `expected`?"));
    });
}
