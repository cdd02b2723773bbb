//! Files as they are read from a run's folder, none that a link or a `..` leads to, and as they are replaced.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Bytes of a file.
const MOST: u64 = 256 * 1024 * 1024;

/// A file of the run. Paths come from the journal, which may come from anywhere.
pub(crate) fn file(folder: &Path, path: &str) -> Option<Vec<u8>> {
    let mut parts = Path::new(path).components();
    let inside = parts.all(|part| matches!(part, std::path::Component::Normal(_)));
    let read = inside.then(|| regular(folder, path));
    read.flatten().map(|(_, bytes)| bytes)
}

/// A file below the run's folder that is where its path says, so no link is on the way, and its content.
pub(crate) fn regular(folder: &Path, below: &str) -> Option<(PathBuf, Vec<u8>)> {
    let folder = fs::canonicalize(folder).ok()?;
    let path = fs::canonicalize(folder.join(below)).ok()?;
    if path.strip_prefix(&folder).ok()? != Path::new(below) {
        return None;
    }
    let bytes = whole(&path).ok().flatten()?;
    Some((path, bytes))
}

fn whole(path: &Path) -> io::Result<Option<Vec<u8>>> {
    // Opening a pipe would wait for somebody who writes.
    if !fs::symlink_metadata(path)?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= MOST).then_some(bytes))
}

/// Puts a file where one may be, as a whole or not at all.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}", std::process::id()));
    let written = fs::write(&beside, content).and_then(|()| fs::rename(&beside, path));
    // The first error is the one to report.
    written.inspect_err(|_| drop(fs::remove_file(&beside)))
}
