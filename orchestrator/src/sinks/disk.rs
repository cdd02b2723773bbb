//! The run's folder as a sink: events and files on disk first.

use packtrain_engine::{ArtifactContent, NewArtifact, Sink};
use packtrain_model::{Artifact, Entry};
use packtrain_record::{ArtifactStore, JournalWriter};

/// Writes the journal and keeps the files.
pub struct Disk {
    journal: JournalWriter,
    artifacts: ArtifactStore,
}

impl Disk {
    /// What the sink is called.
    pub const NAME: &'static str = "journal";

    /// A sink that writes into the journal's folder.
    pub fn new(journal: JournalWriter) -> Self {
        Self {
            artifacts: journal.artifacts(),
            journal,
        }
    }
}

impl Sink for Disk {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn on_event(&mut self, entry: &Entry) -> Result<(), String> {
        self.journal.append(entry).map_err(|error| told(&error))
    }

    fn save(&mut self, artifact: &NewArtifact) -> Option<Result<Artifact, String>> {
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
            ArtifactContent::File(path) => self.artifacts.adopt(*kind, path),
            // Not every device has a log.
            ArtifactContent::Log { path, .. } if !path.exists() => return None,
            ArtifactContent::Log { path, hide } if hide.is_empty() => {
                self.artifacts.take(session, *step, *kind, name, path)
            }
            ArtifactContent::Log { path, hide } => match std::fs::read(path) {
                Ok(bytes) => {
                    let log = hide.redact(&String::from_utf8_lossy(&bytes)).into_owned();
                    // The file as it was written goes in any case.
                    if let Err(error) = std::fs::remove_file(path) {
                        return Some(Err(error.to_string()));
                    }
                    self.artifacts
                        .save(session, *step, *kind, name, log.as_bytes())
                }
                Err(error) => return Some(Err(error.to_string())),
            },
        };
        Some(saved.map_err(|error| told(&error)))
    }
}

/// An error and what is behind it, in one line.
fn told(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}
