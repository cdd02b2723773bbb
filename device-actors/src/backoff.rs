//! How long a device that died is left alone. Pure.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// After the first death. Doubles with each further one in a row.
const RESTART_BACKOFF_MIN: Duration = Duration::from_millis(250);
/// More is never waited.
const RESTART_BACKOFF_MAX: Duration = Duration::from_secs(30);

/// One device's back-off. The seed spreads devices that died of one cause.
#[derive(Debug)]
pub(crate) struct Backoff {
    pub(crate) seed: u64,
}

impl Backoff {
    /// Between half and all of what `failures` deaths in a row ask for.
    pub(crate) fn after(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(16);
        let full = (RESTART_BACKOFF_MIN * (1 << doublings)).min(RESTART_BACKOFF_MAX);
        let mut hasher = DefaultHasher::new();
        (self.seed, failures).hash(&mut hasher);
        let jitter = f64::from(u16::try_from(hasher.finish() >> 48).unwrap_or(u16::MAX));
        full.mul_f64(0.5 + 0.5 * jitter / f64::from(u16::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_back_off_grows_is_capped_and_differs_between_devices() {
        for seed in 0..100 {
            let backoff = Backoff { seed };
            for failures in 1..40 {
                let full =
                    (RESTART_BACKOFF_MIN * (1 << (failures - 1).min(16))).min(RESTART_BACKOFF_MAX);
                let waited = backoff.after(failures);
                assert!(
                    waited >= full / 2 && waited <= full,
                    "{failures}: {waited:?}"
                );
            }
        }
        assert_ne!(Backoff { seed: 1 }.after(5), Backoff { seed: 2 }.after(5));
    }
}
