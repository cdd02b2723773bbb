//! The flags of `packtrain run`, and what they say about the configuration.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use packtrain_config::Flags;
use packtrain_engine::Part;

use super::choice::ChoiceArgs;
use super::farm::FarmArgs;
use super::shown::ShownArgs;
use super::trailblaze::TrailblazeFlags;
use crate::cli::Format;
use crate::exit::CliError;
use crate::matrix::Wanted;

#[derive(Debug, Clone, Default, Args)]
#[command(after_help = "Examples:
  packtrain run trails/login.trail.yaml -d web/desktop,web/phone
  packtrain run trails --all-devices --tags smoke --retries 1
  packtrain run trails -d web --shard split --junit junit.xml

The other flags of `trailblaze run` are accepted too.")]
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

    /// Run in the configurations of this matrix of packtrain.yaml
    #[arg(long, value_name = "NAME")]
    pub(crate) matrix: Option<String>,

    /// Vary an axis: locale=de-DE,en-US; repeatable
    #[arg(long, value_name = "AXIS=VALUES")]
    pub(crate) axis: Vec<String>,

    /// Only configurations with these values: locale=de-DE,viewport=390x844; repeatable
    #[arg(long, value_name = "AXIS=VALUE,..")]
    pub(crate) cell: Vec<String>,

    /// Only trails with one of these tags
    #[arg(long, value_delimiter = ',', value_name = "TAG")]
    pub(crate) tags: Vec<String>,

    /// Every trail on every device (all), or every trail once on whichever is free (split); 2/4 is the
    /// second of four machines that share the run
    #[arg(long, value_delimiter = ',', value_name = "HOW|N/M")]
    pub(crate) shard: Vec<ShardArg>,

    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,

    /// Try a failed trail again, up to N times; a pass after a failure is flaky
    #[arg(long, value_name = "N")]
    pub(crate) retries: Option<u32>,

    /// How long to wait before that, twice as long each time: 2s
    #[arg(long, value_name = "TIME")]
    pub(crate) retry_delay: Option<String>,

    /// Stop everything after the first failure
    #[arg(long)]
    pub(crate) fail_fast: bool,

    /// How long one trail may take on one device: 90s, 5m [default: 10m]
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<String>,

    /// How long one step may take
    #[arg(long, value_name = "TIME")]
    pub(crate) step_timeout: Option<String>,

    /// How long the whole run may take; what is not done by then has failed
    #[arg(long, value_name = "TIME")]
    pub(crate) time_limit: Option<String>,

    /// Fail a call when several elements match where one is meant
    #[arg(long)]
    pub(crate) strict: bool,

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

    /// Base URL: what relative URLs are resolved against
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,

    /// Use this driver instead of the one a trail pins
    #[arg(long, value_name = "DRIVER")]
    pub(crate) driver: Option<String>,

    /// Show the browsers' windows
    #[arg(long, alias = "no-headless")]
    pub(crate) headed: bool,

    /// What is done anyway
    #[arg(
        long,
        hide = true,
        conflicts_with = "headed",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub(crate) headless: Option<bool>,

    /// Connect devices without the daemon, even when it runs
    #[arg(long)]
    pub(crate) no_daemon: bool,

    /// When to keep the screen as a picture [default: all]
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) screenshots: Option<ScreenshotsArg>,

    /// When to observe the screen for comparison [default: all]
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) observe: Option<ScreenshotsArg>,

    /// When to keep Playwright's trace of a session [default: none]
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) trace: Option<ScreenshotsArg>,

    /// Most browser contexts at once in a matrix [default: twice the processors, at most 8]
    #[arg(long, value_name = "N")]
    pub(crate) parallel: Option<u32>,

    /// Events as lines of JSON on standard output (json), or progress for people (text)
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,

    /// Folder for runs [default: .packtrain/runs]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,

    /// Write no reports into the run's folder, only the journal
    #[arg(long)]
    pub(crate) no_report: bool,

    /// Write JUnit XML here too
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Write the HTML report here too
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) farm: FarmArgs,

    #[command(flatten)]
    pub(crate) shown: ShownArgs,

    #[command(flatten)]
    pub(crate) trailblaze: TrailblazeFlags,
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
    /// After every step.
    All,
    /// When a step fails.
    Failure,
    /// Never.
    None,
}

impl RunArgs {
    /// What the flags say about matrices.
    pub(super) fn matrices(&self) -> Wanted<'_> {
        Wanted {
            name: self.matrix.as_deref(),
            axes: &self.axis,
            cells: &self.cell,
        }
    }

    /// The flags that leave out devices or configurations that the project has.
    pub(super) fn narrowing(&self) -> Vec<String> {
        let is_split = self.shard.iter().any(|how| matches!(how, ShardArg::Split));
        let flags = [
            ("--device", !self.device.is_empty()),
            ("--axis", !self.axis.is_empty()),
            ("--cell", !self.cell.is_empty()),
            ("--last-failed", self.choice.last_failed),
            ("--shard", is_split),
            // Its devices are those that are there at the moment.
            ("--farm", self.farm.is_wanted()),
        ];
        let given = flags.into_iter().filter(|(_, is_given)| *is_given);
        given.map(|(flag, _)| flag.to_owned()).collect()
    }

    /// The part of the run that is for this machine, when several share it.
    ///
    /// # Errors
    /// When `--shard` says several things at once.
    pub(super) fn part(&self) -> Result<Option<Part>, CliError> {
        let parts = self.shard.iter().filter_map(|shard| match shard {
            ShardArg::Part(part) => Some(*part),
            ShardArg::All | ShardArg::Split => None,
        });
        let parts: Vec<_> = parts.collect();
        if parts.len() > 1 || self.shard.len() - parts.len() > 1 {
            return Err(CliError::misuse("`--shard` says several things at once")
                .hint("it takes all or split, and one part: --shard split,2/4"));
        }
        Ok(parts.first().copied())
    }

    /// What the flags say about the configuration.
    pub(crate) fn flags(&self) -> Flags {
        let mut flags = Flags::default();
        if let Some(retries) = self.retries {
            flags = flags.set("--retries", "run.retries", retries);
        }
        if let Some(timeout) = &self.timeout {
            flags = flags.set("--timeout", "run.timeout", timeout.as_str());
        }
        if let Some(limit) = &self.time_limit {
            flags = flags.set("--time-limit", "run.timeLimit", limit.as_str());
        }
        if self.strict {
            flags = flags.set("--strict", "run.strict", true);
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
        if let Some(word) = self.shard.iter().find_map(|shard| shard.word()) {
            flags = flags.set("--shard", "run.shard", word);
        }
        if let Some(limit) = &self.step_timeout {
            flags = flags.set("--step-timeout", "run.stepTimeout", limit.as_str());
        }
        if let Some(delay) = &self.retry_delay {
            flags = flags.set("--retry-delay", "run.retryDelay", delay.as_str());
        }
        if let Some(when) = self.observe {
            flags = flags.set("--observe", "run.observe", when.word());
        }
        if let Some(when) = self.trace {
            flags = flags.set("--trace", "run.trace", when.word());
        }
        if let Some(most) = self.parallel {
            flags = flags.set("--parallel", "run.parallel", most);
        }
        flags
    }
}

impl ShardArg {
    const fn word(self) -> Option<&'static str> {
        match self {
            Self::All => Some("all"),
            Self::Split => Some("split"),
            Self::Part(_) => None,
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

pub(crate) fn secret(text: &str) -> Result<(String, String), String> {
    match pair(text) {
        Ok(given) => Ok(given),
        Err(_) if text.is_empty() => Err("expected NAME or NAME=VALUE".to_owned()),
        Err(_) => match std::env::var(text) {
            Ok(value) => Ok((text.to_owned(), value)),
            Err(_) => Err(format!("the environment has no variable {text}")),
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
            assert_eq!(heading(name), Some("What is shown"), "{name}");
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
