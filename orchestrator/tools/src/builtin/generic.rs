//! Tools of every platform that neither touch the memory nor need a model.

use std::time::Duration;

use packtrain_drivers::{Command, SnapshotDetail};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::builtin::{Tools, action, meta, number, query};
use crate::tool::{Answer, ToolError};

pub(super) fn tools() -> Tools {
    tools![
        action::<Wait>(
            "wait",
            "Waits a number of seconds. Tools wait for what they need by themselves; this is for \
             what cannot be seen.",
            body!(|arguments, call| {
                call.pause(Duration::from_secs(arguments.time_to_wait_in_seconds))
                    .await?;
                Ok(Answer::default())
            }),
        ),
        action::<RunTrail>(
            "runTrail",
            "Runs another trail's steps here, in the same session.",
            body!(|arguments, call| call.invoker.run_trail(&arguments.path, call).await),
        )
        .running("path"),
        query::<TakeSnapshot>(
            "takeSnapshot",
            "Saves a screenshot and a snapshot of the screen under a name.",
            |_, call| {
                Box::pin(
                    async move { call.act(Command::Snapshot(SnapshotDetail::default())).await },
                )
            },
        ),
        meta::<ObjectiveStatus>(
            "objectiveStatus",
            "Reports whether the step's objective is reached.",
            body!(|arguments, _| {
                match arguments.status {
                    Status::Failed => Err(ToolError::failed(arguments.explanation)),
                    Status::InProgress | Status::Completed => {
                        Ok(Answer::text(arguments.explanation))
                    }
                }
            }),
        ),
    ]
}

arguments! {
    struct Wait {
        /// Seconds.
        #[serde(default = "number::<5, u64>")]
        time_to_wait_in_seconds: u64,
        /// Why, for readers.
        #[expect(dead_code, reason = "for readers of the trail")]
        reasoning: Option<String>,
    }
}

arguments! {
    struct RunTrail {
        /// Path of the trail file, relative to this trail's folder or the working directory.
        path: String,
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "the names label the artifacts, which the run keeps"
)]
struct TakeSnapshot {
    /// Name of the screen: `login`.
    screen_name: String,
    /// What it shows.
    description: Option<String>,
}

arguments! {
    struct ObjectiveStatus {
        /// Why.
        explanation: String,
        /// How far it is.
        #[serde(deserialize_with = "super::caseless")]
        status: Status,
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Status {
    InProgress,
    Completed,
    Failed,
}
