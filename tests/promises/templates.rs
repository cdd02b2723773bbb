//! Templates: what is not defined is neither typed nor verified, and `check` finds it before.

use packtrain_testing::has;
use packtrain_tests::{Ended, Lab};

use crate::lab;

const PHONE: [&str; 5] = [
    "run",
    "a.trail.yaml",
    "-d",
    "virtual:android",
    "--screenshots=none",
];

/// A trail of a config and calls, as flow mappings, one step each.
fn trail(config: &str, calls: &[&str]) -> Lab {
    let steps: String = calls
        .iter()
        .map(|call| format!("  - step: \"x\"\n    recording:\n      android:\n        - {call}\n"))
        .collect();
    let lab = lab();
    lab.write(
        "a.trail.yaml",
        &format!("config: {config}\ntrail:\n{steps}"),
    );
    lab
}

fn check(lab: &Lab, flags: &[&str], code: i32) -> Ended {
    lab.run(&[&["check", "a.trail.yaml"], flags].concat())
        .expect(code)
}

#[test]
fn an_undefined_name_fails_its_step_and_is_never_verified() {
    let lab = trail(
        "{ memory: { email: ada@example.com } }",
        &["assertEquals: { actual: \"{{emial}}\", expected: \"{{emial}}\" }"],
    );
    let said = lab.run(&PHONE).expect(1).stderr;
    has(
        &said,
        &[
            "`{{emial}}` is undefined",
            "did you mean `{{email}}`?",
            "a.trail.yaml:6:",
        ],
    );
}

#[test]
fn an_undefined_name_is_never_typed() {
    let lab = trail("{}", &["inputText: { text: \"dear ${name}\" }"]);
    let said = lab.run(&PHONE).expect(1).stderr;
    has(
        &said,
        &["`${name}` is undefined", "pass it with --memory name=VALUE"],
    );
    let events = lab.events();
    let typed = |event: &&serde_json::Value| event["tool"] == "inputText";
    let ended = events.iter().rfind(typed).unwrap();
    assert_eq!(ended["outcome"], "failed", "{ended}");
}

#[test]
fn an_argument_made_of_an_undefined_name_fails_before_the_first_step() {
    let lab = trail(
        "{ args: { to: { type: string, default: \"{{nobody}}\" } } }",
        &["assertEquals: { actual: \"{{args.to}}\", expected: \"{{args.to}}\" }"],
    );
    has(
        &lab.run(&PHONE).expect(1).stderr,
        &["`{{nobody}}` is undefined"],
    );
    has(&check(&lab, &[], 3).stderr, &["`{{nobody}}` is undefined"]);
}

#[test]
fn a_trail_can_ask_for_undefined_names_to_be_left_as_they_are() {
    let lab = trail(
        "{ undefined: literal }",
        &["assertEquals: { actual: \"{{nobody}}\", expected: \"{{nobody}}\" }"],
    );
    check(&lab, &["--strict"], 0);
    lab.run(&PHONE).expect(0);
    let noted = lab
        .events()
        .iter()
        .any(|event| event["report"]["notes"][0] == "{{nobody}} is undefined and was left as is");
    assert!(noted, "{:?}", lab.events());
}

#[test]
fn what_is_not_error_or_literal_is_a_mistake() {
    let lab = trail("{ undefined: litteral }", &["wait: {}"]);
    has(
        &check(&lab, &[], 3).stderr,
        &["a.trail.yaml:1:", "did you mean `literal`?"],
    );
}

#[test]
fn a_shell_keeps_its_own_variables() {
    let lab = trail(
        "{}",
        &[
            "runCommand: { command: \"test -n \\\"${HOME}\\\"\" }",
            "exec: { argv: [sh, -c, \"test -n \\\"${HOME}\\\"\"] }",
        ],
    );
    check(&lab, &["--strict"], 0);
    lab.run(&PHONE).expect(0);
}

#[test]
fn check_finds_a_name_that_nothing_can_define() {
    let lab = trail(
        "{ memory: { email: a }, args: { page: string } }",
        &[
            "assertEquals: { actual: \"{{email}} {{memory.email}} {{args.page}}\", expected: \"{{PATH}} {{target.appId}}\" }",
            "inputText: { text: \"{{emial}}\" }",
            "inputTextRandom: { variable: order }",
            "inputText: { text: \"{{order}}\" }",
        ],
    );
    let said = check(&lab, &[], 3).stderr;
    has(
        &said,
        &[
            "error",
            "a.trail.yaml:10:",
            "`{{emial}}` is undefined",
            "did you mean `{{email}}`?",
            "1 mistake,",
        ],
    );
}

#[test]
fn a_name_is_not_defined_before_the_step_that_remembers_it() {
    let lab = trail(
        "{}",
        &[
            "inputText: { text: \"{{order}}\" }",
            "inputTextRandom: { variable: order }",
        ],
    );
    has(
        &check(&lab, &[], 3).stderr,
        &["a.trail.yaml:6:", "`{{order}}` is undefined"],
    );
}

#[test]
fn check_takes_the_names_that_a_run_will_give() {
    let lab = trail("{}", &["inputText: { text: \"{{user}} {{pin}}\" }"]);
    has(&check(&lab, &[], 3).stderr, &["`check --memory NAME`"]);
    check(
        &lab,
        &["--memory", "user", "--secret", "pin=1", "--strict"],
        0,
    );
}

#[test]
fn a_name_that_may_be_defined_out_of_sight_is_a_warning() {
    for before in [
        "acme_login: { user: ada }",
        "runTrail: { path: b.trail.yaml }",
        "inputTextRandom: { variable: \"{{args.which}}\" }",
    ] {
        let config = "{ args: { which: { default: x } } }";
        let lab = trail(config, &[before, "inputText: { text: \"{{order}}\" }"]);
        lab.write("b.trail.yaml", "config: {}\ntrail:\n  - step: x\n")
            .write(
                "packtrain.yaml",
                "mcpServers: [{ name: acme, command: acme }]\n",
            );
        let said = check(&lab, &[], 0).stderr;
        has(&said, &["warning", "`{{order}}` is undefined, unless"]);
    }
}
