//! `packtrain report` and `packtrain runs`: earlier runs, read again.

mod merge;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use packtrain_config::Flags;
use packtrain_model::{Exit, Verdict};
use packtrain_record::{ListedRun, RunState, find_run, list_runs};
use packtrain_report::Mark;
use serde_json::json;

use self::merge::MergeArgs;
use super::{Context, Format, listed};
use crate::exit::{CliError, OrCliError as _};
use crate::reports::{self, Copies};
use crate::{opener, render};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:
  packtrain report
  packtrain report 20261121-0930 --html public/index.html")]
pub(crate) struct ReportArgs {
    #[command(subcommand)]
    command: Option<ReportCommand>,

    /// The run: its id or the beginning of its id, its folder, or `latest`
    #[arg(value_name = "RUN", default_value = "latest")]
    run: String,

    #[command(flatten)]
    written: WrittenArgs,

    /// Embed every screenshot in the HTML report, regardless of size
    #[arg(long)]
    single_file: bool,

    /// Open the HTML report
    #[arg(long)]
    open: bool,
}

/// Where runs are, and what is written of one.
#[derive(Debug, Args)]
struct WrittenArgs {
    /// Folder for runs [default: .packtrain/runs]
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,

    /// Write JUnit XML here too
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write the HTML report here too
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write a summary in Markdown here
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
}

impl WrittenArgs {
    fn copies(&self) -> Copies {
        Copies {
            junit: self.junit.clone(),
            html: self.html.clone(),
            summary: self.summary.clone(),
            ..Copies::default()
        }
    }
}

#[derive(Debug, Subcommand)]
enum ReportCommand {
    /// Merge the parts that several machines ran into one run
    Merge(MergeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Show this trail's results across runs, by device and configuration
    #[arg(long, value_name = "NAME")]
    trail: Option<String>,

    /// Folder for runs [default: .packtrain/runs]
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,

    /// How to print them
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// `packtrain report`.
pub(crate) fn run(args: &ReportArgs, context: &Context) -> Result<Exit, CliError> {
    if let Some(ReportCommand::Merge(args)) = &args.command {
        return merge::run(args, context);
    }
    let root = root(args.written.output.as_ref(), context)?;
    let folder = find_run(&root, &args.run)
        .map_err(|error| CliError::misuse(error.to_string()).hint("`packtrain runs` lists them"))?;
    let wanted = Copies {
        single_file: args.single_file,
        ..args.written.copies()
    };
    let written = reports::write(&folder, &wanted)?;
    render::say(&written.summary(context.color.on_stderr()));
    if let Some(html) = written.html().filter(|_| args.open) {
        opener::file(html, context.color);
    }
    written.copied().map(|()| Exit::Passed)
}

/// `packtrain runs`.
pub(crate) fn list(args: &RunsArgs, context: &Context) -> Result<Exit, CliError> {
    let root = root(args.output.as_ref(), context)?;
    if let Some(trail) = &args.trail {
        return super::history::run(&root, trail, args.format);
    }
    let runs = runs(&root)?;
    let told = json!({ "runs": runs.iter().map(as_json).collect::<Vec<_>>() });
    let none = format!("no runs in {}", root.display());
    let heading = ["RUN", "STARTED (UTC)", "TOOK", "STATE", "COUNTS", "TRAILS"];
    listed::list(args.format, told, &none, heading, runs.iter().map(row));
    Ok(Exit::Passed)
}

fn row(run: &ListedRun) -> [String; 6] {
    let (id, state) = (run.id.0.clone(), state_in_words(run));
    let Ok(summary) = &run.summary else {
        let nothing = String::new;
        return [id, nothing(), nothing(), state, nothing(), nothing()];
    };
    let (took, counts) = match &summary.state {
        RunState::Finished { verdict, duration } => (
            packtrain_report::duration(*duration),
            verdict_counts(verdict),
        ),
        RunState::Running | RunState::CutShort => Default::default(),
    };
    let started = summary.started.format("%Y-%m-%d %H:%M:%S").to_string();
    [id, started, took, state, counts, summary.trails.join(", ")]
}

fn as_json(run: &ListedRun) -> serde_json::Value {
    let mut shown = json!({ "run": run.id, "state": state(run), "folder": run.folder });
    if let Ok(summary) = &run.summary {
        shown["started_at"] = json!(summary.started);
        shown["trails"] = json!(summary.trails);
        if let RunState::Finished { verdict, duration } = &summary.state {
            shown["duration_ms"] = json!((duration.as_secs_f64() * 1e6).round() / 1e3);
            shown["verdict"] = json!(verdict);
        }
    }
    shown
}

/// How many trails on devices ended how, worst first.
fn verdict_counts(verdict: &Verdict) -> String {
    [
        (Mark::Failed, verdict.failed),
        (Mark::Infrastructure, verdict.infrastructure),
        (Mark::NeedsAgent, verdict.needs_agent),
        (Mark::Cancelled, verdict.cancelled),
        (Mark::Flaky, verdict.flaky),
        (Mark::Skipped, verdict.skipped),
        (Mark::Passed, verdict.passed.saturating_sub(verdict.flaky)),
    ]
    .into_iter()
    .filter(|(_, count)| *count > 0)
    .map(|(mark, count)| mark.counted(count as usize))
    .collect::<Vec<_>>()
    .join(", ")
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

/// What is unknown is so because of an error or because somebody interrupted the run.
fn state_in_words(run: &ListedRun) -> String {
    match run.summary.as_ref().map(|summary| &summary.state) {
        Ok(RunState::Finished { verdict, .. }) if verdict.exit == Exit::Infrastructure => {
            match verdict.infrastructure {
                0 => "interrupted".to_owned(),
                _ => Mark::Infrastructure.word().to_owned(),
            }
        }
        Ok(_) | Err(_) => state(run),
    }
}

/// The runs in a folder.
pub(super) fn runs(root: &Path) -> Result<Vec<ListedRun>, CliError> {
    list_runs(root).or_infrastructure(format_args!("cannot list the runs in {}", root.display()))
}

pub(super) fn root(given: Option<&PathBuf>, context: &Context) -> Result<PathBuf, CliError> {
    match given {
        Some(root) => Ok(root.clone()),
        None => Ok(context.config(Flags::default())?.config.run.output_dir),
    }
}
