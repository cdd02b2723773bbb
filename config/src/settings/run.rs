//! How runs behave, and where Playwright is.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::value::HumanDuration;

/// How runs behave unless told otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RunSettings {
    /// How often a trail that failed is tried again.
    pub retries: u32,
    /// How long one trail may take on one device.
    pub timeout: HumanDuration,
    /// How long the whole run may take; as long as it needs when not given.
    pub time_limit: Option<HumanDuration>,
    /// When the screen is kept as a picture.
    pub screenshots: ScreenshotPolicy,
    /// The folder for journals, reports and pictures.
    pub output_dir: PathBuf,
    /// How trails and devices are combined.
    pub shard: Sharding,
    /// Whether the first failure ends the run.
    pub fail_fast: bool,
    /// Whether a call whose element is ambiguous has failed.
    pub strict: bool,
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

/// When the screen is kept as a picture.
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
