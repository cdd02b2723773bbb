//! Rules between settings, checked when all layers are in place.

mod matrices;
mod tools;

use std::collections::BTreeMap;
use std::time::Duration;

use packtrain_yaml::Span;
use packtrain_yaml::diagnostic::Diagnostic;
use packtrain_yaml::suggest::did_you_mean;

use crate::document::Document;
use crate::key::KeyPath;
use crate::layer::Origins;
use crate::origin::Origin;
use crate::settings::{Config, IosSettings, VirtualSettings, WebSlot};
use crate::value::HumanDuration;

/// Most simulated phones of a kind.
const MAX_SIMULATED: u32 = 1_000;

/// A setting that breaks a rule.
pub(crate) struct Violation {
    pub(crate) key: KeyPath,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Violation {
    pub(crate) fn new(key: KeyPath, message: impl Into<String>) -> Self {
        Self {
            key,
            message: message.into(),
            hint: None,
        }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Calls of one session follow each other faster than this.
const MIN_IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// A broken rule with the place that breaks it.
pub(crate) fn locate(
    violation: Violation,
    origins: &Origins,
    documents: &[Document],
) -> Diagnostic {
    let Violation { key, message, hint } = violation;
    let origin = origins.get(&key);
    if let Origin::File { path, position, .. } = &origin
        && let Some(document) = documents.iter().find(|document| document.path == *path)
    {
        let at = document.source.position(position.line, position.column);
        return document.mistake(Some(Span::at(at)), &document.written(&key), &message, hint);
    }
    origin.mistake(message, hint)
}

/// The rules that are broken.
pub(crate) fn rules(config: &Config) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut check = |checked: Result<(), Violation>| found.extend(checked.err());
    check(target(config));
    for (name, target) in &config.targets {
        let key = KeyPath::new(["targets", name]).child("baseUrl");
        check(absolute_url(&key, target.base_url.as_deref()));
    }
    for (name, slot) in &config.devices.web {
        let key = KeyPath::new(["devices", "web", name]);
        check(device_name(&key, name));
        check(web(&key, slot));
    }
    for (name, device) in &config.devices.ios {
        let key = KeyPath::new(["devices", "ios", name]);
        check(device_name(&key, name));
        check(ios(&key, device));
    }
    if config.devices.idle_timeout.get() < MIN_IDLE_TIMEOUT {
        let key = KeyPath::new(["devices", "idleTimeout"]);
        let message = "invalid duration: expected 1m or longer";
        check(Err(Violation::new(key, message)));
    }
    if let Some(simulated) = &config.devices.simulated {
        check(virtual_phones(simulated));
    }
    tools::sources(&config.mcp_servers, &mut check);
    for scheme in &config.agents.schemes {
        check(url_scheme(scheme));
    }
    for (name, matrix) in &config.matrices {
        check(matrices::matrix(&KeyPath::new(["matrices", name]), matrix));
    }
    for (index, mask) in config.run.masks.iter().enumerate() {
        let key = KeyPath::new(["run", "masks"]).child(index.to_string());
        check(matrices::mask(&key, mask));
    }
    let limits = [
        ("timeout", Some(config.run.timeout)),
        ("timeLimit", config.run.time_limit),
    ];
    for (name, limit) in limits {
        if let Some(limit) = limit {
            check(longer_than_nothing(&KeyPath::new(["run", name]), limit));
        }
    }
    found
}

/// As RFC 3986 has it, and in lower case.
fn url_scheme(scheme: &str) -> Result<(), Violation> {
    let rest = scheme.strip_prefix(|c: char| c.is_ascii_lowercase());
    let is_known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c);
    if rest.is_some_and(|rest| rest.chars().all(is_known)) {
        return Ok(());
    }
    let key = KeyPath::new(["agents", "schemes"]);
    Err(Violation::new(key, format!("invalid scheme `{scheme}`"))
        .hint("write it in lower case and without a colon: `shop`"))
}

fn longer_than_nothing(key: &KeyPath, limit: HumanDuration) -> Result<(), Violation> {
    if limit.get().is_zero() {
        return Err(Violation::new(key.clone(), "must be longer than 0s"));
    }
    Ok(())
}

/// A target is one of `targets`, or the id of an app, which has dots.
fn target(config: &Config) -> Result<(), Violation> {
    match &config.target {
        Some(name) if !config.targets.contains_key(name) && !name.contains('.') => {
            let unknown =
                Violation::new(KeyPath::new(["target"]), format!("unknown target `{name}`"));
            let names = config.targets.keys().map(String::as_str);
            Err(match did_you_mean(name, names) {
                Some(meant) => unknown.hint(meant),
                None if config.targets.is_empty() => unknown.hint("define it under `targets`"),
                None => unknown.hint(format!("available: {}", known(&config.targets))),
            })
        }
        _ => Ok(()),
    }
}

fn known<T>(map: &BTreeMap<String, T>) -> String {
    map.keys()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}

fn device_name(key: &KeyPath, name: &str) -> Result<(), Violation> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(fine) {
        return Ok(());
    }
    Err(
        Violation::new(key.clone(), format!("invalid device name `{name}`"))
            .hint("use letters, digits, dots, dashes and underscores"),
    )
}

fn web(key: &KeyPath, slot: &WebSlot) -> Result<(), Violation> {
    absolute_url(&key.child("baseUrl"), slot.base_url.as_deref())?;
    if let Some(place) = slot.geolocation {
        let key = key.child("geolocation");
        if !(-90.0..=90.0).contains(&place.latitude) {
            return Err(Violation::new(
                key.child("latitude"),
                "must be between -90 and 90",
            ));
        }
        if !(-180.0..=180.0).contains(&place.longitude) {
            return Err(Violation::new(
                key.child("longitude"),
                "must be between -180 and 180",
            ));
        }
        if place
            .accuracy
            .is_some_and(|metres| !metres.is_finite() || metres < 0.0)
        {
            return Err(Violation::new(
                key.child("accuracy"),
                "must be 0 metres or more",
            ));
        }
    }
    if slot
        .device_scale_factor
        .is_some_and(|factor| !factor.is_finite() || factor <= 0.0)
    {
        return Err(Violation::new(
            key.child("deviceScaleFactor"),
            "must be greater than 0",
        ));
    }
    Ok(())
}

fn ios(key: &KeyPath, device: &IosSettings) -> Result<(), Violation> {
    absolute_url(&key.child("wda"), device.wda.as_deref())?;
    match (&device.wda, &device.udid) {
        (None, None) => Err(Violation::new(key.clone(), "`wda` or `udid` is missing")
            .hint("set `wda` to the URL of its WebDriverAgent, or `udid`")),
        (Some(_), Some(_)) => Err(Violation::new(
            key.child("udid"),
            "`wda` and `udid` are mutually exclusive",
        )),
        _ => Ok(()),
    }
}

fn virtual_phones(simulated: &VirtualSettings) -> Result<(), Violation> {
    let key = KeyPath::new(["devices", "virtual"]);
    for (name, count) in [("android", simulated.android), ("ios", simulated.ios)] {
        if count > MAX_SIMULATED {
            return Err(Violation::new(
                key.child(name),
                format!("must be at most {MAX_SIMULATED}"),
            ));
        }
    }
    Ok(())
}

/// Whether an address needs no other one to be resolved against.
pub fn is_absolute_url(url: &str) -> bool {
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"));
    rest.is_some_and(|rest| !rest.is_empty()) || url.starts_with("file://")
}

fn absolute_url(key: &KeyPath, url: Option<&str>) -> Result<(), Violation> {
    match url {
        Some(url) if !is_absolute_url(url) => Err(Violation::new(
            key.clone(),
            format!("`{url}` is not an absolute URL"),
        )
        .hint("it must start with http:// or https://")),
        _ => Ok(()),
    }
}
