//! Waiting for a screen to change by looking at it again and again, for devices that tell of
//! nothing unasked.

use std::time::Duration;

use tokio::time::Instant;

/// The pause between two looks; a look takes as long on many phones.
const CHANGE_POLL: Duration = Duration::from_millis(80);

/// The pace of looks at a screen that is to change.
#[derive(Debug, Clone, Copy)]
pub struct ChangePoll {
    end: Instant,
}

impl ChangePoll {
    /// For as long as `limit`.
    pub fn within(limit: Duration) -> Self {
        let now = Instant::now();
        Self {
            end: now.checked_add(limit).unwrap_or(now),
        }
    }

    /// Lets time pass until the next look is due; `false` when that would come after the limit.
    pub async fn again(&self) -> bool {
        self.meanwhile(async {}).await.is_some()
    }

    /// As [`Self::again`], with work that does not have to wait until then; `None` when the next look
    /// would come after the limit.
    pub async fn meanwhile<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        if Instant::now() + CHANGE_POLL >= self.end {
            return None;
        }
        let (done, ()) = tokio::join!(work, tokio::time::sleep(CHANGE_POLL));
        Some(done)
    }
}
