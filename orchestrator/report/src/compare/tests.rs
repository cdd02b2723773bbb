//! What a comparison promises.

use std::time::Duration;

use packtrain_drivers::{DeviceId, DeviceInfo, Platform, Size};
use packtrain_model::{
    AttemptNumber, CancelCause, Outcome, SessionId, StepIndex, StepKind, StepSummary, TrailSummary,
};

use super::{Comparison, Standing};
use crate::mark::Mark;
use crate::view::{AttemptView, SessionView, Status, StepView, TrailView};

fn phone(platform: Platform, name: &str, width: f64) -> DeviceInfo {
    DeviceInfo {
        id: DeviceId::new(platform, name),
        driver: "test".to_owned(),
        classifiers: vec![platform.as_str().into(), "phone".into()],
        model: format!("model {name}"),
        system: format!("system of {name}"),
        screen: Size {
            width,
            height: 2000.0,
        },
    }
}

/// A session that passes its steps, 100 ms each, until it ends so at the last one given.
fn session(info: DeviceInfo, steps: u32, end: Outcome) -> SessionView {
    let id = SessionId(info.id.to_string());
    let steps = (1..=3)
        .map(|step| StepView {
            observed: None,
            step: StepIndex(step),
            started: None,
            status: match step.cmp(&steps) {
                std::cmp::Ordering::Less => Status::Ended(Outcome::Passed),
                std::cmp::Ordering::Equal => Status::Ended(end.clone()),
                std::cmp::Ordering::Greater => Status::NotRun,
            },
            duration: Duration::from_millis(100),
            calls: Vec::new(),
            artifacts: Vec::new(),
            reports: Vec::new(),
        })
        .collect();
    SessionView {
        id: id.clone(),
        device: Some(info.id.clone()),
        group: None,
        cell: packtrain_model::Cell::default(),
        repeat: None,
        info: Some(info),
        status: Status::Ended(end.clone()),
        flaky: false,
        attempts: vec![AttemptView {
            axes: Vec::new(),
            memory: Default::default(),
            id,
            number: AttemptNumber(1),
            started: None,
            ended: None,
            duration: Duration::from_millis(300),
            status: Status::Ended(end),
            steps,
        }],
    }
}

fn trail(sessions: Vec<SessionView>) -> TrailView {
    TrailView {
        summary: TrailSummary {
            name: "t".to_owned(),
            title: "t".to_owned(),
            path: "t.trail.yaml".to_owned(),
            tags: Vec::new(),
            steps: (1..=3)
                .map(|step| StepSummary {
                    step: StepIndex(step),
                    kind: StepKind::Step,
                    text: format!("step {step}"),
                    line: step,
                })
                .collect(),
        },
        sessions,
    }
}

fn android(name: &str) -> DeviceInfo {
    phone(Platform::Android, name, 1080.0)
}

fn groups(comparison: &Comparison) -> Vec<(&str, Option<u32>, &[usize])> {
    comparison
        .clusters
        .iter()
        .map(|c| (c.letter.as_str(), c.step.map(|s| s.0), &c.sessions[..]))
        .collect()
}

#[test]
fn devices_that_fail_alike_are_one_cluster_and_those_that_pass_are_the_reference() {
    let comparison = Comparison::of(&trail(vec![
        session(android("a"), 3, Outcome::Passed),
        session(android("b"), 2, Outcome::failed("no \"Welcome\"")),
        session(android("c"), 3, Outcome::failed("no \"Bye\"")),
        session(android("d"), 2, Outcome::failed("no \"Welcome\"")),
        session(android("e"), 3, Outcome::Passed),
    ]));
    assert_eq!(
        groups(&comparison),
        [
            ("A", Some(2), &[1, 3][..]),
            ("B", Some(3), &[2]),
            ("", None, &[0, 4])
        ]
    );
    assert!(comparison.reference().is_some());
    assert_eq!(
        comparison.clusters[0].message.as_deref(),
        Some("no \"Welcome\"")
    );
}

#[test]
fn the_same_words_at_another_step_are_another_divergence() {
    let comparison = Comparison::of(&trail(vec![
        session(android("a"), 1, Outcome::failed("gone")),
        session(android("b"), 2, Outcome::failed("gone")),
    ]));
    assert_eq!(
        groups(&comparison),
        [("A", Some(1), &[0][..]), ("B", Some(2), &[1])]
    );
    assert!(comparison.reference().is_none());
}

#[test]
fn what_differs_by_nature_does_not_split_a_cluster() {
    let said = |name: &str, seconds: &str, port: u16| {
        Outcome::failed(format!(
            "`{name}`: nothing at 127.0.0.1:{port} after {seconds}, tapped (12, {port})"
        ))
    };
    let comparison = Comparison::of(&trail(vec![
        session(android("a1"), 2, said("a1", "5.0 s", 5037)),
        session(android("b2"), 2, said("android/b2", "5120ms", 40001)),
    ]));
    assert_eq!(comparison.clusters.len(), 1);
    assert_eq!(
        comparison.clusters[0].who(&trail(Vec::new())),
        "on 2 of 0 devices"
    );
}

#[test]
fn other_numbers_do_split_a_cluster() {
    let comparison = Comparison::of(&trail(vec![
        session(android("a"), 2, Outcome::failed("status 404")),
        session(android("b"), 2, Outcome::failed("status 500")),
    ]));
    assert_eq!(comparison.clusters.len(), 2);
}

#[test]
fn what_only_the_diverging_devices_have_is_named() {
    let ios = |name| phone(Platform::Ios, name, 393.0);
    let failed = || Outcome::failed("no");
    let comparison = Comparison::of(&trail(vec![
        session(android("a"), 3, Outcome::Passed),
        session(ios("b"), 2, failed()),
        session(ios("c"), 2, failed()),
    ]));
    assert_eq!(comparison.clusters[0].shared, ["ios"]);

    // A device that passes with the same trait clears it.
    let comparison = Comparison::of(&trail(vec![
        session(ios("a"), 3, Outcome::Passed),
        session(ios("b"), 2, failed()),
        session(ios("c"), 2, failed()),
    ]));
    assert!(comparison.clusters[0].shared.is_empty());
}

#[test]
fn a_small_screen_is_named_within_a_platform_only() {
    let sized = |name, width| phone(Platform::Android, name, width);
    let failed = || Outcome::failed("covered");
    let mut sessions = vec![
        session(sized("a", 1080.0), 3, Outcome::Passed),
        session(sized("b", 720.0), 2, failed()),
        session(sized("c", 600.0), 2, failed()),
    ];
    let comparison = Comparison::of(&trail(sessions.clone()));
    assert_eq!(comparison.clusters[0].shared, ["at most 720 wide"]);
    sessions.push(session(
        phone(Platform::Ios, "d", 1290.0),
        3,
        Outcome::Passed,
    ));
    assert!(
        Comparison::of(&trail(sessions)).clusters[0]
            .shared
            .is_empty()
    );
}

#[test]
fn a_device_that_was_called_off_tells_nothing_about_traits() {
    let ios = |name| phone(Platform::Ios, name, 393.0);
    let cancelled = Outcome::Cancelled {
        by: CancelCause::FailFast,
    };
    let comparison = Comparison::of(&trail(vec![
        session(ios("a"), 2, Outcome::failed("no")),
        session(ios("b"), 2, Outcome::failed("no")),
        session(ios("c"), 1, cancelled),
        session(android("d"), 3, Outcome::Passed),
    ]));
    assert_eq!(comparison.clusters[0].shared, ["ios"]);
    assert_eq!(comparison.clusters[1].mark, Mark::Cancelled);
    assert_eq!(comparison.clusters[1].standing, Standing::Open);
    assert_eq!(comparison.divergences().count(), 1);
}

#[test]
fn a_device_still_under_way_has_not_diverged() {
    let mut open = session(android("b"), 2, Outcome::Passed);
    open.status = Status::Unfinished;
    open.attempts[0].status = Status::Unfinished;
    open.attempts[0].steps[1].status = Status::Unfinished;
    let comparison = Comparison::of(&trail(vec![
        session(android("a"), 3, Outcome::Passed),
        open,
    ]));
    assert_eq!(comparison.divergences().count(), 0);
    assert_eq!(comparison.clusters[0].standing, Standing::Open);
    assert_eq!(comparison.reference().unwrap().sessions, [0]);
}

#[test]
fn a_pass_that_skipped_a_step_diverges_at_that_step() {
    let mut short = session(android("c"), 3, Outcome::Passed);
    short.attempts[0].steps[1].status = Status::Ended(Outcome::Skipped {
        reason: "not here".to_owned(),
    });
    let comparison = Comparison::of(&trail(vec![
        session(android("a"), 3, Outcome::Passed),
        session(android("b"), 3, Outcome::Passed),
        short,
    ]));
    assert_eq!(
        groups(&comparison),
        [("A", Some(2), &[2][..]), ("", None, &[0, 1])]
    );
    assert_eq!(
        comparison.clusters[0].what(),
        "passed differently at step 2"
    );
}

#[test]
fn spreads_count_only_steps_that_passed() {
    let mut slow = session(android("b"), 3, Outcome::Passed);
    slow.attempts[0].steps[0].duration = Duration::from_secs(2);
    let mut waited = session(android("c"), 1, Outcome::failed("no"));
    waited.attempts[0].steps[0].duration = Duration::from_secs(30);
    let comparison = Comparison::of(&trail(vec![
        session(android("a"), 3, Outcome::Passed),
        slow,
        waited,
    ]));
    let spread = comparison.spreads[0].unwrap();
    assert_eq!(spread.fastest, Duration::from_millis(100));
    assert_eq!(spread.slowest, Duration::from_secs(2));
    assert_eq!((spread.fastest_session, spread.slowest_session), (0, 1));
    assert_eq!(spread.count, 2);
}
