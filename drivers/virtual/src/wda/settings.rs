//! The settings of a session, with WebDriverAgent's defaults.
//!
//! Source: `FBSettings.m`, `FBSettingsHandler.m` and `FBConfiguration.m` of
//! <https://github.com/appium/WebDriverAgent>. A setting that shows nowhere on a virtual phone is
//! kept and told, no more.

use std::sync::LazyLock;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::class_chain::ClassChain;
use super::error::WdaError;

/// The settings of a session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings(Map<String, Value>);

/// Those that `null` empties; the others stay as they are.
const EMPTIED_BY_NULL: [&str; 4] = [
    "acceptAlertButtonSelector",
    "autoClickAlertSelector",
    "defaultAlertAction",
    "dismissAlertButtonSelector",
];

/// Those that are what they are: any other value is noted and changes nothing.
const FIXED: [&str; 3] = [
    "defaultActiveApplication",
    "elementResponseAttributes",
    "shouldUseCompactResponses",
];

const ORIENTATIONS: [&str; 5] = [
    "auto",
    "portrait",
    "portraitUpsideDown",
    "landscapeRight",
    "landscapeLeft",
];

impl Default for Settings {
    fn default() -> Self {
        static DEFAULTS: LazyLock<Map<String, Value>> = LazyLock::new(|| {
            serde_json::from_str(include_str!("settings.json")).expect("the tests have read it")
        });
        Self(DEFAULTS.clone())
    }
}

impl Settings {
    /// All of them.
    pub(crate) fn all(&self) -> Value {
        Value::Object(self.0.clone())
    }

    /// Changes those that can be changed; returns the others.
    ///
    /// # Errors
    /// When a value means nothing for its setting.
    pub(crate) fn apply(&mut self, changes: &Map<String, Value>) -> Result<Vec<String>, WdaError> {
        let mut others = Vec::new();
        for (key, value) in changes {
            let Some(old) = self.0.get(key) else {
                others.push(format!("setting {key}: {value}"));
                continue;
            };
            let value = match (old, value) {
                (_, Value::Null) if EMPTIED_BY_NULL.contains(&key.as_str()) => json!(""),
                (_, Value::Null) => continue,
                (Value::Bool(_), value) => json!(truthy(value)),
                (Value::Number(_), value) => super::source::number(double(value)),
                (_, value) => text(value)?,
            };
            if FIXED.contains(&key.as_str()) {
                if value != *old {
                    others.push(format!("setting {key}: {value}"));
                }
                continue;
            }
            let value = match (key.as_str(), value.as_str().unwrap_or_default()) {
                ("defaultAlertAction", action) => action.to_lowercase().into(),
                ("autoClickAlertSelector", chain) if !chain.is_empty() => {
                    ClassChain::parse(chain)?;
                    value
                }
                ("screenshotOrientation", word) => {
                    let known = ORIENTATIONS.iter().find(|o| o.eq_ignore_ascii_case(word));
                    let unknown = || format!("The orientation value '{word}' is not known");
                    (*known.ok_or_else(|| WdaError::invalid_argument(unknown()))?).into()
                }
                _ => value,
            };
            self.0.insert(key.clone(), value);
        }
        Ok(others)
    }

    /// A setting that is on or off.
    pub(crate) fn flag(&self, key: &str) -> bool {
        self.0.get(key).is_some_and(truthy)
    }

    /// A setting that is a text.
    pub(crate) fn text(&self, key: &str) -> &str {
        self.0.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// A setting in seconds, an hour at most.
    pub(crate) fn seconds(&self, key: &str) -> Duration {
        let seconds = self.0.get(key).and_then(Value::as_f64).unwrap_or_default();
        Duration::from_secs_f64(seconds.clamp(0.0, 3_600.0))
    }

    /// How deep trees go.
    pub(crate) fn max_depth(&self) -> usize {
        let depth = self.0.get("snapshotMaxDepth").and_then(Value::as_f64);
        depth.unwrap_or(50.0) as usize
    }
}

/// What `boolValue` makes of a value.
pub(crate) fn truthy(value: &Value) -> bool {
    match value {
        Value::Bool(on) => *on,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => {
            let first = text.trim_start().trim_start_matches(['+', '-', '0']);
            first.starts_with([
                '1', '2', '3', '4', '5', '6', '7', '8', '9', 'Y', 'y', 'T', 't',
            ])
        }
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

/// What `doubleValue` makes of a value.
pub(crate) fn double(value: &Value) -> f64 {
    match value {
        Value::Bool(on) => f64::from(u8::from(*on)),
        Value::Number(number) => number.as_f64().unwrap_or_default(),
        Value::String(text) => text.trim().parse().unwrap_or_default(),
        Value::Null | Value::Array(_) | Value::Object(_) => 0.0,
    }
}

fn text(value: &Value) -> Result<Value, WdaError> {
    match value {
        Value::String(text) if text.len() <= 4_096 => Ok(json!(text)),
        _ => Err(WdaError::unknown(
            "-[__NSCFNumber length]: unrecognized selector sent to instance",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wda::error::ErrorKind;

    fn apply(changes: Value) -> Result<Settings, WdaError> {
        let mut settings = Settings::default();
        settings.apply(changes.as_object().unwrap())?;
        Ok(settings)
    }

    #[test]
    fn values_are_taken_as_foundation_takes_them() {
        let settings = apply(json!({
            "snapshotMaxDepth": "20", "respectSystemAlerts": 1, "waitForIdleTimeout": 0.5,
            "defaultAlertAction": "ACCEPT", "unheardOf": true, "useFirstMatch": null,
        }))
        .unwrap();
        assert_eq!(settings.max_depth(), 20);
        assert!(settings.flag("respectSystemAlerts") && !settings.flag("useFirstMatch"));
        assert_eq!(
            settings.seconds("waitForIdleTimeout"),
            Duration::from_millis(500)
        );
        assert_eq!(settings.text("defaultAlertAction"), "accept");
        assert!(settings.all().get("unheardOf").is_none());
        let changes = json!({
            "unheardOf": 1, "shouldUseCompactResponses": false,
            "elementResponseAttributes": "type,label", "screenshotOrientation": "PORTRAIT",
        });
        let mut settings = settings;
        let others = settings.apply(changes.as_object().unwrap()).unwrap();
        assert_eq!(
            others,
            [
                "setting shouldUseCompactResponses: false",
                "setting unheardOf: 1"
            ]
        );
        assert!(settings.flag("shouldUseCompactResponses"));
        assert_eq!(settings.text("screenshotOrientation"), "portrait");
    }

    #[test]
    fn null_empties_what_can_be_empty() {
        let mut settings = apply(json!({"defaultAlertAction": "accept"})).unwrap();
        let null = json!({"defaultAlertAction": null, "elementResponseAttributes": null});
        settings.apply(null.as_object().unwrap()).unwrap();
        assert_eq!(settings, Settings::default());
    }

    #[test]
    fn values_without_meaning_are_refused() {
        let kind = |changes| apply(changes).unwrap_err().kind;
        let selector = json!({"autoClickAlertSelector": "Button"});
        assert_eq!(kind(selector), ErrorKind::INVALID_SELECTOR);
        let number = json!({"defaultAlertAction": 5});
        assert_eq!(kind(number), ErrorKind::UNKNOWN_ERROR);
        let orientation = json!({"screenshotOrientation": "sideways"});
        assert_eq!(kind(orientation), ErrorKind::INVALID_ARGUMENT);
    }
}
