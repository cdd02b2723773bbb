//! What breaks stays where it broke.

use std::io::{BufRead, BufReader};
use std::process::Command;

use packtrain_testing::has;
use packtrain_tests::{Ended, descendants, is_gone, processes_with, until};
use tokio::time::Instant;

use crate::lab;

/// Waits on a page until it is told to go on; nobody tells it.
const ENDLESS: &str = r#"
config: { id: endless }
trail:
  - step: "Show something"
    recording:
      web:
        - web_navigate: { url: "data:text/html,<h1>Here</h1>" }
  - step: "Wait for what never comes"
    recording:
      web-bad:
        - web_evaluate: { script: "new Promise(() => {})" }
      web:
        - web_verifyTextVisible: { text: Here }
"#;

fn step_started(
    stdout: impl std::io::Read,
    session_of: &str,
    step: u64,
) -> impl Iterator<Item = String> {
    let mut lines = BufReader::new(stdout).lines().map(Result::unwrap);
    let mut session = None;
    for line in lines.by_ref() {
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        if event["event"] == "session_started" && event["device"]["id"] == session_of {
            session = Some(event["session"].clone());
        }
        if event["event"] == "tool_started"
            && event["step"] == step
            && Some(&event["session"]) == session.as_ref()
        {
            break;
        }
    }
    lines
}

#[test]
fn a_killed_browser_costs_its_own_session_and_no_other() {
    let lab = lab();
    let mark = format!("--packtrain-test-mark={}", std::process::id());
    lab.write("endless.trail.yaml", ENDLESS).write(
        "packtrain.yaml",
        &format!(
            "devices:\n  web:\n    good: {{ isolation: process }}\n    other: {{}}\n    \
             bad: {{ isolation: process, classifiers: [web, bad], args: [{mark}] }}\n"
        ),
    );
    let mut child = lab.start(&[
        "run",
        "endless.trail.yaml",
        "--all-devices",
        "--format",
        "json",
    ]);
    let rest = step_started(child.stdout.take().unwrap(), "web/bad", 2);
    let killed = processes_with(&mark);
    assert!(!killed.is_empty(), "the browser of web/bad runs");
    for pid in killed {
        Command::new("kill")
            .args(["-KILL", &pid.to_string()])
            .status()
            .unwrap();
    }
    let rest: Vec<_> = rest.collect();
    let ended = Ended::from(child.wait_with_output().unwrap()).expect(2);
    let outcomes = lab.outcomes();
    assert_eq!(outcomes["web/bad"], "infrastructure", "{rest:#?}");
    assert_eq!(outcomes["web/good"], "passed");
    assert_eq!(outcomes["web/other"], "passed");
    assert!(
        lab.run_folder().join("report.html").is_file(),
        "{}",
        ended.stderr
    );
    assert_eq!(processes_with(&mark), Vec::<u32>::new());
}

#[test]
fn no_browser_outlives_the_run_or_the_driver_that_was_killed() {
    for killed in [&["run"][..], &["driver"], &["run", "driver"]] {
        let (lab, _) = endless("packtrain-outlived");
        let axis = ["--axis", "engine=chromium,firefox", "--format", "json"];
        let run = ["run", "endless.trail.yaml", "--parallel", "2"];
        let mut child = lab.start(&[&run[..], &axis].concat());
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut lines = lines
            .map(|line| -> serde_json::Value { serde_json::from_str(&line.unwrap()).unwrap() });
        let is_there =
            |event: &serde_json::Value| event["event"] == "tool_started" && event["step"] == 2;
        assert_eq!(lines.by_ref().filter(is_there).take(2).count(), 2);
        let started = descendants(child.id());
        let firefox = processes_with("--remote-debugging-port=0");
        assert!(started.iter().any(|(pid, _)| firefox.contains(pid)));
        let drivers = processes_with("run-driver");
        let driver = started.iter().find(|(pid, _)| drivers.contains(pid));
        let pids = killed.iter().map(|what| match *what {
            "run" => child.id().to_string(),
            _ => driver.unwrap().0.to_string(),
        });
        let mut kill = Command::new("kill");
        assert!(kill.arg("-KILL").args(pids).status().unwrap().success());
        drop(lines.collect::<Vec<_>>());
        drop(child.wait_with_output().unwrap());
        until(|| started.iter().all(is_gone));
    }
}

/// A workspace whose only browser never gets beyond the second step, and the mark that its
/// process carries.
fn endless(name: &str) -> (packtrain_tests::Lab, String) {
    let lab = lab();
    let mark = format!("--{name}={}", std::process::id());
    lab.write("endless.trail.yaml", ENDLESS).write(
        "packtrain.yaml",
        &format!("devices:\n  web:\n    bad: {{ classifiers: [web, bad], args: [{mark}] }}\n"),
    );
    (lab, mark)
}

#[test]
fn ctrl_c_stops_releases_and_reports() {
    let (lab, mark) = endless("packtrain-interrupt-mark");
    let mut child = lab.start(&["run", "endless.trail.yaml", "--format", "json"]);
    let rest = step_started(child.stdout.take().unwrap(), "web/bad", 2);
    let pid = child.id().to_string();
    Command::new("kill").args(["-INT", &pid]).status().unwrap();
    let rest: Vec<_> = rest.collect();
    Ended::from(child.wait_with_output().unwrap()).expect(2);
    assert!(
        rest.iter().any(|line| line.contains("stop_requested")),
        "{rest:#?}"
    );
    assert_eq!(lab.outcomes()["web/bad"], "cancelled");
    assert!(lab.run_folder().join("report.html").is_file());
    assert_eq!(processes_with(&mark), Vec::<u32>::new());
}

#[test]
fn a_second_ctrl_c_ends_at_once_and_leaves_nothing_behind() {
    let (lab, mark) = endless("packtrain-twice-mark");
    let mut child = lab.start(&["run", "endless.trail.yaml", "--format", "json"]);
    let rest = step_started(child.stdout.take().unwrap(), "web/bad", 2);
    let pid = child.id().to_string();
    for _ in 0..2 {
        Command::new("kill").args(["-INT", &pid]).status().unwrap();
    }
    drop(rest);
    let ended = Ended::from(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 2);
    // The browser ends with the pipes it was held by; its group is gone within its own time.
    let begun = Instant::now();
    while !processes_with(&mark).is_empty() {
        assert!(begun.elapsed().as_secs() < 20, "a browser was left behind");
        std::thread::yield_now();
    }
}

#[test]
fn fail_fast_calls_the_others_off() {
    let lab = lab();
    let trail = ENDLESS
        .replace(
            "script: \"new Promise(() => {})\"",
            "script: \"nothing.at.all\"",
        )
        .replace(
            "- web_verifyTextVisible: { text: Here }",
            "- web_evaluate: { script: \"new Promise(() => {})\" }",
        );
    lab.write("endless.trail.yaml", &trail).write(
        "packtrain.yaml",
        "devices:\n  web:\n    good: {}\n    bad: { classifiers: [web, bad] }\n",
    );
    lab.run(&["run", "endless.trail.yaml", "--all-devices", "--fail-fast"])
        .expect(1);
    let outcomes = lab.outcomes();
    assert_eq!(outcomes["web/bad"], "failed");
    assert_eq!(outcomes["web/good"], "cancelled");
}

#[test]
fn a_pass_after_a_failure_is_flaky_and_stays_visible() {
    let lab = lab();
    let file = lab.folder().join("seen");
    let trail = format!(
        "config: {{ id: flaky }}\ntrail:\n  - step: \"Fail once\"\n    recording:\n      web:\n        - runCommand: {{ command: \"test -e {0} || {{ touch {0}; exit 1; }}\" }}\n",
        file.display()
    );
    lab.write("flaky.trail.yaml", &trail);
    let ended = lab
        .run(&["run", "flaky.trail.yaml", "-d", "web/a", "--retries", "1"])
        .expect(0);
    has(&ended.stderr.to_lowercase(), &["flaky"]);
    let finished = lab
        .events()
        .into_iter()
        .find(|event| event["event"] == "session_finished")
        .unwrap();
    assert_eq!(finished["flaky"], true);
    let junit = lab.read(lab.run_folder().join("junit.xml"));
    assert!(junit.contains("flaky"), "{junit}");
}

#[test]
fn a_step_without_recording_needs_an_agent_and_is_no_pass() {
    let lab = lab();
    lab.write(
        "words.trail.yaml",
        "config: { id: words }\ntrail:\n  - step: \"Find out yourself\"\n",
    );
    lab.run(&["run", "words.trail.yaml", "-d", "web/a"])
        .expect(1);
    assert_eq!(lab.outcomes()["web/a"], "needs_agent");
}

#[test]
fn split_runs_every_trail_once() {
    let lab = lab();
    for n in 0..4 {
        lab.write(
            &format!("trails/t{n}.trail.yaml"),
            &format!("config: {{ id: t{n} }}\ntrail:\n  - step: \"Look\"\n    recording:\n      web:\n        - web_navigate: {{ url: \"data:text/html,hello\" }}\n"),
        );
    }
    lab.run(&["run", "trails", "-d", "web/a,web/b", "--shard", "split"])
        .expect(0);
    let started: Vec<_> = lab
        .events()
        .into_iter()
        .filter(|event| event["event"] == "session_started")
        .collect();
    assert_eq!(started.len(), 4);
    let mut trails: Vec<_> = started
        .iter()
        .map(|event| event["planned"]["trail"].as_u64().unwrap())
        .collect();
    trails.sort_unstable();
    assert_eq!(trails, [0, 1, 2, 3]);
}

#[test]
fn skipped_trails_say_why() {
    let lab = lab();
    lab.write(
        "later.trail.yaml",
        "config:\n  id: later\n  skip: { web: \"not on browsers yet\" }\ntrail:\n  - step: \"x\"\n    recording: { web: [] }\n",
    );
    let ended = lab
        .run(&["run", "later.trail.yaml", "-d", "web/a"])
        .expect(0);
    assert_eq!(lab.outcomes()["web/a"], "skipped");
    let headline = "Nothing ran, skipped: not on browsers yet.";
    assert!(ended.stderr.contains(headline), "{}", ended.stderr);
    for wrong in ["started on", "all 1"] {
        assert!(!ended.stderr.contains(wrong), "{wrong}\n{}", ended.stderr);
    }
}

#[test]
fn a_trail_can_run_another_trail() {
    let lab = lab();
    lab.write("inner.trail.yaml", "config: { id: inner }\ntrail:\n  - step: \"Open\"\n    recording:\n      web:\n        - web_navigate: { url: \"data:text/html,<p>Inner page</p>\" }\n");
    lab.write("outer.trail.yaml", "config: { id: outer }\ntrail:\n  - step: \"Run the other\"\n    recording:\n      web:\n        - runTrail: { path: inner.trail.yaml }\n  - verify: \"It did\"\n    recording:\n      web:\n        - web_verifyTextVisible: { text: inner page }\n");
    lab.run(&["run", "outer.trail.yaml", "-d", "web/a"])
        .expect(0);
    let deep = lab
        .events()
        .into_iter()
        .filter(|event| event["event"] == "tool_started" && event["depth"] == 1)
        .count();
    assert_eq!(deep, 1);
}

#[test]
fn a_killed_driver_process_is_told_once_and_in_our_words() {
    let (lab, _) = endless("packtrain-driver-mark");
    let home = lab.folder().join("home");
    let core = packtrain_driver_playwright::install::PLAYWRIGHT_CORE;
    let place = format!("playwright-{core}");
    // The driver's process is told from others by the path of its program.
    let installed = packtrain_driver_playwright::install::home(|name| std::env::var_os(name));
    std::fs::create_dir(&home).unwrap();
    std::os::unix::fs::symlink(installed.unwrap().join(&place), home.join(&place)).unwrap();
    let mut child = lab
        .command(&["run", "endless.trail.yaml", "--format", "json"])
        .env("PACKTRAIN_HOME", &home)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let rest = step_started(child.stdout.take().unwrap(), "web/bad", 2);
    let killed = processes_with(home.to_str().unwrap());
    assert!(!killed.is_empty(), "the driver runs");
    for pid in killed {
        let pid = pid.to_string();
        Command::new("kill").args(["-KILL", &pid]).status().unwrap();
    }
    drop(rest.collect::<Vec<_>>());
    let ended = Ended::from(child.wait_with_output().unwrap()).expect(2);
    assert_eq!(lab.outcomes()["web/bad"], "infrastructure");
    assert!(!ended.stderr.contains("ERROR"), "{}", ended.stderr);
}
