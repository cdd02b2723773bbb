//! The run of a device that an agent holds: its folder, its store and its trail.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use packtrain_engine::{NewArtifact, Store};
use packtrain_model::trail::Trail;
use packtrain_model::{Artifact, Entry, RunId};
use packtrain_record::JournalWriter;

use packtrain_terminal::exit::CliError;
use packtrain_workplace::disk::Disk;

/// How many names are tried for a run.
const NAMES: u32 = 8;

/// Why a device goes back.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    /// It was given back, or cannot be had any more: the calls say how it went.
    Over,
    /// Its agent is gone, or has forgotten it.
    Abandoned,
}

/// A run that has a folder.
pub(crate) struct NewRun {
    pub(crate) run: RunId,
    pub(crate) writer: JournalWriter,
    pub(crate) unkept: RunDirGuard,
}

/// A folder that goes again when this is dropped, with what is in it.
pub(crate) struct RunDirGuard(Option<PathBuf>);

impl NewRun {
    /// Makes the folder.
    pub(crate) fn create(root: &Path) -> Result<Self, CliError> {
        let mut tries = 0;
        loop {
            let salt = uuid::Uuid::new_v4().as_fields().0;
            let run = RunId::new(chrono::Utc::now(), salt);
            match JournalWriter::create(root, &run) {
                Ok(writer) => {
                    let unkept = RunDirGuard(Some(writer.folder().to_owned()));
                    return Ok(Self {
                        run,
                        writer,
                        unkept,
                    });
                }
                // Of many in one second two may have one name.
                Err(_) if tries < NAMES => tries += 1,
                Err(error) => {
                    let refused = CliError::infrastructure("cannot write the run's journal");
                    return Err(refused.because(&error));
                }
            }
        }
    }
}

impl RunDirGuard {
    /// The folder stays.
    pub(crate) fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for RunDirGuard {
    fn drop(&mut self) {
        if let Some(folder) = &self.0 {
            // What cannot be removed is an empty run.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// The disk, and why it has not taken everything.
pub(crate) struct RecordingStore {
    pub(crate) disk: Disk,
    pub(crate) failure: Arc<OnceLock<String>>,
}

impl Store for RecordingStore {
    fn append(&mut self, entries: &[Arc<Entry>]) -> Result<(), String> {
        self.disk.append(entries).inspect_err(|failure| {
            // The first counts.
            let _ = self.failure.set(failure.clone());
        })
    }

    fn save(&mut self, artifact: &NewArtifact) -> Result<Option<Artifact>, String> {
        self.disk.save(artifact)
    }
}

/// The trail of a session that is driven by hand.
pub(crate) fn driven_by(holder: &str) -> Result<Trail, CliError> {
    let said = serde_json::json!({
        "config": { "id": "by-hand", "title": format!("Driven by {holder}") },
        "trail": [{ "step": format!("{holder} drives the device") }],
    });
    // JSON is YAML.
    let parsed = Trail::parse(&said.to_string(), "by-hand.trail.yaml");
    let parsed = parsed.map_err(|mistakes| CliError::files("no trail for an agent", mistakes))?;
    Ok(parsed.trail)
}
