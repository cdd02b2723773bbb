//! Rules between settings, checked when all layers are in place.

use std::collections::{BTreeMap, HashSet};

use crate::document::Document;
use crate::error::ConfigError;
use crate::key::KeyPath;
use crate::layer::Origins;
use crate::origin::Origin;
use crate::settings::{Config, IosSettings, McpServer, Transport, VirtualSettings, WebSlot};
use crate::suggest::nearest;

/// Most simulated phones of a kind.
const MAX_SIMULATED: u32 = 1_000;

/// A setting that breaks a rule.
struct Broken {
    key: KeyPath,
    message: String,
    hint: Option<String>,
}

impl Broken {
    fn new(key: KeyPath, message: impl Into<String>) -> Self {
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

/// The first rule that is broken, with the place that breaks it.
pub(crate) fn check(
    config: &Config,
    origins: &Origins,
    documents: &[Document],
) -> Result<(), ConfigError> {
    rules(config).map_err(|broken| place(broken, origins, documents))
}

fn place(broken: Broken, origins: &Origins, documents: &[Document]) -> ConfigError {
    let Broken { key, message, hint } = broken;
    let origin = origins.get(&key);
    if let Origin::File { path, position, .. } = &origin
        && let Some(document) = documents.iter().find(|document| document.path == *path)
    {
        return document.problem(*position, key, message, hint);
    }
    ConfigError::Setting {
        source_name: origin.to_string(),
        message,
        key,
        hint,
    }
}

fn rules(config: &Config) -> Result<(), Broken> {
    target(config)?;
    for (name, target) in &config.targets {
        let key = KeyPath::new(["targets", name]).child("baseUrl");
        address(&key, target.base_url.as_deref())?;
    }
    for (name, slot) in &config.devices.web {
        let key = KeyPath::new(["devices", "web", name]);
        device_name(&key, name)?;
        web(&key, slot)?;
    }
    for (name, device) in &config.devices.ios {
        let key = KeyPath::new(["devices", "ios", name]);
        device_name(&key, name)?;
        ios(&key, device)?;
    }
    if let Some(simulated) = &config.devices.simulated {
        virtual_phones(simulated)?;
    }
    let mut names = HashSet::new();
    for (place, server) in config.mcp_servers.iter().enumerate() {
        let key = KeyPath::new(["mcpServers"]).child(place.to_string());
        mcp_server(&key, server)?;
        if !names.insert(&server.name) {
            let message = format!("a second tool source is called `{}`", server.name);
            return Err(Broken::new(key.child("name"), message));
        }
    }
    if config.run.timeout.get().is_zero() {
        return Err(Broken::new(
            KeyPath::new(["run", "timeout"]),
            "no trail runs in no time",
        ));
    }
    Ok(())
}

/// A target is one of `targets`, or the id of an app, which has dots.
fn target(config: &Config) -> Result<(), Broken> {
    match &config.target {
        Some(name) if !config.targets.contains_key(name) && !name.contains('.') => {
            let broken = Broken::new(
                KeyPath::new(["target"]),
                format!("there is no target `{name}`"),
            );
            let names = config.targets.keys().map(String::as_str);
            Err(match nearest(name, names) {
                Some(meant) => broken.hint(format!("did you mean `{meant}`?")),
                None if config.targets.is_empty() => broken.hint("describe it under `targets`"),
                None => broken.hint(format!("targets: {}", known(&config.targets))),
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

fn device_name(key: &KeyPath, name: &str) -> Result<(), Broken> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(fine) {
        return Ok(());
    }
    Err(
        Broken::new(key.clone(), format!("`{name}` cannot be a device's name"))
            .hint("use letters, digits, dots, dashes and underscores"),
    )
}

fn web(key: &KeyPath, slot: &WebSlot) -> Result<(), Broken> {
    address(&key.child("baseUrl"), slot.base_url.as_deref())?;
    if let Some(place) = slot.geolocation {
        let key = key.child("geolocation");
        if !(-90.0..=90.0).contains(&place.latitude) {
            return Err(Broken::new(
                key.child("latitude"),
                "a latitude lies between -90 and 90",
            ));
        }
        if !(-180.0..=180.0).contains(&place.longitude) {
            return Err(Broken::new(
                key.child("longitude"),
                "a longitude lies between -180 and 180",
            ));
        }
        if place
            .accuracy
            .is_some_and(|metres| !metres.is_finite() || metres < 0.0)
        {
            return Err(Broken::new(
                key.child("accuracy"),
                "an accuracy is 0 metres or more",
            ));
        }
    }
    if slot
        .device_scale_factor
        .is_some_and(|factor| !factor.is_finite() || factor <= 0.0)
    {
        return Err(Broken::new(
            key.child("deviceScaleFactor"),
            "a scale is more than 0",
        ));
    }
    Ok(())
}

fn ios(key: &KeyPath, device: &IosSettings) -> Result<(), Broken> {
    address(&key.child("wda"), device.wda.as_deref())?;
    match (&device.wda, &device.udid) {
        (None, None) => Err(Broken::new(key.clone(), "which device is meant?")
            .hint("give `wda`, the address of its WebDriverAgent, or `udid`")),
        (Some(_), Some(_)) => Err(Broken::new(
            key.child("udid"),
            "`wda` says already which device is meant",
        )
        .hint("give one of `wda` and `udid`")),
        _ => Ok(()),
    }
}

fn virtual_phones(simulated: &VirtualSettings) -> Result<(), Broken> {
    let key = KeyPath::new(["devices", "virtual"]);
    for (name, count) in [("android", simulated.android), ("ios", simulated.ios)] {
        if count > MAX_SIMULATED {
            return Err(Broken::new(
                key.child(name),
                format!("more than {MAX_SIMULATED} phones"),
            ));
        }
    }
    Ok(())
}

fn mcp_server(key: &KeyPath, server: &McpServer) -> Result<(), Broken> {
    if server.name.trim().is_empty() {
        return Err(Broken::new(key.child("name"), "a tool source needs a name"));
    }
    let ways = [
        ("command", server.command.is_some()),
        ("script", server.script.is_some()),
        ("url", server.url.is_some()),
    ];
    let mut given = ways
        .iter()
        .filter(|(_, given)| *given)
        .map(|(name, _)| *name);
    match (given.next(), given.next()) {
        (None, _) => {
            return Err(
                Broken::new(key.clone(), format!("where is `{}`?", server.name))
                    .hint("give `command`, `script` or `url`"),
            );
        }
        (Some(first), Some(second)) => {
            let message = format!("`{first}` and `{second}` exclude each other");
            return Err(Broken::new(key.child(second), message));
        }
        (Some(_), None) => {}
    }
    if server.url.is_some() {
        address(&key.child("url"), server.url.as_deref())?;
        if server.transport == Some(Transport::Stdio) {
            return Err(Broken::new(
                key.child("transport"),
                "what has an address is talked to over http",
            ));
        }
        let started = [
            ("args", !server.args.is_empty()),
            ("env", !server.env.is_empty()),
            ("workingDir", server.working_dir.is_some()),
        ];
        if let Some((name, _)) = started.into_iter().find(|(_, given)| *given) {
            let message =
                format!("`{name}` is for sources that are started; `url` is running already");
            return Err(Broken::new(key.child(name), message));
        }
    }
    Ok(())
}

fn address(key: &KeyPath, url: Option<&str>) -> Result<(), Broken> {
    let fine = |url: &str| {
        let rest = url
            .strip_prefix("http://")
            .or_else(|| url.strip_prefix("https://"));
        rest.is_some_and(|rest| !rest.is_empty()) || url.starts_with("file://")
    };
    match url {
        Some(url) if !fine(url) => Err(Broken::new(
            key.clone(),
            format!("`{url}` is not an address"),
        )
        .hint("an address starts with http:// or https://")),
        _ => Ok(()),
    }
}
