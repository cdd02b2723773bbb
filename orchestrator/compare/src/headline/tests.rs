use packtrain_model::Blame;

use super::{LONGEST, headline};
use crate::answer::{self, Cluster, ClusterKind, Occurrence, Trail, Verdict};
use crate::input::{Cell, EarlierFailure, OutcomeKind, Run, Session, Step, StepStatus};

/// A session: in which trail and cell it ended how, at which step, and with which words.
fn ended(trail: usize, cell: usize, outcome: OutcomeKind, step: u32, why: &str) -> Session {
    let passed = |step| Step {
        step,
        status: StepStatus::Passed,
        ..Step::default()
    };
    let last = Step {
        step,
        ..Step::default()
    };
    Session {
        trail,
        cell,
        outcome,
        why: why.to_owned(),
        blame: (outcome == OutcomeKind::Infrastructure).then_some(Blame::Device),
        steps: match outcome {
            OutcomeKind::Passed => vec![passed(0), passed(1)],
            OutcomeKind::Cancelled | OutcomeKind::Skipped | OutcomeKind::Unfinished => Vec::new(),
            _ => (0..step).map(passed).chain([last]).collect(),
        },
        ..Session::default()
    }
}

fn passed(cell: usize) -> Session {
    ended(0, cell, OutcomeKind::Passed, 0, "")
}

fn failed(cell: usize) -> Session {
    ended(0, cell, OutcomeKind::Failed, 1, "")
}

fn lost(cell: usize, step: u32) -> Session {
    ended(
        0,
        cell,
        OutcomeKind::Infrastructure,
        step,
        "the device is gone",
    )
}

fn flaky(cell: usize) -> Session {
    Session {
        earlier: Some(EarlierFailure {
            attempt: 1,
            step: 1,
            message: "gone".to_owned(),
        }),
        ..passed(cell)
    }
}

/// What went another way in some sessions of a run, at step 1.
fn cluster(kind: ClusterKind, title: &str, place: &str, sessions: &[usize], run: &Run) -> Cluster {
    let occurrences = sessions.iter().map(|&session| Occurrence {
        session,
        step: 1,
        ..Occurrence::default()
    });
    let mut cells: Vec<usize> = sessions.iter().map(|&at| run.sessions[at].cell).collect();
    cells.dedup();
    Cluster {
        kind,
        title: title.to_owned(),
        place: place.to_owned(),
        verdict: match cells.len() {
            1 => Verdict::Single,
            _ => Verdict::Cause,
        },
        cells,
        occurrences: occurrences.collect(),
        ..Cluster::default()
    }
}

type ClusterRow<'a> = (ClusterKind, &'a str, &'a str, &'a [usize]);

/// The headline of sessions of some trails in cells of these names.
fn told(
    trails: &[&str],
    cells: &[&str],
    sessions: Vec<Session>,
    clusters: &[ClusterRow<'_>],
) -> String {
    let mut run = run(trails, cells, sessions);
    run.planned = run.sessions.len();
    said(&run, clusters)
}

fn run(trails: &[&str], cells: &[&str], sessions: Vec<Session>) -> Run {
    let trail = |title: &&str| Trail {
        title: (*title).to_owned(),
        ..Trail::default()
    };
    let cell = |name: &&str| {
        let platform = if name.starts_with('i') { "ios" } else { "web" };
        Cell {
            device: format!("x/{name}"),
            name: (*name).to_owned(),
            facts: [("platform".to_owned(), platform.to_owned())].into(),
            ..Cell::default()
        }
    };
    Run {
        trails: trails.iter().map(trail).collect(),
        cells: cells.iter().map(cell).collect(),
        sessions,
        ..Run::default()
    }
}

fn said(run: &Run, clusters: &[ClusterRow<'_>]) -> String {
    let cells = run.cells.iter().map(|cell| answer::Cell {
        label: cell.name.clone(),
        ..answer::Cell::default()
    });
    let cells: Vec<_> = cells.collect();
    let clusters = clusters.iter();
    let clusters = clusters.map(|(kind, title, place, at)| cluster(*kind, title, place, at, run));
    let line = headline(run, &cells, &clusters.collect::<Vec<_>>());
    assert!(line.chars().count() <= LONGEST, "{line}");
    line
}

#[test]
fn the_first_line_is_the_verdict() {
    use ClusterKind::{Console, Defect, Difference, Failure, Network};
    use OutcomeKind::{Cancelled, Infrastructure, NeedsAgent, Skipped, Unfinished};
    const HIDDEN: &str = "link \"Reports\" is hidden by CSS";
    const GONE: &str = "link \"Continue shopping\" is missing";
    let names: Vec<String> = (0..24).map(|number| format!("c{number}")).collect();
    let many: Vec<&str> = names.iter().map(String::as_str).collect();
    let all = |count: usize| (0..count).map(passed).collect::<Vec<_>>();
    let with = |count: usize, other: &[Session]| {
        let mut sessions = all(count);
        for session in other {
            sessions[session.cell] = session.clone();
        }
        sessions
    };
    let two = ["Buy", "Return"];
    let three = ["desktop", "tablet", "phone"];
    let phones = ["iPhone 15", "iPhone 16", "desktop", "Pixel 9"];
    let six = with(6, &[failed(2), lost(3, 3), flaky(4)]);
    let one = |cells: &[&str], sessions, clusters: &[ClusterRow<'_>], line: &str| {
        assert_eq!(told(&["t"], cells, sessions, clusters), line);
    };
    one(&many, all(8), &[], "All 8 passed.");
    one(&["desk"], all(1), &[], "Passed.");
    one(&many, all(2), &[], "Both passed.");
    one(
        &many,
        all(16),
        &[(Difference, GONE, "in dark", &[1, 3])],
        "All 16 passed. 1 difference: link Continue shopping is missing, in dark.",
    );
    one(
        &three,
        with(3, &[failed(2)]),
        &[(Failure, HIDDEN, "", &[2])],
        "1 of 3 failed: phone, step 1: link Reports is hidden by CSS.",
    );
    one(&many, with(2, &[flaky(1)]), &[], "2 passed, 1 flaky.");
    one(&["desk"], vec![flaky(0)], &[], "Passed on attempt 2.");
    one(
        &["a", "b", "c", "d", "Pixel 9"],
        with(5, &[lost(4, 3)]),
        &[],
        "4 passed, 1 not tested: Pixel 9 lost at step 3.",
    );
    one(
        &many,
        with(24, &[failed(2), failed(3), failed(9), failed(11)]),
        &[(
            Failure,
            "heading is wrong",
            "de-DE at 390 wide",
            &[2, 3, 9, 11],
        )],
        "4 of 24 failed: de-DE at 390 wide.",
    );
    // Two causes and more: the largest.
    one(
        &many,
        with(8, &[failed(1), failed(3), failed(5)]),
        &[
            (Failure, HIDDEN, "", &[1]),
            (Failure, GONE, "in dark", &[3, 5]),
        ],
        "3 of 8 failed in dark, and 1 other.",
    );
    one(
        &["desk"],
        vec![failed(0)],
        &[(Failure, HIDDEN, "", &[0])],
        "Failed: step 1: link Reports is hidden by CSS.",
    );
    one(
        &three,
        (0..3).map(failed).collect(),
        &[(Failure, HIDDEN, "", &[0, 1, 2])],
        "All 3 failed: step 1: link Reports is hidden by CSS.",
    );
    // Several trails.
    assert_eq!(
        told(
            &two,
            &["desk", "phone"],
            vec![
                passed(0),
                passed(1),
                ended(1, 0, OutcomeKind::Passed, 0, ""),
                ended(1, 1, OutcomeKind::Failed, 1, ""),
            ],
            &[(Failure, HIDDEN, "", &[3])],
        ),
        "1 of 4 failed: Return, phone, step 1: link Reports is hidden by CSS."
    );
    // Repeats of one cell.
    one(
        &["desk"],
        vec![passed(0), failed(0), passed(0)],
        &[(Failure, HIDDEN, "", &[1])],
        "1 of 3 failed: step 1: link Reports is hidden by CSS.",
    );
    // Failed and lost and flaky and differing.
    one(
        &many,
        six,
        &[(Failure, HIDDEN, "", &[2]), (Difference, GONE, "", &[5])],
        "1 of 6 failed: c2, step 1: link Reports is hidden by CSS. 1 not tested: c3 lost at step 3. 1 flaky. 1 difference.",
    );
    one(
        &many,
        with(4, &[failed(1), flaky(2)]),
        &[(Failure, HIDDEN, "", &[1])],
        "1 of 4 failed: c1, step 1: link Reports is hidden by CSS. 1 flaky.",
    );
    one(
        &["desk"],
        vec![ended(0, 0, OutcomeKind::Failed, 0, "the app crashed.")],
        &[],
        "Failed: trailhead: the app crashed.",
    );
    // Lost, all of them, and for one reason on several.
    one(
        &["Pixel 9"],
        vec![lost(0, 3)],
        &[],
        "Not tested: Pixel 9 lost at step 3.",
    );
    one(
        &phones,
        with(4, &[lost(0, 2), lost(1, 2)]),
        &[],
        "2 passed, 2 not tested: iPhone 15 lost at step 2, and 1 other.",
    );
    let why = "tool source `shop` did not start";
    let stopped = |cell| Session {
        blame: Some(Blame::Source),
        ..ended(0, cell, Infrastructure, 1, why)
    };
    one(
        &three,
        (0..3).map(stopped).collect(),
        &[],
        "None of 3 tested: tool source shop did not start.",
    );
    // Not recorded.
    one(
        &phones,
        with(
            4,
            &[
                ended(0, 0, NeedsAgent, 2, ""),
                ended(0, 1, NeedsAgent, 2, ""),
            ],
        ),
        &[],
        "2 passed, 2 not recorded for iOS.",
    );
    one(
        &phones,
        with(4, &[ended(0, 3, NeedsAgent, 2, "")]),
        &[],
        "3 passed, 1 not recorded: Pixel 9, step 2.",
    );
    // Skipped, cancelled, unfinished, and what never had a device.
    one(
        &three,
        with(
            3,
            &[
                ended(0, 1, Skipped, 0, "only phones have it"),
                ended(0, 2, Cancelled, 0, ""),
            ],
        ),
        &[],
        "1 passed, 1 cancelled, 1 skipped.",
    );
    one(
        &three,
        (0..3)
            .map(|at| ended(0, at, Skipped, 0, "pinned to `adb`"))
            .collect(),
        &[],
        "Nothing ran, all 3 skipped: pinned to adb.",
    );
    one(
        &three,
        (0..3).map(|at| ended(0, at, Cancelled, 0, "")).collect(),
        &[],
        "All 3 cancelled.",
    );
    one(
        &many,
        (0..8)
            .map(|at| {
                if at < 3 {
                    passed(at)
                } else {
                    ended(0, at, Unfinished, 0, "")
                }
            })
            .collect(),
        &[],
        "So far, 3 of 8: all passed.",
    );
    let later = |at| {
        if at < 2 {
            passed(at)
        } else {
            ended(0, at, Unfinished, 0, "")
        }
    };
    let mut sessions: Vec<_> = (0..8).map(later).collect();
    sessions[2] = failed(2);
    one(
        &many,
        sessions,
        &[(Failure, HIDDEN, "", &[2])],
        "So far, 3 of 8: 1 failed: c2, step 1: link Reports is hidden by CSS.",
    );
    one(
        &three,
        (0..3).map(|at| ended(0, at, Unfinished, 0, "")).collect(),
        &[],
        "None of 3 has finished yet.",
    );
    assert_eq!(
        told(&two, &three, all(3), &[]),
        "All 3 passed, 1 trail fits no device: Return."
    );
    assert_eq!(told(&two, &[], vec![], &[]), "Nothing ran: no device fits.");
    assert_eq!(told(&[], &[], vec![], &[]), "Nothing ran.");
    // A trail that needs no device.
    one(&[""], all(1), &[], "Passed.");
    // Other kinds than differences.
    one(
        &many,
        all(4),
        &[(
            Network,
            "GET /api/stock answers 500",
            "with build=new",
            &[1, 3],
        )],
        "All 4 passed. 1 failed request: GET /api/stock answers 500, with build=new.",
    );
    one(
        &many,
        all(4),
        &[
            (Console, "TypeError", "", &[1]),
            (Defect, "page scrolls sideways", "", &[2]),
        ],
        "All 4 passed. 2 findings: TypeError, c1, and 1 other.",
    );
    let mut run = run(&["t"], &many, all(4));
    run.unlike_approved = vec![
        "step 2: button \"Buy\" is missing".to_owned(),
        "step 3".to_owned(),
    ];
    assert_eq!(
        said(&run, &[]),
        "All 4 passed. 2 screens are not as approved: step 2: button Buy is missing, and 1 other."
    );
}

#[test]
fn what_has_no_pattern_is_counted_and_no_more() {
    let run = run(&["t"], &["a", "b", "c"], (0..3).map(passed).collect());
    let random = Cluster {
        verdict: Verdict::Weak,
        ..cluster(ClusterKind::Difference, "x", "", &[0, 1], &run)
    };
    assert_eq!(
        headline(&run, &[], std::slice::from_ref(&random)),
        "All 3 passed. 1 unexplained difference."
    );
    let clear = cluster(ClusterKind::Difference, "y", "in dark", &[1, 2], &run);
    assert_eq!(
        headline(&run, &[], &[random, clear]),
        "All 3 passed. 1 difference: y, in dark."
    );
}

#[test]
fn a_long_message_is_cut_at_a_word_and_stays_a_line() {
    let words = "\u{202e}\"Add\" was not found\nafter all ".to_owned();
    let long = "no element is called what the recording says it is called, ".repeat(6);
    let run = run(&["t"], &["a", "b"], vec![failed(0), lost(1, 2)]);
    let say = |title: &str| {
        let failure = cluster(ClusterKind::Failure, title, "", &[0], &run);
        headline(&run, &[], &[failure])
    };
    assert_eq!(
        say(&words),
        "1 of 2 failed: a, step 1: Add was not found. 1 not tested: b lost at step 2."
    );
    let line = say(&long);
    assert!(line.chars().count() <= LONGEST, "{line}");
    assert!(line.contains("… 1 not tested"), "{line}");
}
