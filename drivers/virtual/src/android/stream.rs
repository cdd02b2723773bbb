//! One stream of a link: bytes both ways with adb's two kinds of flow control.
//!
//! Without delayed acks one WRTE is under way at a time; with them, a window of bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use crate::android::outgoing::Outgoing;
use crate::android::packet::{CLSE, OKAY, Packet, WRTE};

/// The bytes a device takes on a stream before it acknowledges any.
pub const WINDOW: u32 = 1024 * 1024;

/// The stream is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stream is closed")]
pub struct Closed;

/// How a link acknowledges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acks {
    /// Every WRTE, before the next.
    EachWrite,
    /// By bytes, within a window.
    Delayed,
}

/// The part of a stream that its link holds.
#[derive(Debug, Clone)]
pub(super) struct StreamPort {
    shared: Arc<Shared>,
    inbound: mpsc::UnboundedSender<Bytes>,
}

/// What both parts know.
#[derive(Debug)]
struct Shared {
    local: u32,
    remote: u32,
    acks: Acks,
    outgoing: Outgoing,
    /// What may still be sent, in writes (0 or 1) or bytes, by the link's kind of acks; negative
    /// after a large write.
    left: Mutex<i64>,
    /// There is more left.
    more: Notify,
    /// Bytes that came and were not taken yet.
    waiting: AtomicUsize,
    /// Whether CLSE was sent or must not be sent any more.
    closed: AtomicBool,
    ended: CancellationToken,
}

/// The part of a stream that a service holds. The stream closes when it is dropped and all its
/// writers are.
#[derive(Debug)]
pub struct Stream {
    writer: StreamWriter,
    inbound: mpsc::UnboundedReceiver<Bytes>,
    /// What was received and not read yet.
    rest: Bytes,
    acking: Acking,
}

/// Whether what is received is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Acking {
    Yes,
    /// A fault: the client waits for ever.
    Never,
}

/// Sends on a stream; cheap to clone.
#[derive(Debug, Clone)]
pub struct StreamWriter(Arc<CloseOnDrop>);

#[derive(Debug)]
struct CloseOnDrop(Arc<Shared>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Shared {
    /// Sends CLSE, once, behind everything that was sent before.
    fn close(&self) {
        if !self.closed.swap(true, Ordering::AcqRel) {
            let close = Packet::new(CLSE, self.local, self.remote, Bytes::new());
            self.outgoing.push(&close);
        }
        self.ended.cancel();
    }

    fn take_credit(&self, length: usize) -> bool {
        let mut left = self.left.lock();
        if *left <= 0 {
            return false;
        }
        *left = match self.acks {
            Acks::EachWrite => 0,
            Acks::Delayed => *left - i64::try_from(length).unwrap_or(i64::MAX),
        };
        true
    }
}

/// The two parts of a stream. `first` is what may be sent at once: bytes with delayed acks, else
/// not looked at.
pub(super) fn pair(
    (local, remote): (u32, u32),
    acks: Acks,
    first: u32,
    outgoing: Outgoing,
    acking: Acking,
) -> (StreamPort, Stream) {
    #[expect(
        clippy::disallowed_methods,
        reason = "bounded in bytes: a client that sends more than the window loses its stream"
    )]
    let (inbound, received) = mpsc::unbounded_channel();
    let left = match acks {
        Acks::EachWrite => 1,
        Acks::Delayed => i64::from(first),
    };
    let shared = Arc::new(Shared {
        local,
        remote,
        acks,
        outgoing,
        left: Mutex::new(left),
        more: Notify::new(),
        waiting: AtomicUsize::new(0),
        closed: AtomicBool::new(false),
        ended: CancellationToken::new(),
    });
    let port = StreamPort {
        shared: shared.clone(),
        inbound,
    };
    let stream = Stream {
        writer: StreamWriter(Arc::new(CloseOnDrop(shared))),
        inbound: received,
        rest: Bytes::new(),
        acking,
    };
    (port, stream)
}

impl StreamPort {
    /// The client's id of the stream.
    pub fn remote(&self) -> u32 {
        self.shared.remote
    }

    /// Data came. False when the client sent more than it may, which ends the stream.
    pub fn receive(&self, data: Bytes) -> bool {
        let length = data.len();
        let before = self.shared.waiting.fetch_add(length, Ordering::AcqRel);
        // A service that only sends does not read; what comes for it is dropped.
        let _ = self.inbound.send(data);
        before <= WINDOW as usize
    }

    /// The client took something: `bytes` with delayed acks.
    pub fn acknowledged(&self, bytes: Option<i32>) {
        let mut left = self.shared.left.lock();
        *left = match self.shared.acks {
            Acks::EachWrite => 1,
            Acks::Delayed => *left + i64::from(bytes.unwrap_or(0)),
        };
        drop(left);
        self.shared.more.notify_waiters();
    }

    /// The client closed the stream, or the link ended.
    pub fn close(&self) {
        self.shared.close();
        self.shared.more.notify_waiters();
    }
}

impl StreamWriter {
    /// Sends `data`, waiting for the client where flow control demands it.
    ///
    /// # Errors
    /// When the stream is closed.
    pub async fn send(&self, mut data: Bytes) -> Result<(), Closed> {
        let shared = &self.0.0;
        let most = shared.outgoing.max_payload().max(1);
        while !data.is_empty() {
            let piece = data.split_to(data.len().min(most));
            self.credit(piece.len()).await?;
            let packet = Packet::new(WRTE, shared.local, shared.remote, piece);
            tokio::select! {
                biased;
                () = shared.ended.cancelled() => return Err(Closed),
                sent = shared.outgoing.send(&packet) => sent?,
            }
        }
        Ok(())
    }

    async fn credit(&self, length: usize) -> Result<(), Closed> {
        let shared = &self.0.0;
        loop {
            let mut more = std::pin::pin!(shared.more.notified());
            more.as_mut().enable();
            if shared.ended.is_cancelled() {
                return Err(Closed);
            }
            if shared.take_credit(length) {
                return Ok(());
            }
            tokio::select! {
                () = more => {}
                () = shared.ended.cancelled() => return Err(Closed),
            }
        }
    }
}

impl Stream {
    /// Something to send with, for as long as one keeps it.
    pub fn writer(&self) -> StreamWriter {
        self.writer.clone()
    }

    /// Sends `data`.
    ///
    /// # Errors
    /// When the stream is closed.
    pub async fn send(&self, data: impl Into<Bytes>) -> Result<(), Closed> {
        self.writer.send(data.into()).await
    }

    /// Cancelled when the stream is closed by either side.
    pub fn ended(&self) -> CancellationToken {
        self.writer.0.0.ended.clone()
    }

    /// The next data of the client; `None` when it closed the stream.
    pub async fn receive(&mut self) -> Option<Bytes> {
        if self.rest.is_empty() {
            self.next().await
        } else {
            Some(std::mem::take(&mut self.rest))
        }
    }

    async fn next(&mut self) -> Option<Bytes> {
        let shared = self.writer.0.0.clone();
        let data = tokio::select! {
            biased;
            data = self.inbound.recv() => data?,
            () = shared.ended.cancelled() => self.inbound.try_recv().ok()?,
        };
        shared.waiting.fetch_sub(data.len(), Ordering::AcqRel);
        if self.acking == Acking::Yes && !shared.ended.is_cancelled() {
            let payload = match shared.acks {
                Acks::EachWrite => Bytes::new(),
                // A packet is at most 1 MiB long.
                Acks::Delayed => {
                    let taken = i32::try_from(data.len()).unwrap_or(i32::MAX);
                    Bytes::copy_from_slice(&taken.to_le_bytes())
                }
            };
            let okay = Packet::new(OKAY, shared.local, shared.remote, payload);
            shared.outgoing.push(&okay);
        }
        Some(data)
    }

    /// Reads exactly `length` bytes; `length` must be bounded by the caller.
    ///
    /// # Errors
    /// When the stream ends before.
    pub async fn read_exact(&mut self, length: usize) -> Result<Vec<u8>, Closed> {
        let mut out = Vec::with_capacity(length.min(64 * 1024));
        while out.len() < length {
            out.extend_from_slice(&self.read_some(length - out.len()).await?);
        }
        Ok(out)
    }

    /// Reads what there is, at least one byte and at most `most`.
    ///
    /// # Errors
    /// When the stream ends before.
    pub async fn read_some(&mut self, most: usize) -> Result<Bytes, Closed> {
        while self.rest.is_empty() {
            self.rest = self.next().await.ok_or(Closed)?;
        }
        Ok(self.rest.split_to(self.rest.len().min(most)))
    }

    /// Copies both ways between the stream and something inside the device until either ends.
    pub async fn join<T: AsyncRead + AsyncWrite>(mut self, inside: T) {
        let (mut reader, mut writer) = tokio::io::split(inside);
        let out = self.writer();
        // Ends when the client has closed the stream and all it sent before is delivered.
        let inward = async move {
            while let Some(data) = self.receive().await {
                if writer.write_all(&data).await.is_err() {
                    break;
                }
            }
            // Nothing can be said about an end that is gone already.
            let _ = writer.shutdown().await;
        };
        let outward = async {
            let mut buffer = bytes::BytesMut::new();
            loop {
                buffer.reserve(16 * 1024);
                match reader.read_buf(&mut buffer).await {
                    Ok(0) | Err(_) => break,
                    Ok(_) => {}
                }
                if out.send(buffer.split().freeze()).await.is_err() {
                    break;
                }
            }
        };
        tokio::select! {
            () = inward => {}
            () = outward => {}
        }
    }
}
