//! Android devices from configuration and discovery.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use packtrain_config as config;
use packtrain_driver_adb::{
    AdbDevice, AdbOptions, AdbPool, AgentChoice, AgentFiles, DirectAddress, Form, Profile,
    StartServer, Survey, install,
};
use packtrain_driver_playwright::install::home;
use packtrain_drivers::{Connector, DeviceId, Platform, Size};
use packtrain_terminal::exit::CliError;
use packtrain_virtual::device;
use packtrain_virtual::fleet::AndroidHandle;

use super::selection::Search;

/// How adb and devices are found, from configuration and environment.
pub fn options(settings: &config::AndroidSettings, search: Search) -> Result<AdbOptions, CliError> {
    let from_environment = AdbOptions::from_environment(|name| std::env::var_os(name));
    let mut options = AdbOptions {
        agent: match settings.agent {
            config::AndroidAgent::Auto => AgentChoice::Auto,
            config::AndroidAgent::U2 => AgentChoice::U2,
            config::AndroidAgent::Shell => AgentChoice::Shell,
        },
        files: AgentFiles {
            u2_jar: home(|name| std::env::var_os(name)).and_then(|home| install::find_u2(&home)),
        },
        // Without a request for Android devices no adb server must be started.
        start: match search {
            Search::Thoroughly => StartServer::IfNeeded,
            Search::Not | Search::Quietly => StartServer::Never,
        },
        ..from_environment
    };
    if settings.adb != config::AndroidSettings::default().adb {
        options.server = Some(address(&settings.adb)?);
    }
    for device in &settings.connect {
        options
            .direct
            .push((name(device), DirectAddress::Tcp(address(device)?)));
    }
    Ok(options)
}

/// The name of a device that is connected to without a server.
pub(crate) fn name(endpoint: &config::Endpoint) -> String {
    format!("{}:{}", endpoint.host(), endpoint.port())
}

/// Everything adb has. What is not there is an error only when it was asked for.
pub(crate) async fn survey(pool: &AdbPool, search: Search) -> Result<Survey, CliError> {
    match (search, pool.survey().await) {
        (Search::Not, _) => Ok(Survey::default()),
        (_, Ok(survey)) => Ok(survey),
        (Search::Quietly, Err(error)) => {
            tracing::debug!(%error, "no Android devices");
            Ok(Survey::default())
        }
        (Search::Thoroughly, Err(error)) => {
            let failed =
                CliError::infrastructure("cannot look for Android devices").because(&error);
            Err(match error.hint() {
                Some(hint) => failed.hint(hint),
                None => failed.hint("`packtrain doctor` says what is missing"),
            })
        }
    }
}

/// What a device of the adb server is called.
pub fn id(device: &AdbDevice) -> DeviceId {
    DeviceId::new(Platform::Android, device.serial.clone())
}

/// Why a device that is there cannot be used, and what to do.
pub fn why_unusable(device: &AdbDevice) -> String {
    let why = device
        .problem
        .clone()
        .unwrap_or_else(|| device.state.to_string());
    let hint = device.hint.as_ref();
    let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
    format!("{} cannot be used: {why}{hint}", id(device))
}

/// What leads to a virtual phone. Nothing has to be asked: its properties are known.
pub(crate) fn virtual_phone(
    pool: &AdbPool,
    index: usize,
    phone: &AndroidHandle,
) -> Arc<dyn Connector> {
    let shape = phone.device().shape();
    let profile = Profile {
        model: shape.model.to_owned(),
        version: shape.os_version.to_owned(),
        api: Some(shape.api_level),
        screen: Size::new(
            f64::from(shape.screen.width_px),
            f64::from(shape.screen.height_px),
        ),
        form: Form::Phone,
    };
    pool.direct_known(
        device::name(index),
        DirectAddress::Tcp(phone.address()),
        profile,
    )
}

fn address(endpoint: &config::Endpoint) -> Result<SocketAddr, CliError> {
    let text = name(endpoint);
    let mut found = (endpoint.host(), endpoint.port())
        .to_socket_addrs()
        .map_err(|error| CliError::infrastructure(format!("cannot find {text}")).because(&error))?;
    found
        .next()
        .ok_or_else(|| CliError::infrastructure(format!("{text} has no address")))
}
