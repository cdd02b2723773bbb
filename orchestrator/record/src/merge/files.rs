//! The files of a part, in the folder of the whole: linked where the disk can, copied elsewhere.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::plan::PartRun;
use super::rename::{BY_CONTENT, Renaming};
use crate::{EVENTS_FILE, RecordError};

/// What is rebuilt, or is of no use without the program that wrote it.
const LEFT: [&str; 6] = [
    EVENTS_FILE,
    "report.html",
    "report.json",
    "junit.xml",
    "comparison.json",
    "logs",
];

/// Takes every file of a part in. Links are left out: they may lead anywhere. Answers the files that
/// are not what their name says; those are left out too.
pub(super) fn take_in(part: &PartRun, whole: &Path) -> Result<Vec<String>, RecordError> {
    let mut damaged = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let path = part.folder.join(&folder);
        let entries = fs::read_dir(&path).map_err(RecordError::disk("read", &path))?;
        for entry in entries {
            let entry = entry.map_err(RecordError::disk("read", &path))?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if folder.is_empty() && LEFT.contains(&name.as_str()) {
                continue;
            }
            let below = match folder.as_str() {
                "" => name,
                folder => format!("{folder}/{name}"),
            };
            let kind = entry
                .file_type()
                .map_err(RecordError::disk("read", &entry.path()))?;
            if kind.is_dir() {
                folders.push(below);
            } else if kind.is_file() {
                let target = whole.join(Renaming { part }.path(&below));
                let (from, is_shared) = (entry.path(), is_shared(&below));
                // One that is there already was what its name says.
                if !is_shared || target.exists() || is_named_by_content(&from)? {
                    place(&from, &target, is_shared)?;
                } else {
                    damaged.push(below);
                }
            }
        }
    }
    Ok(damaged)
}

/// Whether a file is called by the first 16 hex digits of its SHA-256.
fn is_named_by_content(path: &Path) -> Result<bool, RecordError> {
    let mut file = File::open(path).map_err(RecordError::disk("read", path))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => hash.update(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(RecordError::disk("read", path)(error)),
        }
    }
    let digest = hash.finalize();
    let digits = digest.iter().take(8).map(|byte| format!("{byte:02x}"));
    Ok(path.file_stem().and_then(OsStr::to_str) == Some(&digits.collect::<String>()))
}

fn is_shared(path: &str) -> bool {
    let folder = path.split_once('/').map_or("", |(folder, _)| folder);
    BY_CONTENT.contains(&folder)
}

pub(super) fn place(from: &Path, to: &Path, may_be_there: bool) -> Result<(), RecordError> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(RecordError::disk("create", folder))?;
    }
    match fs::hard_link(from, to) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists && may_be_there => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(RecordError::disk("create", to)(error))
        }
        // Another disk, or one that cannot link.
        Err(_) => copy(from, to),
    }
}

/// Copies into a new file: what is there may be a link to the file of a part.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), RecordError> {
    let mut content = File::open(from).map_err(RecordError::disk("read", from))?;
    let mut file = File::create_new(to).map_err(RecordError::disk("create", to))?;
    io::copy(&mut content, &mut file).map_err(RecordError::disk("write", to))?;
    Ok(())
}
