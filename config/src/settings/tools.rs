//! Where tools come from. Knows neither how a source is started nor what it says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use crate::placeholder::placeholders;
use crate::value::{Backoff, HumanDuration, Port, one_or_many};

/// A tool source, an MCP server. `command`, `script`, `trailmap` or `url` says where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct McpServer {
    /// What the source is called in logs and reports; unique. The key of the entry, or the name of
    /// its script without the ending, when it is not given.
    pub name: String,
    /// The program to start, or a list of the program and its first arguments; never a line for a
    /// shell. A relative path starts at `workingDir` if that is given.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(with = "crate::value::OneOrMany")]
    pub command: Vec<String>,
    /// Its arguments, after those of `command`.
    pub args: Vec<String>,
    /// Environment variables for it, in addition to the inherited ones and a few of Packtrain's.
    pub env: BTreeMap<String, String>,
    /// The folder it is started in.
    pub working_dir: Option<PathBuf>,
    /// A TypeScript, JavaScript or Python file to start with the runtime for it.
    pub script: Option<PathBuf>,
    /// A `trailmap.yaml` whose TypeScript tools are served. Those of a Trailblaze workspace are found
    /// by themselves where no `mcpServers` are configured.
    pub trailmap: Option<PathBuf>,
    /// How it is called. By default, a source that is started gets http when several devices use it
    /// or something is set that only http has, and stdio otherwise.
    pub transport: Option<Transport>,
    /// The URL of a source that is already running. With `command` or `script`: where the started
    /// server listens, `http://{host}:{port}/mcp` by default.
    #[schemars(extend("examples" = ["http://127.0.0.1:9000/mcp"]))]
    pub url: Option<String>,
    /// Headers sent with every request over http.
    #[schemars(extend("examples" = [{"Authorization": "Bearer {token}"}]))]
    pub headers: BTreeMap<String, String>,
    /// The port that the started server listens on.
    pub port: Port,
    /// The revision of MCP it is spoken to in.
    pub protocol: Protocol,
    /// How long it may take from its start until it answers.
    pub ready_timeout: HumanDuration,
    /// Most calls in flight at a time over http, from 1 to 4096.
    #[schemars(range(min = 1, max = 4096))]
    pub concurrency: u32,
    /// How many servers of this kind share the calls, from 1 to 64.
    #[schemars(range(min = 1, max = 64))]
    pub replicas: u32,
    /// Who shares a started server; by default, what its transport allows.
    pub scope: Option<Scope>,
    /// How long a call may go without a sign of life.
    pub call_timeout: HumanDuration,
    /// How long a call may take in all.
    pub max_total: HumanDuration,
    /// Whether a progress notification is a sign of life.
    pub reset_on_progress: bool,
    /// What happens when the server ends unasked.
    pub restart: Restart,
    /// How the server is stopped.
    pub stop: Stop,
    /// How long a cancelled call is waited for.
    pub cancel_grace: HumanDuration,
    /// Whether callbacks of its tools may run commands of this computer.
    pub host_commands: bool,
    /// Metadata of its tools that say nothing themselves, in the words of `trailblaze/*`.
    #[serde(deserialize_with = "metadata")]
    #[schemars(with = "ToolMeta")]
    pub default_meta: Map<String, Value>,
    /// Metadata by the tool's name; it takes precedence over `defaultMeta`.
    #[serde(deserialize_with = "metadata_by_tool")]
    #[schemars(with = "BTreeMap<String, ToolMeta>")]
    pub tool_meta: BTreeMap<String, Map<String, Value>>,
}

impl Default for McpServer {
    fn default() -> Self {
        Self {
            name: String::new(),
            command: Vec::new(),
            args: Vec::new(),
            env: BTreeMap::new(),
            working_dir: None,
            script: None,
            trailmap: None,
            transport: None,
            url: None,
            headers: BTreeMap::new(),
            port: Port::Auto,
            protocol: Protocol::default(),
            ready_timeout: seconds(30),
            concurrency: 256,
            replicas: 1,
            scope: None,
            call_timeout: seconds(60),
            max_total: seconds(30 * 60),
            reset_on_progress: true,
            restart: Restart::default(),
            stop: Stop::default(),
            cancel_grace: seconds(2),
            host_commands: false,
            default_meta: Map::new(),
            tool_meta: BTreeMap::new(),
        }
    }
}

impl McpServer {
    /// Whether the source is a program to start, not one that is already running.
    pub fn is_started(&self) -> bool {
        !self.command.is_empty() || self.script.is_some() || self.trailmap.is_some()
    }

    /// The transport, as far as the configuration says it: what only http has makes it http.
    pub fn settled_transport(&self) -> Option<Transport> {
        let needs_http = || {
            let mut texts = self.texts().into_iter();
            self.url.is_some()
                || !self.headers.is_empty()
                || self.port != Port::Auto
                || texts.any(|(_, _, text)| placeholders(&text).any(|name| name == "port"))
        };
        self.transport
            .or_else(|| needs_http().then_some(Transport::Http))
    }

    /// Every text that may hold placeholders, with its key and its place therein.
    pub(crate) fn texts(&self) -> Vec<(&'static str, Option<String>, String)> {
        let own = |key, text: &String| (key, None, text.clone());
        let each =
            |key| move |(name, text): (&String, &String)| (key, Some(name.clone()), text.clone());
        let args = self.args.iter().enumerate();
        let dir = self.working_dir.iter();
        (self.command.iter().map(|text| own("command", text)))
            .chain(args.map(|(place, text)| ("args", Some(place.to_string()), text.clone())))
            .chain(self.env.iter().map(each("env")))
            .chain(self.url.iter().map(|text| own("url", text)))
            .chain(self.headers.iter().map(each("headers")))
            .chain(dir.map(|dir| ("workingDir", None, dir.to_string_lossy().into_owned())))
            .collect()
    }

    /// Makes relative paths start at `base`. A program without a slash is left to be found on the
    /// search path, and what is not a file is left as it is for its message.
    pub(crate) fn resolve_paths(&mut self, base: &Path) {
        let is_fixed = |path: &Path| path.is_absolute() || path.starts_with("{run_dir}");
        for path in [&mut self.script, &mut self.trailmap, &mut self.working_dir] {
            if let Some(path) = path.as_mut().filter(|path| !is_fixed(path)) {
                *path = base.join(&*path);
            }
        }
        if let Some(program) = self.command.first_mut()
            && !is_fixed(Path::new(program))
            && Path::new(program).components().count() > 1
        {
            let path = self.working_dir.as_deref().unwrap_or(base).join(&*program);
            let is_meant = !program.contains(char::is_whitespace) || path.exists();
            if let Some(path) = path.to_str().filter(|_| is_meant) {
                *program = path.to_owned();
            }
        }
    }
}

/// How a tool source is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = with_alias)]
pub enum Transport {
    /// Through its standard input and output, one call at a time.
    Stdio,
    /// Over Streamable HTTP, many calls at a time.
    #[serde(alias = "streamable-http")]
    Http,
}

fn with_alias(schema: &mut Schema) {
    let alias = json!({ "const": "streamable-http", "description": "The same as `http`." });
    if let Some(words) = schema.get_mut("oneOf").and_then(Value::as_array_mut) {
        words.push(alias);
    }
}

/// Which revisions of MCP a source is tried with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Those that begin with `initialize`.
    #[default]
    Legacy,
    /// The newest one that both sides know.
    Auto,
    /// Those without `initialize`, from 2026-07-28 on.
    Modern,
}

/// Who shares a started server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// No one: every session starts its own.
    PerSession,
    /// The sessions of one device.
    PerDevice,
    /// The sessions of one run.
    PerRun,
    /// All runs of the process.
    Shared,
}

/// What happens when a server ends unasked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Restart {
    /// How often it is started again within `window`; 0 for never.
    pub max: u32,
    /// The time in which restarts are counted.
    pub window: HumanDuration,
    /// How long to wait before a restart: the first wait and the longest, each twice the one before.
    pub backoff: Backoff,
}

impl Default for Restart {
    fn default() -> Self {
        Self {
            max: 3,
            window: seconds(5 * 60),
            backoff: Backoff::new(HumanDuration::new(Duration::from_millis(250)), seconds(10)),
        }
    }
}

/// How a server is stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Stop {
    /// How long it has to end once its standard input is closed.
    pub stdin_grace: HumanDuration,
    /// How long it then has after SIGTERM before it is killed.
    pub term_grace: HumanDuration,
}

impl Default for Stop {
    fn default() -> Self {
        Self {
            stdin_grace: seconds(5),
            term_grace: seconds(2),
        }
    }
}

const fn seconds(seconds: u64) -> HumanDuration {
    HumanDuration::new(Duration::from_secs(seconds))
}

/// Metadata of a tool: the keys of `trailblaze/*` without that prefix.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct ToolMeta {
    /// Whether agents see it; the older word for `surfaceToLlm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_for_llm: Option<bool>,
    /// Whether agents see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    surface_to_llm: Option<bool>,
    /// Whether its calls are written into recordings.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_recordable: Option<bool>,
    /// Whether `success: false` in its answers is the app's own answer, and no failure of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    success_is_data: Option<bool>,
    /// Whether it works only where the host drives the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    requires_host: Option<bool>,
    /// The drivers it works with; all when empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    supported_drivers: Option<Vec<String>>,
    /// The platforms it works on; all when empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    supported_platforms: Option<Vec<String>>,
    /// The toolset it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    toolset: Option<String>,
}

impl ToolMeta {
    fn into_map<E: serde::de::Error>(self) -> Result<Map<String, Value>, E> {
        match serde_json::to_value(self).map_err(E::custom)? {
            Value::Object(map) => Ok(map),
            _ => Err(E::custom("expected keys and values")),
        }
    }
}

fn metadata<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    ToolMeta::deserialize(deserializer)?.into_map()
}

fn metadata_by_tool<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Map<String, Value>>, D::Error> {
    let tools = BTreeMap::<String, ToolMeta>::deserialize(deserializer)?;
    let tools = tools.into_iter();
    tools
        .map(|(name, meta)| Ok((name, meta.into_map()?)))
        .collect()
}

/// What is done about a tool source's tool whose name breaks the naming convention.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ToolNames {
    /// Nothing.
    Off,
    /// It is listed as a warning.
    #[default]
    Warn,
    /// The source is refused.
    Error,
}

/// A named selection of tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Toolset {
    /// What it is for.
    pub description: Option<String>,
    /// The tools' names.
    pub tools: Vec<String>,
    /// The platforms it is offered on; all when empty.
    #[schemars(extend("examples" = [["android", "ios"]]))]
    pub platforms: Vec<String>,
    /// The drivers it is offered with; all when empty.
    #[schemars(extend("examples" = [["playwright-native"]]))]
    pub drivers: Vec<String>,
    /// Whether it is offered without being asked for.
    pub always_enabled: bool,
}
