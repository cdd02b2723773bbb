//! Where the farm is, and who we are there.

use std::time::Duration;

use packtrain_config::Config;
use packtrain_farm::link::{Credentials, FarmAddress, Link, Trust};

use crate::exit::CliError;

pub(crate) fn of(given: Option<&str>, _config: &Config) -> Result<FarmAddress, CliError> {
    let Some(url) = given else {
        return Err(CliError::misuse("which farm?"));
    };
    Ok(FarmAddress {
        servers: url.split(',').map(str::to_owned).collect(),
        credentials: Credentials::None,
        trust: Trust::System,
    })
}

pub(crate) fn owner() -> String {
    "somebody".to_owned()
}

pub(crate) async fn ttl(_link: &Link) -> Duration {
    packtrain_farm::live::ttl(1)
}
