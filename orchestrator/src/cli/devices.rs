//! `packtrain devices`: what trails can run on, and how to get more of it.

mod network;

use clap::Args;
use packtrain_config::Flags;
use packtrain_drivers::DeviceInfo;
use packtrain_model::Exit;
use serde_json::json;

use super::{Context, Format};
use crate::exit::CliError;
use crate::wiring::{DeviceSelection, Wiring};
use crate::{render, runtime};

#[derive(Debug, Args)]
pub(crate) struct DevicesArgs {
    #[command(subcommand)]
    command: Option<network::NetworkCommand>,

    /// How to print them
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "FORMAT"
    )]
    format: Format,
}

/// `packtrain devices`.
pub(crate) fn run(args: &DevicesArgs, context: &Context) -> Result<Exit, CliError> {
    let config = context.config(Flags::default())?.config;
    if let Some(command) = &args.command {
        return runtime::block_on(network::run(command, &config, args.format));
    }
    runtime::block_on(async {
        let wanted = DeviceSelection {
            words: &[],
            all: true,
        };
        let wiring = Wiring::new(&config, wanted, false).await?;
        let devices = super::select::known(&wiring);
        match args.format {
            Format::Json => {
                let unusable = wiring.unusable();
                let shown =
                    json!({ "schema_version": 1, "devices": devices, "unusable": unusable });
                render::out(&shown.to_string());
            }
            Format::Text if devices.is_empty() => {
                render::say("no devices; `packtrain doctor` says what is missing");
            }
            Format::Text => render::out(&table(&devices)),
        }
        if args.format == Format::Text {
            for device in wiring.unusable() {
                let why = device
                    .problem
                    .clone()
                    .unwrap_or_else(|| device.state.to_string());
                let hint = device
                    .hint
                    .as_ref()
                    .map_or_else(String::new, |hint| format!("; {hint}"));
                render::say(&format!(
                    "android/{} cannot be used: {why}{hint}",
                    device.serial
                ));
            }
        }
        wiring.shutdown().await;
        Ok(Exit::Passed)
    })
}

fn table(devices: &[DeviceInfo]) -> String {
    let rows: Vec<[String; 4]> = devices
        .iter()
        .map(|device| {
            let classifiers: Vec<_> = device.classifiers.iter().map(|c| c.0.as_str()).collect();
            [
                device.id.to_string(),
                classifiers.join("-"),
                device.driver.clone(),
                device.model.clone(),
            ]
        })
        .collect();
    super::tools::columns(&["DEVICE", "RECORDINGS", "DRIVER", "WHAT"], &rows)
}
