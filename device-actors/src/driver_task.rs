//! The one task that owns a device's driver: takes jobs off the queue, one at a time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use packtrain_drivers::{
    CommandContext, Connector, DeviceInfo, Driver, DriverError, EventSink, Observation,
};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::gate::Gate;
use crate::lease::CommandError;
use crate::state::FencingToken;

/// Jobs that may wait for one device. Callbacks nest and tools work in parallel, but a device does
/// one thing at a time: whoever queues more than this is told it is busy.
pub(crate) const QUEUE: usize = 32;

/// How long past its deadline a driver may take to answer before it counts as hung.
const HUNG: Duration = Duration::from_secs(10);
/// How long a driver may take to let go of its device.
const CLOSING: Duration = Duration::from_secs(10);

/// Something for the driver task to do.
pub(crate) enum Job {
    /// Connect, unless that is done, and say what the device is.
    Connect {
        context: CommandContext,
        reply: oneshot::Sender<Result<DeviceInfo, DriverError>>,
    },
    /// Carry out a command.
    Execute(Box<Order>),
}

/// A command under a lease.
pub(crate) struct Order {
    pub(crate) token: FencingToken,
    pub(crate) command: packtrain_drivers::Command,
    pub(crate) context: CommandContext,
    pub(crate) reply: oneshot::Sender<Result<Observation, CommandError>>,
}

/// The task's side of a device.
pub(crate) struct DriverTask {
    pub(crate) connector: Arc<dyn Connector>,
    pub(crate) jobs: mpsc::Receiver<Job>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) events: EventSink,
    /// Cancelled when the device shall end.
    pub(crate) stop: CancellationToken,
}

impl DriverTask {
    /// Runs until the device dies, which is why, or is told to end, which is `None`.
    pub(crate) async fn run(mut self) -> Option<String> {
        let mut driver: Option<Box<dyn Driver>> = None;
        let cause = loop {
            let job = tokio::select! {
                biased;
                () = self.stop.cancelled() => break None,
                job = self.jobs.recv() => match job {
                    Some(job) => job,
                    None => break None,
                },
            };
            let died = match job {
                Job::Connect { context, reply } => self.connect(&mut driver, &context, reply).await,
                Job::Execute(order) => self.execute(&mut driver, *order).await,
            };
            if died.is_some() {
                break died;
            }
        };
        if let Some(driver) = driver {
            let _ = tokio::time::timeout(CLOSING, driver.close()).await;
        }
        cause
    }

    async fn connect(
        &self,
        driver: &mut Option<Box<dyn Driver>>,
        context: &CommandContext,
        reply: oneshot::Sender<Result<DeviceInfo, DriverError>>,
    ) -> Option<String> {
        if let Some(driver) = driver {
            let _ = reply.send(Ok(driver.info().clone()));
            return None;
        }
        let connected = tokio::select! {
            connected = self.connector.connect(self.events.clone(), context) => connected,
            () = hung(context) => Err(DriverError::lost("it did not connect in time")),
            () = self.stop.cancelled() => Err(DriverError::Cancelled),
        };
        match connected {
            Ok(connected) => {
                let _ = reply.send(Ok(connected.info().clone()));
                *driver = Some(connected);
                None
            }
            Err(error) => {
                // A failed attempt leaves nothing behind; the next lease tries afresh.
                let _ = reply.send(Err(error));
                None
            }
        }
    }

    async fn execute(&self, driver: &mut Option<Box<dyn Driver>>, order: Order) -> Option<String> {
        let device = || self.connector.id().clone();
        let Order {
            token,
            command,
            context,
            reply,
        } = order;
        if !self.gate.admits(token) {
            let _ = reply.send(Err(CommandError::Stale(device())));
            return None;
        }
        if context.cancel.is_cancelled() {
            let _ = reply.send(Err(DriverError::Cancelled.into()));
            return None;
        }
        let Some(connected) = driver.as_mut() else {
            let _ = reply.send(Err(CommandError::Gone { device: device() }));
            return None;
        };
        self.gate.touch();
        let name = command.name();
        let answer = tokio::select! {
            answer = connected.execute(command, &context) => answer,
            () = hung(&context) => Err(DriverError::Lost {
                cause: format!("its driver hung in `{name}` and did not even time out"),
                hint: None,
            }),
        };
        self.gate.touch();
        let died = match &answer {
            Err(error) if error.ends_driver() => Some(error.to_string()),
            _ => None,
        };
        let _ = reply.send(answer.map_err(CommandError::from));
        died
    }
}

/// Ends when even the grace after the deadline is over.
async fn hung(context: &CommandContext) {
    let end = context.deadline.max(Instant::now()) + HUNG;
    tokio::time::sleep_until(end.into()).await;
}
