//! All devices of a program: who they are, where their actors are, and how to get one.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use actix::{Actor, Addr};
use actix_rt::{Arbiter, ArbiterHandle};
use packtrain_drivers::{Connector, DeviceId, DriverError};
use tokio::runtime::Handle;
use tokio::sync::{broadcast, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::now;
use crate::device::{DeviceActor, DeviceSpec, GetStatus, ShutDown};
use crate::lease::{Lease, LeaseError};
use crate::lifecycle::{Event, Ticket};
use crate::request::Request;
use crate::state::{DeviceChange, DeviceState, DeviceStatus, WaitReason};

/// Changes that may wait for a reader. One that falls behind is told how many it missed and reads
/// the fleet's status instead.
const CHANGE_CAPACITY: usize = 1024;

/// Why a device is not in the fleet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FleetError {
    /// Two devices of one name; or the first is not gone yet.
    #[error("two devices are called {0}")]
    Duplicate(DeviceId),
    /// The fleet is shutting down.
    #[error("the devices are shutting down")]
    ShuttingDown,
}

/// All devices of a program. Cheap to clone; when the last clone is gone, the devices end.
#[derive(Clone)]
pub struct Fleet {
    shared: Arc<Shared>,
}

type Devices = BTreeMap<DeviceId, Addr<DeviceActor>>;

struct Shared {
    devices: RwLock<Devices>,
    /// Where actors live.
    arbiters: Vec<ArbiterHandle>,
    next_arbiter: AtomicUsize,
    next_ticket: AtomicU64,
    tasks: TaskTracker,
    runtime: Handle,
    changes: broadcast::Sender<DeviceChange>,
    shutting_down: AtomicBool,
}

impl Fleet {
    /// A fleet whose actors live on `arbiters`, which are shared: handlers are short. Nothing is
    /// connected before it is leased. Drivers run on the tokio runtime this is called in. Call from
    /// the thread of a running actix system.
    ///
    /// # Errors
    /// [`FleetError::Duplicate`] when two connectors lead to devices of one name.
    pub fn start(
        connectors: Vec<Arc<dyn Connector>>,
        arbiters: &[ArbiterHandle],
    ) -> Result<Self, FleetError> {
        let mut arbiters = arbiters.to_vec();
        if arbiters.is_empty() {
            arbiters.push(Arbiter::current());
        }
        let fleet = Self {
            shared: Arc::new(Shared {
                devices: RwLock::default(),
                arbiters,
                next_arbiter: AtomicUsize::new(0),
                next_ticket: AtomicU64::new(1),
                tasks: TaskTracker::new(),
                runtime: Handle::current(),
                changes: broadcast::Sender::new(CHANGE_CAPACITY),
                shutting_down: AtomicBool::new(false),
            }),
        };
        for connector in connectors {
            fleet.add(connector)?;
        }
        Ok(fleet)
    }

    /// Takes a device into the fleet. It is not connected before it is leased.
    ///
    /// # Errors
    /// [`FleetError`]: there is one of that name, or the fleet is shutting down.
    pub fn add(&self, connector: Arc<dyn Connector>) -> Result<(), FleetError> {
        let shared = &self.shared;
        let id = connector.id().clone();
        let spec = DeviceSpec {
            connector,
            tasks: shared.tasks.clone(),
            runtime: shared.runtime.clone(),
            changes: shared.changes.clone(),
        };
        let mut devices = self.devices_mut();
        if shared.shutting_down.load(Ordering::Acquire) {
            return Err(FleetError::ShuttingDown);
        }
        if devices.get(&id).is_some_and(Addr::connected) {
            return Err(FleetError::Duplicate(id));
        }
        let arbiter = shared.next_arbiter.fetch_add(1, Ordering::Relaxed) % shared.arbiters.len();
        let joined = DeviceChange {
            id: id.clone(),
            state: Some(DeviceState::Absent),
        };
        let device = DeviceActor::new(spec);
        let address = DeviceActor::start_in_arbiter(&shared.arbiters[arbiter], move |_| device);
        devices.insert(id, address);
        // Nobody listens: nobody minds.
        let _ = shared.changes.send(joined);
        Ok(())
    }

    /// Takes a device out of the fleet: its session is ended and its driver closed, at most for
    /// `limit`. Those who wait for it are told.
    ///
    /// # Errors
    /// [`LeaseError::Unknown`] when there is no such device.
    pub async fn remove(&self, id: &DeviceId, limit: Duration) -> Result<(), LeaseError> {
        let device = self.find(id)?;
        let by = now() + limit;
        let ended = shut_down(&device, LeaseError::Removed(id.clone()), by);
        // Gone by then or not, what is left of it ends by itself.
        let _ = tokio::time::timeout_at(by.into(), ended).await;
        let mut devices = self.devices_mut();
        if devices
            .get(id)
            .is_some_and(|found| *found == device && !found.connected())
        {
            devices.remove(id);
        }
        Ok(())
    }

    /// Leases a device and connects it. Whoever asks first gets it first; whoever cannot have it
    /// waits until `deadline`. Dropping the returned future leaves the queue.
    ///
    /// # Errors
    /// [`LeaseError`]: unknown, not to be connected, or not free by `deadline`.
    pub async fn lease(
        &self,
        id: &DeviceId,
        holder: &str,
        deadline: Instant,
        cancel: &CancellationToken,
    ) -> Result<Lease, LeaseError> {
        self.lease_with(id, holder, deadline, cancel, |_| {}).await
    }

    /// [`Fleet::lease`] which says why it waits, each time the reason changes.
    ///
    /// # Errors
    /// As [`Fleet::lease`].
    pub async fn lease_with(
        &self,
        id: &DeviceId,
        holder: &str,
        deadline: Instant,
        cancel: &CancellationToken,
        on_wait: impl FnMut(&WaitReason) + Send,
    ) -> Result<Lease, LeaseError> {
        let device = self.find(id)?;
        if cancel.is_cancelled() {
            return Err(LeaseError::Cancelled);
        }
        let request = Request {
            id,
            holder,
            deadline,
            cancel,
            ticket: Ticket(self.shared.next_ticket.fetch_add(1, Ordering::Relaxed)),
        };
        request.wait(device, on_wait).await.unwrap_or_else(|| {
            // The actor is gone.
            self.find(id)?;
            let bug = DriverError::lost("its actor ended, which is a bug");
            Err(LeaseError::NotConnected(bug))
        })
    }

    /// How every device is, by name.
    pub async fn status(&self) -> Vec<DeviceStatus> {
        let addresses: Vec<_> = self.devices().values().cloned().collect();
        let asked = addresses.into_iter().map(|device| device.send(GetStatus));
        futures::future::join_all(asked)
            .await
            .into_iter()
            .filter_map(Result::ok)
            .collect()
    }

    /// Every change of a device's state from now on. A reader that falls behind misses some, is
    /// told so, and reads [`Fleet::status`].
    pub fn subscribe(&self) -> broadcast::Receiver<DeviceChange> {
        self.shared.changes.subscribe()
    }

    /// Takes a device away from whoever has it; what is under way is cancelled, and the session
    /// ended.
    ///
    /// # Errors
    /// [`LeaseError::Unknown`] when there is no such device.
    pub fn revoke(&self, id: &DeviceId) -> Result<(), LeaseError> {
        self.find(id)?.do_send(Event::Revoked);
        Ok(())
    }

    /// Ends all sessions and all devices and waits for their drivers to let go, at most for
    /// `limit`.
    pub async fn shutdown(&self, limit: Duration) {
        let by = now() + limit;
        self.shared.shutting_down.store(true, Ordering::Release);
        let devices = std::mem::take(&mut *self.devices_mut());
        let ended: Vec<_> = devices
            .values()
            .map(|device| shut_down(device, LeaseError::ShuttingDown, by))
            .collect();
        self.shared.tasks.close();
        let all = async {
            futures::future::join_all(ended).await;
            self.shared.tasks.wait().await;
        };
        if tokio::time::timeout_at(by.into(), all).await.is_err() {
            tracing::warn!("devices did not let go in time");
        }
    }

    fn find(&self, id: &DeviceId) -> Result<Addr<DeviceActor>, LeaseError> {
        if self.shared.shutting_down.load(Ordering::Acquire) {
            return Err(LeaseError::ShuttingDown);
        }
        let devices = self.devices();
        let found = devices.get(id).filter(|device| device.connected());
        found
            .cloned()
            .ok_or_else(|| LeaseError::Unknown(id.clone()))
    }

    fn devices(&self) -> RwLockReadGuard<'_, Devices> {
        let devices = self.shared.devices.read();
        devices.unwrap_or_else(PoisonError::into_inner)
    }

    fn devices_mut(&self) -> RwLockWriteGuard<'_, Devices> {
        let devices = self.shared.devices.write();
        devices.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends when the device's actor has ended.
fn shut_down(
    device: &Addr<DeviceActor>,
    refusal: LeaseError,
    by: Instant,
) -> oneshot::Receiver<()> {
    let (ended, end) = oneshot::channel();
    device.do_send(ShutDown { refusal, by, ended });
    end
}
