//! Who listens on a TCP port of this computer: by `/proc` where it is, elsewhere by `lsof`.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::Command;

use nix::unistd::Pid;

use crate::processes::{has_proc, members, session};
use crate::run;

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

/// A socket that listens on a port.
struct Listening {
    address: IpAddr,
    /// Whether a process of the session holds it.
    is_own: bool,
}

/// Who listens on `port`, as seen from the session that the process `leader` leads.
pub fn listener(leader: u32, port: u16) -> Listener {
    let Ok(leader) = i32::try_from(leader).map(Pid::from_raw) else {
        return Listener::Unknown;
    };
    let listening = match has_proc() {
        true => by_proc(leader, port),
        false => by_lsof(leader, port),
    };
    listening.map_or(Listener::Unknown, |listening| judged(&listening))
}

fn judged(listening: &[Listening]) -> Listener {
    if listening.is_empty() {
        return Listener::Nobody;
    }
    let (own, foreign): (Vec<_>, Vec<_>) = listening.iter().partition(|one| one.is_own);
    // A client that connects by name may reach either loopback address.
    let reachable = |address: IpAddr| address.is_loopback() || address.is_unspecified();
    if foreign.iter().any(|one| reachable(one.address)) {
        return Listener::Other;
    }
    let address = own.iter().map(|one| one.address).min();
    address.map_or(Listener::Other, Listener::Session)
}

fn by_proc(leader: Pid, port: u16) -> Option<Vec<Listening>> {
    let four = std::fs::read_to_string("/proc/net/tcp").ok()?;
    let six = std::fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    let ours = sockets(leader);
    let listening = four.lines().chain(six.lines()).filter_map(listening);
    let found = listening.filter(|(_, listened, _)| *listened == port);
    let found = found.map(|(address, _, inode)| Listening {
        address,
        is_own: ours.contains(&inode),
    });
    Some(found.collect())
}

fn by_lsof(leader: Pid, port: u16) -> Option<Vec<Listening>> {
    let mut lsof = Command::new("lsof");
    lsof.args(["-w", "-nP", "-sTCP:LISTEN", "-Fpn"]);
    let told = run(lsof.arg(format!("-iTCP:{port}"))).ok()?;
    // Its exit code is the same for no processes and for an error.
    if told.stdout.is_empty() && !told.stderr.is_empty() {
        return None;
    }
    let holders = holders(&String::from_utf8_lossy(&told.stdout)).into_iter();
    let found = holders.map(|(holder, address)| Listening {
        address,
        is_own: session(holder) == Some(leader),
    });
    Some(found.collect())
}

/// The processes that hold sockets, and each socket's address, as `lsof -Fpn` tells them: a line `p` and
/// the process, then for each of its sockets a line `n`, the address, `:` and the port.
fn holders(told: &str) -> Vec<(Pid, IpAddr)> {
    let mut holder = None;
    let mut found = Vec::new();
    for line in told.lines() {
        if let Some(pid) = line.strip_prefix('p') {
            holder = pid.parse().ok().map(Pid::from_raw);
        } else if let Some((host, _)) = line
            .strip_prefix('n')
            .and_then(|name| name.rsplit_once(':'))
        {
            let address = match host {
                "*" => Some(IpAddr::from(Ipv4Addr::UNSPECIFIED)),
                host => host.trim_matches(['[', ']']).parse().ok(),
            };
            found.extend(holder.zip(address));
        }
    }
    found
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
    for member in members(&[leader]) {
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn at(address: &str) -> IpAddr {
        address.parse().unwrap()
    }

    #[test]
    fn what_lsof_tells_is_read_whatever_the_address() {
        let told = "p12\nf5\nn127.0.0.1:8080\nf6\nn[::1]:8080\np13\nf3\nn*:8080\nf4\nnodd\n";
        let (one, two) = (Pid::from_raw(12), Pid::from_raw(13));
        let expected = [
            (one, at("127.0.0.1")),
            (one, at("::1")),
            (two, at("0.0.0.0")),
        ];
        assert_eq!(holders(told), expected);
    }

    #[test]
    fn a_socket_of_somebody_else_makes_the_port_not_ours() {
        let judged = |sockets: &[(&str, bool)]| {
            let sockets = sockets.iter().map(|(address, is_own)| Listening {
                address: at(address),
                is_own: *is_own,
            });
            judged(&sockets.collect::<Vec<_>>())
        };
        assert_eq!(judged(&[]), Listener::Nobody);
        assert_eq!(judged(&[("::1", true)]), Listener::Session(at("::1")));
        let both = judged(&[("::1", true), ("127.0.0.1", true)]);
        assert_eq!(both, Listener::Session(at("127.0.0.1")));
        assert_eq!(
            judged(&[("::1", true), ("127.0.0.1", false)]),
            Listener::Other
        );
        assert_eq!(
            judged(&[("10.0.0.1", true), ("0.0.0.0", false)]),
            Listener::Other
        );
    }

    /// Whatever of the two there is here: `/proc`, `lsof`.
    #[test]
    fn who_listens_is_told_in_each_way_that_there_is() {
        let own = session(Pid::this()).unwrap();
        let other = Pid::from_raw(i32::MAX);
        let has_lsof = Command::new("lsof").arg("-v").output().is_ok();
        assert!(has_proc() || has_lsof, "nothing tells here who listens");
        for address in ["127.0.0.1", "::1"] {
            let Ok(socket) = TcpListener::bind((at(address), 0)) else {
                assert_eq!(address, "::1", "a computer without IPv6");
                continue;
            };
            let port = socket.local_addr().unwrap().port();
            let ways = [
                has_proc().then_some(by_proc as fn(Pid, u16) -> Option<Vec<Listening>>),
                has_lsof.then_some(by_lsof),
            ];
            for way in ways.into_iter().flatten() {
                let told = judged(&way(own, port).unwrap());
                assert_eq!(told, Listener::Session(at(address)));
                assert_eq!(judged(&way(other, port).unwrap()), Listener::Other);
            }
            drop(socket);
            for way in ways.into_iter().flatten() {
                let told = judged(&way(own, port).unwrap());
                assert_ne!(told, Listener::Session(at(address)));
            }
        }
    }
}
