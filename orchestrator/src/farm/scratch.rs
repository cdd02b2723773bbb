//! Where a host writes while it works: one folder for each run, gone with it. Blocking.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use packtrain_farm::bundle::create_private;
use packtrain_farm::wire::HostName;

use crate::exit::CliError;

/// The folder of one host. A second host of its name on this computer cannot have it.
#[derive(Debug)]
pub(crate) struct HostFolder {
    cache: PathBuf,
    runs: PathBuf,
    _lock: File,
}

/// The folder of one run on a host; removed when this is dropped.
#[derive(Debug)]
pub(crate) struct RunFolder(PathBuf);

impl HostFolder {
    /// Takes the folder of a host below a cache folder, and empties it of what an earlier one left.
    ///
    /// # Errors
    /// When a host of this name works on this computer, or the disk refuses.
    pub(crate) fn take(cache: &Path, name: &HostName) -> Result<Self, CliError> {
        let folder = cache.join("hosts").join(name.to_string());
        let unwritable = |error: io::Error| {
            let message = format!("cannot write {}", folder.display());
            CliError::infrastructure(message).because(&error)
        };
        create_private(&folder).map_err(unwritable)?;
        let lock = File::create(folder.join("lock")).map_err(unwritable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                let message = format!("a host named `{name}` is already running on this computer");
                return Err(CliError::misuse(message).hint("give this one another `--name`"));
            }
            Err(fs::TryLockError::Error(error)) => return Err(unwritable(error)),
        }
        let runs = folder.join("runs");
        match fs::remove_dir_all(&runs) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unwritable(error)),
            Ok(()) | Err(_) => {}
        }
        create_private(&runs).map_err(unwritable)?;
        Ok(Self {
            cache: cache.to_owned(),
            runs,
            _lock: lock,
        })
    }

    /// Where bundles are, which hosts of this computer share.
    pub(crate) fn cache(&self) -> &Path {
        &self.cache
    }

    /// A new folder for a run.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(crate) fn for_run(&self) -> Result<RunFolder, CliError> {
        let folder = self.runs.join(uuid::Uuid::new_v4().simple().to_string());
        create_private(&folder).map_err(|error| {
            CliError::infrastructure(format!("cannot write {}", folder.display())).because(&error)
        })?;
        Ok(RunFolder(folder))
    }
}

impl RunFolder {
    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::debug!(%error, "a run's folder stays until the host is started again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_one_computer_have_names_of_their_own() {
        let cache = tempfile::tempdir().unwrap();
        let (one, two) = ("mac-1".parse().unwrap(), "mac-2".parse().unwrap());
        let first = HostFolder::take(cache.path(), &one).unwrap();
        HostFolder::take(cache.path(), &two).unwrap();
        let refused = HostFolder::take(cache.path(), &one).unwrap_err();
        assert!(refused.explanation.message.contains("`mac-1`"));
        drop(first);
        HostFolder::take(cache.path(), &one).unwrap();
    }

    #[test]
    fn what_a_run_wrote_is_gone_with_it_and_with_the_next_host() {
        let cache = tempfile::tempdir().unwrap();
        let name = "mac-1".parse().unwrap();
        let host = HostFolder::take(cache.path(), &name).unwrap();
        let run = host.for_run().unwrap();
        let path = run.path().to_owned();
        fs::write(path.join("x"), "x").unwrap();
        drop(run);
        assert!(!path.exists());
        // One that was killed drops nothing.
        let killed = host.for_run().unwrap();
        let path = killed.path().to_owned();
        std::mem::forget(killed);
        drop(host);
        HostFolder::take(cache.path(), &name).unwrap();
        assert!(!path.exists());
    }
}
