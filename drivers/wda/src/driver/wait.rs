//! Waiting for the screen to change or to be still: by reading it again and again, for
//! WebDriverAgent tells of nothing unasked.

use std::time::{Duration, Instant};

use packtrain_drivers::{CommandContext, Observation};

use super::{Result, WdaDriver, done, noted};
use crate::source;

/// How long is waited between two looks; a look itself takes as long on a phone.
const POLL: Duration = Duration::from_millis(100);

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
        let mut last = self.look(ctx).await?;
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
            let looked = Instant::now();
            let seen = self.look(ctx).await?;
            if seen != last {
                (last, since) = (seen, looked);
            } else if looked - since >= quiet {
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
            if self.look(ctx).await? != before {
                return Ok(Observation::Json(true.into()));
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Observation::Json(false.into()));
            }
            tokio::time::sleep(left.min(POLL)).await;
        }
    }

    async fn look(&mut self, ctx: &CommandContext) -> Result<u64> {
        Ok(source::fingerprint(&self.tree(ctx).await?))
    }
}
