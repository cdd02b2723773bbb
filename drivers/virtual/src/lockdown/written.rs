//! `SetValue`: what hosts have changed on the phone. Only what nothing else on the phone depends on
//! can be changed; the rest is `SetProhibited`, as most of it is on a real one.

use std::collections::HashMap;

use parking_lot::Mutex;

use crate::plist::{Dictionary, Value};

/// The longest name a phone takes, in bytes.
const MAX_NAME: usize = 255;

/// A value that hosts may set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Setting {
    DeviceName,
    EnableWifiConnections,
    Uses24HourClock,
}

impl Setting {
    const ALL: [Self; 3] = [
        Self::DeviceName,
        Self::EnableWifiConnections,
        Self::Uses24HourClock,
    ];

    /// The setting of that domain and key.
    pub(super) fn named(domain: Option<&str>, key: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|setting| setting.place() == (domain, key))
    }

    fn place(self) -> (Option<&'static str>, &'static str) {
        match self {
            Self::DeviceName => (None, "DeviceName"),
            Self::EnableWifiConnections => (
                Some("com.apple.mobile.wireless_lockdown"),
                "EnableWifiConnections",
            ),
            Self::Uses24HourClock => (None, "Uses24HourClock"),
        }
    }

    fn takes(self, value: &Value) -> bool {
        match self {
            Self::DeviceName => value
                .as_string()
                .is_some_and(|name| !name.is_empty() && name.len() <= MAX_NAME),
            Self::EnableWifiConnections | Self::Uses24HourClock => value.as_boolean().is_some(),
        }
    }
}

/// What was set on one phone.
#[derive(Default)]
pub(super) struct Written(Mutex<HashMap<Setting, Value>>);

impl Written {
    /// Sets a value; `false` when it is of the wrong kind.
    pub(super) fn set(&self, setting: Setting, value: Value) -> bool {
        let takes = setting.takes(&value);
        if takes {
            self.0.lock().insert(setting, value);
        }
        takes
    }

    /// Puts what was set in the place of what the phone came with.
    pub(super) fn apply(&self, domain: Option<&str>, values: &mut Dictionary) {
        for (setting, value) in self.0.lock().iter() {
            let (of, key) = setting.place();
            if of == domain {
                values.insert(key.to_owned(), value.clone());
            }
        }
    }
}
