//! Drivers that trails pin, by the names that trail files use, and the devices they mean. Pure.

use packtrain_drivers::{DeviceInfo, Platform};
use packtrain_model::diagnostic::{Diagnostic, quoted};
use packtrain_model::suggest::did_you_mean;
use packtrain_model::trail::{Trail, lineage};

/// Driver names of trail files and the platform each drives. Those of other programs' own devices
/// have none here.
const DRIVERS: [(&str, Option<Platform>); 9] = [
    ("PLAYWRIGHT_NATIVE", Some(Platform::Web)),
    ("PLAYWRIGHT_ELECTRON", None),
    ("ANDROID_ONDEVICE_ACCESSIBILITY", Some(Platform::Android)),
    ("ANDROID_ONDEVICE_INSTRUMENTATION", Some(Platform::Android)),
    ("IOS_HOST", Some(Platform::Ios)),
    ("IOS_AXE", Some(Platform::Ios)),
    ("REVYL_ANDROID", None),
    ("REVYL_IOS", None),
    ("COMPOSE", None),
];

/// Checks the name of a driver: any case, `-` for `_`.
///
/// # Errors
/// A sentence that names the drivers there are.
pub fn check_driver(name: &str) -> Result<(), String> {
    match find(name) {
        Some((_, Some(_))) => Ok(()),
        Some((known, None)) => Err(format!("unsupported driver {known}")),
        None => {
            let usable = DRIVERS.iter().filter(|(_, platform)| platform.is_some());
            Err(format!("unknown driver `{name}`; {}", advice(name, usable)))
        }
    }
}

/// The unknown drivers that a trail pins.
pub fn check_pins(trail: &Trail) -> Vec<Diagnostic> {
    let pins = trail.config.devices.iter();
    pins.filter(|pin| find(&pin.value).is_none())
        .map(|pin| {
            let message = format!("unknown driver {}", quoted(&pin.value));
            Diagnostic::error(&trail.source, pin.span, message)
                .hint(advice(&pin.value, DRIVERS.iter()))
        })
        .collect()
}

/// Why a trail does not run on a device, as far as drivers go. `given` beats the trail's pin.
pub(crate) fn mismatch(
    trail: &Trail,
    device: &DeviceInfo,
    lineage: &[String],
    given: Option<&str>,
) -> Option<String> {
    let name = given.or_else(|| trail.config.driver_for(lineage))?;
    match find(name) {
        Some((_, Some(platform))) if platform == device.id.platform() => None,
        Some((known, Some(_))) => Some(format!(
            "{known} does not drive {} devices",
            device.id.platform()
        )),
        Some((known, None)) => Some(format!(
            "it is pinned to {known}, which Packtrain does not have; --driver selects another"
        )),
        // An unknown pin pins nothing; `packtrain check` says so.
        None => None,
    }
}

/// Whether a trail may run on devices of this platform, with the driver that was given.
pub(crate) fn may_be(trail: &Trail, platform: Platform, given: Option<&str>) -> bool {
    let driven = given
        .and_then(find)
        .is_none_or(|(_, on)| on == Some(platform));
    driven && declares_platform(trail, platform)
}

/// Whether a trail declares devices of this device's platform, or none at all.
pub(crate) fn declares(trail: &Trail, device: &DeviceInfo) -> bool {
    declares_platform(trail, device.id.platform())
}

fn declares_platform(trail: &Trail, platform: Platform) -> bool {
    let platform = platform.as_str();
    let mut declared = trail
        .config
        .devices
        .iter()
        .filter_map(|entry| entry.classifier.as_deref())
        .peekable();
    declared.peek().is_none()
        || declared.any(|classifier| classifier.split('-').next() == Some(platform))
}

/// Which of `drivers` was meant, or which there are.
fn advice<'a>(
    name: &str,
    drivers: impl Iterator<Item = &'a (&'a str, Option<Platform>)>,
) -> String {
    let names: Vec<&str> = drivers.map(|(name, _)| *name).collect();
    let meant = did_you_mean(&normal(name), names.iter().copied());
    meant.unwrap_or_else(|| format!("available: {}", names.join(", ")))
}

fn find(name: &str) -> Option<(&'static str, Option<Platform>)> {
    let wanted = normal(name);
    DRIVERS.iter().find(|(known, _)| *known == wanted).copied()
}

fn normal(name: &str) -> String {
    name.replace('-', "_").to_uppercase()
}

/// Why a session is not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skip {
    /// The text that people see.
    pub reason: String,
    /// Who does not want it.
    pub by: SkippedBy,
}

/// Who does not want a session to be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkippedBy {
    /// The trail, for this device.
    Trail,
    /// No one; the driver it is pinned to is not here.
    Pin,
}

/// Why a trail is not run on a device, if it is not.
pub(crate) fn skip(trail: &Trail, device: &DeviceInfo, driver: Option<&str>) -> Option<Skip> {
    let lineage = lineage(&device.classifiers);
    let told = |by, reason| Skip { reason, by };
    let wish = trail.config.skip_for(&lineage).map(str::to_owned);
    wish.map(|reason| told(SkippedBy::Trail, reason))
        .or_else(|| {
            let mismatch = mismatch(trail, device, &lineage, driver);
            mismatch.map(|reason| told(SkippedBy::Pin, reason))
        })
}
