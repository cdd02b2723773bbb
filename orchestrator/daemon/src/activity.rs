//! Since when a user or a thing has been idle. It does not know who or what.

use std::time::Duration;

use tokio::time::Instant;

/// When something was done last, and what is under way.
pub(crate) struct Activity {
    since: Instant,
    last: Instant,
    under_way: usize,
}

impl Activity {
    /// Of what begins now.
    pub(crate) const fn new(now: Instant) -> Self {
        Self {
            since: now,
            last: now,
            under_way: 0,
        }
    }

    /// Something is being done.
    pub(crate) const fn begin(&mut self) {
        self.under_way += 1;
    }

    /// It is done.
    pub(crate) const fn end(&mut self, now: Instant) {
        self.under_way -= 1;
        self.last = now;
    }

    /// For how long nothing was done; what is under way is being done.
    pub(crate) fn idle(&self, now: Instant) -> Duration {
        match self.under_way {
            0 => now.duration_since(self.last),
            _ => Duration::ZERO,
        }
    }

    /// Whether something is under way.
    pub(crate) const fn is_under_way(&self) -> bool {
        self.under_way > 0
    }

    /// How long ago it began.
    pub(crate) fn age(&self, now: Instant) -> Duration {
        now.duration_since(self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn what_was_done_or_is_under_way_is_not_idle() {
        let begun = Instant::now();
        let after = |minutes| begun + minutes * MINUTE;
        let mut activity = Activity::new(begun);
        assert_eq!(activity.idle(after(14)), 14 * MINUTE);
        activity.begin();
        activity.begin();
        assert_eq!(
            activity.idle(after(34)),
            Duration::ZERO,
            "two are under way"
        );
        activity.end(after(34));
        assert_eq!(activity.idle(after(35)), Duration::ZERO, "one is under way");
        activity.end(after(35));
        assert_eq!(activity.idle(after(35)), Duration::ZERO);
        assert_eq!(activity.idle(after(36)), MINUTE);
        assert_eq!(activity.age(after(36)), 36 * MINUTE);
    }
}
