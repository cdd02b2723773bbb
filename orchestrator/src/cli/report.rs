//! `packtrain report` and `packtrain runs`: earlier runs, read again.

use std::path::PathBuf;

use clap::Args;
use packtrain_config::Flags;
use packtrain_model::Exit;
use packtrain_record::{ListedRun, RunState, find_run, list_runs};
use serde_json::json;

use super::{Context, Format};
use crate::exit::CliError;
use crate::render;
use crate::reports::{self, Copies};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  packtrain report
  packtrain report 20261121-0930 --html public/index.html")]
pub(crate) struct ReportArgs {
    /// The run: its id, the start of it, its folder, or `latest`
    #[arg(value_name = "RUN", default_value = "latest")]
    run: String,

    /// Folder for runs [default: .packtrain/runs]
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,

    /// Write JUnit XML here too
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write the HTML report here too
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Folder for runs [default: .packtrain/runs]
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,

    /// How to print them
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// `packtrain report`.
pub(crate) fn run(args: &ReportArgs, context: &Context) -> Result<Exit, CliError> {
    let root = root(args.output.as_ref(), context)?;
    let folder = find_run(&root, &args.run)
        .map_err(|error| CliError::misuse(error.to_string()).hint("`packtrain runs` lists them"))?;
    let wanted = Copies {
        junit: args.junit.clone(),
        html: args.html.clone(),
    };
    let written = reports::write(&folder, &wanted)?;
    render::say(&written.summary(context.color.on_stderr()));
    Ok(Exit::Passed)
}

/// `packtrain runs`.
pub(crate) fn list(args: &RunsArgs, context: &Context) -> Result<Exit, CliError> {
    let root = root(args.output.as_ref(), context)?;
    let runs = list_runs(&root).map_err(|error| {
        CliError::infrastructure(format!("cannot list the runs in {}", root.display()))
            .because(&error)
    })?;
    match args.format {
        Format::Json => {
            let runs: Vec<_> = runs
                .iter()
                .map(|run| json!({ "run": run.id, "state": state(run), "folder": run.folder }))
                .collect();
            render::out(&json!({ "schema_version": 1, "runs": runs }).to_string());
        }
        Format::Text if runs.is_empty() => render::say(&format!("no runs in {}", root.display())),
        Format::Text => {
            let rows: Vec<_> = runs
                .iter()
                .map(|run| {
                    let trails = match &run.summary {
                        Ok(summary) => summary.trails.join(", "),
                        Err(_) => String::new(),
                    };
                    [run.id.0.clone(), state(run), trails]
                })
                .collect();
            render::out(&super::tools::columns(&["RUN", "STATE", "TRAILS"], &rows));
        }
    }
    Ok(Exit::Passed)
}

fn state(run: &ListedRun) -> String {
    match run.summary.as_ref().map(|summary| &summary.state) {
        Ok(RunState::Finished { verdict, .. }) => match verdict.exit {
            Exit::Passed => "passed",
            Exit::Failed => "failed",
            Exit::Infrastructure | Exit::Misuse => "infrastructure",
        }
        .to_owned(),
        Ok(RunState::Running) => "running".to_owned(),
        Ok(RunState::CutShort) => "cut short".to_owned(),
        Err(error) => format!("unreadable: {error}"),
    }
}

fn root(given: Option<&PathBuf>, context: &Context) -> Result<PathBuf, CliError> {
    match given {
        Some(root) => Ok(root.clone()),
        None => Ok(context.config(Flags::default())?.config.run.output_dir),
    }
}
