//! The socket to an adbd that is reached without a server.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use bytes::BytesMut;
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

use super::error::WireError;

/// Where an adbd listens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DirectAddress {
    /// A TCP port: what `adb tcpip 5555` opens, and emulators and virtual devices have.
    Tcp(SocketAddr),
    /// A Unix socket: virtual devices on this computer.
    Unix(PathBuf),
}

/// A connected socket that is read and written through a shared reference.
#[derive(Debug)]
pub(super) enum Socket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl std::fmt::Display for DirectAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

impl Socket {
    pub(super) async fn connect(address: &DirectAddress) -> Result<Self, WireError> {
        let connected = match address {
            DirectAddress::Tcp(address) => TcpStream::connect(address).await.map(|socket| {
                // Packets are small and answered one by one.
                let _ = socket.set_nodelay(true);
                Self::Tcp(socket)
            }),
            #[cfg(unix)]
            DirectAddress::Unix(path) => UnixStream::connect(path).await.map(Self::Unix),
            #[cfg(not(unix))]
            DirectAddress::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
        };
        connected.map_err(|error| WireError::Unreachable {
            address: address.to_string(),
            reason: error.to_string(),
        })
    }

    /// Reads what is there, waiting for the first byte; 0 at the end.
    pub(super) async fn read(&self, into: &mut BytesMut) -> io::Result<usize> {
        loop {
            let read = match self {
                Self::Tcp(socket) => {
                    socket.readable().await?;
                    socket.try_read_buf(into)
                }
                #[cfg(unix)]
                Self::Unix(socket) => {
                    socket.readable().await?;
                    socket.try_read_buf(into)
                }
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }

    /// Writes what fits now; 0 when nothing does.
    pub(super) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        let written = match self {
            Self::Tcp(socket) => socket.try_write(bytes),
            #[cfg(unix)]
            Self::Unix(socket) => socket.try_write(bytes),
        };
        match written {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            written => written,
        }
    }

    /// Writes what fits now of one after the other.
    pub(super) fn try_write_both(&self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        let both = [io::IoSlice::new(first), io::IoSlice::new(second)];
        let written = match self {
            Self::Tcp(socket) => socket.try_write_vectored(&both),
            #[cfg(unix)]
            Self::Unix(socket) => socket.try_write_vectored(&both),
        };
        match written {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            written => written,
        }
    }

    /// Waits until something fits.
    pub(super) async fn writable(&self) -> io::Result<()> {
        match self {
            Self::Tcp(socket) => socket.writable().await,
            #[cfg(unix)]
            Self::Unix(socket) => socket.writable().await,
        }
    }
}
