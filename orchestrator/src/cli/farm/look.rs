//! `packtrain farm devices`, `hosts`, `queue` and `why`: what is on the farm.

use std::collections::HashMap;
use std::time::Duration;

use clap::Args;
use packtrain_config::Flags;
use packtrain_farm::broker;
use packtrain_farm::follow::{Followed, Follower};
use packtrain_farm::link::Link;
use packtrain_farm::names;
use packtrain_farm::query::{self, Leased, Overview};
use packtrain_farm::requirement::{Requirement, Subject};
use packtrain_farm::server::Role;
use packtrain_farm::wire::{DeviceAdvert, DeviceKey, OutOfService, QueuePosition};
use packtrain_model::Exit;
use serde_json::{Value, json};

use super::{address, expression, not_storing};
use crate::cli::tools::columns;
use crate::cli::{Context, Format};
use crate::exit::CliError;
use crate::shutdown::Interrupts;
use crate::{render, runtime};

/// How long the broker may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Which farm is looked at.
#[derive(Debug, Args)]
pub(crate) struct FarmSelection {
    /// Addresses of the farm's servers, comma-separated [default: this user's farm]
    #[arg(long, value_name = "URL")]
    farm: Option<String>,

    /// How to print it
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct LookArgs {
    #[command(flatten)]
    which: FarmSelection,

    /// Print again on every change, until Ctrl-C
    #[arg(long)]
    watch: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Words: a platform, a classifier, a label, or part of a name: android, phone, lab=berlin, Pixel*
Attributes: api, os, model, width, height, driver, classifier, host, device, label, tool
Operators: = != < <= > >= ~ (a pattern), & (and), | (or), ! (not), parentheses

Examples:
  packtrain farm why 'android & api>=33'
  packtrain farm why '(ios | web) & !label=flaky'
  packtrain farm why 'os>=17.4 & model~\"iPhone*\"'"
)]
pub(crate) struct WhyArgs {
    /// The expression that devices have to match
    #[arg(value_name = "EXPR")]
    on: String,

    #[command(flatten)]
    which: FarmSelection,
}

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FarmTable {
    Devices,
    Hosts,
    Queue,
}

/// `packtrain farm devices`, `hosts` and `queue`.
pub(super) fn run(what: FarmTable, args: &LookArgs, context: &Context) -> Result<Exit, CliError> {
    let config = context.config(Flags::default())?.config;
    runtime::block_on_stoppable(async |interrupts: Interrupts| {
        let found = address::find(args.which.farm.as_deref(), &config.farm, &address::VIEWERS)?;
        let looking = async {
            let link = Link::connect(&found.address, "packtrain farm").await?;
            if what == FarmTable::Hosts
                && found
                    .identity
                    .as_ref()
                    .is_none_or(|who| who.role != Role::Viewer)
                && let Err(why) = link.check_store().await
            {
                render::say(&not_storing(&why));
            }
            show(what, &link, args.which.format).await?;
            let mut changes = args.watch.then(|| Changes::of(what, &link));
            while let Some(changes) = &mut changes {
                changes.next().await?;
                show(what, &link, args.which.format).await?;
            }
            Ok(Exit::Passed)
        };
        match args.watch {
            // Ctrl-C is how it ends.
            true => tokio::select! {
                shown = looking => shown,
                () = interrupts.first().cancelled() => Ok(Exit::Passed),
            },
            false => interrupts.interruptible(looking).await,
        }
    })
}

/// `packtrain farm why`.
pub(super) fn why(args: &WhyArgs, context: &Context) -> Result<Exit, CliError> {
    let config = context.config(Flags::default())?.config;
    let on = expression(&args.on).map_err(|error| {
        CliError::misuse(format!("invalid expression: {error}"))
            .hint("`packtrain farm why --help` shows the syntax")
    })?;
    runtime::block_on(async {
        let found = address::find(args.which.farm.as_deref(), &config.farm, &address::VIEWERS)?;
        let link = Link::connect(&found.address, "packtrain farm").await?;
        let all = query::overview(&link).await?;
        explain(&on, &all, args.which.format);
        Ok(Exit::Passed)
    })
}

/// What makes a table stale.
struct Changes {
    followers: Vec<Follower>,
    /// Followers that have read what was there at the beginning.
    caught_up: usize,
    /// The last value of each key.
    known: HashMap<String, Option<Vec<u8>>>,
}

impl Changes {
    fn of(what: FarmTable, link: &Link) -> Self {
        let all = |bucket: &str| link.follow_keys(bucket, &[">".to_owned()]);
        let hosts = || link.follow_keys(names::LIVE, &["host.*".to_owned()]);
        Self {
            followers: match what {
                FarmTable::Devices => vec![all(names::DEVICES), all(names::LEASES), hosts()],
                FarmTable::Hosts => vec![hosts()],
                FarmTable::Queue => vec![all(names::LEASES), all(names::LIVE)],
            },
            caught_up: 0,
            known: HashMap::new(),
        }
    }

    /// Waits for the next change: that a key was renewed is none.
    async fn next(&mut self) -> Result<(), CliError> {
        loop {
            let next = self.followers.iter_mut();
            let next = next.map(|follower| Box::pin(follower.next()));
            let (next, _, _) = futures::future::select_all(next).await;
            match next? {
                Followed::CaughtUp => self.caught_up += 1,
                Followed::Message(message) => {
                    let value = message.value.map(|value| value.to_vec());
                    let before = self.known.insert(message.subject, value.clone());
                    let is_news = before.flatten() != value;
                    if is_news && self.caught_up == self.followers.len() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

async fn show(what: FarmTable, link: &Link, format: Format) -> Result<(), CliError> {
    if what == FarmTable::Queue {
        let queue = broker::queue(link, ANSWER_TIMEOUT).await;
        let queue = queue.map_err(|error| {
            CliError::from(error).hint("is a broker running? `packtrain farm hosts` shows it")
        })?;
        show_queue(&queue, format);
        return Ok(());
    }
    let all = query::overview(link).await?;
    match what {
        FarmTable::Devices => {
            let leases = query::leases(link, &all.runs).await;
            show_devices(&all, &leases?, format);
        }
        FarmTable::Hosts | FarmTable::Queue => show_hosts(&all, format),
    }
    Ok(())
}

fn show_devices(all: &Overview, leases: &[Leased], format: Format) {
    let leased = |key: &DeviceKey| leases.iter().find(|leased| leased.device == *key);
    match format {
        Format::Json => {
            let shown = |(key, d): &(DeviceKey, _)| {
                let mut shown = device(key, d);
                shown["busy"] = leased(key).map_or(Value::Null, |leased| {
                    json!({
                        "run": leased.run, "owner": owner(all, leased), "since": leased.since,
                    })
                });
                shown
            };
            let devices: Vec<_> = all.devices.iter().map(shown).collect();
            render::out(&json!({ "schema_version": 1, "devices": devices }).to_string());
        }
        Format::Text if all.devices.is_empty() => render::say("no host of the farm has a device"),
        Format::Text => {
            let heading = ["DEVICE", "MODEL", "SYSTEM", "SCREEN", "LABELS", "STATE"];
            let rows: Vec<_> = all
                .devices
                .iter()
                .map(|(key, device)| {
                    let info = &device.info;
                    let labels = device
                        .labels
                        .iter()
                        .map(|(kind, word)| format!("{kind}={word}"));
                    let size = format!("{}x{}", info.screen.width, info.screen.height);
                    [
                        key.to_string(),
                        info.model.clone(),
                        info.system.clone(),
                        size,
                        labels.collect::<Vec<_>>().join(" "),
                        state(device, leased(key).map(|leased| busy(all, leased))),
                    ]
                })
                .collect();
            render::out(&columns(&heading, &rows));
        }
    }
}

fn show_hosts(all: &Overview, format: Format) {
    let count = |host| {
        all.devices
            .iter()
            .filter(|(key, _)| key.host == host)
            .count()
    };
    match format {
        Format::Json => {
            let hosts: Vec<_> = all
                .hosts
                .iter()
                .map(|(name, host)| {
                    json!({
                        "host": name,
                        "version": host.version,
                        "system": host.system,
                        "draining": host.draining,
                        "devices": count(name.clone()),
                        "sessions": host.capacity.sessions,
                        "browsers": host.capacity.browsers,
                    })
                })
                .collect();
            let shown = json!({
                "schema_version": 1, "hosts": hosts, "broker": all.broker.is_some(),
            });
            render::out(&shown.to_string());
        }
        Format::Text => {
            if all.broker.is_none() {
                render::say("no broker is running: nothing is granted until one is");
            }
            if all.hosts.is_empty() {
                render::say("the farm has no host; `packtrain host` offers this computer");
                return;
            }
            let heading = [
                "HOST", "DEVICES", "SESSIONS", "BROWSERS", "SYSTEM", "VERSION", "STATE",
            ];
            let rows: Vec<_> = all
                .hosts
                .iter()
                .map(|(name, host)| {
                    [
                        name.to_string(),
                        count(name.clone()).to_string(),
                        format!("up to {}", host.capacity.sessions),
                        format!("up to {}", host.capacity.browsers),
                        host.system.clone(),
                        host.version.clone(),
                        if host.draining { "draining" } else { "open" }.to_owned(),
                    ]
                })
                .collect();
            render::out(&columns(&heading, &rows));
        }
    }
}

fn show_queue(queue: &[QueuePosition], format: Format) {
    match format {
        Format::Json => {
            render::out(&json!({ "schema_version": 1, "runs": queue }).to_string());
        }
        Format::Text if queue.is_empty() => render::say("no run has sessions on the farm"),
        Format::Text => {
            let heading = ["RUN", "OF", "RUNNING", "WAITING", "AHEAD", "WHY"];
            let rows: Vec<_> = queue
                .iter()
                .map(|standing| {
                    [
                        standing.run.to_string(),
                        standing.owner.clone(),
                        standing.running.to_string(),
                        standing.waiting.to_string(),
                        standing.ahead.to_string(),
                        standing.reason.clone().unwrap_or_default(),
                    ]
                })
                .collect();
            render::out(&columns(&heading, &rows));
        }
    }
}

/// Which devices match, and what the others lack.
fn explain(on: &Requirement, all: &Overview, format: Format) {
    let judged = all.devices.iter().map(|(key, device)| {
        let why = on.why_not(&Subject::new(key, device));
        (key, device, why)
    });
    let judged: Vec<_> = judged.collect();
    if format == Format::Json {
        let devices: Vec<_> = judged
            .iter()
            .map(|(key, device, why)| {
                let why = why
                    .iter()
                    .map(|part| json!({ "part": part.part, "has": part.has }));
                json!({
                    "device": key.public(),
                    "matches": why.len() == 0,
                    "why_not": why.collect::<Vec<_>>(),
                    "out_of_service": reason(device),
                })
            })
            .collect();
        let shown = json!({ "schema_version": 1, "on": on.to_string(), "devices": devices });
        render::out(&shown.to_string());
        return;
    }
    let matching = judged.iter().filter(|(.., why)| why.is_empty()).count();
    render::say(&format!(
        "{matching} of {} devices match {on}",
        judged.len()
    ));
    for (key, device, why) in judged {
        let sign = if why.is_empty() { "✓" } else { "✗" };
        let mut told: Vec<_> = why.iter().map(ToString::to_string).collect();
        told.extend(reason(device).filter(|_| why.is_empty()));
        render::out(format!("{sign} {key}  {}", told.join("; ")).trim_end());
    }
}

fn device(key: &DeviceKey, device: &DeviceAdvert) -> Value {
    json!({
        "device": key.public(),
        "host": key.host,
        "model": device.info.model,
        "system": device.info.system,
        "driver": device.info.driver,
        "classifiers": device.info.classifiers,
        "screen": device.info.screen,
        "api": device.api,
        "labels": device.labels,
        "tools": device.tools,
        "out_of_service": reason(device),
    })
}

fn state(device: &DeviceAdvert, busy: Option<String>) -> String {
    let state = reason(device).or(busy);
    state.unwrap_or_else(|| "free".to_owned())
}

/// Who started the run that has a device; `None` when that is not alive.
fn owner<'a>(all: &'a Overview, leased: &Leased) -> Option<&'a str> {
    let run = all.runs.iter().find(|(run, _)| *run == leased.run);
    run.map(|(_, advert)| advert.owner.as_str())
}

/// `busy since 14:03:20: ada@laptop, run 20261123-...`.
fn busy(all: &Overview, leased: &Leased) -> String {
    let since = leased
        .since
        .with_timezone(&chrono::Local)
        .format("%H:%M:%S");
    let owner = owner(all, leased).unwrap_or("a user who is not connected");
    format!("busy since {since}: {owner}, run {}", leased.run)
}

fn reason(device: &DeviceAdvert) -> Option<String> {
    Some(match device.out_of_service.as_ref()? {
        OutOfService::Down => "not connected".to_owned(),
        OutOfService::Quarantined(cause) => format!("in quarantine: {cause}"),
    })
}
