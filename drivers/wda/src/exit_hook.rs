//! A program that runs when this one has ended, whatever ended it: it waits for a pipe whose other
//! end only this program holds, and the system closes that even if it is killed.

use std::ffi::OsStr;
use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, ChildStdin, Command};

/// Becomes the program that it is given once the pipe is closed.
const SCRIPT: &str = "cat >/dev/null; exec \"$@\"";

/// A program that runs when this one has ended, or before, when it is told to.
#[derive(Debug)]
pub(crate) struct ExitHook {
    child: Child,
    pipe: Option<ChildStdin>,
}

impl ExitHook {
    /// Prepares a program.
    pub(crate) fn prepare(program: impl AsRef<OsStr>, arguments: &[&str]) -> io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", SCRIPT, "sh"])
            .arg(program.as_ref())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A signal for the group of this program, as Ctrl-C is one, is none for its helpers.
            .process_group(0);
        let mut child = packtrain_program::spawning(|| command.spawn())?;
        let pipe = child.stdin.take();
        Ok(Self { child, pipe })
    }

    /// Runs it now; it is killed when it does not end within `limit`.
    pub(crate) async fn run(mut self, limit: Duration) {
        drop(self.pipe.take());
        let ended = tokio::time::timeout(limit, self.child.wait()).await;
        tracing::debug!(?ended, "what was to be run afterwards");
        if ended.is_err()
            && let Err(error) = self.child.kill().await
        {
            tracing::debug!(%error, "it is gone already");
        }
    }
}
