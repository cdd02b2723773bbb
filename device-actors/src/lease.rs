//! The lease: the right and the means to drive one device.

use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::{
    Command, CommandContext, DeviceEvent, DeviceId, DeviceInfo, DriverError, Fault, Observation,
};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::gate::{Gate, LeaseUse};
use crate::session::{COMMAND_QUEUE, Ended, QueuedCommand, Session};
use crate::state::{FencingToken, WaitReason};

/// Why there is no lease.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LeaseError {
    /// No device of that name in the fleet.
    #[error("unknown device {0}")]
    Unknown(DeviceId),
    /// The deadline passed while waiting.
    #[error("timed out waiting for {device}: {reason}")]
    TimedOut {
        /// Which device.
        device: DeviceId,
        /// What was waited for last.
        reason: WaitReason,
    },
    /// It could not be connected.
    #[error("{0}")]
    NotConnected(DriverError),
    /// The caller gave up.
    #[error("cancelled")]
    Cancelled,
    /// It was taken out of the fleet.
    #[error("{0} was disconnected")]
    Removed(DeviceId),
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
    /// The device died, and its driver did not say of what.
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

/// The right and the means to drive one device. Dropping it gives the device back, whenever and
/// however that happens. What was begun under it is ended before anybody else gets the device.
#[derive(Debug)]
pub struct Lease {
    info: DeviceInfo,
    gate: Arc<Gate>,
    commands: mpsc::Sender<Box<QueuedCommand>>,
    cancel: CancellationToken,
    ended: watch::Receiver<Ended>,
}

impl Lease {
    /// A lease and its other end. `cancel` is of the holder's run; `idle` is how long it may lie unused.
    pub(crate) fn new(
        info: DeviceInfo,
        token: FencingToken,
        cancel: CancellationToken,
        idle: Duration,
    ) -> (Self, Session) {
        let gate = Arc::new(Gate::new(token, idle));
        let (commands, queue) = mpsc::channel(COMMAND_QUEUE);
        let (ending, ended) = watch::channel(None);
        let session = Session {
            gate: Arc::clone(&gate),
            commands: queue,
            ended: ending,
        };
        let lease = Self {
            info,
            gate,
            commands,
            cancel,
            ended,
        };
        (lease, session)
    }

    /// The device as it described itself once connected.
    pub const fn device(&self) -> &DeviceInfo {
        &self.info
    }

    /// The lease's token.
    pub fn token(&self) -> FencingToken {
        self.gate.token()
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
        if self.gate.is_closed() {
            return Err(CommandError::Stale(self.info.id.clone()));
        }
        let _in_use = self.in_use();
        let (reply, answer) = oneshot::channel();
        let cancel = self.cancel.child_token();
        // Nobody waits any more: the driver must stop, not act on.
        let _cancel_on_drop = cancel.clone().drop_guard();
        let queued = Box::new(QueuedCommand {
            command,
            context: CommandContext { deadline, cancel },
            reply,
        });
        // A full queue is an answer, not something to wait for: a caller that floods a device learns it.
        self.commands
            .try_send(queued)
            .map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => CommandError::Busy(self.info.id.clone()),
                mpsc::error::TrySendError::Closed(_) => self.unanswered(),
            })?;
        answer.await.map_err(|_| self.unanswered())?
    }

    /// Gives the device back and waits until its session is ended. What is under way is cancelled;
    /// the end itself cannot be cancelled, only time out. Events of the session, those of its end
    /// too, may still be drained afterwards.
    ///
    /// # Errors
    /// [`CommandError`]: what the driver said to the end, or that it died before.
    pub async fn finish(&self) -> Result<(), CommandError> {
        self.gate.close();
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(ended)) => ended.clone(),
            Ok(None) | Err(_) => Err(CommandError::Gone {
                device: self.info.id.clone(),
            }),
        }
    }

    /// Whether the lease was cancelled, by its holder's run, or is over.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled() || self.gate.is_closed()
    }

    /// Whether no command reaches the device under it any more.
    pub fn is_over(&self) -> bool {
        self.gate.is_closed() || self.commands.is_closed()
    }

    /// Says that the holder uses the device, with commands or without, as long as the answer is kept.
    /// A lease in use is not taken over, however long that takes; its time starts over afterwards.
    pub fn in_use(&self) -> LeaseUse {
        LeaseUse::begin(&self.gate)
    }

    /// What happened on the device under this lease since the last time it was asked.
    pub fn drain_events(&self) -> Vec<DeviceEvent> {
        self.gate.drain_events()
    }

    pub(crate) const fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    fn unanswered(&self) -> CommandError {
        let device = self.info.id.clone();
        match self.gate.died() {
            _ if self.gate.is_closed() => CommandError::Stale(device),
            Some(error) => CommandError::Driver(error),
            None => CommandError::Gone { device },
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.gate.close();
    }
}
