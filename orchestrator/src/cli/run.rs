//! `packtrain run`: trails in, devices driven in parallel, a verdict and reports out.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use packtrain_config::{Config, Flags};
use packtrain_device_actors::Fleet;
use packtrain_drivers::DeviceInfo;
use packtrain_engine::{
    Journal, Plan, Run, RunOptions, RunRequest, Screenshots, Shard, Sink, Stop, resolve,
};
use packtrain_model::trail::GivenArg;
use packtrain_model::yaml::Value;
use packtrain_model::{Exit, RunId, Verdict};
use packtrain_record::{JournalWriter, mark_latest};
use packtrain_tools::{Registry, Target};

use super::Context;
use super::select::select;
use crate::exit::CliError;
use crate::render::{self, Color};
use crate::reports::{self, Copies};
use crate::sinks::{disk::Disk, lines::Lines, live::Live, ndjson::Ndjson};
use crate::wiring::{Wanted, Wiring};
use crate::{runtime, shutdown, trails};

/// How long devices may take to let go at the end.
const LETTING_GO: Duration = Duration::from_secs(15);

#[derive(Debug, Clone, Default, Args)]
#[command(after_help = "Examples:
  packtrain run trails/login.trail.yaml -d web/desktop,web/phone
  packtrain run trails --all-devices --tags smoke --retries 1
  packtrain run trails -d web --shard split --junit junit.xml")]
pub(crate) struct RunArgs {
    /// Trail files, or folders that hold some [default: the configured trailsDir]
    #[arg(value_name = "TRAIL")]
    pub(crate) trails: Vec<PathBuf>,

    /// Devices: web/desktop, a whole platform (web), or a name; repeat or separate by commas
    #[arg(short, long, value_delimiter = ',', value_name = "DEVICE")]
    pub(crate) device: Vec<String>,

    /// Every device that is configured or connected
    #[arg(long, conflicts_with = "device")]
    pub(crate) all_devices: bool,

    /// Only trails with one of these tags
    #[arg(long, value_delimiter = ',', value_name = "TAG")]
    pub(crate) tags: Vec<String>,

    /// Every trail on every device (all), or every trail once on whichever is free (split)
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) shard: Option<ShardArg>,

    /// Try a failed trail again, up to N times; a pass after a failure is flaky
    #[arg(long, value_name = "N")]
    pub(crate) retries: Option<u32>,

    /// Stop everything after the first failure
    #[arg(long)]
    pub(crate) fail_fast: bool,

    /// How long one trail may take on one device: 90s, 5m [default: 10m]
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<String>,

    /// Let the trails remember a value; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) memory: Vec<(String, String)>,

    /// The same, but never shown anywhere; NAME alone takes it from the environment
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = secret)]
    pub(crate) secret: Vec<(String, String)>,

    /// An argument of the trails; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) arg: Vec<(String, String)>,

    /// A YAML file of arguments
    #[arg(long, value_name = "FILE")]
    pub(crate) args_file: Option<PathBuf>,

    /// The app under test: a target of the configuration
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,

    /// Where relative addresses lead
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,

    /// Use this driver instead of the one a trail pins
    #[arg(long, value_name = "DRIVER")]
    pub(crate) driver: Option<String>,

    /// Show the browsers' windows
    #[arg(long)]
    pub(crate) headed: bool,

    /// When to keep the screen as a picture [default: all]
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) screenshots: Option<ScreenshotsArg>,

    /// Events as lines of JSON on standard output (json), or progress for people (text)
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: super::Format,

    /// Folder for runs [default: .packtrain/runs]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,

    /// Write JUnit XML here too
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Write the HTML report here too
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ShardArg {
    /// Every trail on every device.
    All,
    /// Every trail once, on whichever device is free.
    Split,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ScreenshotsArg {
    /// After every step.
    All,
    /// When a step fails.
    Failure,
    /// Never.
    None,
}

/// `packtrain run`.
pub(crate) fn run(args: RunArgs, context: &Context) -> Result<Exit, CliError> {
    let loaded = context.config(args.flags())?;
    let config = loaded.config;
    let paths = match args.trails.as_slice() {
        [] => vec![config.trails_dir.clone()],
        given => given.to_vec(),
    };
    let found = trails::load(&paths)?;
    render::diagnostics(&found.warnings, context.color.on_stderr());
    runtime::block_on(execute(args, config, found, context))
}

/// Runs trails that are loaded on devices that are wired.
pub(crate) async fn execute(
    args: RunArgs,
    config: Config,
    found: trails::Loaded,
    context: &Context,
) -> Result<Exit, CliError> {
    let wanted = Wanted {
        words: &args.device,
        all: args.all_devices,
    };
    let mut wiring = Wiring::new(&config, wanted, args.headed).await?;
    let devices = select(wanted, &mut wiring)?;
    let plan = plan(&args, &config, &found, devices, context)?;
    let root = config.run.output_dir.clone();
    let writer = JournalWriter::create(&root, &plan.run).map_err(|error| {
        CliError::infrastructure("cannot write the run's journal").because(&error)
    })?;
    let folder = writer.folder().to_owned();
    let (journal, journal_thread) = Journal::start(sinks(&args, context.color, writer))
        .map_err(|error| CliError::infrastructure("cannot start the journal").because(&error))?;
    let fleet = fleet(&wiring, &plan)?;
    let stop = Stop::default();
    let signals = shutdown::on_signals(stop.clone());
    let run = Run {
        plan,
        fleet: fleet.clone(),
        registry: Registry::builtin(),
        journal,
        loader: Arc::new(trails::Disk),
        stop,
    };
    let run_id = run.plan.run.clone();
    let verdict = run.execute().await;
    // Everything is on disk before anything is said.
    journal_thread.finish().await;
    fleet.shutdown(LETTING_GO).await;
    wiring.shutdown().await;
    drop(signals);
    if let Err(error) = mark_latest(&root, &run_id) {
        render::warning(&error.to_string(), context.color);
    }
    let copies = Copies {
        junit: args.junit.clone(),
        html: args.html.clone(),
    };
    let written = reports::write(&folder, &copies)?;
    conclude(&args, &verdict, &written, context)
}

fn conclude(
    args: &RunArgs,
    verdict: &Verdict,
    written: &reports::Written,
    context: &Context,
) -> Result<Exit, CliError> {
    if args.format == super::Format::Text {
        render::say(&written.summary(context.color.on_stderr()));
    }
    Ok(verdict.exit)
}

fn sinks(args: &RunArgs, color: Color, writer: JournalWriter) -> Vec<Box<dyn Sink>> {
    let disk: Box<dyn Sink> = Box::new(Disk::new(writer));
    let shown: Box<dyn Sink> = match args.format {
        super::Format::Json => Box::new(Ndjson),
        super::Format::Text if Live::is_possible() => Box::new(Live::new(color)),
        super::Format::Text => Box::new(Lines::new(color)),
    };
    vec![disk, shown]
}

fn fleet(wiring: &Wiring, plan: &Plan) -> Result<Fleet, CliError> {
    let connectors: Vec<_> = wiring
        .connectors()
        .iter()
        .filter(|connector| plan.device(connector.id()).is_some())
        .map(Arc::clone)
        .collect();
    let arbiters = runtime::arbiters(connectors.len());
    Fleet::start(connectors, &arbiters).map_err(|error| CliError::misuse(error.to_string()))
}

fn plan(
    args: &RunArgs,
    config: &Config,
    found: &trails::Loaded,
    devices: Vec<DeviceInfo>,
    context: &Context,
) -> Result<Plan, CliError> {
    if let Some(driver) = &args.driver {
        packtrain_engine::check_driver(driver).map_err(CliError::misuse)?;
    }
    let given = given_args(args)?;
    let mut mistakes = Vec::new();
    for trail in found.trails.iter().flat_map(trails::LoadedTrail::files) {
        if let Err(found) = trail.config.bind_args(&trail.source, &given) {
            mistakes.extend(found);
        }
    }
    if !mistakes.is_empty() {
        return Err(CliError::files(
            "the trails' arguments do not fit",
            mistakes,
        ));
    }
    let now = chrono::Utc::now();
    let run = RunId::new(
        now,
        now.timestamp_subsec_nanos() ^ std::process::id().rotate_left(13),
    );
    let plan = resolve(RunRequest {
        trails: found
            .trails
            .iter()
            .flat_map(|trail| trail.requested(&devices))
            .collect(),
        devices,
        only_declared: args.all_devices,
        driver: args.driver.clone(),
        tags: args.tags.clone(),
        shard: match config.run.shard {
            packtrain_config::Sharding::All => Shard::All,
            packtrain_config::Sharding::Split => Shard::Split,
        },
        options: RunOptions {
            retries: config.run.retries,
            fail_fast: config.run.fail_fast,
            session_timeout: config.run.timeout.get(),
            screenshots: match config.run.screenshots {
                packtrain_config::ScreenshotPolicy::All => Screenshots::All,
                packtrain_config::ScreenshotPolicy::Failure => Screenshots::Failure,
                packtrain_config::ScreenshotPolicy::None => Screenshots::None,
            },
            memory: args.memory.clone(),
            secrets: args.secret.clone(),
            args: given,
            target: target(args, config)?,
            working_directory: context.working_directory.clone(),
            downloads: Some(config.run.output_dir.join(&run.0).join("downloads")),
            device_logs: Some(config.run.output_dir.join(&run.0).join("logs")),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..RunOptions::default()
        },
        run,
    });
    if plan.sessions.is_empty() {
        let error = CliError::misuse("nothing to run");
        return Err(match args.tags.is_empty() {
            true => error.hint("no trail has steps"),
            false => error.hint(format!("no trail has the tag {}", args.tags.join(" or "))),
        });
    }
    Ok(plan)
}

fn target(args: &RunArgs, config: &Config) -> Result<Target, CliError> {
    let name = args.target.as_ref().or(config.target.as_ref());
    let configured = match name {
        Some(name) => match config.targets.get(name) {
            Some(target) => Some(target),
            None if args.target.is_some() => {
                let known: Vec<_> = config.targets.keys().map(String::as_str).collect();
                return Err(CliError::misuse(format!("there is no target `{name}`"))
                    .hint(format!("the configuration has {}", known.join(", "))));
            }
            None => None,
        },
        None => None,
    };
    let mut target = Target {
        name: name.cloned(),
        ..Target::default()
    };
    if let Some(configured) = configured {
        use packtrain_drivers::Platform;
        target.base_url.clone_from(&configured.base_url);
        target
            .app_ids
            .insert(Platform::Android, configured.app_ids.android.clone());
        target
            .app_ids
            .insert(Platform::Ios, configured.app_ids.ios.clone());
    }
    if let Some(url) = &args.base_url {
        target.base_url = Some(url.clone());
    }
    Ok(target)
}

fn given_args(args: &RunArgs) -> Result<Vec<GivenArg>, CliError> {
    let mut given = match &args.args_file {
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| {
                CliError::misuse(format!("cannot read {}", file.display())).because(&error)
            })?;
            GivenArg::parse_file(&text, &file.display().to_string())
                .map_err(|mistakes| CliError::files("the arguments file is wrong", mistakes))?
        }
        None => Vec::new(),
    };
    given.extend(args.arg.iter().map(|(name, value)| GivenArg {
        name: name.clone(),
        value: Value::word(value.clone()),
        source: None,
    }));
    Ok(given)
}

impl RunArgs {
    /// What the flags say about the configuration.
    fn flags(&self) -> Flags {
        let mut flags = Flags::default();
        if let Some(retries) = self.retries {
            flags = flags.set("--retries", "run.retries", retries);
        }
        if let Some(timeout) = &self.timeout {
            flags = flags.set("--timeout", "run.timeout", timeout.as_str());
        }
        if self.fail_fast {
            flags = flags.set("--fail-fast", "run.failFast", true);
        }
        if let Some(folder) = &self.output {
            flags = flags.set("--output", "run.outputDir", folder.display().to_string());
        }
        if let Some(when) = self.screenshots {
            flags = flags.set("--screenshots", "run.screenshots", when.word());
        }
        if let Some(shard) = self.shard {
            flags = flags.set("--shard", "run.shard", shard.word());
        }
        flags
    }
}

impl ShardArg {
    const fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Split => "split",
        }
    }
}

impl ScreenshotsArg {
    const fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Failure => "failure",
            Self::None => "none",
        }
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

fn secret(text: &str) -> Result<(String, String), String> {
    match pair(text) {
        Ok(given) => Ok(given),
        Err(_) if text.is_empty() => Err("expected NAME or NAME=VALUE".to_owned()),
        Err(_) => match std::env::var(text) {
            Ok(value) => Ok((text.to_owned(), value)),
            Err(_) => Err(format!("the environment has no variable {text}")),
        },
    }
}
