//! `packtrain farm drain` and `quarantine`: what people ask of hosts.

use std::time::Duration;

use clap::Args;
use packtrain_config::Flags;
use packtrain_drivers::DeviceId;
use packtrain_farm::host::{Answer, Ask};
use packtrain_farm::link::Link;
use packtrain_farm::names;
use packtrain_farm::server::Role;
use packtrain_farm::wire::{DeviceKey, HostName};
use packtrain_model::Exit;

use super::address;
use crate::cli::Context;
use crate::exit::CliError;
use crate::{render, runtime};

/// How long a host may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
#[command(after_help = "A drained host takes no new sessions; those under way finish.")]
pub(crate) struct DrainArgs {
    /// The host
    #[arg(value_name = "HOST")]
    host: HostName,

    /// Let it take sessions again
    #[arg(long)]
    undo: bool,

    /// Addresses of the farm's servers, comma-separated [default: this user's farm]
    #[arg(long, value_name = "URL")]
    farm: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct QuarantineArgs {
    /// The device, as `packtrain farm devices` shows it: android/emulator-5554@mac-1
    #[arg(value_name = "DEVICE")]
    device: DeviceId,

    /// The reason, shown to runs that wait for the device
    #[arg(long, value_name = "TEXT", default_value = "set by an operator")]
    cause: String,

    /// Return it to service
    #[arg(long, conflicts_with = "cause")]
    undo: bool,

    /// Addresses of the farm's servers, comma-separated [default: this user's farm]
    #[arg(long, value_name = "URL")]
    farm: Option<String>,
}

/// `packtrain farm drain`.
pub(super) fn drain(args: &DrainArgs, context: &Context) -> Result<Exit, CliError> {
    let ask = Ask::Drain { drain: !args.undo };
    asked(&args.host, &ask, args.farm.as_deref(), context)?;
    render::say(&match args.undo {
        false => format!("{} takes no new sessions", args.host),
        true => format!("{} takes sessions again", args.host),
    });
    Ok(Exit::Passed)
}

/// `packtrain farm quarantine`.
pub(super) fn quarantine(args: &QuarantineArgs, context: &Context) -> Result<Exit, CliError> {
    let DeviceKey { host, device } = DeviceKey::named(&args.device).ok_or_else(|| {
        CliError::misuse(format!(
            "invalid device `{}`: expected a host after `@`",
            args.device
        ))
        .hint("`packtrain farm devices` shows devices with their hosts: android/1@mac-1")
    })?;
    let ask = Ask::Quarantine {
        device,
        cause: (!args.undo).then(|| args.cause.clone()),
    };
    asked(&host, &ask, args.farm.as_deref(), context)?;
    render::say(&match args.undo {
        false => format!("{} is out of service", args.device),
        true => format!("{} is in service again", args.device),
    });
    Ok(Exit::Passed)
}

fn asked(
    host: &HostName,
    ask: &Ask,
    farm: Option<&str>,
    context: &Context,
) -> Result<(), CliError> {
    let config = context.config(Flags::default())?.config;
    runtime::block_on(async {
        let found = address::find(farm, &config.farm, &[Role::Operator])?;
        let link = Link::connect(&found.address, "packtrain farm").await?;
        let message = serde_json::to_vec(ask)
            .map_err(|error| CliError::misuse("cannot encode the request").because(&error))?;
        let answer = link
            .ask(names::ctl_host(host), message, ANSWER_TIMEOUT)
            .await;
        let answer = answer.map_err(|error| {
            CliError::from(error).hint(format!(
                "is {host} running? `packtrain farm hosts` shows it"
            ))
        })?;
        let answer: Answer = serde_json::from_slice(&answer).map_err(|error| {
            CliError::infrastructure("invalid answer from the host").because(&error)
        })?;
        match answer.refused {
            None => Ok(()),
            Some(why) => Err(CliError::misuse(why)),
        }
    })
}
