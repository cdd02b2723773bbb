//! A command's side of the unix socket.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use packtrain_terminal::exit::CliError;
use packtrain_terminal::render;
use serde::de::DeserializeOwned;
use tokio::io::BufReader;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::Instant;

use super::build_id::build;
pub use super::place::DaemonState;
use super::place::Place;
use super::wire::{self, Answer, DeviceList, DeviceSummary, Hello, ProjectKey, Request, VERSION};

/// How long a daemon may take to come up.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// How long the one before may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(60);
/// How often to look for it meanwhile.
const START_POLL: Duration = Duration::from_millis(5);
/// How long it may take to answer what needs no device.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// A connection on which something was asked for and granted.
pub struct Connection {
    /// What the daemon says.
    pub reader: BufReader<OwnedReadHalf>,
    /// The messages it receives.
    pub writer: OwnedWriteHalf,
    /// What was answered.
    pub answer: serde_json::Value,
}

/// The daemon of this user, when there is one that this program can talk to.
pub fn running() -> Result<Option<DaemonState>, CliError> {
    let Some(state) = Place::of_user()?.state() else {
        return Ok(None);
    };
    // A state file left by a killed daemon has no daemon behind it.
    let is_up = std::os::unix::net::UnixStream::connect(&state.socket).is_ok();
    Ok(is_up.then_some(state))
}

/// The daemon of this user; one is started when there is none, which ends after so many minutes without
/// anybody.
///
/// # Errors
/// When it does not come up, or is of another build and in use.
pub async fn started(project: &ProjectKey, idle: Option<u64>) -> Result<DaemonState, CliError> {
    if let Some(state) = usable(project).await? {
        return Ok(state);
    }
    let place = Place::of_user()?;
    place.prepare()?;
    let limit = match place.is_taken() {
        false => START_TIMEOUT,
        true => {
            render::say("waiting for a daemon that is starting or ending");
            END_TIMEOUT + START_TIMEOUT
        }
    };
    start(project, &place, idle)?;
    let begun = Instant::now();
    let mut every = tokio::time::interval(START_POLL);
    while begun.elapsed() < limit {
        every.tick().await;
        if let Some(state) = usable(project).await? {
            return Ok(state);
        }
    }
    let log = std::fs::read_to_string(place.log()).unwrap_or_default();
    let mut error = CliError::infrastructure(format!(
        "the daemon did not start within {} s",
        limit.as_secs()
    ));
    let lines: Vec<_> = log.lines().collect();
    for line in &lines[lines.len().saturating_sub(5)..] {
        error = error.cause(*line);
    }
    Err(error.hint("`packtrain daemon` in another terminal shows what is wrong"))
}

/// The daemon of this user, when there is one of this build. One of another build ends when nobody uses it.
///
/// # Errors
/// When it is in use, as misuse.
pub async fn usable(project: &ProjectKey) -> Result<Option<DaemonState>, CliError> {
    let Some(state) = running()?.filter(|state| state.build != build()) else {
        return running();
    };
    let asked = ask_for::<Vec<String>>(&state.socket, project.clone(), Request::Retire).await;
    // One that does not know what is asked does not tell who uses it.
    let users = asked.unwrap_or_else(|_| vec!["its agents or runs".to_owned()]);
    let begun = Instant::now();
    let mut every = tokio::time::interval(START_POLL);
    while users.is_empty() && begun.elapsed() < END_TIMEOUT {
        every.tick().await;
        match running()? {
            Some(other) if other.pid != state.pid && other.build == build() => {
                return Ok(Some(other));
            }
            Some(_) => {}
            None if Place::of_user()?.is_taken() => {}
            None => return Ok(None),
        }
    }
    Err(wire::other_build(&state.build, build(), &users))
}

/// Starts a daemon that outlives this process: `packtrain daemon start` starts it and ends, so that
/// it has no parent.
fn start(project: &ProjectKey, place: &Place, idle: Option<u64>) -> Result<(), CliError> {
    let failed =
        |error: &std::io::Error| CliError::infrastructure("cannot start the daemon").because(error);
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut command = Command::new(program);
    if let Some(config) = &project.config {
        command.arg("--config").arg(config);
    }
    command.args(["daemon", "start", "--detach"]);
    if let Some(minutes) = idle {
        command.args(["--idle", &minutes.to_string()]);
    }
    command
        .current_dir(&project.folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let started = packtrain_program::spawning(|| command.spawn()).and_then(|mut one| one.wait());
    let started = started.map_err(|error| failed(&error))?;
    if started.success() {
        return Ok(());
    }
    let log = place.log().display().to_string();
    Err(CliError::infrastructure("the daemon could not be started").hint(format!("see {log}")))
}

/// Asks the daemon for something.
///
/// # Errors
/// When it is gone, or refuses.
pub async fn ask(
    socket: &PathBuf,
    project: ProjectKey,
    wants: Request,
) -> Result<Connection, CliError> {
    let gone = |error: &std::io::Error| {
        CliError::infrastructure("cannot talk to the daemon")
            .because(error)
            .hint("`packtrain daemon status` shows whether it is running")
    };
    let stream = UnixStream::connect(socket).await;
    let (reader, mut writer) = stream.map_err(|error| gone(&error))?.into_split();
    let mut reader = BufReader::new(reader);
    let hello = Hello {
        version: VERSION.to_owned(),
        build: build().to_owned(),
        state: project.state(),
        project,
        wants,
    };
    let asking = async {
        wire::write(&mut writer, &hello).await?;
        wire::read::<Answer>(&mut reader).await
    };
    let answer = tokio::time::timeout(ANSWER_TIMEOUT, asking).await;
    let answer = answer.unwrap_or_else(|_| {
        let limit = ANSWER_TIMEOUT.as_secs();
        Err(std::io::Error::other(format!("no answer within {limit} s")))
    });
    match answer.map_err(|error| gone(&error))? {
        Some(Ok(answer)) => Ok(Connection {
            reader,
            writer,
            answer,
        }),
        Some(Err(problem)) => Err(problem.into()),
        None => Err(gone(&std::io::Error::other("it closed the connection"))),
    }
}

/// Asks the daemon for something that is one answer.
///
/// # Errors
/// As [`ask`].
pub async fn ask_for<T: DeserializeOwned>(
    socket: &PathBuf,
    project: ProjectKey,
    wants: Request,
) -> Result<T, CliError> {
    let answer = ask(socket, project, wants).await?.answer;
    serde_json::from_value(answer)
        .map_err(|error| CliError::infrastructure("invalid answer from the daemon").because(&error))
}

/// The devices that the daemon has for a project, or else the phones that it has for others, with who
/// has them; `None` when it has none.
pub async fn devices(project: ProjectKey) -> Option<Vec<DeviceSummary>> {
    let state = running().ok()??;
    let asked = ask_for::<DeviceList>(&state.socket, project, Request::Devices { open: false });
    let devices = asked.await.ok()?.devices;
    (!devices.is_empty()).then_some(devices)
}
