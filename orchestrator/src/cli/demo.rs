//! `packtrain demo`: the bundled example on everything that is there.

use std::sync::Arc;

use clap::Args;
use packtrain_config::Flags;
use packtrain_model::Exit;
use packtrain_model::trail::Trail;

use super::Context;
use super::run::RunArgs;
use crate::exit::CliError;
use crate::site::Site;
use crate::{render, runtime, trails};

/// The trail, as it lies in examples/.
const TRAIL: &str = include_str!("../../../examples/shop/trails/buy.trail.yaml");
/// What messages call it.
const NAME: &str = "examples/shop/trails/buy.trail.yaml";

/// The browser configurations of the demo, as a packtrain.yaml has them.
const CONFIG: &str = include_str!("../../../examples/shop/packtrain.yaml");

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Devices, as in `packtrain run` [default: all of the demo]
    #[arg(short, long, value_delimiter = ',', value_name = "DEVICE")]
    device: Vec<String>,

    /// Show the browsers' windows
    #[arg(long)]
    headed: bool,
}

/// `packtrain demo`.
pub(crate) fn run(args: DemoArgs, context: &Context) -> Result<Exit, CliError> {
    let mut config = context.config(Flags::default())?.config;
    let bundled = packtrain_config::parse(CONFIG, "examples/shop/packtrain.yaml")
        .map_err(|error| CliError::misuse(error.to_string()))?;
    config.devices.web = bundled.devices.web;
    let parsed = Trail::parse(TRAIL, NAME)
        .map_err(|mistakes| CliError::files("the bundled trail is broken", mistakes))?;
    let found = trails::Loaded {
        trails: vec![trails::LoadedTrail::File(Arc::new(parsed.trail))],
        warnings: parsed.warnings,
    };
    runtime::block_on(async {
        let site = Site::start().await.map_err(|error| {
            CliError::infrastructure("cannot serve the example shop").because(&error)
        })?;
        render::say(&format!("the example shop is at {}", site.base_url()));
        let run = RunArgs {
            all_devices: args.device.is_empty(),
            device: args.device,
            base_url: Some(site.base_url()),
            headed: args.headed,
            ..RunArgs::default()
        };
        super::run::execute(run, config, found, context).await
    })
}
