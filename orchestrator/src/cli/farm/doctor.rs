//! `packtrain farm doctor`: what is wrong with a farm.

use chrono::TimeDelta;
use clap::Args;
use packtrain_config::Flags;
use packtrain_farm::link::Link;
use packtrain_farm::server::{CheckUp, Identity, Role, check_up};
use packtrain_farm::wire::HostName;
use packtrain_model::Exit;
use serde_json::{Value, json};

use super::{address, not_storing};
use crate::cli::{Context, Format, listed};
use crate::exit::CliError;
use crate::{render, runtime};

/// Clocks that are further apart make the times in reports misleading.
const CLOCK_TOLERANCE: TimeDelta = TimeDelta::seconds(2);

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Addresses of the farm's servers, comma-separated [default: this user's farm]
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "")]
    farm: Option<String>,

    /// How to print it
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// `packtrain farm doctor`.
pub(crate) fn run(args: &DoctorArgs, context: &Context) -> Result<Exit, CliError> {
    let settings = context.config(Flags::default())?.config.farm;
    let roles: Vec<_> = address::VIEWERS.into_iter().chain([Role::Host]).collect();
    let found = address::find(args.farm.as_deref(), &settings, &roles)?;
    let checked = runtime::block_on(async {
        let link = Link::connect(&found.address, "doctor").await?;
        let checked = check_up(&link, found.identity.as_ref()).await;
        link.close().await;
        Ok::<_, CliError>(checked?)
    })?;
    let lines = lines(&checked, found.identity.as_ref());
    let is_well = lines.iter().all(|line| line.is_well);
    match args.format {
        Format::Json => listed::data(as_json(&checked, found.identity.as_ref(), is_well)),
        Format::Text => {
            for line in &lines {
                let sign = if line.is_well { "✓" } else { "✗" };
                render::out(&format!("{sign} {}", line.words));
            }
        }
    }
    Ok(if is_well {
        Exit::Passed
    } else {
        Exit::Infrastructure
    })
}

/// A line of what people read.
struct Line {
    is_well: bool,
    words: String,
}

fn lines(checked: &CheckUp, identity: Option<&Identity>) -> Vec<Line> {
    let well = |is_well, words| Line { is_well, words };
    let mut lines = vec![
        well(true, format!("nats-server: {}", checked.version)),
        well(true, "JetStream: on".to_owned()),
    ];
    lines.extend(checked.streams.iter().map(|stream| match stream.found {
        None => well(
            false,
            format!(
                "{}: missing\n    a broker creates it: `packtrain farm up` or `packtrain farm broker`",
                stream.name
            ),
        ),
        Some(found) => well(
            found.current >= found.replicas,
            format!(
                "{}: {} of {} replicas, {} messages, {} KB",
                stream.name,
                found.current,
                found.replicas,
                found.messages,
                found.bytes.div_ceil(1024)
            ),
        ),
    }));
    if let Some(why) = &checked.not_storing {
        lines.push(well(false, not_storing(why)));
    }
    lines.push(permissions(checked, identity));
    if let Some(ahead) = checked.clock_ahead {
        let milliseconds = ahead.num_milliseconds();
        let side = if milliseconds < 0 { "behind" } else { "ahead" };
        lines.push(well(
            ahead.abs() < CLOCK_TOLERANCE,
            format!("clock: the server's is {} ms {side}", milliseconds.abs()),
        ));
    }
    if let Some(hosts) = &checked.hosts {
        lines.extend(hosts.iter().map(|(name, advert)| {
            let draining = if advert.draining { ", draining" } else { "" };
            well(
                true,
                format!(
                    "host {name}: {} {}{draining}",
                    advert.version, advert.system
                ),
            )
        }));
        if hosts.is_empty() {
            lines.push(well(true, "hosts: none yet".to_owned()));
        }
    }
    lines
}

fn permissions(checked: &CheckUp, identity: Option<&Identity>) -> Line {
    let Some(identity) = identity else {
        return Line {
            is_well: true,
            words: "permissions: anyone may do anything on this server".to_owned(),
        };
    };
    let who = format!("{} `{}`", identity.role, identity.name);
    let (is_well, words) = match &checked.lacking {
        None => (
            true,
            format!("permissions: {who}; the server does not report them"),
        ),
        Some(lacking) if lacking.is_empty() => (true, format!("permissions: {who}")),
        Some(lacking) => (
            false,
            format!("permissions: {who} may not {}", lacking.join(", ")),
        ),
    };
    Line { is_well, words }
}

fn as_json(checked: &CheckUp, identity: Option<&Identity>, is_well: bool) -> Value {
    let hosts = checked.hosts.as_ref().map(|hosts| {
        let host = |(name, advert): &(HostName, _)| json!({ "name": name, "advert": advert });
        hosts.iter().map(host).collect::<Vec<_>>()
    });
    json!({
        "well": is_well,
        "version": checked.version,
        "role": identity.map(|identity| identity.role),
        "name": identity.map(|identity| &identity.name),
        "streams": checked.streams,
        "not_storing": checked.not_storing,
        "lacking": checked.lacking,
        "clock_ahead_ms": checked.clock_ahead.map(|ahead| ahead.num_milliseconds()),
        "hosts": hosts,
    })
}
