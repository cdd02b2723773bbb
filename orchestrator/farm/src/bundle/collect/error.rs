//! Why a run's files could not be collected, and what to do about it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::super::blobs::BlobError;

/// How many files or folders a message names.
const NAMED: usize = 5;

/// Why the files of a run could not be collected or stored.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// A file cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file's name is none that every host could have.
    #[error("{0:?} has a name that other computers may not support")]
    Unnameable(PathBuf),
    /// A symbolic link leads out of the project.
    #[error("the link {link} points outside the project, to {target}")]
    LeadsOut {
        /// The link.
        link: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// A pattern of `farm.include` is none.
    #[error("`farm.include` has {0}")]
    Pattern(String),
    /// All files together are too large.
    #[error(
        "the project has {}, and at most {} can be sent to hosts; its largest files are {}",
        megabytes(*bytes), megabytes(*limit), shown(largest, |bytes| megabytes(*bytes))
    )]
    TooLarge {
        /// How large they are, in bytes.
        bytes: u64,
        /// How large they may be.
        limit: u64,
        /// The largest of them.
        largest: Vec<(String, u64)>,
    },
    /// There are too many files.
    #[error(
        "the project has {files} files, and at most {limit} can be sent to hosts; most are in {}",
        shown(largest, |files| format!("{files} files"))
    )]
    TooMany {
        /// How many there are.
        files: usize,
        /// How many there may be.
        limit: usize,
        /// The folders with most of them.
        largest: Vec<(String, usize)>,
    },
    /// A file changed between the two times it was read.
    #[error("{0} changed while it was sent")]
    Changed(PathBuf),
    /// The program is about to end.
    #[error("reading was interrupted")]
    Interrupted,
    /// The farm does not take a file.
    #[error(transparent)]
    Blob(#[from] BlobError),
}

impl CollectError {
    pub(super) fn unreadable(path: &Path, source: io::Error) -> Self {
        Self::Unreadable {
            path: path.to_owned(),
            source,
        }
    }

    pub(super) fn too_large(sizes: Vec<(&str, u64)>, limit: u64) -> Self {
        let bytes = sizes.iter().map(|(_, size)| size).sum();
        let sizes = sizes
            .into_iter()
            .map(|(place, size)| (without_folder(place), size));
        Self::TooLarge {
            bytes,
            limit,
            largest: largest(sizes.collect()),
        }
    }

    pub(super) fn too_many(found: &BTreeMap<String, PathBuf>, limit: usize) -> Self {
        let mut folders: BTreeMap<String, usize> = BTreeMap::new();
        for place in found.keys() {
            let place = without_folder(place);
            let folder = place.rsplit_once('/').map_or(".", |(folder, _)| folder);
            *folders.entry(folder.to_owned()).or_default() += 1;
        }
        Self::TooMany {
            files: found.len(),
            limit,
            largest: largest(folders.into_iter().collect()),
        }
    }

    /// What to do about it.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::TooLarge { .. } | Self::TooMany { .. } => Some(
                "files in .gitignore are not sent; `farm.include` in packtrain.yaml lists \
                 exceptions",
            ),
            Self::LeadsOut { .. } => Some(
                "replace it with a copy of the file, or list the link in .gitignore if no trail \
                 needs it",
            ),
            Self::Unnameable(_) => Some("rename it, or list it in .gitignore"),
            Self::Pattern(_) => Some("patterns are written as in .gitignore"),
            Self::Changed(_) => Some("run again"),
            Self::Unreadable { .. } | Self::Interrupted | Self::Blob(_) => None,
        }
    }
}

/// A place as the project's owner knows it.
fn without_folder(place: &str) -> String {
    let project = place.strip_prefix(super::PROJECT_FOLDER);
    let below = project.and_then(|rest| rest.strip_prefix('/'));
    below.unwrap_or(place).to_owned()
}

fn largest<N: Ord + Copy>(mut all: Vec<(String, N)>) -> Vec<(String, N)> {
    all.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    all.truncate(NAMED);
    all
}

fn shown<N>(all: &[(String, N)], size: impl Fn(&N) -> String) -> String {
    let all = all
        .iter()
        .map(|(name, of)| format!("{name} ({})", size(of)));
    all.collect::<Vec<_>>().join(", ")
}

fn megabytes(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "it is shown with one digit")]
    let megabytes = bytes as f64 / (1024.0 * 1024.0);
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KB", bytes / 1024),
        _ => format!("{megabytes:.1} MB"),
    }
}
