//! Bundles on a host: one folder for each content, shared by its runs and by the hosts of one user.
//! Blocking.
//!
//! Work in a bundle holds its lock, shared; removing one holds it exclusively. Locks are the
//! system's, so that those of a process that was killed are gone with it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::BUNDLE_BYTES;

/// What unfinished work of a process that was killed is called; old ones go.
const UNFINISHED: &str = ".new-";
/// How old it is then.
const UNFINISHED_AGE: Duration = Duration::from_secs(60 * 60);

/// How much of unused bundles is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheLimits {
    /// How many bundles.
    pub bundles: usize,
    /// Their size together, in bytes.
    pub bytes: u64,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self {
            bundles: 20,
            bytes: 16 * BUNDLE_BYTES,
        }
    }
}

/// A bundle's folder. It stays there while this lives.
#[derive(Debug)]
pub struct Bundle {
    path: PathBuf,
    _lock: File,
}

impl Bundle {
    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The bundles in one folder.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The bundles below a cache folder.
    pub(super) fn open(cache: &Path) -> io::Result<Self> {
        let folder = cache.join("bundles");
        create_private(&folder)?;
        Ok(Self { folder })
    }

    /// A bundle, if it is there and whole.
    pub(super) fn find(
        &self,
        digest: &str,
        is_whole: impl Fn(&Path) -> bool,
    ) -> io::Result<Option<Bundle>> {
        let _all = self.all()?;
        let bundle = self.enter(digest)?;
        if is_whole(&bundle.path) {
            return Ok(Some(bundle));
        }
        if bundle.path.exists() {
            // Those who work in it keep what they have open.
            let old = self.unfinished();
            fs::rename(&bundle.path, &old)?;
            remove(&old);
        }
        Ok(None)
    }

    /// Puts a finished folder in its place, unless another is there by now.
    pub(super) fn place(&self, digest: &str, made: &Path) -> io::Result<Bundle> {
        let _all = self.all()?;
        let bundle = self.enter(digest)?;
        if bundle.path.exists() {
            remove(made);
        } else {
            fs::rename(made, &bundle.path)?;
        }
        Ok(bundle)
    }

    /// A folder of a new name to make a bundle in.
    pub(super) fn unfinished(&self) -> PathBuf {
        let name = uuid::Uuid::new_v4().simple();
        self.folder.join(format!("{UNFINISHED}{name}"))
    }

    /// Removes the bundles that were used longest ago, as far as they are more than the limits.
    pub(super) fn trim(&self, limits: CacheLimits) -> io::Result<()> {
        let mut gone = Vec::new();
        {
            let _all = self.all()?;
            let mut bundles = self.bundles()?;
            bundles.sort_by_key(|(_, used)| std::cmp::Reverse(*used));
            let (mut count, mut bytes) = (0, 0);
            for (digest, _) in bundles {
                let path = self.folder.join(&digest);
                let size = size_of(&path);
                if count < limits.bundles && bytes + size <= limits.bytes {
                    count += 1;
                    bytes += size;
                    continue;
                }
                let lock = self.lock_file(&digest)?;
                match lock.try_lock() {
                    Ok(()) => {
                        let old = self.unfinished();
                        fs::rename(&path, &old)?;
                        fs::remove_file(self.lock_path(&digest))?;
                        gone.push(old);
                    }
                    // Somebody works in it.
                    Err(TryLockError::WouldBlock) => count += 1,
                    Err(TryLockError::Error(error)) => return Err(error),
                }
            }
        }
        for folder in gone {
            remove(&folder);
        }
        Ok(())
    }

    /// The bundles and when each was used last; what is left of killed processes is removed.
    fn bundles(&self) -> io::Result<Vec<(String, SystemTime)>> {
        let mut bundles = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !entry.file_type()?.is_dir() {
                continue;
            }
            if name.starts_with(UNFINISHED) {
                let age = entry.metadata()?.modified()?.elapsed().unwrap_or_default();
                if age > UNFINISHED_AGE {
                    remove(&entry.path());
                }
                continue;
            }
            let used = fs::metadata(self.lock_path(&name)).and_then(|lock| lock.modified());
            bundles.push((name, used.unwrap_or(SystemTime::UNIX_EPOCH)));
        }
        Ok(bundles)
    }

    /// Works in a bundle from now on, whether it is there or not.
    fn enter(&self, digest: &str) -> io::Result<Bundle> {
        let lock = self.lock_file(digest)?;
        lock.lock_shared()?;
        lock.set_modified(SystemTime::now())?;
        Ok(Bundle {
            path: self.folder.join(digest),
            _lock: lock,
        })
    }

    /// Held for moments only, so that a bundle's lock is never taken of a file that is being removed.
    fn all(&self) -> io::Result<File> {
        let lock = open_lock(&self.folder.join(".lock"))?;
        lock.lock()?;
        Ok(lock)
    }

    fn lock_file(&self, digest: &str) -> io::Result<File> {
        open_lock(&self.lock_path(digest))
    }

    fn lock_path(&self, digest: &str) -> PathBuf {
        self.folder.join(format!("{digest}.lock"))
    }
}

fn open_lock(path: &Path) -> io::Result<File> {
    File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path)
}

/// Makes a private folder: what projects hold belongs to their owners.
///
/// # Errors
/// What the system says.
pub fn create_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

fn size_of(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    let sizes = entries.filter_map(Result::ok).map(|entry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        match is_folder {
            true => size_of(&entry.path()),
            false => entry.metadata().map_or(0, |found| found.len()),
        }
    });
    sizes.sum()
}

/// What cannot be removed now is tried again when it is old.
fn remove(folder: &Path) {
    if let Err(error) = fs::remove_dir_all(folder) {
        tracing::debug!(%error, folder = %folder.display(), "an old bundle stays");
    }
}
