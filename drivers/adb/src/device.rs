//! What every command needs of a connected device: the way to it, who moves the finger there, and
//! what is known of its screen.

use std::sync::Arc;

use packtrain_drivers::{DriverError, ScreenMark, Size};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::agent::{AgentChoice, AgentError, Jar, ShellAgent, U2Agent, UiAgent};
use crate::command_error::CommandError;
use crate::effect::LastScreen;
use crate::phone::{Phone, Repeat};
use crate::wire::shell::ShellOutput;

pub(crate) type Result<T> = std::result::Result<T, CommandError>;

/// A connected device.
pub(crate) struct AndroidDevice {
    pub(crate) phone: Arc<Phone>,
    pub(crate) agent: Box<dyn UiAgent>,
    choice: AgentChoice,
    /// The screen as the device stands by itself, in pixels.
    pub(crate) screen: Size,
    /// The same before an axis changed it.
    pub(crate) own_screen: Size,
    /// The keyboard's package.
    pub(crate) keyboard: Option<String>,
    seen: Mutex<Option<LastScreen>>,
}

impl AndroidDevice {
    pub(crate) fn new(
        phone: Arc<Phone>,
        choice: AgentChoice,
        jar: Option<&Arc<Jar>>,
        screen: Size,
    ) -> Self {
        let agent: Box<dyn UiAgent> = match (choice, jar) {
            (AgentChoice::Auto | AgentChoice::U2, Some(jar)) => {
                Box::new(U2Agent::new(Arc::clone(&phone), Arc::clone(jar)))
            }
            (AgentChoice::Auto | AgentChoice::Shell, _) | (AgentChoice::U2, None) => {
                Box::new(ShellAgent::new(Arc::clone(&phone)))
            }
        };
        Self {
            phone,
            agent,
            choice,
            screen,
            own_screen: screen,
            keyboard: None,
            seen: Mutex::default(),
        }
    }

    /// The mark of what was kept.
    pub(crate) fn last_mark(&self) -> Option<ScreenMark> {
        let kept = self.seen.lock();
        kept.as_ref().map(LastScreen::mark)
    }

    /// Keeps what the screen showed; gives what was kept before.
    pub(crate) fn remember(&self, seen: Option<LastScreen>) -> Option<LastScreen> {
        let mut kept = self.seen.lock();
        std::mem::replace(&mut *kept, seen)
    }

    /// Starts the agent, or the one to fall back on; answers what a reader should know of it.
    pub(crate) async fn start_agent(&mut self, deadline: Instant) -> Result<Option<String>> {
        let error = match self.agent.start(deadline).await {
            Ok(()) => return Ok(self.note_on_agent(None)),
            Err(error @ AgentError::NoStart { .. }) => error,
            Err(error) => return Err(error.into()),
        };
        if self.choice == AgentChoice::U2 {
            return Err(error.into());
        }
        tracing::info!(%error, "falling back to plain shell commands");
        self.agent = Box::new(ShellAgent::new(Arc::clone(&self.phone)));
        Ok(self.note_on_agent(Some(&error)))
    }

    fn note_on_agent(&self, error: Option<&AgentError>) -> Option<String> {
        let why = match (error, self.choice) {
            (Some(error), _) => error.to_string(),
            (None, AgentChoice::Auto) if self.agent.name() == "shell" => {
                "u2.jar is not installed; `packtrain doctor --fix` does it".to_owned()
            }
            (None, _) => return None,
        };
        Some(format!(
            "driven by plain shell commands, which are slow and type ASCII only: {why}"
        ))
    }

    /// Runs a command line that changes nothing, or the same a second time.
    pub(crate) async fn shell(&self, command: &str, deadline: Instant) -> Result<ShellOutput> {
        Ok(self.phone.shell(command, Repeat::Freely, deadline).await?)
    }

    /// Runs a command line once.
    pub(crate) async fn shell_once(&self, command: &str, deadline: Instant) -> Result<ShellOutput> {
        Ok(self
            .phone
            .shell(command, Repeat::IfNotBegun, deadline)
            .await?)
    }
}

/// A step of a trail that did not come true, in the device's words.
pub(crate) fn unmet(what: impl Into<String>) -> CommandError {
    DriverError::unmet(what).into()
}

/// The line of a command's output that says most: the exception, the error, or the first.
pub(crate) fn reason(output: &ShellOutput) -> String {
    let said = output.said();
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let telling = lines().find(|line| {
        let is_trace = line.starts_with("at ") || line.starts_with("Exception occurred");
        !is_trace
            && ["Exception", "Error", "Failure"]
                .iter()
                .any(|word| line.contains(word))
    });
    match telling.or_else(|| lines().next()) {
        Some(line) => line.chars().take(300).collect(),
        None => format!("exit code {}", output.exit),
    }
}
