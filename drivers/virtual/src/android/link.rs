//! One connection of a host to a device: greeting, proof, streams.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::android::Android;
use crate::android::features::Features;
use crate::android::greeting::{self, Greeted};
use crate::android::packet::{
    AUTH, CLSE, CNXN, HEADER, Limits, MAX_GREETING, MAX_PAYLOAD, OKAY, OPEN, Packet, STLS, SYNC,
    Sums, VERSION, VERSION_MIN, WRTE,
};
use crate::android::service::{self, Service};
use crate::android::stream::{Acking, Acks, Closed, StreamPort, WINDOW, pair};
use crate::faults::{Event, Fault};

/// The most streams of one link.
const MAX_STREAMS: usize = 1024;
/// The bytes of data that wait to be written, per link.
const QUEUE: usize = 1024 * 1024;
/// The packets that may wait to be written before the host is not heard any more.
const MAX_DEPTH: usize = 4096;
/// The packets that are written together at most.
const MAX_TOGETHER: usize = 64;
/// The bytes that do not wait for more.
const WRITTEN_AT_ONCE: usize = 64 * 1024;
/// How long a host may take to greet.
const GREETING_TIME: Duration = Duration::from_secs(60);

/// What happens to this connection and to no other.
#[derive(Debug, Clone, Default)]
pub(super) struct LinkFaults {
    pub silent: bool,
    pub auth: Option<crate::android::AuthPolicy>,
    pub bytes_per_second: Option<u64>,
    pub drop_after: Option<u64>,
    pub flap: Option<Duration>,
}

/// A packet that waits to be written, and the room it takes.
type Queued = (Packet, Option<OwnedSemaphorePermit>);

/// The sending end of a link, shared by its streams.
#[derive(Debug, Clone)]
pub struct Outgoing(Arc<Queue>);

#[derive(Debug)]
struct Queue {
    packets: mpsc::UnboundedSender<Queued>,
    /// Bytes of data that may still be queued.
    room: Arc<Semaphore>,
    max_payload: usize,
    /// Packets that wait to be written.
    depth: AtomicUsize,
    written: Notify,
    /// Bytes that may be written before the connection is cut.
    left: Mutex<Option<u64>>,
}

impl Queue {
    /// Whether so many bytes may be written; those that may are used up.
    fn allows(&self, bytes: u64) -> bool {
        match &mut *lock(&self.left) {
            None => true,
            Some(left) => {
                let rest = left.checked_sub(bytes);
                *left = rest.unwrap_or(0);
                rest.is_some()
            }
        }
    }
}

impl Outgoing {
    /// Has the connection cut after so many bytes more.
    fn cut_after(&self, bytes: u64) {
        *lock(&self.0.left) = Some(bytes);
    }

    /// Waits until the host has read most of what it caused: one that floods the device and does
    /// not read is not heard any more.
    async fn settle(&self) {
        loop {
            let mut written = std::pin::pin!(self.0.written.notified());
            written.as_mut().enable();
            if self.0.depth.load(Ordering::Acquire) < MAX_DEPTH {
                return;
            }
            written.await;
        }
    }

    /// Queues a packet without data: there are never more of these than packets that came or
    /// streams that ended.
    pub(super) fn push(&self, packet: Packet) {
        self.0.depth.fetch_add(1, Ordering::AcqRel);
        // A link that is gone needs nothing more.
        let _ = self.0.packets.send((packet, None));
    }

    /// Queues a packet with data once there is room.
    pub(super) async fn send(&self, packet: Packet) -> Result<(), Closed> {
        let size = u32::try_from(HEADER + packet.payload.len()).map_err(|_| Closed)?;
        let room = self.0.room.clone().acquire_many_owned(size).await;
        let permit = room.map_err(|_| Closed)?;
        self.0.depth.fetch_add(1, Ordering::AcqRel);
        (self.0.packets.send((packet, Some(permit)))).map_err(|_| Closed)
    }

    pub(super) fn max_payload(&self) -> usize {
        self.0.max_payload
    }
}

/// The host's answer to a stream of the device: its id and payload, `None` when it refuses.
type Opened = Option<(u32, Bytes)>;

/// What the streams of one link share, and what reverse forwards need of it.
#[derive(Debug)]
pub struct Link {
    number: u64,
    outgoing: Outgoing,
    acks: Acks,
    streams: Mutex<HashMap<u32, StreamPort>>,
    next_id: AtomicU32,
    /// Streams the device opened that the host has not answered yet.
    opening: Mutex<HashMap<u32, oneshot::Sender<Opened>>>,
    android: Weak<Android>,
    ended: CancellationToken,
}

impl Drop for Link {
    fn drop(&mut self) {
        // However the link ended: its services end, and what leads over it is gone.
        self.ended.cancel();
        for port in lock(&self.streams).values() {
            port.close();
        }
        if let Some(android) = self.android.upgrade() {
            android.forget_link(self.number);
        }
    }
}

impl Link {
    /// Its number, which no other link of the process has.
    pub const fn number(&self) -> u64 {
        self.number
    }

    fn id(&self) -> u32 {
        // Ids are never 0; 2^32 streams of one link are not reached.
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    fn refuse(&self, remote: u32) {
        let refusal = Packet::new(CLSE, 0, remote, Bytes::new());
        self.outgoing.push(refusal);
    }

    /// Opens a stream to the host, as a reverse forward does. `None` when the host refuses.
    pub(super) async fn open(&self, destination: &str) -> Option<crate::android::stream::Stream> {
        let local = self.id();
        let (answer, answered) = oneshot::channel();
        lock(&self.opening).insert(local, answer);
        let window = match self.acks {
            Acks::EachWrite => 0,
            Acks::Delayed => WINDOW,
        };
        let mut name = destination.as_bytes().to_vec();
        name.push(0);
        self.outgoing.push(Packet::new(OPEN, local, window, name));
        let answer = tokio::select! {
            answer = answered => answer.ok().flatten(),
            () = self.ended.cancelled() => None,
        };
        lock(&self.opening).remove(&local);
        let (remote, payload) = answer?;
        let first = window_of(&payload);
        let (port, stream) = pair(
            (local, remote),
            self.acks,
            first,
            self.outgoing.clone(),
            Acking::Yes,
        );
        lock(&self.streams).insert(local, port);
        Some(stream)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number at the front of an OKAY's payload: a window, or bytes that were taken.
fn window_of(payload: &[u8]) -> u32 {
    (payload.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Serves one connection until it ends.
pub(super) async fn serve<S>(android: &Arc<Android>, socket: S, faults: LinkFaults)
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let mut cuts = android.device.cuts();
    cuts.mark_unchanged();
    let flap = async {
        match faults.flap {
            Some(time) => tokio::time::sleep(time).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = talk(android, socket, &faults) => {}
        _ = cuts.changed() => {}
        () = flap => {}
        () = android.shutdown.cancelled() => {}
    }
}

async fn talk<S>(android: &Arc<Android>, socket: S, faults: &LinkFaults)
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let (reader, writer) = tokio::io::split(socket);
    let mut reader = tokio::io::BufReader::with_capacity(4096, reader);
    // A host that reconnects remembers that sums were not wanted, and sends none.
    let before = Limits {
        payload: MAX_GREETING,
        sums: Sums::Skipped,
    };
    if faults.silent {
        // The host is heard and never answered.
        while Packet::read(&mut reader, before).await.is_ok() {}
        return;
    }
    let greeting = tokio::time::timeout(GREETING_TIME, async {
        loop {
            let packet = Packet::read(&mut reader, before).await.ok()?;
            if packet.command == CNXN {
                return Some(packet);
            }
        }
    });
    let Ok(Some(greeting)) = greeting.await else {
        return;
    };
    if greeting.arg0 < VERSION_MIN {
        return;
    }
    let version = greeting.arg0.min(VERSION);
    let max_payload = (greeting.arg1 as usize).clamp(1, MAX_PAYLOAD);
    let sums = if version >= VERSION {
        Sums::Skipped
    } else {
        Sums::Checked
    };
    let (packets, queued) = mpsc::unbounded_channel();
    let outgoing = Outgoing(Arc::new(Queue {
        packets,
        room: Arc::new(Semaphore::new(QUEUE + HEADER + MAX_PAYLOAD)),
        max_payload,
        depth: AtomicUsize::new(0),
        written: Notify::new(),
        left: Mutex::new(faults.drop_after),
    }));
    let drained = Arc::downgrade(&outgoing.0);
    let writing = write_all(writer, queued, sums, faults.clone(), drained);
    let limits = Limits {
        payload: max_payload.max(MAX_GREETING),
        sums,
    };
    let reading = async {
        let features = Features::agreed(android.generation, &greeting.payload);
        let (mut out, policy) = (outgoing.clone(), faults.auth);
        let greeted = greeting::greet(android, &mut reader, &mut out, policy).await;
        if greeted == Greeted::No {
            return;
        }
        let acks = if features.delayed_ack() {
            Acks::Delayed
        } else {
            Acks::EachWrite
        };
        let link = Arc::new(Link {
            number: android.next_link(),
            outgoing,
            acks,
            streams: Mutex::new(HashMap::new()),
            next_id: AtomicU32::new(1),
            opening: Mutex::new(HashMap::new()),
            android: Arc::downgrade(android),
            ended: CancellationToken::new(),
        });
        while let Ok(packet) = Packet::read(&mut reader, limits).await {
            link.outgoing.settle().await;
            if handle(android, &link, packet).await == Next::Hangup {
                break;
            }
        }
    };
    tokio::select! {
        () = writing => {}
        () = reading => {}
    }
}

/// Writes what is queued until nobody can queue anything more. What is ready leaves together.
async fn write_all<W: AsyncWrite + Unpin>(
    mut writer: W,
    mut queued: mpsc::UnboundedReceiver<Queued>,
    sums: Sums,
    faults: LinkFaults,
    queue: Weak<Queue>,
) {
    let mut ready = Vec::new();
    let mut bytes = BytesMut::new();
    while queued.recv_many(&mut ready, MAX_TOGETHER).await > 0 {
        let count = ready.len();
        let mut is_cut = false;
        for (packet, permit) in ready.drain(..) {
            // The greeting's sum is always filled in: the version is not agreed on yet.
            let sums = match packet.command {
                CNXN | AUTH => Sums::Checked,
                _ => sums,
            };
            let size = (HEADER + packet.payload.len()) as u64;
            is_cut = (queue.upgrade()).is_some_and(|queue| !queue.allows(size));
            if is_cut {
                break;
            }
            if let Some(rate) = faults.bytes_per_second {
                let time = size as f64 / rate.max(1) as f64;
                tokio::time::sleep(Duration::from_secs_f64(time.min(3600.0))).await;
            }
            packet.encode(&mut bytes, sums);
            let waits = bytes.len() >= WRITTEN_AT_ONCE || faults.bytes_per_second.is_some();
            if waits && writer.write_all_buf(&mut bytes).await.is_err() {
                return;
            }
            drop(permit);
        }
        if writer.write_all_buf(&mut bytes).await.is_err() || is_cut {
            return;
        }
        if bytes.capacity() > 2 * WRITTEN_AT_ONCE {
            bytes = BytesMut::new();
        }
        if let Some(queue) = queue.upgrade()
            && queue.depth.fetch_sub(count, Ordering::AcqRel) <= MAX_DEPTH + count
        {
            queue.written.notify_waiters();
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Next {
    Packet,
    Hangup,
}

async fn handle(android: &Arc<Android>, link: &Arc<Link>, packet: Packet) -> Next {
    match packet.command {
        OPEN => open(android, link, &packet).await,
        OKAY => okay(link, &packet),
        WRTE => {
            // Late packets of streams that are gone are ignored.
            let port = lock(&link.streams).get(&packet.arg1).cloned();
            let port = port.filter(|port| port.remote() == packet.arg0);
            if let Some(port) = port
                && !port.receive(packet.payload)
            {
                port.close();
                lock(&link.streams).remove(&packet.arg1);
            }
        }
        CLSE => {
            if let Some(answer) = lock(&link.opening).remove(&packet.arg1) {
                // Who asked may be gone.
                let _ = answer.send(None);
            }
            let port = lock(&link.streams).remove(&packet.arg1);
            if let Some(port) = port {
                port.close();
            }
        }
        // A host that greets anew has forgotten everything; so must the device.
        CNXN => return Next::Hangup,
        AUTH | SYNC | STLS => {}
        _ => {}
    }
    Next::Packet
}

fn okay(link: &Link, packet: &Packet) {
    if let Some(answer) = lock(&link.opening).remove(&packet.arg1) {
        // Who asked may be gone.
        let _ = answer.send(Some((packet.arg0, packet.payload.clone())));
        return;
    }
    let port = lock(&link.streams).get(&packet.arg1).cloned();
    if let Some(port) = port.filter(|port| port.remote() == packet.arg0) {
        let bytes = packet.payload.first_chunk().map(|b| i32::from_le_bytes(*b));
        port.acknowledged(bytes);
    }
}

async fn open(android: &Arc<Android>, link: &Arc<Link>, packet: &Packet) {
    let remote = packet.arg0;
    let windowed = packet.arg1 != 0;
    let wants_window = link.acks == Acks::Delayed;
    let full = lock(&link.streams).len() >= MAX_STREAMS;
    if remote == 0 || windowed != wants_window || full {
        return link.refuse(remote);
    }
    let name = String::from_utf8_lossy(&packet.payload);
    let name = name.trim_end_matches('\0').to_owned();
    let struck = android.device.strike(Event::Service(&name));
    if struck
        .iter()
        .any(|f| matches!(f, Fault::Drop | Fault::Reboot(_) | Fault::BootLoop(_)))
    {
        return;
    }
    let Some(service) = service::find(android, link, &name) else {
        return link.refuse(remote);
    };
    let Service::Inside(address) = service else {
        return begin(android, link, (remote, packet.arg1), service, struck);
    };
    // Connecting may itself need an answer of the host, for which this link must be read on.
    let (android, link, first) = (android.clone(), link.clone(), packet.arg1);
    let tasks = android.tasks.clone();
    tasks.spawn(async move {
        let connected = tokio::select! {
            connected = android.dial(&address) => connected,
            () = link.ended.cancelled() => return,
        };
        match connected {
            Some(inside) => {
                let service = Service::Connected(inside);
                begin(&android, &link, (remote, first), service, struck);
            }
            None => link.refuse(remote),
        }
    });
}

/// Opens the stream to a service and lets it serve.
fn begin(
    android: &Arc<Android>,
    link: &Arc<Link>,
    (remote, first): (u32, u32),
    service: Service,
    struck: Vec<Fault>,
) {
    for fault in &struck {
        if let Fault::DropAfter { bytes } = fault {
            link.outgoing.cut_after(*bytes);
        }
    }
    let acking = if struck.contains(&Fault::HalfOpen) {
        Acking::Never
    } else {
        Acking::Yes
    };
    let local = link.id();
    let (port, stream) = pair(
        (local, remote),
        link.acks,
        first,
        link.outgoing.clone(),
        acking,
    );
    lock(&link.streams).insert(local, port);
    let window = match link.acks {
        Acks::EachWrite => Bytes::new(),
        Acks::Delayed => Bytes::copy_from_slice(&WINDOW.to_le_bytes()),
    };
    link.outgoing.push(Packet::new(OKAY, local, remote, window));
    let owner: Weak<Link> = Arc::downgrade(link);
    let (android, tasks) = (android.clone(), android.tasks.clone());
    tasks.spawn(async move {
        for fault in struck {
            if let Fault::Delay(time) = fault {
                android.device.sleep(time.0).await;
            }
        }
        // A service ends by itself when its stream does.
        tokio::select! {
            biased;
            () = service.run(&android, stream) => {}
            () = android.shutdown.cancelled() => {}
        }
        if let Some(link) = owner.upgrade() {
            lock(&link.streams).remove(&local);
        }
    });
}
