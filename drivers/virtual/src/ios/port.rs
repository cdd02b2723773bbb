//! A TCP address that can refuse connections without losing its port.
//!
//! While nobody listens, a socket is bound to the port and does not listen: it keeps the number
//! from others, and the kernel refuses who connects, as for a server that crashed.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::{TcpListener, TcpSocket};

/// How many connections may wait to be accepted.
const BACKLOG: u32 = 128;

/// An address, and whether it takes connections.
pub(super) enum ClosablePort {
    /// It does.
    Open(TcpListener),
    /// It refuses them.
    Closed {
        /// Keeps the port.
        _reserved: TcpSocket,
    },
}

impl ClosablePort {
    /// Takes connections at a free port of this machine.
    pub(super) fn open_anywhere() -> io::Result<(Self, SocketAddr)> {
        let listener = bound(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?.listen(BACKLOG)?;
        let address = listener.local_addr()?;
        Ok((Self::Open(listener), address))
    }

    /// Takes connections at `address` from now on, which was a port of this before.
    pub(super) fn open(&mut self, address: SocketAddr) -> io::Result<()> {
        // The new socket is bound before the old one goes, so that the port is never free.
        *self = Self::Open(bound(address)?.listen(BACKLOG)?);
        Ok(())
    }

    /// Refuses connections at `address` from now on, which was a port of this before.
    pub(super) fn close(&mut self, address: SocketAddr) -> io::Result<()> {
        *self = Self::Closed {
            _reserved: bound(address)?,
        };
        Ok(())
    }
}

fn bound(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseport(true)?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn a_closed_port_refuses_and_stays_taken() {
        let (mut port, address) = ClosablePort::open_anywhere().unwrap();
        let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
        for _ in 0..2 {
            TcpStream::connect(address).await.unwrap();
            port.close(address).unwrap();
            let connected = TcpStream::connect(address).await;
            assert!(connected.is_err_and(refused));
            port.open(address).unwrap();
        }
    }
}
