//! `packtrain daemon`: devices and tool sources kept warm for agents and commands of one user.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use packtrain_config::Flags;
use packtrain_mcp::AgentServer;
use packtrain_model::Exit;
use serde_json::json;
use tokio::time::Instant;

use super::{Context, Format, listed};
use crate::daemon::wire::{ProjectKey, Request};
use crate::daemon::{Place, ServeOptions, build, client, serve};
use crate::exit::{CliError, OrCliError as _};
use crate::toolsets::ToolsetStore;
use crate::{render, runtime};

/// After how long without anybody it ends, in minutes.
const IDLE_MINUTES: u64 = 10;
/// Bytes of a log that the next daemon writes on.
const MOST_LOG: u64 = 1024 * 1024;
/// How long a daemon may take to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);
/// How often to check whether it has.
const STOP_POLL: Duration = Duration::from_millis(20);

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "`packtrain mcp` starts it automatically; other commands use it if it is running.\n\
Without a subcommand it runs in this terminal until Ctrl-C."
)]
pub(crate) struct DaemonArgs {
    #[command(subcommand)]
    command: Option<DaemonCommand>,

    #[command(flatten)]
    serving: Serving,
}

#[derive(Debug, Args)]
struct Serving {
    /// Stop after this many idle minutes; 0 means never [default: 10, never in a terminal]
    #[arg(long, value_name = "MINUTES")]
    idle: Option<u64>,

    /// Stay behind without a terminal
    #[arg(long, hide = true)]
    background: bool,
}

#[derive(Debug, Subcommand)]
enum DaemonCommand {
    /// Start the daemon unless it is already running
    Start {
        /// Do not wait until it is up
        #[arg(long, hide = true)]
        detach: bool,
        /// Stop after this many idle minutes; 0 means never [default: 10]
        #[arg(long, value_name = "MINUTES")]
        idle: Option<u64>,
    },
    /// Show whether it is running, and its HTTP URL for agents
    Status {
        /// How to print it; JSON includes the token
        #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
        format: Format,
    },
    /// Stop it: releases devices, ends agents' sessions and runs
    Stop,
}

/// `packtrain daemon`.
pub(crate) fn run(args: &DaemonArgs, context: &Context) -> Result<Exit, CliError> {
    match &args.command {
        None => {
            // What is wrong with the project is said before anything is opened.
            let loaded = context.config(Flags::default())?;
            let tools = context.tools(&loaded)?;
            let toolsets = Arc::new(ToolsetStore::of(&loaded, &tools.toolsets));
            let minutes = args.serving.idle;
            let usual = args.serving.background.then_some(IDLE_MINUTES);
            let idle = minutes.or(usual).filter(|minutes| *minutes > 0);
            let options = ServeOptions {
                project: context.project_key(),
                toolsets,
                checks: super::checked,
                port: loaded.config.agents.port,
                idle: idle.map(|minutes| Duration::from_secs(minutes * 60)),
                is_watched: !args.serving.background,
            };
            runtime::block_on_stoppable(async |interrupts| {
                serve::<AgentServer>(options, interrupts.first().child_token()).await
            })
        }
        Some(DaemonCommand::Start { detach: true, idle }) => start(*idle).map(|()| Exit::Passed),
        Some(DaemonCommand::Start {
            detach: false,
            idle,
        }) => runtime::block_on(async {
            let state = client::started(&context.project_key(), *idle).await?;
            render::say(&format!("the daemon is running, process {}", state.pid));
            Ok(Exit::Passed)
        }),
        Some(DaemonCommand::Status { format }) => status(*format, context),
        Some(DaemonCommand::Stop) => runtime::block_on(stop(context.project_key())),
    }
}

/// Starts one that outlives its caller: this process ends at once, and the daemon has no parent.
fn start(idle: Option<u64>) -> Result<(), CliError> {
    let place = Place::of_user()?;
    place.prepare()?;
    start_with_log(&place.log(), idle).or_infrastructure("cannot start the daemon")
}

fn start_with_log(log: &Path, idle: Option<u64>) -> io::Result<()> {
    // A daemon that is ending may still have something to say.
    let log = File::options().create(true).append(true).open(log)?;
    if log.metadata()?.len() > MOST_LOG {
        log.set_len(0)?;
    }
    let (errors, program) = (log.try_clone()?, std::env::current_exe()?);
    // What was given to this process is given to it.
    let given: Vec<_> = std::env::args_os().skip(1).collect();
    let before = given.iter().position(|word| word == "daemon").unwrap_or(0);
    let mut command = Command::new(program);
    command
        .args(&given[..before])
        .args(["daemon", "--background"]);
    if let Some(minutes) = idle {
        command.args(["--idle", &minutes.to_string()]);
    }
    let started = command
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(errors)
        .process_group(0);
    packtrain_program::spawning(|| started.spawn()).map(drop)
}

fn status(format: Format, context: &Context) -> Result<Exit, CliError> {
    let Some(state) = client::running()? else {
        let words = match Place::of_user()?.is_taken() {
            true => "the daemon is starting or ending",
            false => "the daemon is not running; `packtrain daemon start` starts it",
        };
        listed::done(format, json!({ "running": false }), words);
        return Ok(Exit::Passed);
    };
    match format {
        Format::Json => {
            let mut told = serde_json::to_value(&state).unwrap_or_default();
            told["running"] = json!(true);
            listed::data(told);
        }
        Format::Text => {
            let users = match state.build == build() {
                true => {
                    let agents = runtime::block_on(client::ask_for::<Vec<serde_json::Value>>(
                        &state.socket,
                        context.project_key(),
                        Request::Agents,
                    ))?;
                    format!("{} agents", agents.len())
                }
                false => format!("this program is build {}", build()),
            };
            render::out(&format!(
                "process {}, version {}, build {}, {users}\nagents over HTTP: {}\nprograms: {}",
                state.pid, state.version, state.build, state.url, state.search_path
            ));
        }
    }
    Ok(Exit::Passed)
}

async fn stop(project: ProjectKey) -> Result<Exit, CliError> {
    let place = Place::of_user()?;
    let begun = Instant::now();
    let mut told = None;
    let mut every = tokio::time::interval(STOP_POLL);
    loop {
        every.tick().await;
        match (client::running()?, told) {
            (Some(state), Some(pid)) if state.pid == pid => {}
            // Somebody has started the next one.
            (Some(_), Some(_)) => return Ok(Exit::Passed),
            (Some(state), None) => {
                client::ask(&state.socket, project.clone(), Request::Stop).await?;
                told = Some(state.pid);
            }
            // One that is starting is asked once it can be.
            (None, _) if place.is_taken() => {}
            (None, Some(_)) => return Ok(Exit::Passed),
            (None, None) => {
                render::say("the daemon is not running");
                return Ok(Exit::Passed);
            }
        }
        if begun.elapsed() >= STOP_TIMEOUT {
            let process = told.map_or_else(String::new, |pid| format!(", process {pid},"));
            return Err(CliError::infrastructure(format!(
                "the daemon{process} did not stop within {} s",
                STOP_TIMEOUT.as_secs()
            )));
        }
    }
}
