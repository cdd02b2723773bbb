//! Which of the planned sessions run: those that match, those that did not pass the last time, each
//! several times, or one machine's part of all.

pub(super) mod last_failed;
mod times;

use std::path::PathBuf;

use clap::Args;
use packtrain_config::Config;
use packtrain_engine::{Part, Plan};
use packtrain_model::trail::Trail;
use regex::{Regex, RegexBuilder};

use self::times::Times;
use crate::cli::Context;
use crate::exit::{CliError, OrCliError as _};
use crate::render;

/// Largest size of a compiled pattern, in bytes.
const LARGEST_PATTERN: usize = 1024 * 1024;

/// Flags that choose among what is planned.
#[derive(Debug, Args)]
pub(crate) struct ChoiceArgs {
    /// Only trails whose name, title, path or any tag matches this regular expression
    #[arg(long, value_name = "REGEX")]
    grep: Option<String>,

    /// Only what did not pass in the last run of these trails
    #[arg(long)]
    pub(crate) last_failed: bool,

    /// Run everything N times
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: Option<u32>,

    /// Balance --shard N/M by the times in a run's report.json; use the same file on every machine
    #[arg(long, value_name = "FILE", requires = "shard")]
    pub(crate) times: Option<PathBuf>,

    /// Print what would run without running it
    #[arg(long)]
    pub(crate) list: bool,
}

/// What of a plan runs.
#[derive(Default)]
pub(crate) struct Choice {
    grep: Option<Regex>,
    /// Only what did not pass in the last run of these trails.
    pub(super) last_failed: bool,
    repeat: Option<u32>,
    part: Option<Part>,
    times: Option<PathBuf>,
    /// Whether it is only told what would run.
    pub(super) list: bool,
}

impl ChoiceArgs {
    /// What they say, beside the part that is for this machine.
    ///
    /// # Errors
    /// When they are invalid.
    pub(super) fn choice(self, part: Option<Part>) -> Result<Choice, CliError> {
        let regex = self.grep.map(|pattern| {
            let mut regex = RegexBuilder::new(&pattern);
            regex
                .size_limit(LARGEST_PATTERN)
                .build()
                .or_misuse(format_args!(
                    "invalid regular expression in `--grep {pattern}`"
                ))
        });
        if part.is_none() && self.times.is_some() {
            let alone = CliError::misuse("`--times` needs a run divided among machines");
            return Err(alone.hint("add `--shard 1/4` for the first of four"));
        }
        Ok(Choice {
            grep: regex.transpose()?,
            last_failed: self.last_failed,
            repeat: self.repeat,
            part,
            times: self.times,
            list: self.list,
        })
    }
}

impl Choice {
    /// Narrows a plan to what was chosen. Without anything to run it is empty, and why is said.
    ///
    /// # Errors
    /// When that is nothing, or it cannot be found out.
    pub(super) fn apply(
        &self,
        plan: &mut Plan,
        config: &Config,
        context: &Context,
    ) -> Result<(), CliError> {
        if let Some(regex) = &self.grep {
            grep(regex, plan)?;
        }
        if self.last_failed {
            last_failed::keep(plan, &config.run.output_dir, context)?;
            if plan.sessions.is_empty() {
                return Ok(());
            }
        }
        if let Some(times) = self.repeat {
            plan.repeat(times);
        }
        if let Some(part) = self.part {
            let times = self.times.clone().map(Times::read).transpose()?;
            take(part, times.as_ref(), plan);
        }
        Ok(())
    }
}

fn grep(regex: &Regex, plan: &mut Plan) -> Result<(), CliError> {
    let matches = |trail: &Trail| {
        let summary = trail.summary();
        let texts = [&summary.name, &summary.title, &summary.path];
        let mut texts = texts.into_iter().chain(&summary.tags);
        texts.any(|text| regex.is_match(text))
    };
    plan.keep(|plan, planned| matches(&plan.trails[planned.trail]));
    if plan.sessions.is_empty() {
        return Err(
            CliError::misuse(format!("no trail matches `--grep {regex}`")).hint(
                "it is matched against names, titles, paths and tags; `--list` shows the trails",
            ),
        );
    }
    Ok(())
}

/// Leaves one machine's part of the plan.
fn take(part: Part, times: Option<&Times>, plan: &mut Plan) {
    let all = plan.sessions.len();
    plan.take(part, |plan, planned| times?.of(plan, planned));
    let own = plan.sessions.len();
    let by = times.map(|times| format!(" by the times in {}", times.file.display()));
    let by = by.unwrap_or_default();
    render::say(&format!("part {part}: {own} of {all} sessions{by}"));
}
