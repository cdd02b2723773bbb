//! What actor, driver task and lease share about one incarnation of a device.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use packtrain_drivers::EventStream;
use tokio_util::sync::CancellationToken;

use crate::state::FencingToken;

/// Decides, at the driver's door, whether an order is still wanted.
#[derive(Debug)]
pub(crate) struct Gate {
    /// The token that may act; 0 is nobody's.
    current: AtomicU64,
    /// Milliseconds after `epoch` at which the current lease was last used.
    used: AtomicU64,
    epoch: Instant,
    /// Ends what the current lease has under way.
    cancel: Mutex<CancellationToken>,
    /// The device's events while nobody listens.
    events: Mutex<Option<EventStream>>,
}

impl Gate {
    pub(crate) fn new(events: EventStream) -> Self {
        Self {
            current: AtomicU64::new(0),
            used: AtomicU64::new(0),
            epoch: Instant::now(),
            cancel: Mutex::new(CancellationToken::new()),
            events: Mutex::new(Some(events)),
        }
    }

    pub(crate) fn open_for(&self, token: FencingToken, cancel: CancellationToken) {
        let before = std::mem::replace(&mut *lock(&self.cancel), cancel);
        before.cancel();
        self.touch();
        self.current.store(token.0, Ordering::Release);
    }

    /// Lets nobody act and ends what is under way.
    pub(crate) fn close(&self) {
        self.current.store(0, Ordering::Release);
        lock(&self.cancel).cancel();
    }

    pub(crate) fn admits(&self, token: FencingToken) -> bool {
        self.current.load(Ordering::Acquire) == token.0
    }

    pub(crate) fn touch(&self) {
        let now = u64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.used.store(now, Ordering::Relaxed);
    }

    pub(crate) fn last_used(&self) -> Instant {
        self.epoch + Duration::from_millis(self.used.load(Ordering::Relaxed))
    }

    pub(crate) fn take_events(&self) -> Option<EventStream> {
        lock(&self.events).take()
    }

    pub(crate) fn put_back_events(&self, events: EventStream) {
        *lock(&self.events) = Some(events);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
