//! The file that says how one reaches a farm: where it is, whom to trust there, and who one is.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::ServerError;
use super::folder::write_private;
use super::identity::Identity;
use crate::link::{Credentials, FarmAddress, Trust};

/// How one reaches a farm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The servers' URLs: `nats://…` or, encrypted, `tls://…`.
    pub servers: Vec<String>,
    /// Whose certificates are trusted.
    pub trust: Trust,
    /// Who one is.
    pub identity: Identity,
}

impl Access {
    /// Reads the file that [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// When it cannot be read, or is no such file.
    pub fn load(path: &Path) -> Result<Self, ServerError> {
        let text = std::fs::read_to_string(path).map_err(ServerError::file(path))?;
        serde_json::from_str(&text).map_err(|error| ServerError::unreadable(path, &error))
    }

    /// Writes it, for its owner's eyes only.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), ServerError> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        write_private(path, &text)
    }

    /// What one connects with.
    pub fn address(&self) -> FarmAddress {
        FarmAddress {
            servers: self.servers.clone(),
            credentials: Credentials::Nkey {
                seed: self.identity.seed.clone(),
                inbox: self.identity.inbox_prefix(),
            },
            trust: self.trust.clone(),
        }
    }
}
