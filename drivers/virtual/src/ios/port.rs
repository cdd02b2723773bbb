//! A TCP address that can refuse connections without losing its port.
//!
//! While nobody listens, the port is that of a connection of its own: this keeps the number from
//! others, and the system refuses who connects, as for a server that crashed. A socket that is only
//! bound would do on Linux; macOS drops what comes to it without a word (xnu, `tcp_input.c`: a
//! segment for a socket in `TCPS_CLOSED`).

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// How many connections may wait to be accepted.
const BACKLOG: u32 = 128;

/// An address, and whether it takes connections.
pub(super) enum ClosablePort {
    /// It does.
    Open(TcpListener),
    /// It refuses them.
    Closed {
        /// Keeps the port.
        _reserved: TcpStream,
        /// The other end.
        _peer: TcpListener,
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
    pub(super) async fn close(&mut self, address: SocketAddr) -> io::Result<()> {
        let peer = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let reserved = bound(address)?.connect(peer.local_addr()?).await?;
        *self = Self::Closed {
            _reserved: reserved,
            _peer: peer,
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
    use super::*;

    #[tokio::test]
    async fn a_closed_port_refuses_and_is_kept_by_a_connection() {
        let (mut port, address) = ClosablePort::open_anywhere().unwrap();
        let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
        for _ in 0..3 {
            TcpStream::connect(address).await.unwrap();
            port.close(address).await.unwrap();
            let connected = TcpStream::connect(address).await;
            assert!(connected.is_err_and(refused));
            let ClosablePort::Closed {
                _reserved: kept, ..
            } = &port
            else {
                panic!("it is open");
            };
            // What is not connected answers nobody on macOS.
            assert!(kept.peer_addr().is_ok());
            port.open(address).unwrap();
        }
    }
}
