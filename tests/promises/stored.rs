//! What was stored stays readable: a run, its baselines and a toolset as they were written before rooms
//! became crates, in `tests/fixtures/stored-1`.

use packtrain_tests::{Lab, repository};
use serde_json::Value;

use crate::lab;
use crate::sources::copy;

/// A workspace with what was stored.
fn stored() -> Lab {
    let lab = lab();
    let fixture = repository().join("tests/fixtures/stored-1");
    copy(&fixture, lab.folder());
    lab
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_stored_run_is_reported_and_compared_as_it_was() {
    let lab = stored();
    let files = ["run/report.json", "run/comparison.json"];
    let before = files.map(|file| json(&lab.read(file)));

    lab.run(&["report", "./run"]).expect(0);

    assert_eq!(files.map(|file| json(&lab.read(file))), before);
    assert!(lab.read("run/report.html").contains("Open the shop"));
}

#[test]
fn stored_baselines_hold_for_the_run_that_they_are_of() {
    let said = stored().run(&["compare", "baselines", "./run"]).expect(0);
    assert_eq!(said.stdout, "All 2 cells are as approved.\n");
}

#[test]
fn a_stored_toolset_offers_its_tools_with_their_notes() {
    let shown = stored().run(&["toolsets", "show", "shop", "--format", "json"]);
    let shown = json(&shown.expect(0).stdout);
    for tool in shown["tools"].as_array().unwrap() {
        assert_eq!(
            tool["state"], "offered",
            "its definition is what was accepted"
        );
    }
    assert_eq!(
        shown["tools"][0]["notes"][0]["note"],
        "Clears the app first."
    );
}
