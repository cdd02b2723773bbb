//! Packets on their way to a device.
//!
//! The sender of a packet writes it at once, without waiting; what does not fit is kept and written
//! by [`Outbox::flush`]. So a caller that is dropped never leaves half a packet on the wire.

use parking_lot::Mutex;

use bytes::{Buf as _, BytesMut};
use tokio::sync::Notify;

use super::packet::Packet;
use super::socket::Socket;

/// The buffer that is kept for packets to come, in bytes.
const KEPT: usize = 4 * 1024;
/// Data up to here is copied behind what waits already, in bytes.
const COPIED: usize = 4 * 1024;

/// The writing end of a link. Flow control keeps it small: a stream has one packet under way.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: Mutex<BytesMut>,
    refilled: Notify,
}

impl Outbox {
    /// Sends packets together; never waits. An error of the socket shows when it is next read.
    pub(super) fn send(&self, socket: &Socket, packets: &[Packet]) {
        let mut waiting = self.waiting.lock();
        let was_empty = waiting.is_empty();
        for packet in packets {
            // Data is long and is copied only as far as it has to wait.
            if was_empty && waiting.is_empty() && packet.payload.len() > COPIED {
                write_now(socket, packet, &mut waiting);
            } else {
                packet.encode(&mut waiting);
            }
        }
        if was_empty {
            // Other senders wait for the lock, so nothing overtakes.
            write_some(socket, &mut waiting);
            if !waiting.is_empty() {
                self.refilled.notify_one();
            }
        }
    }

    /// Writes what did not fit, for as long as it is polled.
    pub(super) async fn flush(&self, socket: &Socket) {
        loop {
            self.refilled.notified().await;
            loop {
                if socket.writable().await.is_err() {
                    return;
                }
                let mut waiting = self.waiting.lock();
                write_some(socket, &mut waiting);
                if waiting.is_empty() {
                    break;
                }
            }
        }
    }
}

/// Writes a packet as far as it fits; the rest waits. One that a broken socket does not take is
/// dropped.
fn write_now(socket: &Socket, packet: &Packet, waiting: &mut BytesMut) {
    let header = packet.header();
    let Ok(written) = socket.try_write_both(&header, &packet.payload) else {
        return;
    };
    waiting.extend_from_slice(header.get(written..).unwrap_or_default());
    let written = written.saturating_sub(header.len());
    waiting.extend_from_slice(packet.payload.get(written..).unwrap_or_default());
}

/// Writes until the socket is full; drops everything when it is broken.
fn write_some(socket: &Socket, waiting: &mut BytesMut) {
    while !waiting.is_empty() {
        match socket.try_write(waiting) {
            Ok(0) => return,
            Ok(count) => waiting.advance(count),
            Err(_) => waiting.clear(),
        }
    }
    if waiting.is_empty() && waiting.capacity() > KEPT {
        *waiting = BytesMut::new();
    }
}
