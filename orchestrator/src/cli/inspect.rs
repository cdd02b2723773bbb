//! `packtrain snapshot` and `packtrain tool`: one device, one look, one call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Args, Subcommand};
use packtrain_config::{Config, Flags};
use packtrain_device_actors::Fleet;
use packtrain_drivers::{
    AppCommand, Command, Connector, DeviceInfo, Fault, LaunchMode, NavigateTo, Observation,
    Platform, Snapshot, SnapshotDetail, WebCommand,
};
use packtrain_engine::{
    Here, Journal, NoStore, SessionContext, SessionOptions, SessionOrder, SessionOutput,
    SessionStop, Sink,
};
use packtrain_model::memory::Redactor;
use packtrain_model::trail::{ToolCall, Trail};
use packtrain_model::yaml::Value;
use packtrain_model::{CancelCause, Exit, Outcome, RunId};
use packtrain_sources::LogListener;
use packtrain_tools::{Caller, Registry, SharedRegistry};
use serde_json::json;

use super::run::warm;
use super::{Context, Format, Workspace, listed, scaffold, select};
use crate::daemon::wire::DeviceSummary;
use crate::daemon::{LentDevice, client};
use crate::exit::{CliError, OrCliError as _};
use crate::sinks::{self, calls::Calls};
use crate::sources::{COMMAND_LINE, SourceStartOptions, may_call_sources};
use crate::wiring::{DeviceSelection, Wiring};
use crate::workplace::{Tools, targets};
use crate::{render, runtime};

/// How long a look or a call may take.
const SESSION_TIMEOUT: Duration = Duration::from_secs(120);
/// How long the device may take to let go at the end.
const DEVICE_RELEASE_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
pub(crate) struct SnapshotArgs {
    /// The device
    #[arg(short, long, value_name = "DEVICE")]
    device: Option<String>,

    /// Open this URL first (web)
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// Show where each element is
    #[arg(long)]
    bounds: bool,

    /// Save a screenshot too
    #[arg(long, value_name = "FILE")]
    screenshot: Option<std::path::PathBuf>,

    /// Connect the device without the daemon, even if it is running
    #[arg(long)]
    no_daemon: bool,

    /// How to print it
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(
    after_help = "The calls that the tool makes are shown as it makes them, along with the output of its source.\n
Examples:
  packtrain tool web_verifyTextVisible text=Welcome -d web/desktop --url http://localhost:8080
  packtrain tool tapOnElementWithText text='Create account' -d virtual:android --app com.example.shop
  packtrain tool assertMath expression='1 + 2' expected=3 -d web"
)]
pub(crate) struct ToolArgs {
    #[command(subcommand)]
    command: Option<ToolCommand>,

    /// The tool; `packtrain tools` lists them
    #[arg(value_name = "NAME", required = true)]
    name: Option<String>,

    /// Its arguments; a value that looks like JSON is read as JSON
    #[arg(value_name = "KEY=VALUE")]
    arguments: Vec<String>,

    /// The device
    #[arg(short, long, value_name = "DEVICE")]
    device: Option<String>,

    /// Open this URL first (web)
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// Bring this app to the front first (phones): its package name or bundle id
    #[arg(long, value_name = "APP", conflicts_with = "url")]
    app: Option<String>,

    /// Connect the device without the daemon, even if it is running
    #[arg(long)]
    no_daemon: bool,
}

#[derive(Debug, Subcommand)]
enum ToolCommand {
    /// Create a tool source in TypeScript or Python, with a test and a trail
    New(scaffold::NewArgs),
}

/// `packtrain snapshot`.
pub(crate) fn snapshot(args: &SnapshotArgs, context: &Context) -> Result<Exit, CliError> {
    let workspace = Workspace::of(context.config(Flags::default())?, Registry::builtin());
    let wanted = DeviceRequest {
        device: args.device.as_ref(),
        no_daemon: args.no_daemon,
        holder: "packtrain snapshot",
    };
    on_device(wanted, workspace, false, context, async |session, _| {
        open(session, args.url.as_ref()).await?;
        let detail = SnapshotDetail {
            bounds: args.bounds,
            ..SnapshotDetail::default()
        };
        if let Observation::Snapshot(snapshot) = command(session, Command::Snapshot(detail)).await?
        {
            print(&snapshot, args);
        }
        if let Some(path) = &args.screenshot
            && let Observation::Screenshot(picture) = command(session, Command::Screenshot).await?
        {
            std::fs::write(path, picture.png)
                .or_infrastructure(format_args!("cannot write {}", path.display()))?;
        }
        Ok(())
    })
}

fn print(snapshot: &Snapshot, args: &SnapshotArgs) {
    if args.format == Format::Json {
        let shown = json!({
            "location": snapshot.location,
            "title": snapshot.title,
            "screen": snapshot.screen,
            "refs": snapshot.refs,
            "tree": snapshot.tree,
        });
        return listed::data(shown);
    }
    if let Some(location) = &snapshot.location {
        render::say(&format!(
            "{location}  {}",
            snapshot.title.as_deref().unwrap_or_default()
        ));
    }
    render::out(&snapshot.text);
    for shown in snapshot.refs.iter().filter(|_| args.bounds) {
        if let Some(at) = shown.bounds {
            let (name, wide, high) = (&shown.name, at.width(), at.height());
            render::out(&format!("{name}: {},{} {wide}x{high}", at.left, at.top));
        }
    }
}

/// `packtrain tool`.
pub(crate) fn tool(args: &ToolArgs, context: &Context) -> Result<Exit, CliError> {
    if let Some(ToolCommand::New(args)) = &args.command {
        return scaffold::run(args, context);
    }
    let name = args.name.as_deref().unwrap_or_default();
    let workspace = context.workspace(Flags::default())?;
    let arguments = Value::from_assignments(args.arguments.iter().map(String::as_str))
        .map_err(|error| CliError::misuse(error.to_string()))?;
    let call = ToolCall::new(name, arguments);
    let has_sources = !workspace.config.mcp_servers.is_empty();
    let known = workspace.registry.get(name);
    // What other trails and compositions call is not looked at.
    let needs_sources = has_sources && known.is_none_or(|tool| may_call_sources(tool.spec()));
    if known.is_some() || !has_sources {
        check(&call, &workspace.registry)?;
    }
    let mut answer = None;
    let wanted = DeviceRequest {
        device: args.device.as_ref(),
        no_daemon: args.no_daemon,
        holder: "packtrain tool",
    };
    let work = async |session: &SessionContext, registry: &SharedRegistry| {
        check(&call, &registry.snapshot())?;
        open(session, args.url.as_ref()).await?;
        if let Some(id) = args.app.clone() {
            let mode = LaunchMode::Resume;
            command(session, Command::App(AppCommand::Launch { id, mode })).await?;
        }
        answer = Some(session.call(&call).await.map_err(told)?);
        Ok(())
    };
    let exit = on_device(wanted, workspace, needs_sources, context, work)?;
    // After what was printed meanwhile.
    if let Some(answer) = answer {
        if let Some(text) = answer.text {
            render::out(&text);
        }
        for note in answer.report.notes {
            render::say(&format!("note: {note}"));
        }
    }
    Ok(exit)
}

/// Whether there is such a tool, and it takes such arguments.
fn check(call: &ToolCall, registry: &Registry) -> Result<(), CliError> {
    let name = &call.name;
    let Some(tool) = registry.get(name) else {
        return Err(super::tools::unknown(name, registry));
    };
    tool.check(&call.args).map_err(|error| {
        let refused = CliError::misuse(format!("{name}: {error}"));
        let usage = || format!("`packtrain tools {name}` shows its arguments");
        refused.hint(error.hint.unwrap_or_else(usage))
    })
}

/// Which device is wanted, and by whom.
#[derive(Clone, Copy)]
struct DeviceRequest<'a> {
    device: Option<&'a String>,
    /// Whether it shall not be the daemon's.
    no_daemon: bool,
    /// The holder's name, as others see it.
    holder: &'static str,
}

/// The one device that is meant.
struct Chosen {
    connector: Arc<dyn Connector>,
    device: DeviceInfo,
    /// What it is made of, unless the daemon has it.
    wiring: Option<Wiring>,
}

/// That the daemon has lent none of these phones: a second connection would drive them
/// under their holder's hands.
///
/// # Errors
/// When it has.
pub(super) async fn refuse_taken(
    devices: &[DeviceInfo],
    wiring: &Wiring,
    context: &Context,
) -> Result<(), CliError> {
    let real = devices.iter().filter(|device| wiring.is_real(&device.id));
    let real: Vec<_> = real.map(|device| &device.id).collect();
    if real.is_empty() {
        return Ok(());
    }
    let warm = client::devices(context.project_key()).await;
    let warm = warm.unwrap_or_default();
    for id in real {
        let is_it = |news: &&DeviceSummary| news.info.id == *id || news.info.id == wiring.phone(id);
        if let Some(taken) = warm.iter().find(is_it).filter(|known| !known.is_free) {
            let error = CliError::infrastructure(format!("{id} is {}", taken.state));
            return Err(error.hint("`packtrain agents` shows who is connected"));
        }
    }
    Ok(())
}

/// The device as the daemon has it, when it is there and has it; otherwise connected by this process.
///
/// # Errors
/// When there is none, or several match, or the daemon has given it to somebody.
async fn choose(
    wanted: DeviceRequest<'_>,
    config: &Config,
    context: &Context,
) -> Result<Chosen, CliError> {
    let words = wanted.device.map(std::slice::from_ref).unwrap_or_default();
    let selection = DeviceSelection { words, all: false };
    if !wanted.no_daemon
        && let Some((warm, (_, devices))) = warm::find(selection, None, config, context).await?
        && let Ok([device]) = <[_; 1]>::try_from(devices)
    {
        let connector = LentDevice {
            socket: warm.socket,
            project: warm.project,
            device: device.clone(),
            holder: wanted.holder,
        };
        return Ok(Chosen {
            connector: Arc::new(connector),
            device,
            wiring: None,
        });
    }
    let (wiring, chosen) = select::found(selection, config, false).await?;
    let [device] = chosen.as_slice() else {
        return Err(CliError::misuse("several devices match").hint("choose one of them with -d"));
    };
    refuse_taken(&chosen, &wiring, context).await?;
    let mut connectors = wiring.connectors().iter();
    let found = connectors.find(|connector| *connector.id() == device.id);
    let found = found.ok_or_else(|| CliError::misuse("no such device"))?;
    Ok(Chosen {
        connector: Arc::clone(found),
        device: device.clone(),
        wiring: Some(wiring),
    })
}

/// Begins a session on the one device that is meant, as a run would, and ends it after `work`.
fn on_device(
    wanted: DeviceRequest<'_>,
    workspace: Workspace,
    with_sources: bool,
    context: &Context,
    work: impl AsyncFnOnce(&SessionContext, &SharedRegistry) -> Result<(), CliError>,
) -> Result<Exit, CliError> {
    let target = targets(&workspace.config).of(None);
    runtime::block_on_stoppable(async |interrupts| {
        let Chosen {
            connector,
            device,
            wiring,
        } = interrupts
            .interruptible(choose(wanted, &workspace.config, context))
            .await?;
        let fleet = Fleet::start(vec![connector], &crate::workplace::arbiters(1))
            .map_err(|error| CliError::misuse(error.to_string()))?;
        // What a source prints is what its author looks for; of one that does not start it is told
        // anyway.
        let is_up = Arc::new(AtomicBool::new(false));
        let heard = Arc::clone(&is_up);
        let listener: LogListener = Arc::new(move |source, line| {
            if heard.load(Ordering::Relaxed) {
                sinks::calls::say(&format!("  {source} | {line}"));
            }
        });
        let purpose = with_sources.then(|| SourceStartOptions {
            log_listener: Some(listener),
            ..SourceStartOptions::on(device.clone(), &workspace.root)
        });
        let starting = Tools::start(&workspace.config, workspace.registry, purpose);
        let tools = interrupts.interruptible(starting).await?;
        is_up.store(true, Ordering::Relaxed);
        let working_directory = context.working_directory.clone();
        let here = tools.here(&fleet, Caller::Person, working_directory, None);
        let run = RunId(COMMAND_LINE.to_owned());
        let order = SessionOrder {
            target,
            options: SessionOptions {
                timeout: SESSION_TIMEOUT,
                ..SessionOptions::default()
            },
            ..SessionOrder::alone(run, Trail::empty("<command line>"), device)
        };
        let stop = SessionStop::default();
        let mut session = std::pin::pin!(one_session(&here, &order, stop.clone(), work));
        let worked = tokio::select! {
            worked = &mut session => worked,
            () = interrupts.first().cancelled() => {
                stop.cancel(CancelCause::Interrupt);
                let stopped = tokio::time::timeout(DEVICE_RELEASE_TIMEOUT, session).await;
                stopped.unwrap_or_else(|_| Err(CliError::infrastructure("interrupted")))
            }
        };
        fleet.shutdown(DEVICE_RELEASE_TIMEOUT).await;
        tools.shutdown().await;
        if let Some(wiring) = wiring {
            select::release(wiring).await;
        }
        worked.map(|()| Exit::Passed)
    })
}

async fn one_session(
    here: &Here,
    order: &SessionOrder,
    stop: SessionStop,
    work: impl AsyncFnOnce(&SessionContext, &SharedRegistry) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let sinks: Vec<Box<dyn Sink>> = vec![Box::new(Calls)];
    let (journal, thread) = Journal::start(Box::new(NoStore), sinks, Redactor::default())
        .or_infrastructure("cannot start the journal")?;
    let opened = here.open(order, SessionOutput::new(journal), stop);
    let session = opened.await.map_err(told)?;
    let worked = work(&session, &here.registry).await;
    session.end().await;
    thread.finish().await.sinks.finish().await;
    worked
}

/// An outcome that is not a pass, as the command's error.
fn told(outcome: Outcome) -> CliError {
    let hint = outcome.hint().map(str::to_owned);
    let message = outcome.message().unwrap_or_default();
    let mut error = match outcome.exit() {
        Exit::Passed | Exit::Failed => CliError::failed(message),
        Exit::Infrastructure => CliError::infrastructure(message),
        Exit::Misuse => CliError::misuse(message),
    };
    if let Outcome::Failed(failure) = outcome {
        for line in failure.log {
            error = error.cause(line);
        }
    }
    error.hinted(hint)
}

/// Opens an address; relative ones lead to where the app under test is.
async fn open(session: &SessionContext, url: Option<&String>) -> Result<(), CliError> {
    if let Some(url) = url {
        if session.platform() != Platform::Web {
            return Err(CliError::misuse(
                "`--url` opens a page in a browser; this device is a phone",
            ));
        }
        let to = NavigateTo::Url(url.clone());
        command(session, Command::Web(WebCommand::Navigate(to))).await?;
    }
    Ok(())
}

async fn command(session: &SessionContext, command: Command) -> Result<Observation, CliError> {
    session.command(command).await.map_err(|error| {
        let failed = match error.fault() {
            Fault::App => CliError::failed(error.to_string()),
            Fault::Caller => CliError::misuse(error.to_string()),
            Fault::Device | Fault::Nobody => CliError::infrastructure(error.to_string()),
        };
        failed.hinted(error.hint())
    })
}
