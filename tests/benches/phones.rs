//! What it costs one device that others run beside it: the example shop's trail on a virtual
//! Android phone, a virtual iPhone and two browsers at once, against the slowest of them alone.
//! The phones take their time as phones do.
//!
//! `cargo bench -p packtrain-tests --bench phones`
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use std::path::Path;
use std::time::Instant;

use packtrain_tests::{Lab, repository};

/// The wall time of all at once must not be more than this times that of the slowest.
const MOST: f64 = 1.15;
const DEVICES: [&str; 4] = ["virtual:android", "virtual:ios", "web/desktop", "web/phone"];

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let lab = Lab::new(env!("CARGO_BIN_EXE_packtrain-under-test"));
    copy(&lab, &repository().join("examples/shop"), Path::new(""));
    let mut slowest: f64 = 0.0;
    for device in DEVICES {
        let seconds = seconds(&lab, device);
        println!("  {device:38} {seconds:6.2} s");
        slowest = slowest.max(seconds);
    }
    let together = seconds(&lab, &DEVICES.join(","));
    let ratio = together / slowest;
    println!("  {:38} {together:6.2} s", "all four at once");
    println!("  at once / slowest alone                {ratio:6.3}   (at most {MOST})");
    assert!(ratio <= MOST, "{ratio:.3} is more than {MOST}");
}

fn seconds(lab: &Lab, devices: &str) -> f64 {
    let begun = Instant::now();
    lab.run(&["run", "trails", "-d", devices]).expect(0);
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
