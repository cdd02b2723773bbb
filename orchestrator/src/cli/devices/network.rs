//! `packtrain devices connect`, `pair` and `disconnect`: Android devices on the network.

use clap::Subcommand;
use packtrain_config::Config;
use packtrain_model::Exit;
use serde_json::json;

use super::super::{Format, listed};
use crate::exit::CliError;
use crate::render;
use crate::wiring::network::Network;

#[derive(Debug, Subcommand)]
pub(crate) enum NetworkCommand {
    /// Connect to an Android device over the network
    Connect {
        /// Where it listens; the port is 5555 unless given
        #[arg(value_name = "HOST[:PORT]")]
        address: String,
    },
    /// Pair this computer with an Android device that shows a pairing code
    Pair {
        /// The address shown with the code
        #[arg(value_name = "HOST:PORT")]
        address: String,
        /// The code
        code: String,
    },
    /// Disconnect an Android device, or all that are connected over the network
    Disconnect {
        /// The address it was connected by
        #[arg(value_name = "HOST[:PORT]")]
        address: Option<String>,
    },
}

/// Asks the adb server.
pub(crate) async fn run(
    command: &NetworkCommand,
    config: &Config,
    format: Format,
) -> Result<Exit, CliError> {
    let network = Network::new(config)?;
    let (done, devices) = match command {
        NetworkCommand::Connect { address } => ("connected", vec![network.connect(address).await?]),
        NetworkCommand::Pair { address, code } => {
            network.pair(address, code).await?;
            render::say("paired; `packtrain devices connect` takes the other address it shows");
            ("paired", Vec::new())
        }
        NetworkCommand::Disconnect { address } => {
            let gone = network.disconnect(address.as_deref()).await?;
            if gone.is_empty() {
                render::say("no device is connected over the network");
            }
            ("disconnected", gone)
        }
    };
    match format {
        Format::Json => {
            listed::data(json!({ "done": done, "devices": devices }));
        }
        Format::Text => {
            for device in devices {
                render::out(&format!("{done} {device}"));
            }
        }
    }
    Ok(Exit::Passed)
}
