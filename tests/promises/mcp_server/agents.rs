//! Clients that others wrote, as agents of the real program: each takes a phone, acts on it and gives it
//! back (tests/sources/agents), in every era that it speaks, on standard input and output and over HTTP.
//! And the protocol's conformance suite against the daemon itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use packtrain_tests::{Ended, Lab, repository, until};
use serde_json::{Value, json};

use super::{checks, suite};
use crate::lab;
use crate::sources::{installed, link_modules, running};

const LEGACY: (&str, &str) = ("legacy", "2025-11-25");
const AUTO: (&str, &str) = ("auto", "2026-07-28");
const MODERN: (&str, &str) = ("modern", "2026-07-28");
/// A client that speaks either, and the revision that comes of what it is told.
const EITHER: &[(&str, &str)] = &[LEGACY, AUTO, MODERN];

/// A project with a phone and a daemon of its own, which ends with it.
struct Project(Lab);

impl Project {
    fn new() -> Self {
        let lab = lab();
        lab.write(
            "packtrain.yaml",
            "devices: { virtual: { android: 1, profile: fast } }\n",
        );
        link_modules(&lab);
        let scripts = repository().join("tests/sources/agents");
        for script in std::fs::read_dir(scripts).unwrap() {
            let script = script.unwrap().path();
            let name = script.file_name().unwrap();
            std::fs::copy(&script, lab.folder().join(name)).unwrap();
        }
        Self(lab)
    }

    /// Where an agent finds this project's daemon and nobody else's.
    fn environment(&self) -> Vec<(&'static str, PathBuf)> {
        let folder = self.0.folder();
        vec![
            ("HOME", folder.to_owned()),
            ("PATH", std::env::var_os("PATH").unwrap().into()),
            ("XDG_CONFIG_HOME", folder.join(".config")),
            ("XDG_STATE_HOME", folder.join(".state")),
            ("XDG_RUNTIME_DIR", folder.join(".run")),
        ]
    }

    /// Where the daemon is over HTTP, and the token.
    fn http(&self) -> Value {
        self.0.run(&["daemon", "start"]).expect(0);
        let status = self.0.run(&["daemon", "status", "--format", "json"]);
        let status: Value = serde_json::from_str(&status.expect(0).stdout).unwrap();
        json!({ "url": status["url"], "token": status["token"] })
    }

    fn stdio(&self) -> Value {
        let environment = self.environment().into_iter();
        let environment: serde_json::Map<_, _> = environment
            .map(|(name, value)| (name.to_owned(), json!(value)))
            .collect();
        let program = env!("CARGO_BIN_EXE_packtrain-under-test");
        json!({ "command": program, "args": ["mcp"], "env": environment })
    }

    /// Has an agent take its turn, and answers what it says of it.
    #[track_caller]
    fn turn(&self, interpreter: &Path, script: &str, target: &Value, era: &str) -> Value {
        let output = Command::new(interpreter)
            .arg(script)
            .current_dir(self.0.folder())
            .envs(self.environment())
            .env("TMPDIR", self.0.folder())
            .env("MCP_INSPECTOR_SECRET_STORE", "memory")
            .env("PACKTRAIN_TARGET", target.to_string())
            .env("PACKTRAIN_ERA", era)
            .output();
        let said = Ended::from(output.unwrap()).expect(0);
        let line = said.stdout.lines().last();
        serde_json::from_str(line.unwrap()).unwrap()
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        // Nothing may be left even where a promise is not kept.
        let stopped = self.0.run(&["daemon", "stop"]);
        if !std::thread::panicking() {
            stopped.expect(0);
            until(|| running(&self.0).is_empty());
        }
    }
}

fn node() -> PathBuf {
    installed().join("node_modules/.bin/node")
}

fn python(venv: &str) -> PathBuf {
    installed().with_file_name(format!("test-venv-{venv}/bin/python"))
}

#[derive(Clone, Copy)]
enum Over {
    Stdio,
    Http,
}

/// An agent's turn in each era, with what its run keeps of it.
#[track_caller]
fn takes_its_turn(interpreter: &Path, script: &str, over: Over, eras: &[(&str, &str)]) {
    let project = Project::new();
    let target = match over {
        Over::Stdio => project.stdio(),
        Over::Http => project.http(),
    };
    for (era, version) in eras {
        let said = project.turn(interpreter, script, &target, era);
        assert_eq!(said["version"], *version, "{era}: {said}");
        let after = said["after"].as_str().unwrap();
        assert!(after.contains("Sign in"), "{said}");
        let run = said["run"].as_str().unwrap();
        let journal = format!(".packtrain/runs/{run}/events.ndjson");
        let journal = project.0.read(journal);
        let is_launch =
            |event: Value| event["event"] == "tool_started" && event["tool"] == "launchApp";
        let mut events = journal
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        assert!(events.any(is_launch), "{journal}");
    }
}

#[test]
fn the_typescript_sdk_1_is_served() {
    for over in [Over::Stdio, Over::Http] {
        takes_its_turn(&node(), "typescript1.mjs", over, &[LEGACY]);
    }
}

#[test]
fn the_typescript_sdk_2_is_served_in_both_eras() {
    for over in [Over::Stdio, Over::Http] {
        takes_its_turn(&node(), "typescript2.mjs", over, EITHER);
    }
}

#[test]
fn the_python_sdk_1_is_served() {
    for over in [Over::Stdio, Over::Http] {
        takes_its_turn(&python("fastmcp3"), "python1.py", over, &[LEGACY]);
    }
}

#[test]
fn the_python_sdk_2_is_served_in_both_eras() {
    for over in [Over::Stdio, Over::Http] {
        takes_its_turn(&python("fastmcp4"), "python2.py", over, EITHER);
    }
}

#[test]
fn the_inspector_is_served_in_both_eras_on_standard_input() {
    takes_its_turn(&node(), "inspector.mjs", Over::Stdio, &[LEGACY, AUTO]);
}

#[test]
fn the_inspector_is_served_in_both_eras_over_http() {
    takes_its_turn(&node(), "inspector.mjs", Over::Http, &[LEGACY, MODERN]);
}

/// The daemon passes what a revision requires and it can be asked; `scenarios` is some of it.
#[track_caller]
fn the_daemon_conforms_to(revision: &str, scenarios: &[&str]) {
    let project = Project::new();
    let target = project.http();
    let text = |key: &str| target[key].as_str().unwrap();
    let baseline = repository().join("tests/sources/conformance.yaml");
    let baseline = baseline.to_str().unwrap();
    let words = ["--requirements", revision, "--expected-failures", baseline];
    let said = suite(text("url"), text("token"), &words).expect(0).stdout;
    for scenario in scenarios {
        let (passed, failed) = checks(&said, scenario).unwrap_or_default();
        assert!(passed > 0 && failed == 0, "{scenario}\n{said}");
    }
}

#[test]
fn the_daemon_itself_passes_what_of_2025_11_25_it_can_be_asked() {
    let scenarios = [
        "server-initialize",
        "ping",
        "tools-list",
        "server-sse-multiple-streams",
        "resources-list",
        "dns-rebinding-protection",
        "server-session-lifecycle",
        "server-sse-polling",
    ];
    the_daemon_conforms_to("2025-11-25", &scenarios);
}

#[test]
fn the_daemon_itself_passes_what_of_2026_07_28_it_can_be_asked() {
    let scenarios = [
        "tools-list",
        "server-sse-multiple-streams",
        "resources-list",
        "sep-2164-resource-not-found",
        "dns-rebinding-protection",
        "http-header-validation",
    ];
    the_daemon_conforms_to("2026-07-28", &scenarios);
}
