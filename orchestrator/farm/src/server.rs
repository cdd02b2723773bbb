//! The nats-server below a farm: found, configured, started, and who may do what on it.
//!
//! Knows nothing of runs, devices or the command line. Reads no environment: the caller says where
//! to look.

mod access;
mod checkup;
mod config;
mod embedded;
mod error;
mod find;
mod folder;
mod identity;
mod install;
mod join;
mod log;
mod role;
mod secret;
pub(crate) mod tls;
mod token;
mod users;
mod version;

pub use access::Access;
pub use checkup::{CheckUp, StreamFound, StreamState, check_up, replicas};
pub use config::{Cluster, ServerConfig, TlsFiles};
pub use embedded::{Embedded, Listen};
pub use error::ServerError;
pub use find::{NatsServer, Places, find, version_of};
pub use folder::{FarmFolder, FolderLock, write_private};
pub use identity::{Identity, USER_PREFIX};
pub use install::{NATS_SERVER_BIN, install, installed};
pub use join::{Answer, JoinError, JoinRequests, Refusal, join, let_in};
pub use role::{Permissions, Role, inbox_prefix};
pub use secret::Secret;
pub use tls::{Certificates, fingerprint};
pub use token::Invitation;
pub use users::{User, Users};
pub use version::{OLDEST, Version};

#[cfg(test)]
pub(crate) mod tests;
