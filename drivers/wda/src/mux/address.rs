//! Where a usbmuxd listens.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use tokio::net::{TcpStream, UnixStream};

use crate::stream::BoxStream;

/// Where a usbmuxd listens: a Unix socket, or TCP where it is forwarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MuxAddress {
    /// `127.0.0.1:27015`.
    Tcp(SocketAddr),
    /// `/var/run/usbmuxd`.
    Unix(PathBuf),
}

/// A text that is not an address of a usbmuxd.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the address of a usbmuxd: write 127.0.0.1:27015 or UNIX:/var/run/usbmuxd")]
pub struct MuxAddressError(String);

impl MuxAddress {
    /// Where usbmuxd listens on macOS and Linux.
    pub fn of_system() -> Self {
        Self::Unix(PathBuf::from("/var/run/usbmuxd"))
    }

    /// Whether something listens there.
    ///
    /// # Errors
    /// Those of connecting.
    pub async fn probe(&self) -> io::Result<()> {
        self.open().await.map(drop)
    }

    pub(crate) async fn open(&self) -> io::Result<BoxStream> {
        Ok(match self {
            Self::Tcp(address) => {
                let stream = TcpStream::connect(address).await?;
                // Small messages that wait for an answer.
                stream.set_nodelay(true)?;
                Box::new(stream)
            }
            Self::Unix(path) => Box::new(UnixStream::connect(path).await?),
        })
    }
}

/// The forms of `USBMUXD_SOCKET_ADDRESS`, as libusbmuxd and the programs around it read it.
impl FromStr for MuxAddress {
    type Err = MuxAddressError;

    fn from_str(text: &str) -> Result<Self, MuxAddressError> {
        let path = text.strip_prefix("UNIX:").unwrap_or(text);
        if path.starts_with('/') {
            return Ok(Self::Unix(PathBuf::from(path)));
        }
        let address = text.parse().map_err(|_| MuxAddressError(text.to_owned()))?;
        Ok(Self::Tcp(address))
    }
}

impl fmt::Display for MuxAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}
