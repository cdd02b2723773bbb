//! The adb server's list of devices.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::state::DeviceState;

/// A device that the adb server lists, or that was named, usable or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AdbDevice {
    /// How adb names it: a serial number, `host:port`, `emulator-5554`.
    pub serial: String,
    /// Whether it can be used.
    pub state: DeviceState,
    /// Its model, when the server knows it: `Pixel_9`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why it cannot be used, when it cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What a person can do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The server's number for it, a new one each time it comes.
    #[serde(skip)]
    transport: Option<String>,
}

impl AdbDevice {
    /// A device in a state that explains itself.
    pub(crate) fn new(
        serial: impl Into<String>,
        state: DeviceState,
        model: Option<String>,
    ) -> Self {
        Self {
            serial: serial.into(),
            problem: (!state.is_ready()).then(|| format!("it is {state}")),
            hint: state.hint().map(str::to_owned),
            state,
            model,
            transport: None,
        }
    }

    /// The same device, unusable for another reason.
    pub(crate) fn unusable(mut self, problem: String, hint: Option<&str>) -> Self {
        self.problem = Some(problem);
        self.hint = hint.map(str::to_owned);
        self
    }
}

/// Reads the answer to `host:devices-l`, one device a line:
/// `R3CN30  device product:p model:Pixel_9 device:d transport_id:1`.
pub(crate) fn read(text: &str) -> Vec<AdbDevice> {
    text.lines().filter_map(read_line).collect()
}

fn read_line(line: &str) -> Option<AdbDevice> {
    let (serial, rest) = line.trim().split_once(char::is_whitespace)?;
    let rest = rest.trim_start();
    // The one state of two words; reasons follow it.
    let (state, rest) = match rest.strip_prefix("no permissions") {
        Some(rest) => (DeviceState::NoPermissions, rest),
        None => {
            let (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            (DeviceState::named(word), rest)
        }
    };
    let facts: BTreeMap<&str, &str> = rest
        .split_whitespace()
        .filter_map(|word| word.split_once(':'))
        .collect();
    let model = facts.get("model").map(|model| (*model).to_owned());
    let transport = facts.get("transport_id").map(|id| (*id).to_owned());
    Some(AdbDevice {
        transport,
        ..AdbDevice::new(serial, state, model)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_line_of_the_servers_list_is_a_device() {
        let text = "\
R3CN30                 device product:tokay model:Pixel_9 device:tokay transport_id:1
127.0.0.1:6555         offline transport_id:2
ABC                    unauthorized usb:1-1 transport_id:3
DEF                    no permissions (user in plugdev group; are your udev rules wrong?); see [http://x] usb:1-2 transport_id:4
";
        let devices = read(text);
        let seen: Vec<_> = devices
            .iter()
            .map(|device| (device.serial.as_str(), &device.state))
            .collect();
        assert_eq!(
            seen,
            [
                ("R3CN30", &DeviceState::Device),
                ("127.0.0.1:6555", &DeviceState::Offline),
                ("ABC", &DeviceState::Unauthorized),
                ("DEF", &DeviceState::NoPermissions),
            ]
        );
        assert_eq!(devices[0].model.as_deref(), Some("Pixel_9"));
        assert_eq!(devices[0].problem, None);
        assert!(devices[2].hint.as_deref().unwrap().contains("accept"));
    }

    proptest! {
        #[test]
        fn no_list_makes_the_reader_panic(text in "\\PC{0,80}(\n\\PC{0,80}){0,3}") {
            let _ = read(&text);
        }
    }
}
