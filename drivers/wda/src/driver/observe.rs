//! A screen once it is still, with all that comparing it takes.

use std::time::Instant;

use packtrain_drivers::wait::ChangePoll;
use packtrain_drivers::{
    CommandContext, DriverError, Observation, ObserveOptions, Observed, SnapshotDetail,
};

use super::{Result, WdaDriver};

/// Where everything is counts.
const DETAIL: SnapshotDetail = SnapshotDetail {
    bounds: true,
    css_selectors: false,
    offscreen: false,
    lasting: false,
};

impl WdaDriver {
    /// Waits until two looks in a row show the same. The look that ended the last step counts:
    /// when nothing was done since, one more is enough.
    pub(super) async fn observe(
        &mut self,
        options: &ObserveOptions,
        ctx: &CommandContext,
    ) -> Result<Observation> {
        let start = Instant::now();
        let poll = ChangePoll::within(ctx.remaining_up_to(options.still_within));
        let mut last = self.state.seen;
        let (snapshot, is_still) = loop {
            let Observation::Snapshot(snapshot) = self.snapshot(DETAIL, ctx).await? else {
                return Err(DriverError::unmet("observe the screen: it was not read"));
            };
            let is_still = last == Some(snapshot.mark);
            if is_still || !poll.again().await {
                break (snapshot, is_still);
            }
            last = Some(snapshot.mark);
        };
        let settled = start.elapsed();
        let mut picture = None;
        if options.picture {
            picture = match self.screenshot(ctx).await {
                Ok(Observation::Screenshot(picture)) => Some(picture),
                // An app may forbid pictures of itself.
                Ok(_) | Err(DriverError::Unmet { .. }) => None,
                Err(error) => return Err(error),
            };
        }
        Ok(Observation::Observed(Box::new(Observed {
            snapshot: *snapshot,
            picture,
            masked: Vec::new(),
            defects: Vec::new(),
            settled,
            is_still,
            hidden: Vec::new(),
        })))
    }
}
