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

/// A trail of one call, and what checking it says.
fn checked(call: &str, code: i32) -> String {
    let lab = lab();
    let text = format!(
        "config: {{}}\ntrail:\n  - step: \"x\"\n    recording:\n      web:\n        - {call}\n"
    );
    lab.write("a.trail.yaml", &text);
    lab.run(&["check", "a.trail.yaml"]).expect(code).stderr
}

#[track_caller]
fn has(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "{part}\n{said}");
    }
}

#[test]
fn two_blocks_in_one_selector_are_a_mistake() {
    let said = checked(
        "web_click: { nodeSelector: { web: { ariaRole: button }, iosMaestro: { textRegex: Save } } }",
        3,
    );
    has(
        &said,
        &[
            "a.trail.yaml:6:",
            "exclude each other",
            "^",
            "hint:",
            "keep one of them",
        ],
    );
    let below = checked(
        "web_click: { nodeSelector: { web: { ariaRole: button }, below: { web: { ariaRole: link }, iosAxe: { uniqueId: a } } } }",
        3,
    );
    has(&below, &["a.trail.yaml:6:", "in `below`", "^"]);
}

#[test]
fn a_call_that_lacks_what_its_tool_needs_is_a_mistake() {
    for (call, says) in [
        ("web_click: {}", "no element is named"),
        ("web_type: { text: Ada }", "no element is named"),
        ("web_navigate: {}", "`url` is needed"),
        ("web_navigate: { url: \"\" }", "`url` is needed"),
        (
            "web_selectOption: { values: [], ref: e1 }",
            "`values` is empty",
        ),
        (
            "web_verifyValue: { expected: a, type: ATTRIBUTE, ref: e1 }",
            "`attribute` names no attribute",
        ),
        (
            "scrollUntilTextIsVisible: { text: \"\" }",
            "one of `text`, `textRegex` and `id` is needed",
        ),
    ] {
        has(&checked(call, 3), &["a.trail.yaml:6:", says, "^", "hint:"]);
    }
    checked("web_navigate: { action: BACK }", 0);
}

#[test]
fn a_broken_pattern_is_shown_where_it_stands() {
    let said = checked("web_waitForUrl: { pattern: \"product(\" }", 3);
    has(
        &said,
        &["a.trail.yaml:6:38", "no regular expression", "^", "hint:"],
    );
    // What a template fills in is not known yet.
    let lab = lab();
    lab.write("a.trail.yaml", "config: { memory: { n: \"5\" } }\ntrail:\n  - step: \"x\"\n    recording:\n      web:\n        - web_waitForUrl: { pattern: \"product({{n}}\" }\n");
    lab.run(&["check", "a.trail.yaml"]).expect(0);
    // In a selector it works, but as plain text.
    let call =
        "web_click: { nodeSelector: { web: { ariaRole: link, ariaNameRegex: \"Cart (2\" } } }";
    has(
        &checked(call, 0),
        &[
            "warning:",
            "a.trail.yaml:6:78",
            "compared as plain text",
            "^",
            "hint:",
        ],
    );
}

#[test]
fn a_pin_to_a_driver_that_nobody_knows_is_a_mistake() {
    let lab = lab();
    lab.write(
        "a.trail.yaml",
        "config:\n  devices:\n    web: PLAYWRIGHT_NATVE\ntrail:\n  - step: \"x\"\n",
    );
    let said = lab.run(&["check", "a.trail.yaml"]).expect(3).stderr;
    has(
        &said,
        &["a.trail.yaml:3:", "^", "did you mean `PLAYWRIGHT_NATIVE`?"],
    );
}
