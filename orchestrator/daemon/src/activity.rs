//! Since when a user or a thing has been idle. It does not know who or what.

use std::sync::Arc;
use std::time::Duration;

// The clock of tokio, which tests stop.
use tokio::sync::watch;
use tokio::time::Instant;

/// When something was done last, and what is under way.
pub struct Activity {
    since: Instant,
    state: watch::Sender<State>,
}

struct State {
    last: Instant,
    under_way: usize,
}

/// Something that is under way, as long as this lives.
pub struct UnderWay(Arc<Activity>);

impl Activity {
    /// Of what begins now.
    pub fn new() -> Arc<Self> {
        let since = Instant::now();
        Arc::new(Self {
            since,
            state: watch::Sender::new(State {
                last: since,
                under_way: 0,
            }),
        })
    }

    /// Something is being done.
    pub fn begin(self: &Arc<Self>) -> UnderWay {
        self.state.send_modify(|state| state.under_way += 1);
        UnderWay(Arc::clone(self))
    }

    /// For how long nothing was done; what is under way is being done.
    pub fn idle(&self) -> Duration {
        let state = self.state.borrow();
        match state.under_way {
            0 => state.last.elapsed(),
            _ => Duration::ZERO,
        }
    }

    /// Whether something is under way.
    pub fn is_under_way(&self) -> bool {
        self.state.borrow().under_way > 0
    }

    /// How long ago it began.
    pub fn age(&self) -> Duration {
        self.since.elapsed()
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.state.send_modify(|state| {
            state.under_way -= 1;
            state.last = Instant::now();
        });
    }
}

/// How long a daemon has been of no use to anybody.
pub(crate) struct Disuse {
    limit: Option<Duration>,
    used: Instant,
}

impl Disuse {
    /// `limit` is after how long it may end; never when `None`.
    pub(crate) fn new(limit: Option<Duration>) -> Self {
        Self {
            limit,
            used: Instant::now(),
        }
    }

    /// Whether it may end, when that is how it is now.
    pub(crate) fn is_over(&mut self, is_used: bool) -> bool {
        if is_used {
            self.used = Instant::now();
        }
        self.limit.is_some_and(|limit| self.used.elapsed() >= limit)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn what_was_done_or_is_under_way_is_not_idle() {
        let activity = Activity::new();
        advance(14 * MINUTE).await;
        assert_eq!(activity.idle(), 14 * MINUTE);
        let (one, other) = (activity.begin(), activity.begin());
        advance(20 * MINUTE).await;
        assert_eq!(activity.idle(), Duration::ZERO, "two are under way");
        drop(one);
        advance(MINUTE).await;
        assert_eq!(activity.idle(), Duration::ZERO, "one is under way");
        drop(other);
        assert_eq!(activity.idle(), Duration::ZERO);
        advance(MINUTE).await;
        assert_eq!(activity.idle(), MINUTE);
        assert_eq!(activity.age(), 36 * MINUTE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_daemon_ends_when_nobody_has_used_it_for_its_time() {
        let mut disuse = Disuse::new(Some(10 * MINUTE));
        advance(9 * MINUTE).await;
        assert!(!disuse.is_over(false));
        advance(30 * MINUTE).await;
        assert!(!disuse.is_over(true), "somebody uses it");
        advance(9 * MINUTE).await;
        assert!(!disuse.is_over(false));
        advance(MINUTE).await;
        assert!(disuse.is_over(false));
        let mut endless = Disuse::new(None);
        advance(10_000 * MINUTE).await;
        assert!(!endless.is_over(false));
    }
}
