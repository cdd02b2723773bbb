//! Where sessions are carried out. A run does not care where that is, and a host knows no run.

use packtrain_drivers::{BoxFuture, DeviceId};
use packtrain_model::{Outcome, RunEvent};
use tokio::sync::mpsc;

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
    /// It is gone, and nobody restarts it.
    Left,
    /// It was connected anew.
    Joined,
}

/// Where a session's events and files go, in order. It is bounded: a session waits when whoever
/// keeps them is slow.
#[derive(Debug, Clone)]
pub struct SessionOutput(Journal);

impl SessionOutput {
    /// An output into a run's journal.
    pub const fn new(journal: Journal) -> Self {
        Self(journal)
    }

    pub(crate) async fn record(&self, event: RunEvent) {
        self.0.record(event).await;
    }

    pub(crate) fn record_now(&self, event: RunEvent) {
        self.0.record_now(event);
    }

    pub(crate) async fn save(&self, artifact: NewArtifact) {
        self.0.save(artifact).await;
    }
}
