//! The contract a wire fulfils: connect, execute one command at a time, close.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::command::Command;
use crate::device::{DeviceId, DeviceInfo};
use crate::error::DriverError;
use crate::event::EventSink;
use crate::observation::Observation;

/// A boxed future, for traits that are used as objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// When a command must be done, and how it learns that its caller stopped waiting.
#[derive(Debug, Clone)]
pub struct CommandContext {
    /// The latest moment at which an answer is of use. Set once, at the run; inner layers may
    /// shorten it, never extend it.
    pub deadline: Instant,
    /// Cancelled when the run stops or the lease is revoked.
    pub cancel: CancellationToken,
}

impl CommandContext {
    /// A context with so much time that is never cancelled.
    pub fn within(time: Duration) -> Self {
        Self {
            deadline: Instant::now() + time,
            cancel: CancellationToken::new(),
        }
    }

    /// For the parts of a command: an inner wait ends a little earlier, by `most` at most, and
    /// can say what it waited for.
    pub fn early(&self, most: Duration) -> Self {
        let early = (self.remaining() / 20).min(most);
        Self {
            deadline: self.deadline.checked_sub(early).unwrap_or(self.deadline),
            cancel: self.cancel.clone(),
        }
    }

    /// Awaits `work` for as long as its answer is of use. `doing` is what it is called.
    ///
    /// # Errors
    /// As `work`, [`DriverError::Cancelled`], or [`DriverError::Timeout`] at the deadline.
    pub async fn bound<T>(
        &self,
        doing: &str,
        work: impl Future<Output = Result<T, DriverError>>,
    ) -> Result<T, DriverError> {
        let begun = Instant::now();
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(DriverError::Cancelled),
            answer = work => answer,
            () = tokio::time::sleep_until(self.deadline) => Err(DriverError::Timeout {
                doing: doing.to_owned(),
                after: begun.elapsed(),
                log: Vec::new(),
            }),
        }
    }

    /// Time until the deadline; zero when it has passed.
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// The shorter of the remaining time and `limit`.
    pub fn remaining_up_to(&self, limit: Duration) -> Duration {
        self.remaining().min(limit)
    }
}

/// A connected device. One command at a time; the caller never overlaps two.
pub trait Driver: Send {
    /// What the device said about itself when it was connected.
    fn info(&self) -> &DeviceInfo;

    /// Carries out one command. Must answer by `ctx.deadline` and soon after `ctx.cancel`.
    ///
    /// # Errors
    /// [`DriverError`], whose [`fault`](DriverError::fault) says whether the app, the caller or
    /// the device is to blame. [`DriverError::Lost`] ends the driver: it gets no further command.
    fn execute<'a>(
        &'a mut self,
        command: Command,
        ctx: &'a CommandContext,
    ) -> BoxFuture<'a, Result<Observation, DriverError>>;

    /// How much longer than usual it takes at most to end its session and to let go of the device,
    /// such as for a trace to be written.
    fn end_grace(&self) -> Duration {
        Duration::ZERO
    }

    /// Lets go of the device and of everything that was started for it.
    fn close(self: Box<Self>) -> BoxFuture<'static, ()>;
}

/// How to reach one device, as often as need be: the stored spec a dead device is re-created from.
pub trait Connector: Send + Sync {
    /// The device this connector leads to.
    fn id(&self) -> &DeviceId;

    /// What is known of the device without connecting to it. Classifiers must be final, for
    /// plans are made from them; model, system and size may be refined by connecting.
    fn describe(&self) -> DeviceInfo;

    /// Connects. Things that happen on the device unasked go to `events`.
    ///
    /// # Errors
    /// [`DriverError::Lost`] with a cause and a hint when the device cannot be reached.
    fn connect<'a>(
        &'a self,
        events: EventSink,
        ctx: &'a CommandContext,
    ) -> BoxFuture<'a, Result<Box<dyn Driver>, DriverError>>;
}
