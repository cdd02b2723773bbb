//! `packtrain farm`.

pub(crate) mod address;

use clap::{Args, Subcommand};
use packtrain_farm::broker::BrokerOptions;
use packtrain_farm::link::Link;
use packtrain_model::Exit;

use super::Context;
use super::run::farm::farm_error;
use crate::exit::CliError;
use crate::runtime;

#[derive(Debug, Args)]
pub(crate) struct FarmCommand {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// A broker
    Broker {
        /// Where
        #[arg(long)]
        farm: String,
    },
}

pub(crate) fn run(command: FarmCommand, _context: &Context) -> Result<Exit, CliError> {
    let Sub::Broker { farm } = command.command;
    runtime::block_on_stoppable(async |interrupts| {
        let address = address::of(Some(&farm), &packtrain_config::Config::default())?;
        let link = Link::connect(&address, "broker").await.map_err(farm_error)?;
        let options = BrokerOptions {
            name: "b".into(),
            replicas: 1,
            ttl: packtrain_farm::live::ttl(1),
        };
        packtrain_farm::broker::run(link, options, interrupts.first().clone())
            .await
            .map_err(farm_error)?;
        Ok(Exit::Passed)
    })
}
