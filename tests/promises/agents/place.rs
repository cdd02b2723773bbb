//! Where the daemon is: only its user may enter, and a client of another build is told so.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use packtrain_testing::has;
use packtrain_tests::agent_lab::AgentLab;
use packtrain_tests::{Ended, until};
use serde_json::json;

use super::{lab, phone};
use crate::door::matrix::{Endpoint, Pages, Token, matrix};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn nobody_else_may_enter_or_read() {
    let lab = lab(1);
    lab.daemon();
    assert_eq!(mode(&lab.place()), 0o700);
    let state = lab.place().join("daemon.json");
    assert_eq!(mode(&state), 0o600);
    assert_eq!(mode(&lab.place().join("daemon.lock")), 0o600);
    let token = lab.status().unwrap().token;
    assert!(lab.lab().read(&state).contains(&token));
    assert!(token.len() >= 64, "256 bits: {token}");
    // It stands nowhere else: not in the command line, not in the log, not in what people read.
    for (_, line) in lab.processes() {
        assert!(!line.contains(&token), "{line}");
    }
    let log = lab.lab().read(lab.place().join("daemon.log"));
    assert!(!log.contains(&token), "{log}");
    let told = lab.run(&["daemon", "status"]).expect(0);
    assert!(!told.stdout.contains(&token), "{told:?}");
}

#[test]
fn a_folder_that_others_may_enter_is_refused() {
    let lab = lab(1);
    std::fs::create_dir(lab.place()).unwrap();
    for wrong in [0o755, 0o710, 0o702] {
        set_mode(&lab.place(), wrong);
        for words in [&["daemon", "start"][..], &["daemon"], &["mcp"]] {
            let told = lab.run(words).expect(2);
            has(
                &told.stderr,
                &["is not a folder private to you", "chmod 700"],
            );
        }
    }
    std::fs::remove_dir(lab.place()).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), lab.place()).unwrap();
    lab.run(&["daemon", "start"]).expect(2);
    std::fs::remove_file(lab.place()).unwrap();
    lab.daemon();
}

#[test]
fn what_stands_in_a_folder_that_others_may_enter_is_not_believed() {
    let lab = lab(1);
    lab.daemon();
    set_mode(&lab.place(), 0o755);
    assert_eq!(lab.status(), None);
    lab.run(&["mcp"]).expect(2);
    set_mode(&lab.place(), 0o700);
    assert!(lab.status().is_some());
}

#[test]
fn a_path_that_is_too_long_for_a_socket_is_refused() {
    let lab = lab(1);
    let long = lab.lab().folder().join("a".repeat(90));
    std::fs::create_dir(&long).unwrap();
    let mut command = lab.command(&["daemon", "start"]);
    let told = command.env("XDG_RUNTIME_DIR", &long).output().unwrap();
    assert_eq!(told.status.code(), Some(2));
    let told = String::from_utf8(told.stderr).unwrap();
    has(&told, &["too long for a unix socket", "hint: "]);
}

#[test]
fn another_build_is_refused_by_either_side_while_the_daemon_is_used_and_replaces_it_when_not() {
    let lab = lab(1);
    let agent = lab.stdio("first");
    let daemon = lab.status().unwrap();
    let build = lab.ask(&["daemon", "status"])["build"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(lab.run(&["daemon", "status"]).stdout.contains(&build));
    // The same bytes in another file are another build.
    let other = lab.lab().folder().join(".other");
    std::fs::copy(env!("CARGO_BIN_EXE_packtrain-under-test"), &other).unwrap();
    let run = |words: &[&str]| -> Ended {
        let mut command = lab.command(words);
        let environment: Vec<_> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        command = Command::new(&other);
        command.args(words).envs(environment).stdin(Stdio::null());
        command
            .current_dir(lab.lab().folder())
            .output()
            .unwrap()
            .into()
    };
    let told = run(&["daemon", "status"]).expect(0).stdout;
    let own = told.split("this program is build ").nth(1).unwrap();
    let own = own.lines().next().unwrap();
    lab.lab()
        .write("trails/a.trail.yaml", "config: { id: a }\ntrail: []\n");
    for words in [
        vec!["mcp"],
        vec!["snapshot", "-d", "android"],
        vec!["run", "trails"],
    ] {
        let refused = run(&words).expect(3);
        for part in [&build, own, "first (a1)", "packtrain daemon stop"] {
            assert!(refused.stderr.contains(part), "{part}: {refused:?}");
        }
    }
    let answer = says_hello(&lab, "devices");
    for words in ["Err", &build, "0.0.1", "packtrain daemon stop"] {
        assert!(answer.contains(words), "{answer}");
    }
    drop(agent);
    lab.until_gone("first");
    run(&["daemon", "start"]).expect(0);
    let next = lab.status().unwrap();
    assert_ne!(next.pid, daemon.pid);
    assert_eq!(lab.ask(&["daemon", "status"])["build"], own);
    // Ending it is what every build can.
    assert!(says_hello(&lab, "stop").contains("Ok"));
    until(|| lab.status().is_none());
}

/// What a command of another version is answered.
fn says_hello(lab: &AgentLab, wants: &str) -> String {
    let mut stream = UnixStream::connect(lab.place().join("daemon.sock")).unwrap();
    let project = json!({ "folder": lab.lab().folder(), "config": null, "environment": {} });
    let hello = json!({ "version": "0.0.1", "project": project, "state": 0, "wants": wants });
    stream.write_all(format!("{hello}\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
    answer
}

#[test]
fn what_is_no_request_is_refused_and_harms_nobody() {
    let lab = lab(1);
    let agent = lab.stdio("beside");
    for wrong in [
        "\n",
        "hello\n",
        "{}\n",
        "[]\n",
        "{\"version\":1}\n",
        "\u{0}\n",
        "half a line",
    ] {
        let mut stream = UnixStream::connect(lab.place().join("daemon.sock")).unwrap();
        stream.write_all(wrong.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        assert!(!answer.contains("Ok"), "{wrong:?}: {answer}");
    }
    agent.acquires(&phone(1));
}

#[test]
fn the_daemons_door_refuses_what_every_door_does() {
    let lab = lab(1);
    let daemon = lab.daemon();
    let base = daemon.url.strip_suffix("/mcp").unwrap();
    let of = |method, path| Endpoint {
        base,
        token: Token::Bearer(&daemon.token),
        method,
        path,
        pages: Pages::Loopback,
        most: 4 * 1024 * 1024,
    };
    let endpoints = [
        of("POST", "/mcp"),
        of("GET", "/mcp"),
        of("DELETE", "/mcp"),
        of("POST", "/mcp/nothing"),
    ];
    let wrong: Vec<_> = endpoints.iter().flat_map(matrix).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(lab.agents().is_empty());
}
