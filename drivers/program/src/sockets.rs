//! Who listens on a TCP port of this computer. Linux only; elsewhere nothing is known.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use nix::unistd::Pid;

use crate::watcher::members;

/// Who listens on a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listener {
    /// A process of the session, at this address.
    Session(IpAddr),
    /// Somebody else, on an address of this computer alone or on all: not only the session.
    Other,
    /// Nobody.
    Nobody,
    /// The system does not tell.
    Unknown,
}

/// Who listens on `port`, as seen from the session that the process `leader` leads.
pub fn listener(leader: u32, port: u16) -> Listener {
    let (Ok(four), Ok(leader)) = (
        std::fs::read_to_string("/proc/net/tcp"),
        i32::try_from(leader),
    ) else {
        return Listener::Unknown;
    };
    let six = std::fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    let listening: Vec<_> = four
        .lines()
        .chain(six.lines())
        .filter_map(listening)
        .filter(|(_, listened, _)| *listened == port)
        .collect();
    if listening.is_empty() {
        return Listener::Nobody;
    }
    let ours = sockets(Pid::from_raw(leader));
    let (own, foreign): (Vec<_>, Vec<_>) = listening
        .into_iter()
        .partition(|(_, _, inode)| ours.contains(inode));
    // Whoever connects by a name may reach either address of loopback.
    let reachable = |address: &IpAddr| address.is_loopback() || address.is_unspecified();
    if foreign.iter().any(|(address, _, _)| reachable(address)) {
        return Listener::Other;
    }
    let found = own.first();
    found.map_or(Listener::Other, |(address, _, _)| {
        Listener::Session(*address)
    })
}

/// Address, port and inode of a line of `/proc/net/tcp` or `tcp6` when it is a listening socket.
fn listening(line: &str) -> Option<(IpAddr, u16, String)> {
    const LISTEN: &str = "0A";
    let fields: Vec<_> = line.split_ascii_whitespace().collect();
    let (local, state, inode) = (*fields.get(1)?, *fields.get(3)?, *fields.get(9)?);
    if state != LISTEN {
        return None;
    }
    let (address, port) = local.split_once(':')?;
    let address = match address.len() {
        8 => IpAddr::from(Ipv4Addr::from(
            u32::from_str_radix(address, 16).ok()?.swap_bytes(),
        )),
        32 => {
            let mut bytes = [0; 16];
            for (index, word) in bytes.chunks_exact_mut(4).enumerate() {
                let part = u32::from_str_radix(address.get(8 * index..8 * index + 8)?, 16).ok()?;
                word.copy_from_slice(&part.swap_bytes().to_be_bytes());
            }
            IpAddr::from(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some((
        address,
        u16::from_str_radix(port, 16).ok()?,
        inode.to_owned(),
    ))
}

/// The inodes of the sockets that a session's processes hold.
fn sockets(leader: Pid) -> HashSet<String> {
    let mut found = HashSet::new();
    for member in members(leader) {
        let Ok(files) = std::fs::read_dir(format!("/proc/{member}/fd")) else {
            continue;
        };
        for file in files.flatten() {
            let Ok(target) = std::fs::read_link(file.path()) else {
                continue;
            };
            let target = target.to_string_lossy();
            if let Some(inode) = target.strip_prefix("socket:[") {
                found.insert(inode.trim_end_matches(']').to_owned());
            }
        }
    }
    found
}
