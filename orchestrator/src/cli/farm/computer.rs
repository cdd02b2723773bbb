//! How other computers reach this one.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};

/// The address by which others reach this computer, as far as it can be known without asking anybody.
pub(crate) fn address() -> Option<IpAddr> {
    // Nothing is sent: the system only says by which address it would be (RFC 5737).
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_unspecified() && !address.is_loopback()).then_some(address)
}
