//! Starting WebDriverAgent: by a command somebody configured, or on a simulator.
//!
//! What was started ends with the pool, and also when this program ends in any other way.

mod command;

use std::fmt;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio_util::task::TaskTracker;

use self::command::Running;
use crate::exit_hook::ExitHook;
use crate::simctl::{Simctl, SimctlError};

/// How long a simulator may take to end an app.
const APP_END_TIMEOUT: Duration = Duration::from_secs(60);

/// Why WebDriverAgent could not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StartError {
    /// The list of program and arguments is empty.
    #[error("the command is empty")]
    Empty,
    /// There is no such program, usually.
    #[error("run {program}: {message}")]
    Spawn { program: String, message: String },
    #[error(transparent)]
    Simctl(#[from] SimctlError),
}

/// How WebDriverAgent is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StartMethod {
    /// A program and its arguments; it runs as long as WebDriverAgent does.
    Command(Vec<String>),
    /// An app on a simulator, which shares this computer's network.
    Simulator(SimulatorRunner),
}

/// WebDriverAgent's app on a simulator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SimulatorRunner {
    pub(crate) simctl: Simctl,
    pub(crate) udid: String,
    /// Where it shall listen on this computer.
    pub(crate) port: u16,
    /// The app's folder; `None` when it is installed already.
    pub(crate) app: Option<std::path::PathBuf>,
    /// Its bundle id.
    pub(crate) id: String,
}

/// Starts WebDriverAgent, as often as need be.
#[derive(Debug)]
pub(crate) struct Starter {
    method: StartMethod,
    tasks: TaskTracker,
    running: Mutex<Option<Started>>,
}

/// What was started.
#[derive(Debug)]
enum Started {
    Command(Running),
    /// An app on a simulator, and what ends it.
    App(Box<ExitHook>),
}

/// A start that was made; WebDriverAgent answers later, or not.
pub(crate) struct StartAttempt(Option<tokio::sync::watch::Receiver<Option<String>>>);

impl StartAttempt {
    /// Waits for the end, and tells why. A simulator's app has none that could be noticed.
    pub(crate) async fn ended(&mut self) -> String {
        if let Some(ended) = &mut self.0
            && let Ok(ended) = ended.wait_for(Option::is_some).await
        {
            return ended.clone().unwrap_or_default();
        }
        std::future::pending().await
    }
}

impl Starter {
    /// A starter whose processes are watched by `tasks`.
    pub(crate) fn new(method: StartMethod, tasks: TaskTracker) -> Self {
        Self {
            method,
            tasks,
            running: Mutex::new(None),
        }
    }

    /// Starts WebDriverAgent; what was started before ends first.
    pub(crate) async fn start(&self) -> Result<StartAttempt, StartError> {
        let mut running = self.running.lock().await;
        if let Some(before) = running.take() {
            before.stop().await;
        }
        match &self.method {
            StartMethod::Command(command) => {
                let started = Running::spawn(command, &self.tasks)?;
                let ended = started.ended();
                *running = Some(Started::Command(started));
                Ok(StartAttempt(Some(ended)))
            }
            StartMethod::Simulator(runner) => {
                let simctl = &runner.simctl;
                simctl.boot(&runner.udid).await?;
                if let Some(app) = &runner.app {
                    simctl.install(&runner.udid, app).await?;
                }
                *running = Some(Started::App(Box::new(
                    simctl.terminate_afterwards(&runner.udid, &runner.id)?,
                )));
                let environment = [("SIMCTL_CHILD_USE_PORT", runner.port.to_string())];
                simctl
                    .launch(&runner.udid, &runner.id, &environment)
                    .await?;
                Ok(StartAttempt(None))
            }
        }
    }

    /// Ends what was started, with everything it started in turn.
    pub(crate) async fn stop(&self) {
        if let Some(running) = self.running.lock().await.take() {
            running.stop().await;
        }
    }
}

impl Started {
    async fn stop(self) {
        match self {
            Self::Command(running) => running.stop().await,
            Self::App(end) => end.run(APP_END_TIMEOUT).await,
        }
    }
}

impl fmt::Display for Starter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.method {
            StartMethod::Command(command) => f.write_str(&command.join(" ")),
            StartMethod::Simulator(runner) => write!(
                f,
                "SIMCTL_CHILD_USE_PORT={} xcrun simctl launch {} {}",
                runner.port, runner.udid, runner.id
            ),
        }
    }
}
