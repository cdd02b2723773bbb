//! Where a user's daemon is: a folder that nobody else may enter, with its socket, what it says about
//! itself, and the lock that makes it the only one.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use packtrain_door::door::Tokens;
use packtrain_terminal::exit::CliError;

/// Where logind gives each user a folder for sockets, named by the user's number. There is none elsewhere.
const RUNTIME_FOLDERS: &str = "/run/user";

/// Bytes of a path that a unix socket can have, everywhere.
const SOCKET_PATH: usize = 103;

/// Hexadecimal digits of a secret.
const SECRET_DIGITS: usize = 64;

/// The folder of a user's daemon.
#[derive(Debug, Clone)]
pub struct Place {
    folder: PathBuf,
}

/// What a daemon says about itself, for this user only.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DaemonState {
    /// The program's version.
    pub version: String,
    /// Which build of it; none of one that could not tell builds apart.
    #[serde(default)]
    pub build: String,
    /// Its process.
    pub pid: u32,
    /// Where agents reach it over HTTP: `http://127.0.0.1:40123/mcp`.
    pub url: String,
    /// What they have to show there.
    pub token: String,
    /// Where this user's commands reach it.
    pub socket: PathBuf,
    /// Where it and its tool sources look for programs: the `PATH` of the process that started it.
    #[serde(default)]
    pub search_path: String,
}

impl Place {
    /// The folder of this user: below `XDG_RUNTIME_DIR`, or else where that is on Linux, or else where
    /// state is kept.
    ///
    /// # Errors
    /// When there is none, others may enter it, or its path is too long for a socket.
    pub fn of_user() -> Result<Self, CliError> {
        let given = std::env::var_os("XDG_RUNTIME_DIR").filter(|path| !path.is_empty());
        let folder = runtime_folder(given.map(PathBuf::from), Path::new(RUNTIME_FOLDERS));
        let folder = folder.map(|path| path.join("packtrain"));
        let folder = folder.or_else(|| Some(packtrain_wiring::state_folder()?.join("daemon")));
        let folder = folder.ok_or_else(|| {
            CliError::infrastructure("no folder for the daemon's socket")
                .hint("set XDG_RUNTIME_DIR or HOME")
        })?;
        let place = Self { folder };
        if place.socket().as_os_str().len() > SOCKET_PATH {
            let path = place.socket().display().to_string();
            return Err(
                CliError::infrastructure(format!("{path} is too long for a unix socket"))
                    .hint("set XDG_RUNTIME_DIR to a folder with a short path"),
            );
        }
        Ok(place)
    }

    /// Makes the folder, for this user only.
    ///
    /// # Errors
    /// When the system refuses, or it is somebody else's.
    pub fn prepare(&self) -> Result<(), CliError> {
        let made = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder);
        made.map_err(|error| self.refused(&error))?;
        self.check()
    }

    /// Whether nobody else can have put anything there.
    fn check(&self) -> Result<(), CliError> {
        let found = std::fs::symlink_metadata(&self.folder);
        let found = found.map_err(|error| self.refused(&error))?;
        if is_own_folder(&found) && found.mode() & 0o077 == 0 {
            return Ok(());
        }
        let path = self.folder.display();
        Err(
            CliError::infrastructure(format!("{path} is not a folder private to you")).hint(
                format!("it gives programs control of your devices: run `chmod 700 {path}`"),
            ),
        )
    }

    fn refused(&self, error: &io::Error) -> CliError {
        let path = self.folder.display();
        CliError::infrastructure(format!("cannot use {path}")).because(error)
    }

    /// Where this user's commands reach it.
    pub fn socket(&self) -> PathBuf {
        self.folder.join("daemon.sock")
    }

    /// Where it writes what goes wrong.
    pub fn log(&self) -> PathBuf {
        self.folder.join("daemon.log")
    }

    fn state_file(&self) -> PathBuf {
        self.folder.join("daemon.json")
    }

    /// The right to be the daemon, as long as the file is open; `None` when another one has it.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn lock(&self) -> Result<Option<File>, CliError> {
        let mut how = private();
        how.write(true).create(true).truncate(false);
        let file = how.open(self.folder.join("daemon.lock"));
        let file = file.map_err(|error| self.refused(&error))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(error)) => Err(self.refused(&error)),
        }
    }

    /// Says where the daemon is.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn announce(&self, state: &DaemonState) -> io::Result<()> {
        let new = self.folder.join("daemon.json.new");
        let _ = std::fs::remove_file(&new);
        let mut file = private().write(true).create_new(true).open(&new)?;
        file.write_all(&serde_json::to_vec(state)?)?;
        std::fs::rename(new, self.state_file())
    }

    /// What the daemon says about itself; `None` when there is none, or nobody can read it.
    pub fn state(&self) -> Option<DaemonState> {
        self.check().ok()?;
        let text = std::fs::read(self.state_file()).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Takes away what this process has announced.
    pub fn clear_own(&self) {
        let state = self.state();
        if state.is_some_and(|state| state.pid == std::process::id()) {
            self.clear();
        }
    }

    /// Removes the announcement of any process: the lock's holder may.
    pub fn clear(&self) {
        for path in [self.state_file(), self.socket()] {
            // It may be gone.
            let _ = std::fs::remove_file(path);
        }
    }

    /// What tokens of agents are made of. It outlives the daemon, so that what agents were given stays
    /// good.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn secret(&self) -> io::Result<Tokens> {
        let folder = packtrain_wiring::state_folder().unwrap_or_else(|| self.folder.clone());
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)?;
        let path = folder.join("agents.secret");
        if let Some(known) = secret_of(&path)? {
            return Ok(Tokens::of_secret(known));
        }
        let tokens = Tokens::generate()?;
        let new = folder.join(format!("agents.secret.{}", std::process::id()));
        let _ = std::fs::remove_file(&new);
        let mut file = private().write(true).create_new(true).open(&new)?;
        file.write_all(tokens.owner().as_bytes())?;
        // Of two at the same moment, the first wins.
        let linked = std::fs::hard_link(&new, &path);
        let _ = std::fs::remove_file(&new);
        match linked {
            Ok(()) => Ok(tokens),
            Err(error) => match secret_of(&path)? {
                Some(known) => Ok(Tokens::of_secret(known)),
                None => Err(error),
            },
        }
    }

    /// Whether what was announced is still there, as far as can be found out: with too many files open
    /// nothing can be read.
    pub fn is_announced(&self) -> bool {
        let own = u64::from(std::process::id());
        let is_own = match std::fs::read(self.state_file()) {
            Ok(text) => serde_json::from_slice::<serde_json::Value>(&text)
                .is_ok_and(|state| state["pid"] == own),
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        };
        is_own && self.socket().try_exists().unwrap_or(true)
    }

    /// Whether a daemon has not announced itself yet, or no longer does.
    pub fn is_taken(&self) -> bool {
        self.state().is_none() && matches!(self.lock(), Ok(None))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The user's folder for sockets. A shell without a session, as that of cron or sudo, has the one that the
/// user's sessions are given.
fn runtime_folder(given: Option<PathBuf>, of_users: &Path) -> Option<PathBuf> {
    if let Some(given) = given {
        return Some(given).filter(|path| path.is_absolute() && path.is_dir());
    }
    let folder = of_users.join(nix::unistd::geteuid().to_string());
    let found = std::fs::symlink_metadata(&folder).ok()?;
    is_own_folder(&found).then_some(folder)
}

fn is_own_folder(found: &Metadata) -> bool {
    found.is_dir() && found.uid() == nix::unistd::geteuid().as_raw()
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// The secret in a file; `None` when there is none that only its owner can read.
fn secret_of(path: &Path) -> io::Result<Option<String>> {
    let about = match std::fs::symlink_metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let is_own = about.is_file() && about.uid() == nix::unistd::geteuid().as_raw();
    let text = std::fs::read_to_string(path)?;
    if is_own && about.mode() & 0o077 == 0 && text.len() == SECRET_DIGITS {
        return Ok(Some(text));
    }
    // What others could have read, or was cut off, is not a secret.
    std::fs::remove_file(path)?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_without_a_session_finds_the_folder_that_sessions_have() {
        let users = tempfile::tempdir().unwrap();
        let own = users.path().join(nix::unistd::geteuid().to_string());
        let found = || runtime_folder(None, users.path());
        assert_eq!(found(), None);
        std::fs::create_dir(&own).unwrap();
        assert_eq!(found().as_ref(), Some(&own));
        // What is given counts, and what is given in vain is not a reason to look elsewhere.
        let given = |path: &str| runtime_folder(Some(path.into()), users.path());
        assert_eq!(given("/tmp"), Some("/tmp".into()));
        for wrong in ["tmp", "/tmp/is/not/there"] {
            assert_eq!(given(wrong), None, "{wrong}");
        }
        // Only root can give it away.
        if std::os::unix::fs::chown(&own, Some(65_534), None).is_ok() {
            assert_eq!(found(), None, "it is somebody else's");
        }
        std::fs::remove_dir(&own).unwrap();
        std::os::unix::fs::symlink(users.path(), &own).unwrap();
        assert_eq!(found(), None, "it leads elsewhere");
    }
}
