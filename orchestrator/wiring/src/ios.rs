//! iPhones and simulators from configuration and discovery.

use std::sync::Arc;

use packtrain_config as config;
use packtrain_driver_wda::{
    DeviceFacts, KeeperOptions, WdaEndpoint, WdaOptions, WdaPool, WdaStart, WdaTarget,
};
use packtrain_drivers::{Connector, Size};
use packtrain_terminal::exit::CliError;
use packtrain_virtual::device;
use packtrain_virtual::ios::Iphone;

use super::selection::Search;
use super::state_folder;

/// The command by which this program keeps a simulator's WebDriverAgent.
pub const KEEP: &str = "keep-webdriveragent";

/// How iPhones are found, from configuration and environment.
pub fn options(
    settings: &std::collections::BTreeMap<String, config::IosSettings>,
) -> Result<WdaOptions, CliError> {
    let mut options = WdaOptions::from_environment(|name| std::env::var_os(name));
    let program = std::env::current_exe().ok();
    options.keeper = state_folder().zip(program).map(|(folder, program)| {
        KeeperOptions::new(folder.join("simulators"), vec![program.into(), KEEP.into()])
    });
    for (name, device) in settings {
        options.endpoints.push(endpoint(name, device)?);
    }
    Ok(options)
}

/// Keeps a simulator's WebDriverAgent until nobody uses it. Standard output is the lock.
pub fn keep(order: &str) -> Result<(), CliError> {
    packtrain_driver_wda::keep(order)
        .map_err(|error| CliError::infrastructure("cannot keep WebDriverAgent").because(&error))
}

/// Everything there is. Nothing is an error here but an invalid configuration.
pub(crate) async fn discover(
    pool: &WdaPool,
    search: Search,
) -> Result<Vec<Arc<dyn Connector>>, CliError> {
    if search == Search::Not {
        return Ok(Vec::new());
    }
    pool.discover()
        .await
        .map_err(|error| CliError::misuse("cannot look for iPhones").because(&error))
}

/// What leads to a virtual iPhone.
pub(crate) fn virtual_phone(
    pool: &WdaPool,
    index: usize,
    phone: &Iphone,
) -> Result<Arc<dyn Connector>, CliError> {
    let shape = phone.device().shape();
    let url = format!("http://{}", phone.wda_address());
    let endpoint = WdaEndpoint {
        facts: DeviceFacts {
            tablet: Some(false),
            model: Some(shape.model.to_owned()),
            version: Some(shape.os_version.to_owned()),
            screen: Some(Size::new(shape.screen.width(), shape.screen.height())),
        },
        ..WdaEndpoint::url(device::name(index), url)
    };
    pool.connector(&endpoint)
        .map_err(|error| CliError::infrastructure("cannot reach a virtual iPhone").because(&error))
}

fn endpoint(name: &str, settings: &config::IosSettings) -> Result<WdaEndpoint, CliError> {
    let target = match (&settings.wda, &settings.udid) {
        (Some(url), _) => WdaTarget::Url(url.clone()),
        (None, Some(udid)) => WdaTarget::Device {
            udid: udid.clone(),
            usbmuxd: None,
        },
        (None, None) => {
            return Err(CliError::misuse(format!(
                "devices.ios.{name} has neither `wda` nor `udid`"
            )));
        }
    };
    let start = match (settings.start.as_slice(), &settings.bundle_id) {
        ([], None) => WdaStart::Never,
        ([], Some(id)) => WdaStart::Runner { id: id.clone() },
        (command, _) => WdaStart::Command(command.to_vec()),
    };
    Ok(WdaEndpoint {
        start,
        folder: settings.start_in.clone(),
        classifiers: settings.classifiers.clone(),
        ..WdaEndpoint::new(name, target)
    })
}
