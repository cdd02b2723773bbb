//! The flags of `packtrain run`, and what they say about the configuration.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum as _};
use packtrain_config::Flags;
use packtrain_engine::Part;
use packtrain_model::trail::GivenArg;
use packtrain_model::yaml;
use serde_json::Value;

use super::choice::ChoiceArgs;
use super::farm::FarmRequest;
use super::request::RunRequest;
use super::shown::Shown;
use super::trailblaze::TrailblazeFlags;
use crate::cli::Format;
use crate::exit::{CliError, OrCliError as _};
use crate::matrix::MatrixOptions;
use crate::reports::Copies;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  packtrain run trails/login.trail.yaml -d web/desktop,web/phone
  packtrain run trails --all-devices --tags smoke --retries 1
  packtrain run trails -d web --shard split --junit junit.xml

The other flags of `trailblaze run` are accepted too.")]
pub(crate) struct RunArgs {
    /// Trail files, or folders of them [default: the configured trailsDir]
    #[arg(value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// Devices: web/desktop, a whole platform (web), or a name; repeatable, or separated by commas
    #[arg(short, long, value_delimiter = ',', value_name = "DEVICE")]
    device: Vec<String>,

    /// Every device that is configured or connected
    #[arg(long, conflicts_with = "device")]
    all_devices: bool,

    #[command(flatten)]
    matrix: MatrixOptions,

    /// Only trails with one of these tags
    #[arg(long, value_delimiter = ',', value_name = "TAG")]
    tags: Vec<String>,

    /// Every trail on every device (all), or every trail once on any free device (split); 2/4 is
    /// the second of four machines that share the run
    #[arg(long, value_delimiter = ',', value_name = "HOW|N/M")]
    shard: Vec<ShardArg>,

    #[command(flatten)]
    choice: ChoiceArgs,

    /// Try a failed trail again, up to N times; a pass after a failure is flaky
    #[arg(long, value_name = "N")]
    retries: Option<u32>,

    /// How long to wait before the first retry, such as 2s; doubles each time
    #[arg(long, value_name = "TIME")]
    retry_delay: Option<String>,

    /// Stop everything after the first failure
    #[arg(long)]
    fail_fast: bool,

    /// Time limit of one trail on one device: 90s, 5m [default: 10m]
    #[arg(long, value_name = "TIME")]
    timeout: Option<String>,

    /// Time limit of one step
    #[arg(long, value_name = "TIME")]
    step_timeout: Option<String>,

    /// Time limit of the whole run; what has not finished by then fails
    #[arg(long, value_name = "TIME")]
    time_limit: Option<String>,

    /// Fail a call when several elements match instead of one
    #[arg(long)]
    strict: bool,

    /// Set a value in the trails' memory; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    memory: Vec<(String, String)>,

    /// Like --memory, but never shown anywhere; NAME alone reads it from the environment
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = secret)]
    pub(super) secret: Vec<(String, String)>,

    /// An argument of the trails; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    arg: Vec<(String, String)>,

    /// A YAML file of arguments
    #[arg(long, value_name = "FILE")]
    args_file: Option<PathBuf>,

    /// The app under test: a target in the configuration
    #[arg(long, value_name = "NAME")]
    target: Option<String>,

    /// Base URL: what relative URLs are resolved against
    #[arg(long, value_name = "URL", value_parser = absolute_url)]
    base_url: Option<String>,

    /// Use this driver instead of the one a trail pins
    #[arg(long, value_name = "DRIVER")]
    driver: Option<String>,

    /// Show the browsers' windows
    #[arg(long, alias = "no-headless")]
    headed: bool,

    /// What is done anyway
    #[arg(
        long,
        hide = true,
        conflicts_with = "headed",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    headless: Option<bool>,

    /// Connect devices without the daemon, even if it is running
    #[arg(long)]
    no_daemon: bool,

    /// When to keep screenshots [default: all]
    #[arg(long, value_enum, value_name = "WHEN")]
    screenshots: Option<ScreenshotsArg>,

    /// When to observe the screen for comparison [default: all]
    #[arg(long, value_enum, value_name = "WHEN")]
    observe: Option<ScreenshotsArg>,

    /// When to keep Playwright's trace of a session [default: none]
    #[arg(long, value_enum, value_name = "WHEN")]
    trace: Option<ScreenshotsArg>,

    /// Maximum browser contexts at once in a matrix [default: twice the processors, at most 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    parallel: Option<u32>,

    /// Progress for people (text), or events as lines of JSON on standard output (json)
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,

    /// Folder for runs [default: .packtrain/runs]
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,

    /// Write no reports into the run's folder, only the journal
    #[arg(long)]
    no_report: bool,

    /// Write JUnit XML here too
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write the HTML report here too
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    #[command(flatten)]
    farm: FarmRequest,

    #[command(flatten)]
    shown: Shown,

    #[command(flatten)]
    pub(super) trailblaze: TrailblazeFlags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShardArg {
    /// Every trail on every device.
    All,
    /// Every trail once, on whichever device is free.
    Split,
    /// One machine's part of a run.
    Part(Part),
}

impl FromStr for ShardArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "all" => Ok(Self::All),
            "split" => Ok(Self::Split),
            part if part.contains('/') => part.parse().map(Self::Part),
            _ => Err("expected all, split, or a part such as 2/4".to_owned()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ScreenshotsArg {
    /// Always.
    All,
    /// Only when a step fails.
    Failure,
    /// Never.
    None,
}

impl RunArgs {
    /// What is asked for by them.
    ///
    /// # Errors
    /// When they contradict each other, or a file that they name cannot be read.
    pub(crate) fn request(mut self) -> Result<RunRequest, CliError> {
        let (flags, part) = (self.flags(), self.part()?);
        let mut farm = self.farm.is_wanted().then_some(self.farm);
        if let Some(farm) = &mut farm {
            if let Some(trail) = farm.trail() {
                self.trails.insert(0, trail);
            }
            farm.requirement()?;
            let odd = [
                (!self.device.is_empty(), "--device"),
                (self.all_devices, "--all-devices"),
                (self.choice.last_failed, "--last-failed"),
                (self.choice.times.is_some(), "--times"),
                (self.headed, "--headed"),
            ];
            if let Some((_, flag)) = odd.iter().find(|(is_given, _)| *is_given) {
                let odd = CliError::misuse(format!("`{flag}` cannot be used with `--farm`"));
                let hint = "`--on` chooses the devices: --on 'android & api>=33'";
                return Err(odd.hint(hint));
            }
        }
        if let Some(driver) = &self.driver {
            packtrain_engine::check_driver(driver).map_err(CliError::misuse)?;
        }
        let has_cells = self.matrix.name.is_some() || !self.matrix.axes.is_empty();
        let asks_for_own = self.headed || self.headless.is_some() || self.base_url.is_some();
        let copies = self.shown.copies(Copies {
            only: self.no_report,
            junit: self.junit,
            html: self.html,
            ..Copies::default()
        });
        Ok(RunRequest {
            trails: self.trails,
            devices: self.device,
            all_devices: self.all_devices,
            matrix: self.matrix,
            tags: self.tags,
            is_split: self.shard.contains(&ShardArg::Split),
            without_daemon: self.no_daemon || self.choice.list || asks_for_own || has_cells,
            choice: self.choice.choice(part)?,
            memory: self.memory,
            secrets: self.secret,
            args: given_args(self.args_file.as_deref(), self.arg)?,
            target: self.target,
            base_url: self.base_url,
            driver: self.driver,
            headed: self.headed || self.headless == Some(false),
            farm,
            format: self.format,
            shown: self.shown,
            copies,
            flags,
        })
    }

    /// The part of the run that is for this machine, when several share it.
    fn part(&self) -> Result<Option<Part>, CliError> {
        let parts = self.shard.iter().filter_map(|shard| match shard {
            ShardArg::Part(part) => Some(*part),
            ShardArg::All | ShardArg::Split => None,
        });
        let parts: Vec<_> = parts.collect();
        if parts.len() > 1 || self.shard.len() - parts.len() > 1 {
            return Err(CliError::misuse("invalid --shard: too many values")
                .hint("expected all or split, and at most one part: --shard split,2/4"));
        }
        Ok(parts.first().copied())
    }

    /// What the flags say about the configuration.
    fn flags(&self) -> Flags {
        let given = |is_given: bool| is_given.then_some(Value::Bool(true));
        let text = |text: &Option<String>| text.clone().map(Value::String);
        let when =
            |when: Option<ScreenshotsArg>| Some(Value::from(when?.to_possible_value()?.get_name()));
        let output = self.output.as_ref().map(|path| path.display().to_string());
        let shard = self.shard.iter().find_map(|shard| match shard {
            ShardArg::All => Some("all"),
            ShardArg::Split => Some("split"),
            ShardArg::Part(_) => None,
        });
        let settings = [
            ("--retries", "run.retries", self.retries.map(Value::from)),
            ("--timeout", "run.timeout", text(&self.timeout)),
            ("--time-limit", "run.timeLimit", text(&self.time_limit)),
            ("--strict", "run.strict", given(self.strict)),
            ("--fail-fast", "run.failFast", given(self.fail_fast)),
            ("--output", "run.outputDir", text(&output)),
            ("--screenshots", "run.screenshots", when(self.screenshots)),
            ("--shard", "run.shard", shard.map(Value::from)),
            (
                "--step-timeout",
                "run.stepTimeout",
                text(&self.step_timeout),
            ),
            ("--retry-delay", "run.retryDelay", text(&self.retry_delay)),
            ("--observe", "run.observe", when(self.observe)),
            ("--trace", "run.trace", when(self.trace)),
            ("--parallel", "run.parallel", self.parallel.map(Value::from)),
        ];
        let given = settings.into_iter();
        let given = given.filter_map(|(flag, key, value)| Some((flag, key, value?)));
        given.fold(Flags::default(), |flags, (flag, key, value)| {
            flags.set(flag, key, value)
        })
    }
}

/// The trails' arguments, those of the file first.
///
/// # Errors
/// When the file cannot be read or has mistakes.
fn given_args(
    file: Option<&Path>,
    given: Vec<(String, String)>,
) -> Result<Vec<GivenArg>, CliError> {
    let mut args = match file {
        Some(file) => {
            let name = file.display().to_string();
            let text =
                std::fs::read_to_string(file).or_misuse(format_args!("cannot read {name}"))?;
            GivenArg::parse_file(&text, &name)
                .map_err(|mistakes| CliError::files("invalid arguments file", mistakes))?
        }
        None => Vec::new(),
    };
    args.extend(given.into_iter().map(|(name, value)| GivenArg {
        name,
        value: yaml::Value::word(value),
        source: None,
    }));
    Ok(args)
}

fn absolute_url(text: &str) -> Result<String, String> {
    if packtrain_config::is_absolute_url(text) {
        return Ok(text.to_owned());
    }
    Err("expected an absolute URL, which starts with http:// or https://".to_owned())
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

pub(crate) fn secret(text: &str) -> Result<(String, String), String> {
    match pair(text) {
        Ok(given) => Ok(given),
        Err(_) if text.is_empty() => Err("expected NAME or NAME=VALUE".to_owned()),
        Err(_) => match std::env::var(text) {
            Ok(value) => Ok((text.to_owned(), value)),
            Err(_) => Err(format!("environment variable {text} is not set")),
        },
    }
}

#[cfg(test)]
mod tests {
    use clap::Args as _;
    use packtrain_config::{RunSettings, ScreenshotPolicy};

    use super::RunArgs;

    #[test]
    fn flags_stand_under_their_heading_with_their_true_defaults() {
        let command = RunArgs::augment_args(clap::Command::new("run"));
        let flag = |name: &str| command.get_arguments().find(|flag| flag.get_id() == name);
        let heading = |name: &str| flag(name).unwrap().get_help_heading();
        for name in ["farm", "on", "count", "min_devices"] {
            assert_eq!(heading(name), Some("On a farm"), "{name}");
        }
        for name in ["quiet", "lines", "summary", "single_file", "live", "open"] {
            assert_eq!(heading(name), Some("Output"), "{name}");
        }
        assert_eq!(heading("retries"), None);
        let defaults = RunSettings::default();
        for (name, default) in [
            ("screenshots", defaults.screenshots),
            ("observe", defaults.observe),
            ("trace", defaults.trace),
        ] {
            let word = match default {
                ScreenshotPolicy::All => "all",
                ScreenshotPolicy::Failure => "failure",
                ScreenshotPolicy::None => "none",
            };
            let help = flag(name).unwrap().get_help().unwrap().to_string();
            assert!(help.ends_with(&format!("[default: {word}]")), "{help}");
        }
    }
}
