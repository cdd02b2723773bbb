//! lockdownd: the iPhone's front door, on device port 62078. It tells what the device is, pairs
//! with hosts, and starts the other services.
//!
//! Wire: <https://github.com/libimobiledevice/libimobiledevice> (`src/lockdown.c`). Answers are in
//! the form iOS 5 and later give them: no `Result`, an `Error` when something failed. Started are
//! the services that clients ask a phone without a developer disk image for; every other one is
//! `InvalidService`.

pub(crate) mod channel;
mod conversation;
mod pairing;
mod service;
mod values;

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use self::pairing::{Pairing, Pairings};
use self::service::Ports;
use crate::device::Device;
use crate::plist;
use crate::usbmux::{DevicePort, Service, SystemBuid, Udid};

/// The port of lockdownd on every device.
pub const PORT: DevicePort = DevicePort(62_078);

/// What lockdownd can be told to answer instead of doing what was asked: the word in `Error`, and
/// to which requests it is the answer.
#[derive(Debug, Clone, Copy)]
pub struct Refusal(&'static str, &'static [&'static str]);

impl Refusal {
    /// The phone is locked with a passcode nobody has typed since it booted.
    pub const PASSWORD_PROTECTED: Self = Self(
        "PasswordProtected",
        &["Pair", "ValidatePair", "StartSession"],
    );
    /// The phone does not know this host, or no longer.
    pub const INVALID_HOST_ID: Self = Self("InvalidHostID", &["ValidatePair", "StartSession"]);
}

/// The lockdownd of one device.
pub struct Lockdown {
    udid: Udid,
    device: Arc<Device>,
    pairings: Pairings,
    ports: Ports,
    /// What hosts have set, by domain and key.
    written: Mutex<BTreeMap<(Option<String>, String), plist::Value>>,
}

impl Lockdown {
    /// A lockdownd that no host has paired with.
    pub fn new(udid: Udid, device: Arc<Device>) -> Arc<Self> {
        Arc::new(Self {
            udid,
            device,
            pairings: Pairings::default(),
            ports: Ports::default(),
            written: Mutex::default(),
        })
    }

    /// Pairs with the host `buid` as if someone had tapped "Trust", and answers the record that
    /// host keeps.
    pub fn pair_with(&self, buid: &SystemBuid) -> Vec<u8> {
        let mut record = values::recorded(["pairing", ""]);
        if let Some((host, pairing)) = Pairing::read(&record) {
            self.pairings.add(host, pairing);
        }
        record.extend(plist::dictionary([
            ("SystemBUID", buid.0.as_str().into()),
            ("UDID", self.udid.as_str().into()),
            ("WiFiMACAddress", self.address("a4:83:e7").into()),
        ]));
        plist::write_xml(record)
    }

    /// What answers on `port`: lockdownd itself, which may refuse what it is asked there, or a
    /// service it started.
    pub fn open(self: &Arc<Self>, port: DevicePort, refusal: Option<Refusal>) -> Option<Service> {
        let phone = self.clone();
        if port == PORT {
            return Some(Box::new(move |stream| {
                Box::pin(conversation::serve(phone, refusal, stream))
            }));
        }
        let started = phone.ports.take(port)?;
        Some(Box::new(move |stream| {
            Box::pin(service::serve(phone, started, stream))
        }))
    }

    /// The phone's number in its fleet, from which serial number and addresses are made.
    fn ordinal(&self) -> u32 {
        self.device.ordinal()
    }

    /// A hardware address of the phone, which begins so.
    fn address(&self, maker: &str) -> String {
        let [_, a, b, c] = self.ordinal().to_be_bytes();
        format!("{maker}:{a:02x}:{b:02x}:{c:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::DeviceOptions;
    use crate::faults::Faults;
    use crate::latency::Latency;
    use crate::paint::{PaintLimits, Painter};
    use crate::shape;
    use crate::world::Catalog;

    /// A phone with the system's apps only.
    pub(super) fn lockdown() -> Arc<Lockdown> {
        let serial = "00008110-000A1B2C00000001".to_owned();
        let device = Device::new(DeviceOptions {
            serial: serial.clone(),
            index: 0,
            count: 1,
            shape: shape::models(shape::Platform::Ios).nth(1).unwrap(),
            catalog: Arc::new(Catalog::new([]).unwrap()),
            latency: Arc::new(Latency::fast()),
            faults: Arc::new(Faults::default()),
            seed: 0,
            painter: Arc::new(Painter::new(PaintLimits::default())),
            arrivals: None,
        });
        device.set_battery(42);
        Lockdown::new(Udid(serial), Arc::new(device))
    }
}
