//! The folder of a farm: its secret, its users, its server's files. For its owner's eyes only.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::error::ServerError;
use super::identity::Identity;
use super::role::Role;
use super::secret::Secret;
use super::tls::{self, Certificates};
use super::users::{User, Users};
use crate::bundle::create_private;
use crate::wire::HostName;

/// The folder of a farm.
#[derive(Debug, Clone)]
pub struct FarmFolder {
    path: PathBuf,
}

/// Held by who serves from a folder.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

impl FarmFolder {
    /// The folder, made when there is none.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn open(path: &Path) -> Result<Self, ServerError> {
        create_private_folder(path)?;
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the server's streams are.
    pub fn store(&self) -> PathBuf {
        self.path.join("data")
    }

    /// The server's configuration.
    pub fn config_file(&self) -> PathBuf {
        self.path.join("nats-server.conf")
    }

    /// What the server said, the latest last.
    pub fn log_file(&self) -> PathBuf {
        self.path.join("nats-server.log")
    }

    /// Where the certificates are.
    pub fn tls(&self) -> PathBuf {
        tls::folder(&self.path)
    }

    /// The pin of the farm's authority, once it has one.
    pub fn pin(&self) -> Option<String> {
        Certificates::pin_in(&self.tls())
    }

    /// Locks the folder, so that no other process serves from it.
    ///
    /// # Errors
    /// [`ServerError::InUse`].
    pub fn lock(&self) -> Result<FolderLock, ServerError> {
        let path = self.path.join("lock");
        let file = private().create(true).write(true).open(&path);
        let file = file.map_err(ServerError::file(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(FolderLock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(ServerError::InUse(self.path.clone())),
            Err(TryLockError::Error(error)) => Err(ServerError::file(&path)(error)),
        }
    }

    /// The farm's secret, made when there is none.
    ///
    /// # Errors
    /// When its file cannot be read or written, or holds something else.
    pub fn secret(&self) -> Result<Secret, ServerError> {
        let path = self.path.join("secret");
        if let Some(text) = read_if_there(&path)? {
            let unreadable = || ServerError::unreadable(&path, &"it holds no secret");
            return Secret::from_text(&text).ok_or_else(unreadable);
        }
        let secret = Secret::new()?;
        // If two processes make one at the same time, the first stays.
        let made = private().create_new(true).write(true).open(&path);
        match made.and_then(|mut file| file.write_all(secret.to_text().as_bytes())) {
            Ok(()) => Ok(secret),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => self.secret(),
            Err(error) => Err(ServerError::file(&path)(error)),
        }
    }

    /// The farm's users.
    ///
    /// # Errors
    /// When their file cannot be read, or is none.
    pub fn users(&self) -> Result<Users, ServerError> {
        let path = self.users_file();
        let Some(text) = read_if_there(&path)? else {
            return Ok(Users::default());
        };
        serde_json::from_str(&text).map_err(|error| ServerError::unreadable(&path, &error))
    }

    /// Keeps the farm's users.
    ///
    /// # Errors
    /// When their file cannot be written.
    pub fn save_users(&self, users: &Users) -> Result<(), ServerError> {
        let text = serde_json::to_string_pretty(users).unwrap_or_default();
        write_private(&self.users_file(), &text)
    }

    /// The identity of a user of this very computer, who becomes one when it is none.
    ///
    /// # Errors
    /// When files cannot be read or written.
    pub fn identity(&self, role: Role, name: &HostName) -> Result<Identity, ServerError> {
        let folder = self.path.join("keys");
        create_private_folder(&folder)?;
        let path = folder.join(format!("{role}_{name}"));
        let mut identity = Identity::new(role, name.clone())?;
        match read_if_there(&path)? {
            Some(seed) => seed.trim().clone_into(&mut identity.seed),
            None => write_private(&path, &identity.seed)?,
        }
        let key = identity.public_key()?;
        let mut users = self.users()?;
        if users.find(role, name).is_none_or(|user| user.key != key) {
            users.put(User {
                role,
                name: name.clone(),
                key,
                invitation: None,
            });
            self.save_users(&users)?;
        }
        Ok(identity)
    }

    fn users_file(&self) -> PathBuf {
        self.path.join("users.json")
    }
}

/// A folder that only its owner looks into.
pub(super) fn create_private_folder(path: &Path) -> Result<(), ServerError> {
    create_private(path).map_err(ServerError::file(path))?;
    let only_owner = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(path, only_owner).map_err(ServerError::file(path))
}

/// Writes a file that only its owner reads; readers see the old text or the new. Its folder
/// becomes its owner's alone.
///
/// # Errors
/// When it cannot be written.
pub fn write_private(path: &Path, text: &str) -> Result<(), ServerError> {
    if let Some(folder) = path.parent() {
        create_private_folder(folder)?;
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", uuid::Uuid::new_v4()));
    let fresh = PathBuf::from(name);
    let written = private()
        .create_new(true)
        .write(true)
        .open(&fresh)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| std::fs::rename(&fresh, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&fresh);
        ServerError::file(path)(error)
    })
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

fn read_if_there(path: &Path) -> Result<Option<String>, ServerError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ServerError::file(path)(error)),
    }
}
