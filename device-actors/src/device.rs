//! The device actor: a door, not a room. Handlers let the state machine decide and carry out what
//! it says.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Instant;

use actix::{
    Actor, ActorContext, AsyncContext, Context, Handler, Message, MessageResult, SpawnHandle,
};
use packtrain_drivers::Connector;
use tokio::runtime::Handle;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::backoff::Backoff;
use crate::clock::now;
use crate::driver_task::{DriverTask, Report, Stop};
use crate::gate::Gate;
use crate::lease::{Lease, LeaseError};
use crate::lifecycle::{DeviceLifecycle, Effect, Event, Moment, Ticket};
use crate::session::Session;
use crate::state::{DeviceChange, DeviceState, DeviceStatus, FencingToken, WaitReason};

/// What a device is made from.
#[derive(Clone)]
pub(crate) struct DeviceSpec {
    pub(crate) connector: Arc<dyn Connector>,
    pub(crate) tasks: TaskTracker,
    /// Where driver tasks run: not on the arbiter, whose one thread all its actors share.
    pub(crate) runtime: Handle,
    pub(crate) changes: broadcast::Sender<DeviceChange>,
}

/// Whoever waits for the device.
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
    spec: DeviceSpec,
    waiters: BTreeMap<Ticket, Waiter>,
    driver: Option<DriverHandle>,
    /// Of the last grant.
    gate: Option<Arc<Gate>>,
    wake: Option<(Instant, SpawnHandle)>,
    /// The state that was told last.
    announced: DeviceState,
    stop: Stop,
    /// Told, by being dropped, when the actor ends.
    ended: Vec<oneshot::Sender<()>>,
}

impl DeviceActor {
    /// Nothing is connected yet.
    pub(crate) fn new(spec: DeviceSpec) -> Self {
        let info = spec.connector.describe();
        let seed = RandomState::new().hash_one(&info.id);
        let lifecycle = DeviceLifecycle::new(info, Backoff { seed });
        Self {
            announced: lifecycle.state().clone(),
            lifecycle,
            spec,
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
            now: now(),
            lease_used: self.lease_used(),
        };
        for effect in self.lifecycle.handle(event, at).0 {
            self.carry_out(effect, ctx);
        }
        if self.announced != *self.lifecycle.state() {
            self.announced = self.lifecycle.state().clone();
            let id = &self.lifecycle.info().id;
            tracing::debug!(device = %id, state = ?self.announced, "device");
            // Nobody listens: nobody minds.
            let _ = self.spec.changes.send(DeviceChange {
                id: id.clone(),
                state: Some(self.announced.clone()),
            });
        }
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
            Effect::Connect { deadline } => self.driver = Some(self.connect(deadline, ctx)),
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
                    // Whoever does not wait any more needs no answer.
                    let _ = waiter.reply.send(Err(error));
                }
            }
            Effect::Finish => ctx.stop(),
        }
    }

    fn connect(&self, deadline: Instant, ctx: &Context<Self>) -> DriverHandle {
        // One session at a time: the next is granted when the one before is over.
        let (sessions, queue) = mpsc::channel(1);
        let (stop, stopped) = watch::channel(Stop::No);
        let task = DriverTask {
            connector: Arc::clone(&self.spec.connector),
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
        self.spec.tasks.spawn_on(work, &self.spec.runtime);
        DriverHandle { sessions, stop }
    }

    /// A lease that reaches nobody, on either side, is dropped and so given back.
    fn grant(&mut self, ticket: Ticket, token: FencingToken) {
        let waiter = self.waiters.remove(&ticket);
        let cancel = waiter.as_ref().map(|waiter| waiter.cancel.child_token());
        let info = self.lifecycle.info().clone();
        let (lease, session) = Lease::new(info, token, cancel.unwrap_or_default());
        self.gate = Some(Arc::clone(lease.gate()));
        if let Some(driver) = &self.driver {
            let _ = driver.sessions.try_send(session);
        }
        if let Some(waiter) = waiter {
            let _ = waiter.reply.send(Ok(lease));
        }
    }

    fn lease_used(&self) -> Instant {
        self.gate.as_ref().map_or_else(now, |gate| gate.last_used())
    }

    fn set_alarm(&mut self, ctx: &mut Context<Self>) {
        let at = self.lifecycle.wake_at(self.lease_used());
        if at == self.wake.map(|(at, _)| at) {
            return;
        }
        if let Some((_, alarm)) = self.wake.take() {
            ctx.cancel_future(alarm);
        }
        self.wake = at.map(|at| {
            let after = at.saturating_duration_since(now());
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
        let _ = self.spec.changes.send(DeviceChange {
            id: self.lifecycle.info().id.clone(),
            state: None,
        });
    }
}

/// Asks for the device.
pub(crate) struct Acquire {
    pub(crate) ticket: Ticket,
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
            holder,
            deadline,
            waiter,
        } = message;
        self.waiters.insert(ticket, waiter);
        let requested = Event::Requested {
            ticket,
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

/// Ends the device: its session, its driver, its actor. All within `by`.
pub(crate) struct ShutDown {
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
        self.ended.push(message.ended);
        self.stop = Stop::By(message.by);
        self.apply(Event::ShutDown(message.refusal), ctx);
    }
}

/// Asks how the device is.
pub(crate) struct GetStatus;

impl Message for GetStatus {
    type Result = DeviceStatus;
}

impl Handler<GetStatus> for DeviceActor {
    type Result = MessageResult<GetStatus>;

    fn handle(&mut self, _: GetStatus, _: &mut Context<Self>) -> Self::Result {
        MessageResult(self.lifecycle.status())
    }
}
