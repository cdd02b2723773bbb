//! Ports for what is started later.

use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below what Linux and macOS give to connections and to port 0, so that a port is not taken
/// between the choice and the start, and nobody who looks there too early connects to himself.
const PORTS: Range<u16> = 10_000..30_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// A port of loopback that nobody listens on, and that no other process of the tests is likely
/// to choose.
pub fn free_port() -> u16 {
    // Processes that run side by side have numbers side by side: their ports stand apart.
    let first = std::process::id().wrapping_mul(7_919);
    loop {
        let turn = u32::from(NEXT.fetch_add(1, Ordering::Relaxed));
        let count = u32::from(PORTS.end - PORTS.start);
        let at = u16::try_from(first.wrapping_add(turn) % count).unwrap();
        let port = PORTS.start + at;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}
