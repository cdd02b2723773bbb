//! The Model Context Protocol's own conformance suite, which Packtrain takes as a client: the program
//! under test calls tools of the suite's servers, as it calls those of any source.

use std::path::PathBuf;
use std::process::Command;

use packtrain_tests::{Ended, repository};

use crate::lab;

/// What installs what is missing.
const MISSING: &str = "PACKTRAIN_TEST_SOURCES is not set: `sh tests/run.sh` installs tool sources";
/// Milliseconds for a scenario; they all run at once.
const SCENARIO_TIMEOUT: &str = "100000";

fn sources() -> PathBuf {
    repository().join("tests/sources")
}

/// Runs the suite with these words; the program speaks `protocol` with its servers.
fn suite(protocol: &str, words: &[&str]) -> Ended {
    let installed = PathBuf::from(std::env::var_os("PACKTRAIN_TEST_SOURCES").expect(MISSING));
    let installed = installed.join("node_modules/.bin");
    let node = installed.join("node");
    let client = sources().join("conformance.mjs");
    let lab = lab();
    let output = Command::new(&node)
        .arg(installed.join("conformance"))
        .args(["client", "--timeout", SCENARIO_TIMEOUT, "--command"])
        .arg(format!("{} {}", node.display(), client.display()))
        .args(words)
        .current_dir(lab.folder())
        .env("PACKTRAIN_TEST_PROTOCOL", protocol)
        .env(
            "PACKTRAIN_UNDER_TEST",
            env!("CARGO_BIN_EXE_packtrain-under-test"),
        )
        .env("TMPDIR", lab.folder())
        .output();
    output.unwrap().into()
}

/// Runs what a revision requires. `scenarios` must have been put to the test, not only not failed.
#[track_caller]
fn conforms_to(revision: &str, protocol: &str, scenarios: &[&str]) {
    let baseline = sources().join("conformance.yaml");
    let baseline = baseline.to_str().unwrap();
    let words = ["--requirements", revision, "--expected-failures", baseline];
    let said = suite(protocol, &words).expect(0).stdout;
    for scenario in scenarios {
        let line = said
            .lines()
            .find_map(|line| line.strip_prefix(&format!("✓ {scenario}: ")));
        let checks = line.and_then(|line| line.split_once(" passed")?.0.parse::<u32>().ok());
        assert!(
            checks.is_some_and(|checks| checks > 0),
            "{scenario}\n{said}"
        );
    }
}

#[test]
fn tool_sources_are_called_as_2025_11_25_says() {
    let scenarios = [
        "initialize",
        "tools_call",
        "elicitation-sep1034-client-defaults",
        "sse-retry",
    ];
    conforms_to("2025-11-25", "legacy", &scenarios);
}

const SINCE_2026: [&str; 7] = [
    "tools_call",
    "request-metadata",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
];

#[test]
fn tool_sources_are_called_as_2026_07_28_says() {
    conforms_to("2026-07-28", "modern", &SINCE_2026);
}

#[test]
fn a_source_that_speaks_only_2026_07_28_is_called_so_when_asked_for_the_newest() {
    conforms_to("2026-07-28", "auto", &SINCE_2026);
}

#[test]
fn a_list_of_expected_failures_that_is_off_in_either_way_is_noticed() {
    let lab = lab();
    let with = |scenario: &str, expected: &str| {
        let baseline = lab.folder().join("baseline.yaml");
        std::fs::write(&baseline, format!("client: [{expected}]\n")).unwrap();
        let baseline = baseline.to_str().unwrap();
        let words = ["--scenario", scenario, "--expected-failures", baseline];
        suite("legacy", &words)
    };
    let unlisted = with("auth/metadata-default", "").expect(1).stdout;
    assert!(unlisted.contains("Unexpected failures"), "{unlisted}");
    let passes = with("tools_call", "tools_call").expect(1).stdout;
    assert!(passes.contains("Stale baseline entries"), "{passes}");
    with("auth/metadata-default", "auth/metadata-default").expect(0);
}
