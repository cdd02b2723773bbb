//! A connection to adbd without a server in between: greeting, proof, streams.
//!
//! One task reads; streams are woken by it. Data is acknowledged when more is wanted, so one packet
//! is under way per stream (delayed acknowledgements are not offered: they help large files only),
//! and what ends with its last packet needs no acknowledgement at all.

mod greet;
mod port;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::error::WireError;
use super::key::KeyRing;
use super::outbox::Outbox;
use super::packet::{Kind, MAX_PAYLOAD, Packet};
use super::socket::{DirectAddress, Socket};
use super::stream::within;

pub(crate) use greet::{Banner, KEY_ACCEPT_TIMEOUT};
pub(crate) use port::LinkStream;
use port::{Opening, Port};

/// How long a device may say nothing at all after it was asked for a service. adbd itself answers
/// that, whatever the service does: a device that does not is gone.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(15);
/// What is kept for packets to come, in bytes.
const KEPT: usize = 4 * 1024;
/// How many waits make up [`SILENCE_TIMEOUT`]. When this program, and with it perhaps the device,
/// had no processor for a while, all timers are over at once; that counts for one wait only.
const SILENCE_WAITS: u32 = 5;

/// A connection to adbd. Dropping it ends it and all its streams.
#[derive(Debug)]
pub(crate) struct Link {
    shared: Arc<Shared>,
    banner: Banner,
}

/// What a link shares with its streams.
#[derive(Debug)]
pub(super) struct Shared {
    socket: Socket,
    outbox: Outbox,
    ports: Mutex<HashMap<u32, Arc<Port>>>,
    next_id: AtomicU32,
    /// The most data the device takes in one packet.
    max_payload: usize,
    /// Packets that arrived, to tell a slow device from a dead wire.
    received: AtomicU64,
    /// How many had arrived when a service was last asked for.
    received_before: AtomicU64,
    /// A service was asked for.
    asked: Notify,
    ended: CancellationToken,
}

impl Link {
    /// Connects, and proves who this computer is when asked to.
    ///
    /// # Errors
    /// [`WireError::Unreachable`]; [`WireError::NotReady`] with `unauthorized` when the user has
    /// not accepted the key by `deadline`, or with another state than `device`;
    /// [`WireError::WantsTls`].
    pub(crate) async fn connect(
        address: &DirectAddress,
        keys: &KeyRing,
        deadline: Instant,
    ) -> Result<Self, WireError> {
        let socket = within(
            deadline,
            &format!("connect to {address}"),
            Socket::connect(address),
        )
        .await?;
        let outbox = Outbox::default();
        let mut arrived = BytesMut::new();
        let (banner, max_payload) =
            greet::greet(&socket, &outbox, &mut arrived, keys, deadline).await?;
        let shared = Arc::new(Shared {
            socket,
            outbox,
            ports: Mutex::default(),
            next_id: AtomicU32::new(1),
            max_payload,
            received: AtomicU64::new(0),
            received_before: AtomicU64::new(0),
            asked: Notify::new(),
            ended: CancellationToken::new(),
        });
        // Ends with the socket or when the last of the link's owners cancels `ended`.
        tokio::spawn(run(Arc::clone(&shared), arrived));
        Ok(Self { shared, banner })
    }

    /// What the device said about itself.
    pub(crate) const fn banner(&self) -> &Banner {
        &self.banner
    }

    /// Whether nothing can be opened any more.
    pub(crate) fn has_ended(&self) -> bool {
        self.shared.ended.is_cancelled()
    }

    /// Opens a service.
    ///
    /// # Errors
    /// [`WireError::ServiceRefused`]; [`WireError::Lost`] when the link ends meanwhile, and
    /// [`WireError::NotSent`] when it had ended before.
    pub(crate) async fn open(&self, service: &str, doing: &str) -> Result<LinkStream, WireError> {
        let mut stream = LinkStream::new(Arc::clone(&self.shared));
        let doing = || doing.to_owned();
        match stream.open(service).await {
            Opening::Granted => Ok(stream),
            Opening::Refused => Err(WireError::ServiceRefused {
                service: service.to_owned(),
            }),
            Opening::Cut => Err(WireError::Lost { doing: doing() }),
            Opening::NotAsked => Err(WireError::NotSent { doing: doing() }),
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.shared.ended.cancel();
    }
}

impl Shared {
    fn send(&self, packet: &Packet) {
        self.outbox.send(&self.socket, std::slice::from_ref(packet));
    }

    fn send_all(&self, packets: &[Packet]) {
        self.outbox.send(&self.socket, packets);
    }

    /// Asks for a service, which the device must answer.
    fn ask(&self, open: &Packet) {
        let received = self.received.load(Ordering::Relaxed);
        self.received_before.store(received, Ordering::Relaxed);
        self.send(open);
        self.asked.notify_one();
    }

    /// A new port with an id that no open stream has.
    fn add_port(&self) -> (u32, Arc<Port>) {
        let mut ports = self.ports.lock();
        loop {
            let id = self.next_id.fetch_add(1, Ordering::Relaxed);
            if id != 0 && !ports.contains_key(&id) {
                let port = Arc::new(Port::default());
                ports.insert(id, Arc::clone(&port));
                return (id, port);
            }
        }
    }

    /// Takes a packet from the device. Packets for streams that are gone are nothing unusual:
    /// both sides may close at once.
    fn take(&self, packet: Packet) {
        self.received.fetch_add(1, Ordering::Relaxed);
        // In every packet that concerns a stream, `arg1` is the receiver's id of it.
        let port = self.ports.lock().get(&packet.arg1).cloned();
        match (packet.kind, port) {
            (Kind::Okay, Some(port)) => port.acknowledged(packet.arg0),
            (Kind::Write, Some(port)) => {
                if !port.arrived(packet.payload) {
                    tracing::warn!("a device sent more than was acknowledged");
                    self.ports.lock().remove(&packet.arg1);
                    port.cut();
                    let close = Packet::new(Kind::Close, packet.arg1, packet.arg0, Bytes::new());
                    self.send(&close);
                }
            }
            (Kind::Close, Some(port)) => {
                self.ports.lock().remove(&packet.arg1);
                port.closed();
            }
            // This side listens for nothing, so whatever the device opens is refused.
            (Kind::Open, _) => {
                self.send(&Packet::new(Kind::Close, 0, packet.arg0, Bytes::new()));
            }
            // Granted after the caller left: the service must not keep running.
            (Kind::Okay, None) => {
                let close = Packet::new(Kind::Close, packet.arg1, packet.arg0, Bytes::new());
                self.send(&close);
            }
            (Kind::Write | Kind::Close, None)
            | (Kind::Connect | Kind::Auth | Kind::StartTls, _) => {}
        }
    }
}

/// Reads until the device hangs up, breaks the protocol or says nothing any more, or the link is
/// given up.
async fn run(shared: Arc<Shared>, arrived: BytesMut) {
    tokio::select! {
        // What has come is taken before anyone finds that nothing came.
        biased;
        () = read(&shared, arrived) => {}
        () = shared.outbox.flush(&shared.socket) => {}
        () = shared.ended.cancelled() => {}
        () = silence(&shared) => tracing::warn!(
            "no data from a device for {} s; closing its connection",
            SILENCE_TIMEOUT.as_secs()
        ),
    }
    shared.ended.cancel();
    let ports = std::mem::take(&mut *shared.ports.lock());
    for port in ports.into_values() {
        port.cut();
    }
}

/// Waits until the device owes an answer and says nothing for [`SILENCE_TIMEOUT`]. No caller's
/// time-out can tell that: it says how long the caller waits, not how long a device may take.
async fn silence(shared: &Shared) {
    loop {
        shared.asked.notified().await;
        let before = shared.received_before.load(Ordering::Relaxed);
        let mut waits = 0;
        while shared.received.load(Ordering::Relaxed) == before {
            if waits == SILENCE_WAITS {
                return;
            }
            waits += 1;
            tokio::time::sleep(SILENCE_TIMEOUT / SILENCE_WAITS).await;
        }
    }
}

async fn read(shared: &Shared, mut arrived: BytesMut) {
    loop {
        loop {
            match Packet::decode(&mut arrived, MAX_PAYLOAD) {
                // A device that restarts its side greets again: all streams are gone.
                Ok(Some(packet)) if packet.kind == Kind::Connect => return,
                Ok(Some(packet)) => shared.take(packet),
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(%error, "a device broke adb's protocol");
                    return;
                }
            }
        }
        if arrived.is_empty() && arrived.capacity() > KEPT {
            arrived = BytesMut::new();
        }
        arrived.reserve(KEPT);
        match shared.socket.read(&mut arrived).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
}
