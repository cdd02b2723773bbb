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
use packtrain_farm::wire::{DeviceAdvert, DeviceKey, HostName, OutOfService, QueuePosition};
use packtrain_model::Exit;
use serde_json::{Value, json};

use super::{address, expression, not_storing};
use crate::cli::{Context, Format, listed};
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
Attributes: platform, classifier, device, host, model, os, api, driver, label, tool, has, width, height
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
    let shown = all.devices.iter().map(|(key, advert)| {
        let mut shown = device(key, advert);
        shown["busy"] = leased(key).map_or(Value::Null, |leased| {
            json!({ "run": leased.run, "owner": owner(all, leased), "since": leased.since })
        });
        shown
    });
    let shown = json!({ "devices": shown.collect::<Vec<_>>() });
    let rows = all.devices.iter().map(|(key, device)| {
        let info = &device.info;
        let labels = device.labels.iter();
        let labels = labels.map(|(kind, word)| format!("{kind}={word}"));
        [
            key.to_string(),
            info.model.clone(),
            info.system.clone(),
            format!("{}x{}", info.screen.width, info.screen.height),
            labels.collect::<Vec<_>>().join(" "),
            state(device, leased(key).map(|leased| busy(all, leased))),
        ]
    });
    let heading = ["DEVICE", "MODEL", "SYSTEM", "SCREEN", "LABELS", "STATE"];
    listed::list(
        format,
        shown,
        "no host of the farm has a device",
        heading,
        rows,
    );
}

fn show_hosts(all: &Overview, format: Format) {
    let count = |host: &HostName| {
        let of_host = all.devices.iter().filter(|(key, _)| key.host == *host);
        of_host.count()
    };
    let hosts = all.hosts.iter().map(|(name, host)| {
        json!({
            "host": name,
            "version": host.version,
            "system": host.system,
            "draining": host.draining,
            "devices": count(name),
            "sessions": host.capacity.sessions,
            "browsers": host.capacity.browsers,
        })
    });
    let shown = json!({ "hosts": hosts.collect::<Vec<_>>(), "broker": all.broker.is_some() });
    if format == Format::Text && all.broker.is_none() {
        render::say("no broker is running: nothing is granted until one is");
    }
    let rows = all.hosts.iter().map(|(name, host)| {
        [
            name.to_string(),
            count(name).to_string(),
            format!("up to {}", host.capacity.sessions),
            format!("up to {}", host.capacity.browsers),
            host.system.clone(),
            host.version.clone(),
            if host.draining { "draining" } else { "open" }.to_owned(),
        ]
    });
    let none = "the farm has no host; `packtrain host` offers this computer";
    let heading = [
        "HOST", "DEVICES", "SESSIONS", "BROWSERS", "SYSTEM", "VERSION", "STATE",
    ];
    listed::list(format, shown, none, heading, rows);
}

fn show_queue(queue: &[QueuePosition], format: Format) {
    let rows = queue.iter().map(|standing| {
        [
            standing.run.to_string(),
            standing.owner.clone(),
            standing.running.to_string(),
            standing.waiting.to_string(),
            standing.ahead.to_string(),
            standing.reason.clone().unwrap_or_default(),
        ]
    });
    let heading = ["RUN", "OF", "RUNNING", "WAITING", "AHEAD", "WHY"];
    let none = "no run has sessions on the farm";
    listed::list(format, json!({ "runs": queue }), none, heading, rows);
}

/// Which devices match, and what the others lack.
fn explain(on: &Requirement, all: &Overview, format: Format) {
    let judged = all.devices.iter();
    let judged = judged.map(|(key, device)| (key, device, on.why_not(&Subject::new(key, device))));
    let judged: Vec<_> = judged.collect();
    if format == Format::Json {
        let devices = judged.iter().map(|(key, device, why)| {
            let parts = why.iter();
            let parts = parts.map(|part| json!({ "part": part.part, "has": part.has }));
            json!({
                "device": key.public(),
                "matches": why.is_empty(),
                "why_not": parts.collect::<Vec<_>>(),
                "out_of_service": reason(device),
            })
        });
        let devices: Vec<_> = devices.collect();
        listed::data(json!({ "on": on.to_string(), "devices": devices }));
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
