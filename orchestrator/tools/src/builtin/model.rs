//! Tools that need a model which looks at the screen. Their names are known, so that a trail that
//! uses them learns what it lacks instead of that the tool does not exist.

use crate::builtin::EVERYWHERE;
use crate::tool::ToolError;

arguments! {
    #[expect(dead_code, reason = "checked now, used once there is an agent")]
    struct Ask {
        /// The statement.
        prompt: String,
    }

    #[expect(dead_code, reason = "checked now, used once there is an agent")]
    struct Remember {
        /// What to look for.
        prompt: String,
        /// Under which name it is remembered.
        variable: String,
    }
}

tools! { EVERYWHERE;
    /// Expects a model to agree with a statement about the screen. Needs an agent.
    Assertion assertWithAi Ask
    |_, _| Err(ToolError::NeedsAgent("assertWithAi".to_owned()));

    /// Remembers a text that a model reads off the screen. Needs an agent.
    Memory rememberText Remember
    .remembering("variable")
    |_, _| Err(ToolError::NeedsAgent("rememberText".to_owned()));

    /// Remembers a number that a model reads off the screen. Needs an agent.
    Memory rememberNumber Remember
    .remembering("variable")
    |_, _| Err(ToolError::NeedsAgent("rememberNumber".to_owned()));

    /// Remembers what a model answers about the screen. Needs an agent.
    Memory rememberWithAi Remember
    .remembering("variable")
    |_, _| Err(ToolError::NeedsAgent("rememberWithAi".to_owned()));
}
