//! Tools of every platform that neither touch the memory nor need a model.

use std::time::Duration;

use packtrain_drivers::{Command, SnapshotDetail};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::builtin::{EVERYWHERE, caseless, number};
use crate::tool::{Answer, ToolError};

tools! { EVERYWHERE;
    /// Waits a number of seconds. Tools wait for what they need by themselves; this is for
    /// what cannot be seen.
    Action wait Wait(reasoning) {
        /// Seconds.
        #[serde(default = "number::<5, u64>")]
        time_to_wait_in_seconds: u64,
    }
    |arguments, call| {
        call.pause(Duration::from_secs(arguments.time_to_wait_in_seconds)).await?;
        Ok(Answer::default())
    };

    /// Runs another trail's steps here, in the same session.
    Action runTrail RunTrail {
        /// Path of the trail file, relative to this trail's folder or the working directory.
        path: String,
    }
    .running("path")
    |arguments, call| call.invoker.run_trail(&arguments.path, call).await;

    /// Saves a screenshot and a snapshot of the screen under a name.
    Query takeSnapshot TakeSnapshot {
        /// Name of the screen: `login`.
        #[expect(dead_code, reason = "it labels the artifacts, which the run keeps")]
        screen_name: String,
        /// What it shows.
        #[expect(dead_code, reason = "it labels the artifacts, which the run keeps")]
        description: Option<String>,
    }
    |_, call| call.act(Command::Snapshot(SnapshotDetail::default())).await;

    /// Reports whether the step's objective is reached.
    Meta objectiveStatus ObjectiveStatus {
        /// Why.
        explanation: String,
        /// How far it is.
        #[serde(deserialize_with = "caseless")]
        status: Status,
    }
    |ObjectiveStatus { explanation, status }, _| match status {
        Status::Failed => Err(ToolError::failed(explanation)),
        Status::InProgress | Status::Completed => Ok(Answer::text(explanation)),
    };
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Status {
    InProgress,
    Completed,
    Failed,
}
