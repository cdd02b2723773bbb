//! usbmuxd: its clients, and what it remembers of who is plugged in, who listens, and of pair records.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use super::{Attachable, SystemBuid, Udid, connection};
use crate::listener::ListenerScope;
use crate::plist::{Dictionary, Value, dictionary};

/// A device's number on this host; a new one every time it is plugged in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceId(pub u32);

/// How many events a slow listener may be behind. One who is further behind is disconnected and
/// starts over with the whole list.
const EVENT_BACKLOG: usize = 1_024;
/// How many pair records clients may store.
const MAX_PAIR_RECORDS: usize = 4_096;

/// A usbmuxd with its clients.
pub struct Usbmuxd {
    buid: SystemBuid,
    state: Mutex<State>,
    events: broadcast::Sender<Dictionary>,
}

#[derive(Default)]
struct State {
    last_id: u32,
    attached: BTreeMap<DeviceId, AttachedDevice>,
    pair_records: HashMap<String, Vec<u8>>,
}

/// One plugged in device.
#[derive(Clone)]
pub(super) struct AttachedDevice {
    pub(super) device: Arc<dyn Attachable>,
    /// Fires when the cable is pulled.
    pub(super) gone: CancellationToken,
}

impl Default for Usbmuxd {
    fn default() -> Self {
        Self {
            buid: SystemBuid("30303030-5061-636B-7472-61696E303030".to_owned()),
            state: Mutex::default(),
            events: broadcast::Sender::new(EVENT_BACKLOG),
        }
    }
}

impl Usbmuxd {
    /// Takes clients at a free port of this machine, whose address is returned. Clients find it
    /// through `USBMUXD_SOCKET_ADDRESS=127.0.0.1:port`. It ends with `scope`.
    ///
    /// # Errors
    /// When no port is free.
    pub async fn serve(self: Arc<Self>, scope: &ListenerScope) -> io::Result<SocketAddr> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        scope.accept(listener, move |stream, _| {
            connection::serve(self.clone(), Box::new(stream))
        });
        Ok(address)
    }

    /// The identity of this host, which pair records carry.
    pub fn system_buid(&self) -> &SystemBuid {
        &self.buid
    }

    /// Plugs a device in and tells everyone who listens. A device that is plugged in already is
    /// pulled out first.
    pub fn attach(&self, device: Arc<dyn Attachable>) {
        let mut state = self.state.lock();
        self.detach_in(&mut state, device.udid());
        state.last_id += 1;
        let id = DeviceId(state.last_id);
        // Nobody listening is no error.
        let _ = self.events.send(attached(id, device.udid()));
        let gone = CancellationToken::new();
        state.attached.insert(id, AttachedDevice { device, gone });
    }

    /// Pulls the cable: its connections end and listeners are told.
    pub fn detach(&self, udid: &Udid) {
        self.detach_in(&mut self.state.lock(), udid);
    }

    fn detach_in(&self, state: &mut State, udid: &Udid) {
        let id = state.id_of(udid);
        if let Some((id, attached)) = id.and_then(|id| state.attached.remove_entry(&id)) {
            attached.gone.cancel();
            let _ = self.events.send(event("Detached", id));
        }
    }

    pub(super) fn find(&self, id: DeviceId) -> Option<AttachedDevice> {
        self.state.lock().attached.get(&id).cloned()
    }

    /// What is plugged in now, as `Attached` messages.
    pub(super) fn list(&self) -> Vec<Dictionary> {
        self.state.lock().list()
    }

    /// What is plugged in now and every event from then on, without a gap between the two.
    pub(super) fn listen(&self) -> (Vec<Dictionary>, broadcast::Receiver<Dictionary>) {
        let state = self.state.lock();
        (state.list(), self.events.subscribe())
    }

    pub(super) fn pair_record(&self, id: &str) -> Option<Vec<u8>> {
        self.state.lock().pair_records.get(id).cloned()
    }

    /// Stores a pair record of the device with that udid; `false` when there are too many.
    pub fn save_pair_record(&self, id: &str, record: Vec<u8>) -> bool {
        let mut state = self.state.lock();
        if state.pair_records.len() >= MAX_PAIR_RECORDS && !state.pair_records.contains_key(id) {
            return false;
        }
        state.pair_records.insert(id.to_owned(), record);
        if let Some(id) = state.id_of(&Udid(id.to_owned())) {
            let _ = self.events.send(event("Paired", id));
        }
        true
    }

    pub(super) fn delete_pair_record(&self, id: &str) -> bool {
        self.state.lock().pair_records.remove(id).is_some()
    }
}

impl State {
    fn id_of(&self, udid: &Udid) -> Option<DeviceId> {
        self.attached
            .iter()
            .find(|(_, attached)| attached.device.udid() == udid)
            .map(|(&id, _)| id)
    }

    fn list(&self) -> Vec<Dictionary> {
        self.attached
            .iter()
            .map(|(&id, there)| attached(id, there.device.udid()))
            .collect()
    }
}

fn attached(id: DeviceId, udid: &Udid) -> Dictionary {
    let properties = dictionary([
        ("ConnectionSpeed", Value::from(480_000_000_u64)),
        ("ConnectionType", "USB".into()),
        ("DeviceID", Value::from(id.0)),
        ("LocationID", Value::from(0x1_0000 + id.0)),
        ("ProductID", Value::from(0x12a8_u64)),
        ("SerialNumber", udid.as_str().into()),
    ]);
    let mut attached = event("Attached", id);
    attached.insert("Properties".to_owned(), Value::Dictionary(properties));
    attached
}

fn event(kind: &str, id: DeviceId) -> Dictionary {
    dictionary([
        ("DeviceID", Value::from(id.0)),
        ("MessageType", kind.into()),
    ])
}
