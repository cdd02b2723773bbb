//! A running command: its last lines, its end, and how it is ended.

use std::collections::VecDeque;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use packtrain_program::Program;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::StartError;

/// How many of its last lines explain why a command ended.
const LINES: usize = 8;
/// Longest line that is kept, in bytes.
const LINE: usize = 400;
/// How long the last lines may take to be read once the command and all it started are gone.
const LAST_LINES_GRACE: Duration = Duration::from_secs(1);

/// How long a command may take to end that is asked to: `xcodebuild` ends its test first.
const END_GRACE: Duration = Duration::from_secs(5);

/// A command that runs, or did.
#[derive(Debug)]
pub(crate) struct Running {
    stop: CancellationToken,
    ended: watch::Receiver<Option<String>>,
}

/// The last lines of a program.
type Tail = Arc<Mutex<VecDeque<String>>>;

/// A command to be started in that folder, for a WebDriverAgent that listens on that port.
///
/// # Errors
/// When there are no words.
pub(crate) fn prepared(
    words: &[String],
    folder: Option<&Path>,
    port: u16,
) -> Result<Command, StartError> {
    let port = port.to_string();
    let mut words = words.iter().map(|word| word.replace("{port}", &port));
    let program = words.next().ok_or(StartError::Empty)?;
    // Where a relative program is looked for once the folder is another one differs by system.
    let program = match folder.filter(|_| program.contains('/')) {
        Some(folder) => folder.join(program),
        None => program.into(),
    };
    let mut command = Command::new(program);
    command.args(words);
    // The first is for WebDriverAgent's scheme, the other one is handed on by xcodebuild itself.
    for name in ["USE_PORT", "TEST_RUNNER_USE_PORT"] {
        command.env(name, &port);
    }
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    Ok(command)
}

impl Running {
    pub(crate) fn spawn(mut command: Command, tasks: &TaskTracker) -> Result<Self, StartError> {
        let program = command
            .as_std()
            .get_program()
            .to_string_lossy()
            .into_owned();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = Program::spawn(command).map_err(|error| StartError::Spawn {
            program,
            message: error.to_string(),
        })?;
        let tail = Tail::default();
        let readers = [
            child.stdout().map(|output| follow(output, &tail)),
            child.stderr().map(|output| follow(output, &tail)),
        ];
        let stop = CancellationToken::new();
        let (tell, ended) = watch::channel(None);
        tasks.spawn({
            let stop = stop.clone();
            async move {
                let status = tokio::select! {
                    status = child.wait() => Some(status),
                    () = stop.cancelled() => {
                        child.terminate();
                        let _ = tokio::time::timeout(END_GRACE, child.wait()).await;
                        None
                    }
                };
                // What it started does not outlive it.
                match child.kill().await {
                    Ok(()) => {}
                    Err(error) => tracing::debug!(%error, "the process group is gone already"),
                }
                for reader in readers.into_iter().flatten() {
                    let _ = tokio::time::timeout(LAST_LINES_GRACE, reader).await;
                }
                let why = why(status, &tail);
                // There may be no waiter.
                let _ = tell.send(Some(why));
            }
        });
        Ok(Self { stop, ended })
    }

    /// Tells of the end and what led to it.
    pub(super) fn ended(&self) -> watch::Receiver<Option<String>> {
        self.ended.clone()
    }

    /// Waits for the end, and tells what led to it.
    pub(crate) async fn why(&mut self) -> String {
        let ended = self.ended.wait_for(Option::is_some).await;
        ended.ok().and_then(|why| why.clone()).unwrap_or_default()
    }

    pub(crate) fn is_running(&self) -> bool {
        self.ended.borrow().is_none()
    }

    /// Asks it to end, kills what is left, waits until it is gone, and tells its last words.
    pub(crate) async fn stop(mut self) -> String {
        self.stop.cancel();
        self.why().await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn why(status: Option<std::io::Result<ExitStatus>>, tail: &Tail) -> String {
    let end = match status {
        Some(Ok(status)) => format!("the command ended with {status}"),
        Some(Err(error)) => format!("the command ended with {error}"),
        None => "the command was stopped".to_owned(),
    };
    let lines = tail.lock();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    if lines.is_empty() {
        end
    } else {
        format!("{end}: {}", lines.join(" | "))
    }
}

/// Reads what a program prints: into the log, and the last lines of it into `tail`.
fn follow<R: AsyncRead + Unpin + Send + 'static>(
    mut output: R,
    tail: &Tail,
) -> AbortOnDropHandle<()> {
    let tail = tail.clone();
    AbortOnDropHandle::new(tokio::spawn(async move {
        let mut buffer = [0; 4096];
        let mut line = Vec::new();
        while let Ok(count @ 1..) = output.read(&mut buffer).await {
            for &byte in &buffer[..count] {
                match byte {
                    b'\n' => keep(&mut line, &tail),
                    _ if line.len() < LINE => line.push(byte),
                    _ => {}
                }
            }
        }
        keep(&mut line, &tail);
    }))
}

fn keep(line: &mut Vec<u8>, tail: &Tail) {
    let text = String::from_utf8_lossy(line).trim().to_owned();
    line.clear();
    if text.is_empty() {
        return;
    }
    tracing::debug!(target: "packtrain::wda", "{text}");
    let mut tail = tail.lock();
    if tail.len() == LINES {
        tail.pop_front();
    }
    tail.push_back(text);
}
