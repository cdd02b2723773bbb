//! How long the program takes to say its version, whole processes, against `/bin/true`.
//!
//! `cargo bench -p packtrain-tests --bench start`
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use std::process::{Command, Stdio};
use std::time::Instant;

const ROUNDS: usize = 60;

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let program = env!("CARGO_BIN_EXE_packtrain-under-test");
    let (mut version, mut nothing) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        nothing.push(milliseconds("/bin/true", &[]));
        version.push(milliseconds(program, &["--version"]));
    }
    row("/bin/true, ms", &mut nothing);
    row("packtrain --version, ms", &mut version);
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

fn row(name: &str, values: &mut [f64]) {
    values.sort_by(f64::total_cmp);
    println!(
        "  {name:26} min {:7.2}  median {:7.2}  max {:7.2}",
        values[0],
        values[values.len() / 2],
        values[values.len() - 1]
    );
}
