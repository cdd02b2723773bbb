//! A screen once it is still, with all that comparing it takes.

use std::time::Duration;

use packtrain_drivers::wait::ChangePoll;
use packtrain_drivers::{
    CommandContext, DriverError, Observation, ObserveOptions, Observed, Screenshot, SnapshotDetail,
};
use tokio::time::Instant;

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
    /// when nothing was done since, one more is enough. The picture is taken between the two, so that
    /// it shows what they tell.
    pub(super) async fn observe(
        &mut self,
        options: &ObserveOptions,
        ctx: &CommandContext,
    ) -> Result<Observation> {
        let start = Instant::now();
        let poll = ChangePoll::within(ctx.remaining_up_to(options.still_within));
        let mut last = self.state.seen;
        let mut settled = Duration::ZERO;
        let mut looked = match last {
            Some(_) => Some(self.picture(options, ctx).await?),
            None => None,
        };
        let (snapshot, is_still) = loop {
            let Observation::Snapshot(snapshot) = self.snapshot(DETAIL, ctx).await? else {
                return Err(DriverError::unmet("observe the screen: it was not read"));
            };
            if last == Some(snapshot.mark) {
                break (snapshot, true);
            }
            settled = start.elapsed();
            // The picture is taken in the pause between the two, which is longer than it must be then.
            let Some(picture) = poll.meanwhile(self.picture(options, ctx)).await else {
                break (snapshot, false);
            };
            looked = Some(picture?);
            last = Some(snapshot.mark);
        };
        let picture = match looked {
            Some(picture) => picture,
            None => self.picture(options, ctx).await?,
        };
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

    async fn picture(
        &mut self,
        options: &ObserveOptions,
        ctx: &CommandContext,
    ) -> Result<Option<Screenshot>> {
        if !options.picture {
            return Ok(None);
        }
        match self.screenshot(ctx).await {
            Ok(Observation::Screenshot(picture)) => Ok(Some(picture)),
            // An app may forbid pictures of itself.
            Ok(_) | Err(DriverError::Unmet { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
