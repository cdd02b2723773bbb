//! The files of a part, in the folder of the whole: linked where the disk can, copied elsewhere.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

use super::plan::PartRun;
use super::rename::{BY_CONTENT, Renaming};
use crate::{EVENTS_FILE, RecordError};

/// What is made anew, or is of no use without the program that wrote it.
const LEFT: [&str; 6] = [
    EVENTS_FILE,
    "report.html",
    "report.json",
    "junit.xml",
    "comparison.json",
    "logs",
];

/// Takes every file of a part in. Links are left out: they may lead anywhere.
pub(super) fn take_in(part: &PartRun, whole: &Path) -> Result<(), RecordError> {
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
                place(&entry.path(), &target, is_shared(&below))?;
            }
        }
    }
    Ok(())
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
