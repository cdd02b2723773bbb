//! Which ways lead to the same device: by cable, over the network through the adb server, or by a
//! connection of our own. One device is one device, by the best of them.

use std::net::{Ipv4Addr, SocketAddr};

use crate::connector::Endpoint;
use crate::wire::DirectAddress;

/// What no two running devices have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// New at every start of the kernel.
    boot: String,
    /// The manufacturer's number, which cheap devices share.
    serial: String,
}

impl Identity {
    /// `None` where a device keeps one of them to itself.
    pub(crate) fn new(boot: &str, serial: &str) -> Option<Self> {
        let is_known = !boot.is_empty() && !serial.is_empty();
        is_known.then(|| Self {
            boot: boot.to_owned(),
            serial: serial.to_owned(),
        })
    }
}

/// A way to a device that has been tried.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    pub(crate) endpoint: Endpoint,
    pub(crate) is_usable: bool,
    pub(crate) identity: Option<Identity>,
    /// Whether it was the best when it was last asked for: it may be in use.
    pub(crate) was_kept: bool,
}

/// For each way whether it is to be kept: the best of those that lead to one device.
pub(crate) fn best(ways: &[Route]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..ways.len()).collect();
    // Of equals the first is the best.
    order.sort_by_key(|index| ways.get(*index).map(rank));
    let mut keep = vec![false; ways.len()];
    for index in order {
        let mut better = ways.iter().zip(&keep).filter(|(_, kept)| **kept);
        keep[index] = !better.any(|(kept, _)| leads_to_same(kept, &ways[index]));
    }
    keep
}

/// What works before what does not, what was taken before what came later, what was configured before
/// what was found, cables before networks.
fn rank(way: &Route) -> (bool, bool, u8) {
    let kind = match &way.endpoint {
        Endpoint::Direct(_) => 0,
        Endpoint::Server(_, serial) if !serial.contains(':') => 1,
        Endpoint::Server(..) => 2,
    };
    (!way.is_usable, !way.was_kept, kind)
}

fn leads_to_same(one: &Route, other: &Route) -> bool {
    let here = address(&one.endpoint);
    if here.is_some() && here == address(&other.endpoint) {
        return true;
    }
    // Emulators that were started from the same snapshot are alike in everything.
    let is_emulator = is_emulator(&one.endpoint) || is_emulator(&other.endpoint);
    !is_emulator && one.identity.is_some() && one.identity == other.identity
}

fn is_emulator(endpoint: &Endpoint) -> bool {
    matches!(endpoint, Endpoint::Server(_, serial) if serial.starts_with("emulator-"))
}

/// Where a device listens, if its endpoint says.
fn address(endpoint: &Endpoint) -> Option<SocketAddr> {
    match endpoint {
        Endpoint::Direct(DirectAddress::Tcp(address)) => Some(*address),
        Endpoint::Direct(DirectAddress::Unix(_)) => None,
        Endpoint::Server(_, serial) => match serial.strip_prefix("emulator-") {
            // Its adbd listens one above the console that it is named after.
            Some(console) => {
                let port = console.parse::<u16>().ok()?.checked_add(1)?;
                Some((Ipv4Addr::LOCALHOST, port).into())
            }
            None => serial.parse().ok(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::DEFAULT_SERVER;
    use crate::wire::Server;

    fn listed(serial: &str, identity: &str) -> Route {
        Route {
            endpoint: Endpoint::Server(Server::new(DEFAULT_SERVER), serial.to_owned()),
            is_usable: true,
            identity: Identity::new(identity, identity),
            was_kept: false,
        }
    }

    fn direct(address: &str, identity: &str) -> Route {
        Route {
            endpoint: Endpoint::Direct(DirectAddress::Tcp(address.parse().unwrap())),
            is_usable: true,
            identity: Identity::new(identity, identity),
            was_kept: false,
        }
    }

    fn broken(way: Route) -> Route {
        Route {
            is_usable: false,
            ..way
        }
    }

    #[test]
    fn of_the_ways_to_one_device_the_best_is_kept() {
        let (phone, network) = ("R3CN30", "192.168.1.5:5555");
        for (ways, expected) in [
            (vec![listed(network, ""), direct(network, "")], "-+"),
            (vec![listed(network, "A"), listed(phone, "A")], "-+"),
            (
                vec![listed("phone.local:5555", "A"), direct(network, "A")],
                "-+",
            ),
            (vec![listed(network, ""), broken(direct(network, ""))], "+-"),
            (
                vec![listed("emulator-5554", ""), direct("127.0.0.1:5555", "")],
                "-+",
            ),
        ] {
            let kept: String = best(&ways)
                .iter()
                .map(|kept| ["-", "+"][usize::from(*kept)])
                .collect();
            assert_eq!(kept, expected, "{ways:?}");
        }
    }

    #[test]
    fn a_phone_on_the_network_stays_that_when_it_is_charged() {
        let network = Route {
            was_kept: true,
            ..listed("192.168.1.5:5555", "A")
        };
        assert_eq!(
            best(&[listed("R3CN30", "A"), network.clone()]),
            [false, true]
        );
        assert_eq!(
            best(&[listed("R3CN30", "A"), broken(network)]),
            [true, false]
        );
    }

    #[test]
    fn different_devices_stay_different() {
        for ways in [
            vec![listed("A", "A"), listed("B", "B")],
            vec![listed("A", ""), listed("B", "")],
            vec![listed("emulator-5554", "A"), listed("emulator-5556", "A")],
            vec![listed("10.0.0.1:5555", "A"), direct("10.0.0.2:5555", "B")],
            vec![listed("emulator-5554", "A"), direct("127.0.0.1:5557", "A")],
            vec![broken(listed("A", "A")), listed("B", "B")],
        ] {
            assert_eq!(best(&ways), [true, true], "{ways:?}");
        }
    }
}
