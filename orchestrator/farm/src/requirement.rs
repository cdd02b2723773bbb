//! What a device has to be: the language of `--on` and of `packtrain farm why`.
//!
//! `android & api>=33`, `(ios | web) & !label=flaky`, `os>=17.4`, `model~"Pixel*"`, `lab=berlin`. It
//! decides about one device at a time, and knows nothing of who uses it.
//!
//! - A bare word is a platform, a classifier (`android`, `phone`, `android-phone`), a label's key or
//!   value, or a pattern of the device's id (`web/*`). `*`, or nothing at all, is any device.
//! - `=` and `!=` compare as written, `~` by a pattern of `*` and `?`, and `<`, `<=`, `>`, `>=` by
//!   number. Case never matters.
//! - `os` is compared by its segments: 14 < 14.1 < 17. `width` and `height` are in the units of the
//!   device's snapshots.
//! - What a device does not have, it never compares with: where the API level is not known, neither
//!   `api>=33` nor `api<33` holds.

mod parse;
mod pattern;
mod subject;
#[cfg(test)]
mod tests;
mod version;

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

pub use parse::RequirementError;
pub use subject::{Mismatch, Subject};
use version::Version;

/// The longest requirement that is read, in characters.
pub const LONGEST: usize = 2_000;

/// How deep parentheses and `!` may nest.
pub const DEEPEST: usize = 32;

/// What a device has to be. [`Display`](fmt::Display) writes it so that it reads back the same.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Requirement {
    condition: Condition,
}

#[derive(Debug, Clone, PartialEq, Default)]
enum Condition {
    /// Holds for every device.
    #[default]
    Anything,
    /// Two at least, none of them `Every`.
    Every(Vec<Self>),
    /// Two at least, none of them `Either`.
    Either(Vec<Self>),
    Not(Box<Self>),
    /// A bare word.
    Word(String),
    Compare {
        attribute: Attribute,
        comparison: Comparison,
        value: String,
        /// The value's number, when it is one and is compared as such.
        number: Option<Version>,
    },
}

/// What devices are asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Attribute {
    Platform,
    Classifier,
    Device,
    Host,
    Model,
    Os,
    Api,
    Driver,
    Label,
    Tool,
    Has,
    Width,
    Height,
    /// The value of a label, by its key.
    LabelAt(String),
}

impl Attribute {
    /// Those that every farm has, as people write them.
    const NAMED: [(&'static str, Self); 13] = [
        ("platform", Self::Platform),
        ("classifier", Self::Classifier),
        ("device", Self::Device),
        ("host", Self::Host),
        ("model", Self::Model),
        ("os", Self::Os),
        ("api", Self::Api),
        ("driver", Self::Driver),
        ("label", Self::Label),
        ("tool", Self::Tool),
        ("has", Self::Has),
        ("width", Self::Width),
        ("height", Self::Height),
    ];

    fn named(word: &str) -> Option<Self> {
        Self::NAMED
            .into_iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(word))
            .map(|(_, attribute)| attribute)
    }

    fn name(&self) -> &str {
        if let Self::LabelAt(key) = self {
            return key;
        }
        let named = Self::NAMED.iter().find(|(_, attribute)| attribute == self);
        named.map_or("", |(name, _)| name)
    }

    /// Whether its values have an order.
    const fn is_ordered(&self) -> bool {
        matches!(self, Self::Os | Self::Api | Self::Width | Self::Height)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Is,
    IsNot,
    Like,
    Below,
    AtMost,
    Above,
    AtLeast,
}

impl Comparison {
    /// As they are written; `==` is what programmers write.
    const SIGNS: [(&'static str, Self); 8] = [
        ("=", Self::Is),
        ("!=", Self::IsNot),
        ("~", Self::Like),
        ("<", Self::Below),
        ("<=", Self::AtMost),
        (">", Self::Above),
        (">=", Self::AtLeast),
        ("==", Self::Is),
    ];

    fn sign(self) -> &'static str {
        let mut signs = Self::SIGNS.iter();
        let sign = signs.find(|(_, comparison)| *comparison == self);
        sign.map_or("", |(sign, _)| sign)
    }

    /// Whether it asks for an order.
    const fn is_of_order(self) -> bool {
        !matches!(self, Self::Is | Self::IsNot | Self::Like)
    }

    /// Whether a number that stands so to the wanted one is what is asked for.
    const fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Is => order.is_eq(),
            Self::IsNot => order.is_ne(),
            Self::Below => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Above => order.is_gt(),
            Self::AtLeast => order.is_ge(),
            // Never of numbers.
            Self::Like => false,
        }
    }
}

impl Requirement {
    /// Reads a requirement.
    ///
    /// # Errors
    ///
    /// When it is too long, nests too deep, is not written right, or asks about what no device has.
    pub fn parse(text: &str) -> Result<Self, RequirementError> {
        parse::parse(text).map(|condition| Self { condition })
    }

    /// Whether the device is what is required.
    pub fn matches(&self, subject: &Subject) -> bool {
        subject::holds(&self.condition, subject)
    }

    /// Whether it asks for programs of the host: brokers know that from version 2 of the protocol on.
    pub fn asks_for_programs(&self) -> bool {
        self.condition.asks_for(&Attribute::Has)
    }

    /// The parts that fail, with what the device has; none when it matches.
    pub fn why_not(&self, subject: &Subject) -> Vec<Mismatch> {
        let mut mismatches = Vec::new();
        subject::explain(&self.condition, subject, &mut mismatches);
        mismatches
    }
}

impl Condition {
    fn asks_for(&self, wanted: &Attribute) -> bool {
        match self {
            Self::Anything | Self::Word(_) => false,
            Self::Every(all) | Self::Either(all) => all.iter().any(|part| part.asks_for(wanted)),
            Self::Not(part) => part.asks_for(wanted),
            Self::Compare { attribute, .. } => attribute == wanted,
        }
    }
}

impl FromStr for Requirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Self, RequirementError> {
        Self::parse(text)
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.condition.fmt(f)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anything => f.write_str("*"),
            Self::Every(parts) => joined(f, parts, " & ", |part| matches!(part, Self::Either(_))),
            Self::Either(parts) => joined(f, parts, " | ", |_| false),
            Self::Not(part) if matches!(**part, Self::Every(_) | Self::Either(_)) => {
                write!(f, "!({part})")
            }
            Self::Not(part) => write!(f, "!{part}"),
            Self::Word(word) => parse::write_value(f, word, true),
            Self::Compare {
                attribute,
                comparison,
                value,
                ..
            } => {
                match attribute {
                    Attribute::LabelAt(key) => parse::write_key(f, key)?,
                    other => f.write_str(other.name())?,
                }
                f.write_str(comparison.sign())?;
                parse::write_value(f, value, *comparison == Comparison::Like)
            }
        }
    }
}

fn joined(
    f: &mut fmt::Formatter<'_>,
    parts: &[Condition],
    sign: &str,
    needs_parentheses: impl Fn(&Condition) -> bool,
) -> fmt::Result {
    let parts = parts.iter().map(|part| match needs_parentheses(part) {
        true => format!("({part})"),
        false => part.to_string(),
    });
    f.write_str(&parts.collect::<Vec<_>>().join(sign))
}
