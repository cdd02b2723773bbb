//! What a session says, from where it is carried out to the process of its run: the daemon's socket and
//! the farm's stream write the same items. They differ in what accompanies an event and in where a
//! file's content is, and both bring their own of that.
//!
//! What is written here is read by other builds: names stay.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use packtrain_engine::{ArtifactContent, NewArtifact};
use packtrain_model::{ArtifactKind, Outcome, RunEvent, SessionId, StepIndex};
use serde::{Deserialize, Serialize};

/// Something that a session says. `E` is an event, `C` says where content is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Item<E, C> {
    /// Something happened.
    Event(E),
    /// A file for the run's folder.
    File(File<C>),
    /// Something that could not be kept, in one sentence.
    Lost(String),
    /// One that is too large for a message: the content is JSON of it.
    Large(C),
    /// Its device is in use; by whom, in words.
    Waits(String),
    /// It is over.
    Ended(Outcome),
}

/// An event of another computer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dated {
    /// When, by its clock.
    pub at: DateTime<Utc>,
    /// What.
    pub event: Box<RunEvent>,
}

/// A file of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct File<C> {
    /// The session, where the stream itself is not named after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The step it belongs to.
    pub step: StepIndex,
    /// What it is.
    pub kind: ArtifactKind,
    /// A name to start from; its place below the run's folder when it is shared.
    pub name: String,
    /// Whether the name is its place, and it is stored once; where the content does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<bool>,
    /// The content.
    pub content: C,
}

impl File<()> {
    /// A file of a session, and its content, which has no place yet.
    pub fn of(artifact: NewArtifact) -> (Self, ArtifactContent) {
        let file = Self {
            session: Some(artifact.session),
            step: artifact.step,
            kind: artifact.kind,
            name: artifact.name,
            shared: None,
            content: (),
        };
        (file, artifact.content)
    }

    /// The same with where its content is.
    pub fn with<C>(self, content: C) -> File<C> {
        File {
            session: self.session,
            step: self.step,
            kind: self.kind,
            name: self.name,
            shared: self.shared,
            content,
        }
    }
}

impl<C> File<C> {
    /// The file of a session, with its content.
    pub fn artifact(self, session: &SessionId, content: ArtifactContent) -> NewArtifact {
        NewArtifact {
            session: session.clone(),
            step: self.step,
            kind: self.kind,
            name: self.name,
            content,
        }
    }
}

/// Where a file's content is for a run on the same computer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Behind the line, so many bytes.
    Bytes(u64),
    /// The same, stored once below its name.
    Shared(u64),
    /// On disk.
    File(PathBuf),
    /// On disk, and not wanted.
    Unwanted(PathBuf),
}

impl Place {
    /// Where content is, and the bytes that go behind the line. A log is read and gone, without what is
    /// to be hidden; `None` when there is none. Blocking.
    pub fn of(content: ArtifactContent) -> Option<(Self, Vec<u8>)> {
        Some(match content {
            ArtifactContent::Bytes(bytes) => (Self::Bytes(bytes.len() as u64), bytes),
            ArtifactContent::Shared(bytes) => (Self::Shared(bytes.len() as u64), bytes),
            ArtifactContent::File(path) => (Self::File(path), Vec::new()),
            ArtifactContent::Unwanted(path) => (Self::Unwanted(path), Vec::new()),
            log @ ArtifactContent::Log { .. } => {
                let bytes = log.take(u64::MAX).ok()??;
                (Self::Bytes(bytes.len() as u64), bytes)
            }
        })
    }

    /// How many bytes are behind the line.
    pub const fn length(&self) -> u64 {
        match self {
            Self::Bytes(length) | Self::Shared(length) => *length,
            Self::File(_) | Self::Unwanted(_) => 0,
        }
    }

    /// The content, with the bytes that were behind the line.
    pub fn content(&self, bytes: Vec<u8>) -> ArtifactContent {
        match self {
            Self::Bytes(_) => ArtifactContent::Bytes(bytes),
            Self::Shared(_) => ArtifactContent::Shared(bytes),
            Self::File(path) => ArtifactContent::File(path.clone()),
            Self::Unwanted(path) => ArtifactContent::Unwanted(path.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_over_the_daemons_socket_is_read_and_written_as_it_always_was() {
        for line in [
            r#"{"event":{"event":"step_started","session":"s1","step":2}}"#,
            r#"{"file":{"session":"s1","step":2,"kind":"screenshot","name":"2.png","content":{"bytes":3}}}"#,
            r#"{"file":{"session":"s1","step":0,"kind":"screen_tree","name":"trees/ab.json","content":{"shared":600}}}"#,
            r#"{"file":{"session":"s1","step":0,"kind":"trace","name":"s1.zip","content":{"file":"/r/s1.zip"}}}"#,
            r#"{"file":{"session":"s1","step":0,"kind":"trace","name":"s1.zip","content":{"unwanted":"/r/s1.zip"}}}"#,
            r#"{"waits":"web/1: in use by s1 of run r"}"#,
            r#"{"ended":{"outcome":"failed","message":"no","failed_at":"a.trail.yaml:1:2"}}"#,
        ] {
            let read: Item<Box<RunEvent>, Place> = serde_json::from_str(line).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), line);
        }
    }
}
