//! Which files travel with a run: the project as git would see it, and whatever else its trails name.
//! Blocking: call it where that is fine.

mod error;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use packtrain_model::RunId;
use sha2::{Digest, Sha256};

pub use self::error::CollectError;
use self::walk::{is_trail, walk_all, walk_included, walk_project};
use super::blobs::{BlobStore, digest, hexadecimal, put_part};
use super::path::check_path;
use super::{BUNDLE_BYTES, BUNDLE_FILES, IN_FLIGHT, PART_BYTES};
use crate::wire::{Blob, BundledFile, Manifest, Protocol};

/// The folder of the project below the bundle's.
pub const PROJECT_FOLDER: &str = "project";
/// What lies outside of the project, in folders that are counted.
const OUTSIDE_FOLDER: &str = "outside";

/// What travels besides what is named.
#[derive(Debug, Clone, Default)]
pub struct CollectOptions {
    /// Whether the folder is a project, with a configuration: then all of it travels.
    pub is_project: bool,
    /// The configuration's file, when there is one.
    pub config: Option<PathBuf>,
    /// Files of the project that git ignores and that travel all the same, in the form of .gitignore:
    /// `farm.include`.
    pub include: Vec<String>,
    /// Folders of the project that do not travel, such as that of earlier runs.
    pub leave_out: Vec<PathBuf>,
    /// What the files may have together, in bytes; [`BUNDLE_BYTES`] when `None`.
    pub most_bytes: Option<u64>,
    /// How many there may be; [`BUNDLE_FILES`] when `None`.
    pub most_files: Option<usize>,
}

/// The files of a run, on the computer it was started on.
#[derive(Debug, Clone)]
pub struct Collected {
    /// Where each file is read, and what was in it.
    files: BTreeMap<String, (PathBuf, BundledFile)>,
    /// The places of files and folders that were named.
    named: BTreeMap<PathBuf, String>,
    root: PathBuf,
    /// The configuration's file, from the project's folder on.
    config: Option<String>,
}

/// Collects the files of a run: those of the folder `root`, the trails and what else is named.
///
/// # Errors
/// When a file cannot be read, leads out of the project, or they are too many or too large.
pub fn collect(
    root: &Path,
    trails: &[PathBuf],
    extra: &[PathBuf],
    options: &CollectOptions,
) -> Result<Collected, CollectError> {
    let root = canonical(root)?;
    let mut gathering = Gathering {
        found: BTreeMap::new(),
        named: BTreeMap::new(),
        folders: BTreeSet::new(),
        outside: Vec::new(),
        limit: options.most_files.unwrap_or(BUNDLE_FILES),
        root: root.clone(),
    };
    if options.is_project {
        let left_out: BTreeSet<_> = options
            .leave_out
            .iter()
            .filter_map(|folder| std::fs::canonicalize(folder).ok())
            .collect();
        for file in walk_project(&root, left_out)? {
            gathering.project_file(file)?;
        }
        for file in walk_included(&root, &options.include)? {
            gathering.project_file(file)?;
        }
    }
    for trail in trails {
        gathering.trail(trail)?;
    }
    for file in extra.iter().chain(&options.config) {
        gathering.named(file)?;
    }
    let config = options.config.as_deref().map(real).transpose()?;
    let config = config
        .as_deref()
        .and_then(|file| file.strip_prefix(&root).ok());
    let config = config.map(text).transpose()?;
    gathering.finish(config, options.most_bytes.unwrap_or(BUNDLE_BYTES))
}

/// A file that was found: its path below the project, and where it is read.
pub(in crate::bundle) struct Found {
    pub(in crate::bundle) path: PathBuf,
    pub(in crate::bundle) source: PathBuf,
}

struct Gathering {
    root: PathBuf,
    found: BTreeMap<String, PathBuf>,
    named: BTreeMap<PathBuf, String>,
    /// Folders of trails that were read.
    folders: BTreeSet<PathBuf>,
    /// Folders outside of the project, by number.
    outside: Vec<PathBuf>,
    limit: usize,
}

impl Gathering {
    fn project_file(&mut self, found: Found) -> Result<(), CollectError> {
        let place = format!("{PROJECT_FOLDER}/{}", text(&found.path)?);
        self.add(place, found.source)
    }

    /// A trail, and the trails beside it, which it may run.
    fn trail(&mut self, trail: &Path) -> Result<(), CollectError> {
        self.named(trail)?;
        let trail = real(trail)?;
        let Some(folder) = trail.parent() else {
            return Ok(());
        };
        if !self.folders.insert(folder.to_owned()) {
            return Ok(());
        }
        let unreadable = |error| CollectError::unreadable(folder, error);
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            // A link may lead anywhere, and it was not named.
            if is_trail(&path) && path.symlink_metadata().is_ok_and(|found| found.is_file()) {
                self.named(&path)?;
            }
        }
        Ok(())
    }

    /// A file, or a folder with all that is in it.
    fn named(&mut self, path: &Path) -> Result<(), CollectError> {
        let path = real(path)?;
        if self.named.contains_key(&path) {
            return Ok(());
        }
        let place = self.place(&path)?;
        if path.is_dir() {
            for found in walk_all(&path)? {
                self.add(format!("{place}/{}", text(&found.path)?), found.source)?;
            }
        } else {
            self.add(place.clone(), path.clone())?;
        }
        self.named.insert(path, place);
        Ok(())
    }

    /// Where something that was named lies in the bundle.
    fn place(&mut self, path: &Path) -> Result<String, CollectError> {
        if let Ok(below) = path.strip_prefix(&self.root) {
            return Ok(match text(below)?.as_str() {
                "" => PROJECT_FOLDER.to_owned(),
                below => format!("{PROJECT_FOLDER}/{below}"),
            });
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(CollectError::Unnameable(path.to_owned()));
        };
        let known = self.outside.iter().position(|known| known == folder);
        let number = known.unwrap_or_else(|| {
            self.outside.push(folder.to_owned());
            self.outside.len() - 1
        });
        Ok(format!(
            "{OUTSIDE_FOLDER}/{number}/{}",
            text(Path::new(name))?
        ))
    }

    fn add(&mut self, place: String, source: PathBuf) -> Result<(), CollectError> {
        check_path(&place).map_err(|_| CollectError::Unnameable(source.clone()))?;
        self.found.insert(place, source);
        Ok(())
    }

    fn finish(self, config: Option<String>, most_bytes: u64) -> Result<Collected, CollectError> {
        if self.found.len() > self.limit {
            return Err(CollectError::too_many(&self.found, self.limit));
        }
        let mut sizes = Vec::with_capacity(self.found.len());
        for (place, source) in &self.found {
            let size = std::fs::metadata(source)
                .map_err(|error| CollectError::unreadable(source, error))?
                .len();
            sizes.push((place.as_str(), size));
        }
        if sizes.iter().map(|(_, size)| size).sum::<u64>() > most_bytes {
            return Err(CollectError::too_large(sizes, most_bytes));
        }
        let mut files = BTreeMap::new();
        for (place, source) in self.found {
            let file = describe(&source)?;
            files.insert(place, (source, file));
        }
        Ok(Collected {
            files,
            named: self.named,
            root: self.root,
            config,
        })
    }
}

/// What is in a file, part by part.
fn describe(source: &Path) -> Result<BundledFile, CollectError> {
    use std::os::unix::fs::PermissionsExt;
    let unreadable = |error| CollectError::unreadable(source, error);
    let mut file = File::open(source).map_err(unreadable)?;
    let mode = file.metadata().map_err(unreadable)?.permissions().mode();
    let mut whole = Sha256::new();
    let (mut bytes, mut parts) = (0, Vec::new());
    loop {
        let mut part = Vec::new();
        let limit = PART_BYTES as u64;
        let read = (&mut file).take(limit).read_to_end(&mut part);
        match read.map_err(unreadable)? {
            0 => break,
            read => bytes += read as u64,
        }
        whole.update(&part);
        parts.push(digest(&part));
    }
    if parts.len() == 1 {
        parts.clear();
    }
    Ok(BundledFile {
        content: Blob {
            digest: hexadecimal(&whole.finalize()),
            bytes,
            parts,
        },
        executable: mode & 0o111 != 0,
    })
}

impl Collected {
    /// What is sent to hosts about the files.
    pub fn manifest(&self, run: RunId, sources: bool, secrets: Vec<String>) -> Manifest {
        let files = self.files.iter();
        Manifest {
            run,
            protocol: Protocol::CURRENT,
            files: files
                .map(|(place, (_, file))| (place.clone(), file.clone()))
                .collect(),
            root: PROJECT_FOLDER.to_owned(),
            config: self.config.clone(),
            sources,
            secrets,
            resume: None,
        }
    }

    /// Where the file is read that lies there in the bundle.
    pub(crate) fn source(&self, place: &str) -> Option<&Path> {
        self.files.get(place).map(|(source, _)| source.as_path())
    }

    /// Where a file of this computer lies in the bundle: its path with `/`. `None` when it does not
    /// travel.
    pub fn map(&self, path: &Path) -> Option<String> {
        let path = real(path).ok()?;
        if let Some(place) = self.named.get(&path) {
            return Some(place.clone());
        }
        let below = path.strip_prefix(&self.root).ok()?;
        let place = format!("{PROJECT_FOLDER}/{}", text(below).ok()?);
        let is_folder = || {
            let inside = format!("{place}/");
            let mut after = self.files.range(inside.clone()..);
            after
                .next()
                .is_some_and(|(next, _)| next.starts_with(&inside))
        };
        (self.files.contains_key(&place) || is_folder()).then_some(place)
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Stores what the store does not have.
    ///
    /// # Errors
    /// When the store does not take it, or a file has changed since it was collected.
    pub async fn upload(&self, store: &dyn BlobStore) -> Result<(), CollectError> {
        let mut known = BTreeSet::new();
        let mut parts = Vec::new();
        for (source, file) in self.files.values() {
            for (index, part) in file.content.part_digests().enumerate() {
                if known.insert(part) {
                    parts.push((source, index, part));
                }
            }
        }
        let stored = parts.into_iter().map(|(source, index, part)| {
            let content = read_part(source.clone(), index, part.to_owned());
            put_part(store, part, content)
        });
        futures::stream::iter(stored)
            .buffer_unordered(IN_FLIGHT)
            .try_collect()
            .await
    }
}

async fn read_part(source: PathBuf, index: usize, part: String) -> Result<Bytes, CollectError> {
    let reading = tokio::task::spawn_blocking(move || {
        let unreadable = |error| CollectError::unreadable(&source, error);
        let mut file = File::open(&source).map_err(unreadable)?;
        let start = SeekFrom::Start((index * PART_BYTES) as u64);
        file.seek(start).map_err(unreadable)?;
        let mut content = Vec::new();
        let read = file.take(PART_BYTES as u64).read_to_end(&mut content);
        read.map_err(unreadable)?;
        if digest(&content) != part {
            return Err(CollectError::Changed(source));
        }
        Ok(Bytes::from(content))
    });
    reading.await.map_err(|_| CollectError::Interrupted)?
}

fn canonical(path: &Path) -> Result<PathBuf, CollectError> {
    std::fs::canonicalize(path).map_err(|error| CollectError::unreadable(path, error))
}

/// The one name of a file by the folder it is in. A link that somebody names stands for what it leads
/// to, under its own name.
fn real(path: &Path) -> Result<PathBuf, CollectError> {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => {
            let folder = match folder.as_os_str().is_empty() {
                true => Path::new("."),
                false => folder,
            };
            let path = canonical(folder)?.join(name);
            // So that what is missing is reported under its name.
            std::fs::metadata(&path).map_err(|error| CollectError::unreadable(&path, error))?;
            Ok(path)
        }
        _ => canonical(path),
    }
}

/// A relative path with `/`.
fn text(path: &Path) -> Result<String, CollectError> {
    let names = path
        .components()
        .map(|part| part.as_os_str().to_str())
        .collect::<Option<Vec<_>>>();
    names
        .map(|names| names.join("/"))
        .ok_or_else(|| CollectError::Unnameable(path.to_owned()))
}
