//! The device actor: a door, not a room. Handlers let the state machine decide and carry out what
//! it says.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use actix::{
    Actor, ActorContext, AsyncContext, Context, Handler, Message, MessageResult, SpawnHandle,
};
use packtrain_drivers::{Connector, DeviceId};
use tokio::runtime::Handle;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::backoff::Backoff;
use crate::driver_task::{DriverTask, Report, Stop};
use crate::gate::Gate;
use crate::lease::{Lease, LeaseError};
use crate::lifecycle::{ConnectorId, DeviceLifecycle, Effect, Event, Moment, Ticket};
use crate::session::Session;
use crate::state::{DeviceChange, DeviceState, DeviceStatus, FencingToken, WaitReason};

/// How long a device may take to connect, however long it is waited for.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(120);

/// How long a lease may lie unused before it is taken over by a request that waits, unless the fleet
/// says otherwise.
pub const LEASE_IDLE_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// What a fleet brings to a device of its.
pub(crate) struct DeviceSpec {
    pub(crate) connector: Arc<dyn Connector>,
    pub(crate) tasks: TaskTracker,
    /// Where driver tasks run: not on the arbiter, whose one thread all its actors share.
    pub(crate) runtime: Handle,
    pub(crate) changes: broadcast::Sender<DeviceChange>,
    pub(crate) lease_idle: Duration,
}

impl DeviceSpec {
    /// Tells its fleet of the device's state; `None` when the device has left the fleet.
    pub(crate) fn announce(&self, state: Option<DeviceState>) {
        let id = self.connector.id().clone();
        // Without listeners this is fine.
        let _ = self.changes.send(DeviceChange { id, state });
    }
}

/// The caller that waits for the device.
pub(crate) struct Waiter {
    pub(crate) reply: oneshot::Sender<Result<Lease, LeaseError>>,
    pub(crate) reason: watch::Sender<WaitReason>,
    pub(crate) cancel: CancellationToken,
}

/// The actor's side of a driver task.
struct DriverHandle {
    sessions: mpsc::Sender<Session>,
    stop: watch::Sender<Stop>,
}

/// One device.
pub(crate) struct DeviceActor {
    lifecycle: DeviceLifecycle,
    specs: BTreeMap<ConnectorId, DeviceSpec>,
    waiters: BTreeMap<Ticket, Waiter>,
    driver: Option<DriverHandle>,
    /// Of the last grant.
    gate: Option<Arc<Gate>>,
    wake: Option<(Instant, SpawnHandle)>,
    /// The state that was reported last.
    announced: DeviceState,
    stop: Stop,
    /// Told, by being dropped, when the driver of that connector has ended; without one, when the
    /// actor ends.
    ended: Vec<(Option<ConnectorId>, oneshot::Sender<()>)>,
}

impl DeviceActor {
    /// Nothing leads to it yet.
    pub(crate) fn new() -> Self {
        let seed = RandomState::new().hash_one(());
        let lifecycle = DeviceLifecycle::new(Backoff { seed });
        Self {
            announced: lifecycle.state().clone(),
            lifecycle,
            specs: BTreeMap::new(),
            waiters: BTreeMap::new(),
            driver: None,
            gate: None,
            wake: None,
            stop: Stop::Requested,
            ended: Vec::new(),
        }
    }

    fn apply(&mut self, event: Event, ctx: &mut Context<Self>) {
        let at = Moment {
            now: Instant::now(),
            lease_idle_at: self.lease_idle_at(),
        };
        for effect in self.lifecycle.handle(event, at).0 {
            self.carry_out(effect, ctx);
        }
        if self.announced != *self.lifecycle.state() {
            self.announced = self.lifecycle.state().clone();
            for spec in self.specs.values() {
                let id = spec.connector.id();
                tracing::debug!(device = %id, state = ?self.announced, "device");
                spec.announce(Some(self.announced.clone()));
            }
        }
        let driver = self.lifecycle.driver();
        self.ended
            .retain(|(connector, _)| connector.is_none() || *connector == driver);
        for (ticket, reason) in self.lifecycle.waiting() {
            if let Some(waiter) = self.waiters.get(&ticket) {
                waiter.reason.send_if_modified(|told| {
                    let news = *told != reason;
                    *told = reason;
                    news
                });
            }
        }
        self.set_alarm(ctx);
    }

    fn carry_out(&mut self, effect: Effect, ctx: &mut Context<Self>) {
        match effect {
            Effect::Connect { deadline } => {
                self.stop = Stop::Requested;
                self.driver = self.connect(deadline.min(Instant::now() + CONNECT_TIMEOUT), ctx);
            }
            Effect::StopDriver => {
                if let Some(driver) = &self.driver {
                    driver.stop.send_replace(self.stop);
                }
            }
            Effect::Grant { ticket, token } => self.grant(ticket, token),
            Effect::CloseSession => {
                if let Some(gate) = &self.gate {
                    gate.close();
                }
            }
            Effect::Refuse(ticket, error) => {
                if let Some(waiter) = self.waiters.remove(&ticket) {
                    // A caller that stopped waiting needs no answer.
                    let _ = waiter.reply.send(Err(error));
                }
            }
            Effect::Finish => ctx.stop(),
        }
    }

    fn connect(&self, deadline: Instant, ctx: &Context<Self>) -> Option<DriverHandle> {
        let spec = self.specs.get(&self.lifecycle.driver()?)?;
        // One session at a time: the next is granted when the one before is over.
        let (sessions, queue) = mpsc::channel(1);
        let (stop, stopped) = watch::channel(Stop::No);
        let task = DriverTask {
            connector: Arc::clone(&spec.connector),
            stop: stopped,
        };
        // The task does not keep its actor alive: the fleet does.
        let own = ctx.address().downgrade();
        let report: Report = Box::new(move |event| {
            if let Some(actor) = own.upgrade() {
                actor.do_send(event);
            }
        });
        let work = task.run(queue, deadline, report);
        spec.tasks.spawn_on(work, &spec.runtime);
        Some(DriverHandle { sessions, stop })
    }

    /// A lease that reaches no one, on either side, is dropped and so released.
    fn grant(&mut self, ticket: Ticket, token: FencingToken) {
        let waiter = self.waiters.remove(&ticket);
        let connector = self.lifecycle.driver();
        let Some(info) = connector.and_then(|it| self.lifecycle.info(it)).cloned() else {
            return;
        };
        let cancel = waiter.as_ref().map(|waiter| waiter.cancel.child_token());
        let spec = connector.and_then(|it| self.specs.get(&it));
        let idle = spec.map_or(LEASE_IDLE_TIMEOUT, |spec| spec.lease_idle);
        let (lease, session) = Lease::new(info, token, cancel.unwrap_or_default(), idle);
        self.gate = Some(Arc::clone(lease.gate()));
        if let Some(driver) = &self.driver {
            let _ = driver.sessions.try_send(session);
        }
        if let Some(waiter) = waiter {
            let _ = waiter.reply.send(Ok(lease));
        }
    }

    fn lease_idle_at(&self) -> Instant {
        self.gate
            .as_ref()
            .map_or_else(Instant::now, |gate| gate.idle_at())
    }

    fn set_alarm(&mut self, ctx: &mut Context<Self>) {
        let at = self.lifecycle.wake_at(self.lease_idle_at());
        if at == self.wake.map(|(at, _)| at) {
            return;
        }
        if let Some((_, alarm)) = self.wake.take() {
            ctx.cancel_future(alarm);
        }
        self.wake = at.map(|at| {
            let after = at.saturating_duration_since(Instant::now());
            let alarm = ctx.run_later(after, |actor, ctx| {
                actor.wake = None;
                actor.apply(Event::Woken, ctx);
            });
            (at, alarm)
        });
    }
}

impl Actor for DeviceActor {
    type Context = Context<Self>;
}

impl Drop for DeviceActor {
    /// Runs on a panic too: the driver task is left without an actor and ends by itself.
    fn drop(&mut self) {
        if let Some(gate) = &self.gate {
            gate.close();
        }
        for spec in self.specs.values() {
            spec.announce(None);
        }
    }
}

/// Brings a connector.
pub(crate) struct Add {
    pub(crate) connector: ConnectorId,
    pub(crate) spec: DeviceSpec,
}

impl Message for Add {
    type Result = ();
}

impl Handler<Add> for DeviceActor {
    type Result = ();

    fn handle(&mut self, Add { connector, spec }: Add, ctx: &mut Context<Self>) {
        let info = spec.connector.describe();
        // Its joining was reported when it happened.
        if self.announced != DeviceState::Absent {
            spec.announce(Some(self.announced.clone()));
        }
        self.specs.insert(connector, spec);
        self.apply(Event::Added(connector, info), ctx);
    }
}

/// Asks for the device.
pub(crate) struct Acquire {
    pub(crate) ticket: Ticket,
    pub(crate) connector: ConnectorId,
    pub(crate) id: DeviceId,
    pub(crate) holder: String,
    pub(crate) deadline: Instant,
    pub(crate) waiter: Waiter,
}

impl Message for Acquire {
    type Result = ();
}

impl Handler<Acquire> for DeviceActor {
    type Result = ();

    fn handle(&mut self, message: Acquire, ctx: &mut Context<Self>) {
        let Acquire {
            ticket,
            connector,
            id,
            holder,
            deadline,
            waiter,
        } = message;
        if !self.specs.contains_key(&connector) {
            // It was removed meanwhile. A caller that stopped waiting needs no answer.
            let _ = waiter.reply.send(Err(LeaseError::Removed(id)));
            return;
        }
        self.waiters.insert(ticket, waiter);
        let requested = Event::Requested {
            ticket,
            connector,
            holder,
            deadline,
        };
        self.apply(requested, ctx);
    }
}

impl Message for Event {
    type Result = ();
}

impl Handler<Event> for DeviceActor {
    type Result = ();

    fn handle(&mut self, event: Event, ctx: &mut Context<Self>) {
        if let Event::Left(ticket) = event {
            self.waiters.remove(&ticket);
        }
        self.apply(event, ctx);
    }
}

/// Ends what a connector leads to: its session, its driver. All within `by`. Without a connector
/// the device ends, and its actor.
pub(crate) struct ShutDown {
    pub(crate) connector: Option<ConnectorId>,
    pub(crate) refusal: LeaseError,
    pub(crate) by: Instant,
    /// Dropped at the end.
    pub(crate) ended: oneshot::Sender<()>,
}

impl Message for ShutDown {
    type Result = ();
}

impl Handler<ShutDown> for DeviceActor {
    type Result = ();

    fn handle(&mut self, message: ShutDown, ctx: &mut Context<Self>) {
        let ShutDown {
            connector,
            refusal,
            by,
            ended,
        } = message;
        self.ended.push((connector, ended));
        let driver = self.lifecycle.driver();
        if connector.is_none() || connector == driver {
            self.stop = Stop::By(by);
        }
        let Some(connector) = connector else {
            return self.apply(Event::ShutDown(refusal), ctx);
        };
        self.apply(Event::Removed(connector, refusal), ctx);
        if let Some(spec) = self.specs.remove(&connector) {
            spec.announce(None);
        }
    }
}

/// Asks how the device is, as this connector knows it, or any.
pub(crate) struct GetStatus(pub(crate) Option<ConnectorId>);

impl Message for GetStatus {
    type Result = Option<DeviceStatus>;
}

impl Handler<GetStatus> for DeviceActor {
    type Result = MessageResult<GetStatus>;

    fn handle(&mut self, GetStatus(connector): GetStatus, _: &mut Context<Self>) -> Self::Result {
        MessageResult(self.lifecycle.status(connector))
    }
}
