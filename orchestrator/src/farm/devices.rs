//! The devices of this computer for a farm: connected before somebody asks, and connected again when
//! they were lost. What becomes of them is reported to [`HostDevices`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use std::time::Duration;

use packtrain_device_actors::{DeviceState, Fleet, LeaseError};
use packtrain_drivers::{DeviceId, DeviceInfo};
use packtrain_farm::host::devices::HostDevices;
use packtrain_farm::wire::DeviceAdvert;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::wiring::Wiring;

/// How long a device may take to be connected before it is asked for again.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(120);
/// What tool sources are started with, and `has=NAME` may ask for.
const PROGRAMS: [&str; 16] = [
    "bash", "bun", "bunx", "deno", "docker", "dotnet", "ffmpeg", "go", "java", "node", "npx",
    "python3", "ruby", "tsx", "uv", "uvx",
];
/// Who has a device while it is only connected.
const HOLDER: &str = "this host, which connects it";

/// What is reported to the farm of devices before they are connected.
pub(crate) fn advertise(
    wiring: &Wiring,
    devices: Vec<DeviceInfo>,
    labels: &BTreeMap<String, String>,
) -> HostDevices {
    let known = HostDevices::default();
    for info in devices {
        let api = wiring.api_level(&info.id);
        known.join(advert(info, api, labels));
    }
    known
}

/// What is reported to the farm of a device.
pub(super) fn advert(
    info: DeviceInfo,
    api: Option<u32>,
    labels: &BTreeMap<String, String>,
) -> DeviceAdvert {
    DeviceAdvert {
        info,
        api,
        labels: labels.clone(),
        // Tool sources come with runs.
        tools: Vec::new(),
        has: programs(),
        out_of_service: None,
    }
}

/// Those of the programs that tool sources are started with that this computer has, by name; looked up
/// once, for a host that gets others is restarted.
fn programs() -> Vec<String> {
    static FOUND: LazyLock<Vec<String>> = LazyLock::new(|| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<_> = std::env::split_paths(&path).collect();
        let is_there = |name: &&str| folders.iter().any(|folder| folder.join(name).is_file());
        let found = PROGRAMS.iter().copied().filter(is_there);
        found.map(str::to_owned).collect()
    });
    FOUND.clone()
}

/// Connects the devices of a fleet and keeps them connected, for as long as the handle lives.
pub(crate) fn keep_connected(fleet: &Fleet, devices: &HostDevices) -> AbortOnDropHandle<()> {
    let (fleet, devices) = (fleet.clone(), devices.clone());
    AbortOnDropHandle::new(tokio::spawn(keep(fleet, devices)))
}

async fn keep(fleet: Fleet, devices: HostDevices) {
    let mut changes = fleet.subscribe();
    let mut keeper = Keeper {
        connecting: JoinSet::new(),
        asked: BTreeSet::new(),
        fleet,
        devices,
    };
    keeper.look_at_all().await;
    loop {
        tokio::select! {
            change = changes.recv() => {
                let mut next = change.map_err(|error| match error {
                    RecvError::Closed => TryRecvError::Closed,
                    RecvError::Lagged(missed) => TryRecvError::Lagged(missed),
                });
                // What happened at once is looked at once.
                let mut is_up = false;
                loop {
                    match next {
                        Ok(change) => is_up |= keeper.learn(&change.id, change.state.as_ref()),
                        Err(TryRecvError::Lagged(_)) => is_up = true,
                        Err(TryRecvError::Empty) => break,
                        Err(TryRecvError::Closed) => return,
                    }
                    next = changes.try_recv();
                }
                if is_up {
                    keeper.look_at_all().await;
                }
            }
            Some(connected) = keeper.connecting.join_next() => {
                if let Ok(id) = connected {
                    keeper.asked.remove(&id);
                }
            }
        }
    }
}

struct Keeper {
    fleet: Fleet,
    devices: HostDevices,
    connecting: JoinSet<DeviceId>,
    /// The devices that are being connected.
    asked: BTreeSet<DeviceId>,
}

impl Keeper {
    /// Takes in where a device is now; returns whether it may describe itself again.
    fn learn(&mut self, id: &DeviceId, state: Option<&DeviceState>) -> bool {
        match state {
            // What took it out of the fleet has it leave: its namesake may have joined by now.
            None => self.devices.down(id),
            Some(DeviceState::Ready) => return true,
            Some(DeviceState::Dead { .. }) => {
                self.devices.down(id);
                self.connect(id);
            }
            Some(DeviceState::Absent) => self.connect(id),
            Some(DeviceState::Connecting | DeviceState::Leased(_) | DeviceState::Closing(_)) => {}
        }
        false
    }

    async fn look_at_all(&mut self) {
        for status in self.fleet.status().await {
            match &status.state {
                DeviceState::Ready | DeviceState::Leased(_) => self.devices.up(&status.info),
                state => {
                    self.learn(&status.info.id, Some(state));
                }
            }
        }
    }

    /// Asks for a device until it is connected: the fleet says when it is tried again.
    fn connect(&mut self, id: &DeviceId) {
        if !self.asked.insert(id.clone()) {
            return;
        }
        let (fleet, id) = (self.fleet.clone(), id.clone());
        self.connecting.spawn(async move {
            let cancel = CancellationToken::new();
            loop {
                let deadline = Instant::now() + CONNECT_TIMEOUT;
                match fleet.lease(&id, HOLDER, deadline, &cancel).await {
                    Ok(lease) => {
                        // One that breaks at once is connected again, as any that dies.
                        let _ = lease.finish().await;
                        return id;
                    }
                    Err(LeaseError::NotConnected(_) | LeaseError::TimedOut { .. }) => {}
                    Err(
                        LeaseError::Unknown(_)
                        | LeaseError::Removed(_)
                        | LeaseError::Cancelled
                        | LeaseError::ShuttingDown,
                    ) => return id,
                }
            }
        });
    }
}
