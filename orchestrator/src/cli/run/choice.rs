//! Which of the planned sessions run: those that match, those that did not pass the last time, each
//! several times, or one machine's part of all.

pub(super) mod last_failed;
mod times;

use std::path::PathBuf;

use clap::Args;
use packtrain_config::Config;
use packtrain_engine::{Part, Plan};
use packtrain_model::trail::Trail;
use regex::RegexBuilder;

use self::times::Times;
use crate::cli::Context;
use crate::exit::CliError;
use crate::render;

/// Largest size of a compiled pattern, in bytes.
const LARGEST_PATTERN: usize = 1024 * 1024;

/// Flags that choose among what is planned.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ChoiceArgs {
    /// Only trails with a name, title, path or tag in which this regular expression matches
    #[arg(long, value_name = "REGEX")]
    pub(crate) grep: Option<String>,

    /// Only what did not pass in the last run of these trails
    #[arg(long)]
    pub(crate) last_failed: bool,

    /// Run everything that many times
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeat: Option<u32>,

    /// Divide by the times in a run's report.json (--shard N/M); the same file on every machine
    #[arg(long, value_name = "FILE", requires = "shard")]
    pub(crate) times: Option<PathBuf>,

    /// Print what would run, and run nothing
    #[arg(long)]
    pub(crate) list: bool,
}

/// Narrows a plan to what the flags choose. Without anything to run it is empty, and why is said.
///
/// # Errors
/// When the flags make no sense, or choose nothing.
pub(super) fn apply(
    args: &ChoiceArgs,
    part: Option<Part>,
    plan: &mut Plan,
    config: &Config,
    context: &Context,
) -> Result<(), CliError> {
    if let Some(pattern) = &args.grep {
        grep(pattern, plan)?;
    }
    if args.last_failed {
        last_failed::keep(plan, &config.run.output_dir, context)?;
        if plan.sessions.is_empty() {
            return Ok(());
        }
    }
    if let Some(times) = args.repeat {
        plan.repeat(times);
    }
    match part {
        Some(part) => take(part, args, plan),
        None if args.times.is_some() => Err(CliError::misuse(
            "`--times` divides a run among machines, and there is one",
        )
        .hint("`--shard 1/4` makes it the first of four")),
        None => Ok(()),
    }
}

fn grep(pattern: &str, plan: &mut Plan) -> Result<(), CliError> {
    let regex = RegexBuilder::new(pattern)
        .size_limit(LARGEST_PATTERN)
        .build();
    let regex = regex.map_err(|error| {
        CliError::misuse(format!("`--grep {pattern}` is not a regular expression")).because(&error)
    })?;
    let matches = |trail: &Trail| {
        let summary = trail.summary();
        let texts = [&summary.name, &summary.title, &summary.path];
        let mut texts = texts.into_iter().chain(&summary.tags);
        texts.any(|text| regex.is_match(text))
    };
    plan.keep(|plan, planned| matches(&plan.trails[planned.trail]));
    if plan.sessions.is_empty() {
        return Err(
            CliError::misuse(format!("no trail matches `--grep {pattern}`")).hint(
                "it is looked for in names, titles, paths and tags; `--list` shows the trails",
            ),
        );
    }
    Ok(())
}

/// Leaves one machine's part of the plan.
fn take(part: Part, args: &ChoiceArgs, plan: &mut Plan) -> Result<(), CliError> {
    let all = plan.sessions.len();
    let times = args.times.as_deref().map(Times::read).transpose()?;
    plan.take(part, |plan, planned| {
        times.as_ref().and_then(|times| times.of(plan, planned))
    });
    let own = plan.sessions.len();
    let by = match &args.times {
        Some(file) => format!(" by the times in {}", file.display()),
        None => String::new(),
    };
    render::say(&format!("part {part}: {own} of {all} sessions{by}"));
    Ok(())
}
