//! The example shop's trail on real browsers.

use packtrain_tests::{failed_steps, repository};

use crate::lab;

pub(crate) fn trail() -> String {
    std::fs::read_to_string(repository().join("examples/shop/trails/buy.trail.yaml")).unwrap()
}

/// The example shop in a workspace of its own, with `slots` browsers.
pub(crate) fn shop(slots: usize) -> packtrain_tests::Lab {
    let lab = lab();
    lab.write("trails/buy.trail.yaml", &trail());
    for file in std::fs::read_dir(repository().join("examples/shop/web")).unwrap() {
        let file = file.unwrap().path();
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        lab.write(
            &format!("web/{name}"),
            &std::fs::read_to_string(&file).unwrap(),
        );
    }
    let shapes = [
        "{ viewport: 1280x800 }",
        "{ emulate: iPhone 15 }",
        "{ viewport: 800x600, locale: en-GB, timezone: Europe/Berlin }",
        "{ viewport: 1024x700, colorScheme: dark, reducedMotion: reduce }",
    ];
    let slots: String = (0..slots)
        .map(|n| format!("    d{n}: {}\n", shapes[n % shapes.len()]))
        .collect();
    lab.write("packtrain.yaml", &format!("devices:\n  web:\n{slots}"));
    lab
}

#[test]
fn the_example_passes_on_one_browser() {
    let shop = shop(1);
    shop.run(&["run", "trails", "-d", "web/d0"]).expect(0);
    assert_eq!(shop.outcomes(), [("web/d0".into(), "passed".into())].into());
}

#[test]
fn the_example_passes_on_eight_browsers_at_once() {
    let shop = shop(8);
    shop.run(&["run", "trails", "--all-devices"]).expect(0);
    let outcomes = shop.outcomes();
    assert_eq!(outcomes.len(), 8);
    assert!(
        outcomes.values().all(|outcome| outcome == "passed"),
        "{outcomes:?}"
    );
    for report in ["report.html", "junit.xml", "report.json"] {
        assert!(shop.run_folder().join(report).is_file(), "{report}");
    }
}

#[test]
fn one_wrong_text_fails_on_exactly_that_step_on_every_device() {
    let shop = shop(4);
    shop.write(
        "trails/buy.trail.yaml",
        &trail().replace("Total $15.30", "Total $15.31"),
    );
    let ended = shop
        .run(&["run", "trails", "-d", "web", "--screenshots", "failure"])
        .expect(1);
    let failed = failed_steps(&shop.events());
    assert_eq!(failed.len(), 4);
    assert!(failed.values().all(|steps| steps == &[19]), "{failed:?}");
    assert!(ended.stderr.contains("Total $15.31"), "{}", ended.stderr);
    let junit = shop.read(shop.run_folder().join("junit.xml"));
    for device in ["web/d0", "web/d1", "web/d2", "web/d3"] {
        assert!(junit.contains(device), "JUnit keeps {device} apart");
    }
}

#[test]
fn a_click_on_one_of_many_equal_buttons_says_how_many_there_were() {
    let shop = shop(1);
    let vague = trail().replace("                nthIndex: 0\n", "");
    shop.write("trails/buy.trail.yaml", &vague);
    let ended = shop.run(&["run", "trails", "--lines", "tools"]).expect(0);
    let click = shop
        .events()
        .into_iter()
        .find(|event| event["event"] == "tool_finished" && event["step"] == 10)
        .unwrap();
    assert_eq!(click["report"]["located"]["matched"], 40, "{click}");
    // Below the step's line, and counted in the summary; what is verified is never ambiguous.
    let noted = |text: &&str| text.contains(": 40 elements match ");
    let lines: Vec<&str> = ended.stderr.lines().filter(noted).collect();
    assert_eq!(lines.len(), 1, "{}", ended.stderr);
    assert!(lines[0].ends_with("; the first was used"), "{lines:?}");
    let counted = "on steps in the report, or with --lines tools";
    assert!(ended.stderr.contains(counted), "{}", ended.stderr);
}

#[test]
fn the_dialog_that_was_answered_is_in_the_journal() {
    let shop = shop(1);
    shop.run(&["run", "trails"]).expect(0);
    let answered = shop.events().into_iter().any(|event| {
        event["report"]["kind"] == "dialog_opened" && event["report"]["answer"] == "accepted"
    });
    assert!(answered);
}

#[test]
fn secrets_are_shown_nowhere() {
    let shop = shop(1);
    let trail = trail().replace("text: \"{{args.password}}\"", "text: \"{{pass}}\"");
    shop.write("trails/buy.trail.yaml", &trail);
    let ended = shop
        .run(&["run", "trails", "--secret", "pass=secret"])
        .expect(0);
    assert!(!ended.stderr.contains(": secret"));
    let folder = shop.run_folder();
    let journal = shop.read(folder.join("events.ndjson"));
    let typed: Vec<_> = journal
        .lines()
        .filter(|line| line.contains("web_type") && line.contains("\"step\":7"))
        .collect();
    assert!(!typed.is_empty());
    assert!(
        typed.iter().all(|line| !line.contains("\"secret\"")),
        "{typed:#?}"
    );
}

#[test]
fn json_output_is_the_journal_line_by_line() {
    let shop = shop(1);
    let ended = shop.run(&["run", "trails", "--format", "json"]).expect(0);
    let lines: Vec<serde_json::Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["schema_version"], 1);
    assert_eq!(lines, shop.events());
    let numbers: Vec<_> = lines
        .iter()
        .map(|line| line["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (1..=lines.len() as u64).collect::<Vec<_>>());
}
