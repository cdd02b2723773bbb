//! Starting WebDriverAgent: by a configured command, or on a simulator.
//!
//! What a command started ends with the pool, and also when this program ends in any other way. What
//! is on a simulator ends after its last user.

mod command;
mod simulator;

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio_util::task::TaskTracker;

pub(crate) use self::command::{Running, prepared};
pub(crate) use self::simulator::SharedAgent;

/// How long a WebDriverAgent that was just started may take for its first answer. Xcode builds
/// it first if need be.
pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(180);

/// How long WebDriverAgent may take to say how it is, and who.
pub(crate) const STATUS_TIMEOUT: Duration = Duration::from_secs(10);

/// Why WebDriverAgent could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// The list of program and arguments is empty.
    #[error("the command is empty")]
    Empty,
    /// There is no such program, usually.
    #[error("run {program}: {message}")]
    Spawn { program: String, message: String },
    /// What was started has ended, for this reason.
    #[error("{0}")]
    Failed(String),
    #[error("it did not answer in time")]
    Slow,
    /// The folder in which it is said who keeps and uses it cannot be used.
    #[error("use {}: {source}", folder.display())]
    Place {
        folder: PathBuf,
        source: std::io::Error,
    },
}

/// Starts WebDriverAgent, as often as need be.
#[derive(Debug)]
pub(crate) enum Starter {
    Command(CommandStarter),
    Simulator(SharedAgent),
}

/// Starts it by a program and its arguments; it runs as long as WebDriverAgent does.
#[derive(Debug)]
pub(crate) struct CommandStarter {
    words: Vec<String>,
    folder: Option<PathBuf>,
    port: u16,
    tasks: TaskTracker,
    running: Mutex<Option<Running>>,
}

/// A start that was made; WebDriverAgent answers later, or not.
pub(crate) struct StartAttempt(Option<tokio::sync::watch::Receiver<Option<String>>>);

impl StartAttempt {
    /// Waits for the end, and tells why. That of a simulator's is noticed by asking it.
    pub(crate) async fn ended(&mut self) -> String {
        if let Some(ended) = &mut self.0
            && let Ok(ended) = ended.wait_for(Option::is_some).await
        {
            return ended.clone().unwrap_or_default();
        }
        std::future::pending().await
    }
}

impl CommandStarter {
    /// A starter whose processes are watched by `tasks`. WebDriverAgent is expected on `port`.
    pub(crate) fn new(
        words: Vec<String>,
        folder: Option<PathBuf>,
        port: u16,
        tasks: TaskTracker,
    ) -> Self {
        Self {
            words,
            folder,
            port,
            tasks,
            running: Mutex::new(None),
        }
    }

    async fn start(&self) -> Result<StartAttempt, StartError> {
        let mut running = self.running.lock().await;
        if let Some(before) = running.take() {
            before.stop().await;
        }
        let command = prepared(&self.words, self.folder.as_deref(), self.port)?;
        let started = Running::spawn(command, &self.tasks)?;
        let ended = started.ended();
        *running = Some(started);
        Ok(StartAttempt(Some(ended)))
    }
}

impl Starter {
    /// Starts WebDriverAgent; what was started before ends first. On a simulator, one that runs is
    /// used.
    pub(crate) async fn start(&self) -> Result<StartAttempt, StartError> {
        match self {
            Self::Command(command) => command.start().await,
            Self::Simulator(agent) => agent.join().await.map(|()| StartAttempt(None)),
        }
    }

    /// Whether other processes may use what was started.
    pub(crate) const fn is_shared(&self) -> bool {
        matches!(self, Self::Simulator(_))
    }

    /// Has a simulator's WebDriverAgent asked who it is before anything else.
    pub(crate) fn forget(&self) {
        if let Self::Simulator(agent) = self {
            agent.forget();
        }
    }

    /// Ends what was started, with everything it started in turn, unless others use it.
    pub(crate) async fn stop(&self) {
        match self {
            Self::Command(command) => {
                if let Some(running) = command.running.lock().await.take() {
                    running.stop().await;
                }
            }
            Self::Simulator(agent) => agent.leave().await,
        }
    }

    /// What a person can do about such an error.
    pub(crate) fn hint(&self, error: &StartError) -> String {
        let words = match self {
            Self::Command(command) => &command.words,
            Self::Simulator(agent) => agent.command(),
        };
        match (self, error) {
            (_, StartError::Place { .. }) => {
                "check that this user may write there; `sudo packtrain` may have created it"
                    .to_owned()
            }
            (Self::Simulator(agent), _) if words.is_empty() => agent.hint(),
            _ => format!("run it by hand to see more: {}", words.join(" ")),
        }
    }
}
