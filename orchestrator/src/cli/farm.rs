//! `packtrain farm`: the farm's server and who may use it.

mod act;
pub(crate) mod address;
mod broker;
mod computer;
mod config;
mod doctor;
pub(crate) mod join;
mod look;
mod rehearse;
mod token;
mod up;

use clap::{Args, Subcommand};
use packtrain_farm::requirement::Requirement;
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
    /// Start a farm here: its server, its broker, and this computer's devices
    Up(up::UpArgs),
    /// Run one of the farm's brokers, which assign devices to runs
    Broker(broker::BrokerArgs),
    /// Print a token that lets a computer join the farm
    Token(token::TokenArgs),
    /// Join a farm with a token
    Join(join::JoinArgs),
    /// Print or write the configuration for your own servers
    Config(config::ConfigArgs),
    /// List the devices of all hosts
    Devices(look::LookArgs),
    /// List the hosts
    Hosts(look::LookArgs),
    /// List the runs: what is running, what waits and why
    Queue(look::LookArgs),
    /// Show which devices match an expression, and what the others lack
    Why(look::WhyArgs),
    /// Stop giving a host new sessions
    Drain(act::DrainArgs),
    /// Take a device out of service
    Quarantine(act::QuarantineArgs),
    /// Show what is wrong with the farm
    Doctor(doctor::DoctorArgs),
    /// Simulate a farm on this computer, kill parts of it, and check the result
    Rehearse(Box<rehearse::RehearseArgs>),
}

/// `packtrain farm`.
pub(crate) fn run(args: FarmArgs, context: &Context) -> Result<Exit, CliError> {
    match args.command {
        FarmCommand::Up(args) => up::run(args, context),
        FarmCommand::Broker(args) => broker::run(&args, context),
        FarmCommand::Token(args) => token::run(&args),
        FarmCommand::Join(args) => join::run(args),
        FarmCommand::Config(args) => config::run(&args),
        FarmCommand::Devices(args) => look::run(look::FarmTable::Devices, &args, context),
        FarmCommand::Hosts(args) => look::run(look::FarmTable::Hosts, &args, context),
        FarmCommand::Queue(args) => look::run(look::FarmTable::Queue, &args, context),
        FarmCommand::Why(args) => look::why(&args, context),
        FarmCommand::Drain(args) => act::drain(&args, context),
        FarmCommand::Quarantine(args) => act::quarantine(&args, context),
        FarmCommand::Doctor(args) => doctor::run(&args, context),
        FarmCommand::Rehearse(args) => rehearse::run(*args, context),
    }
}

/// What somebody writes that a device has to be. Nothing at all is a variable that is not set.
pub(crate) fn expression(text: &str) -> Result<Requirement, String> {
    if text.trim().is_empty() {
        return Err("it is empty; `*` matches any device".to_owned());
    }
    Requirement::parse(text).map_err(|error| error.to_string())
}

/// The message about a server that stores nothing.
pub(crate) fn not_storing(why: &str) -> String {
    format!("the farm's server cannot store anything: {why}; is its disk full? See its log")
}
