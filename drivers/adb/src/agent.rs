//! Who reads the screen and moves the finger on the device: behind one trait, with the same
//! results, u2.jar or plain shell commands.

mod http;
mod keycode;
mod process;
mod rpc;
mod shell;
mod text;
mod u2;

use std::path::PathBuf;
use std::time::Duration;

use packtrain_drivers::{BoxFuture, Point};
use tokio::time::Instant;

pub(crate) use keycode::Keycode;
pub(crate) use shell::ShellAgent;
pub(crate) use u2::{Jar, U2Agent};

use crate::wire::WireError;

/// Which agent a device is driven with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AgentChoice {
    /// u2.jar when there is one and it starts, else plain shell commands.
    #[default]
    Auto,
    /// u2.jar or nothing.
    U2,
    /// Plain shell commands: nothing is put on the device. A dump takes two seconds and a screen
    /// that never rests cannot be read; text is ASCII only; nothing is pinched.
    Shell,
}

/// What agents need of this computer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentFiles {
    /// uiautomator2's server: see [`crate::install`].
    pub u2_jar: Option<PathBuf>,
}

/// Why an agent did not do something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AgentError {
    /// The way to the device broke or was too slow.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The agent cannot be started.
    #[error("the agent did not start: {reason}")]
    NoStart {
        /// What it said.
        reason: String,
        /// What a person can do.
        hint: Option<&'static str>,
    },
    /// The agent ended in the middle: what was asked may have happened or not.
    #[error("the agent on the device ended during {doing}")]
    Died {
        /// What was under way.
        doing: String,
    },
    /// The agent did not answer in time: what was asked may have happened or not.
    #[error("the agent on the device did not answer {doing}")]
    Silent {
        /// What was under way.
        doing: String,
    },
    /// The device said no.
    #[error("{0}")]
    Refused(String),
    /// This agent cannot do that.
    #[error("not possible without u2.jar on the device")]
    NeedsU2,
}

pub(crate) type Answer<'a, T> = BoxFuture<'a, Result<T, AgentError>>;

/// Hands and eyes on a device. All take until `deadline` at most. What changes the device is done
/// once or not at all; when that is not certain the answer is an error.
pub(crate) trait UiAgent: Send + Sync {
    /// What it is called in notes: `u2`, `shell`.
    fn name(&self) -> &'static str;

    /// Starts what has to run on the device. Called again it does nothing.
    fn start(&self, deadline: Instant) -> Answer<'_, ()>;

    /// The screen as the XML of a window dump.
    fn hierarchy(&self, deadline: Instant) -> Answer<'_, String>;

    /// A touch of `hold`; `None` for a tap.
    fn touch(&self, at: Point, hold: Option<Duration>, deadline: Instant) -> Answer<'_, ()>;

    /// A straight movement of one finger.
    fn swipe(&self, from: Point, to: Point, time: Duration, deadline: Instant) -> Answer<'_, ()>;

    /// A movement of something that was picked up by a long press.
    fn drag(&self, from: Point, to: Point, time: Duration, deadline: Instant) -> Answer<'_, ()>;

    /// Straight movements of two fingers at the same time.
    fn pinch(
        &self,
        from: [Point; 2],
        to: [Point; 2],
        time: Duration,
        deadline: Instant,
    ) -> Answer<'_, ()>;

    /// Types text where the cursor is.
    fn type_text<'a>(&'a self, text: &'a str, deadline: Instant) -> Answer<'a, ()>;

    /// Empties the field that has the focus and holds `length` characters.
    fn clear_field(&self, length: usize, deadline: Instant) -> Answer<'_, ()>;

    /// Presses keys one after the other.
    fn press<'a>(&'a self, keys: &'a [Keycode], deadline: Instant) -> Answer<'a, ()>;

    /// Puts text on the clipboard.
    fn set_clipboard<'a>(&'a self, text: &'a str, deadline: Instant) -> Answer<'a, ()>;

    /// Pastes what the trail put on the clipboard where the cursor is.
    fn paste(&self, deadline: Instant) -> Answer<'_, ()>;

    /// Ends what was started on the device.
    fn stop(&self) -> BoxFuture<'_, ()>;
}
