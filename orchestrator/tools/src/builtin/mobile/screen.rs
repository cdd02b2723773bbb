//! Tools that watch or read the whole screen.

use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::{Command, SnapshotDetail};
use schemars::JsonSchema;
use serde::Deserialize;

use super::yes;
use crate::builtin::tool;
use crate::call::Call;
use crate::mobile::PHONES;
use crate::mobile::watch::{Rest, Watch};
use crate::tool::{Answer, Kind, Tool, ToolError};

pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    vec![
        tool::<WaitForChange>(
            "waitForChange",
            Kind::Action,
            "Waits until the screen has come to rest after an action; at once when it is at rest \
             already. To wait for something that is yet to begin, expect the element instead.",
            |arguments, call| Box::pin(async move { wait_for_change(&arguments, call).await }),
        )
        .on(PHONES)
        .done(),
        tool::<RequestDetailedViewHierarchy>(
            "requestDetailedViewHierarchy",
            Kind::Query,
            "Reads the screen with more detail: bounds, and what is out of sight.",
            |_, call| {
                Box::pin(async move {
                    let detail = SnapshotDetail {
                        bounds: true,
                        offscreen: true,
                        ..SnapshotDetail::default()
                    };
                    call.act(Command::Snapshot(detail)).await
                })
            },
        )
        .on(PHONES)
        .unrecorded()
        .done(),
    ]
}

async fn wait_for_change(arguments: &WaitForChange, call: &Call<'_>) -> Result<Answer, ToolError> {
    let limit = Duration::from_millis(arguments.timeout_ms);
    let quiet = Duration::from_millis(arguments.quiet_window_ms);
    let mut watch = Watch::new(call, limit);
    match watch.until_still(quiet).await? {
        Rest::Still(_) => Ok(Answer::default()),
        Rest::Moving(_) if !arguments.require_change => Ok(watch.still_moving()),
        Rest::Moving(_) => Err(ToolError::Failed {
            message: format!(
                "the screen did not come to rest for {} ms within {:.1} s",
                quiet.as_millis(),
                limit.as_secs_f64()
            ),
            log: Vec::new(),
            hint: Some("`requireChange: false` goes on all the same".to_owned()),
        }),
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WaitForChange {
    /// How long to wait at most, in milliseconds.
    #[serde(default = "eight_seconds")]
    timeout_ms: u64,
    /// How long nothing may change to count as rest, in milliseconds.
    #[serde(default = "a_moment")]
    quiet_window_ms: u64,
    /// Whether not coming to rest in time is an error.
    #[serde(default = "yes")]
    require_change: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "`reasoning` is for readers of the trail")]
struct RequestDetailedViewHierarchy {
    /// Why, for readers.
    #[serde(default)]
    reasoning: Option<String>,
}

const fn eight_seconds() -> u64 {
    8_000
}

const fn a_moment() -> u64 {
    300
}
