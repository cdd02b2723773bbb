//! A use of a simulator's WebDriverAgent: joined where there is one, started by a keeper of its own
//! where there is none, and left.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::Command;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use super::StartError;
use crate::dial::AgentPort;
use crate::keeper::{
    AgentPlace, AgentRecord, AgentState, Answer, KeepOrder, KeeperOptions, who_answers,
};

/// How often it is looked how far the keeper is: locks tell nobody.
const KEEPER_POLL: Duration = Duration::from_millis(50);
/// How long WebDriverAgent may take to say who it is; what takes longer is at work.
const STATUS_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the last user waits until it has ended.
const END_TIMEOUT: Duration = Duration::from_secs(70);

/// Starts a keeper that is nobody's child, with the lock as its output. What it says goes to a file.
const SCRIPT: &str = r#"log=$1; shift; "$@" </dev/null 2>"$log" &"#;

/// What is known of the WebDriverAgent of a simulator.
#[derive(Debug)]
pub(crate) struct SimulatorRunner {
    pub(crate) udid: String,
    pub(crate) xcrun: PathBuf,
    /// The app's folder; `None` when it is installed already.
    pub(crate) app: Option<PathBuf>,
    /// Its bundle id.
    pub(crate) id: String,
    /// The command that starts it; empty where none is configured.
    pub(crate) command: Vec<String>,
    /// Where that command is started.
    pub(crate) folder: Option<PathBuf>,
}

/// A simulator's WebDriverAgent, which all processes share.
#[derive(Debug)]
pub(crate) struct SharedAgent {
    runner: SimulatorRunner,
    keeper: Option<KeeperOptions>,
    port: AgentPort,
    /// The lock that says that it is used.
    used: Mutex<Option<File>>,
}

impl SharedAgent {
    /// One whose port is written to `port`.
    pub(crate) fn new(
        runner: SimulatorRunner,
        keeper: Option<KeeperOptions>,
        port: AgentPort,
    ) -> Self {
        Self {
            runner,
            keeper,
            port,
            used: Mutex::new(None),
        }
    }

    pub(super) fn forget(&self) {
        self.port.set(None);
    }

    fn place(&self, keeper: &KeeperOptions) -> AgentPlace {
        AgentPlace::new(&keeper.folder, &self.runner.udid)
    }

    /// Sees to it that it answers, and that it goes on as long as it is used here.
    pub(super) async fn join(&self) -> Result<(), StartError> {
        let keeper = self.keeper.as_ref().ok_or(StartError::NoFolder)?;
        let place = self.place(keeper);
        let mut used = self.used.lock().await;
        let joined = self.joined(&place, keeper, &mut used).await;
        let port = joined.map_err(|error| match error {
            JoinError::Start(error) => error,
            JoinError::Io(error) => StartError::Simulator {
                why: format!("{}: {error}", keeper.folder.display()),
                hint: None,
            },
        })?;
        self.port.set(Some(port));
        Ok(())
    }

    async fn joined(
        &self,
        place: &AgentPlace,
        keeper: &KeeperOptions,
        used: &mut Option<File>,
    ) -> Result<u16, JoinError> {
        place.prepare()?;
        let mut own: Option<String> = None;
        loop {
            if used.is_none() {
                *used = place.try_use()?;
            }
            if used.is_none() {
                sleep(KEEPER_POLL).await;
                continue;
            }
            if let Some(lock) = place.try_keep()? {
                // Of the one that was started here nothing is left.
                if let Some(mark) = own.take() {
                    return Err(JoinError::Start(failed(place, &mark)));
                }
                own = Some(self.start_keeper(place, keeper, lock).await?);
            }
            let record = place.record();
            let is_ready =
                |record: &AgentRecord| record.state == AgentState::Ready && is_alive(record);
            let Some(record) = record.filter(is_ready) else {
                sleep(KEEPER_POLL).await;
                continue;
            };
            match who_answers(record.port, &record.mark, STATUS_TIMEOUT).await {
                Answer::Agent { tells_mark } if tells_mark == record.tells_mark => {
                    return Ok(record.port);
                }
                Answer::Busy => return Ok(record.port),
                Answer::Agent { .. } | Answer::Stranger | Answer::Nobody => {}
            }
            end(place, &record)?;
            own = None;
            sleep(KEEPER_POLL).await;
        }
    }

    /// Starts a keeper; answers the mark of its WebDriverAgent.
    async fn start_keeper(
        &self,
        place: &AgentPlace,
        keeper: &KeeperOptions,
        lock: File,
    ) -> Result<String, JoinError> {
        // What the last one said is true no more.
        if let Some(mut last) = place.record() {
            last.state = AgentState::Ended;
            place.write(&last)?;
        }
        let runner = &self.runner;
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        let time = time.unwrap_or_default().as_nanos();
        let mark = format!("packtrain-{}-{time}", runner.udid);
        let order = KeepOrder {
            place: place.clone(),
            udid: runner.udid.clone(),
            mark: mark.clone(),
            xcrun: runner.xcrun.clone(),
            id: runner.id.clone(),
            app: runner.app.clone(),
            command: runner.command.clone(),
            folder: runner.folder.clone(),
            answer_timeout: keeper.answer_timeout,
        };
        let order = serde_json::to_string(&order).map_err(io::Error::from)?;
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", SCRIPT, "sh"])
            .arg(place.file("keeper.log"))
            .args(&keeper.command)
            .arg(order)
            .stdin(Stdio::null())
            .stdout(lock)
            .stderr(Stdio::null())
            .process_group(0);
        command.status().await?;
        Ok(mark)
    }

    /// Uses it no more. Where nobody does, it has ended when this returns.
    pub(super) async fn leave(&self) {
        let Some(used) = self.used.lock().await.take() else {
            return;
        };
        self.forget();
        drop(used);
        let Some(place) = self.keeper.as_ref().map(|keeper| self.place(keeper)) else {
            return;
        };
        let end = Instant::now() + END_TIMEOUT;
        let is_over = || Ok::<_, io::Error>(place.try_keep()?.is_some() || place.is_used()?);
        while Instant::now() < end && !is_over().unwrap_or(true) {
            sleep(KEEPER_POLL).await;
        }
    }

    pub(super) fn hint(&self) -> String {
        let log = self.keeper.as_ref().map(|keeper| {
            let log = self.place(keeper).file("keeper.log");
            format!("; what was said meanwhile is in {}", log.display())
        });
        let log = log.unwrap_or_default();
        format!("`packtrain doctor` says what simulators lack{log}")
    }
}

enum JoinError {
    Start(StartError),
    Io(io::Error),
}

impl From<io::Error> for JoinError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Why the keeper of that mark is gone.
fn failed(place: &AgentPlace, mark: &str) -> StartError {
    let record = place.record().filter(|record| record.mark == *mark);
    match record.map(|record| record.state) {
        Some(AgentState::Failed(refused)) => StartError::Simulator {
            why: refused.why,
            hint: refused.hint,
        },
        Some(AgentState::Starting | AgentState::Ready | AgentState::Ended) | None => {
            let log = std::fs::read_to_string(place.file("keeper.log")).unwrap_or_default();
            let said = log.lines().rfind(|line| !line.trim().is_empty());
            StartError::Simulator {
                why: said.unwrap_or("the process that keeps it ended").to_owned(),
                hint: None,
            }
        }
    }
}

/// Has a keeper end whose WebDriverAgent is gone, unless it is another one by now.
fn end(place: &AgentPlace, dead: &AgentRecord) -> io::Result<()> {
    let is_kept = place.try_keep()?.is_none();
    let is_same = is_kept && place.record().as_ref() == Some(dead);
    if is_same && is_alive(dead) {
        let pid = i32::try_from(dead.pid).map_err(io::Error::other)?;
        let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
    }
    Ok(())
}

fn is_alive(keeper: &AgentRecord) -> bool {
    keeper.started.is_some() && packtrain_program::started(keeper.pid) == keeper.started
}
