//! Programs of this computer that are started here, and never outlive their owner.
//!
//! A program leads a session. All that is in it is killed when its owner drops it, and by a watcher
//! when this process is gone, however that ended. Knows nothing of who starts what.

mod processes;
mod sockets;
mod spawning;
mod started;
mod watcher;

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessSession};
pub use processes::{has_proc, ps};
pub use sockets::{Listener, listener};
pub use spawning::{is_limit, run, spawning};
pub use started::started;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
pub use watcher::{Descendants, is_watcher, own_program, unwatch, watches};
use watcher::{Session, Waiting};

/// How long what a program left running may keep its output open once the program has ended.
const PIPE_DRAIN_GRACE: Duration = Duration::from_millis(300);

/// A program that runs, and whatever it starts in its session.
#[derive(Debug)]
pub struct Program {
    child: Box<dyn ChildWrapper>,
    session: Option<Session>,
}

/// How a program ended, and what it wrote.
#[derive(Debug)]
pub struct Output {
    /// How it ended.
    pub status: ExitStatus,
    /// The beginning of what it wrote to standard output.
    pub stdout: Vec<u8>,
    /// The beginning of what it wrote to standard error.
    pub stderr: Vec<u8>,
    /// What it has left running.
    pub left: Option<LeftRunning>,
}

/// What a program has left running in its session; dropped, it is killed.
#[derive(Debug)]
pub struct LeftRunning {
    _session: Session,
}

/// Runs a program that has nothing to read to its end and keeps the first `most` bytes of each
/// output. When the future is dropped before, the program and all it started are killed.
///
/// # Errors
/// When there is no such program, it cannot be started, or the system does not tell how it ended.
pub async fn output(mut command: Command, most: usize) -> io::Result<Output> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut program = Program::spawn(command)?;
    let (out, err) = (program.stdout(), program.stderr());
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let status = {
        let mut reading = std::pin::pin!(async {
            tokio::join!(read(out, most, &mut stdout), read(err, most, &mut stderr))
        });
        let mut is_read = false;
        let status = loop {
            tokio::select! {
                status = program.wait() => break status?,
                _ = &mut reading, if !is_read => is_read = true,
            }
        };
        if !is_read {
            // Who else still holds the pipes is not waited for.
            let _ = tokio::time::timeout(PIPE_DRAIN_GRACE, reading).await;
        }
        status
    };
    Ok(Output {
        status,
        stdout,
        stderr,
        left: program.left_running(),
    })
}

impl Program {
    /// Starts a program.
    ///
    /// # Errors
    /// When there is no such program or it cannot be started.
    pub fn spawn(mut command: Command) -> io::Result<Self> {
        let waiting = Waiting::mark(&mut command);
        let mut command = CommandWrap::from(command);
        command.wrap(KillOnDrop).wrap(ProcessSession);
        let child = spawning(|| command.spawn())?;
        let session = child.id().and_then(|leader| waiting.watch(leader));
        Ok(Self { child, session })
    }

    /// Its process id, which is its session's too; `None` once it has ended.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Asks it and what is in its group to end, by SIGTERM.
    pub fn terminate(&self) {
        if let Some(leader) = self.id().and_then(|id| i32::try_from(id).ok()) {
            let _ = killpg(Pid::from_raw(leader), Signal::SIGTERM);
        }
    }

    /// Its standard input when it is a pipe, once.
    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin().take()
    }

    /// Its standard output when it is a pipe, once.
    pub fn stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout().take()
    }

    /// Its standard error when it is a pipe, once.
    pub fn stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr().take()
    }

    /// Waits for the end of the program, not of what it started.
    ///
    /// # Errors
    /// When the system does not tell.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.inner_mut().wait().await
    }

    /// Kills the program and all it started, and waits until the program is gone.
    ///
    /// # Errors
    /// When they are gone already.
    pub async fn kill(mut self) -> io::Result<()> {
        self.child.start_kill()?;
        self.wait().await.map(drop)
    }

    /// What is left of the session of a program that has ended.
    fn left_running(mut self) -> Option<LeftRunning> {
        let session = self.session.take()?;
        if session.sees_somebody() {
            return Some(LeftRunning { _session: session });
        }
        session.leave();
        None
    }
}

async fn read(pipe: Option<impl AsyncRead + Unpin>, most: usize, kept: &mut Vec<u8>) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        let room = most.saturating_sub(kept.len());
        kept.extend_from_slice(&buffer[..count.min(room)]);
    }
}
