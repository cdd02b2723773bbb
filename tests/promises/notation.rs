//! A run and a baseline as they were written before trees said their notation, in `tests/fixtures`:
//! they are read, and what is seen today is proposed against them. A newer notation is not a pass.

use packtrain_model::screen::NOTATION;
use packtrain_testing::has;
use packtrain_tests::{Lab, repository};
use serde_json::Value;

use crate::lab;
use crate::sources::copy;

const TREE: &str = "run/trees/08f6e5944b1551b1.json";
const BASELINE: &str = "trails/shop.baseline/it-sells/web-chromium-200x150@1.json";

/// A workspace with the run and the baselines of notation 1.
fn old() -> Lab {
    let lab = lab();
    copy(
        &repository().join("tests/fixtures/notation-1"),
        lab.folder(),
    );
    lab
}

/// Writes the tree of the run as a Packtrain of that notation had written it.
fn write_in(lab: &Lab, notation: u32, button: &str) {
    let mut tree: Value = serde_json::from_str(&lab.read(TREE)).unwrap();
    tree["notation"] = notation.into();
    tree["nodes"][3]["n"] = button.into();
    lab.write(TREE, &tree.to_string());
}

/// The changes that `packtrain compare` tells, as `step kind status`.
fn changes(lab: &Lab, arguments: &[&str], code: i32) -> Vec<String> {
    let all = [&["compare"], arguments, &["--format", "json"]].concat();
    let answer: Value = serde_json::from_str(&lab.run(&all).expect(code).stdout).unwrap();
    let changes = answer["changes"].as_array().unwrap().iter();
    let text = |change: &Value, key: &str| change[key].as_str().unwrap().to_owned();
    let told = changes.map(|one| {
        let [kind, status] = ["kind", "status"].map(|key| text(one, key));
        format!("{} {} {kind} {status}", text(one, "cell"), one["step"])
    });
    told.collect()
}

#[test]
fn a_run_and_a_baseline_of_notation_1_are_read() {
    let lab = old();
    let said = lab.run(&["compare", "baselines", "./run"]).expect(0).stdout;
    assert_eq!(said, "The only cell is as approved.\n");
    let said = lab.run(&["compare", "./run", "./run"]).expect(0).stdout;
    assert_eq!(said, "The only cell is as before.\n");
    let report = lab.run(&["report", "./run"]).expect(0);
    let page = lab.read("run/report.html");
    assert!(page.contains("delivery is free."), "{report:?}");
}

#[test]
fn a_baseline_of_notation_1_is_proposed_anew_and_then_holds() {
    let lab = old();
    let run = ["baselines", "./run"];
    write_in(&lab, NOTATION, "Buy");
    let proposed = ["web/desk 1 tree proposed", "web/desk 2 tree proposed"];
    assert_eq!(changes(&lab, &run, 0), proposed);
    write_in(&lab, NOTATION, "Purchase");
    assert_eq!(changes(&lab, &run, 0), proposed);
    let said = lab.run(&["compare", "baselines", "./run"]).expect(0).stdout;
    assert!(said.contains("(tree, new baseline proposed)"), "{said}");
    assert!(said.contains("written in notation 1, now in "), "{said}");
    assert!(!lab.read(BASELINE).contains("notation"));

    lab.run(&["approve", "./run"]).expect(0);
    let approved = lab.read(BASELINE);
    assert!(approved.contains("Purchase"), "{approved}");
    assert!(approved.starts_with(&format!("{{\"notation\":{NOTATION},")));
    assert_eq!(changes(&lab, &run, 0), Vec::<String>::new());
    write_in(&lab, NOTATION, "Buy");
    let changed = ["web/desk 1 tree changed", "web/desk 2 tree changed"];
    assert_eq!(changes(&lab, &run, 1), changed);
}

#[test]
fn a_notation_to_come_is_not_compared_and_not_approved() {
    let lab = old();
    write_in(&lab, NOTATION + 1, "Buy");
    for arguments in [
        &["compare", "baselines", "./run"][..],
        &["compare", "./run", "./run"],
    ] {
        let said = lab.run(arguments).expect(2).stdout;
        assert!(said.contains("Not compared:"), "{said}");
        assert!(
            said.contains("by a newer Packtrain") && said.contains("update Packtrain"),
            "{said}"
        );
    }
    let before = lab.read(BASELINE);
    let said = lab.run(&["approve", "./run"]).expect(2).stderr;
    has(&said, &["refused: ", "update Packtrain"]);
    assert_eq!(lab.read(BASELINE), before);
}

#[test]
fn screens_of_today_are_proposed_for_those_of_notation_1_and_approved() {
    let lab = old();
    let both = ["-d", "web/desk", "-d", "virtual:android"];
    lab.run(&[&["run", "trails/shop.trail.yaml"][..], &both].concat())
        .expect(0);
    // Other fonts draw other pictures.
    let told = changes(&lab, &["--fail-on", "outcome,tree,defect"], 0);
    for place in [
        "android/virtual-1 1",
        "android/virtual-1 2",
        "web/desk 1",
        "web/desk 2",
    ] {
        let proposed = format!("{place} tree proposed");
        assert!(told.contains(&proposed), "{proposed}: {told:?}");
    }
    assert!(
        !told.iter().any(|one| one.ends_with("tree changed")),
        "{told:?}"
    );
    lab.run(&["approve"]).expect(0);
    assert_eq!(changes(&lab, &[], 0), Vec::<String>::new());
    // Against the earlier run itself nobody approves anything.
    lab.run(&["run", "trails/shop.trail.yaml", "-d", "web/desk"])
        .expect(0);
    changes(&lab, &["./run", "--fail-on", "outcome,tree,defect"], 0);
}
