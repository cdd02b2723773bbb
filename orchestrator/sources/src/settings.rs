//! What is known of a tool source before it is started.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

/// A tool source: a program that is an MCP server, or the address of one.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceSettings {
    /// Its name; unique.
    pub name: String,
    /// How it is started; `None` for one that runs already.
    pub launch: Option<Launch>,
    /// How it is called; `None` lets the number of devices decide.
    pub transport: Option<Transport>,
    /// Where it listens, with templates; the default is `http://{host}:{port}/mcp`.
    pub url: Option<String>,
    /// Headers of every request over HTTP, with templates.
    pub headers: BTreeMap<String, String>,
    /// Where the port of one that is started comes from.
    pub port: Port,
    /// Which generation of the protocol it is asked for first.
    pub protocol: Protocol,
    /// How long it may take until it answers.
    pub ready_timeout: Duration,
    /// Calls under way at a time, over all its processes.
    pub concurrency: usize,
    /// Processes that share its work.
    pub replicas: usize,
    /// Who shares a process; `None` goes by the transport.
    pub scope: Option<Scope>,
    /// How long a call may be silent: neither progress nor a callback.
    pub call_timeout: Duration,
    /// How long a call may take, whatever it tells.
    pub max_total: Duration,
    /// Whether progress and callbacks count as signs of life.
    pub reset_on_progress: bool,
    /// What becomes of a process that died.
    pub restart: RestartPolicy,
    /// How it is asked to end.
    pub stop: StopPolicy,
    /// How long a cancelled call may go on before its process counts as stuck.
    pub cancel_grace: Duration,
    /// Whether callbacks of its tools may run commands of this computer.
    pub host_commands: bool,
    /// Metadata of all its tools, for what they do not say themselves.
    pub default_meta: Map<String, Value>,
    /// Metadata by tool, over `default_meta`.
    pub tool_meta: BTreeMap<String, Map<String, Value>>,
}

impl SourceSettings {
    /// A source with this name and everything else as usual.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            launch: None,
            transport: None,
            url: None,
            headers: BTreeMap::new(),
            port: Port::Auto,
            protocol: Protocol::Legacy,
            ready_timeout: Duration::from_secs(30),
            concurrency: 256,
            replicas: 1,
            scope: None,
            call_timeout: Duration::from_secs(60),
            max_total: Duration::from_secs(30 * 60),
            reset_on_progress: true,
            restart: RestartPolicy::default(),
            stop: StopPolicy::default(),
            cancel_grace: Duration::from_secs(2),
            host_commands: false,
            default_meta: Map::new(),
            tool_meta: BTreeMap::new(),
        }
    }
}

/// How a source is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// What is run.
    pub program: LaunchProgram,
    /// Arguments after it, with templates.
    pub args: Vec<String>,
    /// Environment variables for it besides our own, with templates.
    pub env: BTreeMap<String, String>,
    /// Environment variables of our own that it does not get, by name.
    pub without: Vec<String>,
    /// The folder it runs in, with templates.
    pub folder: Option<String>,
}

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LaunchProgram {
    /// A program, with templates.
    Command(String),
    /// A file, by the runtime that its ending asks for.
    Script(PathBuf),
    /// Our server of a trailmap's tools, by a TypeScript runtime.
    Trailmap {
        /// The server, or why there is none.
        server: Result<PathBuf, String>,
        /// The trailmap, beside which a runtime may be installed.
        trailmap: PathBuf,
        /// Each tool, as passed to the server.
        tools: Vec<String>,
    },
}

/// How a source is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// By its standard input and output.
    Stdio,
    /// By streamable HTTP.
    Http,
}

impl Transport {
    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
        }
    }
}

/// Where the port of a source comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Port {
    /// A free one is looked for.
    Auto,
    /// This one.
    Fixed(u16),
    /// The source takes one and prints it; the pattern's group holds it.
    Printed(String),
}

/// Which generation of the protocol a source is asked for first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// `initialize`, up to 2025-11-25; the newer one when the source says it speaks no other.
    Legacy,
    /// `server/discover`, and `initialize` when the source does not know that.
    Auto,
    /// `server/discover`, since 2026-07-28.
    Modern,
}

/// Who shares a process of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// No one: each session has its own.
    Session,
    /// The sessions of a device.
    Device,
    /// All.
    Shared,
}

/// What becomes of a process that died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestartPolicy {
    /// Restarts within the window; when they are used up the source stays down.
    pub max: u32,
    /// The window.
    pub window: Duration,
    /// The wait before the first restart; it doubles with each.
    pub backoff_min: Duration,
    /// The longest wait.
    pub backoff_max: Duration,
}

impl Default for RestartPolicy {
    fn default() -> Self {
        Self {
            max: 3,
            window: Duration::from_secs(300),
            backoff_min: Duration::from_millis(250),
            backoff_max: Duration::from_secs(10),
        }
    }
}

/// How a process is asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopPolicy {
    /// How long after its standard input was closed, on stdio.
    pub stdin_grace: Duration,
    /// How long after SIGTERM; then it is killed.
    pub term_grace: Duration,
}

impl Default for StopPolicy {
    fn default() -> Self {
        Self {
            stdin_grace: Duration::from_secs(5),
            term_grace: Duration::from_secs(2),
        }
    }
}
