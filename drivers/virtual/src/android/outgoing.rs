//! The sending end of a link.
//!
//! Whoever has a packet writes it at once; what does not fit waits and is written by
//! [`Outgoing::flush`]. So a packet costs no switch between tasks.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use parking_lot::Mutex;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::android::link::LinkFaults;
use crate::android::packet::{AUTH, CNXN, ChecksumMode, HEADER, MAX_PAYLOAD, Packet};
use crate::android::stream::Closed;

/// The bytes of data that wait to be written, per link.
const QUEUE: usize = 1024 * 1024;
/// The packets that may wait to be written before the host is not heard any more.
const MAX_DEPTH: usize = 4096;
/// The buffer that is kept for packets to come, in bytes.
const KEPT: usize = 4 * 1024;

/// The sending end of a link, shared by its streams.
#[derive(Debug, Clone)]
pub struct Outgoing(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    waiting: Mutex<SendBuffer>,
    /// Bytes of data that may still be sent.
    room: Arc<Semaphore>,
    max_payload: usize,
    sums: ChecksumMode,
    bytes_per_second: Option<u64>,
    /// There is something for [`Outgoing::flush`] to do.
    refilled: Notify,
    /// Everything that waited was written.
    written: Notify,
}

/// What was sent and could not be written yet.
#[derive(Debug)]
struct SendBuffer {
    /// `None` when the link has ended.
    half: Option<Arc<OwnedWriteHalf>>,
    bytes: BytesMut,
    /// Packets in `bytes`.
    depth: usize,
    /// Taken by the data in `bytes`.
    room: Option<OwnedSemaphorePermit>,
    /// Bytes that may be sent before the connection is cut.
    left: Option<u64>,
    /// The connection ends once `bytes` are written.
    is_cut: bool,
}

impl Outgoing {
    /// Sends over `half` until the link ends.
    pub(super) fn new(
        half: Arc<OwnedWriteHalf>,
        max_payload: usize,
        sums: ChecksumMode,
        faults: &LinkFaults,
    ) -> Self {
        Self(Arc::new(Shared {
            waiting: Mutex::new(SendBuffer {
                half: Some(half),
                bytes: BytesMut::new(),
                depth: 0,
                room: None,
                left: faults.drop_after,
                is_cut: false,
            }),
            room: Arc::new(Semaphore::new(QUEUE + HEADER + MAX_PAYLOAD)),
            max_payload,
            sums,
            bytes_per_second: faults.bytes_per_second,
            refilled: Notify::new(),
            written: Notify::new(),
        }))
    }

    /// The most data the host takes in a packet.
    pub(super) fn max_payload(&self) -> usize {
        self.0.max_payload
    }

    /// Has the connection cut after so many bytes more.
    pub(super) fn cut_after(&self, bytes: u64) {
        self.0.waiting.lock().left = Some(bytes);
    }

    /// The link has ended: nothing is written any more, whoever still holds this.
    pub(super) fn end(&self) {
        let mut waiting = self.0.waiting.lock();
        waiting.half = None;
        waiting.bytes = BytesMut::new();
        waiting.room = None;
    }

    /// Sends a packet without data: there are never more of these than packets that came or
    /// streams that ended.
    pub(super) fn push(&self, packet: &Packet) {
        self.add(packet, None);
    }

    /// Sends a packet with data once there is room.
    pub(super) async fn send(&self, packet: &Packet) -> Result<(), Closed> {
        let size = u32::try_from(HEADER + packet.payload.len()).map_err(|_| Closed)?;
        let room = self.0.room.clone().acquire_many_owned(size).await;
        self.add(packet, Some(room.map_err(|_| Closed)?));
        Ok(())
    }

    fn add(&self, packet: &Packet, room: Option<OwnedSemaphorePermit>) {
        let mut waiting = self.0.waiting.lock();
        if waiting.half.is_none() || waiting.is_cut {
            return;
        }
        let was_empty = waiting.bytes.is_empty();
        if !waiting.allows((HEADER + packet.payload.len()) as u64) {
            waiting.is_cut = true;
            self.0.refilled.notify_one();
            return;
        }
        // The greeting's sum is always filled in: the version is not agreed on yet.
        let sums = match packet.command {
            CNXN | AUTH => ChecksumMode::Checked,
            _ => self.0.sums,
        };
        packet.encode(&mut waiting.bytes, sums);
        waiting.depth += 1;
        match (&mut waiting.room, room) {
            (Some(held), Some(more)) => held.merge(more),
            (held @ None, more) => *held = more,
            (Some(_), None) => {}
        }
        // Whoever else has packets waits for the lock, so nothing overtakes.
        if was_empty && self.0.bytes_per_second.is_none() {
            waiting.write(usize::MAX);
        }
        if !waiting.bytes.is_empty() {
            self.0.refilled.notify_one();
        }
    }

    /// Waits until the host has read most of what it caused: one that floods the device and does
    /// not read is not heard any more.
    pub(super) async fn settle(&self) {
        loop {
            let mut written = std::pin::pin!(self.0.written.notified());
            if self.0.waiting.lock().depth < MAX_DEPTH {
                return;
            }
            written.as_mut().enable();
            if self.0.waiting.lock().depth < MAX_DEPTH {
                return;
            }
            written.await;
        }
    }

    /// Writes what did not fit, until the connection fails or is to be cut.
    pub(super) async fn flush(&self, half: &OwnedWriteHalf) {
        loop {
            self.0.refilled.notified().await;
            loop {
                let waits = self.0.waiting.lock().bytes.len();
                if waits == 0 {
                    break;
                }
                let most = self.pace(waits).await;
                if half.writable().await.is_err() {
                    return;
                }
                self.0.waiting.lock().write(most);
            }
            if self.0.waiting.lock().is_cut {
                return;
            }
            self.0.written.notify_waiters();
        }
    }

    /// Waits as long as a slow connection takes for what it answers, of `waits` bytes.
    async fn pace(&self, waits: usize) -> usize {
        let Some(rate) = self.0.bytes_per_second else {
            return waits;
        };
        let rate = rate.max(1) as f64;
        let piece = waits.min((rate / 20.0).ceil() as usize);
        tokio::time::sleep(Duration::from_secs_f64(piece as f64 / rate)).await;
        piece
    }
}

impl SendBuffer {
    /// Whether so many bytes may be sent; those that may are used up.
    fn allows(&mut self, bytes: u64) -> bool {
        match &mut self.left {
            None => true,
            Some(left) => {
                let rest = left.checked_sub(bytes);
                *left = rest.unwrap_or(0);
                rest.is_some()
            }
        }
    }

    /// Writes at most `most` bytes, as far as they fit; drops everything when the socket is
    /// broken, which shows when it is next read.
    fn write(&mut self, most: usize) {
        let Some(half) = &self.half else { return };
        let mut left = most.min(self.bytes.len());
        while left > 0 {
            match half.try_write(&self.bytes[..left]) {
                Ok(count @ 1..) => {
                    self.bytes.advance(count);
                    left -= count;
                }
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                    self.bytes.clear();
                    break;
                }
                Ok(_) | Err(_) => break,
            }
        }
        if self.bytes.is_empty() {
            self.depth = 0;
            self.room = None;
            if self.bytes.capacity() > KEPT {
                self.bytes = BytesMut::new();
            }
        }
    }
}
