//! What usbmuxd remembers: who is plugged in, who listens, and the pair records.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use super::{Attachable, SystemBuid, Udid};
use crate::plist::{Dictionary, Value, dictionary};

/// A device's number on this host; a new one every time it is plugged in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceId(pub u32);

/// How many events a slow listener may be behind. One who is further behind is disconnected and
/// starts over with the whole list.
const EVENT_BACKLOG: usize = 1_024;
/// How many pair records clients may store.
const MAX_PAIR_RECORDS: usize = 4_096;

pub(super) struct Hub {
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

impl Default for Hub {
    fn default() -> Self {
        Self {
            buid: SystemBuid("30303030-5061-636B-7472-61696E303030".to_owned()),
            state: Mutex::default(),
            events: broadcast::Sender::new(EVENT_BACKLOG),
        }
    }
}

impl Hub {
    pub(super) fn system_buid(&self) -> &SystemBuid {
        &self.buid
    }

    pub(super) fn attach(&self, device: Arc<dyn Attachable>) -> DeviceId {
        let mut state = self.state.lock();
        self.detach_in(&mut state, device.udid());
        state.last_id += 1;
        let id = DeviceId(state.last_id);
        // Nobody listening is no error.
        let _ = self.events.send(attached(id, device.udid()));
        let gone = CancellationToken::new();
        state.attached.insert(id, AttachedDevice { device, gone });
        id
    }

    pub(super) fn detach(&self, udid: &Udid) -> bool {
        self.detach_in(&mut self.state.lock(), udid)
    }

    fn detach_in(&self, state: &mut State, udid: &Udid) -> bool {
        let Some(id) = state.id_of(udid) else {
            return false;
        };
        if let Some(attached) = state.attached.remove(&id) {
            attached.gone.cancel();
        }
        let _ = self.events.send(event("Detached", id));
        true
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

    /// Stores a record; `false` when there are too many.
    pub(super) fn save_pair_record(&self, id: &str, record: Vec<u8>) -> bool {
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
