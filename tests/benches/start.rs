//! How long the program takes to say its version, against `/bin/true`, and from the start of the
//! process to the start of the first step on a virtual Android phone: whole processes.
//!
//! `cargo bench -p packtrain-tests --bench start`
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio::time::Instant;

const VERSIONS: usize = 60;
const RUNS: usize = 40;

/// What is asked of the program, in milliseconds.
const VERSION_TARGET: f64 = 5.0;
const STEP_TARGET: f64 = 30.0;

/// Without an agent, which is to a phone what a browser is to a web device: its start is its own.
const CONFIG: &str =
    "devices: { android: { agent: shell }, virtual: { android: 1, profile: fast } }\n";
const TRAIL: &str =
    "config: { id: first }\ntrail:\n  - step: \"Nothing\"\n    recording: { android: [] }\n";

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let program = env!("CARGO_BIN_EXE_packtrain-under-test");
    let (mut version, mut nothing) = (Vec::new(), Vec::new());
    for _ in 0..VERSIONS {
        nothing.push(milliseconds("/bin/true", &[]));
        version.push(milliseconds(program, &["--version"]));
    }
    row("/bin/true, ms", &mut nothing, None);
    row(
        "packtrain --version, ms",
        &mut version,
        Some(VERSION_TARGET),
    );

    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("packtrain.yaml"), CONFIG).unwrap();
    std::fs::write(folder.path().join("first.trail.yaml"), TRAIL).unwrap();
    let (mut plan, mut open, mut begin, mut own) = (vec![], vec![], vec![], vec![]);
    for _ in 0..RUNS {
        let run = first_step(program, folder.path());
        own.push(run.planned + run.begun);
        plan.push(run.planned);
        open.push(run.opened);
        begin.push(run.begun);
    }
    row("process to run_started, ms", &mut plan, None);
    row("device opened, ms", &mut open, None);
    row("session to first step, ms", &mut begin, None);
    row("start to first step, ms", &mut own, Some(STEP_TARGET));
}

/// The parts of a start, in milliseconds.
struct Parts {
    /// From the process to `run_started`, the virtual phone's own start included.
    planned: f64,
    /// From there to `session_started`: the device is connected.
    opened: f64,
    /// From there to the first `step_started`.
    begun: f64,
}

fn first_step(program: &str, folder: &Path) -> Parts {
    let begun = DateTime::<Utc>::from(SystemTime::now());
    let output = Command::new(program)
        .args(["run", "first.trail.yaml", "-d", "virtual:android"])
        .args(["--format", "json", "--screenshots", "none"])
        .current_dir(folder)
        .env("XDG_CONFIG_HOME", folder)
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{told}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let events: Vec<Value> = told
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let at = |name: &str| -> DateTime<Utc> {
        let event = events.iter().find(|event| event["event"] == name).unwrap();
        event["at"].as_str().unwrap().parse().unwrap()
    };
    let between = |from: DateTime<Utc>, to: DateTime<Utc>| (to - from).as_seconds_f64() * 1e3;
    let (run, session) = (at("run_started"), at("session_started"));
    Parts {
        planned: between(begun, run),
        opened: between(run, session),
        begun: between(session, at("step_started")),
    }
}

fn milliseconds(program: &str, arguments: &[&str]) -> f64 {
    let begun = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    begun.elapsed().as_secs_f64() * 1e3
}

fn row(name: &str, values: &mut [f64], target: Option<f64>) {
    values.sort_by(f64::total_cmp);
    let median = values[values.len() / 2];
    let verdict = match target {
        Some(target) if median <= target => format!("  target {target}: met"),
        Some(target) => format!("  target {target}: MISSED"),
        None => String::new(),
    };
    println!(
        "  {name:28} min {:7.2}  median {median:7.2}  max {:7.2}{verdict}",
        values[0],
        values[values.len() - 1]
    );
}
