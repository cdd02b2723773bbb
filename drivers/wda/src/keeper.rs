//! One WebDriverAgent per simulator for all users: a process of its own starts it, has its lock, and
//! ends it after its last user. What users need to know of that process is in [`place`].
//!
//! Knows nothing of devices and sessions. docs/decisions/0023.

mod place;
mod status;
mod ways;

use std::path::PathBuf;
use std::time::Duration;

use nix::unistd::setsid;
use serde::{Deserialize, Serialize};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::task::TaskTracker;

pub(crate) use self::place::{AgentPlace, AgentRecord, AgentState};
pub(crate) use self::status::{Answer, who_answers};
use self::ways::Attempt;
pub(crate) use self::ways::StartWay;
use crate::simctl::Simctl;

/// How the process is started that keeps a simulator's WebDriverAgent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeeperOptions {
    /// The folder with a folder for each simulator: ports and locks, for all processes of a user.
    pub folder: PathBuf,
    /// A program and its first arguments; one more is what [`keep`] is called with.
    pub command: Vec<std::ffi::OsString>,
    /// How long a WebDriverAgent that was started in one way may take to answer before it is started
    /// in another.
    pub answer_timeout: Duration,
}

impl KeeperOptions {
    /// Less than half the time that a device may take to connect for the first way.
    pub fn new(folder: PathBuf, command: Vec<std::ffi::OsString>) -> Self {
        Self {
            folder,
            command,
            answer_timeout: Duration::from_secs(45),
        }
    }
}

/// What is kept, and how it is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeepOrder {
    pub(crate) place: AgentPlace,
    pub(crate) udid: String,
    pub(crate) xcrun: PathBuf,
    /// The runner's bundle id.
    pub(crate) id: String,
    /// The command that starts it; empty where it is found out which way works.
    pub(crate) command: Vec<String>,
    /// Where that command is started.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) answer_timeout: Duration,
}

/// Keeps a simulator's WebDriverAgent until nobody uses it; standard output is the lock.
///
/// # Errors
/// When the order is none, or the system refuses.
pub fn keep(order: &str) -> std::io::Result<()> {
    let order: KeepOrder = serde_json::from_str(order)?;
    // What ends the session of its starter shall not end what others use.
    let _ = setsid();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(order.keep())
}

impl KeepOrder {
    async fn keep(self) -> std::io::Result<()> {
        let pid = std::process::id();
        let mut record = AgentRecord {
            pid,
            started: packtrain_program::started(pid),
            mark: None,
            port: 0,
            way: self.place.record().and_then(|last| last.way),
            state: AgentState::Starting,
        };
        self.place.write(&record)?;
        let unused = self.place.unused()?;
        let mut terminate = signal(SignalKind::terminate())?;
        // A shell has what it starts in the background ignore these; what is handled here is not ignored by
        // what is started here.
        let _handled = [SignalKind::interrupt(), SignalKind::quit()].map(signal);
        let mut attempt = Attempt {
            order: &self,
            simctl: Simctl::new(self.xcrun.clone()),
            tasks: TaskTracker::new(),
            running: None,
        };
        // No user may join while it is being stopped.
        let (state, _users) = tokio::select! {
            ended = attempt.run(&mut record) => match ended {
                Ok(why) => (AgentState::Ended(why), None),
                Err(error) => (AgentState::Failed(error.to_string()), None),
            },
            users = unused => (AgentState::Ended("it was unused".to_owned()), users.ok()),
            _ = terminate.recv() => (AgentState::Ended("it stopped answering".to_owned()), None),
        };
        attempt.stop().await;
        record.state = state;
        self.place.write(&record)
    }
}
