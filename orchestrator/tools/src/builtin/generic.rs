//! Tools of every platform that neither touch the memory nor need a model.

use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::{Command, SnapshotDetail};
use schemars::JsonSchema;
use serde::Deserialize;

use super::tool;
use crate::tool::{Answer, Kind, Tool, ToolError};

pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    vec![
        tool::<Wait>(
            "wait",
            Kind::Action,
            "Waits a number of seconds. Tools wait for what they need by themselves; this is for \
             what cannot be seen.",
            |arguments, call| {
                Box::pin(async move {
                    call.pause(Duration::from_secs(arguments.time_to_wait_in_seconds))
                        .await?;
                    Ok(Answer::default())
                })
            },
        )
        .done(),
        tool::<RunTrail>(
            "runTrail",
            Kind::Action,
            "Runs another trail's steps here, in the same session.",
            |arguments, call| {
                Box::pin(async move { call.invoker.run_trail(&arguments.path, call).await })
            },
        )
        .running("path")
        .done(),
        tool::<TakeSnapshot>(
            "takeSnapshot",
            Kind::Query,
            "Keeps a picture and a reading of the screen under a name.",
            |_, call| {
                Box::pin(
                    async move { call.act(Command::Snapshot(SnapshotDetail::default())).await },
                )
            },
        )
        .done(),
        tool::<ObjectiveStatus>(
            "objectiveStatus",
            Kind::Meta,
            "Says whether the step's objective is reached.",
            |arguments, _| {
                Box::pin(async move {
                    match arguments.status {
                        Status::Failed => Err(ToolError::failed(arguments.explanation)),
                        Status::InProgress | Status::Completed => {
                            Ok(Answer::text(arguments.explanation))
                        }
                    }
                })
            },
        )
        .done(),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wait {
    /// Seconds.
    #[serde(default = "five")]
    time_to_wait_in_seconds: u64,
    /// Why, for readers.
    #[serde(default)]
    #[expect(dead_code, reason = "for readers of the trail")]
    reasoning: Option<String>,
}

const fn five() -> u64 {
    5
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RunTrail {
    /// Path of the trail file, relative to this trail's folder or the working directory.
    path: String,
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
    #[serde(default)]
    description: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ObjectiveStatus {
    /// Why.
    explanation: String,
    /// How far it is.
    #[serde(deserialize_with = "super::caseless")]
    status: Status,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Status {
    InProgress,
    Completed,
    Failed,
}
