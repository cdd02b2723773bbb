//! The run's folder: where events and files are kept.

use std::sync::Arc;

use packtrain_engine::{ArtifactContent, NewArtifact, Store};
use packtrain_model::{Artifact, ArtifactKind, Entry};
use packtrain_record::{ArtifactStore, JournalWriter};

/// Writes the journal and keeps the files.
pub struct Disk {
    journal: JournalWriter,
    artifacts: ArtifactStore,
}

impl Disk {
    /// A store that writes into the journal's folder.
    pub fn new(journal: JournalWriter) -> Self {
        Self {
            artifacts: journal.artifacts(),
            journal,
        }
    }
}

impl Store for Disk {
    fn append(&mut self, entries: &[Arc<Entry>]) -> Result<(), String> {
        self.journal
            .append(entries.iter().map(Arc::as_ref))
            .map_err(|error| in_one_line(&error))
    }

    fn save(&mut self, artifact: &NewArtifact) -> Result<Option<Artifact>, String> {
        let NewArtifact {
            session,
            step,
            kind,
            name,
            content,
        } = artifact;
        let saved = match content {
            ArtifactContent::Bytes(bytes) => {
                self.artifacts.save(session, *step, *kind, name, bytes)
            }
            ArtifactContent::Shared(bytes) => {
                let saved = self.artifacts.share(*kind, name, bytes);
                let saved = saved.map_err(|error| in_one_line(&error))?;
                // The event of the observation names the tree.
                return Ok((*kind != ArtifactKind::ScreenTree).then_some(saved));
            }
            ArtifactContent::Unwanted(path) => {
                return match std::fs::remove_file(path) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                        Err(in_one_line(&error))
                    }
                    _ => Ok(None),
                };
            }
            // A session that did not begin has no trace.
            ArtifactContent::File(path) if *kind == ArtifactKind::Trace && !path.exists() => {
                return Ok(None);
            }
            ArtifactContent::File(path) => self.artifacts.adopt(*kind, path),
            // Not every device has a log.
            ArtifactContent::Log { path, hide } if hide.is_empty() && path.exists() => {
                self.artifacts.take(session, *step, *kind, name, path)
            }
            log @ ArtifactContent::Log { .. } => match log.clone().take(u64::MAX)? {
                Some(log) => self.artifacts.save(session, *step, *kind, name, &log),
                None => return Ok(None),
            },
        };
        saved.map(Some).map_err(|error| in_one_line(&error))
    }
}

/// An error and what is behind it, in one line.
fn in_one_line(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}
