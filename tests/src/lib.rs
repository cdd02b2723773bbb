//! The lab: a folder of its own, the real program in it, and eyes for what it leaves behind.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

pub mod agent_lab;
pub mod farm_cluster;
pub mod farm_lab;
pub mod nats_proxy;
pub mod nats_server;
pub mod nested_pages;
pub mod process;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use packtrain_testing::processes;
use serde_json::Value;
use tokio::time::Instant;

/// How long a test waits for what must come.
const WAIT_TIMEOUT: Duration = Duration::from_secs(120);
/// How often it looks.
const WAIT_POLL: Duration = Duration::from_millis(20);

/// A workspace for one test.
pub struct Lab {
    folder: tempfile::TempDir,
    program: PathBuf,
}

/// How a run of the program ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code.
    pub code: i32,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl Lab {
    /// An empty workspace. `program` is the program's path, which only a test binary knows.
    pub fn new(program: &str) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            program: program.into(),
        }
    }

    /// The workspace's folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file of the workspace.
    pub fn write(&self, path: &str, text: &str) -> &Self {
        let file = self.folder.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
        self
    }

    /// Reads a file of the workspace.
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        std::fs::read_to_string(self.folder.path().join(path)).unwrap()
    }

    /// Runs the program to its end.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Ended {
        self.command(arguments).output().unwrap().into()
    }

    /// Starts the program in a process group of its own.
    pub fn start<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Child {
        use std::os::unix::process::CommandExt;
        self.command(arguments)
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// The program, ready to be run in the workspace, away from the user's own configuration.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("XDG_CONFIG_HOME", self.folder.path().join(".config"))
            .env("XDG_STATE_HOME", self.folder.path().join(".state"))
            // No daemon but the workspace's own is to be found.
            .env("XDG_RUNTIME_DIR", self.folder.path().join(".run"))
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command
    }

    /// The folder of the newest run.
    pub fn run_folder(&self) -> PathBuf {
        let root = self.folder.path().join(".packtrain/runs");
        let mut runs: Vec<_> = std::fs::read_dir(&root)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.join("events.ndjson").is_file() && !path.is_symlink())
            .collect();
        // Names tell seconds apart, and tests are quicker.
        runs.sort_by_key(|run| std::fs::metadata(run).unwrap().created().unwrap());
        runs.pop()
            .unwrap_or_else(|| panic!("no run in {}", root.display()))
    }

    /// The events of the newest run.
    pub fn events(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.run_folder().join("events.ndjson")).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The events that a run which goes on has journalled; none before it begins.
    pub fn events_so_far(&self) -> Vec<Value> {
        let journal = self.folder().join(".packtrain/runs/latest/events.ndjson");
        let text = std::fs::read_to_string(journal).unwrap_or_default();
        text.lines()
            .map_while(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// The outcome of each device's last session in the newest run.
    pub fn outcomes(&self) -> BTreeMap<String, String> {
        outcomes(&self.events())
    }
}

/// The outcome of each device's last session.
pub fn outcomes(events: &[Value]) -> BTreeMap<String, String> {
    let mut devices = BTreeMap::new();
    let mut ended = BTreeMap::new();
    for event in events {
        let session = event["session"].as_str().unwrap_or_default().to_owned();
        match event["event"].as_str() {
            Some("session_started") => {
                devices.insert(session, event["device"]["id"].as_str().unwrap().to_owned());
            }
            Some("session_finished") => {
                let outcome = event["outcome"].as_str().unwrap().to_owned();
                ended.insert(devices[&session].clone(), outcome);
            }
            _ => {}
        }
    }
    ended
}

/// The place of every step that did not pass, by device.
pub fn failed_steps(events: &[Value]) -> BTreeMap<String, Vec<u64>> {
    let mut devices = BTreeMap::new();
    let mut failed: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for event in events {
        let session = event["session"].as_str().unwrap_or_default().to_owned();
        match event["event"].as_str() {
            Some("session_started") => {
                devices.insert(session, event["device"]["id"].as_str().unwrap().to_owned());
            }
            Some("step_finished") if event["outcome"] != "passed" => {
                let step = event["step"].as_u64().unwrap();
                failed
                    .entry(devices[&session].clone())
                    .or_default()
                    .push(step);
            }
            _ => {}
        }
    }
    failed
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ended {
    /// Fails the test unless the program ended with this code.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "stdout:\n{}\nstderr:\n{}",
            self.stdout, self.stderr
        );
        self
    }
}

/// Waits until something holds that nobody tells of.
#[track_caller]
pub fn until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < WAIT_TIMEOUT, "it never held");
        std::thread::park_timeout(WAIT_POLL);
    }
}

/// How a program ends that must, although nobody reads what it says before it has.
#[track_caller]
pub fn ended(mut child: Child) -> Ended {
    let (pid, stdout, stderr) = (child.id(), child.stdout.take(), child.stderr.take());
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || tell.send(child.wait().unwrap()));
    let Ok(status) = told.recv_timeout(WAIT_TIMEOUT) else {
        send("-KILL", pid);
        panic!("it did not end");
    };
    let (mut out, mut err) = (String::new(), String::new());
    stdout.unwrap().read_to_string(&mut out).unwrap();
    stderr.unwrap().read_to_string(&mut err).unwrap();
    Ended {
        code: status.code().unwrap_or(-1),
        stdout: out,
        stderr: err,
    }
}

/// Sends what Ctrl-C does.
pub fn interrupt(child: &Child) {
    send("-INT", child.id());
}

/// Waits until a program says that on standard error; answers the line.
#[track_caller]
pub fn until_said(child: &mut Child, what: &str) -> String {
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains(what) {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "it ended");
    }
    child.stderr = Some(said.into_inner());
    line
}

/// Waits until a run says that it stops: two signals that the system delivers at once would be one.
#[track_caller]
pub fn stopping(child: &mut Child) {
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("stopping") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "it ended");
    }
    child.stderr = Some(said.into_inner());
}

/// Sends what `kill` does.
pub fn terminate(child: &Child) {
    send("-TERM", child.id());
}

fn send(signal: &str, pid: u32) {
    let sent = Command::new("kill")
        .args([signal, &pid.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// The repository's folder.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// Processes whose command line holds a text, this one excluded.
#[track_caller]
pub fn processes_with(text: &str) -> Vec<u32> {
    let own = std::process::id();
    let others = processes().into_iter().filter(|one| one.pid != own);
    let with = others.filter(|one| one.line.contains(text));
    with.map(|one| one.pid).collect()
}

/// Processes that a process has started, and those that they have, each with when it began.
#[track_caller]
pub fn descendants(of: u32) -> Vec<(u32, String)> {
    let all = processes();
    let mut found: Vec<(u32, String)> = Vec::new();
    let mut parents = vec![of];
    while let Some(parent) = parents.pop() {
        for child in all.iter().filter(|one| one.parent == parent) {
            found.push((child.pid, child.began.clone()));
            parents.push(child.pid);
        }
    }
    found
}

/// Whether such a process has ended.
#[track_caller]
pub fn is_gone((pid, began): &(u32, String)) -> bool {
    let all = processes();
    !all.iter().any(|one| one.pid == *pid && one.began == *began)
}
