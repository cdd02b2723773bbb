//! Who one is on the server: a role, a name, and the seed of an nkey.

use std::fmt;

use nkeys::KeyPair;
use serde::{Deserialize, Serialize};

use super::error::ServerError;
use super::role::{Role, inbox_prefix};
use crate::wire::HostName;

/// What the public keys of users start with.
pub const USER_PREFIX: char = 'U';

/// Who one is on the server. The seed never travels: the server is shown signatures.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// What the user is for.
    pub role: Role,
    /// Its name; a host's is the one its devices go by.
    pub name: HostName,
    /// The seed of its nkey.
    pub seed: String,
}

impl Identity {
    /// With a new key.
    ///
    /// # Errors
    /// When no key can be made.
    pub fn new(role: Role, name: HostName) -> Result<Self, ServerError> {
        let seed = KeyPair::new_user().seed().map_err(|error| failed(&error))?;
        Ok(Self { role, name, seed })
    }

    /// The public half of the key.
    ///
    /// # Errors
    /// When the seed is none.
    pub fn public_key(&self) -> Result<String, ServerError> {
        let pair = KeyPair::from_seed(&self.seed).map_err(|error| failed(&error))?;
        Ok(pair.public_key())
    }

    /// `host_mac-1`: what the user is called on the server.
    pub fn user(&self) -> String {
        format!("{}_{}", self.role, self.name)
    }

    /// The prefix of its replies, which no other user may read.
    pub fn inbox_prefix(&self) -> String {
        inbox_prefix(&self.user())
    }
}

fn failed(error: &nkeys::error::Error) -> ServerError {
    ServerError::keys("an nkey", error)
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({})", self.user())
    }
}
