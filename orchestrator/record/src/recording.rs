//! Recordings back into trail files, safe against everybody who writes at the same time.
//!
//! The file itself is the lock. Since it is replaced by renaming, a waiter may then
//! hold the lock of a file that is gone, and starts over with the one that took its place.

#[cfg(test)]
mod tests;

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use packtrain_model::trail::{WriteError, write_recording};
use packtrain_model::yaml::MAX_BYTES;
use packtrain_model::{StepIndex, ToolCall, Trail};

/// What was recorded of one step.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedStep {
    /// The step.
    pub step: StepIndex,
    /// Its words when it was recorded; if the file now says something else, nothing is written.
    pub text: String,
    /// What was done; nothing means that nothing is to be done.
    pub calls: Vec<ToolCall>,
}

/// What became of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saved {
    /// It has the recordings now.
    Written,
    /// It had them already.
    Unchanged,
}

/// Why recordings were not saved; the file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file could not be read or replaced.
    #[error("failed to {doing} {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The trail cannot hold the recording.
    #[error("failed to write a recording into {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: WriteError,
    },
    /// The file was edited since the step was recorded.
    #[error("step {step} of {} is no longer the one that was recorded", path.display())]
    StepChanged {
        /// The file.
        path: PathBuf,
        /// The step.
        step: StepIndex,
    },
}

/// Writes the recordings of one device into a trail file: all of them or, on any error, none.
/// Recordings of other devices stay, those written meanwhile by others too.
///
/// Blocks while somebody else writes to the file.
pub fn save_recordings(
    path: &Path,
    classifier: &str,
    steps: &[RecordedStep],
) -> Result<Saved, RecordingError> {
    let failed = |doing: &'static str| {
        move |source: io::Error| RecordingError::Io {
            path: path.to_owned(),
            doing,
            source,
        }
    };
    // A link stays a link: the file behind it is replaced.
    let real = fs::canonicalize(path).map_err(failed("find"))?;
    let mut file = lock(&real).map_err(failed("lock"))?;
    let text = read(&mut file).map_err(failed("read"))?;
    let edited = merge(path, &text, classifier, steps)?;
    if edited == text {
        return Ok(Saved::Unchanged);
    }
    replace(&real, &file, &edited).map_err(failed("replace"))?;
    Ok(Saved::Written)
}

/// The file's text with the recordings in it.
fn merge(
    path: &Path,
    text: &str,
    classifier: &str,
    steps: &[RecordedStep],
) -> Result<String, RecordingError> {
    let refused = |source| RecordingError::Write {
        path: path.to_owned(),
        source,
    };
    let name = path.display().to_string();
    let trail = Trail::parse(text, &name)
        .map_err(|problems| refused(WriteError::NotATrail(problems)))?
        .trail;
    let mut edited = text.to_owned();
    for recorded in steps {
        if trail
            .step(recorded.step)
            .is_some_and(|now| now.text != recorded.text)
        {
            return Err(RecordingError::StepChanged {
                path: path.to_owned(),
                step: recorded.step,
            });
        }
        edited = write_recording(&edited, recorded.step, classifier, &recorded.calls)
            .map_err(refused)?;
    }
    Ok(edited)
}

/// The file, locked until it is dropped. Opened for writing, so that a file nobody shall write to
/// is refused although it would only be renamed over.
fn lock(path: &Path) -> io::Result<File> {
    loop {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        file.lock()?;
        if is_same(&file.metadata()?, &fs::metadata(path)?) {
            return Ok(file);
        }
    }
}

#[cfg(unix)]
fn is_same(held: &Metadata, found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    (held.dev(), held.ino()) == (found.dev(), found.ino())
}

/// Without a number for files, one that took another's place is known by its times.
#[cfg(not(unix))]
fn is_same(held: &Metadata, found: &Metadata) -> bool {
    held.len() == found.len()
        && held.modified().ok() == found.modified().ok()
        && held.created().ok() == found.created().ok()
}

/// A file longer than any trail is cut here and refused by the reader.
fn read(file: &mut File) -> io::Result<String> {
    let mut text = String::new();
    file.take(MAX_BYTES as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

/// Puts a new file in the place of the old one, in one step: a reader sees either. On disk before
/// this returns.
fn replace(path: &Path, old: &File, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let mut new = tempfile::Builder::new()
        .prefix(".packtrain-")
        .suffix(".tmp")
        .tempfile_in(folder)?;
    new.write_all(text.as_bytes())?;
    new.as_file()
        .set_permissions(old.metadata()?.permissions())?;
    new.as_file().sync_all()?;
    new.persist(path).map_err(|error| error.error)?;
    // The renaming is on disk when the folder is. Not every system lets a folder be synchronized;
    // the file is whole either way.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}
