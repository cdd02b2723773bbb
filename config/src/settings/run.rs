//! How runs behave, and where Playwright is.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::value::HumanDuration;

/// Defaults for runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RunSettings {
    /// How often a failed trail is retried.
    pub retries: u32,
    /// How long one trail may take on one device.
    pub timeout: HumanDuration,
    /// How long the whole run may take; without a limit by default.
    pub time_limit: Option<HumanDuration>,
    /// When screenshots are taken.
    pub screenshots: ScreenshotPolicy,
    /// The folder for journals, reports and screenshots.
    pub output_dir: PathBuf,
    /// How trails and devices are combined.
    pub shard: Sharding,
    /// Whether the run stops after the first failure.
    pub fail_fast: bool,
    /// Whether a call fails when more than one element matches.
    pub strict: bool,
    /// After which steps the screen is observed for comparison.
    pub observe: ScreenshotPolicy,
    /// When Playwright's trace of a web session is kept.
    pub trace: ScreenshotPolicy,
    /// How long one step may take; without a limit of its own by default.
    pub step_timeout: Option<HumanDuration>,
    /// How long to wait before a failed trail is retried, twice as long each time.
    pub retry_delay: HumanDuration,
    /// Most copies of a web device that run the configurations of a matrix side by side; twice the
    /// processors by default, at most 8.
    pub parallel: Option<u32>,
    /// What is left out when pictures are compared.
    pub masks: Vec<Mask>,
}

/// A part of the screen that pictures are not compared in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Mask {
    /// Elements on pages, by CSS selector.
    pub css: Option<String>,
    /// Elements with a text in which this regular expression matches.
    pub text: Option<String>,
    /// A rectangle: left, top, width, height, in the units of snapshots.
    pub rect: Option<String>,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            retries: 0,
            timeout: HumanDuration::new(Duration::from_secs(600)),
            time_limit: None,
            screenshots: ScreenshotPolicy::default(),
            output_dir: ".packtrain/runs".into(),
            shard: Sharding::default(),
            fail_fast: false,
            strict: false,
            observe: ScreenshotPolicy::All,
            trace: ScreenshotPolicy::None,
            step_timeout: None,
            retry_delay: HumanDuration::new(Duration::ZERO),
            parallel: None,
            masks: Vec::new(),
        }
    }
}

/// How trails and devices are combined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sharding {
    /// Every trail on every device.
    #[default]
    All,
    /// Every trail once, on whichever device is free.
    Split,
}

/// When screenshots are taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScreenshotPolicy {
    /// After every step.
    #[default]
    All,
    /// When a step fails.
    Failure,
    /// Never.
    None,
}

/// Where Playwright is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PlaywrightSettings {
    /// The Node.js to run it with.
    pub node: PathBuf,
    /// The `cli.js` of an installed playwright-core; looked for in the usual places without it.
    pub cli: Option<PathBuf>,
}

impl Default for PlaywrightSettings {
    fn default() -> Self {
        Self {
            node: "node".into(),
            cli: None,
        }
    }
}
