//! What a run on a farm tells is in the run's own words, wherever its sessions were.

use std::collections::BTreeSet;

use packtrain_tests::farm_lab::FarmRun;
use serde_json::{Value, json};

use super::scene::Scene;

/// The events of a kind in a run's journal.
fn events(run: &FarmRun, kind: &str) -> Vec<Value> {
    let mut events = run.events();
    events.retain(|event| event["event"] == kind);
    events
}

fn report(run: &FarmRun, file: &str) -> Value {
    let text = std::fs::read_to_string(run.folder().unwrap().join(file)).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_failure_on_a_host_names_the_trail_as_the_run_was_given_it() {
    let scene = Scene::of(&[("h1", 1)]);
    let trail = "trails/fails.trail.yaml";
    scene.farm.lab().write(
        trail,
        "config: { id: fails }
trail:
  - step: Something that no phone has
    recording:
      android:
        - android_adbShell: { command: [no-such-program] }
",
    );
    let run = scene.run(trail, 1);
    run.expect(1);
    let failed = events(&run, "session_finished").remove(0);
    assert_eq!(failed["failed_at"], "trails/fails.trail.yaml:6:11");
    let said = run.process.stderr() + &report(&run, "report.json").to_string();
    assert!(said.contains("trails/fails.trail.yaml:6:11"), "{said}");
    assert!(!said.contains("bundles"), "{said}");
}

#[test]
fn the_cells_of_a_matrix_run_on_different_hosts_and_are_compared_as_one_run() {
    let scene = Scene::of(&[("h1", 1), ("h2", 1)]);
    let trail = scene.farm.trail("marked", 3, 200);
    let colors = ["--axis", "colorScheme=light,dark"];
    let run = scene.run_on(&trail, "android", 1, &colors);
    run.expect(0);
    let applied = events(&run, "session_configured");
    let schemes: BTreeSet<String> = (applied.iter())
        .map(|configured| configured["axes"][0]["got"].to_string())
        .collect();
    assert_eq!(schemes.len(), 2, "{applied:#?}");
    let started = events(&run, "session_started");
    let hosts: BTreeSet<&str> = (started.iter())
        .filter_map(|started| Some(started["device"]["id"].as_str()?.rsplit_once('@')?.1))
        .collect();
    assert_eq!(hosts, BTreeSet::from(["h1", "h2"]), "{started:#?}");
    let comparison = report(&run, "comparison.json");
    let cells = comparison["cells"].as_array().unwrap();
    let values: BTreeSet<String> = cells
        .iter()
        .map(|cell| cell["values"].to_string())
        .collect();
    let wanted = ["light", "dark"].map(|scheme| json!({ "colorScheme": scheme }).to_string());
    assert_eq!(values, BTreeSet::from(wanted), "{cells:#?}");
    assert_eq!(scene.findings(&[&run]), []);
}
