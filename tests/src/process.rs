//! A process of a test that is killed, stopped and let go on at will, and is gone with its owner.

use std::fs::File;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use parking_lot::Mutex;

use crate::until;

/// A process, leader of a group of its own. Dropped, the whole group is killed.
///
/// What it says goes to files, for a pipe that nobody reads would stop it.
#[derive(Debug)]
pub struct Process {
    name: String,
    pid: u32,
    child: Mutex<Child>,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Process {
    /// Starts a program. What it says is appended to `log` (standard error) and beside it (standard
    /// output, `.out`).
    pub fn start(name: &str, command: &mut Command, log: &Path) -> Self {
        let stdout = log.with_extension("out");
        let append = |path: &Path| {
            File::options()
                .create(true)
                .append(true)
                .open(path)
                .unwrap()
        };
        let child = command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(append(&stdout))
            .stderr(append(log))
            .spawn()
            .unwrap_or_else(|error| panic!("{name} does not start: {error}"));
        Self {
            name: name.to_owned(),
            pid: child.id(),
            child: Mutex::new(child),
            stdout,
            stderr: log.to_owned(),
        }
    }

    /// Its id, which is its group's too.
    pub const fn pid(&self) -> u32 {
        self.pid
    }

    /// What it has written to standard output, all its starts together.
    pub fn stdout(&self) -> String {
        read(&self.stdout)
    }

    /// What it has written to standard error.
    pub fn stderr(&self) -> String {
        read(&self.stderr)
    }

    /// Sends a signal to the process, not to what it has started: `-INT`, `-KILL`.
    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill")
            .args([signal, &self.pid.to_string()])
            .stderr(Stdio::null())
            .status();
        assert!(sent.is_ok(), "`kill` can be run");
    }

    /// `kill -9`: the process alone, and it is gone when this returns.
    pub fn kill(&self) {
        self.signal("-KILL");
        self.ended();
    }

    /// SIGSTOP: it does nothing from now on, and does not know.
    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    /// SIGCONT: it goes on as if nothing had happened.
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    /// Whether it still runs.
    pub fn is_running(&self) -> bool {
        self.status().is_none()
    }

    /// Waits for its end; its exit code, or minus the signal that ended it.
    #[track_caller]
    pub fn ended(&self) -> i32 {
        let mut ended = None;
        until(|| {
            ended = self.status();
            ended.is_some()
        });
        let ended = ended.unwrap();
        ended.code().unwrap_or_else(|| -ended.signal().unwrap_or(0))
    }

    /// Waits until it has said something on standard error or standard output.
    #[track_caller]
    pub fn until_said(&self, words: &str) {
        until(|| {
            let said = self.stderr() + &self.stdout();
            assert!(
                said.contains(words) || self.is_running(),
                "{} ended and never said {words:?}:\n{said}",
                self.name
            );
            said.contains(words)
        });
    }

    fn status(&self) -> Option<ExitStatus> {
        self.child.lock().try_wait().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // What it has started may outlive it, so the group is killed even where the leader is gone.
        let _ = Command::new("kill")
            .args(["-KILL", "--", &format!("-{}", self.pid)])
            .stderr(Stdio::null())
            .status();
        let _ = self.child.get_mut().wait();
    }
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}
