//! A run on disk: `<root>/<run id>/` with the journal `events.ndjson`, the files below
//! `artifacts/`, and `<root>/latest`, which leads to the newest run.
//!
//! Everything here blocks and is meant for a thread of its own. The crate knows files and events;
//! it knows nothing of reports, devices or how a run is carried out.

mod artifacts;
mod error;
mod line;
mod merge;
mod name;
mod reader;
pub mod recording;
mod runs;
mod writer;

pub use artifacts::ArtifactStore;
pub use error::RecordError;
pub use merge::{MergeError, Merged, merge};
pub use reader::{JournalReader, TornLine};
pub use runs::{ListedRun, RunState, RunSummary, find_run, list_runs, mark_latest};
pub use writer::JournalWriter;

/// The journal's name within a run's folder.
pub const EVENTS_FILE: &str = "events.ndjson";

/// The folder of saved files within a run's folder.
pub const ARTIFACTS_FOLDER: &str = "artifacts";

/// What leads to the newest run, within the root.
pub const LATEST: &str = "latest";

#[cfg(test)]
mod sample;
