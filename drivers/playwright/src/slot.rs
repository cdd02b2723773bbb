//! What a web device is: a named set of browser and context options. Plain data.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::configuration::Engine;

/// Everything that tells one web device from another.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WebSlot {
    /// The name behind `web/`.
    pub name: String,
    /// What renders its pages.
    pub engine: Engine,
    /// Width and height of the viewport in CSS pixels; from `emulate`, or 1280 by 720.
    pub viewport: Option<(u32, u32)>,
    /// A device of Playwright's list: `iPhone 15`. What else is set here beats it.
    pub emulate: Option<String>,
    /// Device pixels per CSS pixel.
    pub device_scale_factor: Option<f64>,
    /// Whether the page believes in a touch screen.
    pub touch: Option<bool>,
    /// `de-DE`.
    pub locale: Option<String>,
    /// `Europe/Berlin`.
    pub timezone: Option<String>,
    /// What `prefers-color-scheme` answers.
    pub color_scheme: Option<ColorScheme>,
    /// What `prefers-reduced-motion` answers.
    pub reduced_motion: Option<ReducedMotion>,
    /// The `User-Agent` header and `navigator.userAgent`.
    pub user_agent: Option<String>,
    /// The location reported to the page.
    pub geolocation: Option<Geolocation>,
    /// Permissions granted to every page: `geolocation`, `notifications`.
    pub permissions: Vec<String>,
    /// No network.
    pub offline: bool,
    /// A file with cookies and local storage in Playwright's shape.
    pub storage_state: Option<PathBuf>,
    /// Headers sent with every request.
    pub extra_headers: BTreeMap<String, String>,
    /// What happens to `alert`, `confirm` and `prompt`.
    pub dialogs: DialogAnswer,
    /// Where relative addresses lead.
    pub base_url: Option<String>,
    /// A window is shown.
    pub headed: bool,
    /// The browser's program; found on the system when not given.
    pub executable: Option<PathBuf>,
    /// Further arguments for the browser.
    pub args: Vec<String>,
    /// Further preferences of Firefox, by their names in `about:config`; what they set beats what a
    /// session asks for.
    pub firefox_preferences: BTreeMap<String, serde_json::Value>,
    /// Whether the browser process is shared.
    pub isolation: Isolation,
    /// Classifiers, broad first; derived when empty.
    pub classifiers: Vec<String>,
}

/// Light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorScheme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// Whether animations are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReducedMotion {
    /// As few as possible.
    Reduce,
    /// No preference.
    NoPreference,
}

/// A place on earth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Geolocation {
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
    /// Metres.
    pub accuracy: Option<f64>,
}

/// What happens to an unannounced dialog.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DialogAnswer {
    /// Cancel, as Playwright does by itself.
    #[default]
    Dismiss,
    /// OK.
    Accept,
}

/// Whether a browser process serves several devices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Devices with equal launch options share one.
    #[default]
    Shared,
    /// This device has its own.
    Process,
}

impl WebSlot {
    /// Classifiers, broad first: those configured, or `web`, followed by `phone` for emulated
    /// phones.
    pub fn classifiers(&self) -> Vec<String> {
        if !self.classifiers.is_empty() {
            return self.classifiers.clone();
        }
        let mut classifiers = vec!["web".to_owned()];
        if self.looks_like_phone() {
            classifiers.push("phone".to_owned());
        }
        classifiers
    }

    /// One line for people: `iPhone 15`, `1280x800 de-DE dark`.
    pub fn describe(&self) -> String {
        let size = match (&self.emulate, self.viewport) {
            (Some(device), None) => device.clone(),
            (Some(device), Some((width, height))) => format!("{device} {width}x{height}"),
            (None, Some((width, height))) => format!("{width}x{height}"),
            (None, None) => "1280x720".to_owned(),
        };
        let scheme = self.color_scheme.map(|scheme| match scheme {
            ColorScheme::Light => "light",
            ColorScheme::Dark => "dark",
        });
        let offline = self.offline.then_some("offline");
        [Some(size.as_str()), self.locale.as_deref(), scheme, offline]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn looks_like_phone(&self) -> bool {
        self.emulate.as_deref().is_some_and(|device| {
            ["iPhone", "Pixel", "Galaxy S", "Nexus", "Moto", "Nokia"]
                .iter()
                .any(|brand| device.contains(brand))
        })
    }
}
