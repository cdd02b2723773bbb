//! The Model Context Protocol's own conformance suite, which Packtrain's front takes as a server: behind
//! it stand fixtures that have all that the suite calls.

mod fixtures;

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use packtrain_tests::Ended;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::lab;
use crate::sources::installed;
use fixtures::Fixtures;

/// Threads that serve; the suite makes a few calls at once.
const THREADS: usize = 2;

/// A server that is gone when this is dropped.
struct Served {
    _runtime: Runtime,
    url: String,
}

fn serve(fixtures: Fixtures) -> Served {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = None;
    let origins = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
    let config = StreamableHttpServerConfig::default().with_allowed_origins(origins);
    let factory = move || Ok(fixtures.clone());
    let service = StreamableHttpService::new(factory, Arc::new(sessions), config);
    let router = axum::Router::new().route_service("/mcp", service);
    runtime.spawn(async move { axum::serve(listener, router).await.unwrap() });
    Served {
        _runtime: runtime,
        url,
    }
}

fn modules() -> PathBuf {
    installed().join("node_modules")
}

/// Runs the suite with these words against a server.
fn suite(url: &str, words: &[&str]) -> Ended {
    let lab = lab();
    let output = Command::new(modules().join(".bin/node"))
        .arg(modules().join(".bin/conformance"))
        .args(["server", "--url", url])
        .args(words)
        .current_dir(lab.folder())
        .env("TMPDIR", lab.folder())
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
    let said = suite(&served.url, &["--requirements", revision]).expect(0);
    let said = said.stdout;
    let required = required(revision);
    assert!(required.len() >= at_least, "{required:?}");
    for scenario in required {
        let (passed, failed) = checks(&said, &scenario).unwrap_or_default();
        assert!(passed > 0 && failed == 0, "{scenario}\n{said}");
    }
    assert!(said.contains(" passed, 0 failed\n\nNot scored"), "{said}");
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
        let said = suite(&served.url, &words).expect(1).stdout;
        let failing: Vec<_> = said.lines().filter(|line| line.starts_with('✗')).collect();
        let [line] = failing[..] else {
            panic!("{said}");
        };
        assert!(line.starts_with(&format!("✗ {scenario}: ")), "{line}");
    }
}
