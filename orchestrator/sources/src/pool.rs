//! The processes of a source: who shares which, and how each one is. Plain state.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use packtrain_config::{Restart, Scope, Transport};
use packtrain_drivers::DeviceId;
use tokio::time::Instant;

use super::settings::SourceSettings;
use super::start::StartError;

/// Who shares a process.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum ScopeKey {
    /// All.
    Shared,
    /// The sessions of a device.
    Device(DeviceId),
    /// A session, on a device.
    Session(String, DeviceId),
}

impl ScopeKey {
    pub(super) fn of(scope: Scope, device: &DeviceId, session: &str) -> Self {
        match scope {
            // One process serves one run.
            Scope::PerRun | Scope::Shared => Self::Shared,
            Scope::PerDevice => Self::Device(device.clone()),
            Scope::PerSession => Self::Session(session.to_owned(), device.clone()),
        }
    }

    /// The device that it is about.
    pub(super) const fn device(&self) -> Option<&DeviceId> {
        match self {
            Self::Shared => None,
            Self::Device(device) | Self::Session(_, device) => Some(device),
        }
    }
}

/// A process's place among those that share the work.
pub(super) type Replica = usize;

/// One start of one process; each start has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SlotId(pub(super) u64);

/// How one process is, `P`.
pub(super) enum Life<P> {
    /// It is being started.
    Starting,
    /// It answers.
    Ready(P),
    /// It died and is started again soon.
    BackOff,
    /// It is not started again.
    Down(StartError),
}

/// A place for a process.
pub(super) struct Slot<P> {
    pub(super) id: SlotId,
    pub(super) life: Life<P>,
    /// When it was started again.
    pub(super) restarts: VecDeque<Instant>,
}

/// The processes that share the work for one scope.
pub(super) struct Pool<P> {
    pub(super) slots: Vec<Slot<P>>,
    /// Which process a device stays with.
    pub(super) homes: BTreeMap<DeviceId, Replica>,
}

impl<P> Slot<P> {
    pub(super) const fn new(id: SlotId) -> Self {
        Self {
            id,
            life: Life::Starting,
            restarts: VecDeque::new(),
        }
    }

    /// The process, when it answers.
    pub(super) const fn process(&self) -> Option<&P> {
        match &self.life {
            Life::Ready(process) => Some(process),
            Life::Starting | Life::BackOff | Life::Down(_) => None,
        }
    }
}

impl<P> Pool<P> {
    /// Moves the devices of processes that stay down.
    pub(super) fn rehome(&mut self) {
        for device in self.homes.keys().cloned().collect::<Vec<_>>() {
            self.home(&device);
        }
    }

    /// The process for a device: the one it has been with, or the one with the fewest devices. One
    /// that stays down is left.
    pub(super) fn home(&mut self, device: &DeviceId) -> Replica {
        let is_down = |replica: Replica| matches!(self.slots[replica].life, Life::Down(_));
        if let Some(home) = self.homes.get(device).filter(|home| !is_down(**home)) {
            return *home;
        }
        let devices =
            |replica: &Replica| self.homes.values().filter(|home| *home == replica).count();
        let home = (0..self.slots.len())
            .min_by_key(|replica| (is_down(*replica), devices(replica)))
            .unwrap_or_default();
        self.homes.insert(device.clone(), home);
        home
    }
}

/// How long until a process that died is started again; `None` when it has died too often.
pub(super) fn back_off(
    restarts: &mut VecDeque<Instant>,
    policy: &Restart,
    now: Instant,
) -> Option<Duration> {
    restarts.retain(|restart| now.duration_since(*restart) < policy.window.get());
    let used = u32::try_from(restarts.len()).unwrap_or(u32::MAX);
    if used >= policy.max {
        return None;
    }
    restarts.push_back(now);
    let wait = policy
        .backoff
        .first()
        .get()
        .saturating_mul(1 << used.min(16));
    Some(wait.min(policy.backoff.longest().get()))
}

/// How a source is called and who shares its processes, for a number of devices.
pub(super) fn mode(settings: &SourceSettings, devices: usize) -> (Transport, Scope) {
    let is_alone = devices <= 1;
    let transport = match (settings.server.settled_transport(), &settings.launch) {
        (Some(transport), _) => transport,
        (None, Some(_)) if is_alone => Transport::Stdio,
        (None, _) => Transport::Http,
    };
    let usual = match transport {
        Transport::Stdio if is_alone => Scope::PerSession,
        Transport::Stdio | Transport::Http => Scope::Shared,
    };
    let scope = match &settings.launch {
        Some(_) => settings.server.scope.unwrap_or(usual),
        None => Scope::Shared,
    };
    (transport, scope)
}
