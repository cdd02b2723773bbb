//! A device that is looked at: whether a condition holds for it, and what it has instead.

use std::borrow::Cow;
use std::fmt;

use packtrain_model::suggest;
use packtrain_model::trail::lineage;

use super::pattern::is_like;
use super::version::Version;
use super::{Attribute, Comparison, Condition, Value};
use crate::wire::{DeviceAdvert, DeviceKey};

/// A device as requirements see it. To be kept when many requirements are asked about one device.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    advert: Cow<'a, DeviceAdvert>,
    host: String,
    /// Its id with its host and without, and its name alone.
    ids: [String; 3],
    /// `android-phone`, `android`, `phone`.
    classifiers: Vec<String>,
    /// The keys, the values, and both with a colon.
    labels: Vec<String>,
    /// Its version, and as it is written.
    os: Option<(Version, String)>,
}

impl<'a> Subject<'a> {
    /// The device of a key, as its host describes it.
    pub fn new(key: &DeviceKey, advert: &'a DeviceAdvert) -> Self {
        Self::of(key, Cow::Borrowed(advert))
    }

    fn of(key: &DeviceKey, advert: Cow<'a, DeviceAdvert>) -> Self {
        Self {
            host: key.host.to_string(),
            ids: [
                key.public().to_string(),
                key.device.to_string(),
                key.device.name().to_owned(),
            ],
            classifiers: lineage(&advert.info.classifiers),
            labels: (advert.labels.iter())
                .flat_map(|(key, value)| [key.clone(), value.clone(), format!("{key}:{value}")])
                .collect(),
            os: Version::find(&advert.info.system)
                .map(|(version, digits)| (version, digits.to_owned())),
            advert,
        }
    }

    /// As [`new`](Self::new), of its own.
    pub fn owned(key: &DeviceKey, advert: &DeviceAdvert) -> Subject<'static> {
        Subject::of(key, Cow::Owned(advert.clone()))
    }

    fn platform(&self) -> &'static str {
        self.advert.info.id.platform().as_str()
    }
}

/// A part of a requirement that a device does not meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The part, as it is written: `api>=33`.
    pub part: String,
    /// What the device has: `it has 31`.
    pub has: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.part, self.has)
    }
}

pub(super) fn holds(condition: &Condition, subject: &Subject<'_>) -> bool {
    match condition {
        Condition::Anything => true,
        Condition::Every(parts) => parts.iter().all(|part| holds(part, subject)),
        Condition::Either(parts) => parts.iter().any(|part| holds(part, subject)),
        Condition::Not(part) => !holds(part, subject),
        Condition::Word(word) => is_word(subject, word),
        Condition::Compare {
            attribute,
            comparison,
            value,
        } => compares(subject, attribute, *comparison, value),
    }
}

/// Adds what fails. Alternatives are one part.
pub(super) fn explain(
    condition: &Condition,
    subject: &Subject<'_>,
    mismatches: &mut Vec<Mismatch>,
) {
    if holds(condition, subject) {
        return;
    }
    if let Condition::Every(parts) = condition {
        for part in parts {
            explain(part, subject, mismatches);
        }
        return;
    }
    mismatches.push(Mismatch {
        part: condition.to_string(),
        has: has(condition, subject),
    });
}

/// What the device has where a condition fails.
fn has(condition: &Condition, subject: &Subject<'_>) -> String {
    match condition {
        Condition::Anything => "it is a device".to_owned(),
        Condition::Every(parts) | Condition::Either(parts) => {
            let mut all: Vec<String> = Vec::new();
            for part in parts.iter().filter(|part| !holds(part, subject)) {
                let one = has(part, subject);
                if !all.contains(&one) {
                    all.push(one);
                }
            }
            all.join("; ")
        }
        Condition::Not(_) => "it is just that".to_owned(),
        Condition::Word(word) => has_instead_of_word(subject, word),
        Condition::Compare { attribute, .. } => has_of(subject, attribute),
    }
}

fn has_instead_of_word(subject: &Subject<'_>, word: &str) -> String {
    let platform = subject.platform();
    let is_platform = packtrain_drivers::Platform::ALL
        .iter()
        .any(|known| known.as_str().eq_ignore_ascii_case(word));
    if is_platform {
        return format!("it is {platform}");
    }
    let labels = &subject.advert.labels;
    let candidates = std::iter::once(platform)
        .chain(subject.classifiers.iter().map(String::as_str))
        .chain(labels.keys().map(String::as_str))
        .chain(labels.values().map(String::as_str));
    let whole = subject
        .classifiers
        .first()
        .map_or(platform, String::as_str)
        .to_owned();
    let meant = suggest::did_you_mean(word, candidates)
        .map(|meant| format!(" ({meant})"))
        .unwrap_or_default();
    format!("it is {whole}, and neither a label nor its id says so{meant}")
}

fn has_of(subject: &Subject<'_>, attribute: &Attribute) -> String {
    let info = &subject.advert.info;
    let list = |what: &str, items: Vec<String>| {
        if items.is_empty() {
            format!("it has no {what}s")
        } else {
            format!("it has {}", items.join(", "))
        }
    };
    match attribute {
        Attribute::Platform => format!("it is {}", subject.platform()),
        Attribute::Classifier => format!("it is {}", subject.classifiers.join(", ")),
        Attribute::Device => format!("it is {}", subject.ids[0]),
        Attribute::Host => format!("it is connected to {}", subject.host),
        Attribute::Model => format!("it is {}", info.model),
        Attribute::Os => subject.os.as_ref().map_or_else(
            || "its version is not known".to_owned(),
            |(_, digits)| format!("it has {digits}"),
        ),
        Attribute::Api => subject.advert.api.map_or_else(
            || "its API level is not known".to_owned(),
            |api| format!("it has {api}"),
        ),
        Attribute::Driver => format!("it is driven by {}", info.driver),
        Attribute::Label => list(
            "label",
            (subject.advert.labels.iter())
                .map(|(key, value)| match value.as_str() {
                    "" => key.clone(),
                    value => format!("{key}:{value}"),
                })
                .collect(),
        ),
        Attribute::Tool => list("tool", subject.advert.tools.clone()),
        Attribute::Has => match subject.advert.has.as_slice() {
            [] => format!("{} names no programs", subject.host),
            programs => format!("{} has {}", subject.host, programs.join(", ")),
        },
        Attribute::Width => format!("it has {}", info.screen.width),
        Attribute::Height => format!("it has {}", info.screen.height),
        Attribute::LabelAt(key) => match label_at(subject, key) {
            Some(value) => format!("it has {value}"),
            None => {
                let names = Attribute::NAMED.iter().map(|(name, _)| *name);
                let keys = subject.advert.labels.keys().map(String::as_str);
                let meant = suggest::did_you_mean(key, names.chain(keys))
                    .map(|meant| format!(" ({meant})"))
                    .unwrap_or_default();
                format!("it has no label `{key}`{meant}")
            }
        },
    }
}

fn label_at<'a>(subject: &'a Subject<'_>, key: &str) -> Option<&'a str> {
    (subject.advert.labels.iter())
        .find(|(known, _)| same(known, key))
        .map(|(_, value)| value.as_str())
}

fn is_word(subject: &Subject<'_>, word: &str) -> bool {
    same(subject.platform(), word)
        || subject.classifiers.iter().any(|name| same(name, word))
        || (subject.advert.labels.iter()).any(|(key, value)| same(key, word) || same(value, word))
        || subject.ids[..2].iter().any(|id| is_like(id, word))
}

fn compares(
    subject: &Subject<'_>,
    attribute: &Attribute,
    comparison: Comparison,
    value: &Value,
) -> bool {
    let info = &subject.advert.info;
    let text = |has: &str| text_compares(has, comparison, &value.text);
    // Of several, one has to be it, and none may be what it must not be.
    let any = |all: &[String]| match comparison {
        Comparison::IsNot => all.iter().all(|one| text(one)),
        Comparison::Is
        | Comparison::Like
        | Comparison::Below
        | Comparison::AtMost
        | Comparison::Above
        | Comparison::AtLeast => all.iter().any(|one| text(one)),
    };
    match attribute {
        Attribute::Platform => text(subject.platform()),
        Attribute::Classifier => any(&subject.classifiers),
        Attribute::Device => any(&subject.ids),
        Attribute::Host => text(&subject.host),
        Attribute::Model => text(&info.model),
        Attribute::Driver => text(&info.driver),
        Attribute::Tool => any(&subject.advert.tools),
        Attribute::Has => any(&subject.advert.has),
        Attribute::Label => any(&subject.labels),
        Attribute::LabelAt(key) => label_at(subject, key).is_some_and(text),
        Attribute::Os => subject
            .os
            .as_ref()
            .is_some_and(|(has, digits)| number_compares(has, digits, comparison, value)),
        Attribute::Api => subject.advert.api.is_some_and(|api| {
            number_compares(&Version::from(api), &api.to_string(), comparison, value)
        }),
        Attribute::Width => length_compares(info.screen.width, comparison, value),
        Attribute::Height => length_compares(info.screen.height, comparison, value),
    }
}

fn length_compares(length: f64, comparison: Comparison, value: &Value) -> bool {
    let text = length.to_string();
    Version::parse(&text).is_some_and(|has| number_compares(&has, &text, comparison, value))
}

fn number_compares(has: &Version, written: &str, comparison: Comparison, value: &Value) -> bool {
    let Some(wanted) = &value.number else {
        return text_compares(written, comparison, &value.text);
    };
    match comparison {
        Comparison::Is => has == wanted,
        Comparison::IsNot => has != wanted,
        Comparison::Below => has < wanted,
        Comparison::AtMost => has <= wanted,
        Comparison::Above => has > wanted,
        Comparison::AtLeast => has >= wanted,
        Comparison::Like => is_like(written, &value.text),
    }
}

fn text_compares(has: &str, comparison: Comparison, value: &str) -> bool {
    match comparison {
        Comparison::Is => same(has, value),
        Comparison::IsNot => !same(has, value),
        Comparison::Like => is_like(has, value),
        // Refused when it is read.
        Comparison::Below | Comparison::AtMost | Comparison::Above | Comparison::AtLeast => false,
    }
}

fn same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}
