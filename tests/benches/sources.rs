//! What tool sources cost: `cargo bench -p packtrain-tests --bench sources -- [callbacks|calls|fanout]`.
//!
//! Three processes on loopback: this one, which is the tool source and the client that measures; the
//! orchestrator, with devices in memory, leases, the invoker and a journal on disk; and a bare echo.
//! What is compared is measured in turns, in slices of 100 ms at most, and the median of the ratios
//! of neighbouring slices is told.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark panics and prints"
)]

#[path = "sources/client.rs"]
mod client;
#[path = "sources/echo.rs"]
mod echo;
#[path = "sources/orchestrator.rs"]
mod orchestrator;
#[path = "sources/source.rs"]
mod source;

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::time::Instant;

use self::client::{Connection, cpu, median, quantile};
use self::source::{Held, Source};

/// Slices of each kind.
const ROUNDS: usize = 80;
/// Actions of 20 ms of a device, in one call or in as many calls.
const STEPS: usize = 40;
/// How long a slice takes.
const SLICE: Duration = Duration::from_millis(100);

fn main() {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["role-echo"] => echo::run(),
        ["role-orchestrator", rest @ ..] => orchestrator::run(rest),
        [] => {
            callbacks();
            calls();
            fan_out();
        }
        ["callbacks"] => callbacks(),
        ["calls"] => calls(),
        ["fanout"] => fan_out(),
        _ => panic!("callbacks, calls or fanout"),
    }
}

/// Another process of this program, killed when it is dropped.
pub(crate) struct Role(Child, BufReader<std::process::ChildStdout>);

impl Role {
    pub(crate) fn start(words: &[&str]) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self(child, out)
    }

    /// The next line that it prints.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(
            self.1.read_line(&mut line).unwrap() > 0,
            "a process ended early"
        );
        line.trim().to_owned()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Lets it go on.
    pub(crate) fn go(&mut self) {
        writeln!(self.0.stdin.as_mut().unwrap()).unwrap();
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn echo_process() -> (Role, String) {
    let mut echo = Role::start(&["role-echo"]);
    let address = echo.line();
    (echo, address)
}

fn callbacks() {
    const MANY: usize = 64;
    let (source, held) = Source::start();
    let (echo, echo_address) = echo_process();
    let orchestrator = Role::start(&[
        "role-orchestrator",
        "hold",
        &source.url(),
        &MANY.to_string(),
        "0",
    ]);
    let held: Vec<Held> = (0..MANY).map(|_| held.recv().unwrap()).collect();
    let address = held[0].address.clone();

    // One at a time.
    let mut ours = Connection::open(&address, "/scripting/callback");
    let mut bare = Connection::open(&echo_address, "/echo");
    let body = held[0].callback();
    let (mut ratios, mut p50s, mut floors) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let floor = quantile(&mut bare.slice(&body, SLICE), 0.5);
        let own = quantile(&mut ours.slice(&body, SLICE), 0.5);
        ratios.push(own / floor);
        p50s.push(own);
        floors.push(floor);
    }
    println!(
        "callback p50 / bare axum echo, one at a time: {:.2} (p10 {:.2}, p90 {:.2}; {:.1} us / {:.1} us)",
        median(&mut ratios),
        quantile(&mut ratios, 0.1),
        quantile(&mut ratios, 0.9),
        median(&mut p50s),
        median(&mut floors),
    );

    // Sixty-four at a time: what the processors did.
    let bodies: Vec<String> = held.iter().map(Held::callback).collect();
    let rate = |address: &str, path: &'static str, pid: u32| {
        let begun = cpu(pid);
        let ends = Instant::now() + Duration::from_millis(1000);
        let counts = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..2)
                .map(|thread| {
                    let bodies = &bodies;
                    scope.spawn(move || {
                        client::storm(address, path, &bodies[thread * 32..][..32], ends)
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .sum::<u64>()
        });
        (cpu(pid) - begun).as_secs_f64() * 1e6 / counts as f64
    };
    let (mut ratios, mut own, mut floor) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..8 {
        let bare = rate(&echo_address, "/echo", echo.pid());
        let ours = rate(&address, "/scripting/callback", orchestrator.pid());
        ratios.push(ours / bare);
        own.push(ours);
        floor.push(bare);
    }
    println!(
        "processor time per callback / bare axum echo, 64 at a time: {:.2} (min {:.2}, max {:.2}; {:.1} us / {:.1} us)",
        median(&mut ratios),
        quantile(&mut ratios, 0.0),
        quantile(&mut ratios, 1.0),
        median(&mut own),
        median(&mut floor),
    );
    for one in held {
        one.release();
    }
}

fn calls() {
    let (source, _held) = Source::start();
    let mut orchestrator = Role::start(&["role-orchestrator", "calls", &source.url(), "1", "0"]);
    println!("{}", orchestrator.line());
}

/// How long one device takes, and how long many do: 40 actions of 20 ms each, in one call, and on one
/// process of each SDK in a call each.
fn fan_out() {
    let rust = |devices: usize| {
        let (source, _held) = Source::start();
        wall(&[
            "role-orchestrator",
            "drive",
            &source.url(),
            &devices.to_string(),
            "20",
        ])
    };
    compare("Rust source", 200, rust);
    let Some(installed) = std::env::var_os("PACKTRAIN_TEST_SOURCES").map(PathBuf::from) else {
        println!("PACKTRAIN_TEST_SOURCES is not set, so the sources of the SDKs were not tried");
        return;
    };
    // Beside what it imports.
    let scripts = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/sources");
    let typescript = installed.join("drive.mts");
    std::fs::copy(format!("{scripts}/drive.mts"), &typescript).unwrap();
    let sdks = [
        (
            "TypeScript SDK",
            installed.join("node_modules/.bin/tsx"),
            typescript,
        ),
        (
            "Python SDK",
            installed.join("../test-venv-fastmcp3/bin/python"),
            PathBuf::from(format!("{scripts}/drive.py")),
        ),
    ];
    for (sdk, program, script) in sdks {
        let run = |mode: &str, devices: usize, replicas: &str| {
            wall(&[
                "role-orchestrator",
                mode,
                script.to_str().unwrap(),
                &devices.to_string(),
                "20",
                program.to_str().unwrap(),
                replicas,
            ])
        };
        for replicas in ["1", "2", "4"] {
            let what = format!("{sdk}, replicas {replicas}");
            compare(&what, 200, |devices| run("drive", devices, replicas));
        }
        let what = format!("a call each, {sdk}, replicas 1");
        compare(&what, 50, |devices| run("steps", devices, "1"));
    }
}

fn wall(words: &[&str]) -> f64 {
    let mut orchestrator = Role::start(words);
    assert_eq!(orchestrator.line(), "ready");
    orchestrator.go();
    let took = orchestrator.line().parse().unwrap();
    // It stops its sources before it ends.
    orchestrator.0.wait().unwrap();
    took
}

fn compare(what: &str, devices: usize, run: impl Fn(usize) -> f64) {
    let (mut ratios, mut ones, mut manys) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        let (one, many) = (run(1), run(devices));
        ratios.push(many / one);
        ones.push(one);
        manys.push(many);
    }
    println!(
        "{devices} devices / one, {STEPS} actions of 20 ms, {what}: {:.2} (min {:.2}, max {:.2}; {:.0} ms / {:.0} ms)",
        median(&mut ratios),
        quantile(&mut ratios, 0.0),
        quantile(&mut ratios, 1.0),
        median(&mut manys),
        median(&mut ones),
    );
}
