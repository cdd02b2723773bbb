//! `-d`: from what a person writes to devices.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use packtrain_config::Config;
use packtrain_device_actors::Fleet;
use packtrain_drivers::{Connector, DeviceId, DeviceInfo, Platform};
use packtrain_model::suggest::did_you_mean;

use crate::exit::CliError;
use crate::wiring::{DeviceSelection, Wiring};

/// How long what devices share may take to end.
const WIRING_TIMEOUT: Duration = Duration::from_secs(15);

/// Devices, and what they are made of.
pub(crate) type Chosen = (Wiring, Vec<DeviceInfo>);

/// The devices that are wanted, looked for by this process.
pub(crate) async fn found(
    selection: DeviceSelection<'_>,
    config: &Config,
    headed: bool,
) -> Result<Chosen, CliError> {
    chosen(selection, Wiring::new(config, selection, headed).await?)
}

/// Those that are wanted of the devices that there are.
pub(crate) fn chosen(
    selection: DeviceSelection<'_>,
    mut wiring: Wiring,
) -> Result<Chosen, CliError> {
    let devices = select(selection, &mut wiring)?;
    Ok((wiring, devices))
}

/// The devices, in the order they were asked for, each once.
pub(crate) fn select(
    selection: DeviceSelection<'_>,
    wiring: &mut Wiring,
) -> Result<Vec<DeviceInfo>, CliError> {
    for wanted in selection.words {
        // With no slots configured, every name of one is a device.
        if let Ok(id) = DeviceId::from_str(wanted)
            && id.platform() == Platform::Web
            && !known(wiring).iter().any(|device| device.id == id)
        {
            wiring.add_free_slot(id.name());
        }
    }
    let known = known(wiring);
    if selection.all {
        let (other, unconfigured): (Vec<_>, Vec<_>) = known
            .into_iter()
            .partition(|device| !wiring.is_default_browser(&device.id));
        // The unconfigured browser stands in for devices, it is not one besides them.
        return match (other.is_empty(), unconfigured.is_empty()) {
            (false, _) => Ok(other),
            (true, false) => Ok(unconfigured),
            (true, true) => Err(none(wiring)),
        };
    }
    if selection.words.is_empty() {
        return match known.as_slice() {
            [] => Err(none(wiring)),
            [only] => Ok(vec![only.clone()]),
            several => Err(
                CliError::misuse(format!("several devices match: {}", names(several))).hint(
                    "choose with -d; `packtrain run` can take all of them with --all-devices",
                ),
            ),
        };
    }
    let mut chosen: Vec<DeviceInfo> = Vec::new();
    for wanted in selection.words {
        for device in matching(wanted, &known, wiring)? {
            if !chosen.iter().any(|other| other.id == device.id) {
                chosen.push(device.clone());
            }
        }
    }
    Ok(chosen)
}

/// These devices, ready to be leased.
pub(crate) fn fleet(
    wiring: &Wiring,
    devices: &[DeviceInfo],
    around: impl Fn(Arc<dyn Connector>) -> Arc<dyn Connector>,
) -> Result<Fleet, CliError> {
    let connectors = wiring.connectors().iter();
    let wanted = connectors.filter(|one| devices.iter().any(|device| device.id == *one.id()));
    let connectors: Vec<_> = wanted.map(Arc::clone).map(around).collect();
    let arbiters = crate::workplace::arbiters(connectors.len());
    Fleet::start(connectors, &arbiters).map_err(|error| CliError::misuse(error.to_string()))
}

/// Ends what devices share. What does not end in time is killed with the program's other children.
pub(crate) async fn release(wiring: Wiring) {
    let _ = tokio::time::timeout(WIRING_TIMEOUT, wiring.shutdown()).await;
}

/// All devices of the configuration.
pub(crate) fn known(wiring: &Wiring) -> Vec<DeviceInfo> {
    let connectors = wiring.connectors().iter();
    connectors.map(|connector| connector.describe()).collect()
}

/// A whole id; a platform, which is all its devices; a name, or a part of just one name.
fn matching<'a>(
    wanted: &str,
    known: &'a [DeviceInfo],
    wiring: &Wiring,
) -> Result<Vec<&'a DeviceInfo>, CliError> {
    let all = |test: &dyn Fn(&DeviceInfo) -> bool| -> Vec<&'a DeviceInfo> {
        known.iter().filter(|device| test(device)).collect()
    };
    if let Some(rest) = wanted.strip_prefix("virtual:") {
        let platform = rest.split(':').next().unwrap_or_default();
        return Ok(all(&|device| {
            device.id.platform().as_str() == platform && device.id.name().starts_with("virtual-")
        }));
    }
    let serial = wanted.strip_prefix("android/").unwrap_or(wanted);
    let mut unusable = wiring.unusable().iter();
    if let Some(unusable) = unusable.find(|one| one.serial == wanted || one.serial == serial) {
        let why = unusable.problem.clone();
        let why = why.unwrap_or_else(|| unusable.state.to_string());
        let error = CliError::infrastructure(format!("{wanted} cannot be used: {why}"));
        return Err(error.hinted(unusable.hint.clone()));
    }
    if wanted.is_empty() {
        let error = CliError::misuse("the name of a device is empty");
        return Err(error.hint(format!("available: {}", names(known))));
    }
    let exact = all(&|device| device.id.to_string() == wanted);
    if !exact.is_empty() {
        return Ok(exact);
    }
    if let Ok(platform) = Platform::from_str(wanted) {
        let found = all(&|device| device.id.platform() == platform);
        let lack = match platform {
            _ if !found.is_empty() => return Ok(found),
            Platform::Web => return Err(none(wiring)),
            Platform::Android => None,
            Platform::Ios => wiring.simulators_lack(),
        };
        let error = CliError::misuse(format!("no {platform} device found"));
        return Err(error.hint(lack.unwrap_or("`packtrain doctor` says what is missing")));
    }
    let named = all(&|device| device.id.name() == wanted);
    if !named.is_empty() {
        return Ok(named);
    }
    let partly = all(&|device| device.id.to_string().contains(wanted));
    match partly.as_slice() {
        [_] => Ok(partly),
        [] => {
            if known.is_empty() {
                return Err(none(wiring));
            }
            let ids: Vec<_> = known.iter().map(|device| device.id.to_string()).collect();
            let meant = did_you_mean(wanted, ids.iter().map(String::as_str));
            let error = CliError::misuse(format!("unknown device `{wanted}`"));
            Err(error.hint(meant.unwrap_or_else(|| format!("available: {}", names(known)))))
        }
        several => {
            let names = names(several.iter().copied());
            Err(CliError::misuse(format!(
                "ambiguous device `{wanted}`: {names}"
            )))
        }
    }
}

fn names<'d>(devices: impl IntoIterator<Item = &'d DeviceInfo>) -> String {
    let ids = devices.into_iter().map(|device| device.id.to_string());
    ids.collect::<Vec<_>>().join(", ")
}

fn none(wiring: &Wiring) -> CliError {
    let error = CliError::infrastructure("no device to run on");
    match wiring.found().browser {
        None => error.hint(format!("no browser was found; {}", wiring.browser_remedy())),
        Some(_) => error.hint("`packtrain doctor` says what is missing"),
    }
}
