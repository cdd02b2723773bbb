//! The lease: the right and the means to drive one device.

use std::sync::Arc;
use std::time::Instant;

use actix::Recipient;
use packtrain_drivers::{
    Command, CommandContext, DeviceEvent, DeviceId, DeviceInfo, DriverError, EventStream, Fault,
    Observation,
};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::device::Release;
use crate::driver_task::{Job, Order};
use crate::gate::Gate;
use crate::state::FencingToken;

/// Why there is no lease.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LeaseError {
    /// No device of that name in the fleet.
    #[error("there is no device {0}")]
    Unknown(DeviceId),
    /// Somebody has it.
    #[error("{device} is in use by {holder}")]
    Busy {
        /// Which device.
        device: DeviceId,
        /// By whom.
        holder: String,
    },
    /// It could not be connected.
    #[error("{0}")]
    NotConnected(DriverError),
    /// The fleet is shutting down.
    #[error("the devices are shutting down")]
    ShuttingDown,
}

/// Why a command did not do what was asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CommandError {
    /// The driver says so.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// More commands are waiting for this device than it takes.
    #[error("{0} has too many commands waiting")]
    Busy(DeviceId),
    /// The lease was revoked, or taken over after it lay idle.
    #[error("the lease of {0} is no longer valid")]
    Stale(DeviceId),
    /// The device died.
    #[error("{device} is gone")]
    Gone {
        /// Which device.
        device: DeviceId,
    },
}

impl CommandError {
    /// Who has to act.
    pub const fn fault(&self) -> Fault {
        match self {
            Self::Driver(error) => error.fault(),
            Self::Busy(_) | Self::Stale(_) | Self::Gone { .. } => Fault::Device,
        }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Driver(error) => error.hint().map(str::to_owned),
            Self::Gone { .. } => Some(
                "its driver broke down, which is a bug; PACKTRAIN_LOG=debug shows where".to_owned(),
            ),
            Self::Busy(_) | Self::Stale(_) => None,
        }
    }

    /// What was tried or seen on the way, oldest first.
    pub fn log(&self) -> &[String] {
        match self {
            Self::Driver(error) => error.log(),
            Self::Busy(_) | Self::Stale(_) | Self::Gone { .. } => &[],
        }
    }
}

/// The right and the means to drive one device. Dropping it gives the device back.
#[derive(Debug)]
pub struct Lease {
    info: DeviceInfo,
    token: FencingToken,
    jobs: mpsc::Sender<Job>,
    cancel: CancellationToken,
    gate: Arc<Gate>,
    events: std::sync::Mutex<Option<EventStream>>,
    release: Recipient<Release>,
}

impl Lease {
    pub(crate) fn new(
        info: DeviceInfo,
        token: FencingToken,
        jobs: mpsc::Sender<Job>,
        cancel: CancellationToken,
        gate: Arc<Gate>,
        release: Recipient<Release>,
    ) -> Self {
        let mut events = gate.take_events();
        // What happened before this lease is nobody's any more.
        if let Some(events) = &mut events {
            events.drain();
        }
        Self {
            info,
            token,
            jobs,
            cancel,
            gate,
            events: std::sync::Mutex::new(events),
            release,
        }
    }

    /// The device as it described itself once connected.
    pub const fn device(&self) -> &DeviceInfo {
        &self.info
    }

    /// The lease's token.
    pub const fn token(&self) -> FencingToken {
        self.token
    }

    /// Sends one command to the device and waits for its answer. Commands are carried out one at a
    /// time, in the order they were sent. Dropping the returned future cancels the command.
    ///
    /// # Errors
    /// [`CommandError`]; after [`CommandError::Gone`] or a lost device the lease is of no use.
    pub async fn execute(
        &self,
        command: Command,
        deadline: Instant,
    ) -> Result<Observation, CommandError> {
        let (reply, answer) = oneshot::channel();
        let cancel = self.cancel.child_token();
        // Nobody waits any more: the driver must stop, not act on.
        let _cancel_on_drop = cancel.clone().drop_guard();
        let order = Job::Execute(Box::new(Order {
            token: self.token,
            command,
            context: CommandContext { deadline, cancel },
            reply,
        }));
        // A full queue is an answer, not something to wait for: whoever floods a device learns it.
        self.jobs.try_send(order).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => CommandError::Busy(self.info.id.clone()),
            mpsc::error::TrySendError::Closed(_) => self.gone(),
        })?;
        answer.await.map_err(|_| self.gone())?
    }

    /// Whether the lease was cancelled, by its holder's run or by revocation.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Says that the holder is alive though it sends no commands.
    pub fn renew(&self) {
        if self.gate.admits(self.token) {
            self.gate.touch();
        }
    }

    /// What happened on the device since the last time it was asked.
    pub fn drain_events(&self) -> Vec<DeviceEvent> {
        let mut events = self
            .events
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        events.as_mut().map(EventStream::drain).unwrap_or_default()
    }

    fn gone(&self) -> CommandError {
        CommandError::Gone {
            device: self.info.id.clone(),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.cancel.cancel();
        let events = self.events.get_mut();
        if let Some(events) = events
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take()
        {
            self.gate.put_back_events(events);
        }
        // Ignores the mailbox's bound, and a dead device needs no release.
        self.release.do_send(Release(self.token));
    }
}
