//! A program that ends another one when this one has ended, whatever ended it: it waits for a pipe
//! whose other end only this program holds, and the system closes that even if it is killed.

use std::ffi::OsStr;
use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin, Command};

/// Gets a process id, and becomes the program that it is given once the pipe is closed, unless that
/// process is gone: what runs then is not what was started.
const SCRIPT: &str = r#"read -r pid
cat >/dev/null
[ -z "$pid" ] || kill -0 "$pid" || exit
exec "$@""#;

/// A program that runs when this one has ended, or before, when it is told to.
#[derive(Debug)]
pub(crate) struct ExitHook {
    child: Child,
    pipe: Option<ChildStdin>,
}

impl ExitHook {
    /// Prepares a program, which has `lock` as its output until it has ended.
    pub(crate) fn prepare(
        program: impl AsRef<OsStr>,
        arguments: &[&str],
        lock: Stdio,
    ) -> io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", SCRIPT, "sh"])
            .arg(program.as_ref())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(lock)
            .stderr(Stdio::null())
            // A signal for the group of this program, as Ctrl-C is one, is none for its helpers.
            .process_group(0);
        let mut child = packtrain_program::spawning(|| command.spawn())?;
        let pipe = child.stdin.take();
        Ok(Self { child, pipe })
    }

    /// Tells which process it is about. Where that is not known, whatever runs is meant.
    pub(crate) async fn tell(&mut self, pid: Option<u32>) {
        let pid = pid.map(|pid| pid.to_string()).unwrap_or_default();
        if let Some(pipe) = &mut self.pipe {
            let written = pipe.write_all(format!("{pid}\n").as_bytes()).await;
            tracing::debug!(?written, pid, "what runs afterwards is told");
        }
    }

    /// Has nothing run any more.
    pub(crate) async fn cancel(mut self) {
        if let Err(error) = self.child.kill().await {
            tracing::debug!(%error, "it is gone already");
        }
    }

    /// Runs it now; it is killed when it does not end within `limit`.
    pub(crate) async fn run(mut self, limit: Duration) {
        drop(self.pipe.take());
        let ended = tokio::time::timeout(limit, self.child.wait()).await;
        tracing::debug!(?ended, "what was to be run afterwards");
        if ended.is_err() {
            self.cancel().await;
        }
    }
}
