//! What `simctl list -j` prints.

use std::collections::BTreeMap;

use serde::Deserialize;

/// What every iOS runtime's name begins with.
const RUNTIME: &str = "com.apple.CoreSimulator.SimRuntime.iOS-";

/// A simulated iPhone or iPad.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Simulator {
    pub(crate) udid: String,
    /// What people call it: `iPhone 15 Pro`.
    pub(crate) name: String,
    /// `17.5`.
    pub(crate) version: String,
    pub(crate) booted: bool,
    pub(crate) tablet: bool,
}

#[derive(Deserialize)]
struct List {
    devices: BTreeMap<String, Vec<Device>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Device {
    udid: String,
    name: String,
    #[serde(default)]
    state: String,
    #[serde(default = "available")]
    is_available: bool,
    #[serde(default)]
    device_type_identifier: String,
}

const fn available() -> bool {
    true
}

/// The simulators of a list, oldest runtime first.
pub(super) fn read(json: &[u8]) -> Result<Vec<Simulator>, String> {
    let list: List = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    let of_runtime = |(runtime, devices): (String, Vec<Device>)| {
        let version = runtime.strip_prefix(RUNTIME)?.replace('-', ".");
        let usable = devices.into_iter().filter(|device| device.is_available);
        let simulators = usable.map(move |device| Simulator {
            tablet: device.device_type_identifier.contains("iPad")
                || device.name.starts_with("iPad"),
            booted: device.state == "Booted",
            version: version.clone(),
            udid: device.udid,
            name: device.name,
        });
        Some(simulators.collect::<Vec<_>>())
    };
    let all = list.devices.into_iter().filter_map(of_runtime);
    Ok(all.flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iphones_and_ipads_are_told_from_watches_and_from_what_is_not_there() {
        let json = br#"{"devices": {
            "com.apple.CoreSimulator.SimRuntime.iOS-17-5": [
                {"udid": "A", "name": "iPhone 15", "state": "Booted", "isAvailable": true,
                 "deviceTypeIdentifier": "com.apple.CoreSimulator.SimDeviceType.iPhone-15"},
                {"udid": "B", "name": "Kitchen", "state": "Shutdown", "isAvailable": true,
                 "deviceTypeIdentifier": "com.apple.CoreSimulator.SimDeviceType.iPad-mini"},
                {"udid": "C", "name": "iPhone 8", "state": "Shutdown", "isAvailable": false}
            ],
            "com.apple.CoreSimulator.SimRuntime.watchOS-10-5": [{"udid": "D", "name": "Watch"}]
        }, "runtimes": [], "pairs": {}}"#;
        let listed = read(json).unwrap();
        let facts = |s: &Simulator| (s.udid.clone(), s.version.clone(), s.booted, s.tablet);
        let listed: Vec<_> = listed.iter().map(facts).collect();
        let wanted =
            |udid: &str, booted, tablet| (udid.to_owned(), "17.5".to_owned(), booted, tablet);
        assert_eq!(listed, [wanted("A", true, false), wanted("B", false, true)]);
        assert!(read(b"xcrun: error: unable to find utility").is_err());
    }
}
