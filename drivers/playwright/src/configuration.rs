//! What a session's browser and context are made of: the slot, with the session's axes laid over it.
//! Pure.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use packtrain_drivers::axes::{self, known_axis};
use packtrain_drivers::{DriverError, SessionOptions};
use serde_json::{Value, json};

use crate::slot::{ColorScheme, ReducedMotion, WebSlot};

/// What renders pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Chromium, Chrome, Edge.
    #[default]
    Chromium,
    /// Firefox as it is released, over WebDriver BiDi.
    Firefox,
}

impl Engine {
    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chromium => "Chromium",
            Self::Firefox => "Firefox",
        }
    }
}

/// One session's settings.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Configuration {
    pub(crate) engine: Engine,
    /// The slot, as the axes and headers of the session change it.
    pub(crate) slot: WebSlot,
    /// How many times as large text is.
    pub(crate) text_scale: Option<f64>,
    pub(crate) is_slow: bool,
}

impl Configuration {
    /// # Errors
    /// [`DriverError::Invalid`] for an invalid value of its axis.
    pub(crate) fn new(slot: &WebSlot, options: &SessionOptions) -> Result<Self, DriverError> {
        let mut made = Self {
            engine: slot.engine,
            slot: slot.clone(),
            text_scale: None,
            is_slow: false,
        };
        made.slot.extra_headers.extend(options.headers.clone());
        for (axis, value) in &options.axes {
            if let Some(wanted) = known_axis(axis).and_then(|known| known.refuses(value)) {
                return Err(DriverError::Invalid(format!(
                    "the axis {axis} cannot be `{value}`: {wanted}"
                )));
            }
            made.lay_over(axis, value, &options.folders)?;
        }
        Ok(made)
    }

    /// An axis of another platform changes nothing.
    fn lay_over(
        &mut self,
        axis: &str,
        value: &str,
        folders: &[PathBuf],
    ) -> Result<(), DriverError> {
        let slot = &mut self.slot;
        match axis {
            "engine" if value == "firefox" => self.engine = Engine::Firefox,
            "engine" => self.engine = Engine::Chromium,
            "viewport" => slot.viewport = axes::size(value),
            "scale" => slot.device_scale_factor = value.parse().ok(),
            "touch" => slot.touch = Some(value == "true"),
            "locale" => slot.locale = Some(value.to_owned()),
            "timeZone" => slot.timezone = Some(value.to_owned()),
            "colorScheme" if value == "dark" => slot.color_scheme = Some(ColorScheme::Dark),
            "colorScheme" => slot.color_scheme = Some(ColorScheme::Light),
            "reducedMotion" if value == "reduce" => {
                slot.reduced_motion = Some(ReducedMotion::Reduce);
            }
            "reducedMotion" => slot.reduced_motion = Some(ReducedMotion::NoPreference),
            "fontScale" => self.text_scale = value.parse().ok(),
            "network" => self.is_slow = value == "slow",
            "offline" => slot.offline = value == "true",
            "storageState" => slot.storage_state = Some(file(value, folders)?),
            _ => {}
        }
        Ok(())
    }

    /// Whether the network is to be slowed down, and can be.
    pub(crate) fn slows(&self) -> bool {
        self.is_slow && self.engine == Engine::Chromium
    }

    /// Preferences of a Firefox process: what it accepts for a context, and ignores.
    pub(crate) fn firefox_preferences(&self) -> BTreeMap<String, Value> {
        let mut preferences = BTreeMap::new();
        let mut prefer = |name: &str, value: Value| preferences.insert(name.to_owned(), value);
        // Frames of other sites in the page's process: what is clicked in another one is lost.
        prefer("fission.webContentIsolationStrategy", 0.into());
        if let Some(scheme) = self.slot.color_scheme {
            let scheme = match scheme {
                ColorScheme::Dark => 0,
                ColorScheme::Light => 1,
            };
            prefer(
                "layout.css.prefers-color-scheme.content-override",
                json!(scheme),
            );
        }
        if let Some(motion) = self.slot.reduced_motion {
            let reduced = match motion {
                ReducedMotion::Reduce => 1,
                ReducedMotion::NoPreference => 0,
            };
            prefer("ui.prefersReducedMotion", json!(reduced));
        }
        if let Some(touch) = self.slot.touch {
            prefer("dom.w3c_touch_events.enabled", json!(i32::from(touch)));
            prefer("dom.w3c_touch_events.legacy_apis.enabled", json!(touch));
        }
        preferences.extend(self.slot.firefox_preferences.clone());
        preferences
    }
}

/// A file as it is named in a trail or a configuration.
fn file(name: &str, folders: &[PathBuf]) -> Result<PathBuf, DriverError> {
    let path = Path::new(name);
    folders
        .iter()
        .map(|folder| folder.join(path))
        .chain([path.to_owned()])
        .find(|file| file.is_file())
        .ok_or_else(|| DriverError::Invalid(format!("storage state {name} not found")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(axes: &[(&str, &str)]) -> Result<Configuration, DriverError> {
        let axes = axes
            .iter()
            .map(|(axis, value)| ((*axis).to_owned(), (*value).to_owned()));
        Configuration::new(
            &WebSlot {
                viewport: Some((1280, 800)),
                locale: Some("en-GB".to_owned()),
                ..WebSlot::default()
            },
            &SessionOptions {
                axes: axes.collect(),
                ..SessionOptions::default()
            },
        )
    }

    #[test]
    fn an_axis_beats_the_slot_and_the_rest_of_the_slot_stays() {
        let made = made(&[("viewport", "390x844"), ("orientation", "portrait")]).unwrap();
        assert_eq!(made.slot.viewport, Some((390, 844)));
        assert_eq!(made.slot.locale.as_deref(), Some("en-GB"));
    }

    #[test]
    fn a_value_of_no_sense_is_refused_with_what_would_have() {
        let error = made(&[("viewport", "wide")]).unwrap_err().to_string();
        assert!(error.contains("such as 390x844"), "{error}");
        assert!(made(&[("storageState", "/nowhere/state.json")]).is_err());
    }

    #[test]
    fn firefox_gets_by_preference_what_its_contexts_ignore() {
        let made = made(&[("colorScheme", "dark"), ("touch", "true")]).unwrap();
        let preferences = made.firefox_preferences();
        assert_eq!(
            preferences["layout.css.prefers-color-scheme.content-override"],
            0
        );
        assert_eq!(preferences["dom.w3c_touch_events.enabled"], 1);
        assert!(!preferences.contains_key("ui.prefersReducedMotion"));
    }
}
