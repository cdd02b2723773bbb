//! One connection of a host to a device: greeting, proof, streams.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::android::Android;
use crate::android::greeting;
use crate::android::outgoing::Outgoing;
use crate::android::packet::{
    CLSE, CNXN, ChecksumMode, Limits, MAX_GREETING, MAX_PAYLOAD, OKAY, OPEN, Packet, VERSION,
    VERSION_MIN, WRTE,
};
use crate::android::service::{self, Service};
use crate::android::stream::{Acking, Acks, StreamPort, WINDOW, pair};
use crate::faults::{Event, Fault};

/// The most streams of one link.
const MAX_STREAMS: usize = 1024;
/// Numbers the links of the process.
static LINKS: AtomicU64 = AtomicU64::new(1);
/// How long a host may take to greet.
const GREETING_TIMEOUT: Duration = Duration::from_secs(60);

/// What happens to this connection and to no other.
#[derive(Debug, Clone, Default)]
pub(super) struct LinkFaults {
    pub silent: bool,
    pub auth: Option<crate::android::AuthPolicy>,
    pub bytes_per_second: Option<u64>,
    pub drop_after: Option<u64>,
    pub flap: Option<Duration>,
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
        for port in self.streams.lock().values() {
            port.close();
        }
        if let Some(android) = self.android.upgrade() {
            android.reverses.lock().forget_link(self.number);
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
        self.outgoing.push(&refusal);
    }

    /// Opens a stream to the host, as a reverse forward does. `None` when the host refuses.
    pub(super) async fn open(&self, destination: &str) -> Option<crate::android::stream::Stream> {
        let local = self.id();
        let (answer, answered) = oneshot::channel();
        self.opening.lock().insert(local, answer);
        let window = match self.acks {
            Acks::EachWrite => 0,
            Acks::Delayed => WINDOW,
        };
        let mut name = destination.as_bytes().to_vec();
        name.push(0);
        self.outgoing.push(&Packet::new(OPEN, local, window, name));
        let answer = tokio::select! {
            answer = answered => answer.ok().flatten(),
            () = self.ended.cancelled() => None,
        };
        self.opening.lock().remove(&local);
        let (remote, payload) = answer?;
        let first = window_of(&payload);
        let (port, stream) = pair(
            (local, remote),
            self.acks,
            first,
            self.outgoing.clone(),
            Acking::Yes,
        );
        self.streams.lock().insert(local, port);
        Some(stream)
    }
}

/// The number at the front of an OKAY's payload: a window, or bytes that were taken.
fn window_of(payload: &[u8]) -> u32 {
    (payload.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Ends the sending with the connection, however that ends.
struct EndOnDrop<'a>(&'a Outgoing);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Serves one connection until it ends.
pub(super) async fn serve(
    android: &Arc<Android>,
    (reader, half): (OwnedReadHalf, OwnedWriteHalf),
    faults: LinkFaults,
) {
    let mut cuts = android.device.cuts();
    cuts.mark_unchanged();
    let flap = async {
        match faults.flap {
            Some(time) => tokio::time::sleep(time).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = talk(android, reader, half, &faults) => {}
        _ = cuts.changed() => {}
        () = flap => {}
        () = android.shutdown.cancelled() => {}
    }
}

async fn talk(
    android: &Arc<Android>,
    reader: OwnedReadHalf,
    half: OwnedWriteHalf,
    faults: &LinkFaults,
) {
    let mut reader = tokio::io::BufReader::with_capacity(4096, reader);
    // A host that reconnects remembers that sums were not wanted, and sends none.
    let before = Limits {
        payload: MAX_GREETING,
        sums: ChecksumMode::Skipped,
    };
    if faults.silent {
        // The host is heard and never answered.
        while Packet::read(&mut reader, before).await.is_ok() {}
        return;
    }
    let greeting = tokio::time::timeout(GREETING_TIMEOUT, async {
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
        ChecksumMode::Skipped
    } else {
        ChecksumMode::Checked
    };
    let half = Arc::new(half);
    let outgoing = Outgoing::new(Arc::clone(&half), max_payload, sums, faults);
    // Streams and services may outlive the connection.
    let _end = EndOnDrop(&outgoing);
    let writing = outgoing.flush(&half);
    let limits = Limits {
        payload: max_payload.max(MAX_GREETING),
        sums,
    };
    let reading = async {
        let delays = android.generation.delays_acks(&greeting.payload);
        if !greeting::greet(android, &mut reader, &outgoing, faults.auth).await {
            return;
        }
        let acks = if delays {
            Acks::Delayed
        } else {
            Acks::EachWrite
        };
        let link = Arc::new(Link {
            number: LINKS.fetch_add(1, Ordering::Relaxed),
            outgoing: outgoing.clone(),
            acks,
            streams: Mutex::new(HashMap::new()),
            next_id: AtomicU32::new(1),
            opening: Mutex::new(HashMap::new()),
            android: Arc::downgrade(android),
            ended: CancellationToken::new(),
        });
        while let Ok(packet) = Packet::read(&mut reader, limits).await {
            link.outgoing.settle().await;
            if handle(android, &link, packet).await.is_break() {
                break;
            }
        }
    };
    tokio::select! {
        () = writing => {}
        () = reading => {}
    }
}

async fn handle(android: &Arc<Android>, link: &Arc<Link>, packet: Packet) -> ControlFlow<()> {
    match packet.command {
        OPEN => open(android, link, &packet).await,
        OKAY => okay(link, &packet),
        WRTE => {
            // Late packets of streams that are gone are ignored.
            let port = link.streams.lock().get(&packet.arg1).cloned();
            let port = port.filter(|port| port.remote() == packet.arg0);
            if let Some(port) = port
                && !port.receive(packet.payload)
            {
                port.close();
                link.streams.lock().remove(&packet.arg1);
            }
        }
        CLSE => {
            if let Some(answer) = link.opening.lock().remove(&packet.arg1) {
                // Who asked may be gone.
                let _ = answer.send(None);
            }
            let port = link.streams.lock().remove(&packet.arg1);
            if let Some(port) = port {
                port.close();
            }
        }
        // A host that greets anew has forgotten everything; so must the device.
        CNXN => return ControlFlow::Break(()),
        _ => {}
    }
    ControlFlow::Continue(())
}

fn okay(link: &Link, packet: &Packet) {
    if let Some(answer) = link.opening.lock().remove(&packet.arg1) {
        // Who asked may be gone.
        let _ = answer.send(Some((packet.arg0, packet.payload.clone())));
        return;
    }
    let port = link.streams.lock().get(&packet.arg1).cloned();
    if let Some(port) = port.filter(|port| port.remote() == packet.arg0) {
        let bytes = packet.payload.first_chunk().map(|b| i32::from_le_bytes(*b));
        port.acknowledged(bytes);
    }
}

async fn open(android: &Arc<Android>, link: &Arc<Link>, packet: &Packet) {
    let remote = packet.arg0;
    let windowed = packet.arg1 != 0;
    let wants_window = link.acks == Acks::Delayed;
    let full = link.streams.lock().len() >= MAX_STREAMS;
    if remote == 0 || windowed != wants_window || full {
        return link.refuse(remote);
    }
    let name = String::from_utf8_lossy(&packet.payload);
    let name = name.trim_end_matches('\0').to_owned();
    let faults = android.device.fire_faults(Event::Service(&name));
    if faults
        .iter()
        .any(|f| matches!(f, Fault::Drop | Fault::Reboot(_) | Fault::BootLoop(_)))
    {
        return;
    }
    let Some(service) = service::find(android, link, &name) else {
        return link.refuse(remote);
    };
    let Service::Inside(address) = service else {
        return begin(android, link, (remote, packet.arg1), service, faults);
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
                begin(&android, &link, (remote, first), service, faults);
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
    faults: Vec<Fault>,
) {
    for fault in &faults {
        if let Fault::DropAfter { bytes } = fault {
            link.outgoing.cut_after(*bytes);
        }
    }
    let acking = if faults.contains(&Fault::HalfOpen) {
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
    link.streams.lock().insert(local, port);
    let window = match link.acks {
        Acks::EachWrite => Bytes::new(),
        Acks::Delayed => Bytes::copy_from_slice(&WINDOW.to_le_bytes()),
    };
    link.outgoing
        .push(&Packet::new(OKAY, local, remote, window));
    let owner: Weak<Link> = Arc::downgrade(link);
    let (android, tasks) = (android.clone(), android.tasks.clone());
    tasks.spawn(async move {
        android.device.delay(&faults).await;
        // A service ends by itself when its stream does.
        tokio::select! {
            biased;
            () = service.run(&android, stream) => {}
            () = android.shutdown.cancelled() => {}
        }
        if let Some(link) = owner.upgrade() {
            link.streams.lock().remove(&local);
        }
    });
}
