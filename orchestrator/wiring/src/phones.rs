//! Virtual phones from configuration: servers in this process, and what leads to them.

use std::path::Path;
use std::sync::Arc;

use packtrain_config as config;
use packtrain_terminal::exit::CliError;
use packtrain_virtual::app::App;
use packtrain_virtual::arrivals::Arrivals;
use packtrain_virtual::faults::Faults;
use packtrain_virtual::fleet::{Fleet, FleetOptions};
use packtrain_virtual::latency::Latency;

use crate::descriptors;

/// The example shop, the default app.
const SHOP: &str = include_str!("../../../examples/shop/app.yaml");
const SHOP_NAME: &str = "examples/shop/app.yaml";

/// Starts the virtual phones of the configuration. What reaches them is written into `arrivals`.
///
/// # Errors
/// When the app or the faults have mistakes, they are too many, or nothing can listen on loopback.
pub async fn start(
    settings: &config::VirtualSettings,
    arrivals: Option<Arc<Arrivals>>,
) -> Result<Fleet, CliError> {
    descriptors::suffice(settings.android as usize + settings.ios as usize)?;
    let apps = match &settings.app {
        Some(path) => App::parse_all(&read(path)?, &path.display().to_string()),
        None => App::parse_all(SHOP, SHOP_NAME),
    };
    let apps = apps.map_err(|error| CliError::files("invalid app", vec![*error.0]))?;
    let faults = match &settings.faults {
        Some(path) => {
            let faults = Faults::parse(&read(path)?, &path.display().to_string());
            faults.map_err(|error| CliError::files("invalid faults", vec![*error.0]))?
        }
        None => Faults::default(),
    };
    let latency = match settings.profile {
        config::VirtualProfile::Phone => Latency::phone(),
        config::VirtualProfile::Fast => Latency::fast(),
    };
    Fleet::start(FleetOptions {
        apps,
        android: settings.android as usize,
        ios: settings.ios as usize,
        latency,
        faults,
        seed: settings.seed,
        arrivals,
        ..FleetOptions::default()
    })
    .await
    .map_err(|error| CliError::infrastructure("cannot start the virtual phones").because(&error))
}

fn read(path: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(path).map_err(|error| {
        CliError::misuse(format!("cannot read {}", path.display())).because(&error)
    })
}
