//! Why devices could not be found.

use std::path::PathBuf;
use std::time::Duration;

use packtrain_drivers::local_network;

use crate::wire::WireError;

/// What went wrong with adb itself, not with one device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdbError {
    /// No server runs and there is no program to start one with.
    #[error("no adb server at {address}, and no `adb` program to start one")]
    NoProgram {
        /// Where a server was looked for.
        address: String,
    },
    /// The program does not do what it was asked.
    #[error("{path}: {reason}")]
    Program {
        /// Which.
        path: PathBuf,
        /// Its own words.
        reason: String,
    },
    /// A server from another decade.
    #[error("the adb server at {address} is too old: version {version}")]
    ServerTooOld {
        /// Where it runs.
        address: String,
        /// Its version.
        version: u32,
    },
    /// The server did not do what it was asked.
    #[error("{request}: {reason}")]
    Refused {
        /// What it was asked.
        request: String,
        /// Its words.
        reason: String,
    },
    /// The server did not answer.
    #[error("{request} took longer than {} s", after.as_secs())]
    Timeout {
        /// What it was asked.
        request: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// The way to the server, or to a device.
    #[error(transparent)]
    Wire(#[from] WireError),
}

impl AdbError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        self.hint_on(std::env::consts::OS)
    }

    fn hint_on(&self, system: &str) -> Option<&'static str> {
        match self {
            Self::NoProgram { .. } => Some(
                "install Android's platform-tools, or put `adb` on the search path; \
                 `packtrain doctor` shows where it looks",
            ),
            Self::Program { .. } => Some("run `adb start-server` by hand to see what it says"),
            Self::ServerTooOld { .. } => {
                Some("update Android's platform-tools, then `adb kill-server`")
            }
            // The server says it of a device on the network.
            Self::Refused { reason, .. } => local_network::hint(system, reason),
            Self::Timeout { .. } => None,
            Self::Wire(error) => error.hint_on(system),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_macos_may_keep_from_us_is_hinted_at_so() {
        let (address, reason) = ("10.0.0.7:5555".to_owned(), "No route to host".to_owned());
        let phone = WireError::Unreachable { address, reason };
        let (request, reason) = ("connect".to_owned(), phone.to_string());
        for error in [AdbError::Refused { request, reason }, phone.into()] {
            let hint = |system| error.hint_on(system).unwrap_or_default();
            assert!(hint("macos").contains("Local Network"), "{error}");
            assert!(!hint("linux").contains("Local Network"), "{error}");
        }
    }
}
