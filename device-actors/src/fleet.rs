//! All devices of a program: who they are, where their actors are, and new actors for dead ones.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use actix::{Actor, Addr, AsyncContext, Context, Handler, Message, MessageResult};
use actix_rt::{Arbiter, ArbiterHandle};
use packtrain_drivers::{CommandContext, Connector, DeviceId, DeviceInfo, DriverError};
use tokio::runtime::Handle;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::device::{
    Acquire, Connected, DeviceActor, DeviceDied, DeviceSpec, GetStatus, Grant, Revoke,
};
use crate::driver_task::Job;
use crate::lease::{Lease, LeaseError};
use crate::state::{DeviceStatus, Incarnation};

/// Why a fleet could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FleetError {
    /// Two devices of one name.
    #[error("two devices are called {0}")]
    Duplicate(DeviceId),
}

/// All devices of a program. Cheap to clone.
#[derive(Clone)]
pub struct Fleet {
    actor: Addr<FleetActor>,
    tasks: TaskTracker,
    stop: CancellationToken,
    /// Changes whenever a dead device was re-created.
    recreated: watch::Sender<u64>,
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
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let mut specs = BTreeMap::new();
        for connector in connectors {
            let id = connector.id().clone();
            let spec = DeviceSpec {
                connector,
                tokens: Arc::new(AtomicU64::new(0)),
                tasks: tasks.clone(),
                runtime: Handle::current(),
                stop: stop.clone(),
            };
            if specs.insert(id.clone(), spec).is_some() {
                return Err(FleetError::Duplicate(id));
            }
        }
        let homes = arbiters.to_vec();
        let home = homes.first().cloned().unwrap_or_else(Arbiter::current);
        let recreated = watch::Sender::new(0);
        let announce = recreated.clone();
        let actor = FleetActor::start_in_arbiter(&home, move |ctx| {
            let mut fleet = FleetActor {
                devices: BTreeMap::new(),
                homes,
                next_home: 0,
                recreated: announce,
            };
            for (id, spec) in specs {
                fleet.create(id, spec, Incarnation::FIRST, None, ctx);
            }
            fleet
        });
        Ok(Self {
            actor,
            tasks,
            stop,
            recreated,
        })
    }

    /// Leases a device and connects it.
    ///
    /// # Errors
    /// [`LeaseError`]: unknown, in use, or not to be connected by `deadline`.
    pub async fn lease(
        &self,
        id: &DeviceId,
        holder: &str,
        deadline: Instant,
        cancel: &CancellationToken,
    ) -> Result<Lease, LeaseError> {
        loop {
            let mut recreated = self.recreated.subscribe();
            let device = self.find(id).await?;
            let asked = device.send(Acquire {
                holder: holder.to_owned(),
                cancel: cancel.clone(),
            });
            if let Ok(answer) = asked.await {
                return connect(answer?, &device, deadline).await;
            }
            // A closed mailbox: the device died just now, and its successor is being made.
            let successor = tokio::time::timeout_at(deadline.into(), recreated.changed());
            if !matches!(successor.await, Ok(Ok(()))) {
                return Err(LeaseError::NotConnected(DriverError::lost(
                    "it died and was not re-created in time",
                )));
            }
        }
    }

    /// How every device is, by name.
    pub async fn status(&self) -> Vec<DeviceStatus> {
        let Ok(addresses) = self.actor.send(All).await else {
            return Vec::new();
        };
        let asked = addresses.into_iter().map(|device| device.send(GetStatus));
        futures::future::join_all(asked)
            .await
            .into_iter()
            .filter_map(Result::ok)
            .collect()
    }

    /// What every device is, by name.
    pub async fn devices(&self) -> Vec<DeviceInfo> {
        self.status()
            .await
            .into_iter()
            .map(|status| status.info)
            .collect()
    }

    /// Takes a device away from whoever has it; what is under way is cancelled.
    ///
    /// # Errors
    /// [`LeaseError::Unknown`] when there is no such device.
    pub async fn revoke(&self, id: &DeviceId) -> Result<(), LeaseError> {
        // A device that died meanwhile has no lease to revoke.
        let _ = self.find(id).await?.send(Revoke).await;
        Ok(())
    }

    /// Ends all devices and waits for their drivers to let go, at most for `limit`.
    pub async fn shutdown(&self, limit: Duration) {
        self.stop.cancel();
        let _ = self.actor.send(Close).await;
        self.tasks.close();
        let _ = tokio::time::timeout(limit, self.tasks.wait()).await;
    }

    async fn find(&self, id: &DeviceId) -> Result<Addr<DeviceActor>, LeaseError> {
        self.actor
            .send(Find(id.clone()))
            .await
            .map_err(|_| LeaseError::ShuttingDown)?
            .ok_or_else(|| LeaseError::Unknown(id.clone()))
    }
}

async fn connect(
    grant: Grant,
    device: &Addr<DeviceActor>,
    deadline: Instant,
) -> Result<Lease, LeaseError> {
    let (reply, answer) = oneshot::channel();
    let (token, release) = (grant.token, grant.release.clone());
    let give_back = |error| {
        release.do_send(crate::device::Release(token));
        LeaseError::NotConnected(error)
    };
    let context = CommandContext {
        deadline,
        cancel: grant.cancel.clone(),
    };
    let queued = grant.jobs.send(Job::Connect { context, reply }).await;
    let answer = match queued {
        Ok(()) => answer.await.ok(),
        Err(_) => None,
    };
    let info = answer
        .unwrap_or_else(|| Err(DriverError::lost("it died while it was being connected")))
        .map_err(give_back)?;
    device.do_send(Connected(info.clone()));
    Ok(Lease::new(
        info,
        grant.token,
        grant.jobs,
        grant.cancel,
        grant.gate,
        grant.release,
    ))
}

/// Knows every device's actor and spec.
struct FleetActor {
    devices: BTreeMap<DeviceId, Member>,
    homes: Vec<ArbiterHandle>,
    next_home: usize,
    recreated: watch::Sender<u64>,
}

struct Member {
    spec: DeviceSpec,
    incarnation: Incarnation,
    address: Addr<DeviceActor>,
}

impl FleetActor {
    fn create(
        &mut self,
        id: DeviceId,
        spec: DeviceSpec,
        incarnation: Incarnation,
        last_death: Option<String>,
        ctx: &Context<Self>,
    ) {
        let home = match self.homes.len() {
            0 => Arbiter::current(),
            count => self.homes[self.next_home % count].clone(),
        };
        self.next_home += 1;
        let (blueprint, fleet) = (spec.clone(), ctx.address().recipient());
        let address = DeviceActor::start_in_arbiter(&home, move |ctx| {
            DeviceActor::new(blueprint, incarnation, last_death, fleet, &ctx.address())
        });
        let member = Member {
            spec,
            incarnation,
            address,
        };
        self.devices.insert(id, member);
    }
}

impl Actor for FleetActor {
    type Context = Context<Self>;
}

impl Handler<DeviceDied> for FleetActor {
    type Result = ();

    fn handle(&mut self, message: DeviceDied, ctx: &mut Context<Self>) {
        let Some(member) = self.devices.get(&message.id) else {
            return;
        };
        // News of an incarnation that was already replaced, or the end of the program.
        if member.incarnation != message.incarnation || member.spec.stop.is_cancelled() {
            return;
        }
        tracing::info!(device = %message.id, cause = message.cause, "device re-created");
        let (spec, next) = (member.spec.clone(), member.incarnation.next());
        self.create(message.id, spec, next, Some(message.cause), ctx);
        self.recreated.send_modify(|count| *count += 1);
    }
}

struct Find(DeviceId);

impl Message for Find {
    type Result = Option<Addr<DeviceActor>>;
}

impl Handler<Find> for FleetActor {
    type Result = Option<Addr<DeviceActor>>;

    fn handle(&mut self, message: Find, _: &mut Context<Self>) -> Self::Result {
        self.devices
            .get(&message.0)
            .map(|member| member.address.clone())
    }
}

struct All;

impl Message for All {
    type Result = Vec<Addr<DeviceActor>>;
}

impl Handler<All> for FleetActor {
    type Result = MessageResult<All>;

    fn handle(&mut self, _: All, _: &mut Context<Self>) -> Self::Result {
        MessageResult(
            self.devices
                .values()
                .map(|member| member.address.clone())
                .collect(),
        )
    }
}

/// Forgets all devices, whose actors end with their last address.
struct Close;

impl Message for Close {
    type Result = ();
}

impl Handler<Close> for FleetActor {
    type Result = ();

    fn handle(&mut self, _: Close, _: &mut Context<Self>) {
        self.devices.clear();
    }
}
