//! From configuration to tool sources that run, with the door for their callbacks.

use std::path::{Path, PathBuf};
use std::time::Duration;

use packtrain_config::{Config, McpServer};
use packtrain_drivers::DeviceInfo;
use packtrain_engine::Plan;
use packtrain_model::memory::Redactor;
use packtrain_model::trail::{Recorded, lineage};
use packtrain_tools::{
    CallbackLimits, Callbacks, Launch, LaunchProgram, Origin, Port, Protocol, Registry,
    RestartPolicy, Scope, SharedRegistry, SourceSettings, StopPolicy, SupervisorOptions,
    ToolSources, Transport,
};
use tokio_util::task::AbortOnDropHandle;

use crate::exit::CliError;
use crate::http::callbacks::CallbackServer;
use crate::render;

/// How long sources may take to end.
const SOURCES_TIMEOUT: Duration = Duration::from_secs(20);

/// The tool sources of a run or of a call.
pub(crate) struct RunningSources {
    pub(crate) sources: ToolSources,
    _callbacks: AbortOnDropHandle<()>,
}

/// What sources are started for.
pub(crate) struct Purpose<'a> {
    /// The devices that sessions may run on.
    pub(crate) devices: Vec<DeviceInfo>,
    /// The folder of the run.
    pub(crate) run_dir: Option<PathBuf>,
    /// The name of the run.
    pub(crate) name: String,
    /// What must not stand in logs.
    pub(crate) secrets: &'a [(String, String)],
    /// Where commands run that name no folder.
    pub(crate) root: &'a Path,
}

impl RunningSources {
    /// Starts all sources and waits until each has listed its tools or failed; those that failed are
    /// told.
    ///
    /// # Errors
    /// When two contributors want one name, or there is no port.
    pub(crate) async fn start(
        config: &Config,
        base: Registry,
        purpose: Purpose<'_>,
    ) -> Result<Self, CliError> {
        let server = CallbackServer::bind().await.map_err(|error| {
            CliError::infrastructure("cannot open a port for callbacks").because(&error)
        })?;
        let limits = CallbackLimits::default();
        let options = SupervisorOptions {
            sources: config
                .mcp_servers
                .iter()
                .map(|source| settings(source, purpose.root))
                .collect(),
            base,
            devices: purpose.devices,
            base_url: server.base_url(),
            callback_timeout: limits.timeout,
            run_dir: purpose.run_dir,
            search_path: std::env::var_os("PATH").unwrap_or_default(),
            redactor: Redactor::of(purpose.secrets),
            session_prefix: purpose.name,
        };
        let arbiters = crate::runtime::arbiters(1);
        let arbiter = &arbiters[0];
        let sources = ToolSources::start(options, arbiter);
        let callbacks = Callbacks::new(
            sources.invocations().clone(),
            sources.registry().clone(),
            limits,
        );
        let running = Self {
            _callbacks: server.serve(callbacks),
            sources,
        };
        match running.sources.registered().await {
            Ok(failures) => {
                for failure in failures {
                    let mut told = format!("tool source `{}`: {}", failure.source, failure.message);
                    for line in failure.tail {
                        told.push_str(&format!("\n  {line}"));
                    }
                    render::say(&format!("warning: {told}"));
                }
                Ok(running)
            }
            Err(collisions) => {
                running.shutdown().await;
                let error =
                    CliError::misuse(format!("tools of one name: {}", collisions.trim_end()));
                Err(error.hint("names are unique: rename one of them in its source"))
            }
        }
    }

    /// The registry, which changes when the sources' tools do.
    pub(crate) fn registry(&self) -> SharedRegistry {
        self.sources.registry().clone()
    }

    /// Ends all sources.
    pub(crate) async fn shutdown(&self) {
        // What does not end in time is killed with the program's other children.
        let _ = tokio::time::timeout(SOURCES_TIMEOUT, self.sources.shutdown()).await;
    }
}

/// Whether a plan calls anything that a source may have.
pub(crate) fn are_needed(config: &Config, registry: &Registry, plan: &Plan) -> bool {
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
                            registry.get(&call.name).is_none_or(|tool| {
                                tool.spec().runs_trail.is_some()
                                    || matches!(tool.spec().origin, Origin::File(_))
                            })
                        }),
                        Recorded::NoAction(_) | Recorded::Unknown => false,
                    })
            })
        })
}

/// A source as configured.
pub(crate) fn settings(source: &McpServer, root: &Path) -> SourceSettings {
    let launch = match (source.command.split_first(), &source.script) {
        (Some((program, args)), _) => Some((
            LaunchProgram::Command(program.clone()),
            args.iter().chain(&source.args).cloned().collect(),
        )),
        (None, Some(script)) => Some((LaunchProgram::Script(script.clone()), source.args.clone())),
        (None, None) => None,
    };
    let launch = launch.map(|(program, args)| {
        let given = source.working_dir.clone();
        let usual = matches!(program, LaunchProgram::Command(_)).then(|| root.to_owned());
        Launch {
            program,
            args,
            env: source.env.clone(),
            folder: given.or(usual).map(|folder| folder.display().to_string()),
        }
    });
    SourceSettings {
        launch,
        transport: source.settled_transport().map(|transport| match transport {
            packtrain_config::Transport::Stdio => Transport::Stdio,
            packtrain_config::Transport::Http => Transport::Http,
        }),
        url: source.url.clone(),
        headers: source.headers.clone(),
        port: match &source.port {
            packtrain_config::Port::Auto => Port::Auto,
            packtrain_config::Port::Fixed(port) => Port::Fixed(*port),
            packtrain_config::Port::Printed(pattern) => Port::Printed(pattern.clone()),
        },
        protocol: match source.protocol {
            packtrain_config::Protocol::Legacy => Protocol::Legacy,
            packtrain_config::Protocol::Auto => Protocol::Auto,
            packtrain_config::Protocol::Modern => Protocol::Modern,
        },
        ready_timeout: source.ready_timeout.get(),
        concurrency: source.concurrency as usize,
        replicas: source.replicas as usize,
        scope: source.scope.map(|scope| match scope {
            packtrain_config::Scope::PerSession => Scope::Session,
            packtrain_config::Scope::PerDevice => Scope::Device,
            // One process serves one run.
            packtrain_config::Scope::PerRun | packtrain_config::Scope::Shared => Scope::Shared,
        }),
        call_timeout: source.call_timeout.get(),
        max_total: source.max_total.get(),
        reset_on_progress: source.reset_on_progress,
        restart: RestartPolicy {
            max: source.restart.max,
            window: source.restart.window.get(),
            backoff_min: source.restart.backoff.first().get(),
            backoff_max: source.restart.backoff.longest().get(),
        },
        stop: StopPolicy {
            stdin_grace: source.stop.stdin_grace.get(),
            term_grace: source.stop.term_grace.get(),
        },
        cancel_grace: source.cancel_grace.get(),
        host_commands: source.host_commands,
        default_meta: source.default_meta.clone(),
        tool_meta: source.tool_meta.clone(),
        name: source.name.clone(),
    }
}
