//! lockdownd: the iPhone's front door, on device port 62078. It tells what the device is, pairs
//! with hosts, and starts the list of apps.
//!
//! Wire: <https://github.com/libimobiledevice/libimobiledevice> (`src/lockdown.c`). Answers are in
//! the form iOS 5 and later give them: no `Result`, an `Error` when something failed. Started is
//! the list of apps; every other service is `InvalidService`. This module does not know what apps
//! do.

pub(crate) mod channel;
mod conversation;
mod identity;
mod pairing;
mod service;
mod values;

use std::sync::Arc;

use parking_lot::Mutex;

pub use self::identity::Identity;
use self::pairing::Pairings;
use self::service::Ports;
pub use self::service::{InstalledApp, Inventory, Origin};
use crate::usbmux::{DevicePort, Service, SystemBuid, Udid};

/// The port of lockdownd on every device.
pub const PORT: DevicePort = DevicePort(62_078);

/// What lockdownd can be told to answer instead of doing what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The phone is locked with a passcode nobody has typed since it booted.
    PasswordProtected,
    /// The phone does not know this host, or no longer.
    InvalidHostId,
}

impl Refusal {
    /// The word in `Error`.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::PasswordProtected => "PasswordProtected",
            Self::InvalidHostId => "InvalidHostID",
        }
    }

    /// Whether it is the answer to a request of that name.
    fn answers(self, request: &str) -> bool {
        match self {
            Self::PasswordProtected => ["Pair", "ValidatePair", "StartSession"].contains(&request),
            Self::InvalidHostId => ["ValidatePair", "StartSession"].contains(&request),
        }
    }
}

/// What one phone tells about itself. What lockdownd is asked beside these follows from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The unique identifier.
    pub udid: Udid,
    /// What its owner calls it: `Anna's iPhone`.
    pub name: String,
    /// Apple's name for the model: `iPhone14,5`.
    pub product_type: String,
    /// Version of iOS: `16.7.8`.
    pub product_version: String,
    /// Width and height of the screen in pixels, upright.
    pub screen_pixels: (u32, u32),
    /// Pixels per point.
    pub screen_scale: u32,
    /// The phone's number in its fleet, from which serial number and addresses are made.
    pub ordinal: u32,
    /// Its Wi-Fi address: `a4:83:e7:00:00:01`.
    pub wifi_address: String,
}

/// The lockdownd of one device.
#[derive(Clone)]
pub struct Lockdown {
    inner: Arc<Inner>,
}

struct Inner {
    facts: Facts,
    identity: Arc<Identity>,
    inventory: Arc<dyn Inventory>,
    pairings: Pairings,
    ports: Ports,
    /// The name that a host gave it.
    renamed: Mutex<Option<String>>,
}

impl Lockdown {
    /// A lockdownd that no host has paired with.
    pub fn new(facts: Facts, identity: Arc<Identity>, inventory: Arc<dyn Inventory>) -> Self {
        Self {
            inner: Arc::new(Inner {
                facts,
                identity,
                inventory,
                pairings: Pairings::default(),
                ports: Ports::default(),
                renamed: Mutex::default(),
            }),
        }
    }

    /// Pairs with the host `buid` as if someone had tapped "Trust", and answers the record that
    /// host keeps.
    pub fn pair_with(&self, udid: &Udid, buid: &SystemBuid) -> Vec<u8> {
        let identity = &self.inner.identity;
        self.inner
            .pairings
            .add(identity.host_id(), identity.own_pairing());
        identity.pair_record(udid, buid, &self.inner.facts.wifi_address)
    }

    /// What answers on `port`: lockdownd itself, which may refuse what it is asked there, or a
    /// service it started.
    pub fn open(&self, port: DevicePort, refusal: Option<Refusal>) -> Option<Service> {
        let inner = self.inner.clone();
        if port == PORT {
            return Some(Box::new(move |stream| {
                Box::pin(conversation::serve(inner, refusal, stream))
            }));
        }
        let host = inner.ports.take(port)?;
        Some(Box::new(move |stream| {
            Box::pin(service::serve(inner, host, stream))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Inventory for Nothing {
        fn battery_percent(&self) -> u8 {
            42
        }

        fn apps(&self) -> Vec<InstalledApp> {
            Vec::new()
        }

        fn uninstall(&self, _: &str) -> bool {
            false
        }

        fn note_unhandled(&self, _: &str) {}
    }

    /// A phone without apps.
    pub(super) fn lockdown() -> Lockdown {
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
        Lockdown::new(facts, Arc::new(Identity::new()), Arc::new(Nothing))
    }
}
