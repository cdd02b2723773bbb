//! What it costs one device that others run beside it: the example shop's trail on a virtual
//! Android phone, a virtual iPhone and two browsers at once, against the slowest of them alone.
//! And what it costs a phone that its screen is observed after each step, with a picture, where it
//! takes its time as phones do.
//!
//! `cargo bench -p packtrain-tests --bench phones -- [together|observing]`
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use std::path::Path;

use packtrain_tests::{Lab, repository};
use tokio::time::Instant;

/// The wall time of all at once must not be more than this times that of the slowest.
const MOST: f64 = 1.15;
/// Runs with observations, each beside one without.
const PAIRS: usize = 5;
const DEVICES: [&str; 4] = ["virtual:android", "virtual:ios", "web/desktop", "web/phone"];

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let lab = Lab::new(env!("CARGO_BIN_EXE_packtrain-under-test"));
    copy(&lab, &repository().join("examples/shop"), Path::new(""));
    let asked = |what: &str| std::env::args().any(|argument| argument == what);
    if !asked("observing") {
        together(&lab);
    }
    if !asked("together") {
        observing(&lab);
    }
}

fn together(lab: &Lab) {
    let mut slowest: f64 = 0.0;
    for device in DEVICES {
        let seconds = seconds(lab, device, &[]);
        println!("  {device:38} {seconds:6.2} s");
        slowest = slowest.max(seconds);
    }
    let together = seconds(lab, &DEVICES.join(","), &[]);
    let ratio = together / slowest;
    println!("  {:38} {together:6.2} s", "all four at once");
    println!("  at once / slowest alone                {ratio:6.3}   (at most {MOST})");
    assert!(ratio <= MOST, "{ratio:.3} is more than {MOST}");
}

/// Observed and not, in pairs.
fn observing(lab: &Lab) {
    let settings = std::fs::read_to_string(lab.folder().join("packtrain.yaml")).unwrap();
    lab.write(
        "packtrain.yaml",
        &settings.replace("profile: fast", "profile: phone"),
    );
    for device in &DEVICES[..2] {
        let mut ratios = [0.0; PAIRS].map(|_: f64| {
            let observed = seconds(lab, device, &[]);
            let plain = ["--observe", "none", "--screenshots", "none"];
            let plain = seconds(lab, device, &plain);
            println!("  {device:38} {observed:6.2} s observed, {plain:6.2} s not");
            observed / plain
        });
        ratios.sort_by(f64::total_cmp);
        let median = ratios[PAIRS / 2];
        println!("  observed / not, median                 {median:6.3}");
    }
}

fn seconds(lab: &Lab, devices: &str, flags: &[&str]) -> f64 {
    let begun = Instant::now();
    let words = [&["run", "trails", "-d", devices], flags].concat();
    lab.run(&words).expect(0);
    begun.elapsed().as_secs_f64()
}

/// Copies the example, without what runs of it left there.
fn copy(lab: &Lab, from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, name) = (entry.path(), to.join(entry.file_name()));
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        match path.is_dir() {
            true => copy(lab, &path, &name),
            false => {
                let text = std::fs::read_to_string(&path).unwrap();
                lab.write(name.to_str().unwrap(), &text);
            }
        }
    }
}
