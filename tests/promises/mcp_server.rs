//! The Model Context Protocol's own conformance suite, which Packtrain's front takes as a server: behind
//! it stand fixtures that have all that the suite calls.

mod agents;
mod fixtures;

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use packtrain_door::door::{Door, Policy, Serving, Tokens};
use packtrain_door::front::{self, SessionLimits, Sessions};
use packtrain_tests::{Ended, repository};
use tokio::runtime::Runtime;

use crate::lab;
use crate::sources::{installed, link_modules};
use fixtures::Fixtures;

/// Threads that serve; the suite makes a few calls at once.
const THREADS: usize = 2;

/// A server that is gone when this is dropped.
struct Served {
    url: String,
    token: String,
    _serving: Serving,
    _runtime: Runtime,
}

/// Mounts fixtures where the daemon mounts what it serves.
fn serve(fixtures: Fixtures) -> Served {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .unwrap();
    let tokens = Tokens::generate().unwrap();
    let token = tokens.owner().to_owned();
    let entered = runtime.enter();
    let door = runtime
        .block_on(Door::bind(Policy::agents(tokens)))
        .unwrap();
    let url = format!("{}/mcp", door.base_url());
    let sessions = Sessions::new(SessionLimits::default(), Arc::new(|_| {}));
    let closing = door.closing();
    let serving = door.serve(front::mcp(move |_| Ok(fixtures.clone()), sessions, closing));
    drop(entered);
    Served {
        url,
        token,
        _serving: serving,
        _runtime: runtime,
    }
}

fn modules() -> PathBuf {
    installed().join("node_modules")
}

/// Runs the suite with these words against a server.
fn suite(url: &str, token: &str, words: &[&str]) -> Ended {
    let lab = lab();
    link_modules(&lab);
    let bearer = std::fs::read_to_string(repository().join("tests/sources/bearer.mjs")).unwrap();
    lab.write("bearer.mjs", &bearer);
    let output = Command::new(modules().join(".bin/node"))
        .args(["--import", "./bearer.mjs"])
        .arg(modules().join(".bin/conformance"))
        .args(["server", "--url", url])
        .args(words)
        .current_dir(lab.folder())
        .env("TMPDIR", lab.folder())
        .env("PACKTRAIN_TEST_TOKEN", token)
        .output();
    output.unwrap().into()
}

/// The scenarios that the suite's own list says a revision requires of a server.
fn required(revision: &str) -> Vec<String> {
    let file = format!("@modelcontextprotocol/conformance/requirements/{revision}.yaml");
    let list = std::fs::read_to_string(modules().join(file)).unwrap();
    let (_, server) = list.split_once("\nserver:\n").unwrap();
    let names = server.lines().map_while(|line| line.strip_prefix("  - "));
    names.map(str::to_owned).collect()
}

/// How many checks of a scenario passed and failed.
fn checks(said: &str, scenario: &str) -> Option<(u32, u32)> {
    let mark = format!(" {scenario}: ");
    let line = said
        .lines()
        .find_map(|line| Some(line.split_once(&mark)?.1))?;
    let (passed, failed) = line.split_once(" passed, ")?;
    Some((
        passed.parse().ok()?,
        failed.strip_suffix(" failed")?.parse().ok()?,
    ))
}

/// Every scenario that a revision requires is put to the test and passes, and so do those that it does
/// not require. `at_least` is how many are required.
#[track_caller]
fn conforms_to(revision: &str, at_least: usize) {
    let served = serve(Fixtures::new(None));
    // With a list of what is expected to fail, although nothing is, warnings fail too.
    let lab = lab();
    lab.write("baseline.yaml", "server: []\n");
    let baseline = lab.folder().join("baseline.yaml");
    let expected = ["--expected-failures", baseline.to_str().unwrap()];
    let words = ["--requirements", revision].into_iter().chain(expected);
    let words: Vec<_> = words.collect();
    let said = suite(&served.url, &served.token, &words).expect(0).stdout;
    let required = required(revision);
    assert!(required.len() >= at_least, "{required:?}");
    for scenario in required {
        let (passed, failed) = checks(&said, &scenario).unwrap_or_default();
        assert!(passed > 0 && failed == 0, "{scenario}\n{said}");
    }
    let total = said.lines().find(|line| line.starts_with("Total: "));
    assert!(total.unwrap().ends_with(" passed, 0 failed"), "{said}");
}

#[test]
fn the_front_serves_all_that_2025_11_25_requires() {
    conforms_to("2025-11-25", 30);
}

#[test]
fn the_front_serves_all_that_2026_07_28_requires() {
    conforms_to("2026-07-28", 37);
}

#[test]
fn a_server_that_breaks_one_thing_does_not_conform() {
    for (broken, scenario) in [
        ("test_image_content", "tools-call-image"),
        (
            "test_input_required_result_tampered_state",
            "input-required-result-tampered-state",
        ),
    ] {
        let served = serve(Fixtures::new(Some(broken)));
        let words = ["--requirements", "2026-07-28"];
        let said = suite(&served.url, &served.token, &words).expect(1).stdout;
        let failing: Vec<_> = said.lines().filter(|line| line.starts_with('✗')).collect();
        let [line] = failing[..] else {
            panic!("{said}");
        };
        assert!(line.starts_with(&format!("✗ {scenario}: ")), "{line}");
    }
}

#[test]
fn whoever_has_no_token_is_shown_nothing() {
    let served = serve(Fixtures::new(None));
    for scenario in ["server-initialize", "tools-list", "resources-list"] {
        let said = suite(&served.url, "of nobody", &["--scenario", scenario]);
        let said = said.expect(1).stdout;
        assert!(said.contains("missing bearer token"), "{said}");
    }
}
