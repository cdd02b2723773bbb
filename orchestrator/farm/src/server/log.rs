//! What nats-server says on standard error: as far as it matters, and all of it in a file.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;

/// A log this long, in bytes, is put aside for a new one; the one before goes.
const LONGEST_LOG: u64 = 4 * 1024 * 1024;

/// The file of what it says.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Log {
    /// The log at a path; `None` when it cannot be written.
    pub(super) async fn open(path: &Path) -> Option<Self> {
        let mut options = tokio::fs::OpenOptions::new();
        let opened = options
            .create(true)
            .append(true)
            .mode(0o600)
            .open(path)
            .await;
        let opened = opened.inspect_err(|error| tracing::warn!(%error, "nats-server has no log"));
        let file = opened.ok()?;
        let length = file.metadata().await.map_or(0, |found| found.len());
        Some(Self {
            path: path.to_owned(),
            file,
            length,
        })
    }

    /// Writes a line as far as the disk takes it.
    pub(super) async fn write(&mut self, line: &str) {
        if self.length > LONGEST_LOG {
            let _ = tokio::fs::rename(&self.path, self.path.with_extension("log.1")).await;
            if let Some(new) = Self::open(&self.path).await {
                *self = new;
            }
        }
        self.length += line.len() as u64 + 1;
        let _ = self.file.write_all(format!("{line}\n").as_bytes()).await;
        let _ = self.file.flush().await;
    }
}

/// What is known of a server by what it said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ServerLog {
    /// Where it listens.
    pub(super) listening: Option<SocketAddr>,
    /// Whether it takes connections.
    pub(super) ready: bool,
    /// How often it answered a request to read its configuration again.
    pub(super) reloads: u64,
    /// Its last answer: why it kept the old one, if it did.
    pub(super) refusal: Option<String>,
    /// The last thing that it called an error.
    pub(super) complaint: Option<String>,
    /// Whether it has ended.
    pub(super) ended: bool,
}

impl ServerLog {
    /// Takes in a line.
    pub(super) fn hear(&mut self, line: &str) {
        const LISTENING: &str = "Listening for client connections on ";
        const REFUSED: &str = "Failed to reload server configuration: ";
        if let Some((_, address)) = line.split_once(LISTENING) {
            self.listening = address.trim().parse().ok();
        } else if line.ends_with("Server is ready") {
            self.ready = true;
        } else if line.contains("Reloaded server configuration") {
            self.reloads += 1;
            self.refusal = None;
        } else if let Some((_, why)) = line.split_once(REFUSED) {
            self.reloads += 1;
            self.refusal = Some(why.to_owned());
        } else if let Some((_, words)) = ["[ERR] ", "[FTL] ", "nats-server: "]
            .iter()
            .find_map(|mark| line.split_once(mark))
        {
            self.complaint = Some(words.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_where_it_listens_and_that_it_is_ready() {
        let mut said = ServerLog::default();
        said.hear(
            "[1] 2026/01/01 10:00:00.1 [INF] Listening for client connections on 127.0.0.1:42979",
        );
        assert_eq!(said.listening, Some("127.0.0.1:42979".parse().unwrap()));
        assert!(!said.ready);
        said.hear("[1] 2026/01/01 10:00:00.1 [INF] Server is ready");
        assert!(said.ready);
    }

    #[test]
    fn a_server_says_whether_it_took_its_new_configuration() {
        let mut said = ServerLog::default();
        said.hear("[1] [ERR] Failed to reload server configuration: config is invalid (a:7:1)");
        assert_eq!(said.reloads, 1);
        assert_eq!(said.refusal.as_deref(), Some("config is invalid (a:7:1)"));
        said.hear("[1] [INF] Reloaded server configuration (sha256:24b7)");
        assert_eq!((said.reloads, said.refusal), (2, None));
    }
}
