//! `packtrain farm broker`: one of the brokers of a farm; any number may be up, one of them decides.

use clap::Args;
use packtrain_config::Flags;
use packtrain_farm::server::Role;
use packtrain_model::Exit;
use tokio_util::sync::CancellationToken;

use super::{address, up};
use crate::cli::Context;
use crate::exit::CliError;
use crate::{render, runtime};

#[derive(Debug, Args)]
pub(crate) struct BrokerArgs {
    /// Addresses of the farm's servers, comma-separated [default: this user's farm]
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "")]
    farm: Option<String>,

    /// How many servers store everything: 1, 3 or 5
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = replicas)]
    replicas: usize,
}

/// `packtrain farm broker`.
pub(crate) fn run(args: &BrokerArgs, context: &Context) -> Result<Exit, CliError> {
    let settings = context.config(Flags::default())?.config.farm;
    let found = address::find(args.farm.as_deref(), &settings, &[Role::Broker])?;
    runtime::block_on_stoppable(async |interrupts| {
        let stop = CancellationToken::new();
        let broker = up::run_broker(&found.address, args.replicas, stop.clone());
        let mut broker = std::pin::pin!(broker);
        tokio::select! {
            ended = &mut broker => ended.map(|()| Exit::Passed),
            () = interrupts.first().cancelled() => {
                stop.cancel();
                render::say("stopping: another broker takes over");
                broker.await.map(|()| Exit::Passed)
            }
        }
    })
}

fn replicas(text: &str) -> Result<usize, String> {
    match text {
        "1" => Ok(1),
        "3" => Ok(3),
        "5" => Ok(5),
        _ => Err("expected 1, 3 or 5".to_owned()),
    }
}
