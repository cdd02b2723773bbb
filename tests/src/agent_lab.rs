//! A daemon of a test's own, and agents that speak the Model Context Protocol with it: by `packtrain mcp`
//! and over HTTP, in both of the protocol's eras. It knows nothing of what they are for.

mod agent;
mod http;
mod stdio;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

pub use self::agent::{Agent, Called, Era, Pending};
use crate::{Ended, Lab, until};

/// How long what was ended may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(30);

/// A workspace with a daemon, which is gone with all that it has started when this is dropped.
pub struct AgentLab {
    lab: Lab,
}

/// What a daemon says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Daemon {
    /// Its process.
    pub pid: u32,
    /// Where agents reach it over HTTP.
    pub url: String,
    /// What opens that.
    pub token: String,
}

impl AgentLab {
    /// A workspace with this configuration. `program` is the program's path, which only a test binary
    /// knows.
    pub fn new(program: &str, config: &str) -> Self {
        let lab = Lab::new(program);
        lab.write("packtrain.yaml", config);
        std::fs::create_dir(lab.folder().join(".run")).unwrap();
        Self { lab }
    }

    /// The workspace.
    pub const fn lab(&self) -> &Lab {
        &self.lab
    }

    /// The folder of its daemon, once there is one.
    pub fn place(&self) -> PathBuf {
        self.lab.folder().join(".run/packtrain")
    }

    /// The program, in the workspace.
    pub fn command(&self, words: &[&str]) -> Command {
        self.lab.command(words)
    }

    /// Runs the program to its end.
    pub fn run(&self, words: &[&str]) -> Ended {
        self.command(words).output().unwrap().into()
    }

    /// Starts the program in a process group of its own.
    pub fn start(&self, words: &[&str]) -> Child {
        use std::os::unix::process::CommandExt as _;
        let mut command = self.command(words);
        command.process_group(0);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// What a command with `--format json` prints.
    #[track_caller]
    pub fn ask(&self, words: &[&str]) -> Value {
        let ended = self.run(&[words, &["--format", "json"]].concat()).expect(0);
        serde_json::from_str(&ended.stdout).unwrap()
    }

    /// The daemon; one is started when there is none.
    #[track_caller]
    pub fn daemon(&self) -> Daemon {
        self.run(&["daemon", "start"]).expect(0);
        self.status().unwrap()
    }

    /// The daemon, when there is one.
    #[track_caller]
    pub fn status(&self) -> Option<Daemon> {
        let told = self.ask(&["daemon", "status"]);
        (told["running"] == true).then(|| Daemon {
            pid: u32::try_from(told["pid"].as_u64().unwrap()).unwrap(),
            url: told["url"].as_str().unwrap().to_owned(),
            token: told["token"].as_str().unwrap().to_owned(),
        })
    }

    /// An agent by `packtrain mcp`.
    #[track_caller]
    pub fn stdio(&self, name: &str) -> Agent {
        self.stdio_with(name, &[])
    }

    /// An agent by `packtrain mcp` that works on the project in this folder.
    #[track_caller]
    pub fn stdio_in(&self, folder: &Path, name: &str) -> Agent {
        let mut command = self.command(&["mcp"]);
        command.current_dir(folder);
        Agent::stdio(command, name)
    }

    /// An agent by `packtrain mcp` with these flags.
    #[track_caller]
    pub fn stdio_with(&self, name: &str, flags: &[&str]) -> Agent {
        let words = [&["mcp"], flags].concat();
        Agent::stdio(self.command(&words), name)
    }

    /// An agent with a session over HTTP.
    #[track_caller]
    pub fn http(&self, name: &str) -> Agent {
        let Daemon { url, token, .. } = self.daemon();
        Agent::http(&url, &token, name, Era::Sessions)
    }

    /// An agent over HTTP that has no session.
    #[track_caller]
    pub fn requests(&self, name: &str) -> Agent {
        let Daemon { url, token, .. } = self.daemon();
        Agent::http(&url, &token, name, Era::Requests)
    }

    /// Who is connected, as `packtrain agents` tells it.
    #[track_caller]
    pub fn agents(&self) -> Vec<Value> {
        let told = self.ask(&["agents"]);
        told["agents"].as_array().unwrap().clone()
    }

    /// What `packtrain agents` tells of one.
    #[track_caller]
    pub fn agent(&self, name: &str) -> Option<Value> {
        self.agents()
            .into_iter()
            .find(|agent| agent["name"] == name)
    }

    /// Waits until nobody of that name is connected.
    #[track_caller]
    pub fn until_gone(&self, name: &str) {
        until(|| self.agent(name).is_none());
    }

    /// Processes that are of this workspace, with their command lines.
    #[track_caller]
    pub fn processes(&self) -> Vec<(u32, String)> {
        let ours = packtrain_testing::processes_of(self.lab.folder()).into_iter();
        // What has ended and was not waited for yet has no words left.
        let alive = ours.filter(|one| !one.line.is_empty());
        alive.map(|one| (one.pid, one.line)).collect()
    }

    /// Waits until no process is left of this workspace.
    #[track_caller]
    pub fn until_nothing_runs(&self) {
        let (begun, mut left) = (Instant::now(), Vec::new());
        until(|| {
            left = self.processes();
            left.is_empty() || begun.elapsed() > END_TIMEOUT
        });
        assert!(left.is_empty(), "{left:?}");
    }

    /// The events of a run that was named by its id.
    pub fn events(&self, run: &str) -> Vec<Value> {
        let journal = format!(".packtrain/runs/{run}/events.ndjson");
        let text = self.lab.read(journal);
        let lines = text
            .lines()
            .map_while(|line| serde_json::from_str(line).ok());
        lines.collect()
    }
}

impl Drop for AgentLab {
    fn drop(&mut self) {
        let stopped = self.run(&["daemon", "stop"]);
        for (pid, _) in self.processes() {
            // Whatever a test that failed, or a daemon that was killed, has left.
            if stopped.code != 0 || std::thread::panicking() {
                kill(pid);
            }
        }
        if !std::thread::panicking() {
            stopped.expect(0);
            self.until_nothing_runs();
        }
    }
}

/// `kill -9`.
pub fn kill(pid: u32) {
    let sent = Command::new("kill")
        .args(["-KILL", &pid.to_string()])
        .stderr(Stdio::null())
        .status();
    assert!(sent.is_ok(), "`kill` can be run");
}
