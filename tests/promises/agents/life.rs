//! The daemon's life: the first client starts it, there is one, and it leaves nothing behind, however it
//! ends.

use std::io::{BufRead as _, BufReader};
use std::process::Command;

use packtrain_testing::has;
use packtrain_tests::agent_lab::{Agent, kill};
use packtrain_tests::{ended, until};
use serde_json::json;

use crate::sources::link_modules;

use super::{configured, lab, listed, phone, phones, types, typing_trail};

#[test]
fn agents_that_come_at_the_same_moment_start_one_daemon() {
    let lab = lab(1);
    assert_eq!(lab.status(), None);
    assert_eq!(lab.agents(), [json!(null); 0]);
    let agents: Vec<Agent> = std::thread::scope(|scope| {
        let lab = &lab;
        let starting: Vec<_> = (0..6)
            .map(|number| scope.spawn(move || lab.stdio(&format!("agent-{number}"))))
            .collect();
        starting
            .into_iter()
            .map(|agent| agent.join().unwrap())
            .collect()
    });
    let daemons = || {
        let all = lab.processes().into_iter();
        all.filter(|(_, line)| line.contains(" daemon --background"))
            .map(|(pid, _)| pid)
            .collect::<Vec<_>>()
    };
    // Those that came too late have ended.
    until(|| daemons().len() == 1);
    assert_eq!(daemons(), [lab.status().unwrap().pid]);
    assert_eq!(lab.agents().len(), agents.len());
    // It is the child of none of them.
    agents[0].kill();
    lab.until_gone("agent-0");
    assert_eq!(lab.agents().len(), agents.len() - 1);
    agents[1].acquires(&phone(1));
}

#[test]
fn what_a_killed_daemon_left_is_no_obstacle() {
    let lab = lab(1);
    let lost = lab.stdio("lost");
    lost.acquires(&phone(1));
    let before = lab.status().unwrap();
    kill(before.pid);
    // The pipe says that it is over, and so do commands.
    assert!(lost.start("device_list", json!({})).end().is_none());
    until(|| lab.status().is_none());
    assert!(lab.place().join("daemon.json").exists());
    assert!(lab.place().join("daemon.sock").exists());
    assert!(lab.agents().is_empty());
    lab.run(&["daemon", "stop"]).expect(0);

    let agent = lab.stdio("next");
    let now = lab.status().unwrap();
    assert_ne!(now.pid, before.pid);
    assert_eq!(now.token, before.token, "what agents were given stays good");
    let lease = agent.acquires(&phone(1));
    types(&agent, &lease, "again");
}

#[test]
fn stopping_gives_devices_back_and_ends_agents_and_runs() {
    let lab = lab(3);
    let (pipe, session, request) = (lab.stdio("a"), lab.http("b"), lab.requests("c"));
    let trail = typing_trail(&lab, "long", 100);
    let mut runs = Vec::new();
    for (agent, number) in [&pipe, &session].into_iter().zip(1..) {
        let taken = agent.does("device_acquire", json!({ "device": phone(number) }));
        runs.push(taken.data["run"].as_str().unwrap().to_owned());
    }
    let started = json!({ "trails": [trail], "devices": [phone(3)], "detach": true });
    request.does("run_start", started);
    until(|| listed(&pipe, &phone(3))["free"] == false);
    let by_person = lab.start(&["run", &trail, "-d", &phone(2), "--screenshots=none"]);
    until(|| listed(&pipe, &phone(2))["queue"] != json!([]));

    lab.run(&["daemon", "stop"]).expect(0);
    assert_eq!(lab.status(), None);
    for run in runs {
        let last = lab.events(&run).pop().unwrap();
        assert_eq!(last["event"], "run_finished", "{last}");
        assert_eq!(last["verdict"]["cancelled"], 1, "{last}");
    }
    assert_ne!(ended(by_person).code, 0);
    assert!(pipe.start("device_list", json!({})).end().is_none());
    drop((pipe, session, request));
    lab.until_nothing_runs();
    assert!(!lab.place().join("daemon.json").exists());
    assert!(!lab.place().join("daemon.sock").exists());
}

#[test]
fn a_killed_daemon_leaves_no_source_no_browser_and_no_run_behind() {
    let source = "import { serve } from RAW; serve([{ name: 'acme_hello', call: () => 'hello' }]);";
    let raw = packtrain_tests::repository().join("tests/sources/raw.mjs");
    let config = phones(1)
        + "mcpServers:\n  - { name: acme, command: [node, acme.mjs], transport: stdio }\n";
    let lab = configured(&config);
    lab.lab()
        .write("acme.mjs", &source.replace("RAW", &format!("{raw:?}")));
    link_modules(lab.lab());
    let agent = lab.stdio("unlucky");
    let browser = agent.acquires("web/chromium");
    agent.does("snapshot", json!({ "lease": browser }));
    let trail = typing_trail(&lab, "long", 100);
    agent.does(
        "run_start",
        json!({ "trails": [trail], "devices": [phone(1)] }),
    );
    until(|| listed(&agent, &phone(1))["free"] == false);
    let has = |what: &str| lab.processes().iter().any(|(_, line)| line.contains(what));
    assert!(has("acme.mjs") && has(" run "), "{:?}", lab.processes());
    let children = packtrain_tests::descendants(lab.status().unwrap().pid);
    assert!(children.len() > 4, "{children:?}");
    kill(lab.status().unwrap().pid);
    assert!(agent.start("device_list", json!({})).end().is_none());
    drop(agent);
    lab.until_nothing_runs();
    until(|| children.iter().all(packtrain_tests::is_gone));
}

#[test]
fn a_daemon_whose_folder_is_taken_away_ends_by_itself() {
    let lab = lab(1);
    let agent = lab.stdio("holder");
    agent.acquires(&phone(1));
    std::fs::remove_dir_all(lab.place()).unwrap();
    assert!(agent.start("device_list", json!({})).end().is_some());
    drop(agent);
    lab.until_nothing_runs();
}

#[test]
fn how_long_it_stays_without_anybody_is_said_when_it_is_started() {
    let lab = lab(1);
    let line = |lab: &packtrain_tests::agent_lab::AgentLab| {
        let pid = lab.status().unwrap().pid;
        let mut all = lab.processes().into_iter();
        all.find(|(known, _)| *known == pid).unwrap().1
    };
    lab.run(&["daemon", "start", "--idle", "7"]).expect(0);
    assert!(line(&lab).contains("--idle 7"), "{}", line(&lab));
    lab.run(&["daemon", "stop"]).expect(0);
    lab.run(&["daemon", "start"]).expect(0);
    assert!(!line(&lab).contains("--idle"), "{}", line(&lab));
}

#[test]
fn where_a_daemon_looks_for_programs_is_told_with_what_it_lacks() {
    let lab = lab(1);
    let with_path = |words: &[&str], path: &str| -> packtrain_tests::Ended {
        let mut command = lab.command(words);
        command.env("PATH", path).output().unwrap().into()
    };
    with_path(&["daemon", "start"], "/app/bin:/bin").expect(0);
    let told = lab.run(&["daemon", "status"]).expect(0).stdout;
    assert!(told.contains("\nprograms: /app/bin:/bin\n"), "{told}");
    let told = with_path(&["doctor"], "/tools/bin:/bin:/more").stdout;
    let lacking = "looks for programs in /app/bin:/bin, but not in /tools/bin:/more\n";
    has(&told, &["- daemon: process ", lacking]);
    assert!(with_path(&["doctor"], "/bin").stdout.contains("✓ daemon: "));
}

#[test]
fn whoever_comes_while_a_daemon_ends_waits_for_it_and_gets_the_next() {
    let lab = lab(1);
    lab.daemon();
    lab.run(&["daemon", "stop"]).expect(0);
    // As one does that is giving devices back.
    let lock = std::fs::File::open(lab.place().join("daemon.lock")).unwrap();
    lock.lock().unwrap();
    let told = lab.run(&["daemon", "status"]).expect(0);
    assert!(told.stderr.contains("starting or ending"), "{told:?}");
    let mut starting = lab.start(&["daemon", "start"]);
    let mut said = BufReader::new(starting.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert_eq!(line, "waiting for a daemon that is starting or ending\n");
    drop(lock);
    starting.stderr = Some(said.into_inner());
    ended(starting).expect(0);
    assert!(lab.status().is_some());
}

#[test]
fn a_run_goes_on_in_the_next_daemon_when_its_own_is_killed() {
    let lab = lab(1);
    typing_trail(&lab, "a-long", 60);
    typing_trail(&lab, "b-short", 0);
    let before = lab.daemon();
    let run = lab.start(&["run", "trails", "--screenshots=none", "-d", &phone(1)]);
    until(|| {
        lab.lab()
            .events_so_far()
            .iter()
            .any(|event| event["event"] == "step_started")
    });
    kill(before.pid);
    ended(run).expect(2);
    let ends = lab.lab().events();
    let ends = ends
        .iter()
        .filter(|event| event["event"] == "session_finished");
    let ends: Vec<_> = ends.map(|event| event["outcome"].clone()).collect();
    assert_eq!(ends, ["infrastructure", "passed"]);
    assert_ne!(lab.status().unwrap().pid, before.pid);
}

#[test]
fn a_daemon_whose_terminal_is_closed_gives_back_what_it_has() {
    let lab = lab(1);
    let daemon = lab.start(&["daemon"]);
    until(|| lab.status().is_some());
    let agent = lab.stdio("holder");
    let lease = agent.acquires(&phone(1));
    types(&agent, &lease, "held");
    let sent = Command::new("kill")
        .args(["-HUP", &daemon.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    ended(daemon);
    assert_eq!(lab.status(), None);
    assert!(!lab.place().join("daemon.json").exists());
}

#[test]
fn a_daemon_in_a_terminal_ends_by_ctrl_c_and_another_is_refused() {
    let lab = lab(1);
    let first = lab.start(&["daemon"]);
    until(|| lab.status().is_some());
    assert_eq!(lab.status().unwrap().pid, first.id());
    let second = lab.run(&["daemon"]).expect(2);
    has(&second.stderr, &["a daemon is already running"]);
    let agent = lab.stdio("holder");
    agent.acquires(&phone(1));
    packtrain_tests::interrupt(&first);
    ended(first);
    assert!(agent.start("device_list", json!({})).end().is_none());
    assert_eq!(lab.status(), None);
}
