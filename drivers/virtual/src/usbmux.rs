//! A usbmuxd: the daemon on a host that knows which iPhones hang on its cables and turns a client's
//! socket into a connection to a port of one of them.
//!
//! Wire: <https://github.com/libimobiledevice/usbmuxd> (`src/usbmuxd-proto.h`, `src/client.c`), the
//! plist dialect that every client of the last ten years speaks. This module does not know what
//! runs on a device's ports; [`Attachable`] is all it sees of one.

mod connection;
pub(crate) mod faulty_stream;
pub(crate) mod frame;
mod hub;

use futures::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};

pub use self::hub::{DeviceId, Usbmuxd};

/// A connection of whatever kind: TCP, Unix socket, TLS over either.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A [`Stream`] in a box.
pub type BoxStream = Box<dyn Stream>;

/// What answers on a device's port: takes one connection and ends with it.
pub type Service = Box<dyn FnOnce(BoxStream) -> BoxFuture<'static, ()> + Send>;

/// A device's unique identifier, `00008110-000A1B2C3D4E801E`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Udid(pub String);

impl Udid {
    /// The identifier as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Udid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The identity of a host as its pair records carry it, a UUID.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemBuid(pub String);

/// A TCP port on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DevicePort(pub u16);

/// What stands at the far end of a cable.
pub trait Attachable: Send + Sync + 'static {
    /// The name clients know it by.
    fn udid(&self) -> &Udid;

    /// What answers on `port`; `None` when nothing listens there and the connection is refused.
    fn open(&self, port: DevicePort) -> BoxFuture<'_, Option<Service>>;
}
