//! The one task that owns a device's driver: connects it, serves one session after the other, one
//! command at a time, ends each session, and closes the driver.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::{
    Command, CommandContext, Connector, Driver, DriverError, EventStream, event_channel,
};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::gate::Gate;
use crate::lease::CommandError;
use crate::lifecycle::{DriverEnd, Event};
use crate::session::{QueuedCommand, Session};

/// How long a device may take to let go of a session, besides what its driver says it takes longer.
const SESSION_END_TIMEOUT: Duration = Duration::from_secs(15);
/// How long past its deadline, or after it was cancelled, a driver may take to answer before it
/// counts as hung.
const DRIVER_HUNG_GRACE: Duration = Duration::from_secs(10);
/// How long a driver may take to let go of its device.
const DRIVER_CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Whether a driver shall end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It shall go on.
    No,
    /// It shall end, in its own time.
    Requested,
    /// It shall be closed by then.
    By(Instant),
}

/// Where the task tells what happened.
pub(crate) type Report = Box<dyn Fn(Event) + Send + Sync>;

/// The task's side of a device.
pub(crate) struct DriverTask {
    pub(crate) connector: Arc<dyn Connector>,
    /// Ends the task too when its sender is gone.
    pub(crate) stop: watch::Receiver<Stop>,
}

/// Tells how the driver ended, even when it panics.
struct EndReport<'a> {
    report: &'a Report,
    end: Option<DriverEnd>,
}

impl Drop for EndReport<'_> {
    fn drop(&mut self) {
        let panicked = || DriverEnd::Died("the driver panicked".to_owned());
        (self.report)(Event::DriverEnded(self.end.take().unwrap_or_else(panicked)));
    }
}

impl DriverTask {
    /// Runs from connecting to closing.
    pub(crate) async fn run(
        self,
        mut sessions: mpsc::Receiver<Session>,
        deadline: Instant,
        report: Report,
    ) {
        let mut ended = EndReport {
            report: &report,
            end: None,
        };
        let (sink, mut stream) = event_channel();
        let context = CommandContext {
            deadline,
            cancel: CancellationToken::new(),
        };
        let connecting = self.connector.connect(sink, &context);
        let connected = self.answer(connecting, &context, self.stopped()).await;
        let mut driver = match connected {
            Some(Ok(driver)) => driver,
            Some(Err(error)) => {
                ended.end = Some(DriverEnd::NotConnected(error));
                return;
            }
            None => {
                let hung = DriverError::lost("it did not connect in time");
                ended.end = Some(DriverEnd::NotConnected(hung));
                return;
            }
        };
        report(Event::Connected(driver.info().clone()));
        let end = loop {
            let session = tokio::select! {
                biased;
                () = self.stopped() => break DriverEnd::Stopped,
                session = sessions.recv() => match session {
                    Some(session) => session,
                    None => break DriverEnd::Stopped,
                },
            };
            match self.serve(&mut driver, session, stream, &report).await {
                Ok(returned) => stream = returned,
                Err(cause) => break DriverEnd::Died(cause),
            }
        };
        let limit = DRIVER_CLOSE_TIMEOUT + driver.end_grace();
        tokio::select! {
            () = driver.close() => {}
            () = self.grace_period(limit) => {
                tracing::warn!(device = %self.connector.id(), "its driver did not close in time");
            }
        }
        ended.end = Some(end);
    }

    /// Serves one session to its end. Answers why the driver died, if it did.
    async fn serve(
        &self,
        driver: &mut Box<dyn Driver>,
        mut session: Session,
        events: EventStream,
        report: &Report,
    ) -> Result<EventStream, String> {
        let gate = Arc::clone(&session.gate);
        gate.attach(events);
        let mut begun = false;
        let died = loop {
            let queued = tokio::select! {
                biased;
                () = gate.closed() => break None,
                queued = session.commands.recv() => queued,
            };
            let Some(queued) = queued else { break None };
            let died = self.execute(driver, *queued, &gate, &mut begun).await;
            if died.is_some() {
                break died;
            }
        };
        // A caller still waiting for an answer learns at once that there will be none.
        drop(session.commands);
        report(Event::SessionClosing(gate.token()));
        let ended = match &died {
            Some(_) => Err(CommandError::Gone {
                device: self.connector.id().clone(),
            }),
            None if begun => self.end_session(driver).await,
            None => Ok(()),
        };
        let stream = gate.detach();
        let died = died.or_else(|| match &ended {
            Err(CommandError::Driver(
                error @ (DriverError::Lost { .. } | DriverError::Timeout { .. }),
            )) => Some(format!("ending its session: {error}")),
            _ => None,
        });
        if died.is_none() {
            report(Event::SessionEnded(gate.token()));
        }
        session.ended.send_replace(Some(ended));
        match (died, stream) {
            (None, Some(stream)) => Ok(stream),
            (Some(cause), _) => Err(cause),
            (None, None) => Err("its events were lost".to_owned()),
        }
    }

    /// Ends what `Begin` began. Cannot be cancelled.
    async fn end_session(&self, driver: &mut Box<dyn Driver>) -> Result<(), CommandError> {
        let limit = SESSION_END_TIMEOUT + driver.end_grace();
        let context = CommandContext {
            deadline: Instant::now() + self.share(limit),
            cancel: CancellationToken::new(),
        };
        let ending = driver.execute(Command::End, &context);
        let answer = tokio::select! {
            biased;
            answer = ending => answer,
            () = self.grace_period(limit + DRIVER_HUNG_GRACE) => {
                Err(DriverError::lost("the driver hung in `end` and did not time out"))
            }
        };
        if let Err(error) = &answer {
            tracing::warn!(device = %self.connector.id(), %error, "its session did not end cleanly");
        }
        answer.map(drop).map_err(CommandError::from)
    }

    async fn execute(
        &self,
        driver: &mut Box<dyn Driver>,
        queued: QueuedCommand,
        gate: &Gate,
        begun: &mut bool,
    ) -> Option<String> {
        let QueuedCommand {
            command,
            context,
            reply,
        } = queued;
        if context.cancel.is_cancelled() {
            let _ = reply.send(Err(DriverError::Cancelled.into()));
            return None;
        }
        let name = command.name();
        let is_end = matches!(command, Command::End);
        // Even one that fails may have begun something.
        *begun |= matches!(command, Command::Begin(_));
        let executing = driver.execute(command, &context);
        let answer = self.answer(executing, &context, gate.closed()).await;
        let answer = answer.unwrap_or_else(|| {
            Err(DriverError::lost(format!(
                "the driver hung in `{name}` and did not time out"
            )))
        });
        *begun &= !(is_end && answer.is_ok());
        let died = answer.as_ref().err().filter(|error| error.ends_driver());
        let died = died.map(|error| {
            gate.die(error);
            error.to_string()
        });
        let _ = reply.send(answer.map_err(CommandError::from));
        died
    }

    /// What the driver answers; `None` when it hangs. Once `cancelled` ends it is cancelled.
    async fn answer<T>(
        &self,
        work: impl Future<Output = T>,
        context: &CommandContext,
        cancelled: impl Future<Output = ()>,
    ) -> Option<T> {
        let hung = async {
            tokio::select! {
                () = sleep_until(context.deadline.max(Instant::now())) => {}
                () = context.cancel.cancelled() => {}
                () = cancelled => context.cancel.cancel(),
            }
            self.grace_period(DRIVER_HUNG_GRACE).await;
        };
        tokio::select! {
            biased;
            answer = work => Some(answer),
            () = hung => None,
        }
    }

    async fn stopped(&self) {
        let mut stop = self.stop.clone();
        let _ = stop.wait_for(|stop| *stop != Stop::No).await;
    }

    /// Ends after `full`. When all must be over by a moment, each wait may take half of what is
    /// left until then.
    async fn grace_period(&self, full: Duration) {
        let begun = Instant::now();
        let mut stop = self.stop.clone();
        loop {
            stop.mark_unchanged();
            let end = (begun + full).min(Instant::now() + self.share(full));
            tokio::select! {
                () = sleep_until(end) => return,
                Ok(()) = stop.changed() => {}
            }
        }
    }

    fn share(&self, full: Duration) -> Duration {
        match *self.stop.borrow() {
            Stop::By(deadline) => full.min(deadline.saturating_duration_since(Instant::now()) / 2),
            Stop::No | Stop::Requested => full,
        }
    }
}
