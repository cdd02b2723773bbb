//! `packtrain sources`: the state of the tool sources.

use std::path::Path;
use std::time::Duration;

use clap::Args;
use packtrain_config::Flags;
use packtrain_model::Exit;
use packtrain_sources::SourceStatus;
use serde_json::json;

use super::listed::{columns, data};
use super::{Context, Format};
use crate::exit::{CliError, OrCliError as _};
use crate::sources::{RunStatus, RunningSources, STATUS_FILE, SourceStartOptions};
use crate::{render, runtime};

/// How often a run that is watched is looked at.
const WATCH_INTERVAL: Duration = Duration::from_millis(500);

#[derive(Debug, Args)]
#[command(
    after_help = "Without --watch or --run, every source is started, asked for its tools, and \
stopped. Exit code 2 when one of them does not start."
)]
pub(crate) struct SourcesArgs {
    /// Show the sources of a run instead: its id, or `latest`
    #[arg(long, value_name = "RUN")]
    run: Option<String>,

    /// Keep showing them until the run ends [default run: latest]
    #[arg(long)]
    watch: bool,

    /// How to print them
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// `packtrain sources`.
pub(crate) fn run(args: &SourcesArgs, context: &Context) -> Result<Exit, CliError> {
    let workspace = context.workspace(Flags::default())?;
    let run = match (&args.run, args.watch) {
        (Some(run), _) => Some(run.as_str()),
        (None, true) => Some("latest"),
        (None, false) => None,
    };
    if let Some(run) = run {
        let folder = workspace.config.run.output_dir.join(run);
        return of_run(args, &folder);
    }
    let config = workspace.config;
    if config.mcp_servers.is_empty() {
        if args.format == Format::Json {
            print(&[], args.format);
        }
        render::say("no tool source is configured");
        render::say(
            "hint: `mcpServers` in packtrain.yaml names them; docs/tool-sources.md shows how",
        );
        return Ok(Exit::Passed);
    }
    let root = workspace.root;
    runtime::block_on_stoppable(async |interrupts| {
        let purpose = SourceStartOptions::of("sources", &root);
        let starting = RunningSources::start(&config, workspace.registry, purpose);
        let running = interrupts.interruptible(starting).await?;
        let status = running.sources.status();
        running.shutdown().await;
        print(&status, args.format);
        let all_are_up = status.iter().all(|source| source.state == "ready");
        Ok(if all_are_up {
            Exit::Passed
        } else {
            Exit::Infrastructure
        })
    })
}

/// Shows what a run has written down.
fn of_run(args: &SourcesArgs, folder: &Path) -> Result<Exit, CliError> {
    let mut shown = None;
    loop {
        let status = read(folder)?;
        if shown.as_ref() != Some(&status) {
            print(&status.sources, args.format);
            shown = Some(status.clone());
        }
        if !args.watch || status.ended {
            return Ok(Exit::Passed);
        }
        if !is_running(status.pid) {
            return Err(CliError::infrastructure("the run was killed")
                .hint("this is the last known state of its sources; they ended with it"));
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "a file of another process tells of no change"
        )]
        std::thread::sleep(WATCH_INTERVAL);
    }
}

/// Whether there is a process of this number.
fn is_running(pid: u32) -> bool {
    let Ok(pid) = i32::try_from(pid) else {
        return false;
    };
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None).is_ok()
}

fn read(folder: &Path) -> Result<RunStatus, CliError> {
    let path = folder.join(STATUS_FILE);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        CliError::misuse(format!(
            "no tool sources are recorded in {}",
            folder.display()
        ))
        .because(&error)
        .hint("the run does not exist, or used no tool sources; `packtrain runs` lists the runs")
    })?;
    serde_json::from_str(&text).or_infrastructure(format_args!("cannot read {}", path.display()))
}

fn print(sources: &[SourceStatus], format: Format) {
    if format == Format::Json {
        return data(json!({ "sources": sources }));
    }
    let row = |source: &SourceStatus| {
        let pids: Vec<_> = source.pids.iter().map(u32::to_string).collect();
        [
            source.name.clone(),
            source.state.clone(),
            source.transport.clone(),
            source.protocol.clone().unwrap_or_default(),
            pids.join(","),
            source.tools.to_string(),
            match source.active {
                0 => source.calls.to_string(),
                active => format!("{} ({active} now)", source.calls),
            },
            source.restarts.to_string(),
        ]
    };
    let rows: Vec<_> = sources.iter().map(row).collect();
    let heading = [
        "SOURCE",
        "STATE",
        "TRANSPORT",
        "PROTOCOL",
        "PID",
        "TOOLS",
        "CALLS",
        "RESTARTS",
    ];
    render::out(&columns(&heading, &rows));
    for source in sources {
        for note in &source.notes {
            render::say(&format!("{}: note: {note}", source.name));
        }
        if let Some(error) = &source.last_error {
            render::say(&format!("{}: last error: {error}", source.name));
        }
    }
}
