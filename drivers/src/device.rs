//! What a device is called and what it says about itself.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::geometry::Size;

/// The family a device belongs to; it decides which commands make sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// Phones and tablets reached over adb.
    Android,
    /// iPhones and iPads reached over WebDriverAgent.
    Ios,
    /// Browser contexts reached over Playwright.
    Web,
}

impl Platform {
    /// Every platform, in the order people list them.
    pub const ALL: [Self; 3] = [Self::Android, Self::Ios, Self::Web];

    /// The word used in device ids, trail classifiers and configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Android => "android",
            Self::Ios => "ios",
            Self::Web => "web",
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Platform {
    type Err = DeviceIdError;

    fn from_str(text: &str) -> Result<Self, DeviceIdError> {
        Self::ALL
            .into_iter()
            .find(|platform| platform.as_str().eq_ignore_ascii_case(text))
            .ok_or_else(|| DeviceIdError::UnknownPlatform(text.to_owned()))
    }
}

/// The name of a device: `android/<serial>`, `ios/<udid>` or `web/<slot>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceId {
    platform: Platform,
    name: String,
}

/// Why a text is not a device id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceIdError {
    /// No `/` between platform and name.
    #[error("device id `{0}` has no platform: write android/<serial>, ios/<udid> or web/<slot>")]
    NoPlatform(String),
    /// The part before the `/` is not a platform.
    #[error("unknown platform `{0}`: expected android, ios or web")]
    UnknownPlatform(String),
    /// Nothing usable after the `/`.
    #[error("device id `{0}` has no name after the platform")]
    NoName(String),
}

impl DeviceId {
    /// A device id from its parts.
    pub fn new(platform: Platform, name: impl Into<String>) -> Self {
        Self {
            platform,
            name: name.into(),
        }
    }

    /// The platform before the slash.
    pub const fn platform(&self) -> Platform {
        self.platform
    }

    /// The serial, udid or slot after the slash.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is a virtual phone, of this computer or of a farm's host.
    pub fn is_virtual(&self) -> bool {
        self.platform != Platform::Web && self.name.starts_with("virtual-")
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.platform, self.name)
    }
}

impl FromStr for DeviceId {
    type Err = DeviceIdError;

    fn from_str(text: &str) -> Result<Self, DeviceIdError> {
        let (platform, name) = text
            .split_once('/')
            .ok_or_else(|| DeviceIdError::NoPlatform(text.to_owned()))?;
        let platform = platform.parse()?;
        if name.is_empty() || name.chars().any(char::is_control) {
            return Err(DeviceIdError::NoName(text.to_owned()));
        }
        Ok(Self::new(platform, name))
    }
}

impl Serialize for DeviceId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DeviceId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// One segment of what a device is, broad first: `android`, then `phone`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Classifier(pub String);

impl From<&str> for Classifier {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for Classifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a connected device says about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// Its name in Packtrain.
    pub id: DeviceId,
    /// The driver that reached it, as trails pin it: `ios-host`, `playwright-native`.
    pub driver: String,
    /// Segments, broad first: `[android, phone]`.
    pub classifiers: Vec<Classifier>,
    /// What people call it: `Pixel 9`, `iPhone 15`, `desktop 1280x800`.
    pub model: String,
    /// Operating system or browser with its version.
    pub system: String,
    /// Screen or viewport, in the units of the snapshots.
    pub screen: Size,
}
