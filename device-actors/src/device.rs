//! The device actor: a door, not a room. Handlers change state and return.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use actix::{Actor, ActorContext, Addr, Context, Handler, Message, MessageResult, Recipient};
use packtrain_drivers::{Connector, DeviceInfo, event_channel};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::driver_task::{DriverTask, Job, QUEUE};
use crate::gate::Gate;
use crate::lease::LeaseError;
use crate::state::{DeviceState, DeviceStatus, FencingToken, Incarnation};

/// What a device is re-created from.
#[derive(Clone)]
pub(crate) struct DeviceSpec {
    pub(crate) connector: Arc<dyn Connector>,
    /// Tokens grow across incarnations.
    pub(crate) tokens: Arc<AtomicU64>,
    pub(crate) tasks: TaskTracker,
    /// Where driver tasks run: not on the arbiter, whose one thread all its actors share.
    pub(crate) runtime: Handle,
    pub(crate) stop: CancellationToken,
}

/// One device.
pub(crate) struct DeviceActor {
    state: DeviceState,
    spec: DeviceSpec,
    gate: Arc<Gate>,
    jobs: mpsc::Sender<Job>,
    notice: DeathNotice,
    _stop_task: DropGuard,
}

/// Tells the fleet when the actor is gone, however it went: `Drop` runs on a panic too.
struct DeathNotice {
    incarnation: Incarnation,
    cause: Option<String>,
    fleet: Recipient<DeviceDied>,
    spec: DeviceSpec,
}

impl Drop for DeathNotice {
    fn drop(&mut self) {
        let cause = self.cause.take();
        // Nobody to tell is the normal end of a program.
        self.fleet.do_send(DeviceDied {
            id: self.spec.connector.id().clone(),
            incarnation: self.incarnation,
            cause: cause.unwrap_or_else(|| "its actor panicked".to_owned()),
        });
    }
}

impl DeviceActor {
    /// Builds the actor and starts its driver task; nothing is connected yet.
    pub(crate) fn new(
        spec: DeviceSpec,
        incarnation: Incarnation,
        last_death: Option<String>,
        fleet: Recipient<DeviceDied>,
        own: &Addr<Self>,
    ) -> Self {
        let (events, stream) = event_channel();
        let gate = Arc::new(Gate::new(stream));
        let (jobs, queue) = mpsc::channel(QUEUE);
        let stop = spec.stop.child_token();
        let task = DriverTask {
            connector: Arc::clone(&spec.connector),
            jobs: queue,
            gate: Arc::clone(&gate),
            events,
            stop: stop.clone(),
        };
        let report = TaskEnded {
            actor: own.clone(),
            cause: Some("its driver panicked".to_owned()),
        };
        let work = async move {
            let mut report = report;
            report.cause = task.run().await;
        };
        spec.tasks.spawn_on(work, &spec.runtime);
        Self {
            state: DeviceState::new(spec.connector.describe(), incarnation, last_death),
            notice: DeathNotice {
                incarnation,
                cause: None,
                fleet,
                spec: spec.clone(),
            },
            spec,
            gate,
            jobs,
            _stop_task: stop.drop_guard(),
        }
    }
}

/// Tells the actor that its driver task is over, however it ended.
struct TaskEnded {
    actor: Addr<DeviceActor>,
    cause: Option<String>,
}

impl Drop for TaskEnded {
    fn drop(&mut self) {
        let cause = self
            .cause
            .take()
            .unwrap_or_else(|| "it was shut down".to_owned());
        self.actor.do_send(Died(cause));
    }
}

impl Actor for DeviceActor {
    type Context = Context<Self>;

    fn stopped(&mut self, _: &mut Context<Self>) {
        self.gate.close();
        self.notice
            .cause
            .get_or_insert_with(|| "it was stopped".to_owned());
    }
}

/// Asks for the device.
pub(crate) struct Acquire {
    pub(crate) holder: String,
    pub(crate) cancel: CancellationToken,
}

/// What a lease is made of.
pub(crate) struct Grant {
    pub(crate) token: FencingToken,
    pub(crate) jobs: mpsc::Sender<Job>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) cancel: CancellationToken,
    pub(crate) release: Recipient<Release>,
}

impl Message for Acquire {
    type Result = Result<Grant, LeaseError>;
}

impl Handler<Acquire> for DeviceActor {
    type Result = Result<Grant, LeaseError>;

    fn handle(&mut self, message: Acquire, ctx: &mut Context<Self>) -> Self::Result {
        let token = FencingToken(self.spec.tokens.fetch_add(1, Ordering::Relaxed) + 1);
        self.state.grant(
            &message.holder,
            token,
            self.gate.last_used(),
            Instant::now(),
        )?;
        let cancel = message.cancel.child_token();
        self.gate.open_for(token, cancel.clone());
        Ok(Grant {
            token,
            jobs: self.jobs.clone(),
            gate: Arc::clone(&self.gate),
            cancel,
            release: actix::AsyncContext::address(ctx).recipient(),
        })
    }
}

/// Gives the device back.
#[derive(Debug)]
pub(crate) struct Release(pub(crate) FencingToken);

impl Message for Release {
    type Result = ();
}

impl Handler<Release> for DeviceActor {
    type Result = ();

    fn handle(&mut self, message: Release, _: &mut Context<Self>) {
        if self.state.release(message.0) {
            self.gate.close();
        }
    }
}

/// Takes the device away from whoever has it and ends what is under way.
pub(crate) struct Revoke;

impl Message for Revoke {
    type Result = ();
}

impl Handler<Revoke> for DeviceActor {
    type Result = ();

    fn handle(&mut self, _: Revoke, _: &mut Context<Self>) {
        if let crate::state::Occupancy::Leased { token, .. } = self.state.status().occupancy {
            self.state.release(token);
        }
        self.gate.close();
    }
}

/// The device was connected and described itself.
pub(crate) struct Connected(pub(crate) DeviceInfo);

impl Message for Connected {
    type Result = ();
}

impl Handler<Connected> for DeviceActor {
    type Result = ();

    fn handle(&mut self, message: Connected, _: &mut Context<Self>) {
        self.state.connected(message.0);
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
        MessageResult(self.state.status())
    }
}

/// The driver task is over.
struct Died(String);

impl Message for Died {
    type Result = ();
}

impl Handler<Died> for DeviceActor {
    type Result = ();

    fn handle(&mut self, message: Died, ctx: &mut Context<Self>) {
        tracing::debug!(device = %self.spec.connector.id(), incarnation = self.state.incarnation().0, cause = message.0, "device died");
        self.notice.cause = Some(message.0);
        ctx.stop();
    }
}

/// A device is gone; for the fleet.
pub(crate) struct DeviceDied {
    pub(crate) id: packtrain_drivers::DeviceId,
    pub(crate) incarnation: Incarnation,
    pub(crate) cause: String,
}

impl Message for DeviceDied {
    type Result = ();
}
