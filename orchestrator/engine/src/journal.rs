//! The journal: order is decided here, once. A thread of its own numbers every event, takes secrets
//! out and hands it to the store; it waits for nothing else. Sinks have threads of their own.

mod queue;
mod sinks;
#[cfg(test)]
mod tests;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use packtrain_model::memory::Redactor;
use packtrain_model::{Artifact, ArtifactKind, Entry, RunEvent, SessionId, StepIndex};
use tokio::sync::oneshot;

use self::queue::{Message, Queue};
pub use self::sinks::{OpenSinks, UnreadSink};
pub use self::worker::STORE;
use self::worker::Worker;

/// How long the store may take to write what still waits at the end of a run.
const STORE_TIMEOUT: Duration = Duration::from_secs(60);

/// A file for the run's folder.
#[derive(Debug)]
pub struct NewArtifact {
    /// The session it belongs to.
    pub session: SessionId,
    /// The step it belongs to.
    pub step: StepIndex,
    /// What it is.
    pub kind: ArtifactKind,
    /// A file name to start from; the store makes it unique.
    pub name: String,
    /// Where the content comes from.
    pub content: ArtifactContent,
}

/// A file's content.
#[derive(Debug, Clone)]
pub enum ArtifactContent {
    /// In memory.
    Bytes(Vec<u8>),
    /// In memory, and its name is its place below the run's folder; it is stored once.
    Shared(Vec<u8>),
    /// On disk already, in the run's folder, where it stays.
    File(std::path::PathBuf),
    /// On disk, if it was written, and not wanted.
    Unwanted(std::path::PathBuf),
    /// A log on disk, if it was written; the store takes it over without what is to be hidden.
    Log {
        /// Where it may be.
        path: std::path::PathBuf,
        /// What must be hidden in it.
        hide: Redactor,
    },
}

impl ArtifactContent {
    /// All of it in memory, without what is to be hidden; it is on disk no more. `None` when there is
    /// nothing to keep. Blocking.
    ///
    /// # Errors
    /// What the system says, or that it is not a file of at most `most` bytes.
    pub fn take(self, most: u64) -> Result<Option<Vec<u8>>, String> {
        let (path, hide) = match self {
            Self::Bytes(bytes) | Self::Shared(bytes) => return Ok(Some(bytes)),
            Self::Unwanted(path) => {
                // It may never have been written.
                let _ = std::fs::remove_file(path);
                return Ok(None);
            }
            Self::File(path) => (path, Redactor::default()),
            Self::Log { path, hide } => (path, hide),
        };
        let about = match std::fs::symlink_metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            about => about.map_err(|error| error.to_string())?,
        };
        if !about.is_file() || about.len() > most {
            if !hide.is_empty() {
                let _ = std::fs::remove_file(&path);
            }
            return Err(format!("{} bytes are too many to send", about.len()));
        }
        let bytes = std::fs::read(&path);
        // The file as it was written goes in any case.
        let removed = std::fs::remove_file(&path);
        let bytes = match hide.is_empty() {
            true => bytes,
            false => bytes.and_then(|bytes| removed.map(|()| bytes)),
        };
        let bytes = bytes.map_err(|error| error.to_string())?;
        Ok(Some(hide.redact_file(bytes)))
    }
}

/// Keeps a run's events and files. Sessions wait for it: being slow is better than losing what
/// happened.
pub trait Store: Send {
    /// Keeps events, in order. Called on the journal's thread.
    ///
    /// # Errors
    /// A sentence; the journal is broken after it, and the store gets nothing more.
    fn append(&mut self, entries: &[Arc<Entry>]) -> Result<(), String>;

    /// Keeps a file; `None` when there is nothing to keep.
    ///
    /// # Errors
    /// A sentence for the warning; the store goes on.
    fn save(&mut self, artifact: &NewArtifact) -> Result<Option<Artifact>, String>;
}

/// Keeps nothing: for sessions whose events are not read.
#[derive(Debug)]
pub struct NoStore;

impl Store for NoStore {
    fn append(&mut self, _: &[Arc<Entry>]) -> Result<(), String> {
        Ok(())
    }

    fn save(&mut self, _: &NewArtifact) -> Result<Option<Artifact>, String> {
        Ok(None)
    }
}

/// Shows a run's events, on a thread of its own. What it is too slow for is dropped and counted; one
/// that fails or panics gets no further events. The run goes on either way.
pub trait Sink: Send {
    /// What warnings call it.
    fn name(&self) -> &'static str;

    /// Shows an event. Called in order.
    ///
    /// # Errors
    /// A sentence for the warning; the sink is out of the run after it.
    fn on_event(&mut self, entry: &Entry) -> Result<(), String>;

    /// Says that so many events were dropped before the next one.
    ///
    /// # Errors
    /// As for an event.
    fn on_dropped(&mut self, count: u64) -> Result<(), String>;
}

/// The writing end of a run's journal. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Journal(Queue);

/// The journal's thread, and those of its sinks.
#[derive(Debug)]
pub struct JournalThread {
    ended: oneshot::Receiver<Option<String>>,
    sinks: OpenSinks,
}

/// How a journal ended.
#[derive(Debug)]
pub struct JournalEnd {
    /// Why not everything was stored; `None` when it was.
    pub failure: Option<String>,
    /// The sinks, which may still be showing.
    pub sinks: OpenSinks,
}

impl Journal {
    /// Starts a journal. The store and then the sinks get each event without what the redactor
    /// hides.
    ///
    /// # Errors
    /// When the system refuses another thread.
    pub fn start(
        store: Box<dyn Store>,
        sinks: Vec<Box<dyn Sink>>,
        redactor: Redactor,
    ) -> std::io::Result<(Self, JournalThread)> {
        let (queue, messages) = Queue::new();
        let (feeds, sinks) = sinks::start(sinks)?;
        let worker = Worker::new(store, feeds, redactor);
        let (tell, ended) = oneshot::channel();
        std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || {
                // There may be no receiver.
                let _ = tell.send(worker.work(messages));
            })?;
        Ok((Self(queue), JournalThread { ended, sinks }))
    }

    /// Journals an event.
    pub async fn record(&self, event: RunEvent) {
        let bytes = queue::bytes_of(&event);
        self.0.push(Message::Event(event, None), bytes).await;
    }

    /// Journals an event that happened at that moment by another computer's clock.
    pub(crate) async fn record_at(&self, event: RunEvent, at: DateTime<Utc>) {
        let bytes = queue::bytes_of(&event);
        self.0.push(Message::Event(event, Some(at)), bytes).await;
    }

    /// Journals an event from a caller that cannot wait.
    pub(crate) fn record_now(&self, event: RunEvent) {
        let bytes = queue::bytes_of(&event);
        self.0.push_now(Message::Event(event, None), bytes);
    }

    /// Saves a file and journals that it was.
    pub async fn save(&self, artifact: NewArtifact) {
        let bytes = match &artifact.content {
            ArtifactContent::Bytes(bytes) | ArtifactContent::Shared(bytes) => bytes.len(),
            ArtifactContent::File(_)
            | ArtifactContent::Unwanted(_)
            | ArtifactContent::Log { .. } => 0,
        };
        self.0.push(Message::Save(artifact), bytes).await;
    }
}

impl JournalThread {
    /// Waits until everything journalled is stored. All writing ends must be gone, or this waits for
    /// them, but never for long.
    pub async fn finish(self) -> JournalEnd {
        let failure = match tokio::time::timeout(STORE_TIMEOUT, self.ended).await {
            Ok(Ok(failure)) => failure,
            Ok(Err(_)) => Some("its thread panicked".to_owned()),
            Err(_) => Some(format!(
                "it was not written within {} s",
                STORE_TIMEOUT.as_secs()
            )),
        };
        JournalEnd {
            failure,
            sinks: self.sinks,
        }
    }
}
