//! `GetValue`: what clients ask a phone about itself, by domain and key.

use std::time::{SystemTime, UNIX_EPOCH};

use super::Inner;
use super::facts::Facts;
use super::identity::Identity;
use crate::plist::{Dictionary, Value, dictionary};

/// How much a client may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visibility {
    /// Before a session: enough to list the phone and to pair with it.
    Public,
    /// In a session.
    Everything,
}

/// The global values a stranger sees.
const PUBLIC: &[&str] = &[
    "BasebandStatus",
    "BuildVersion",
    "CPUArchitecture",
    "DeviceClass",
    "DeviceColor",
    "DeviceName",
    "DevicePublicKey",
    "HardwareModel",
    "HasSiDP",
    "HumanReadableProductVersionString",
    "PartitionType",
    "PasswordProtected",
    "ProductName",
    "ProductType",
    "ProductVersion",
    "ProductionSOC",
    "ProtocolVersion",
    "SupportedDeviceFamilies",
    "TelephonyCapability",
    "UniqueChipID",
    "UniqueDeviceID",
    "WiFiAddress",
];

/// Looks a value up; without a key the whole domain. `None` is lockdownd's `MissingValue`.
pub(super) fn get(
    phone: &Inner,
    visibility: Visibility,
    domain: Option<&str>,
    key: Option<&str>,
) -> Option<Value> {
    let mut values = match (domain, visibility) {
        (None, _) => global(&phone.facts, &phone.identity),
        (Some(domain), Visibility::Everything) => in_domain(phone, domain),
        (Some(_), Visibility::Public) => Dictionary::new(),
    };
    if domain.is_none() || visibility == Visibility::Everything {
        phone.written.apply(domain, &mut values);
    }
    if (domain, visibility) == (None, Visibility::Public) {
        values.retain(|key, _| PUBLIC.contains(&key.as_str()));
    }
    match key {
        None => {
            // Keys are for pairing and are told only to who asks for them by name.
            values.remove("DevicePublicKey");
            values.sort_keys();
            Some(Value::Dictionary(values))
        }
        Some(key) => values.remove(key),
    }
}

fn global(facts: &Facts, identity: &Identity) -> Dictionary {
    let (model, platform, chip) = hardware(&facts.product_type);
    let mut values = dictionary([
        ("ActivationState", "Activated".into()),
        ("ActivationStateAcknowledged", true.into()),
        ("BasebandStatus", "BBInfoAvailable".into()),
        ("BasebandVersion", "3.80.01".into()),
        ("BluetoothAddress", facts.bluetooth_address().into()),
        ("BoardId", Value::from(12_u64)),
        ("BuildVersion", facts.build_version().into()),
        ("CPUArchitecture", "arm64e".into()),
        ("CertID", Value::from(chip)),
        ("ChipID", Value::from(chip)),
        ("ChipSerialNo", Value::Data(vec![0; 4])),
        ("DeviceClass", "iPhone".into()),
        ("DeviceColor", "1".into()),
        ("DeviceName", facts.name.as_str().into()),
        ("DevicePublicKey", Value::Data(identity.device_public_key())),
        ("DieID", Value::from(facts.unique_chip_id())),
        ("EthernetAddress", facts.wifi_address.as_str().into()),
        ("FirmwareVersion", "iBoot-8422.142.2.700.1".into()),
        ("FusingStatus", Value::from(3_u64)),
        ("HardwareModel", model.into()),
        ("HardwarePlatform", platform.into()),
        ("HasSiDP", true.into()),
        ("HostAttached", true.into()),
        (
            "HumanReadableProductVersionString",
            facts.product_version.as_str().into(),
        ),
    ]);
    values.extend(dictionary([
        (
            "MLBSerialNumber",
            format!("{}MLB", facts.serial_number()).into(),
        ),
        ("ModelNumber", "MLPF3".into()),
        ("PartitionType", "GUID_partition_scheme".into()),
        ("PasswordProtected", false.into()),
        ("ProductName", "iPhone OS".into()),
        ("ProductType", facts.product_type.as_str().into()),
        ("ProductVersion", facts.product_version.as_str().into()),
        ("ProductionSOC", true.into()),
        ("ProtocolVersion", "2".into()),
        ("RegionInfo", "LL/A".into()),
        ("SIMStatus", "kCTSIMSupportSIMStatusNotInserted".into()),
        ("SerialNumber", facts.serial_number().into()),
        (
            "SupportedDeviceFamilies",
            Value::Array(vec![Value::from(1_u64)]),
        ),
        ("TelephonyCapability", true.into()),
        ("TimeIntervalSince1970", Value::Real(now())),
        ("TimeZone", "Etc/UTC".into()),
        ("TimeZoneOffsetFromUTC", Value::Real(0.0)),
        ("TrustedHostAttached", true.into()),
        ("UniqueChipID", Value::from(facts.unique_chip_id())),
        ("UniqueDeviceID", facts.udid.as_str().into()),
        ("UseRaptorCerts", true.into()),
        ("Uses24HourClock", true.into()),
        ("WiFiAddress", facts.wifi_address.as_str().into()),
    ]));
    values
}

/// A phone answers a domain it does not know with an empty one.
fn in_domain(phone: &Inner, domain: &str) -> Dictionary {
    match domain {
        "com.apple.disk_usage" | "com.apple.disk_usage.factory" => dictionary([
            ("AmountDataAvailable", Value::from(64_000_000_000_u64)),
            ("AmountDataReserved", Value::from(200_000_000_u64)),
            ("TotalDataAvailable", Value::from(80_000_000_000_u64)),
            ("TotalDataCapacity", Value::from(119_000_000_000_u64)),
            ("TotalDiskCapacity", Value::from(128_000_000_000_u64)),
            ("TotalSystemAvailable", Value::from(0_u64)),
            ("TotalSystemCapacity", Value::from(9_000_000_000_u64)),
        ]),
        "com.apple.mobile.battery" => dictionary([
            (
                "BatteryCurrentCapacity",
                Value::from(phone.inventory.battery_percent()),
            ),
            ("BatteryIsCharging", true.into()),
            ("ExternalChargeCapable", true.into()),
            ("ExternalConnected", true.into()),
            (
                "FullyCharged",
                (phone.inventory.battery_percent() == 100).into(),
            ),
            ("GasGaugeCapability", true.into()),
            ("HasBattery", true.into()),
        ]),
        "com.apple.international" => dictionary([
            ("HostKeyboard", "en".into()),
            ("Keyboard", "en_US".into()),
            ("Language", "en".into()),
            ("Locale", "en_US".into()),
            (
                "SupportedLanguages",
                Value::Array(vec!["en".into(), "de".into()]),
            ),
            (
                "SupportedLocales",
                Value::Array(vec!["en_US".into(), "de_DE".into()]),
            ),
        ]),
        "com.apple.mobile.iTunes" => dictionary([
            ("ScreenHeight", Value::from(phone.facts.screen_pixels.1)),
            ("ScreenScaleFactor", Value::from(phone.facts.screen_scale)),
            ("ScreenWidth", Value::from(phone.facts.screen_pixels.0)),
        ]),
        "com.apple.mobile.wireless_lockdown" => dictionary([
            ("EnableWifiConnections", false.into()),
            ("SupportsWifi", true.into()),
            ("SupportsWifiSyncing", true.into()),
        ]),
        "com.apple.security.mac.amfi" => dictionary([("DeveloperModeStatus", true.into())]),
        "com.apple.xcode.developerdomain" => {
            dictionary([("DeveloperStatus", "Development".into())])
        }
        "com.apple.mobile.internal" => dictionary([
            ("DevToolsAvailable", "Standard".into()),
            ("IsInternal", false.into()),
        ]),
        _ => Dictionary::new(),
    }
}

/// Board, platform and chip number of a model.
fn hardware(product_type: &str) -> (&'static str, &'static str, u64) {
    match product_type {
        "iPhone15,2" => ("D73AP", "t8120", 0x8120),
        "iPhone15,3" => ("D74AP", "t8120", 0x8120),
        "iPhone14,6" => ("D49AP", "t8110", 0x8110),
        _ => ("D17AP", "t8110", 0x8110),
    }
}

fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::lockdown::written::Setting;
    use crate::lockdown::{InstalledApp, Inventory, Lockdown};
    use crate::usbmux::Udid;

    struct Bare;

    impl Inventory for Bare {
        fn battery_percent(&self) -> u8 {
            42
        }

        fn apps(&self) -> Vec<InstalledApp> {
            Vec::new()
        }

        fn uninstall(&self, _: &str) -> bool {
            false
        }
    }

    fn phone() -> Arc<Inner> {
        let facts = Facts {
            udid: Udid("00008110-000A1B2C00000001".to_owned()),
            name: "Test".to_owned(),
            product_type: "iPhone14,5".to_owned(),
            product_version: "16.7.8".to_owned(),
            screen_pixels: (1170, 2532),
            screen_scale: 3,
            ordinal: 1,
            wifi_address: "a4:83:e7:00:00:01".to_owned(),
        };
        Lockdown::new(facts, Arc::new(Identity::new()), Arc::new(Bare)).inner
    }

    #[test]
    fn a_stranger_sees_the_model_but_not_the_serial_number() {
        let phone = phone();
        let get = |visibility, key| get(&phone, visibility, None, Some(key));
        assert_eq!(
            get(Visibility::Public, "ProductType"),
            Some("iPhone14,5".into())
        );
        assert_eq!(get(Visibility::Public, "SerialNumber"), None);
        assert_eq!(
            get(Visibility::Everything, "SerialNumber"),
            Some("VPKT00000001".into())
        );
    }

    #[test]
    fn the_public_key_is_told_only_by_name() {
        let phone = phone();
        let all = get(&phone, Visibility::Public, None, None);
        let all = all.and_then(Value::into_dictionary).unwrap();
        assert!(!all.contains_key("DevicePublicKey"));
        let key = get(&phone, Visibility::Public, None, Some("DevicePublicKey"));
        let key = key.and_then(Value::into_data).unwrap();
        assert!(key.starts_with(b"-----BEGIN RSA PUBLIC KEY-----\n"));
    }

    #[test]
    fn what_was_set_is_told_from_then_on() {
        let phone = phone();
        let setting = Setting::named(None, "DeviceName").unwrap();
        assert!(!phone.written.set(setting, true.into()), "a name is text");
        assert!(phone.written.set(setting, "Desk".into()));
        let name = || get(&phone, Visibility::Public, None, Some("DeviceName"));
        assert_eq!(name(), Some("Desk".into()));
        assert_eq!(Setting::named(Some("a domain"), "DeviceName"), None);
    }

    #[test]
    fn the_battery_is_told_as_it_is() {
        let battery = "com.apple.mobile.battery";
        let told = |key| get(&phone(), Visibility::Everything, Some(battery), Some(key));
        assert_eq!(told("BatteryCurrentCapacity"), Some(Value::from(42_u64)));
        assert_eq!(told("FullyCharged"), Some(false.into()));
    }
}
