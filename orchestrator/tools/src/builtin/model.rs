//! Tools that need a model which looks at the screen. Their names are known, so that a trail that
//! uses them learns what it lacks instead of that the tool does not exist.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::builtin::{Tools, assertion, memory};
use crate::tool::ToolError;

pub(super) fn tools() -> Tools {
    tools![
        assertion::<Ask>(
            "assertWithAi",
            "Expects a model to agree with a statement about the screen. Needs an agent.",
            |_, _| Box::pin(async { Err(ToolError::NeedsAgent("assertWithAi".to_owned())) }),
        ),
        memory::<Remember>(
            "rememberText",
            "Remembers a text that a model reads off the screen. Needs an agent.",
            |_, _| Box::pin(async { Err(ToolError::NeedsAgent("rememberText".to_owned())) }),
        )
        .remembering("variable"),
        memory::<Remember>(
            "rememberNumber",
            "Remembers a number that a model reads off the screen. Needs an agent.",
            |_, _| Box::pin(async { Err(ToolError::NeedsAgent("rememberNumber".to_owned())) }),
        )
        .remembering("variable"),
        memory::<Remember>(
            "rememberWithAi",
            "Remembers what a model answers about the screen. Needs an agent.",
            |_, _| Box::pin(async { Err(ToolError::NeedsAgent("rememberWithAi".to_owned())) }),
        )
        .remembering("variable"),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "checked now, used once there is an agent")]
struct Ask {
    /// The statement.
    prompt: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "checked now, used once there is an agent")]
struct Remember {
    /// What to look for.
    prompt: String,
    /// Under which name it is remembered.
    variable: String,
}
