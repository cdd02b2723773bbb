//! Signals: the first stops, the second quits with reports of what there is, and nothing is left.

use std::io::{BufRead, BufReader};

use packtrain_tests::{Lab, ended, interrupt, processes_with, stopping, terminate, until};

use crate::lab;

/// A run on two phones, of which one does not answer when its screen is to be turned back, which is
/// what the end of its session is for.
fn hung() -> Lab {
    let lab = lab();
    lab.write(
        "hung.trail.yaml",
        r#"
config: { id: hung }
trail:
  - step: "Turn the screen"
    recording:
      android:
        - mobile_maestro: { commands: [{ setOrientation: LANDSCAPE_LEFT }] }
  - step: "Wait"
    recording:
      android:
        - wait: { timeToWaitInSeconds: 300 }
"#,
    )
    .write(
        "packtrain.yaml",
        "devices: { virtual: { android: 2, ios: 0, faults: faults.yaml } }\n",
    )
    .write(
        "faults.yaml",
        r#"
rules:
  - match: { device: android/virtual-1, command: "user_rotation 0" }
    do: { delay: 600000 }
"#,
    );
    lab
}

fn moment(event: &serde_json::Value) -> chrono::DateTime<chrono::Utc> {
    event["at"].as_str().unwrap().parse().unwrap()
}

fn started(lab: &Lab) -> std::process::Child {
    let run = ["run", "hung.trail.yaml", "-d", "virtual:android:2"];
    let child = lab.start(&[&run[..], &["--junit", "out/junit.xml"]].concat());
    until(|| {
        let events = lab.events_so_far();
        let calls = events
            .iter()
            .filter(|event| event["event"] == "tool_started");
        calls.count() == 4
    });
    child
}

#[test]
fn a_hung_device_does_not_hold_up_the_end_after_a_signal() {
    let lab = hung();
    let child = started(&lab);
    interrupt(&child);
    ended(child).expect(2);
    let events = lab.events();
    assert_eq!(events.last().unwrap()["event"], "run_finished");
    assert_eq!(lab.outcomes().len(), 2);
    assert!(lab.folder().join("out/junit.xml").is_file());
}

#[test]
fn a_run_whose_terminal_is_closed_ends_with_its_reports() {
    let lab = hung();
    let child = started(&lab);
    let sent = std::process::Command::new("kill")
        .args(["-HUP", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    ended(child).expect(2);
    assert_eq!(lab.events().last().unwrap()["event"], "run_finished");
    for report in ["report.html", "junit.xml", "report.json"] {
        assert!(lab.run_folder().join(report).is_file(), "{report}");
    }
}

#[test]
fn two_quick_signals_are_two_and_the_reports_are_written() {
    let lab = hung();
    let child = started(&lab);
    // Two of one kind are one to the system while the first is not taken.
    interrupt(&child);
    terminate(&child);
    ended(child).expect(2);
    // The phone that hangs was not waited for, which takes ten seconds: either the run came to its
    // end at once, or it was cut short.
    let events = lab.events();
    if let Some(last) = events.iter().find(|event| event["event"] == "run_finished") {
        let stopped = events
            .iter()
            .find(|event| event["event"] == "stop_requested");
        let took = moment(last) - moment(stopped.unwrap());
        assert!(took.num_seconds() < 9, "{took}");
        assert_eq!(lab.outcomes().len(), 2);
    } else {
        let report = lab.read(lab.run_folder().join("report.json"));
        assert!(report.contains("\"cut_short\""), "{report}");
    }
    for report in ["report.html", "junit.xml"] {
        assert!(lab.run_folder().join(report).is_file(), "{report}");
    }
    assert!(lab.folder().join("out/junit.xml").is_file());
}

#[test]
fn a_failure_that_is_known_is_not_lost_to_a_signal_while_reports_are_made() {
    let lab = lab();
    lab.write(
        "fail.trail.yaml",
        "config: { id: fail }\ntrail:\n  - step: x\n    recording:\n      android:\n        - runCommand: { command: \"false\" }\n",
    );
    // Nobody reads it.
    let pipe = lab.folder().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let run = ["run", "fail.trail.yaml", "-d", "virtual:android"];
    let mut child = lab.start(&[&run[..], &["--junit", "pipe"]].concat());
    let report = lab.folder().join(".packtrain/runs/latest/report.json");
    until(|| report.is_file());
    interrupt(&child);
    stopping(&mut child);
    interrupt(&child);
    ended(child).expect(1);
}

#[test]
fn a_command_that_a_trail_started_outlives_no_signal() {
    for signals in [1, 2] {
        let lab = lab();
        let mark = format!("86400.{signals}{}", std::process::id());
        let trail = format!(
            "config: {{ id: sleep }}\ntrail:\n  - step: \"Sleep\"\n    recording:\n      android:\n        - runCommand: {{ command: \"sleep {mark}; true\" }}\n"
        );
        lab.write("sleep.trail.yaml", &trail);
        let child = lab.start(&["run", "sleep.trail.yaml", "-d", "virtual:android"]);
        until(|| processes_with(&mark).len() == 2);
        for _ in 0..signals {
            interrupt(&child);
        }
        ended(child).expect(2);
        assert_eq!(processes_with(&mark), Vec::<u32>::new());
    }
}

#[test]
fn a_browser_of_an_interrupted_tool_ends_with_it() {
    for signal in [interrupt, terminate] {
        let lab = lab();
        let mark = format!("--packtrain-tool-mark={}", std::process::id());
        lab.write(
            "packtrain.yaml",
            &format!("devices: {{ web: {{ a: {{ args: [{mark}] }} }} }}\n"),
        );
        let script = "script=new Promise(() => {})";
        let child = lab.start(&["tool", "web_evaluate", script, "-d", "web/a"]);
        until(|| !processes_with(&mark).is_empty());
        signal(&child);
        ended(child).expect(2);
        assert_eq!(processes_with(&mark), Vec::<u32>::new());
    }
}

#[test]
fn virtual_phones_end_with_either_signal() {
    for signal in [interrupt, terminate] {
        let lab = lab();
        let mut child = lab.start(&["virtual", "up", "--android", "2", "--ios", "2"]);
        // It says so when everything is up.
        let mut said = BufReader::new(child.stderr.take().unwrap());
        said.read_line(&mut String::new()).unwrap();
        child.stderr = Some(said.into_inner());
        signal(&child);
        ended(child).expect(0);
    }
}
