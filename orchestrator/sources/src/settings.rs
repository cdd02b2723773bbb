//! What is known of a tool source before it is started.

use std::collections::BTreeMap;
use std::path::PathBuf;

use packtrain_config::McpServer;

/// A tool source: a program that is an MCP server, or the address of one.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceSettings {
    /// As it is configured.
    pub server: McpServer,
    /// How it is started; `None` for one that runs already.
    pub launch: Option<Launch>,
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
