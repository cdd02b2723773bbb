//! `packtrain devices`: what trails can run on, and how to get more of it.

mod network;
mod watch;

use clap::Args;
use packtrain_config::Flags;
use packtrain_drivers::DeviceInfo;
use packtrain_model::Exit;
use serde_json::json;

use super::{Context, Format, listed};
use crate::daemon::client;
use crate::daemon::wire::DeviceSummary;
use crate::exit::CliError;
use crate::wiring::{DeviceSelection, Wiring, android};
use crate::{render, runtime};

#[derive(Debug, Args)]
pub(crate) struct DevicesArgs {
    #[command(subcommand)]
    command: Option<network::NetworkCommand>,

    /// Keep printing devices that appear or disappear, until Ctrl-C
    #[arg(long)]
    watch: bool,

    /// Output format
    #[arg(long, global = true, value_enum, default_value_t)]
    format: Format,
}

/// Every device there is.
const ALL: DeviceSelection<'static> = DeviceSelection {
    words: &[],
    all: true,
};

/// `packtrain devices`.
pub(crate) fn run(args: &DevicesArgs, context: &Context) -> Result<Exit, CliError> {
    let config = context.config(Flags::default())?.config;
    if let Some(command) = &args.command {
        if args.watch {
            return Err(CliError::misuse("`--watch` is for the list of devices"));
        }
        return runtime::block_on(network::run(command, &config, args.format));
    }
    if args.watch {
        return watch::run(&config, args.format);
    }
    runtime::block_on(async {
        let wiring = Wiring::new(&config, ALL, false).await?;
        let warm = client::devices(context.project_key()).await;
        match args.format {
            Format::Json => {
                let devices = super::select::known(&wiring);
                let unusable = wiring.unusable();
                let mut shown = json!({ "devices": devices, "unusable": unusable });
                if let Some(warm) = &warm {
                    shown["daemon"] = json!(warm);
                }
                listed::data(shown);
            }
            Format::Text => show(&wiring, warm.as_deref()),
        }
        wiring.shutdown().await;
        Ok(Exit::Passed)
    })
}

/// What there is, and why the rest cannot be used.
fn show(wiring: &Wiring, warm: Option<&[DeviceSummary]>) {
    let devices = super::select::known(wiring);
    if devices.is_empty() {
        render::say("no devices; `packtrain doctor` says what is missing");
    } else {
        render::out(&table(&devices, warm));
    }
    for device in wiring.unusable() {
        render::say(&android::why_unusable(device));
    }
}

/// With who has them, when a daemon keeps them.
fn table(devices: &[DeviceInfo], warm: Option<&[DeviceSummary]>) -> String {
    let row = |device: &DeviceInfo| {
        let classifiers: Vec<_> = device.classifiers.iter().map(|c| c.0.as_str()).collect();
        let mut known = warm.into_iter().flatten();
        let known = known.find(|known| known.info.id == device.id);
        let state = known.map(|known| match known.queue.len() {
            0 => known.state.clone(),
            waiting => format!("{}, {waiting} waiting", known.state),
        });
        [
            device.id.to_string(),
            classifiers.join("-"),
            device.driver.clone(),
            device.model.clone(),
            state.unwrap_or_default(),
        ]
    };
    let rows: Vec<_> = devices.iter().map(row).collect();
    let state = warm.map_or("", |_| "STATE");
    listed::columns(&["DEVICE", "CLASSIFIERS", "DRIVER", "MODEL", state], &rows)
}
