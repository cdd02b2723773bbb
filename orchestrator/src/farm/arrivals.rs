//! Phones that are plugged into a host's computer, or pulled out of it, while it serves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use packtrain_device_actors::{Fleet, FleetError};
use packtrain_drivers::{Connector, DeviceId};
use packtrain_farm::fence::Fence;
use packtrain_farm::host::devices::HostDevices;
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use super::devices::advert;
use crate::render;
use crate::wiring::android;
use crate::wiring::watch::{Change, Watch};

/// How long a device that is gone may take to be let go of: its session's end, and its driver's.
const LET_GO_TIMEOUT: Duration = Duration::from_secs(40);

/// What devices that come are offered with.
pub(crate) struct Arrivals {
    /// The host's devices.
    pub(crate) fleet: Fleet,
    /// What is reported of them to the farm.
    pub(crate) devices: HostDevices,
    /// What their commands pass.
    pub(crate) fence: Fence,
    /// What they are called.
    pub(crate) labels: BTreeMap<String, String>,
    /// Whether a device is one that this host offers.
    pub(crate) is_wanted: Box<dyn Fn(&DeviceId) -> bool + Send>,
}

/// Takes devices as they come and lets go of them as they vanish, for as long as the handle lives.
pub(crate) fn follow(watch: Watch, arrivals: Arrivals) -> AbortOnDropHandle<()> {
    let following = Following {
        arrivals,
        leaving: BTreeSet::new(),
        waiting: BTreeMap::new(),
        letting_go: JoinSet::new(),
    };
    AbortOnDropHandle::new(tokio::spawn(following.run(watch)))
}

struct Following {
    arrivals: Arrivals,
    /// The devices that are being let go of.
    leaving: BTreeSet<DeviceId>,
    /// Those that came back before they were gone.
    waiting: BTreeMap<DeviceId, Arrived>,
    letting_go: JoinSet<DeviceId>,
}

struct Arrived {
    connector: Arc<dyn Connector>,
    api_level: Option<u32>,
}

impl Following {
    async fn run(mut self, mut watch: Watch) {
        loop {
            tokio::select! {
                change = watch.next() => match change {
                    Some(change) => self.learn(change),
                    None => return,
                },
                Some(Ok(gone)) = self.letting_go.join_next() => {
                    self.leaving.remove(&gone);
                    if let Some(back) = self.waiting.remove(&gone) {
                        self.offer(back);
                    }
                }
            }
        }
    }

    fn learn(&mut self, change: Change) {
        match change {
            Change::Appeared {
                connector,
                api_level,
            } => {
                if (self.arrivals.is_wanted)(connector.id()) {
                    self.offer(Arrived {
                        connector,
                        api_level,
                    });
                }
            }
            Change::Vanished(id) => {
                self.waiting.remove(&id);
                if self.arrivals.devices.info(&id).is_some() {
                    render::say(&format!("{id} is gone"));
                    self.let_go(id);
                }
            }
            Change::Unusable(device) => render::say(&android::why_unusable(&device)),
        }
    }

    /// Offers a device, as soon as its namesake is gone.
    fn offer(&mut self, arrived: Arrived) {
        let Arrived {
            connector,
            api_level,
        } = &arrived;
        let info = connector.describe();
        let id = info.id.clone();
        if self.leaving.contains(&id) {
            self.waiting.insert(id, arrived);
            return;
        }
        let Arrivals {
            fleet,
            devices,
            fence,
            labels,
            ..
        } = &self.arrivals;
        devices.join(advert(info, *api_level, labels));
        match fleet.add(fence.around(Arc::clone(connector))) {
            Ok(()) => render::say(&format!("{id} is here and offered")),
            Err(FleetError::Duplicate(_)) => {
                self.let_go(id.clone());
                self.waiting.insert(id, arrived);
            }
            Err(FleetError::ShuttingDown) => devices.leave(&id),
        }
    }

    /// The farm is notified at once; what runs on the device ends, as lost with it.
    fn let_go(&mut self, id: DeviceId) {
        self.arrivals.devices.leave(&id);
        if !self.leaving.insert(id.clone()) {
            return;
        }
        let fleet = self.arrivals.fleet.clone();
        self.letting_go.spawn(async move {
            // That it is unknown is what is wanted.
            let _ = fleet.remove(&id, LET_GO_TIMEOUT).await;
            id
        });
    }
}
