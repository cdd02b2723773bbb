//! A session as the driver task sees it: one grant's orders, and the promise to say how it ended.

use std::sync::Arc;

use packtrain_drivers::{Command, CommandContext, Observation};
use tokio::sync::{mpsc, oneshot, watch};

use crate::gate::Gate;
use crate::lease::CommandError;

/// Commands that may wait for one device. Callbacks nest and tools work in parallel, but a device
/// does one thing at a time: a caller that queues more than this gets `Busy`.
pub(crate) const COMMAND_QUEUE: usize = 32;

/// How a session ended; `None` before it did.
pub(crate) type Ended = Option<Result<(), CommandError>>;

/// A command under a lease.
pub(crate) struct QueuedCommand {
    pub(crate) command: Command,
    pub(crate) context: CommandContext,
    pub(crate) reply: oneshot::Sender<Result<Observation, CommandError>>,
}

/// The driver's end of a lease.
pub(crate) struct Session {
    pub(crate) gate: Arc<Gate>,
    pub(crate) commands: mpsc::Receiver<Box<QueuedCommand>>,
    pub(crate) ended: watch::Sender<Ended>,
}
