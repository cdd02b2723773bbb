//! The run's devices and the sessions that wait for them: which device takes which session next.

use std::collections::{BTreeSet, HashMap, VecDeque};

use packtrain_drivers::{DeviceId, DeviceInfo};
use packtrain_model::{Blame, SessionIndex};

use crate::host::{DeviceChange, DeviceChangeKind};
use crate::resolve::Plan;

/// After this many infrastructure errors in a row that blame it, a device gets no further sessions.
const GIVE_UP_AFTER: u32 = 2;

/// A device's place in the plan, from 0: the order in which devices are given sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DeviceIndex(usize);

/// Where a device stands.
#[derive(Debug)]
struct DeviceSlot {
    info: DeviceInfo,
    running: bool,
    /// Sessions that only this device may run, in starting order, retries first.
    bound: VecDeque<SessionIndex>,
    /// Infrastructure errors in a row that blame it.
    errors: u32,
    availability: Availability,
}

/// Whether a device may be given sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Availability {
    Up,
    /// Restarting: it gets what only it may run.
    Down,
    /// It broke too often, or left.
    Retired,
}

/// An end of a queue.
pub(super) enum QueueEnd {
    Front,
    Back,
}

/// A session, as far as devices are concerned.
struct Waiting {
    /// The devices that may run it.
    candidates: Vec<DeviceIndex>,
    /// The devices to blame for earlier attempts: others go first.
    avoid: BTreeSet<DeviceIndex>,
}

/// All devices of a run.
pub(super) struct Devices {
    slots: Vec<DeviceSlot>,
    indices: HashMap<DeviceId, DeviceIndex>,
    sessions: Vec<Waiting>,
    /// Sessions that several devices may run, in starting order, retries first.
    shared: VecDeque<SessionIndex>,
    /// How many devices have a session.
    busy: usize,
}

impl Devices {
    pub(super) fn new(plan: &Plan) -> Self {
        let slot = |device: &DeviceInfo| DeviceSlot {
            info: device.clone(),
            running: false,
            bound: VecDeque::new(),
            errors: 0,
            availability: Availability::Up,
        };
        let numbered = plan.devices.iter().enumerate();
        let indices: HashMap<_, _> = numbered
            .map(|(index, device)| (device.id.clone(), DeviceIndex(index)))
            .collect();
        let waiting = |devices: &[DeviceId]| Waiting {
            candidates: devices
                .iter()
                .filter_map(|id| indices.get(id).copied())
                .collect(),
            avoid: BTreeSet::new(),
        };
        Self {
            slots: plan.devices.iter().map(slot).collect(),
            sessions: plan.sessions.iter().map(|p| waiting(&p.devices)).collect(),
            shared: VecDeque::new(),
            busy: 0,
            indices,
        }
    }

    pub(super) const fn are_busy(&self) -> bool {
        self.busy > 0
    }

    /// The device that a session is reported with when it never ran.
    pub(super) fn first_for(&self, index: SessionIndex) -> Option<&DeviceInfo> {
        let first = self.sessions[index.0].candidates.first()?;
        Some(&self.slots[first.0].info)
    }

    /// Whether any device in service may run a session.
    pub(super) fn can_run(&self, index: SessionIndex) -> bool {
        let mut candidates = self.sessions[index.0].candidates.iter();
        candidates.any(|&device| self.is_in_service(device))
    }

    pub(super) fn enqueue(&mut self, index: SessionIndex, place: QueueEnd) {
        let queue = match self.sessions[index.0].candidates.as_slice() {
            &[only] => &mut self.slots[only.0].bound,
            _ => &mut self.shared,
        };
        match place {
            QueueEnd::Front => queue.push_front(index),
            QueueEnd::Back => queue.push_back(index),
        }
    }

    /// A failure is tried again where it happened, so that a flaky app shows as one; what a device
    /// is to blame for goes to another device if there is one.
    pub(super) fn retry(&mut self, index: SessionIndex, id: &DeviceId, blamed: Option<Blame>) {
        let Some(&device) = self.indices.get(id) else {
            return;
        };
        let is_devices_fault = blamed == Some(Blame::Device);
        if is_devices_fault {
            self.sessions[index.0].avoid.insert(device);
        }
        if is_devices_fault || !self.is_in_service(device) {
            self.enqueue(index, QueueEnd::Front);
        } else {
            self.slots[device.0].bound.push_front(index);
        }
    }

    /// A device has no session any more; `blamed` is whom an infrastructure error blames.
    pub(super) fn release(&mut self, id: &DeviceId, blamed: Option<Blame>) {
        let Some(&device) = self.indices.get(id) else {
            return;
        };
        let slot = &mut self.slots[device.0];
        slot.running = false;
        self.busy -= 1;
        match blamed {
            Some(Blame::Device) => {
                slot.errors += 1;
                if slot.errors >= GIVE_UP_AFTER {
                    self.retire(device);
                }
            }
            Some(
                Blame::Source
                | Blame::Host
                | Blame::Configuration
                | Blame::HostLost
                | Blame::HostDrained
                | Blame::RunLost,
            ) => {}
            None => slot.errors = 0,
        }
    }

    /// Gives every free device something to do.
    pub(super) fn assign(&mut self) -> Vec<(SessionIndex, DeviceId)> {
        let mut assigned = Vec::new();
        for device in (0..self.slots.len()).map(DeviceIndex) {
            if let Some(index) = self.next_for(device) {
                let slot = &mut self.slots[device.0];
                slot.running = true;
                self.busy += 1;
                assigned.push((index, slot.info.id.clone()));
            }
        }
        assigned
    }

    /// Takes in that something happened to a device.
    pub(super) fn change(&mut self, change: &DeviceChange) {
        let Some(&device) = self.indices.get(&change.id) else {
            return;
        };
        let slot = &mut self.slots[device.0];
        match (change.kind, slot.availability) {
            (DeviceChangeKind::Down, Availability::Up) => slot.availability = Availability::Down,
            (DeviceChangeKind::Up, Availability::Down) => slot.availability = Availability::Up,
            (DeviceChangeKind::Down | DeviceChangeKind::Up, _) => {}
            (DeviceChangeKind::Left, _) => self.retire(device),
            (DeviceChangeKind::Joined, _) => {
                slot.availability = Availability::Up;
                slot.errors = 0;
            }
        }
    }

    /// Gives a device nothing more to do, and what others may run too to them.
    fn retire(&mut self, device: DeviceIndex) {
        let slot = &mut self.slots[device.0];
        slot.availability = Availability::Retired;
        for index in std::mem::take(&mut slot.bound).into_iter().rev() {
            self.enqueue(index, QueueEnd::Front);
        }
    }

    /// Takes out of the queues what a device shall run now.
    fn next_for(&mut self, device: DeviceIndex) -> Option<SessionIndex> {
        let slot = &mut self.slots[device.0];
        if slot.running || slot.availability == Availability::Retired {
            return None;
        }
        if let Some(index) = slot.bound.pop_front() {
            return Some(index);
        }
        let mut shared = self.shared.iter();
        let place = shared.position(|&index| self.suits(index, device))?;
        self.shared.remove(place)
    }

    /// Whether a session may run on this device, and no better one could take it.
    fn suits(&self, index: SessionIndex, device: DeviceIndex) -> bool {
        let Waiting { candidates, avoid } = &self.sessions[index.0];
        // Lower is better. A device is passed over when a better one is in service, though busy.
        let rank = |device: DeviceIndex| {
            let is_down = self.slots[device.0].availability != Availability::Up;
            (avoid.contains(&device), is_down)
        };
        let own = rank(device);
        let mut others = candidates
            .iter()
            .filter(|&&other| self.is_in_service(other));
        candidates.contains(&device)
            && (own == (false, false) || !others.any(|&other| rank(other) < own))
    }

    fn is_in_service(&self, device: DeviceIndex) -> bool {
        self.slots[device.0].availability != Availability::Retired
    }
}
