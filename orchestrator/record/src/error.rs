//! What can go wrong with a run on disk. Nothing here is worth trying again by itself: the disk
//! is the user's, a damaged journal stays damaged.

use std::io;
use std::path::{Path, PathBuf};

/// Why a run could not be written, found or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The disk said no.
    #[error("{doing} {}", path.display())]
    Disk {
        /// What was being done: `write`, `create` ...
        doing: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A file system that promises nothing for the case of a power cut.
    #[error(
        "sync {}: its file system refuses fsync; `run.outputDir` chooses a folder on another one",
        path.display()
    )]
    NoSync {
        /// Which file or folder is there.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A run id that cannot be a folder's name.
    #[error("use `{0}` as a folder name: a run id is letters, digits, `-`, `_` and `.`")]
    RunName(String),
    /// An event that cannot be written as JSON.
    #[error("encode event {seq}")]
    Encode {
        /// Its number.
        seq: u64,
        /// What the encoder said.
        #[source]
        source: serde_json::Error,
    },
    /// A file that does not begin as a journal does.
    #[error("read {}: its first event is not the start of a run", .0.display())]
    NotAJournal(PathBuf),
    /// A journal of a later version.
    #[error(
        "read {}: it has schema version {found}, this packtrain knows up to {known}; \
         use the packtrain that wrote it, or a newer one",
        file.display()
    )]
    NewerSchema {
        /// The journal.
        file: PathBuf,
        /// Its version.
        found: u32,
        /// The newest known here.
        known: u32,
    },
    /// A line that is not an event.
    #[error("read {}:{line}", file.display())]
    Line {
        /// The journal.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A line longer than any event.
    #[error("read {}:{line}: the line is longer than {limit} bytes", file.display())]
    LineTooLong {
        /// The journal.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The cap.
        limit: u64,
    },
    /// Events are missing or out of order.
    #[error("read {}:{line}: expected event {expected}, found event {found}", file.display())]
    OutOfOrder {
        /// The journal.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The number that should follow.
        expected: u64,
        /// The number there.
        found: u64,
    },
    /// No run of that name.
    #[error("no run `{wanted}` in {}{}", root.display(), known_runs(newest))]
    NoSuchRun {
        /// Where it was looked for.
        root: PathBuf,
        /// What was asked for.
        wanted: String,
        /// The newest runs that are there.
        newest: Vec<String>,
    },
    /// A prefix of several runs.
    #[error("several runs begin with `{wanted}`: {}", candidates.join(", "))]
    AmbiguousRun {
        /// What was asked for.
        wanted: String,
        /// The runs it could be, newest first.
        candidates: Vec<String>,
    },
    /// Something to be moved in is a folder, a link or a device.
    #[error("move {}: it is not a regular file", .0.display())]
    NotAFile(PathBuf),
}

impl RecordError {
    pub(crate) fn disk<'a>(
        doing: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(io::Error) -> Self + use<'a> {
        move |source| Self::Disk {
            doing,
            path: path.to_path_buf(),
            source,
        }
    }

    pub(crate) fn sync<'a>(path: &'a Path) -> impl FnOnce(io::Error) -> Self + use<'a> {
        /// macOS' answer to `F_FULLFSYNC` where there is no such thing; the number is Linux' too.
        const ENOTTY: i32 = 25;
        const REFUSALS: [io::ErrorKind; 2] =
            [io::ErrorKind::InvalidInput, io::ErrorKind::Unsupported];
        move |source| {
            if !REFUSALS.contains(&source.kind()) && source.raw_os_error() != Some(ENOTTY) {
                return Self::disk("write", path)(source);
            }
            let path = path.to_path_buf();
            Self::NoSync { path, source }
        }
    }
}

fn known_runs(newest: &[String]) -> String {
    if newest.is_empty() {
        String::new()
    } else {
        format!("; the newest: {}", newest.join(", "))
    }
}
