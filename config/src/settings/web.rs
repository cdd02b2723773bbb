//! Browser contexts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::value::Viewport;

/// A web device. What is not set is as Playwright has it, or as the emulated device has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct WebSlot {
    /// What renders its pages.
    pub engine: Engine,
    /// Size of the page in CSS pixels.
    pub viewport: Option<Viewport>,
    /// A device from Playwright's list whose viewport, scale and user agent are taken over.
    #[schemars(extend("examples" = ["iPhone 15", "Pixel 7"]))]
    pub emulate: Option<String>,
    /// Language and region.
    #[schemars(extend("examples" = ["de-DE"]))]
    pub locale: Option<String>,
    /// Time zone by its IANA name.
    #[schemars(extend("examples" = ["Europe/Berlin"]))]
    pub timezone: Option<String>,
    /// Whether pages are told to be light or dark.
    pub color_scheme: Option<ColorScheme>,
    /// User agent.
    pub user_agent: Option<String>,
    /// The location the browser reports.
    pub geolocation: Option<Geolocation>,
    /// Permissions granted to every page, by the browser's names.
    #[schemars(extend("examples" = [["geolocation", "clipboard-read"]]))]
    pub permissions: Vec<String>,
    /// Whether pages are asked to do without animation.
    pub reduced_motion: Option<ReducedMotion>,
    /// Whether the network is cut off.
    pub offline: bool,
    /// A file of cookies and local storage to start from, in Playwright's format.
    pub storage_state: Option<PathBuf>,
    /// What happens to alerts, confirms and prompts that no tool has announced.
    pub dialogs: DialogAnswer,
    /// Whether the browser runs without a window.
    pub headless: bool,
    /// Whether the browser is shared with other web devices.
    pub isolation: Isolation,
    /// The browser to start instead of the one that is found; one of the device's engine.
    pub executable: Option<PathBuf>,
    /// More arguments for the browser.
    pub args: Vec<String>,
    /// What kind of device this is, the broadest word first; recordings for `web-...` of these words
    /// and for fewer of them are used.
    #[schemars(extend("examples" = [["web", "phone"]]))]
    pub classifiers: Vec<String>,
    /// Base URL of this device, instead of its target's.
    pub base_url: Option<String>,
    /// Device pixels per CSS pixel.
    pub device_scale_factor: Option<f64>,
    /// Whether there is a touch screen.
    pub touch: Option<bool>,
    /// Headers added to every request.
    pub extra_headers: BTreeMap<String, String>,
}

impl Default for WebSlot {
    fn default() -> Self {
        Self {
            engine: Engine::default(),
            viewport: None,
            emulate: None,
            locale: None,
            timezone: None,
            color_scheme: None,
            user_agent: None,
            geolocation: None,
            permissions: Vec::new(),
            reduced_motion: None,
            offline: false,
            storage_state: None,
            dialogs: DialogAnswer::default(),
            headless: true,
            isolation: Isolation::default(),
            executable: None,
            args: Vec::new(),
            classifiers: Vec::new(),
            base_url: None,
            device_scale_factor: None,
            touch: None,
            extra_headers: BTreeMap::new(),
        }
    }
}

/// What renders pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// Chromium, Chrome, Edge.
    #[default]
    Chromium,
    /// Firefox as it is released.
    Firefox,
}

/// The colours a page is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ColorScheme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
    /// Neither is asked for.
    NoPreference,
}

/// Whether a page is asked to do without animation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReducedMotion {
    /// As little as possible.
    Reduce,
    /// Nothing is asked for.
    NoPreference,
}

/// What happens to a dialog that no tool has announced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DialogAnswer {
    /// It is cancelled.
    #[default]
    Dismiss,
    /// It is confirmed.
    Accept,
}

/// How far a web device is from the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// A context of its own in a browser that others use too: quick and small.
    #[default]
    Shared,
    /// A browser of its own, which can crash without the others.
    Process,
}

/// A place on earth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Geolocation {
    /// Degrees north, from -90 to 90.
    pub latitude: f64,
    /// Degrees east, from -180 to 180.
    pub longitude: f64,
    /// Uncertainty in metres.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
}
