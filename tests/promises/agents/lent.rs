//! `packtrain tool` and `packtrain snapshot` while the daemon is there: they use its devices, wait for them
//! as everybody does, and say what they say without it.

use std::path::Path;
use std::process::Command;

use packtrain_testing::has;
use packtrain_tests::agent_lab::AgentLab;
use packtrain_tests::{Ended, ended, until, until_said};
use serde_json::json;

use super::{configured, lab, listed, phone};

/// What a command has said and written, without how long things took.
fn told(lab: &AgentLab, words: &[&str]) -> (i32, String, String, Option<Vec<u8>>) {
    let picture = lab.lab().folder().join("look.png");
    let _ = std::fs::remove_file(&picture);
    let Ended {
        code,
        stdout,
        stderr,
    } = lab.run(words);
    let says = |word: &&str| {
        let number = word.trim().trim_end_matches('s').trim_end_matches('m');
        number.parse::<f64>().is_err()
    };
    let words = stderr.split_inclusive([' ', '\n']);
    let stderr = words.filter(says).collect();
    (code, stdout, stderr, std::fs::read(picture).ok())
}

#[test]
fn tool_and_snapshot_say_the_same_with_the_daemon_and_without() {
    let lab = lab(1);
    lab.lab().write(
        "tools/check_it.tool.yaml",
        "id: check_it\ndescription: Checks.\nis_verification: true\n\
         tools:\n  - assertEquals: { actual: \"1\", expected: \"{{params.expected}}\" }\n\
         parameters:\n  - { name: expected, type: string, required: true }\n",
    );
    let phone = phone(1);
    let app = "appId=com.example.note";
    let calls: [&[&str]; 14] = [
        &["snapshot", "-d", &phone],
        &[
            "snapshot",
            "-d",
            "android",
            "--bounds",
            "--screenshot",
            "look.png",
        ],
        &["snapshot", "-d", &phone, "--format", "json"],
        &[
            "snapshot",
            "-d",
            &phone,
            "--screenshot",
            "no/such/folder.png",
        ],
        &["snapshot", "-d", &phone, "--url", "http://127.0.0.1:1"],
        &["snapshot", "-d", "android/nothing"],
        &["tool", "launchApp", app, "-d", &phone],
        &[
            "tool",
            "inputText",
            "text=a",
            "-d",
            &phone,
            "--app",
            "com.example.note",
        ],
        &["tool", "launchApp", "appId=com.example.none", "-d", &phone],
        &["tool", "launchApp", "-d", &phone],
        &["tool", "lanchApp", app, "-d", &phone],
        &["tool", "check_it", "expected=1", "-d", &phone],
        &["tool", "check_it", "expected=2", "-d", &phone],
        &[
            "tool",
            "web_navigate",
            "url=http://127.0.0.1:1",
            "-d",
            &phone,
        ],
    ];
    let without: Vec<_> = calls.iter().map(|words| told(&lab, words)).collect();
    lab.daemon();
    for (words, without) in calls.iter().zip(&without) {
        assert_eq!(told(&lab, words), *without, "{words:?}");
    }
    let codes: Vec<_> = without.iter().map(|(code, ..)| *code).collect();
    for code in 0..4 {
        assert!(codes.contains(&code), "{code}: {codes:?}");
    }
    assert!(without[1].3.is_some(), "{without:?}");
    // What is looked at and called makes no run.
    assert!(!lab.lab().folder().join(".packtrain/runs").exists());
}

#[test]
fn a_tool_waits_for_an_agent_says_for_whom_and_is_waited_for() {
    let lab = lab(1);
    let agent = lab.stdio("holder");
    let lease = agent.acquires(&phone(1));
    let waits = ["tool", "wait", "timeToWaitInSeconds=100", "-d", &phone(1)];
    let queue = || listed(&agent, &phone(1))["queue"].clone();
    // One that is killed leaves the queue.
    let mut killed = lab.start(&waits);
    until_said(&mut killed, "in use by holder (a1)");
    assert_eq!(queue(), json!(["packtrain tool"]));
    killed.kill().unwrap();
    killed.wait().unwrap();
    until(|| queue() == json!([]));

    let mut waiting = lab.start(&waits);
    let line = until_said(&mut waiting, "in use by holder (a1)");
    assert!(line.contains(&phone(1)), "{line}");
    let look = ["snapshot", "-d", &phone(1)];
    let mut looking = lab.start(&look);
    until_said(&mut looking, "1 ahead in the queue");
    assert_eq!(queue(), json!(["packtrain tool", "packtrain snapshot"]));
    agent.does("device_release", json!({ "lease": lease }));
    until_said(&mut looking, "in use by packtrain tool");
    let seen = listed(&agent, &phone(1));
    assert_eq!(seen["state"], "in use by packtrain tool");
    // A client that is killed gives it back.
    waiting.kill().unwrap();
    waiting.wait().unwrap();
    ended(looking).expect(0);
    until(|| listed(&agent, &phone(1))["free"] == true);
    // With its own phones it waits for nobody.
    agent.acquires(&phone(1));
    lab.run(&[&look[..], &["--no-daemon"]].concat()).expect(0);
}

#[test]
fn what_is_stopped_while_it_calls_gives_the_device_back() {
    let lab = lab(1);
    let agent = lab.stdio("other");
    let waits = ["tool", "wait", "timeToWaitInSeconds=100", "-d", &phone(1)];
    let calling = lab.start(&waits);
    until(|| listed(&agent, &phone(1))["state"] == "in use by packtrain tool");
    packtrain_tests::interrupt(&calling);
    ended(calling).expect(2);
    agent.acquires(&phone(1));
}

#[test]
fn relative_paths_lead_from_where_the_command_is_and_not_from_where_the_daemon_is() {
    let lab = configured("devices: { web: { desktop: {} } }\n");
    let page = |text: &str| format!("<button>{text}</button>");
    lab.lab()
        .write("page.html", &page("of-the-project"))
        .write("below/page.html", &page("of-the-folder"));
    let look = |from: &Path, flags: &[&str]| {
        let words = ["snapshot", "-d", "web/desktop", "--url", "page.html"];
        let mut command: Command = lab.command(&[&words[..], flags].concat());
        Ended::from(command.current_dir(from).output().unwrap()).expect(0)
    };
    lab.daemon();
    let below = lab.lab().folder().join("below");
    for flags in [&["--no-daemon"][..], &[]] {
        has(&look(lab.lab().folder(), flags).stdout, &["of-the-project"]);
        assert!(look(&below, flags).stdout.contains("of-the-folder"));
    }
    let holds = |expected: &str| {
        format!(
            "config: {{ id: inner }}\ntrail:\n  - step: It holds\n    recording:\n      web:\n\
             \x20       - assertEquals: {{ actual: 1, expected: {expected} }}\n"
        )
    };
    let outer = holds("1").replace(
        "assertEquals: { actual: 1, expected: 1 }",
        "runTrail: { path: inner.trail.yaml }",
    );
    lab.lab()
        .write("inner.trail.yaml", &holds("2"))
        .write("below/inner.trail.yaml", &holds("1"))
        .write("below/outer.trail.yaml", &outer);
    for flags in [&["--no-daemon"][..], &[]] {
        let words = ["run", "outer.trail.yaml", "-d", "web/desktop"];
        let mut run: Command = lab.command(&[&words[..], flags].concat());
        Ended::from(run.current_dir(&below).output().unwrap()).expect(0);
    }
}
