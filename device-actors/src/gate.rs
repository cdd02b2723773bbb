//! What actor, driver task and lease share about one grant: whether it is still good, when it was
//! used last, and the events that belong to it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use packtrain_drivers::{DeviceEvent, DriverError, EventStream};
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

use crate::clock::now;
use crate::state::FencingToken;

/// One grant.
#[derive(Debug)]
pub(crate) struct Gate {
    token: FencingToken,
    closed: CancellationToken,
    /// Milliseconds after `epoch` at which the lease was last used.
    used: AtomicU64,
    epoch: Instant,
    events: Mutex<Events>,
    /// What the driver died of.
    died: OnceLock<DriverError>,
}

/// The device's stream while the session lasts, and what was left in it when it ended.
#[derive(Debug, Default)]
struct Events {
    stream: Option<EventStream>,
    rest: Vec<DeviceEvent>,
}

impl Gate {
    pub(crate) fn new(token: FencingToken) -> Self {
        Self {
            token,
            closed: CancellationToken::new(),
            used: AtomicU64::new(0),
            epoch: now(),
            events: Mutex::default(),
            died: OnceLock::new(),
        }
    }

    pub(crate) const fn token(&self) -> FencingToken {
        self.token
    }

    /// Ends the session: what is under way is cancelled and nothing more is admitted.
    pub(crate) fn close(&self) {
        self.closed.cancel();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.is_cancelled()
    }

    pub(crate) fn closed(&self) -> WaitForCancellationFuture<'_> {
        self.closed.cancelled()
    }

    /// Notes what the driver died of, for whoever asks after the one who was answered.
    pub(crate) fn die(&self, error: &DriverError) {
        let _ = self.died.set(error.clone());
    }

    pub(crate) fn died(&self) -> Option<DriverError> {
        self.died.get().cloned()
    }

    pub(crate) fn touch(&self) {
        let used = now().saturating_duration_since(self.epoch).as_millis();
        let used = u64::try_from(used).unwrap_or(u64::MAX);
        self.used.store(used, Ordering::Relaxed);
    }

    pub(crate) fn last_used(&self) -> Instant {
        self.epoch + Duration::from_millis(self.used.load(Ordering::Relaxed))
    }

    /// From now on events are this grant's. What happened before is nobody's any more.
    pub(crate) fn attach(&self, mut stream: EventStream) {
        stream.drain();
        self.events().stream = Some(stream);
    }

    /// From now on events are not this grant's; what is there stays.
    pub(crate) fn detach(&self) -> Option<EventStream> {
        let mut events = self.events();
        let mut stream = events.stream.take()?;
        events.rest.extend(stream.drain());
        Some(stream)
    }

    pub(crate) fn drain_events(&self) -> Vec<DeviceEvent> {
        let mut events = self.events();
        match &mut events.stream {
            Some(stream) => stream.drain(),
            None => std::mem::take(&mut events.rest),
        }
    }

    fn events(&self) -> MutexGuard<'_, Events> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
