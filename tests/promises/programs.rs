//! Programs of this computer: whatever ends, nothing that was started goes on.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use packtrain_tests::{Ended, Lab};
use tokio::time::Instant;

use crate::lab;

/// Starts a program that says that it is there and outlives every test, then goes on with `then`.
const SCRIPT: &str = "exec 5>held; (echo there >&5; exec sleep 300) & ";
/// Long before what was started ends by itself.
const END_TIMEOUT: Duration = Duration::from_secs(120);

/// A workspace with a pipe that is open for as long as somebody is there.
fn held() -> Lab {
    let lab = lab();
    let made = Command::new("mkfifo")
        .arg(lab.folder().join("held"))
        .status();
    assert!(made.unwrap().success());
    lab
}

/// Waits for the program that was started.
fn started(lab: &Lab) -> BufReader<File> {
    let mut pipe = BufReader::new(File::open(lab.folder().join("held")).unwrap());
    let mut line = String::new();
    pipe.read_line(&mut line).unwrap();
    assert_eq!(line, "there\n");
    pipe
}

/// Waits until nobody is there any more.
fn ended(mut pipe: BufReader<File>) {
    let began = Instant::now();
    pipe.read_to_end(&mut Vec::new()).unwrap();
    assert!(began.elapsed() < END_TIMEOUT, "it ended by itself");
}

fn trail(lab: &Lab, commands: &[&str]) {
    let calls: String = commands
        .iter()
        .map(|command| format!("        - runCommand: {{ command: \"{command}\" }}\n"))
        .collect();
    lab.write(
        "a.trail.yaml",
        &format!("config: {{}}\ntrail:\n  - step: x\n    recording:\n      android:\n{calls}"),
    );
}

fn run(lab: &Lab) -> Child {
    lab.start(&[
        "run",
        "a.trail.yaml",
        "-d",
        "virtual:android",
        "--screenshots=none",
    ])
}

fn signal(child: &Child, signal: &str) {
    let sent = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
}

#[test]
fn a_command_that_takes_too_long_takes_along_what_it_started() {
    let lab = held();
    let command = format!("command={SCRIPT}wait");
    let tool = [
        "tool",
        "runCommand",
        &command,
        "timeoutSeconds=2",
        "-d",
        "virtual:android",
    ];
    let child = lab.start(&tool);
    ended(started(&lab));
    let said = Ended::from(child.wait_with_output().unwrap())
        .expect(1)
        .stderr;
    assert!(said.contains("sh did not end within 2.0 s"), "{said}");
}

#[test]
fn a_command_whose_output_is_held_open_ends_with_its_program() {
    let lab = held();
    let script = format!("{SCRIPT}echo done");
    trail(&lab, &[&script, "test -p held"]);
    let child = run(&lab);
    let pipe = started(&lab);
    let began = Instant::now();
    Ended::from(child.wait_with_output().unwrap()).expect(0);
    assert!(began.elapsed() < END_TIMEOUT, "it was waited for");
    ended(pipe);
}

#[test]
fn what_a_command_leaves_running_ends_with_its_session_not_before() {
    let lab = held();
    // It still answers in the next step.
    let server = "mkfifo asked answered; exec 5>held; echo there >&5; \
                  (read -r word <asked; echo got $word >answered; exec sleep 300) >&5 2>&5 &";
    trail(&lab, &[server, "echo this >asked; cat answered >said"]);
    let child = run(&lab);
    let pipe = started(&lab);
    Ended::from(child.wait_with_output().unwrap()).expect(0);
    ended(pipe);
    assert_eq!(lab.read("said"), "got this\n");
}

#[test]
fn an_interrupted_run_leaves_no_command_running() {
    let lab = held();
    trail(&lab, &[&format!("{SCRIPT}wait")]);
    let child = run(&lab);
    let pipe = started(&lab);
    signal(&child, "-INT");
    ended(pipe);
    Ended::from(child.wait_with_output().unwrap()).expect(2);
}

#[test]
fn a_killed_run_leaves_no_command_running() {
    let lab = held();
    trail(&lab, &[&format!("{SCRIPT}wait")]);
    let child = run(&lab);
    let pipe = started(&lab);
    signal(&child, "-KILL");
    ended(pipe);
    child.wait_with_output().unwrap();
}

#[test]
fn what_makes_a_group_of_its_own_ends_with_its_session_too() {
    // `timeout` leads a group of its own; its first program kills what is in its own group.
    let script = "trap '' TERM; kill -TERM 0; timeout 306 sh -c 'exec 5>held; echo there >&5; sleep 305'; true";
    for signals in [Some("-INT"), Some("-KILL"), None] {
        let lab = held();
        trail(&lab, &[script]);
        let mut limited = lab.command(&["run", "a.trail.yaml", "-d", "virtual:android"]);
        limited.stdout(Stdio::piped()).stderr(Stdio::piped());
        if signals.is_none() {
            limited.args(["--timeout", "3s"]);
        }
        let child = limited.spawn().unwrap();
        let pipe = started(&lab);
        if let Some(given) = signals {
            signal(&child, given);
        }
        ended(pipe);
        child.wait_with_output().unwrap();
    }
}

#[test]
fn a_doctor_leaves_no_program_running_that_does_not_answer() {
    let lab = held();
    let node = lab.folder().join("node");
    lab.write(
        "node",
        &format!("#!/bin/sh\ncd '{}'\n{SCRIPT}wait\n", lab.folder().display()),
    );
    std::fs::set_permissions(&node, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut doctor = lab.command(&["doctor"]);
    let child = doctor
        .env("PACKTRAIN_NODE", &node)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    ended(started(&lab));
    let said = Ended::from(child.wait_with_output().unwrap())
        .expect(2)
        .stdout;
    assert!(said.contains("does not report its version"), "{said}");
}
