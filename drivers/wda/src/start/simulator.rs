//! A use of a simulator's WebDriverAgent: joined where there is one, started by a keeper of its own
//! where there is none, and left.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::Command;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use super::StartError;
use crate::dial::AgentPort;
use crate::keeper::{AgentPlace, AgentRecord, AgentState, Answer, KeepOrder, who_answers};

/// How often to check on the keeper: locks do not notify.
const KEEPER_POLL: Duration = Duration::from_millis(50);
/// How often one may end after it has answered before that is an error.
const STARTS: u32 = 2;
/// How long the last user waits until it has ended.
const END_TIMEOUT: Duration = Duration::from_secs(70);

/// Starts a keeper without a parent, with the lock as its output. What it says goes to a file.
const SCRIPT: &str = r#"log=$1; shift; "$@" </dev/null 2>"$log" &"#;

/// A simulator's WebDriverAgent, which all processes share.
#[derive(Debug)]
pub(crate) struct SharedAgent {
    order: KeepOrder,
    keeper: Vec<OsString>,
    port: AgentPort,
    /// The lock that says that it is used.
    used: Mutex<Option<File>>,
}

impl SharedAgent {
    /// One whose port is reported to `port`, and which is kept by that command.
    pub(crate) fn new(order: KeepOrder, keeper: Vec<OsString>, port: AgentPort) -> Self {
        Self {
            order,
            keeper,
            port,
            used: Mutex::new(None),
        }
    }

    pub(super) fn forget(&self) {
        self.port.send_replace(None);
    }

    /// Sees to it that it answers, and that it goes on as long as it is used here.
    pub(super) async fn join(&self) -> Result<(), StartError> {
        let mut used = self.used.lock().await;
        let joined = self.joined(&mut used).await;
        let port = joined.map_err(|source| StartError::Place {
            folder: self.order.place.file(""),
            source,
        })??;
        self.port.send_replace(Some(port));
        Ok(())
    }

    async fn joined(&self, used: &mut Option<File>) -> io::Result<Result<u16, StartError>> {
        let place = &self.order.place;
        place.prepare()?;
        let mut starts = 0;
        loop {
            if used.is_none() {
                *used = place.try_use()?;
            }
            if used.is_some() {
                if let Some(lock) = place.try_keep()? {
                    let has_answered = || matches!(state(place), Some(AgentState::Ended(_)));
                    if starts == STARTS || starts > 0 && !has_answered() {
                        return Ok(Err(failed(place)));
                    }
                    self.start_keeper(lock).await?;
                    starts += 1;
                }
                if let Some(port) = self.answering().await? {
                    return Ok(Ok(port));
                }
            }
            sleep(KEEPER_POLL).await;
        }
    }

    /// Its port, when it answers by now.
    async fn answering(&self) -> io::Result<Option<u16>> {
        let place = &self.order.place;
        let is_ready = |record: &AgentRecord| record.state == AgentState::Ready && is_alive(record);
        let Some(record) = place.record().filter(is_ready) else {
            return Ok(None);
        };
        match who_answers(record.port).await {
            Answer::Agent(mark) if mark == record.mark => Ok(Some(record.port)),
            Answer::Busy => Ok(Some(record.port)),
            Answer::Agent(_) | Answer::Other => {
                end(place, &record)?;
                Ok(None)
            }
        }
    }

    async fn start_keeper(&self, lock: File) -> io::Result<()> {
        let place = &self.order.place;
        // What the last one said is true no more.
        if let Some(mut last) = place.record() {
            last.state = AgentState::Starting;
            place.write(&last)?;
        }
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", SCRIPT, "sh"])
            .arg(place.file("keeper.log"))
            .args(&self.keeper)
            .arg(serde_json::to_string(&self.order)?)
            .stdin(Stdio::null())
            .stdout(lock)
            .stderr(Stdio::null())
            .process_group(0);
        let mut shell = packtrain_program::spawning(|| command.spawn())?;
        shell.wait().await.map(drop)
    }

    /// Stops using it. After the last user, it has ended when this returns.
    pub(super) async fn leave(&self) {
        let Some(used) = self.used.lock().await.take() else {
            return;
        };
        self.forget();
        drop(used);
        let place = &self.order.place;
        let end = Instant::now() + END_TIMEOUT;
        let is_over = || Ok::<_, io::Error>(place.try_keep()?.is_some() || place.is_used()?);
        while Instant::now() < end && !is_over().unwrap_or(true) {
            sleep(KEEPER_POLL).await;
        }
    }

    /// The command that is configured.
    pub(super) const fn command(&self) -> &Vec<String> {
        &self.order.command
    }

    pub(super) fn hint(&self) -> String {
        format!(
            "`xcrun simctl install {} WebDriverAgentRunner-Runner.app` installs it where it is missing; \
             `packtrain doctor` and docs/devices.md say more",
            self.order.udid
        )
    }
}

/// Why the keeper that was started is gone.
fn failed(place: &AgentPlace) -> StartError {
    match state(place) {
        Some(AgentState::Failed(why)) => return StartError::Failed(why),
        Some(AgentState::Ended(why)) => {
            return StartError::Failed(format!("it answered and ended, {STARTS} times: {why}"));
        }
        Some(AgentState::Starting | AgentState::Ready) | None => {}
    }
    let log = std::fs::read_to_string(place.file("keeper.log")).unwrap_or_default();
    let said: Vec<_> = log.split_whitespace().collect();
    StartError::Failed(match said.is_empty() {
        true => "the process that keeps it has ended".to_owned(),
        false => said.join(" "),
    })
}

fn state(place: &AgentPlace) -> Option<AgentState> {
    place.record().map(|record| record.state)
}

/// Has a keeper end whose WebDriverAgent is gone, unless it is another one by now.
fn end(place: &AgentPlace, dead: &AgentRecord) -> io::Result<()> {
    let is_kept = place.try_keep()?.is_none();
    if is_kept && place.record().as_ref() == Some(dead) && is_alive(dead) {
        let pid = i32::try_from(dead.pid).map_err(io::Error::other)?;
        let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
    }
    Ok(())
}

fn is_alive(keeper: &AgentRecord) -> bool {
    keeper.started.is_some() && packtrain_program::started(keeper.pid) == keeper.started
}
