//! Axes: what a matrix of configurations may vary of a device. A driver applies an axis, reads it back
//! and restores what was there before.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::device::Platform;

/// Values by the axis' name: `locale` is `de-DE`.
pub type Axes = BTreeMap<String, String>;

/// An axis that drivers know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownAxis {
    /// Its name.
    pub name: &'static str,
    /// The platforms that have it; on others it is no axis.
    pub platforms: &'static [Platform],
    /// What its values are.
    pub values: AxisValues,
    /// How dear it is to change on a phone: cells are run in an order that changes the dearest least.
    pub cost: u8,
}

/// What values an axis takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisValues {
    /// One of these words.
    Words(&'static [&'static str]),
    /// A number greater than 0; it has an order.
    Number,
    /// Width and height: `390x844`; ordered by the width.
    Size,
    /// A BCP 47 tag: `de-DE`.
    Locale,
    /// `true` or `false`.
    Switch,
    /// Anything.
    Text,
}

/// An axis as it was found after it was applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AppliedAxis {
    /// The axis' name.
    pub axis: String,
    /// What was asked for.
    pub want: String,
    /// What the device says it has, in the notation of `want`: equal when the axis took.
    pub got: String,
    /// How it was set or read: `matchMedia`, `settings put system font_scale`.
    pub how: String,
    /// How long setting and reading took.
    #[serde(with = "crate::axes::millis")]
    pub took_ms: Duration,
}

use Platform::{Android, Ios, Web};

/// Every axis that some driver applies.
pub const KNOWN_AXES: &[KnownAxis] = &[
    known(
        "engine",
        &[Web],
        AxisValues::Words(&["chromium", "firefox"]),
        0,
    ),
    known("viewport", &[Web], AxisValues::Size, 0),
    known("scale", &[Web], AxisValues::Number, 0),
    known("touch", &[Web], AxisValues::Switch, 0),
    known("locale", &[Web, Android, Ios], AxisValues::Locale, 5),
    known("timeZone", &[Web], AxisValues::Text, 0),
    known(
        "colorScheme",
        &[Web, Android, Ios],
        AxisValues::Words(&["light", "dark"]),
        2,
    ),
    known(
        "reducedMotion",
        &[Web],
        AxisValues::Words(&["reduce", "no-preference"]),
        0,
    ),
    known("fontScale", &[Web, Android], AxisValues::Number, 2),
    known("network", &[Web], AxisValues::Words(&["fast", "slow"]), 0),
    known("offline", &[Web, Android], AxisValues::Switch, 3),
    known("storageState", &[Web], AxisValues::Text, 0),
    known("size", &[Android], AxisValues::Size, 4),
    known("density", &[Android], AxisValues::Number, 4),
    known(
        "orientation",
        &[Android, Ios],
        AxisValues::Words(&["portrait", "landscape"]),
        1,
    ),
    known("animation", &[Android], AxisValues::Switch, 1),
    known(
        "textSize",
        &[Ios],
        AxisValues::Words(&[
            "extra-small",
            "small",
            "medium",
            "large",
            "extra-large",
            "extra-extra-large",
            "extra-extra-extra-large",
            "accessibility-medium",
            "accessibility-large",
            "accessibility-extra-large",
            "accessibility-extra-extra-large",
            "accessibility-extra-extra-extra-large",
        ]),
        2,
    ),
    known(
        "contrast",
        &[Ios],
        AxisValues::Words(&["normal", "increased"]),
        2,
    ),
];

const fn known(
    name: &'static str,
    platforms: &'static [Platform],
    values: AxisValues,
    cost: u8,
) -> KnownAxis {
    KnownAxis {
        name,
        platforms,
        values,
        cost,
    }
}

/// The axis of that name.
pub fn known_axis(name: &str) -> Option<&'static KnownAxis> {
    KNOWN_AXES.iter().find(|axis| axis.name == name)
}

impl KnownAxis {
    /// Why a value is none of this axis; `None` when it is.
    pub fn refuses(&self, value: &str) -> Option<String> {
        let fine = match self.values {
            AxisValues::Words(words) => words.contains(&value),
            AxisValues::Number => value
                .parse()
                .is_ok_and(|number: f64| number > 0.0 && number.is_finite()),
            AxisValues::Size => size(value).is_some(),
            AxisValues::Locale => {
                let mut parts = value.split('-');
                let language = parts.next().unwrap_or_default();
                (2..=3).contains(&language.len())
                    && language.chars().all(|c| c.is_ascii_lowercase())
                    && parts.all(|part| {
                        !part.is_empty()
                            && part.len() <= 8
                            && part.chars().all(|c| c.is_ascii_alphanumeric())
                    })
            }
            AxisValues::Switch => matches!(value, "true" | "false"),
            AxisValues::Text => !value.is_empty(),
        };
        (!fine).then(|| match self.values {
            AxisValues::Words(words) => format!("one of {}", words.join(", ")),
            AxisValues::Number => "a number greater than 0".to_owned(),
            AxisValues::Size => "a width and a height, such as 390x844".to_owned(),
            AxisValues::Locale => "a language and a country, such as de-DE".to_owned(),
            AxisValues::Switch => "true or false".to_owned(),
            AxisValues::Text => "a word".to_owned(),
        })
    }
}

/// Width and height of `390x844`, each from 1 to 16,384.
pub fn size(text: &str) -> Option<(u32, u32)> {
    let (width, height) = text.split_once('x')?;
    let extent = |text: &str| {
        text.parse()
            .ok()
            .filter(|extent| (1..=16_384).contains(extent))
    };
    Some((extent(width)?, extent(height)?))
}

/// Durations as milliseconds with fractions.
mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &Duration, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_f64((value.as_secs_f64() * 1e6).round() / 1e3)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(d)? / 1e3).map_err(serde::de::Error::custom)
    }
}
