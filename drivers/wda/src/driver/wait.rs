//! Waiting for the screen to change or to be still: by reading it again and again, for
//! WebDriverAgent tells of nothing unasked. What ended the waiting is kept for the snapshot that
//! follows, because phones take their time to read a screen.

use std::time::{Duration, Instant};

use packtrain_drivers::{CommandContext, Observation, Tree};

use super::{Result, WdaDriver, done, noted};
use crate::source;

/// How long is waited between two looks; a look itself takes as long on a phone.
const POLL: Duration = Duration::from_millis(100);
/// A look that took less is not worth keeping.
const SLOW: Duration = Duration::from_millis(100);
/// How long after it was taken a look may stand for a snapshot.
const FRESH: Duration = Duration::from_millis(50);

/// The elements as they were when a wait ended.
pub(super) struct LastLook {
    tree: Tree,
    taken: Instant,
}

impl LastLook {
    /// The elements, while they are as good as new.
    pub(super) fn fresh(self, now: Instant) -> Option<Tree> {
        (now.saturating_duration_since(self.taken) <= FRESH).then_some(self.tree)
    }
}

/// One look at the screen.
struct Look {
    fingerprint: u64,
    tree: Tree,
    began: Instant,
}

impl WdaDriver {
    /// Waits until the elements have been the same for `quiet`.
    pub(super) async fn settle(
        &mut self,
        quiet: Duration,
        limit: Duration,
        ctx: &CommandContext,
    ) -> Result<Observation> {
        let end = Instant::now() + ctx.remaining_up_to(limit);
        let mut since = Instant::now();
        let mut last = self.look(ctx).await?.fingerprint;
        loop {
            let still = since.elapsed();
            let now = Instant::now();
            if now >= end {
                return noted(format!(
                    "the screen was still changing after {:.1} s",
                    limit.as_secs_f64()
                ));
            }
            // The last look is the one that proves it, so it comes when the time is up.
            let pause = quiet.saturating_sub(still).min(POLL).min(end - now);
            tokio::time::sleep(pause).await;
            let look = self.look(ctx).await?;
            if look.fingerprint != last {
                (last, since) = (look.fingerprint, look.began);
            } else if look.began - since >= quiet {
                self.keep(look);
                return done();
            }
        }
    }

    /// Waits until the elements differ from those of the last snapshot.
    pub(super) async fn await_change(
        &mut self,
        limit: Duration,
        ctx: &CommandContext,
    ) -> Result<Observation> {
        let Some(before) = self.state.seen else {
            return Ok(Observation::Json(false.into()));
        };
        let end = Instant::now() + ctx.remaining_up_to(limit);
        loop {
            let look = self.look(ctx).await?;
            if look.fingerprint != before {
                self.keep(look);
                return Ok(Observation::Json(true.into()));
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Observation::Json(false.into()));
            }
            tokio::time::sleep(left.min(POLL)).await;
        }
    }

    async fn look(&mut self, ctx: &CommandContext) -> Result<Look> {
        let began = Instant::now();
        let tree = self.tree(ctx).await?;
        Ok(Look {
            fingerprint: source::fingerprint(&tree),
            tree,
            began,
        })
    }

    fn keep(&mut self, look: Look) {
        self.state.last_look = look.worth_keeping(Instant::now());
    }
}

impl Look {
    fn worth_keeping(self, now: Instant) -> Option<LastLook> {
        (now.saturating_duration_since(self.began) >= SLOW).then_some(LastLook {
            tree: self.tree,
            taken: now,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_look_stands_for_a_snapshot_that_follows_at_once() {
        let began = Instant::now();
        let look = || Look {
            fingerprint: 0,
            tree: Tree::default(),
            began,
        };
        assert!(look().worth_keeping(began + SLOW / 2).is_none());
        let taken = began + SLOW;
        let kept = || look().worth_keeping(taken).unwrap();
        assert!(kept().fresh(taken + FRESH).is_some());
        assert!(kept().fresh(taken + FRESH * 2).is_none());
    }
}
