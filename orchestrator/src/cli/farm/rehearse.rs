//! `packtrain farm rehearse`: a whole farm on this computer with virtual phones, in which things are
//! killed, and a verdict on the farm itself.

mod actor;
mod faults;
mod judge;
mod show;
mod stage;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use packtrain_config::{Flags, HumanDuration};
use packtrain_farm::server;
use packtrain_model::Exit;

use self::faults::Schedule;
use self::judge::Verdict;
use self::show::Show;
use self::stage::Stage;
use crate::cli::{Context, Format, listed};
use crate::exit::CliError;
use crate::farm::nats::nats_places;
use crate::shutdown::Interrupts;
use crate::{render, runtime};

/// The most findings that are listed one by one.
const MOST_TOLD: usize = 20;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  packtrain farm rehearse --devices 8 --hosts 2 --sessions 40
  packtrain farm rehearse --devices 1000 --hosts 4 --sessions 5000 --faults faults.yaml --seed 7

A file of faults is a list:
  - { after: 10%, kill: host }
  - { after: 20s, stop: host, for: 15s }
  - { after: 30%, kill: any, times: 20, every: 2% }
What is killed is restarted after `for`, or at once without it. A run that is killed is resumed.")]
pub(crate) struct RehearseArgs {
    /// How many virtual phones
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    devices: u32,

    /// How many hosts, each its own process
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    hosts: u32,

    /// How many sessions the run has
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    sessions: u32,

    /// Run the trail on each phone in each configuration of a matrix that is sized to make up the
    /// sessions; at least two
    #[arg(long)]
    matrix: bool,

    /// How many steps a session has
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    steps: u32,

    /// How long a step takes on the phone
    #[arg(long, default_value = "20ms", value_name = "TIME")]
    step_time: HumanDuration,

    /// How many sessions a second run has; it starts later
    #[arg(long, default_value_t = 10, value_name = "N")]
    late: u32,

    /// How many brokers; one leads, the others stand by
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    brokers: u32,

    /// What to kill, and when [default: one of each]
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,

    /// Random seed
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,

    /// Whole seconds of silence after which a process counts as dead
    #[arg(long, default_value_t = 5, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=600))]
    ttl: u64,

    /// Time limit of the rehearsal
    #[arg(long, default_value = "30m", value_name = "TIME")]
    time_limit: HumanDuration,

    /// Keep journals and logs here [default: only when a problem is found]
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,

    /// How to print the verdict
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// `packtrain farm rehearse`.
pub(crate) fn run(args: RehearseArgs, context: &Context) -> Result<Exit, CliError> {
    if args.hosts > args.devices {
        return Err(CliError::misuse(format!(
            "{0} hosts need at least {0} devices",
            args.hosts
        )));
    }
    let ttl = Duration::from_secs(args.ttl);
    let schedule = match &args.faults {
        Some(path) => {
            let path = context.working_directory.join(path);
            let text = std::fs::read_to_string(&path).map_err(|error| {
                CliError::misuse(format!("cannot read {}", path.display())).because(&error)
            })?;
            Schedule::parse(&text, &path.display().to_string())
                .map_err(|error| CliError::files("invalid faults", vec![*error.0]))?
        }
        None => Schedule::of_each(ttl),
    };
    runtime::block_on_stoppable(async |interrupts| {
        rehearse(args, schedule, ttl, context, &interrupts).await
    })
}

async fn rehearse(
    args: RehearseArgs,
    schedule: Schedule,
    ttl: Duration,
    context: &Context,
    interrupts: &Interrupts,
) -> Result<Exit, CliError> {
    let folder = match &args.keep {
        Some(folder) => context.working_directory.join(folder),
        None => std::env::temp_dir().join(format!("packtrain-rehearsal-{}", std::process::id())),
    };
    let config = context.config(Flags::default())?.config;
    let found = server::find(&nats_places(&config)).await?;
    let (limit, format, is_to_be_kept) = (args.time_limit, args.format, args.keep.is_some());
    let stage = Stage::set(args, &folder, &found.program);
    let stage = interrupts.interruptible(stage).await?;
    let mut show = Show::new(stage, schedule);
    let playing = interrupts.interruptible(show.play());
    let played = tokio::time::timeout(limit.get(), playing).await;
    show.end().await;
    played.map_err(|_| {
        CliError::infrastructure(format!("the rehearsal did not end within {limit}"))
            .hint(format!("journals and logs are in {}", folder.display()))
    })??;
    let verdict = Verdict::of(&show, ttl)?;
    let is_kept = is_to_be_kept || !verdict.findings.is_empty();
    if !is_kept {
        // One that stays is the system's to clean up.
        let _ = std::fs::remove_dir_all(&folder);
    }
    let kept = is_kept.then_some(folder.as_path());
    match format {
        Format::Json => listed::data(verdict.json(&show, kept)),
        Format::Text => {
            for finding in verdict.findings.iter().take(MOST_TOLD) {
                render::out(&finding.to_string());
            }
            let more = verdict.findings.len().saturating_sub(MOST_TOLD);
            if more > 0 {
                render::out(&format!("and {more} more"));
            }
            render::out(&verdict.text(&show));
            if let Some(kept) = kept {
                render::say(&format!("journals and logs are in {}", kept.display()));
            }
        }
    }
    Ok(match verdict.findings.is_empty() {
        true => Exit::Passed,
        false => Exit::Failed,
    })
}
