//! adb's wires: through the adb server, and directly to a device's adbd.
//!
//! Knows services and bytes; nothing of screens, apps or commands.

pub(crate) mod error;
pub(crate) mod key;
pub(crate) mod link;
mod outbox;
pub(crate) mod packet;
pub(crate) mod server;
pub(crate) mod shell;
mod socket;
pub(crate) mod stream;
pub(crate) mod sync;

pub use error::WireError;
pub(crate) use key::KeyRing;
pub(crate) use link::Link;
pub(crate) use server::Server;
pub use socket::DirectAddress;
pub(crate) use stream::{Stream, within};
