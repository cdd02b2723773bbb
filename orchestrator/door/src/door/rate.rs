//! How many requests a caller may make: so many a second, twice as many at once. Of each caller one
//! number is kept: the moment at which all it asked for is paid for.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::tokens::Principal;

/// Callers that are remembered; those who owe nothing are forgotten first.
const MAX_REMEMBERED: usize = 1024;
/// How much may be owed.
const BURST_LIMIT: Duration = Duration::from_secs(2);

pub(crate) struct Rate {
    start: Instant,
    /// What a request costs, in nanoseconds.
    cost: u64,
    /// When those are paid for that no principal made.
    of_nobody: AtomicU64,
    paid: Mutex<HashMap<Principal, u64>>,
}

impl Rate {
    pub(crate) fn new(per_second: u32) -> Self {
        Self {
            start: Instant::now(),
            cost: 1_000_000_000 / u64::from(per_second.max(1)),
            of_nobody: AtomicU64::new(0),
            paid: Mutex::default(),
        }
    }

    /// Whether one more is fine.
    pub(crate) fn admits(&self, who: Option<&Principal>, now: Instant) -> bool {
        let now = nanoseconds(now.saturating_duration_since(self.start));
        let Some(who) = who else {
            let (order, charge) = (Ordering::Relaxed, |paid| self.charged(paid, now));
            return self.of_nobody.fetch_update(order, order, charge).is_ok();
        };
        let mut all = self.paid.lock();
        if let Some(paid) = all.get_mut(who) {
            let charged = self.charged(*paid, now);
            *paid = charged.unwrap_or(*paid);
            return charged.is_some();
        }
        if all.len() >= MAX_REMEMBERED {
            all.retain(|_, paid| *paid > now);
        }
        all.insert(who.clone(), now + self.cost);
        true
    }

    /// When it is paid for with one more; `None` when that is too far off.
    fn charged(&self, paid: u64, now: u64) -> Option<u64> {
        let charged = paid.max(now) + self.cost;
        (charged - now <= nanoseconds(BURST_LIMIT)).then_some(charged)
    }
}

/// Enough for five centuries.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_a_seconds_worth_at_once_and_then_so_many_a_second() {
        let rate = Rate::new(10);
        let start = rate.start;
        let (a, b) = (Principal::named("a"), Principal::named("b"));
        let admitted = |who: Option<&Principal>, count, now| {
            (0..count).filter(|_| rate.admits(who, now)).count()
        };
        for who in [Some(&a), None] {
            assert_eq!(admitted(who, 100, start), 20);
            assert_eq!(admitted(who, 100, start + Duration::from_secs(1)), 10);
            assert_eq!(admitted(who, 100, start + Duration::from_secs(60)), 20);
        }
        assert_eq!(admitted(Some(&b), 5, start), 5, "everybody has their own");
    }

    #[test]
    fn who_has_long_been_silent_is_forgotten() {
        let rate = Rate::new(10);
        for who in 0..10 * MAX_REMEMBERED {
            let now = rate.start + Duration::from_secs(who as u64);
            assert!(rate.admits(Some(&Principal::named(&who.to_string())), now));
        }
        assert!(rate.paid.lock().len() <= MAX_REMEMBERED);
    }
}
