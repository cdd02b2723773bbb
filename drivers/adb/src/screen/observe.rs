//! A screen once it is still, with all that comparing it takes.

use std::time::Duration;

use packtrain_drivers::wait::ChangePoll;
use packtrain_drivers::{DriverError, Observation, ObserveOptions, Observed, SnapshotDetail};
use tokio::time::Instant;

use super::show;
use crate::command_error::CommandError;
use crate::device::{AndroidDevice, Result};

/// Where everything is counts.
const DETAIL: SnapshotDetail = SnapshotDetail {
    bounds: true,
    css_selectors: false,
    offscreen: false,
    lasting: false,
};

impl AndroidDevice {
    /// Waits until two looks in a row show the same. The look that ended the last step counts:
    /// when nothing was done since, one more is enough. The picture is taken between the two, so that
    /// it shows what they tell.
    pub(crate) async fn observe(
        &self,
        options: &ObserveOptions,
        deadline: Instant,
    ) -> Result<Observation> {
        let start = Instant::now();
        let poll = ChangePoll::within(options.still_within);
        let mut last = self.last_mark();
        let picture = async || match options.picture {
            true => self.picture(deadline).await.map(Some),
            false => Ok(None),
        };
        let look = async || tokio::join!(self.focus(deadline), picture());
        let mut settled = Duration::ZERO;
        let mut looked = match last {
            Some(_) => Some(look().await),
            None => None,
        };
        let (screen, is_still) = loop {
            let screen = self.read(deadline).await?;
            if last == Some(screen.mark) {
                break (screen, true);
            }
            settled = start.elapsed();
            // The picture is taken in the pause between the two, which is longer than it must be then.
            let Some(seen) = poll.meanwhile(look()).await else {
                break (screen, false);
            };
            looked = Some(seen);
            last = Some(screen.mark);
        };
        let (focus, picture) = match looked {
            Some(looked) => looked,
            None => look().await,
        };
        let picture = match picture {
            Ok(Some(Observation::Screenshot(picture))) => Some(picture),
            // An app may forbid pictures of itself, and several displays make none.
            Ok(_)
            | Err(CommandError::Driver(
                DriverError::Unmet { .. } | DriverError::Unsupported { .. },
            )) => None,
            Err(error) => return Err(error),
        };
        Ok(Observation::Observed(Box::new(Observed {
            snapshot: show(screen, focus, DETAIL),
            picture,
            masked: Vec::new(),
            defects: Vec::new(),
            settled,
            is_still,
            hidden: Vec::new(),
        })))
    }
}
