//! Names and words that nothing answers to: of devices, of what browsers emulate, of languages and time
//! zones, of targets, roles and keys. They are reported all at once, before anything starts.

use std::cell::LazyCell;

use packtrain_config::{Config, KeyPath, Loaded};
use packtrain_drivers::known_axis;
use packtrain_farm::requirement::Requirement;
use packtrain_model::suggest::within;
use packtrain_model::trail::Trail;
use packtrain_model::{Diagnostic, Source, Span, yaml};
use packtrain_tools::why_no_pattern;

use crate::wiring::web;

/// So many letters may be wrong, missing, surplus or swapped; fewer in a short word.
pub(crate) const SLIPS: usize = 2;

/// ``did you mean `x`?``, when a candidate is that near.
pub(crate) fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    within(word, candidates, SLIPS).map(|meant| format!("did you mean `{meant}`?"))
}

/// Adds the mistakes that the configuration itself cannot find: what drivers and browsers know, and the
/// language in which a farm's devices are chosen.
pub(crate) fn check(loaded: &mut Loaded) {
    let config = &loaded.config;
    let mut found = Vec::new();
    let on = config.farm.on.as_deref().unwrap_or_default();
    if let Err(error) = Requirement::parse(on) {
        let hint = "`packtrain farm why --help` shows the syntax";
        let key = KeyPath::new(["farm", "on"]);
        found.push(loaded.mistake(key, error.to_string(), Some(hint.to_owned())));
    }
    found.extend(slots(loaded));
    for (name, matrix) in &config.matrices {
        for (index, word) in matrix.devices.iter().enumerate() {
            if let Some((message, hint)) = unknown_device(word, config) {
                let key = KeyPath::new(["matrices", name, "devices"]).child(index.to_string());
                found.push(loaded.mistake(key, message, Some(hint)));
            }
        }
    }
    for (index, mask) in config.run.masks.iter().enumerate() {
        if let Some(why) = mask.text.as_deref().and_then(why_no_pattern) {
            let key = KeyPath::new(["run", "masks", &index.to_string(), "text"]);
            found.push(loaded.mistake(key, why, None));
        }
    }
    loaded.mistakes.append(&mut found);
}

/// What browsers would refuse of web devices.
fn slots(loaded: &Loaded) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (name, slot) in &loaded.config.devices.web {
        for (part, axis, value) in [
            ("locale", "locale", &slot.locale),
            ("timezone", "timeZone", &slot.timezone),
        ] {
            if let Some(value) = value
                && let Some((message, hint)) = refused(axis, value)
            {
                let key = KeyPath::new(["devices", "web", name, part]);
                found.push(loaded.mistake(key, message, hint));
            }
        }
    }
    found
}

/// What this computer's Playwright cannot emulate of the web devices that the words may mean, or of all
/// when there are no words. That of a farm's host may know it.
pub(crate) fn not_emulated(loaded: &Loaded, words: &[String]) -> Vec<Diagnostic> {
    let (config, mut found) = (&loaded.config, Vec::new());
    let emulated = LazyCell::new(|| web::emulated(config));
    for (name, slot) in &config.devices.web {
        let id = format!("web/{name}");
        if let Some(device) = &slot.emulate
            && (words.is_empty() || words.iter().any(|word| id.contains(word)))
            && !emulated.is_empty()
            && !emulated.contains(device)
        {
            let message = format!("unknown Playwright device `{device}`");
            let hint = did_you_mean(device, emulated.iter().map(String::as_str));
            let key = KeyPath::new(["devices", "web", name, "emulate"]);
            found.push(loaded.mistake(key, message, hint));
        }
    }
    found
}

/// Why drivers could not apply a value of an axis, and which was probably meant; `None` when they can, or
/// know no such axis.
pub(crate) fn refused(axis: &str, value: &str) -> Option<(String, Option<String>)> {
    let known = known_axis(axis)?;
    let message = format!("`{value}` is not {}", known.refuses(value)?);
    Some((message, did_you_mean(value, known.words())))
}

/// What is wrong with a word for devices that is almost that of a configured one, and none itself. Phones
/// have whatever names they have.
fn unknown_device(word: &str, config: &Config) -> Option<(String, String)> {
    const KINDS: [&str; 5] = ["web", "android", "ios", "virtual:android", "virtual:ios"];
    let devices = &config.devices;
    let (kind, name) = word.split_once('/').unwrap_or((word, ""));
    let is_any = match kind {
        "web" => name.is_empty() || devices.web.is_empty(),
        "ios" => name.is_empty(),
        kind => kind == "android" || KINDS[3..].iter().any(|known| kind.starts_with(known)),
    };
    let web = devices.web.keys().map(|name| format!("web/{name}"));
    let ios = devices.ios.keys().map(|name| format!("ios/{name}"));
    let ids: Vec<_> = web.chain(ios).chain([format!("android/{name}")]).collect();
    if is_any || ids.iter().any(|id| id.contains(word)) {
        return None;
    }
    let names = ids.iter().filter_map(|id| Some(id.split_once('/')?.1));
    let named = names.filter(|name| !name.is_empty());
    let ids = ids.iter().map(String::as_str);
    let meant = did_you_mean(word, ids.chain(named).chain(KINDS))?;
    Some((format!("unknown device `{word}`"), meant))
}

/// The same for the words of a command line.
pub(crate) fn unknown_devices(words: &[String], config: &Config) -> Vec<Diagnostic> {
    let found = words.iter().filter_map(|word| {
        let (message, hint) = unknown_device(word, config)?;
        let source = Source::new("--device", "");
        Some(Diagnostic::error(&source, None, message).hint(hint))
    });
    found.collect()
}

/// A target of a trail that the configuration has not.
pub(crate) fn of_trail(trail: &Trail, loaded: &Loaded) -> Vec<Diagnostic> {
    let (config, mut found) = (&loaded.config, Vec::new());
    if let Some(name) = &trail.config.target
        && !config.targets.contains_key(name)
        && !name.contains(['.', '{', '/'])
        && !loaded.lacks(&KeyPath::new(["targets"]))
        && let Some(hint) = did_you_mean(name, config.targets.keys().map(String::as_str))
    {
        let message = format!("unknown target `{name}`");
        found.push(Diagnostic::error(&trail.source, place(trail, &["target"]), message).hint(hint));
    }
    found
}

/// Where a key of a trail's `config` stands.
pub(crate) fn place(trail: &Trail, way: &[&str]) -> Option<Span> {
    let read = yaml::read(&trail.source).value?;
    // The list form has it in its first item.
    let mut at = match read.as_sequence() {
        Some(items) => items.first()?,
        None => &read,
    };
    let mut span = None;
    for key in ["config"].iter().chain(way) {
        let entry = at.as_mapping()?.entry(key)?;
        (span, at) = (entry.key.span, &entry.value);
    }
    span
}
