//! What actor, driver task and lease share about one grant: whether it is still good, until when it
//! counts as used, and the events that belong to it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use packtrain_drivers::{DeviceEvent, DriverError, EventStream};
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

use crate::state::FencingToken;

/// One grant.
#[derive(Debug)]
pub(crate) struct Gate {
    token: FencingToken,
    closed: CancellationToken,
    /// How long it may lie unused before it is taken over.
    idle: Duration,
    state: Mutex<GateState>,
    /// What the driver died of.
    died: OnceLock<DriverError>,
}

#[derive(Debug)]
struct GateState {
    /// Calls and commands under way, and when the last was.
    under_way: usize,
    last: Instant,
    /// The device's stream while the session lasts, and what was left in it when it ended.
    stream: Option<EventStream>,
    rest: Vec<DeviceEvent>,
}

/// A use of a lease that is under way: as long as it lives the lease is not taken over.
#[derive(Debug)]
#[must_use = "the lease is in use as long as this is kept"]
pub struct LeaseUse(Arc<Gate>);

impl LeaseUse {
    pub(crate) fn begin(gate: &Arc<Gate>) -> Self {
        gate.state.lock().under_way += 1;
        Self(Arc::clone(gate))
    }
}

impl Drop for LeaseUse {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.under_way -= 1;
        state.last = Instant::now();
    }
}

impl Gate {
    pub(crate) fn new(token: FencingToken, idle: Duration) -> Self {
        Self {
            token,
            closed: CancellationToken::new(),
            idle,
            state: Mutex::new(GateState {
                under_way: 0,
                last: Instant::now(),
                stream: None,
                rest: Vec::new(),
            }),
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

    /// Notes what the driver died of, for callers after the one that was answered.
    pub(crate) fn die(&self, error: &DriverError) {
        let _ = self.died.set(error.clone());
    }

    pub(crate) fn died(&self) -> Option<DriverError> {
        self.died.get().cloned()
    }

    /// When the lease may be taken over, if it is not used until then.
    pub(crate) fn idle_at(&self) -> Instant {
        let state = self.state.lock();
        let last = match state.under_way {
            0 => state.last,
            _ => Instant::now(),
        };
        last + self.idle
    }

    /// From now on events are this grant's. What happened before belongs to no grant.
    pub(crate) fn attach(&self, mut stream: EventStream) {
        stream.drain();
        self.state.lock().stream = Some(stream);
    }

    /// From now on events are not this grant's; what is there stays.
    pub(crate) fn detach(&self) -> Option<EventStream> {
        let mut state = self.state.lock();
        let mut stream = state.stream.take()?;
        state.rest.extend(stream.drain());
        Some(stream)
    }

    pub(crate) fn drain_events(&self) -> Vec<DeviceEvent> {
        let mut state = self.state.lock();
        match &mut state.stream {
            Some(stream) => stream.drain(),
            None => std::mem::take(&mut state.rest),
        }
    }
}
