//! `GetValue`: what clients ask a phone about itself, by domain and key; and `SetValue`, what hosts
//! have changed of it. Only what nothing else on the phone depends on can be changed.

use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use super::Lockdown;
use crate::plist::{self, Dictionary, Value, dictionary};

/// What is the same on every phone: values by domain, those that a stranger sees, what
/// is told of every app, and what services answer.
static RECORDED: LazyLock<Dictionary> = LazyLock::new(|| {
    plist::read_dictionary(include_bytes!("recorded.plist")).expect("the tests have read it")
});

/// A dictionary of what is the same on every phone.
pub(super) fn recorded(path: [&str; 2]) -> Dictionary {
    let [first, second] = path;
    let inner = RECORDED.get(first).and_then(Value::as_dictionary);
    let inner = inner.and_then(|all| all.get(second)?.as_dictionary());
    inner.cloned().unwrap_or_default()
}

/// How much a client may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visibility {
    /// Before a session: enough to list the phone and to pair with it.
    Public,
    /// In a session.
    Everything,
}

/// The longest name a phone takes, in bytes.
const MAX_NAME: usize = 255;

/// Sets a value; `false` when it cannot be set, or not to this.
pub(super) fn set(phone: &Lockdown, domain: Option<&str>, key: &str, value: &Value) -> bool {
    let takes = match (domain, key) {
        (None, "DeviceName") => {
            let name = value.as_string().map_or(0, str::len);
            (1..=MAX_NAME).contains(&name)
        }
        (None, "Uses24HourClock")
        | (Some("com.apple.mobile.wireless_lockdown"), "EnableWifiConnections") => {
            value.as_boolean().is_some()
        }
        _ => false,
    };
    if takes {
        let place = (domain.map(str::to_owned), key.to_owned());
        phone.written.lock().insert(place, value.clone());
    }
    takes
}

/// Looks a value up; without a key the whole domain. `None` is lockdownd's `MissingValue`.
pub(super) fn get(
    phone: &Lockdown,
    visibility: Visibility,
    domain: Option<&str>,
    key: Option<&str>,
) -> Option<Value> {
    let mut values = match (domain, visibility) {
        // A phone answers a domain it does not know with an empty one.
        (Some(_), Visibility::Public) => Dictionary::new(),
        _ => recorded(["domains", domain.unwrap_or_default()]),
    };
    if domain.is_none() || visibility == Visibility::Everything {
        values.extend(own(phone, domain));
        let written = phone.written.lock();
        let here = (written.iter()).filter(|((of, _), _)| of.as_deref() == domain);
        values.extend(here.map(|((_, key), value)| (key.clone(), value.clone())));
    }
    if (domain, visibility) == (None, Visibility::Public) {
        let public = RECORDED.get("public").and_then(Value::as_array);
        values.retain(|key, _| {
            let mut public = public.into_iter().flatten();
            public.any(|known| known.as_string() == Some(key))
        });
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

/// What is this phone's own.
fn own(phone: &Lockdown, domain: Option<&str>) -> Dictionary {
    let shape = phone.device.shape();
    let percent = phone.device.battery();
    match domain {
        Some("com.apple.mobile.battery") => dictionary([
            ("BatteryCurrentCapacity", Value::from(percent)),
            ("FullyCharged", (percent == 100).into()),
        ]),
        Some("com.apple.mobile.iTunes") => dictionary([
            ("ScreenHeight", Value::from(shape.screen.height_px)),
            ("ScreenScaleFactor", Value::from(shape.screen.scale as u32)),
            ("ScreenWidth", Value::from(shape.screen.width_px)),
        ]),
        Some(_) => Dictionary::new(),
        None => {
            let (model, platform, chip) = hardware(shape.product);
            let (wifi, ordinal) = (phone.address("a4:83:e7"), phone.ordinal());
            // The number printed on the box, and the one the chip was born with.
            let serial = format!("VPKT{:08}", ordinal % 100_000_000);
            let born = Value::from(0x000a_1b2c_0000_0000 + u64::from(ordinal));
            let now = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            let text = |text: &str| Value::from(text);
            dictionary([
                ("BluetoothAddress", phone.address("a4:83:e8").into()),
                ("CertID", Value::from(chip)),
                ("ChipID", Value::from(chip)),
                ("DeviceName", format!("{} {ordinal}", shape.model).into()),
                ("DieID", born.clone()),
                ("EthernetAddress", text(&wifi)),
                ("HardwareModel", model.into()),
                ("HardwarePlatform", platform.into()),
                ("HumanReadableProductVersionString", text(shape.os_version)),
                ("MLBSerialNumber", format!("{serial}MLB").into()),
                ("ProductType", text(shape.product)),
                ("ProductVersion", text(shape.os_version)),
                ("SerialNumber", serial.into()),
                ("TimeIntervalSince1970", Value::Real(now.as_secs_f64())),
                ("UniqueChipID", born),
                ("UniqueDeviceID", phone.udid.as_str().into()),
                ("WiFiAddress", text(&wifi)),
            ])
        }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::lockdown::tests::lockdown;

    fn phone() -> Arc<Lockdown> {
        lockdown()
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
        let set = |domain, value: Value| set(&phone, domain, "DeviceName", &value);
        assert!(!set(None, true.into()), "a name is text");
        assert!(!set(Some("a domain"), "Desk".into()));
        assert!(set(None, "Desk".into()));
        let name = || get(&phone, Visibility::Public, None, Some("DeviceName"));
        assert_eq!(name(), Some("Desk".into()));
        let (wifi, on) = (
            "com.apple.mobile.wireless_lockdown",
            "EnableWifiConnections",
        );
        assert!(super::set(&phone, Some(wifi), on, &true.into()));
        let told = get(&phone, Visibility::Everything, Some(wifi), Some(on));
        assert_eq!(told, Some(true.into()));
    }

    #[test]
    fn the_battery_is_told_as_it_is() {
        let battery = "com.apple.mobile.battery";
        let told = |key| get(&phone(), Visibility::Everything, Some(battery), Some(key));
        assert_eq!(told("BatteryCurrentCapacity"), Some(Value::from(42_u64)));
        assert_eq!(told("FullyCharged"), Some(false.into()));
    }
}
