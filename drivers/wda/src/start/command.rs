//! A running command: its last lines, its end, and how it is ended.

use std::collections::VecDeque;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use packtrain_program::Program;
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

/// A command that runs, or did.
#[derive(Debug)]
pub(super) struct Running {
    stop: CancellationToken,
    ended: watch::Receiver<Option<String>>,
}

/// The last lines of a program.
type Tail = Arc<Mutex<VecDeque<String>>>;

impl Running {
    pub(super) fn spawn(command: &[String], tasks: &TaskTracker) -> Result<Self, StartError> {
        let (program, arguments) = command.split_first().ok_or(StartError::Empty)?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = Program::spawn(command).map_err(|error| StartError::Spawn {
            program: program.clone(),
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
                    () = stop.cancelled() => None,
                };
                // What it started does not outlive it.
                match child.kill().await {
                    Ok(()) => {}
                    Err(error) => tracing::debug!(%error, "the process group is gone already"),
                }
                for reader in readers.into_iter().flatten() {
                    let _ = tokio::time::timeout(LAST_LINES_GRACE, reader).await;
                }
                let why = status.map_or_else(|| "it was stopped".to_owned(), |s| why(s, &tail));
                // Nobody may be waiting.
                let _ = tell.send(Some(why));
            }
        });
        Ok(Self { stop, ended })
    }

    /// Tells of the end and what led to it.
    pub(super) fn ended(&self) -> watch::Receiver<Option<String>> {
        self.ended.clone()
    }

    /// Kills the process group and waits until it is gone.
    pub(super) async fn stop(mut self) {
        self.stop.cancel();
        let _ = self.ended.wait_for(Option::is_some).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn why(status: std::io::Result<ExitStatus>, tail: &Tail) -> String {
    let status = match status {
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    let lines = tail.lock().unwrap_or_else(PoisonError::into_inner);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    if lines.is_empty() {
        format!("the command ended with {status}")
    } else {
        format!("the command ended with {status}: {}", lines.join(" | "))
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
    let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
    if tail.len() == LINES {
        tail.pop_front();
    }
    tail.push_back(text);
}
