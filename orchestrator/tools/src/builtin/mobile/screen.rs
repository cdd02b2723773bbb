//! Tools that watch or read the whole screen.

use std::time::Duration;

use packtrain_drivers::{Command, SnapshotDetail};

use crate::builtin::{number, yes};
use crate::mobile::PHONES;
use crate::mobile::watch::{Rest, Watch};
use crate::tool::{Answer, ToolError};

tools! { PHONES;
    /// Waits until the screen is still after an action; returns at once when it already is. To wait
    /// for something that has not begun yet, expect the element instead.
    Action waitForChange WaitForChange {
        /// How long to wait at most, in milliseconds.
        #[serde(default = "number::<8_000, u64>")]
        timeout_ms: u64,
        /// How long nothing may change to count as rest, in milliseconds.
        #[serde(default = "number::<300, u64>")]
        quiet_window_ms: u64,
        /// Whether not coming to rest in time is an error.
        #[serde(default = "yes")]
        require_change: bool,
    }
    |arguments, call| {
        let limit = Duration::from_millis(arguments.timeout_ms);
        let quiet = Duration::from_millis(arguments.quiet_window_ms);
        let mut watch = Watch::new(call, limit);
        match watch.until_still(quiet).await? {
            Rest::Still(_) => Ok(Answer::default()),
            Rest::Moving(_) if !arguments.require_change => Ok(watch.still_moving()),
            Rest::Moving(_) => Err(ToolError::hinted(
                format!(
                    "the screen was not still for {} ms within {:.1} s",
                    quiet.as_millis(),
                    limit.as_secs_f64()
                ),
                "`requireChange: false` continues anyway",
            )),
        }
    };

    /// Reads the screen with more detail: bounds, and what is out of sight.
    Query requestDetailedViewHierarchy RequestDetailedViewHierarchy(reasoning) {}
    .unrecorded()
    |_, call| {
        let detail = SnapshotDetail {
            bounds: true,
            offscreen: true,
            ..SnapshotDetail::default()
        };
        call.act(Command::Snapshot(detail)).await
    };
}
