//! The users of a farm, as its folder keeps them.

use serde::{Deserialize, Serialize};

use super::role::{Permissions, Role};
use crate::wire::HostName;

/// A user of the farm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// What it is for.
    pub role: Role,
    /// Its name; no other of its role has it.
    pub name: HostName,
    /// Its public nkey.
    pub key: String,
    /// The invitation that let it in, when it joined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invitation: Option<String>,
}

impl User {
    /// What it may do.
    pub fn permissions(&self) -> Permissions {
        Permissions::of(self.role, &self.name)
    }
}

/// All users.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Users(pub Vec<User>);

impl Users {
    /// The user of that name.
    pub fn find(&self, role: Role, name: &HostName) -> Option<&User> {
        self.0
            .iter()
            .find(|user| user.role == role && user.name == *name)
    }

    /// The user that an invitation let in.
    pub fn invited_by(&self, invitation: &str) -> Option<&User> {
        self.0
            .iter()
            .find(|user| user.invitation.as_deref() == Some(invitation))
    }

    /// Adds a user, instead of the one of that name if there is one.
    pub fn put(&mut self, user: User) {
        self.0
            .retain(|other| other.role != user.role || other.name != user.name);
        self.0.push(user);
    }
}
