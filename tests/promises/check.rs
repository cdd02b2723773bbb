//! `packtrain check`: mistakes are found without a device and shown where they are.

use packtrain_tests::repository;

use crate::lab;

#[test]
fn the_bundled_examples_are_without_mistakes() {
    let examples = repository().join("examples");
    lab()
        .run(&["check", "--strict", examples.to_str().unwrap()])
        .expect(0);
}

#[test]
fn a_mistake_is_shown_with_path_line_column_caret_and_hint() {
    let lab = lab();
    lab.write(
        "a.trail.yaml",
        "config:\n  id: a\ntrail:\n  - step: \"Click\"\n    recordin:\n      web: []\n",
    );
    let ended = lab.run(&["check", "a.trail.yaml"]).expect(3);
    for part in [
        "a.trail.yaml:5:5",
        "recordin:",
        "^",
        "did you mean `recording`?",
    ] {
        assert!(ended.stderr.contains(part), "{part}\n{}", ended.stderr);
    }
}

#[test]
fn a_wrong_argument_of_a_built_in_tool_is_a_mistake() {
    let lab = lab();
    lab.write(
        "a.trail.yaml",
        "config: {}\ntrail:\n  - step: \"Click\"\n    recording:\n      web:\n        - web_click:\n            nodeSelector:\n              web:\n                ariaRol: button\n",
    );
    let ended = lab.run(&["check", "a.trail.yaml"]).expect(3);
    for part in ["a.trail.yaml:9:17", "ariaRol", "did you mean `ariaRole`?"] {
        assert!(ended.stderr.contains(part), "{part}\n{}", ended.stderr);
    }
}

#[test]
fn an_unknown_tool_is_a_warning_because_it_may_come_from_a_tool_source() {
    let lab = lab();
    lab.write("a.trail.yaml", "config: {}\ntrail:\n  - step: \"x\"\n    recording:\n      web:\n        - acme_login: { user: ada }\n");
    let ended = lab.run(&["check", "a.trail.yaml"]).expect(0);
    assert!(ended.stderr.contains("acme_login"), "{}", ended.stderr);
    lab.run(&["check", "--strict", "a.trail.yaml"]).expect(3);
    let found = lab
        .run(&["check", "a.trail.yaml", "--format", "json"])
        .expect(0)
        .stdout;
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["diagnostics"][0]["severity"], "warning");
}
