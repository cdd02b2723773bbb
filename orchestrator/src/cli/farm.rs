//! `packtrain farm`.

pub(crate) mod address;
mod rehearse;

use clap::{Args, Subcommand};
use packtrain_farm::broker::BrokerOptions;
use packtrain_farm::link::Link;
use packtrain_model::Exit;

use super::Context;
use super::run::farm::farm_error;
use crate::exit::CliError;
use crate::runtime;

#[derive(Debug, Args)]
pub(crate) struct FarmArgs {
    #[command(subcommand)]
    command: FarmCommand,
}

#[derive(Debug, Subcommand)]
enum FarmCommand {
    /// Be one of the farm's brokers
    Broker {
        /// Where
        #[arg(long)]
        farm: String,
    },
    /// Play a whole farm on this computer, kill parts of it, and judge what is left
    Rehearse(Box<rehearse::RehearseArgs>),
}

/// `packtrain farm`.
pub(crate) fn run(args: FarmArgs, context: &Context) -> Result<Exit, CliError> {
    match args.command {
        FarmCommand::Rehearse(args) => rehearse::run(*args, context),
        FarmCommand::Broker { farm } => broker(&farm),
    }
}

fn broker(farm: &str) -> Result<Exit, CliError> {
    runtime::block_on_stoppable(async |interrupts| {
        let address = address::of(Some(farm), &packtrain_config::Config::default())?;
        let link = Link::connect(&address, "broker")
            .await
            .map_err(farm_error)?;
        let options = BrokerOptions {
            name: format!("b{}", std::process::id()),
            replicas: 1,
            ttl: packtrain_farm::live::ttl(1),
        };
        packtrain_farm::broker::run(link, options, interrupts.first().clone())
            .await
            .map_err(farm_error)?;
        Ok(Exit::Passed)
    })
}
