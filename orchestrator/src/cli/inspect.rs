//! `packtrain snapshot` and `packtrain tool`: one device, one look, one call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use packtrain_config::{Config, Flags};
use packtrain_device_actors::{Fleet, Lease};
use packtrain_drivers::{
    BoxFuture, Command, Fault, Observation, SessionOptions, Snapshot, SnapshotDetail, WebCommand,
};
use packtrain_model::Exit;
use packtrain_model::memory::Memory;
use packtrain_model::yaml::Value;
use packtrain_tools::{Answer, Call, NestedTrails, Registry, SessionScope, Target, ToolError};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::select::select;
use super::{Context, Format};
use crate::exit::CliError;
use crate::wiring::{Wanted, Wiring};
use crate::{render, runtime};

/// How long one look or call may take.
const LIMIT: Duration = Duration::from_secs(120);

#[derive(Debug, Args)]
pub(crate) struct SnapshotArgs {
    /// The device
    #[arg(short, long, value_name = "DEVICE")]
    device: Option<String>,

    /// Open this address first (web)
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// Show where each element is
    #[arg(long)]
    bounds: bool,

    /// Save a picture of the screen too
    #[arg(long, value_name = "FILE")]
    screenshot: Option<std::path::PathBuf>,

    /// How to print it
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  packtrain tool web_verifyTextVisible text=Welcome -d web/desktop --url http://localhost:8080
  packtrain tool assertMath expression='1 + 2' expected=3 -d web")]
pub(crate) struct ToolArgs {
    /// The tool; `packtrain tools` lists them
    #[arg(value_name = "NAME")]
    name: String,

    /// Its arguments; a value that looks like JSON is read as JSON
    #[arg(value_name = "KEY=VALUE")]
    arguments: Vec<String>,

    /// The device
    #[arg(short, long, value_name = "DEVICE")]
    device: Option<String>,

    /// Open this address first (web)
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

/// `packtrain snapshot`.
pub(crate) fn snapshot(args: &SnapshotArgs, context: &Context) -> Result<Exit, CliError> {
    let config = context.config(Flags::default())?.config;
    runtime::block_on(on_device(
        &config,
        args.device.as_ref(),
        async |lease: Lease| {
            open(&lease, args.url.as_ref()).await?;
            let detail = SnapshotDetail {
                bounds: args.bounds,
                ..SnapshotDetail::default()
            };
            if let Observation::Snapshot(snapshot) =
                execute(&lease, Command::Snapshot(detail)).await?
            {
                print(&snapshot, args);
            }
            if let Some(path) = &args.screenshot
                && let Observation::Screenshot(picture) =
                    execute(&lease, Command::Screenshot).await?
            {
                std::fs::write(path, picture.png).map_err(|error| {
                    CliError::infrastructure(format!("cannot write {}", path.display()))
                        .because(&error)
                })?;
            }
            Ok(Exit::Passed)
        },
    ))
}

fn print(snapshot: &Snapshot, args: &SnapshotArgs) {
    if args.format == Format::Json {
        let shown = json!({
            "schema_version": 1,
            "location": snapshot.location,
            "title": snapshot.title,
            "screen": snapshot.screen,
            "refs": snapshot.refs,
            "tree": snapshot.tree,
        });
        render::out(&shown.to_string());
        return;
    }
    if let Some(location) = &snapshot.location {
        render::say(&format!(
            "{location}  {}",
            snapshot.title.as_deref().unwrap_or_default()
        ));
    }
    render::out(&snapshot.text);
    if args.bounds {
        for shown in &snapshot.refs {
            if let Some(at) = shown.bounds {
                render::out(&format!(
                    "{}: {},{} {}x{}",
                    shown.name,
                    at.left,
                    at.top,
                    at.width(),
                    at.height()
                ));
            }
        }
    }
}

/// `packtrain tool`.
pub(crate) fn tool(args: &ToolArgs, context: &Context) -> Result<Exit, CliError> {
    let config = context.config(Flags::default())?.config;
    let registry = Registry::builtin();
    let Some(tool) = registry.get(&args.name).map(Arc::clone) else {
        return Err(
            CliError::misuse(format!("there is no tool `{}`", args.name))
                .hint("`packtrain tools` lists what there is"),
        );
    };
    let arguments = Value::from_assignments(args.arguments.iter().map(String::as_str))
        .map_err(|error| CliError::misuse(error.to_string()))?;
    tool.check(&arguments).map_err(|error| {
        let refused = CliError::misuse(format!("{}: {error}", args.name));
        match error.hint {
            Some(hint) => refused.hint(hint),
            None => refused.hint(format!(
                "`packtrain tools {}` shows its arguments",
                args.name
            )),
        }
    })?;
    let folder = context.working_directory.clone();
    runtime::block_on(on_device(
        &config,
        args.device.as_ref(),
        async |lease: Lease| {
            open(&lease, args.url.as_ref()).await?;
            let scope = SessionScope::new(
                lease,
                Memory::default(),
                Target::default(),
                vec![folder],
                CancellationToken::new(),
            );
            let call = Call {
                session: &scope,
                deadline: Instant::now() + LIMIT,
                depth: 0,
                trails: &NoTrails,
            };
            match tool.call(&arguments, &call).await {
                Ok(answer) => {
                    if let Some(text) = answer.text {
                        render::out(&text);
                    }
                    for note in answer.report.notes {
                        render::say(&format!("note: {note}"));
                    }
                    Ok(Exit::Passed)
                }
                Err(ToolError::Command(error)) if error.fault() == Fault::Device => {
                    Err(CliError::infrastructure(error.to_string()))
                }
                Err(error) => {
                    render::say(&format!("failed: {error}"));
                    if let ToolError::Command(error) = &error {
                        for line in error.log() {
                            render::say(&format!("  {line}"));
                        }
                    }
                    Ok(Exit::Failed)
                }
            }
        },
    ))
}

/// Outside a run there are no trails to run.
struct NoTrails;

impl NestedTrails for NoTrails {
    fn run<'a>(
        &'a self,
        path: &'a str,
        _: &'a Call<'a>,
    ) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(async move {
            Err(ToolError::failed(format!(
                "use `packtrain run {path}` to run a trail"
            )))
        })
    }
}

async fn on_device(
    config: &Config,
    device: Option<&String>,
    work: impl AsyncFnOnce(Lease) -> Result<Exit, CliError>,
) -> Result<Exit, CliError> {
    let words: Vec<_> = device.into_iter().cloned().collect();
    let wanted = Wanted {
        words: &words,
        all: false,
    };
    let mut wiring = Wiring::new(config, wanted, false).await?;
    let chosen = select(wanted, &mut wiring)?;
    let [device] = chosen.as_slice() else {
        return Err(CliError::misuse("more than one device is meant").hint("choose one with -d"));
    };
    let connectors: Vec<_> = wiring
        .connectors()
        .iter()
        .filter(|connector| *connector.id() == device.id)
        .map(Arc::clone)
        .collect();
    let fleet = Fleet::start(connectors, &runtime::arbiters(1))
        .map_err(|error| CliError::misuse(error.to_string()))?;
    let cancel = CancellationToken::new();
    let deadline = Instant::now() + LIMIT;
    let worked = async {
        let lease = fleet
            .lease(&device.id, "the command line", deadline, &cancel)
            .await
            .map_err(|error| CliError::infrastructure(error.to_string()))?;
        execute(&lease, Command::Begin(SessionOptions::default())).await?;
        work(lease).await
    };
    let answer = tokio::select! {
        answer = worked => answer,
        _ = tokio::signal::ctrl_c() => Err(CliError::infrastructure("interrupted")),
    };
    fleet.shutdown(Duration::from_secs(10)).await;
    wiring.shutdown().await;
    answer
}

async fn open(lease: &Lease, url: Option<&String>) -> Result<(), CliError> {
    if let Some(url) = url {
        let to = packtrain_drivers::NavigateTo::Url(url.clone());
        execute(lease, Command::Web(WebCommand::Navigate(to))).await?;
    }
    Ok(())
}

async fn execute(lease: &Lease, command: Command) -> Result<Observation, CliError> {
    lease
        .execute(command, Instant::now() + LIMIT)
        .await
        .map_err(|error| {
            let failed = match error.fault() {
                Fault::App => CliError::failed(error.to_string()),
                Fault::Caller => CliError::misuse(error.to_string()),
                Fault::Device | Fault::Nobody => CliError::infrastructure(error.to_string()),
            };
            match error.hint() {
                Some(hint) => failed.hint(hint),
                None => failed,
            }
        })
}
