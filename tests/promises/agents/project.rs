//! A project's files change while the daemon is up: what was read is used on by those who use it, and
//! the next client gets what is there now, or is told why not.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use packtrain_testing::has;
use packtrain_tests::{Ended, until};
use serde_json::{Value, json};

use super::{lab, listed, phone, phones, refused, typing_trail};

#[test]
fn a_configuration_that_changed_is_opened_anew_when_nobody_uses_the_old_one() {
    let lab = lab(1);
    let agent = lab.stdio("first");
    let before = lab.status().unwrap();
    agent.acquires(&phone(1));
    lab.lab().write("packtrain.yaml", &phones(2));
    let refused = lab.run(&["mcp"]).expect(2);
    for words in [
        "the configuration has changed",
        "first (a1)",
        "packtrain agents",
    ] {
        assert!(
            refused.stderr.contains(words),
            "{words}\n{}",
            refused.stderr
        );
    }
    // Holders of the old one go on.
    assert_eq!(listed(&agent, &phone(1))["free"], false);
    drop(agent);
    lab.until_gone("first");
    let agent = lab.stdio("second");
    agent.acquires(&phone(2));
    assert_eq!(lab.status().unwrap(), before, "the daemon is the same");
}

#[test]
fn a_run_goes_by_what_the_files_say_now() {
    let lab = lab(1);
    let trail = typing_trail(&lab, "short", 0);
    let agent = lab.stdio("first");
    agent.acquires(&phone(1));
    lab.lab().write("packtrain.yaml", &phones(2));
    let words = ["run", &trail, "--screenshots=none", "-d", &phone(2)];
    let told = lab.run(&words).expect(0);
    has(
        &told.stderr,
        &[
            "note: without the daemon: ",
            "the configuration has changed",
        ],
    );
    drop(agent);
    lab.until_gone("first");
    let told = lab.run(&words).expect(0);
    assert!(!told.stderr.contains("without the daemon"), "{told:?}");
}

#[test]
fn agents_over_http_are_told_too_and_come_back_to_what_is_new() {
    let lab = lab(1);
    let keeps = lab.stdio("keeps");
    let (session, request) = (lab.http("session"), lab.requests("request"));
    session.acquires(&phone(1));
    request.does("device_list", json!({}));
    lab.lab().write("packtrain.yaml", &phones(2));
    // Existing sessions go on; new ones are refused.
    assert_eq!(listed(&session, &phone(1))["free"], false);
    let refused = request.request("tools/list", json!({})).unwrap_err();
    let told = refused["message"].as_str().unwrap();
    assert!(told.contains("the configuration has changed"), "{told}");
    // Who makes single requests and has nothing holds on to nothing.
    assert!(lab.agent("request").is_none());
    for name in ["keeps", "session"] {
        let id = lab.agent(name).unwrap()["id"].clone();
        lab.run(&["agents", "end", id.as_str().unwrap()]).expect(0);
    }
    drop((keeps, session));
    until(|| lab.agents().is_empty());
    request.acquires(&phone(2));
}

#[test]
fn projects_do_not_know_each_other() {
    let lab = lab(1);
    let other = lab.lab().folder().join("other");
    lab.lab().write(
        "other/packtrain.yaml",
        "devices: { virtual: { ios: 2, profile: fast } }\n",
    );
    let here = lab.stdio("here");
    here.acquires(&phone(1));
    let mut command = lab.command(&["devices", "--format", "json"]);
    let told = command.current_dir(other).output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(
        told.contains("ios/virtual-2") && !told.contains("android/virtual"),
        "{told}"
    );
}

#[test]
fn a_project_with_a_mistake_is_told_with_its_place_and_tried_again() {
    let lab = lab(1);
    lab.daemon();
    lab.lab()
        .write("packtrain.yaml", "devices: { virtuall: {} }\n");
    let refused = lab.run(&["mcp"]).expect(3);
    for words in ["packtrain.yaml:1", "virtuall"] {
        assert!(
            refused.stderr.contains(words),
            "{words}\n{}",
            refused.stderr
        );
    }
    lab.lab().write("packtrain.yaml", &phones(1));
    lab.stdio("next").acquires(&phone(1));
}

#[test]
fn tools_are_what_their_files_say_now_for_runs_and_for_agents() {
    let lab = lab(1);
    let expects = |expected: &str| {
        lab.lab().write(
            "tools/check_it.tool.yaml",
            &format!(
                "id: check_it\ndescription: Checks.\nis_verification: true\n\
                 tools:\n  - assertEquals: {{ actual: \"1\", expected: \"{expected}\" }}\n"
            ),
        );
    };
    lab.lab().write(
        "trails/check.trail.yaml",
        "config: { id: check }\ntrail:\n  - verify: It holds\n    recording:\n      android:\n        - check_it: {}\n",
    );
    expects("1");
    let agent = lab.stdio("first");
    assert!(agent.tools().contains(&"check_it".to_owned()));
    let words = ["run", "trails", "--screenshots=none", "-d", &phone(1)];
    lab.run(&words).expect(0);
    // The agent is still there, and so is what the daemon has read.
    expects("2");
    let told = lab.run(&words).expect(1);
    assert!(!told.stderr.contains("without the daemon"), "{told:?}");
    lab.lab().write(
        "tools/other.tool.yaml",
        "id: other_check\ndescription: Checks.\ntools:\n  - assertEquals: { actual: \"1\", expected: \"1\" }\n",
    );
    assert!(agent.tools().contains(&"other_check".to_owned()));
}

#[test]
fn a_tool_that_was_accepted_is_the_one_that_is_called() {
    let lab = lab(1);
    let defines = |argument: &str| {
        lab.lab().write(
            "tools/pinned.tool.yaml",
            &format!(
                "id: pinned\ndescription: Checks.\nparameters:\n  - {{ name: {argument}, type: string, required: false }}\n\
                 tools:\n  - assertEquals: {{ actual: \"1\", expected: \"1\" }}\n"
            ),
        );
    };
    defines("first");
    let agent = lab.stdio("agent");
    let tools = [json!({ "namespacedName": "files.pinned" })];
    let built = json!({ "name": "accepted", "tools": tools, "autoEquip": true });
    agent.does("build-toolset", built);
    defines("second");
    let lease = agent.acquires(&phone(1));
    defines("first");
    assert!(agent.tools().contains(&"pinned".to_owned()));
    // The device was taken with another one.
    let told = refused(agent.call("pinned", json!({ "lease": lease })));
    assert!(told.contains("has changed since it was accepted"), "{told}");
    agent.does("device_release", json!({ "lease": lease }));
    let lease = agent.acquires(&phone(1));
    agent.does("pinned", json!({ "lease": lease }));
}

#[test]
fn what_a_run_does_in_the_daemon_it_does_as_its_own_shell_would() {
    let lab = lab(1);
    lab.lab().write(
        "trails/stage.trail.yaml",
        "config: { id: stage }\ntrail:\n  - verify: It is the stage that is meant\n    recording:\n      android:\n        \
         - exec: { argv: [sh, -c, 'test \"$STAGE\" = prod'] }\n",
    );
    let runs = |stage: Option<&str>| {
        let words = ["run", "trails", "--screenshots=none", "-d", &phone(1)];
        let mut command = lab.command(&words);
        command
            .env_remove("STAGE")
            .envs(stage.map(|stage| ("STAGE", stage)));
        Ended::from(command.output().unwrap())
    };
    for daemons in [None, Some("prod")] {
        let mut daemon = lab.command(&["daemon", "start"]);
        daemon
            .env_remove("STAGE")
            .envs(daemons.map(|stage| ("STAGE", stage)));
        Ended::from(daemon.output().unwrap()).expect(0);
        runs(Some("prod")).expect(0);
        runs(None).expect(1);
        lab.run(&["daemon", "stop"]).expect(0);
    }
}

#[test]
fn the_users_own_configuration_counts_in_the_daemon_too() {
    let lab = lab(1);
    let user = "devices: { virtual: { ios: 1 } }\n";
    lab.lab().write(".config/packtrain/config.yaml", user);
    let agent = lab.stdio("agent");
    agent.acquires("ios/virtual-1");
}

#[test]
fn the_same_project_by_another_spelling_is_the_same() {
    let lab = lab(1);
    let agent = lab.stdio("first");
    agent.acquires(&phone(1));
    let file = lab.lab().folder().join("packtrain.yaml");
    for flags in [
        vec![],
        vec!["--config", "packtrain.yaml"],
        vec!["--config", file.to_str().unwrap()],
    ] {
        let mut command = lab.command(&[&flags[..], &["devices"]].concat());
        let told = command.env("PACKTRAIN_RUN_RETRIES", "0").output().unwrap();
        let told = String::from_utf8(told.stdout).unwrap();
        assert!(told.contains("in use by first (a1)"), "{flags:?}\n{told}");
    }
}

#[test]
fn whoever_comes_with_other_states_of_the_files_is_refused_and_nothing_is_left_open() {
    let lab = lab(1);
    let pid = lab.daemon().pid;
    let asks = |state: usize| {
        let mut stream = UnixStream::connect(lab.place().join("daemon.sock")).unwrap();
        let project = json!({
            "folder": lab.lab().folder().canonicalize().unwrap(), "config": null, "environment": {},
        });
        let hello = json!({
            "version": env!("CARGO_PKG_VERSION"), "project": project, "state": state,
            "wants": { "devices": { "open": true } },
        });
        writeln!(stream, "{hello}").unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert!(
            answer.get("Ok").is_some() || answer.get("Err").is_some(),
            "{answer}"
        );
    };
    let files = || packtrain_testing::open_files(pid);
    asks(0);
    let before = files();
    for _ in 0..3 {
        std::thread::scope(|scope| {
            for state in 1..=4 {
                let asks = &asks;
                scope.spawn(move || asks(state));
            }
        });
    }
    asks(0);
    // Sockets of phones that were let go of.
    until(|| files() <= before + 4);
}

#[test]
fn what_cannot_start_answers_initialize_with_why() {
    let lab = lab(1);
    let agent = lab.stdio("first");
    agent.acquires(&phone(1));
    lab.lab()
        .write("packtrain.yaml", &format!("# A comment.\n{}", phones(1)));
    let mut command = lab.command(&["mcp"]);
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut refused = command.spawn().unwrap();
    let request = json!({ "jsonrpc": "2.0", "id": "first", "method": "initialize", "params": {} });
    let mut stdin = refused.stdin.take().unwrap();
    writeln!(stdin, "{request}").unwrap();
    let refused = Ended::from(refused.wait_with_output().unwrap()).expect(2);
    let answer: Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!(answer["id"], "first", "{answer}");
    let told = answer["error"]["message"].as_str().unwrap();
    for words in ["the configuration has changed", "first (a1)", "hint: "] {
        assert!(told.contains(words), "{words}: {told}");
    }
    drop(stdin);
}

#[test]
fn phones_show_the_app_that_the_file_describes_now() {
    let lab = lab(1);
    let trail = typing_trail(&lab, "short", 0);
    let words = ["run", &trail, "--screenshots=none", "-d", &phone(1)];
    lab.daemon();
    lab.run(&words).expect(0);
    let app = lab
        .lab()
        .read("app.yaml")
        .replace("hint: Note", "hint: Other");
    lab.lab().write("app.yaml", &app);
    let told = lab.run(&words).expect(1);
    assert!(!told.stderr.contains("without the daemon"), "{told:?}");
}
