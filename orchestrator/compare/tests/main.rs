//! A planted run of 60 cells and 29 steps, compared as a whole.

use std::cell::RefCell;
use std::collections::BTreeSet;

use packtrain_compare::answer::{Cluster, ClusterKind, Comparison, Verdict};

#[path = "../examples/sixty/scenario.rs"]
mod scenario;

fn comparison() -> Comparison {
    let run = scenario::run();
    packtrain_compare::compare(&run, &mut |digest: &str| scenario::picture(digest))
}

fn cluster<'a>(comparison: &'a Comparison, kind: ClusterKind, title: &str) -> &'a Cluster {
    comparison
        .clusters
        .iter()
        .find(|cluster| cluster.kind == kind && cluster.title.contains(title))
        .unwrap_or_else(|| panic!("no {kind:?} {title:?}: {:#?}", comparison.clusters))
}

#[test]
fn what_was_planted_is_found_and_named_as_such() {
    let found = comparison();
    let planted = [
        (
            ClusterKind::Failure,
            "\"Show done\" is missing",
            "locale=de-DE and width at 390 and below",
        ),
        (
            ClusterKind::Difference,
            "\"Gift wrap\" is missing",
            "engine=firefox",
        ),
        (
            ClusterKind::Difference,
            "\"Help and contact\" is not translated",
            "locale=de-DE",
        ),
        (
            ClusterKind::Defect,
            "link \"Cart\" crosses the edge",
            "locale=fr-FR and width at 390 and below",
        ),
        (
            ClusterKind::Visual,
            "button \"Buy\" looks different",
            "build=new",
        ),
        (
            ClusterKind::Console,
            "TypeError",
            "engine=firefox and build=new",
        ),
    ];
    for (kind, title, cause) in planted {
        let cluster = cluster(&found, kind, title);
        assert_eq!(
            cluster.verdict,
            Verdict::Cause,
            "{title}: {}",
            cluster.words
        );
        assert!(
            cluster
                .words
                .contains(&format!("cells with {cause}, on **none of ")),
            "{}",
            cluster.words
        );
    }
    let failure = cluster(&found, ClusterKind::Failure, "Show done");
    assert_eq!(failure.letter, "A");
    assert_eq!(failure.occurrences.len(), 3);
    assert!(
        failure
            .occurrences
            .iter()
            .all(|one| one.step == scenario::FAILS_AT)
    );
    assert!(
        failure
            .occurrences
            .iter()
            .all(|one| one.nearest.is_some() && one.difference.is_some())
    );
    let again =
        "packtrain run trails/buy-tea.trail.yaml -d web/desktop --matrix release --cell build=";
    assert!(failure.again.starts_with(again), "{}", failure.again);
}

#[test]
fn nothing_else_is_found() {
    let found = comparison();
    let titles: Vec<(&str, Verdict)> = found
        .clusters
        .iter()
        .map(|cluster| (cluster.title.as_str(), cluster.verdict))
        .collect();
    assert_eq!(found.clusters.len(), 8, "{titles:?}");
    // An error that every cell has is told last, and one slow cell is an accident.
    let last = found.clusters.last().expect("a cluster");
    assert_eq!(
        (last.kind, last.verdict),
        (ClusterKind::Console, Verdict::Everywhere)
    );
    assert_eq!(found.timings, []);
    let flaky = cluster(&found, ClusterKind::Failure, "503");
    assert_eq!(
        (flaky.verdict, flaky.occurrences[0].attempt),
        (Verdict::Single, Some(1))
    );
    assert_eq!(
        found.not_compared[0].why,
        "infrastructure: the browser crashed"
    );
    assert!(found.expectations.iter().all(|one| one.hits == 0));
}

#[test]
fn letters_are_unique_and_the_same_run_compares_the_same() {
    let found = comparison();
    let letters: BTreeSet<&str> = found.clusters.iter().map(|c| c.letter.as_str()).collect();
    assert_eq!(letters.len(), found.clusters.len());
    let json = |found: &Comparison| serde_json::to_value(found).expect("JSON");
    let (one, other) = (json(&found), json(&comparison()));
    // Part by part: a difference of the whole is too long to be read.
    for (part, value) in one.as_object().expect("an object") {
        assert!(value == &other[part], "{part} differs");
    }
    let bytes = one.to_string().len();
    assert!(bytes < 500_000, "{bytes}");
    let read: Comparison = serde_json::from_value(one).expect("a comparison");
    assert!(read == found, "it is read as it was written");
}

#[test]
fn a_picture_is_read_once_for_each_group_and_only_where_digests_differ() {
    let run = scenario::run();
    let read = RefCell::new(Vec::new());
    let _ = packtrain_compare::compare(&run, &mut |digest: &str| {
        read.borrow_mut().push(digest.to_owned());
        scenario::picture(digest)
    });
    let read = read.into_inner();
    let distinct: BTreeSet<&String> = read.iter().collect();
    assert_eq!(distinct.len(), read.len(), "each once");
    assert!(
        read.iter().all(|digest| digest.contains(" 12 ")),
        "only the step that differs"
    );
}

#[test]
fn a_run_that_goes_on_says_so() {
    let mut run = scenario::run();
    run.sessions.truncate(31);
    let found = packtrain_compare::compare(&run, &mut |_: &str| None);
    assert_eq!((found.settled, found.planned), (31, 60));
    assert!(
        found.sentence.starts_with("So far, 31 of 60: "),
        "{}",
        found.sentence
    );
}

#[test]
fn pictures_that_are_gone_or_broken_are_told_as_failed() {
    let run = scenario::run();
    for bytes in [None, Some(b"no picture".to_vec())] {
        let found = packtrain_compare::compare(&run, &mut |_: &str| bytes.clone());
        assert!(!found.visual.is_empty());
        assert!(
            found
                .clusters
                .iter()
                .all(|cluster| cluster.kind != ClusterKind::Visual)
        );
    }
}

#[test]
fn places_that_lead_nowhere_are_left_out() {
    let mut run = scenario::run();
    run.sessions[0].cell = 999;
    run.sessions[1].trail = 999;
    let found = packtrain_compare::compare(&run, &mut |digest: &str| scenario::picture(digest));
    assert_eq!(found.sessions.len(), 60);
    let empty = packtrain_compare::input::Run::default();
    let found = packtrain_compare::compare(&empty, &mut |_: &str| None);
    assert_eq!(found.sentence, "Nothing ran.");
}

#[test]
fn repeats_of_a_cell_show_its_noise_and_are_one_cell() {
    let mut run = scenario::run();
    let mut repeat = run.sessions[7].clone();
    repeat.id = "repeat".to_owned();
    for step in &mut repeat.steps {
        if let (12, Some(picture)) = (step.step, &mut step.picture) {
            picture.digest = picture.digest.replace("true", "false");
        }
    }
    run.sessions.push(repeat);
    let found = packtrain_compare::compare(&run, &mut |digest: &str| scenario::picture(digest));
    assert_eq!(found.noise.len(), 1, "{:?}", found.noise);
    assert_eq!((found.noise[0].cell, found.noise[0].step), (7, 12));
    assert_eq!(found.noise[0].boxes, [[20, 152, 120, 176]]);
    assert_eq!(found.cells.len(), 60);
}
