//! A device that is looked at: whether a condition holds for it, and what it has instead.

use std::fmt;

use packtrain_drivers::Platform;
use packtrain_model::suggest;
use packtrain_model::trail::lineage;

use super::pattern::is_like;
use super::version::Version;
use super::{Attribute, Comparison, Condition};
use crate::wire::{DeviceAdvert, DeviceKey};

/// A device as requirements see it. To be kept when many requirements are asked about one device.
#[derive(Debug, Clone)]
pub struct Subject {
    advert: DeviceAdvert,
    host: String,
    /// Its id with its host and without, and its name alone.
    ids: [String; 3],
    /// `android-phone`, `android`, `phone`.
    classifiers: Vec<String>,
    /// The keys, the values, and both with a colon.
    labels: Vec<String>,
    /// Its version's digits.
    os: Option<String>,
    api: Option<String>,
    width: String,
    height: String,
}

impl Subject {
    /// The device of a key, as its host describes it.
    pub fn new(key: &DeviceKey, advert: &DeviceAdvert) -> Self {
        let info = &advert.info;
        Self {
            host: key.host.to_string(),
            ids: [
                key.public().to_string(),
                key.device.to_string(),
                key.device.name().to_owned(),
            ],
            classifiers: lineage(&info.classifiers),
            labels: (advert.labels.iter())
                .flat_map(|(key, value)| [key.clone(), value.clone(), format!("{key}:{value}")])
                .collect(),
            os: Version::find(&info.system).map(str::to_owned),
            api: advert.api.map(|api| api.to_string()),
            width: info.screen.width.to_string(),
            height: info.screen.height.to_string(),
            advert: advert.clone(),
        }
    }

    fn platform(&self) -> &'static str {
        self.advert.info.id.platform().as_str()
    }

    fn label(&self, key: &str) -> Option<&str> {
        let mut labels = self.advert.labels.iter();
        let (_, value) = labels.find(|(known, _)| same(known, key))?;
        Some(value)
    }

    /// What it has of an attribute, as it is compared; `None` when that is not known.
    fn has(&self, attribute: &Attribute) -> Option<Vec<&str>> {
        fn all(texts: &[String]) -> Vec<&str> {
            texts.iter().map(String::as_str).collect()
        }
        Some(match attribute {
            Attribute::Platform => vec![self.platform()],
            Attribute::Classifier => all(&self.classifiers),
            Attribute::Device => all(&self.ids),
            Attribute::Host => vec![self.host.as_str()],
            Attribute::Model => vec![self.advert.info.model.as_str()],
            Attribute::Driver => vec![self.advert.info.driver.as_str()],
            Attribute::Tool => all(&self.advert.tools),
            Attribute::Has => all(&self.advert.has),
            Attribute::Label => all(&self.labels),
            Attribute::LabelAt(key) => vec![self.label(key)?],
            Attribute::Os => vec![self.os.as_deref()?],
            Attribute::Api => vec![self.api.as_deref()?],
            Attribute::Width => vec![self.width.as_str()],
            Attribute::Height => vec![self.height.as_str()],
        })
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

pub(super) fn holds(condition: &Condition, subject: &Subject) -> bool {
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
            number,
        } => {
            let one = |has: &&str| match number {
                Some(number) => {
                    let has = Version::parse(has);
                    has.is_some_and(|has| comparison.holds(has.cmp(number)))
                }
                None if *comparison == Comparison::Like => is_like(has, value),
                None => same(has, value) == (*comparison == Comparison::Is),
            };
            // Of several, one has to be it, and none may be what it must not be.
            let must_all = *comparison == Comparison::IsNot;
            let has = subject.has(attribute);
            has.is_some_and(|has| match must_all {
                true => has.iter().all(one),
                false => has.iter().any(one),
            })
        }
    }
}

/// Adds what fails. Alternatives are one part.
pub(super) fn explain(condition: &Condition, subject: &Subject, mismatches: &mut Vec<Mismatch>) {
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
        has: has_instead(condition, subject),
    });
}

/// What the device has where a condition fails.
fn has_instead(condition: &Condition, subject: &Subject) -> String {
    match condition {
        Condition::Anything => "it is a device".to_owned(),
        Condition::Every(parts) | Condition::Either(parts) => {
            let mut all: Vec<String> = Vec::new();
            for part in parts.iter().filter(|part| !holds(part, subject)) {
                let one = has_instead(part, subject);
                if !all.contains(&one) {
                    all.push(one);
                }
            }
            all.join("; ")
        }
        Condition::Not(_) => "it is just that".to_owned(),
        Condition::Word(word) => has_instead_of_word(subject, word),
        Condition::Compare { attribute, .. } => has_instead_of(subject, attribute),
    }
}

fn has_instead_of_word(subject: &Subject, word: &str) -> String {
    let platform = subject.platform();
    if Platform::ALL.iter().any(|it| same(it.as_str(), word)) {
        return format!("it is {platform}");
    }
    let labels = subject.advert.labels.iter();
    let candidates = std::iter::once(platform)
        .chain(subject.classifiers.iter().map(String::as_str))
        .chain(labels.flat_map(|(key, value)| [key.as_str(), value]));
    let whole = subject.classifiers.first().map_or(platform, String::as_str);
    let meant = meant(word, candidates);
    format!("it is {whole}, and neither a label nor its id says so{meant}")
}

fn has_instead_of(subject: &Subject, attribute: &Attribute) -> String {
    let has = subject.has(attribute).unwrap_or_default();
    let says = |verb: &str, none: &str| match has.as_slice() {
        [] => none.to_owned(),
        all => format!("{verb} {}", all.join(", ")),
    };
    let host = &subject.host;
    match attribute {
        Attribute::Platform | Attribute::Classifier | Attribute::Model => says("it is", "it is "),
        Attribute::Device => format!("it is {}", subject.ids[0]),
        Attribute::Host => format!("it is connected to {host}"),
        Attribute::Driver => says("it is driven by", ""),
        Attribute::Os => says("it has", "its version is not known"),
        Attribute::Api => says("it has", "its API level is not known"),
        Attribute::Tool => says("it has", "it has no tools"),
        Attribute::Has => says(&format!("{host} has"), &format!("{host} names no programs")),
        Attribute::Width | Attribute::Height => says("it has", ""),
        Attribute::Label => {
            // With their keys, and a key alone where it has no value.
            let with_key = has.chunks(3).map(|label| label[2].trim_end_matches(':'));
            match with_key.collect::<Vec<_>>().join(", ") {
                none if none.is_empty() => "it has no labels".to_owned(),
                labels => format!("it has {labels}"),
            }
        }
        Attribute::LabelAt(key) => {
            let names = Attribute::NAMED.iter().map(|(name, _)| *name);
            let keys = subject.advert.labels.keys().map(String::as_str);
            let meant = meant(key, names.chain(keys));
            says("it has", &format!("it has no label `{key}`{meant}"))
        }
    }
}

fn meant<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    let meant = suggest::did_you_mean(word, candidates);
    meant.map_or_else(String::new, |meant| format!(" ({meant})"))
}

fn is_word(subject: &Subject, word: &str) -> bool {
    same(subject.platform(), word)
        || subject.classifiers.iter().any(|name| same(name, word))
        || (subject.advert.labels.iter()).any(|(key, value)| same(key, word) || same(value, word))
        || subject.ids[..2].iter().any(|id| is_like(id, word))
}

fn same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}
