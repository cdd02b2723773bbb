//! A member of a process group that kills it once its own standard input ends: when its owner drops
//! it, and when this process is gone.

use std::io;
use std::process::Stdio;

use tokio::process::{Child, Command};

/// Waits for the end of its input, then kills its group, itself included.
const SCRIPT: &str = "read -r _; kill -KILL 0";

#[derive(Debug)]
pub(super) struct Watcher {
    process: Child,
}

impl Watcher {
    /// Joins a process group.
    ///
    /// # Errors
    /// When nobody is in it, or no process can be started.
    pub(super) fn join(group: u32) -> io::Result<Self> {
        let group = i32::try_from(group).map_err(io::Error::other)?;
        let process = Command::new("/bin/sh")
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(group)
            .spawn()?;
        Ok(Self { process })
    }

    /// Leaves the group to itself.
    pub(super) async fn leave(mut self) {
        if let Err(error) = self.process.kill().await {
            tracing::debug!(%error, "a process group's watcher is gone already");
        }
    }
}
