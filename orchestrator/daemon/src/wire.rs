//! What a command and the daemon say to each other on the unix socket: one line of JSON with what is
//! wanted, one with the answer; then, for some, more lines.
#![expect(missing_docs, reason = "the names say it, and are the wire's own")]

use std::collections::BTreeMap;
use std::hash::{Hash as _, Hasher as _};
use std::path::PathBuf;

use packtrain_drivers::DeviceInfo;
use packtrain_engine::SessionOrder;
use packtrain_model::{CancelCause, Exit, RunEvent};
use packtrain_terminal::exit::CliError;
use packtrain_wire::{Item, Place};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::lent::LoanRequest;

/// The most of a line.
const LINE_BYTES: u64 = 64 * 1024 * 1024;
/// The most of a file.
const FILE_BYTES: u64 = 512 * 1024 * 1024;

/// The version of the program. Both ends have to be of one build of it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub struct Hello {
    pub version: String,
    pub build: String,
    pub project: ProjectKey,
    /// What the configuration's files hold, as far as that tells one state from another.
    pub state: u64,
    pub wants: Request,
}

/// Which project: where its configuration comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProjectKey {
    /// Its folder; the working directory when there is no project.
    pub folder: PathBuf,
    /// The configuration file, when one was named.
    pub config: Option<PathBuf>,
    /// Variables that configure.
    pub environment: BTreeMap<String, String>,
}

impl ProjectKey {
    /// What its files hold now, in a number that another process of this program gets too.
    pub fn state(&self) -> u64 {
        let mut hasher = std::hash::DefaultHasher::new();
        let found = packtrain_config::find(&self.folder);
        let found = found.map_or([None, None], |found| [found.project, found.trailblaze]);
        let variables: Vec<_> = self.environment.clone().into_iter().collect();
        let others = [self.config.clone(), packtrain_config::user_file(&variables)];
        for file in found.into_iter().chain(others).flatten() {
            std::fs::read(file).unwrap_or_default().hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// What is wanted.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// To speak the Model Context Protocol from the next line on.
    Mcp {
        /// The toolset that is equipped from the start.
        toolset: Option<String>,
    },
    /// The devices, with who has them. Of a project that is not open, and shall not be opened for it, the
    /// phones of all others.
    Devices { open: bool },
    /// To have a session carried out.
    Session(Box<SessionRequest>),
    /// To have a device for a while.
    Device(LoanRequest),
    /// Who is connected.
    Agents,
    /// The end of an agent.
    EndAgent(String),
    /// To know that it is there.
    Status,
    /// Its end.
    Stop,
    /// Its end, unless it is in use; by whom is the answer.
    Retire,
}

/// That the daemon is of another build than a command, and who uses it.
pub fn other_build(daemon: &str, command: &str, users: &[String]) -> CliError {
    let by = match users {
        [] => String::new(),
        users => format!(", and in use by {}", users.join(", ")),
    };
    let named = if daemon.is_empty() { "unknown" } else { daemon };
    let message = format!("the daemon is build {named}, this program is {command}{by}");
    CliError::misuse(message).hint(
        "`packtrain daemon stop` ends it and what uses it; `--no-daemon` makes `run`, `snapshot` and \
         `tool` work without it",
    )
}

/// A session of a run of another process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SessionRequest {
    pub order: SessionOrder,
    /// Where the run keeps files.
    pub scratch: Option<PathBuf>,
    pub working_directory: PathBuf,
    /// Variables of the commands that it runs.
    pub environment: BTreeMap<String, String>,
    /// What shows that an agent has started the run.
    pub ticket: Option<String>,
}

/// What the daemon says of a session; a file's bytes follow the line when it has a length.
pub type SessionItem = Item<Box<RunEvent>, Place>;

/// What the caller of a session may send meanwhile.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionControl {
    /// It shall end.
    Stop(CancelCause),
}

/// A device and what it is about.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DeviceSummary {
    pub info: DeviceInfo,
    /// What it is about, in words: `free`, `in use by ...`.
    pub state: String,
    pub is_free: bool,
    /// Who waits for it, first come first.
    pub queue: Vec<String>,
}

/// All devices.
#[derive(Debug, Serialize, Deserialize)]
pub struct DeviceList {
    pub devices: Vec<DeviceSummary>,
}

/// A connected client.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AgentSummary {
    pub id: String,
    /// What it calls itself.
    pub name: String,
    /// `stdio`, `http`, or `http, no session`.
    pub transport: String,
    /// The revision of the protocol it speaks.
    pub protocol: Option<String>,
    pub project: PathBuf,
    pub toolset: Option<String>,
    /// The devices it has.
    pub devices: Vec<String>,
    /// The runs it has started.
    pub runs: Vec<String>,
    /// Seconds since it came.
    pub connected_s: u64,
    /// Seconds since it last asked for anything.
    pub idle_s: u64,
}

/// Why the daemon does not do what is wanted.
#[derive(Debug, Serialize, Deserialize)]
pub struct Problem {
    exit: Exit,
    message: String,
    causes: Vec<String>,
    hint: Option<String>,
}

impl From<CliError> for Problem {
    fn from(error: CliError) -> Self {
        let told = *error.explanation;
        let mistakes = told.diagnostics.iter().map(|mistake| mistake.render(false));
        Self {
            exit: error.exit,
            message: told.message,
            causes: told.causes.into_iter().chain(mistakes).collect(),
            hint: told.hint,
        }
    }
}

impl From<Problem> for CliError {
    fn from(problem: Problem) -> Self {
        let mut error = match problem.exit {
            Exit::Misuse => Self::misuse(problem.message),
            Exit::Failed => Self::failed(problem.message),
            Exit::Passed | Exit::Infrastructure => Self::infrastructure(problem.message),
        };
        for cause in problem.causes {
            error = error.cause(cause);
        }
        match problem.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

/// The second line.
pub type Answer = Result<serde_json::Value, Problem>;

/// Writes one line.
pub async fn write<T: Serialize + Sync>(
    to: &mut (impl AsyncWrite + Unpin + Send),
    message: &T,
) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    to.write_all(&line).await?;
    to.flush().await
}

/// Reads one line; `None` when the other end is gone.
///
/// # Errors
/// What the system says; a line that is too long, or not what was expected.
pub async fn read<T: DeserializeOwned>(
    from: &mut (impl AsyncBufRead + Unpin + Send),
) -> std::io::Result<Option<T>> {
    let mut line = Vec::new();
    let mut limited = from.take(LINE_BYTES);
    limited.read_until(b'\n', &mut line).await?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        return Err(std::io::Error::other("a line was cut off or is too long"));
    }
    Ok(Some(serde_json::from_slice(&line)?))
}

/// Reads the bytes behind a line.
///
/// # Errors
/// What the system says, or that they are too many.
pub async fn read_bytes(
    from: &mut (impl AsyncBufRead + Unpin + Send),
    length: u64,
) -> std::io::Result<Vec<u8>> {
    if length > FILE_BYTES {
        return Err(std::io::Error::other("a file is too large"));
    }
    let mut bytes = Vec::new();
    from.take(length).read_to_end(&mut bytes).await?;
    if bytes.len() as u64 != length {
        return Err(std::io::Error::other("a file was cut off"));
    }
    Ok(bytes)
}
