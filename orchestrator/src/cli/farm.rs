//! `packtrain farm`.

pub(crate) mod address;
mod rehearse;

use clap::{Args, Subcommand};
use packtrain_model::Exit;

use super::Context;
use crate::exit::CliError;

#[derive(Debug, Args)]
pub(crate) struct FarmArgs {
    #[command(subcommand)]
    command: FarmCommand,
}

#[derive(Debug, Subcommand)]
enum FarmCommand {
    /// Play a whole farm on this computer, kill parts of it, and judge what is left
    Rehearse(Box<rehearse::RehearseArgs>),
}

/// `packtrain farm`.
pub(crate) fn run(args: FarmArgs, context: &Context) -> Result<Exit, CliError> {
    match args.command {
        FarmCommand::Rehearse(args) => rehearse::run(*args, context),
    }
}
