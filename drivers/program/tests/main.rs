//! Real programs that start others, and who is still there afterwards.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use packtrain_program::{Program, output};
use tokio::process::Command;

/// How long an end may take that should come at once.
const END_TIMEOUT: Duration = Duration::from_secs(60);

/// A pipe that programs hold open for as long as they live.
struct Held {
    folder: tempfile::TempDir,
    read: Receiver<Option<String>>,
}

impl Held {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("held");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let (tx, read) = channel();
        std::thread::spawn(move || {
            let mut pipe = std::fs::File::open(path).unwrap();
            let mut buffer = [0; 64];
            loop {
                let count = pipe.read(&mut buffer).unwrap();
                let text = String::from_utf8_lossy(&buffer[..count]).into_owned();
                if tx.send((count > 0).then_some(text)).is_err() || count == 0 {
                    return;
                }
            }
        });
        Self { folder, read }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("held")
    }

    /// A program that starts another one, which says that it is there and goes on for an hour.
    fn shell(&self, then: &str) -> Command {
        let mut command = Command::new("sh");
        let path = self.path().display().to_string();
        let script = format!("exec 5>'{path}'; (echo there >&5; exec sleep 3600) & {then}");
        command.args(["-c", &script]);
        command
    }

    async fn next(self) -> (Option<String>, Self) {
        tokio::task::spawn_blocking(move || {
            let next = self.read.recv_timeout(END_TIMEOUT).unwrap();
            (next, self)
        })
        .await
        .unwrap()
    }

    async fn started(self) -> Self {
        let (said, held) = self.next().await;
        assert_eq!(said.as_deref(), Some("there\n"));
        held
    }

    async fn ended(self) {
        assert_eq!(self.next().await.0, None);
    }
}

#[tokio::test]
async fn a_program_that_is_dropped_takes_along_what_it_started() {
    let held = Held::new();
    let program = Program::spawn(held.shell("wait")).unwrap();
    let held = held.started().await;
    drop(program);
    held.ended().await;
}

#[tokio::test]
async fn an_output_that_is_no_longer_waited_for_takes_along_what_was_started() {
    let held = Held::new();
    let waiting = tokio::spawn(output(held.shell("wait"), 1024));
    let held = held.started().await;
    waiting.abort();
    held.ended().await;
}

#[tokio::test]
async fn a_kill_reaches_what_was_started() {
    let held = Held::new();
    let program = Program::spawn(held.shell("wait")).unwrap();
    let held = held.started().await;
    program.kill().await.unwrap();
    held.ended().await;
}

#[tokio::test]
async fn what_holds_the_output_open_is_not_waited_for_and_lives_until_it_is_dropped() {
    let held = Held::new();
    let command = held.shell("echo out; echo err >&2; exit 3");
    let output = tokio::time::timeout(END_TIMEOUT, output(command, 1024)).await;
    let output = output.unwrap().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(
        (&*output.stdout, &*output.stderr),
        (&b"out\n"[..], &b"err\n"[..])
    );
    let left = output.left.expect("a program that goes on");
    let held = held.started().await;
    drop(left);
    held.ended().await;
}

#[tokio::test]
async fn a_program_that_leaves_nothing_running_says_so() {
    let mut command = Command::new("sh");
    command.args(["-c", "echo out"]);
    let output = output(command, 1024).await.unwrap();
    assert!(output.left.is_none());
    assert_eq!(output.stdout, b"out\n");
}

#[tokio::test]
async fn only_the_beginning_of_a_long_output_is_kept() {
    let mut command = Command::new("sh");
    command.args(["-c", "head -c 1000000 /dev/zero"]);
    let output = output(command, 10).await.unwrap();
    assert_eq!(output.stdout, [0; 10]);
    assert!(output.status.success());
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error() {
    let error = output(Command::new("/no/such/program"), 10)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

/// A process that owns a program.
struct Owner {
    process: Child,
    said: BufReader<ChildStdout>,
}

impl Owner {
    /// Waits until it has started a program, which is watched from then on.
    fn spawned(&mut self) {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        assert_eq!(line, "spawned\n");
    }

    /// Signals the process that watches what it starts; whether there is one.
    fn signal_watcher(&self, signal: &str) -> bool {
        let owner = self.process.id().to_string();
        let sent = std::process::Command::new("pkill")
            .args([signal, "-f", "-P", &owner, "watch-programs"])
            .status();
        sent.unwrap().success()
    }
}

/// Starts a program whose owner is a process of its own, kills that after `before`, and waits for the end
/// of what the program has started: in the same session, but in a group of its own.
fn killed_owner(before: impl FnOnce(&mut Owner)) {
    let held = Held::new();
    let path = held.path().display().to_string();
    let script = format!("set -m; (exec 5>'{path}'; echo there >&5; exec sleep 3600) & wait");
    let mut process = std::process::Command::new(env!("CARGO_BIN_EXE_packtrain-program-owner"))
        .args(["bash", "-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(process.stdout.take().unwrap());
    let mut owner = Owner { process, said };
    owner.spawned();
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(async {
        let held = held.started().await;
        before(&mut owner);
        owner.process.kill().unwrap();
        owner.process.wait().unwrap();
        held.ended().await;
    });
}

#[test]
fn a_killed_owner_takes_along_what_its_programs_started() {
    killed_owner(|_| {});
}

#[test]
fn what_ends_an_owner_does_not_end_who_watches_for_it() {
    killed_owner(|owner| {
        for signal in ["-HUP", "-INT", "-QUIT", "-TERM"] {
            assert!(owner.signal_watcher(signal), "{signal}");
        }
    });
}

#[test]
fn a_watcher_that_was_killed_is_replaced_and_told_what_there_is() {
    killed_owner(|owner| {
        assert!(owner.signal_watcher("-KILL"));
        // A process that is killed ends when the system gets round to it.
        while owner.signal_watcher("-0") {
            std::thread::park_timeout(Duration::from_millis(20));
        }
        let mut input = owner.process.stdin.as_ref().unwrap();
        writeln!(input, "true").unwrap();
        owner.spawned();
    });
}

/// Processes are told from each other by it, and their users may have other variables.
#[test]
fn the_time_that_ps_tells_is_the_same_in_every_time_zone() {
    let pid = std::process::id().to_string();
    let told = ["UTC0", "XYZ-9:30"].map(|zone| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_packtrain-program-owner"));
        command.args(["ps", "-o", "lstart=", "-p", &pid]);
        String::from_utf8(command.env("TZ", zone).output().unwrap().stdout).unwrap()
    });
    assert!(told[0].contains(':'), "ps tells nothing here: {told:?}");
    assert_eq!(told[0], told[1]);
}
