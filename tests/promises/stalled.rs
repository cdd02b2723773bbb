//! An output that nobody reads costs itself: the journal, the verdict, the reports, time-outs and
//! signals go on.

use std::process::Child;

use packtrain_tests::{Lab, ended, interrupt, until};

use crate::lab;

const STEPS: usize = 250;

/// A trail that says more than a pipe holds, on standard output and on standard error, and then
/// does what `last` says.
fn talkative(last: &str) -> Lab {
    let lab = lab();
    let words = "Look at the same thing once more and say so at length ".repeat(6);
    let step = format!(
        "  - step: \"{words}\"\n    recording:\n      android:\n        - assertEquals: {{ actual: a, expected: a }}\n"
    );
    let trail = format!(
        "config: {{ id: talkative }}\ntrail:\n{}  - step: \"The last\"\n    recording:\n      android:\n        - {last}\n",
        step.repeat(STEPS)
    );
    lab.write("talkative.trail.yaml", &trail);
    lab
}

fn start(lab: &Lab, arguments: &[&str]) -> Child {
    let run = ["run", "talkative.trail.yaml", "-d", "virtual:android:2"];
    let more = ["--screenshots", "none", "--junit", "out/junit.xml"];
    lab.start(&[&run, &more, arguments].concat())
}

/// The run is whole: every session has its end, and the reports are there.
fn is_whole(lab: &Lab, outcome: &str) {
    let events = lab.events();
    assert_eq!(events.last().unwrap()["event"], "run_finished");
    assert_eq!(events.len() as u64, events.last().unwrap()["seq"]);
    let outcomes: Vec<_> = lab.outcomes().into_values().collect();
    assert_eq!(outcomes, [outcome, outcome]);
    for report in ["report.html", "report.json", "junit.xml"] {
        assert!(lab.run_folder().join(report).is_file(), "{report}");
    }
    assert!(lab.folder().join("out/junit.xml").is_file());
}

#[test]
fn a_run_whose_output_nobody_reads_gets_to_its_end() {
    for format in ["json", "text"] {
        let lab = talkative("assertEquals: { actual: a, expected: a }");
        let child = start(&lab, &["--format", format]);
        let ended = ended(child).expect(0);
        is_whole(&lab, "passed");
        if format == "json" {
            let told = "standard output was read too slowly";
            assert!(ended.stderr.contains(told), "{}", ended.stderr);
        }
    }
}

#[test]
fn a_time_out_comes_although_nobody_reads_the_output() {
    let lab = talkative("runCommand: { command: \"sleep 600\" }");
    let child = start(&lab, &["--format", "json", "--timeout", "20s"]);
    ended(child).expect(1);
    is_whole(&lab, "failed");
}

#[test]
fn a_signal_stops_a_run_whose_output_nobody_reads() {
    for format in ["json", "text"] {
        let lab = talkative("runCommand: { command: \"sleep 600\" }");
        let child = start(&lab, &["--format", format]);
        let sleeps = |event: &serde_json::Value| event["tool"] == "runCommand";
        until(|| {
            lab.events_so_far()
                .iter()
                .filter(|event| sleeps(event))
                .count()
                == 2
        });
        interrupt(&child);
        ended(child).expect(2);
        is_whole(&lab, "cancelled");
    }
}
