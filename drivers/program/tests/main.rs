//! Real programs that start others, and who is still there afterwards.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
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

#[test]
fn a_killed_owner_takes_along_what_its_programs_started() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    const PATH: &str = "PACKTRAIN_PROGRAM_TEST_PATH";
    if let Some(path) = std::env::var_os(PATH) {
        runtime().block_on(async {
            let mut command = Command::new("sh");
            command.args([
                "-c",
                "exec 5>\"$1\"; (echo there >&5; exec sleep 3600) & wait",
                "sh",
            ]);
            command.arg(path);
            let _program = Program::spawn(command).unwrap();
            println!("spawned");
            std::future::pending::<()>().await;
        });
    }
    let held = Held::new();
    let name = "a_killed_owner_takes_along_what_its_programs_started";
    let mut owner = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(PATH, held.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // A program is watched once spawning it has answered.
    let said = BufReader::new(owner.stdout.take().unwrap()).lines();
    let spawned = said
        .map_while(Result::ok)
        .any(|line| line.contains("spawned"));
    assert!(spawned);
    runtime().block_on(async {
        let held = held.started().await;
        owner.kill().unwrap();
        owner.wait().unwrap();
        held.ended().await;
    });
}
