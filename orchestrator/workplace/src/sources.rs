//! From configuration to tool sources that run, with the door for their callbacks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use actix_rt::ArbiterHandle;
use packtrain_config::{Config, McpServer, ScriptedTool, ToolNames};
use packtrain_door::callbacks::CallbackServer;
use packtrain_door::door::Serving;
use packtrain_drivers::{DeviceId, DeviceInfo};
use packtrain_engine::Plan;
use packtrain_model::memory::Redactor;
use packtrain_model::trail::{Recorded, lineage};
use packtrain_model::{AttemptNumber, RunId, SessionId, SessionIndex};
use packtrain_sources::{
    CallbackLimits, Callbacks, Launch, LaunchProgram, LogListener, SourceSettings, SourceStatus,
    SupervisorOptions, ToolSources,
};
use packtrain_terminal::exit::CliError;
use packtrain_terminal::render;
use packtrain_tools::{Origin, Registry, SessionScope, SharedRegistry, ToolSpec, check_name};
use serde::{Deserialize, Serialize};
use tokio_util::task::AbortOnDropHandle;

mod trailmap_server;

/// The file of a run that tells how its sources are.
pub const STATUS_FILE: &str = "sources/status.json";
/// What calls outside of runs have as their run.
pub const COMMAND_LINE: &str = "command-line";
/// How often it is written down how the sources are.
const STATUS_INTERVAL: Duration = Duration::from_millis(500);
/// How long sources may take to end.
const SOURCES_TIMEOUT: Duration = Duration::from_secs(20);

/// The tool sources of a run or of a call.
pub struct RunningSources {
    /// The sources.
    pub sources: ToolSources,
    _callbacks: Serving,
    /// How many sources have no tools.
    pub failures: usize,
    /// Keeps a file of the run up to date.
    told: Option<(PathBuf, AbortOnDropHandle<()>)>,
    /// Tells of names that are taken while they run.
    collisions: Option<AbortOnDropHandle<()>>,
}

/// What a run tells of its sources.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStatus {
    /// Whether the run is over.
    pub ended: bool,
    /// The process that runs it.
    pub pid: u32,
    /// Invocations whose ids work.
    pub open_invocations: usize,
    /// The sources.
    pub sources: Vec<SourceStatus>,
}

/// What sources are started for.
pub struct SourceStartOptions<'a> {
    /// The devices that sessions may run on.
    pub devices: Vec<DeviceInfo>,
    /// The session that comes first, and its device.
    pub first: Option<(String, DeviceId)>,
    /// The folder of the run.
    pub run_dir: Option<PathBuf>,
    /// The name of the run.
    pub name: String,
    /// What must not stand in logs.
    pub secrets: &'a [(String, String)],
    /// Where commands run that name no folder.
    pub root: &'a Path,
    /// The receiver of sources' output.
    pub log_listener: Option<LogListener>,
    /// Environment variables of ours that they do not get.
    pub without: Vec<String>,
    /// Where their actors live; on a thread of their own when `None`, which takes the thread of the
    /// running actix system.
    pub arbiter: Option<ArbiterHandle>,
}

impl<'a> SourceStartOptions<'a> {
    /// To see what there is, outside of runs.
    pub fn of(name: &str, root: &'a Path) -> Self {
        Self {
            devices: Vec::new(),
            first: None,
            run_dir: None,
            name: name.to_owned(),
            secrets: &[],
            root,
            log_listener: None,
            without: Vec::new(),
            arbiter: None,
        }
    }

    /// For calls on one device, outside of runs.
    pub fn on(device: DeviceInfo, root: &'a Path) -> Self {
        Self {
            first: Some(first_of(&RunId(COMMAND_LINE.to_owned()), device.id.clone())),
            devices: vec![device],
            ..Self::of(COMMAND_LINE, root)
        }
    }
}

/// The first session of a run, as tools know it, on its device.
pub fn first_of(run: &RunId, device: DeviceId) -> (String, DeviceId) {
    let session = SessionId::new(SessionIndex(0), AttemptNumber(1));
    (SessionScope::name_of(run, &session), device)
}

impl RunningSources {
    /// Starts all sources and waits until each has listed its tools or failed; those that failed are
    /// told.
    ///
    /// # Errors
    /// When two contributors want one name, or there is no port.
    pub async fn start(
        config: &Config,
        base: Registry,
        purpose: SourceStartOptions<'_>,
    ) -> Result<Self, CliError> {
        check(config)?;
        let scripted = scripted(config);
        let server = CallbackServer::bind().await.map_err(|error| {
            CliError::infrastructure("cannot open a port for callbacks").because(&error)
        })?;
        let limits = CallbackLimits::default();
        let options = SupervisorOptions {
            sources: config
                .mcp_servers
                .iter()
                .map(|source| {
                    let mut settings = settings(source, purpose.root, &scripted);
                    if let Some(launch) = &mut settings.launch {
                        launch.without.clone_from(&purpose.without);
                    }
                    settings
                })
                .collect(),
            base,
            devices: purpose.devices,
            first: purpose.first,
            base_url: server.base_url(),
            callback_timeout: limits.timeout,
            run_dir: purpose.run_dir.clone(),
            search_path: std::env::var_os("PATH").unwrap_or_default(),
            redactor: Redactor::of(purpose.secrets),
            log_listener: purpose.log_listener,
            session_prefix: purpose.name,
        };
        let arbiter = purpose
            .arbiter
            .unwrap_or_else(|| crate::arbiters(1).swap_remove(0));
        let sources = ToolSources::start(options, &arbiter);
        let callbacks = Callbacks::new(
            sources.invocations().clone(),
            sources.registry().clone(),
            limits,
        );
        let told = purpose.run_dir.map(|folder| {
            let path = folder.join(STATUS_FILE);
            let telling = AbortOnDropHandle::new(tokio::spawn(tell(path.clone(), sources.clone())));
            (path, telling)
        });
        let mut running = Self {
            _callbacks: server.serve(callbacks),
            sources,
            failures: 0,
            told,
            collisions: None,
        };
        match running.sources.registered().await {
            Ok(failures) => {
                running.failures = failures.len();
                for failure in failures {
                    let mut told = format!("tool source `{}`: {}", failure.source, failure.message);
                    for line in failure.tail {
                        told.push_str(&format!("\n  {line}"));
                    }
                    render::say(&format!("warning: {told}"));
                }
                if let Err(error) = check_names(&running.sources, config.tool_names) {
                    running.shutdown().await;
                    return Err(error);
                }
                let sources = running.sources.clone();
                let warning = |collision: &str| render::say(&format!("warning: {collision}"));
                running.collisions = Some(AbortOnDropHandle::new(tokio::spawn(async move {
                    sources.each_collision(warning).await;
                })));
                Ok(running)
            }
            Err(collisions) => {
                running.shutdown().await;
                let error =
                    CliError::misuse(format!("duplicate tool names: {}", collisions.trim_end()));
                Err(error.hint("rename one of them in its source"))
            }
        }
    }

    /// The registry, which changes when the sources' tools do.
    pub fn registry(&self) -> SharedRegistry {
        self.sources.registry().clone()
    }

    /// Ends all sources.
    pub async fn shutdown(&self) {
        if let Some(collisions) = &self.collisions {
            collisions.abort();
        }
        if let Some((path, telling)) = &self.told {
            telling.abort();
            write_status(path, &self.sources, true);
        }
        // What does not end in time is killed with the program's other children.
        let _ = tokio::time::timeout(SOURCES_TIMEOUT, self.sources.shutdown()).await;
    }
}

/// What is wrong with the configuration of sources, as far as it is seen without starting one.
///
/// # Errors
/// An invalid pattern.
pub fn check(config: &Config) -> Result<(), CliError> {
    for source in &config.mcp_servers {
        if let packtrain_config::Port::Printed(pattern) = &source.port {
            regex::Regex::new(pattern).map_err(|error| {
                CliError::misuse(format!("tool source `{}`: `stdoutRegex`", source.name))
                    .because(&error)
            })?;
        }
    }
    Ok(())
}

/// Tells of names that break the convention, as loud as the configuration says.
fn check_names(sources: &ToolSources, told: ToolNames) -> Result<(), CliError> {
    let registry = sources.registry().snapshot();
    let of_sources = registry
        .all()
        .map(|tool| tool.spec())
        .filter(|spec| matches!(spec.origin, Origin::Source(_)));
    let mut odd: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for spec in of_sources {
        let Some(problem) = check_name(&spec.name, &spec.origin) else {
            continue;
        };
        if problem.is_fatal || told == ToolNames::Error {
            let message = format!("{}: {problem}", spec.origin);
            return Err(CliError::misuse(message).hint(problem.hint));
        }
        odd.entry(spec.origin.to_string())
            .or_default()
            .push(problem.to_string());
    }
    if told == ToolNames::Warn {
        for (source, problems) in odd {
            let more = match problems.len() - 1 {
                0 => String::new(),
                more => format!(", and {more} more break the convention for names"),
            };
            render::say(&format!("note: {source}: {}{more}", problems[0]));
        }
    }
    Ok(())
}

/// Keeps the file that tells how the sources of a run are up to date.
async fn tell(path: PathBuf, sources: ToolSources) {
    let mut every = tokio::time::interval(STATUS_INTERVAL);
    loop {
        every.tick().await;
        write_status(&path, &sources, false);
    }
}

/// Readers find the file of before or this one, never half of it.
fn write_status(path: &Path, sources: &ToolSources, ended: bool) {
    let status = RunStatus {
        ended,
        pid: std::process::id(),
        open_invocations: sources.invocations().len(),
        sources: sources.status(),
    };
    let new = path.with_extension("new");
    let written = serde_json::to_vec(&status)
        .map_err(std::io::Error::from)
        .and_then(|bytes| {
            std::fs::create_dir_all(path.parent().unwrap_or(path))?;
            std::fs::write(&new, bytes)?;
            std::fs::rename(&new, path)
        });
    if let Err(error) = written {
        tracing::debug!(%error, "cannot report the state of the sources");
    }
}

/// Whether a plan calls anything that a source may have.
pub fn are_needed(config: &Config, registry: &Registry, plan: &Plan) -> bool {
    let planned = plan
        .sessions
        .iter()
        .filter(|planned| planned.skip.is_none());
    !config.mcp_servers.is_empty()
        && planned.into_iter().any(|planned| {
            let trail = &plan.trails[planned.trail];
            let devices = planned.devices.iter().filter_map(|id| plan.device(id));
            devices.into_iter().any(|device| {
                let lineage = lineage(&device.classifiers);
                trail
                    .all_steps()
                    .any(|step| match step.recording_for(&lineage) {
                        Recorded::Calls(_, calls) => calls.iter().any(|call| {
                            // What other trails and compositions call is not looked at.
                            let tool = registry.get(&call.name);
                            tool.is_none_or(|tool| may_call_sources(tool.spec()))
                        }),
                        Recorded::NoAction(_) | Recorded::Unknown => false,
                    })
            })
        })
}

/// Whether a tool that is not a source's may call one that is.
pub fn may_call_sources(spec: &ToolSpec) -> bool {
    spec.runs_trail.is_some() || matches!(spec.origin, Origin::File(_))
}

/// The tools of the configured trailmaps by name, each with its trailmap.
pub type Scripted = BTreeMap<String, (PathBuf, ScriptedTool)>;

/// Looks for the tools of the configured trailmaps. What several have is unusable.
pub fn scripted(config: &Config) -> Scripted {
    let mut scripted = Scripted::new();
    let sources = config.mcp_servers.iter();
    for map in sources.filter_map(|source| source.trailmap.as_ref()) {
        for tool in packtrain_config::scripts(map).tools {
            let first = scripted.entry(tool.name.clone());
            let (_, first) = first.or_insert_with(|| (map.clone(), tool.clone()));
            if first.file != tool.file {
                let (name, file) = (&tool.name, first.file.display());
                let told = format!("tool `{name}` is defined more than once: {file}");
                let told = first.unusable.get_or_insert(told);
                told.push_str(&format!(" and {}", tool.file.display()));
            }
        }
    }
    scripted
}

/// A source as configured.
fn settings(source: &McpServer, root: &Path, scripted: &Scripted) -> SourceSettings {
    let launch = match (source.command.split_first(), &source.script) {
        (Some((program, args)), _) => Some((
            LaunchProgram::Command(program.clone()),
            args.iter().chain(&source.args).cloned().collect(),
        )),
        (None, Some(script)) => Some((LaunchProgram::Script(script.clone()), source.args.clone())),
        (None, None) => source.trailmap.as_ref().map(|trailmap| {
            let tools = scripted.values().filter(|(map, _)| map == trailmap);
            let tools = tools.filter_map(|(_, tool)| serde_json::to_string(tool).ok());
            let program = LaunchProgram::Trailmap {
                server: trailmap_server::provide(),
                trailmap: trailmap.clone(),
                tools: tools.collect(),
            };
            (program, source.args.clone())
        }),
    };
    let launch = launch.map(|(program, args)| {
        let given = source.working_dir.clone();
        let usual = !matches!(program, LaunchProgram::Script(_));
        let usual = usual.then(|| root.to_owned());
        Launch {
            program,
            args,
            env: source.env.clone(),
            without: Vec::new(),
            folder: given.or(usual).map(|folder| folder.display().to_string()),
        }
    });
    SourceSettings {
        server: source.clone(),
        launch,
    }
}
