//! Where sessions are carried out. A run does not care where that is, and a host knows no run.

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use chrono::{DateTime, Utc};
use packtrain_drivers::{BoxFuture, DeviceId};
use packtrain_model::{Outcome, RunEvent};
use tokio::sync::{mpsc, oneshot};

use crate::journal::{Journal, NewArtifact};
use crate::order::SessionOrder;
use crate::stop::SessionStop;

/// Carries out sessions.
pub trait SessionHost: Send + Sync {
    /// Carries out an order to its end. Whatever happens to the device or the app is an outcome.
    /// Dropping the future ends the session at once and gives the device back.
    fn run(
        &self,
        order: SessionOrder,
        output: SessionOutput,
        stop: SessionStop,
    ) -> BoxFuture<'static, Outcome>;

    /// What happens to its devices from now on.
    fn device_changes(&self) -> mpsc::Receiver<DeviceChange>;

    /// How long ago the run began, when that was in an earlier process; 0 for one that began in this.
    fn before(&self) -> Duration {
        Duration::ZERO
    }
}

/// Something that happened to a device of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceChange {
    /// The device.
    pub id: DeviceId,
    /// What happened.
    pub kind: DeviceChangeKind,
}

/// What happened to a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceChangeKind {
    /// It died and is being restarted.
    Down,
    /// It is there again.
    Up,
    /// It is gone and is not restarted.
    Left,
    /// It was reconnected.
    Joined,
}

/// Where a session's events and files go, in order. It is bounded: a session waits when its reader
/// is slow.
#[derive(Clone)]
pub struct SessionOutput {
    to: OutputTarget,
    took: Arc<OnceLock<Duration>>,
    /// The device that it began on, and whether it took the place of the planned one.
    device: Arc<OnceLock<(DeviceId, bool)>>,
}

#[derive(Clone)]
enum OutputTarget {
    Journal(Journal),
    Elsewhere(mpsc::Sender<SessionMessage>),
}

/// What a session says to a run that is elsewhere.
#[derive(Debug)]
pub enum SessionMessage {
    /// Something happened, at that moment.
    Event(Box<RunEvent>, DateTime<Utc>),
    /// A file. The session goes on when the other is dropped.
    File(NewArtifact, oneshot::Sender<Infallible>),
    /// What it waits for, in words, while another session has its device.
    Waits(String),
}

impl SessionOutput {
    /// An output into a run's journal.
    pub fn new(journal: Journal) -> Self {
        Self::to(OutputTarget::Journal(journal))
    }

    /// An output to a run that is elsewhere, for its transport. The session waits while so many
    /// messages do.
    pub fn elsewhere(waiting: usize) -> (Self, mpsc::Receiver<SessionMessage>) {
        let (to, messages) = mpsc::channel(waiting);
        (Self::to(OutputTarget::Elsewhere(to)), messages)
    }

    fn to(to: OutputTarget) -> Self {
        Self {
            to,
            took: Arc::default(),
            device: Arc::default(),
        }
    }

    /// Says how long the session took, when that is not the time from its order to its outcome: it may
    /// have waited in a queue.
    pub fn took(&self, duration: Duration) {
        // The first word counts.
        let _ = self.took.set(duration);
    }

    /// How long the session took, if that was said.
    pub(crate) fn duration(&self) -> Option<Duration> {
        self.took.get().copied()
    }

    /// The device that the session began on, once it has, and whether it took the place of the planned one.
    pub(crate) fn device(&self) -> Option<&(DeviceId, bool)> {
        self.device.get()
    }

    fn learn(&self, event: &RunEvent) {
        if let RunEvent::SessionStarted {
            device, planned, ..
        } = event
        {
            let replaces = planned.device.as_ref() != Some(&device.id);
            // A session has one device.
            let _ = self.device.set((device.id.clone(), replaces));
        }
    }

    /// Journals an event.
    pub async fn record(&self, event: RunEvent) {
        self.learn(&event);
        match &self.to {
            OutputTarget::Journal(journal) => journal.record(event).await,
            OutputTarget::Elsewhere(_) => self.record_at(event, Utc::now()).await,
        }
    }

    /// Journals an event of another computer, which happened at that moment by its clock.
    pub async fn record_at(&self, event: RunEvent, at: DateTime<Utc>) {
        self.learn(&event);
        match &self.to {
            OutputTarget::Journal(journal) => journal.record_at(event, at).await,
            // Messages about an abandoned session have no reader.
            OutputTarget::Elsewhere(run) => {
                drop(run.send(SessionMessage::Event(event.into(), at)).await)
            }
        }
    }

    pub(crate) fn record_now(&self, event: RunEvent) {
        match &self.to {
            OutputTarget::Journal(journal) => journal.record_now(event),
            OutputTarget::Elsewhere(run) => {
                let message = SessionMessage::Event(event.into(), Utc::now());
                if let Err(mpsc::error::TrySendError::Full(message)) = run.try_send(message) {
                    let run = run.clone();
                    tokio::spawn(async move { run.send(message).await });
                }
            }
        }
    }

    /// Says what the session waits for, while another session has its device.
    pub(crate) fn waits(&self, reason: &str) {
        match &self.to {
            // Within a run devices are planned.
            OutputTarget::Journal(_) => {}
            // When there is no room something newer is on its way.
            OutputTarget::Elsewhere(run) => {
                drop(run.try_send(SessionMessage::Waits(reason.to_owned())))
            }
        }
    }

    /// Saves a file and journals that it was.
    pub async fn save(&self, artifact: NewArtifact) {
        match &self.to {
            OutputTarget::Journal(journal) => journal.save(artifact).await,
            OutputTarget::Elsewhere(run) => {
                let (taken, is_taken) = oneshot::channel();
                if run
                    .send(SessionMessage::File(artifact, taken))
                    .await
                    .is_ok()
                {
                    let _ = is_taken.await;
                }
            }
        }
    }
}
