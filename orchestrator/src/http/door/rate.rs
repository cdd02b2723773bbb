//! How many requests somebody may make: so many a second, twice as many at once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Callers that are remembered; those with nothing to their name are forgotten first.
const MAX_REMEMBERED: usize = 1024;

pub(super) struct Rate {
    per_second: f64,
    spent: Mutex<HashMap<String, Spent>>,
}

struct Spent {
    requests: f64,
    at: Instant,
}

impl Rate {
    pub(super) fn new(per_second: u32) -> Self {
        Self {
            per_second: f64::from(per_second),
            spent: Mutex::default(),
        }
    }

    /// Whether one more is fine.
    pub(super) fn admits(&self, who: &str, now: Instant) -> bool {
        let mut all = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(spent) = all.get_mut(who) {
            spent.requests = self.left(spent, now);
            spent.at = now;
            let is_fine = spent.requests + 1.0 <= self.per_second * 2.0;
            spent.requests += if is_fine { 1.0 } else { 0.0 };
            return is_fine;
        }
        if all.len() >= MAX_REMEMBERED {
            all.retain(|_, spent| self.left(spent, now) > 0.0);
        }
        let first = Spent {
            requests: 1.0,
            at: now,
        };
        all.insert(who.to_owned(), first);
        true
    }

    /// What of it still counts.
    fn left(&self, spent: &Spent, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(spent.at).as_secs_f64();
        (spent.requests - passed * self.per_second).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn twice_a_seconds_worth_at_once_and_then_so_many_a_second() {
        let (rate, start) = (Rate::new(10), Instant::now());
        let admitted = |who, count, now| (0..count).filter(|_| rate.admits(who, now)).count();
        assert_eq!(admitted("a", 100, start), 20);
        assert_eq!(admitted("b", 5, start), 5, "everybody has their own");
        assert_eq!(admitted("a", 100, start + Duration::from_secs(1)), 10);
        assert_eq!(admitted("a", 100, start + Duration::from_secs(60)), 20);
    }

    #[test]
    fn who_has_long_been_silent_is_forgotten() {
        let (rate, start) = (Rate::new(10), Instant::now());
        for who in 0..10 * MAX_REMEMBERED {
            let now = start + Duration::from_secs(who as u64);
            assert!(rate.admits(&who.to_string(), now));
        }
        assert!(rate.spent.lock().unwrap().len() <= MAX_REMEMBERED);
    }
}
