//! A disk that is full, or a folder that is taken away: an agent is told that what it does is in no report,
//! and nothing is called passed.
//!
//! A limit on the size of files stands for the disk; a write beyond it fails like one.

use std::process::{Command, Stdio};

use packtrain_tests::agent_lab::{Agent, AgentLab};
use packtrain_tests::{ended, interrupt, until};
use serde_json::{Value, json};

use super::{lab, phone, refused};

const NOTED: &str = "note: this is in no report, the run's journal cannot be written: ";

/// Takes the phone; answers the lease and the run.
#[track_caller]
fn takes(agent: &Agent) -> (Value, String) {
    let asked = json!({ "device": phone(1) });
    let taken = agent.does("device_acquire", asked).data;
    let run = taken["run"].as_str().unwrap().to_owned();
    (taken["lease"].clone(), run)
}

/// Makes calls until one is told of the journal, and gives the phone back.
#[track_caller]
fn is_told(agent: &Agent, lease: &Value, why: &str) {
    for tool in ["snapshot", "screenshot", "hideKeyboard"] {
        until(|| {
            let called = agent.call(tool, json!({ "lease": lease }));
            called.text.contains(NOTED) && called.text.contains(why)
        });
    }
    let told = refused(agent.call("device_release", json!({ "lease": lease })));
    let words = format!(
        "{} is free, but the run's journal could not be written completely: ",
        phone(1)
    );
    assert!(told.starts_with(&words) && told.contains(why), "{told}");
    // It is.
    agent.does("device_acquire", json!({ "device": phone(1) }));
}

/// `packtrain daemon`, when no file gets larger than `blocks` of 512 bytes.
fn limited(lab: &AgentLab, blocks: u32) -> Command {
    use std::os::unix::process::CommandExt as _;
    let daemon = lab.command(&["daemon"]);
    let mut shell = Command::new("sh");
    let limit = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    shell.args(["-c", &limit, "sh"]).arg(daemon.get_program());
    shell.args(daemon.get_args());
    shell.envs(
        daemon
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    shell.current_dir(lab.lab().folder()).stdin(Stdio::null());
    shell.stdout(Stdio::piped()).stderr(Stdio::piped());
    shell.process_group(0);
    shell
}

#[test]
fn a_full_disk_is_told_to_the_agent_and_its_session_is_no_pass() {
    let lab = lab(1);
    let daemon = limited(&lab, 8).spawn().unwrap();
    until(|| lab.status().is_some());
    let agent = lab.stdio("unlucky");
    let (lease, run) = takes(&agent);
    is_told(&agent, &lease, "File too large");
    let events = lab.events(&run);
    assert!(!events.is_empty());
    assert!(events.iter().all(|event| event["event"] != "run_finished"));
    let listed = lab.ask(&["runs"]).to_string();
    assert!(
        listed.contains(&run) && !listed.contains("passed\":1"),
        "{listed}"
    );
    drop(agent);
    interrupt(&daemon);
    ended(daemon);
}

#[test]
fn a_folder_that_is_taken_away_is_told_to_the_agent() {
    let lab = lab(1);
    let agent = lab.stdio("unlucky");
    let (lease, run) = takes(&agent);
    let folder = lab.lab().folder().join(".packtrain/runs").join(run);
    std::fs::remove_dir_all(folder).unwrap();
    is_told(&agent, &lease, "it was removed");
}
