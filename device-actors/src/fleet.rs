//! All devices of a program: who they are, where their actors are, and how to get one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use actix::{Actor, Addr};
use actix_rt::{Arbiter, ArbiterHandle};
use packtrain_drivers::{Connector, DeviceId, DriverError};
use parking_lot::{Mutex, RwLock};
use tokio::runtime::Handle;
use tokio::sync::{broadcast, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::device::{Add, DeviceActor, DeviceSpec, GetStatus, LEASE_IDLE_TIMEOUT, ShutDown};
use crate::lease::{Lease, LeaseError};
use crate::lifecycle::{ConnectorId, Event, Ticket};
use crate::request::Request;
use crate::state::{DeviceChange, DeviceState, DeviceStatus, WaitReason};

/// Changes that may wait for a reader. One that falls behind learns how many it missed and reads
/// the fleet's status instead.
const CHANGE_CAPACITY: usize = 1024;

/// How long shared devices may take to let go of a fleet that was dropped.
const DROPPED_TIMEOUT: Duration = Duration::from_secs(10);

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

type Devices = BTreeMap<DeviceId, Member>;

/// A device of a fleet.
#[derive(Clone)]
struct Member {
    actor: Addr<DeviceActor>,
    connector: ConnectorId,
    /// Whether other fleets may have it too.
    is_shared: bool,
}

struct Shared {
    devices: RwLock<Devices>,
    others: SharedDevices,
    tasks: TaskTracker,
    runtime: Handle,
    changes: broadcast::Sender<DeviceChange>,
    shutting_down: AtomicBool,
    lease_idle: Duration,
}

impl Drop for Shared {
    fn drop(&mut self) {
        let devices = self.devices.get_mut();
        // The actors of the others end with their addresses.
        for device in devices.values().filter(|device| device.is_shared) {
            drop(device.shut_down(LeaseError::ShuttingDown, Instant::now() + DROPPED_TIMEOUT));
        }
    }
}

/// What several fleets of a program share: where actors live, and devices that more than one of them
/// may have. Such a device has one actor, and so one driver, one holder and one queue; each fleet
/// leads to it by a connector of its own, and what one has connected is let go of for the next.
/// Cheap to clone.
#[derive(Clone)]
pub struct SharedDevices {
    inner: Arc<FleetInner>,
}

struct FleetInner {
    /// Where actors live.
    arbiters: Vec<ArbiterHandle>,
    next_arbiter: AtomicUsize,
    next_number: AtomicU64,
    /// Kept when no fleet has them any more: who comes next waits until they are let go of.
    devices: Mutex<BTreeMap<DeviceId, Addr<DeviceActor>>>,
}

impl SharedDevices {
    /// Of fleets whose actors live on `arbiters`, which are shared: handlers are short. Call from the
    /// thread of a running actix system.
    pub fn new(arbiters: &[ArbiterHandle]) -> Self {
        let mut arbiters = arbiters.to_vec();
        if arbiters.is_empty() {
            arbiters.push(Arbiter::current());
        }
        Self {
            inner: Arc::new(FleetInner {
                arbiters,
                next_arbiter: AtomicUsize::new(0),
                next_number: AtomicU64::new(1),
                devices: Mutex::default(),
            }),
        }
    }

    /// How every shared device that a fleet has is, by what it is for all of them.
    pub async fn status(&self) -> Vec<DeviceStatus> {
        let devices = {
            let devices = self.inner.devices.lock();
            devices.clone()
        };
        let asked = devices.into_iter().map(async |(id, actor)| {
            let mut status = actor.send(GetStatus(None)).await.ok()??;
            status.info.id = id;
            Some(status)
        });
        let told = futures::future::join_all(asked).await;
        told.into_iter().flatten().collect()
    }

    fn number(&self) -> u64 {
        self.inner.next_number.fetch_add(1, Ordering::Relaxed)
    }

    fn start_actor(&self) -> Addr<DeviceActor> {
        let arbiters = &self.inner.arbiters;
        let next = self.inner.next_arbiter.fetch_add(1, Ordering::Relaxed);
        DeviceActor::start_in_arbiter(&arbiters[next % arbiters.len()], |_| DeviceActor::new())
    }

    fn actor_of(&self, id: &DeviceId) -> Addr<DeviceActor> {
        let devices = self.inner.devices.lock();
        let mut devices = devices;
        match devices.get(id).filter(|actor| actor.connected()) {
            Some(actor) => actor.clone(),
            None => {
                let actor = self.start_actor();
                devices.insert(id.clone(), actor.clone());
                actor
            }
        }
    }
}

impl Fleet {
    /// A fleet whose actors live on `arbiters`, as [`SharedDevices::new`] has it. Nothing is
    /// connected before it is leased. Drivers run on the tokio runtime this is called in.
    ///
    /// # Errors
    /// [`FleetError::Duplicate`] when two connectors lead to devices of one name.
    pub fn start(
        connectors: Vec<Arc<dyn Connector>>,
        arbiters: &[ArbiterHandle],
    ) -> Result<Self, FleetError> {
        let fleet = Self::beside(&SharedDevices::new(arbiters));
        for connector in connectors {
            fleet.add(connector)?;
        }
        Ok(fleet)
    }

    /// A fleet without devices yet, beside others.
    pub fn beside(others: &SharedDevices) -> Self {
        Self::with_lease_idle(others, LEASE_IDLE_TIMEOUT)
    }

    /// As [`Fleet::beside`]; a lease that lies unused for `lease_idle` is taken over by a request that
    /// waits for its device.
    pub fn with_lease_idle(others: &SharedDevices, lease_idle: Duration) -> Self {
        Self {
            shared: Arc::new(Shared {
                devices: RwLock::default(),
                others: others.clone(),
                tasks: TaskTracker::new(),
                runtime: Handle::current(),
                changes: broadcast::Sender::new(CHANGE_CAPACITY),
                shutting_down: AtomicBool::new(false),
                lease_idle,
            }),
        }
    }

    /// Takes a device into the fleet. It is not connected before it is leased.
    ///
    /// # Errors
    /// [`FleetError`]: there is one of that name, or the fleet is shutting down.
    pub fn add(&self, connector: Arc<dyn Connector>) -> Result<(), FleetError> {
        self.take_in(connector, None)
    }

    /// As [`Fleet::add`], with a device that other fleets may have too. `known_as` is what it is for
    /// all of them, whatever each calls it.
    ///
    /// # Errors
    /// As [`Fleet::add`].
    pub fn add_shared(
        &self,
        connector: Arc<dyn Connector>,
        known_as: &DeviceId,
    ) -> Result<(), FleetError> {
        self.take_in(connector, Some(known_as))
    }

    fn take_in(
        &self,
        connector: Arc<dyn Connector>,
        known_as: Option<&DeviceId>,
    ) -> Result<(), FleetError> {
        let shared = &self.shared;
        let id = connector.id().clone();
        let mut devices = self.shared.devices.write();
        if shared.shutting_down.load(Ordering::Acquire) {
            return Err(FleetError::ShuttingDown);
        }
        if devices.get(&id).is_some_and(|it| it.actor.connected()) {
            return Err(FleetError::Duplicate(id));
        }
        let member = Member {
            actor: match known_as {
                Some(known_as) => shared.others.actor_of(known_as),
                None => shared.others.start_actor(),
            },
            connector: ConnectorId(shared.others.number()),
            is_shared: known_as.is_some(),
        };
        let spec = DeviceSpec {
            connector,
            tasks: shared.tasks.clone(),
            runtime: shared.runtime.clone(),
            changes: shared.changes.clone(),
            lease_idle: shared.lease_idle,
        };
        spec.announce(Some(DeviceState::Absent));
        let connector = member.connector;
        member.actor.do_send(Add { connector, spec });
        devices.insert(id, member);
        Ok(())
    }

    /// Takes a device out of the fleet: its session is ended and its driver closed, at most for
    /// `limit`. Waiters are notified.
    ///
    /// # Errors
    /// [`LeaseError::Unknown`] when there is no such device.
    pub async fn remove(&self, id: &DeviceId, limit: Duration) -> Result<(), LeaseError> {
        let device = self.find(id)?;
        let by = Instant::now() + limit;
        let ended = device.shut_down(LeaseError::Removed(id.clone()), by);
        // Gone by then or not, what is left of it ends by itself.
        let _ = tokio::time::timeout_at(by, ended).await;
        let mut devices = self.shared.devices.write();
        if devices
            .get(id)
            .is_some_and(|found| found.connector == device.connector && !found.is_here())
        {
            devices.remove(id);
        }
        Ok(())
    }

    /// Leases a device and connects it. First come, first served; a caller that cannot have it
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
            ticket: Ticket(self.shared.others.number()),
            connector: device.connector,
        };
        request
            .wait(device.actor, on_wait)
            .await
            .unwrap_or_else(|| {
                // The actor is gone.
                self.find(id)?;
                let bug = DriverError::lost("its actor ended, which is a bug");
                Err(LeaseError::NotConnected(bug))
            })
    }

    /// How every device is, by name.
    pub async fn status(&self) -> Vec<DeviceStatus> {
        let devices: Vec<_> = self.shared.devices.read().values().cloned().collect();
        let asked = devices.into_iter().map(|device| {
            let of_it = GetStatus(Some(device.connector));
            device.actor.send(of_it)
        });
        let told = futures::future::join_all(asked).await;
        told.into_iter().filter_map(Result::ok).flatten().collect()
    }

    /// Every change of a device's state from now on. A reader that falls behind misses some, is
    /// told so, and reads [`Fleet::status`].
    pub fn subscribe(&self) -> broadcast::Receiver<DeviceChange> {
        self.shared.changes.subscribe()
    }

    /// Revokes the lease that this fleet gave of a device; what is under way is cancelled, and the
    /// session ended.
    ///
    /// # Errors
    /// [`LeaseError::Unknown`] when there is no such device.
    pub fn revoke(&self, id: &DeviceId) -> Result<(), LeaseError> {
        let device = self.find(id)?;
        device.actor.do_send(Event::Revoked(device.connector));
        Ok(())
    }

    /// Ends all sessions and all devices and waits for their drivers to let go, at most for
    /// `limit`.
    pub async fn shutdown(&self, limit: Duration) {
        let by = Instant::now() + limit;
        self.shared.shutting_down.store(true, Ordering::Release);
        let devices = std::mem::take(&mut *self.shared.devices.write());
        let ended: Vec<_> = devices
            .values()
            .map(|device| device.shut_down(LeaseError::ShuttingDown, by))
            .collect();
        self.shared.tasks.close();
        let all = async {
            futures::future::join_all(ended).await;
            self.shared.tasks.wait().await;
        };
        if tokio::time::timeout_at(by, all).await.is_err() {
            tracing::warn!("devices were not released in time");
        }
    }

    fn find(&self, id: &DeviceId) -> Result<Member, LeaseError> {
        if self.shared.shutting_down.load(Ordering::Acquire) {
            return Err(LeaseError::ShuttingDown);
        }
        let devices = self.shared.devices.read();
        let found = devices.get(id).filter(|device| device.actor.connected());
        found
            .cloned()
            .ok_or_else(|| LeaseError::Unknown(id.clone()))
    }
}

impl Member {
    /// Whether it keeps its place until its actor has ended.
    fn is_here(&self) -> bool {
        !self.is_shared && self.actor.connected()
    }

    /// Ends when what this fleet has of the device has ended.
    fn shut_down(&self, refusal: LeaseError, by: Instant) -> oneshot::Receiver<()> {
        let (ended, end) = oneshot::channel();
        self.actor.do_send(ShutDown {
            connector: self.is_shared.then_some(self.connector),
            refusal,
            by,
            ended,
        });
        end
    }
}
