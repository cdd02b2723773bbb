//! `reverse:`: ports inside the device that lead to the host.
//! Source: adb's `daemon/services.cpp` and `adb_listeners.cpp`.

use std::sync::{Arc, Weak};

use crate::android::Android;
use crate::android::link::Link;

/// The most reverse forwards of one device.
const MAX: usize = 256;
/// The first port that is given for `tcp:0`.
const FIRST_PORT: u16 = 38_000;

/// The reverse forwards of one device.
#[derive(Debug, Default)]
pub struct Reverses(Vec<Reverse>);

#[derive(Debug)]
struct Reverse {
    local: String,
    remote: String,
    link: Weak<Link>,
    number: u64,
}

impl Reverses {
    /// Where a connection to `local` leads.
    pub(super) fn destination(&self, local: &str) -> Option<(Arc<Link>, String)> {
        let found = self.0.iter().find(|reverse| reverse.local == local)?;
        Some((found.link.upgrade()?, found.remote.clone()))
    }

    /// A link ended: what leads over it is gone.
    pub(super) fn forget_link(&mut self, number: u64) {
        self.0.retain(|reverse| reverse.number != number);
    }
}

/// The answer to `reverse:REQUEST`, as it is written on the stream.
pub(super) fn answer(android: &Android, link: &Arc<Link>, request: &str) -> Vec<u8> {
    match request.split_once(':') {
        Some(("forward", rest)) => forward(android, link, rest),
        Some(("killforward", local)) => {
            let mut reverses = android.reverses.lock();
            let before = reverses.0.len();
            reverses.0.retain(|reverse| reverse.local != local);
            if reverses.0.len() == before {
                fail(&format!("listener '{local}' not found"))
            } else {
                b"OKAY".to_vec()
            }
        }
        _ if request == "killforward-all" => {
            android.reverses.lock().0.clear();
            b"OKAY".to_vec()
        }
        _ if request == "list-forward" => {
            let lines: String = android
                .reverses
                .lock()
                .0
                .iter()
                .map(|r| format!("host-{} {} {}\n", r.number, r.local, r.remote))
                .collect();
            format!("{:04x}{lines}", lines.len()).into_bytes()
        }
        _ => fail("unknown reverse service"),
    }
}

fn forward(android: &Android, link: &Arc<Link>, request: &str) -> Vec<u8> {
    let (rebind, pair) = match request.strip_prefix("norebind:") {
        Some(pair) => (false, pair),
        None => (true, request),
    };
    let Some((local, remote)) = pair.split_once(';') else {
        return fail("bad forward");
    };
    let mut reverses = android.reverses.lock();
    let any_port = local == "tcp:0";
    let local = if any_port {
        let taken = |port: &u16| {
            let address = format!("tcp:{port}");
            android.ports.is_taken(&address) || reverses.0.iter().any(|r| r.local == address)
        };
        let Some(port) = (FIRST_PORT..u16::MAX).find(|port| !taken(port)) else {
            return fail("cannot bind: no port is free");
        };
        format!("tcp:{port}")
    } else {
        local.to_owned()
    };
    let known = reverses.0.iter().position(|reverse| reverse.local == local);
    if known.is_some() && !rebind {
        return fail("cannot rebind existing socket");
    }
    if android.ports.is_taken(&local) {
        return fail("cannot bind listener: Address already in use");
    }
    let reverse = Reverse {
        local: local.clone(),
        remote: remote.to_owned(),
        link: Arc::downgrade(link),
        number: link.number(),
    };
    match known {
        Some(index) => reverses.0[index] = reverse,
        None if reverses.0.len() >= MAX => return fail("too many forwards"),
        None => reverses.0.push(reverse),
    }
    let mut answer = b"OKAY".to_vec();
    if any_port {
        let port = local.trim_start_matches("tcp:");
        answer.extend_from_slice(format!("{:04x}{port}", port.len()).as_bytes());
    }
    answer
}

fn fail(why: &str) -> Vec<u8> {
    format!("FAIL{:04x}{why}", why.len()).into_bytes()
}
