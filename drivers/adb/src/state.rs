//! In what state the adb server sees a device, and what a person can do about it.

use std::fmt;

use serde::Serialize;

/// A device's state, by adb's own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub enum DeviceState {
    /// Ready.
    Device,
    /// Listed, but it does not answer.
    Offline,
    /// The user has not accepted this computer's key.
    Unauthorized,
    /// The key is being checked.
    Authorizing,
    /// The connection is being made.
    Connecting,
    /// The USB device may not be opened.
    NoPermissions,
    /// It runs the recovery system.
    Recovery,
    /// It waits for an update.
    Sideload,
    /// It runs the rescue system.
    Rescue,
    /// It waits in its boot loader.
    Bootloader,
    /// The server does not know it, or no longer.
    Absent,
    /// A word this version does not know.
    Other(String),
}

impl DeviceState {
    const WORDS: [(&'static str, Self); 11] = [
        ("device", Self::Device),
        ("offline", Self::Offline),
        ("unauthorized", Self::Unauthorized),
        ("authorizing", Self::Authorizing),
        ("connecting", Self::Connecting),
        ("no permissions", Self::NoPermissions),
        ("recovery", Self::Recovery),
        ("sideload", Self::Sideload),
        ("rescue", Self::Rescue),
        ("bootloader", Self::Bootloader),
        ("not found", Self::Absent),
    ];

    /// The state of that name.
    pub fn named(word: &str) -> Self {
        let known = Self::WORDS.into_iter().find(|(name, _)| *name == word);
        known.map_or_else(|| Self::Other(word.to_owned()), |(_, state)| state)
    }

    /// The state behind a refusal of the server: `device 'X' not found`, `device offline` ...
    /// `None` when the refusal is about something else.
    pub(crate) fn in_refusal(text: &str) -> Option<Self> {
        let phrases = [
            ("device offline", Self::Offline),
            ("device unauthorized", Self::Unauthorized),
            ("device still authorizing", Self::Authorizing),
            ("device still connecting", Self::Connecting),
            ("no devices/emulators found", Self::Absent),
            ("no device with transport id", Self::Absent),
            ("no permissions", Self::NoPermissions),
            ("insufficient permissions", Self::NoPermissions),
        ];
        let known = phrases
            .into_iter()
            .find(|(phrase, _)| text.contains(phrase));
        let is_missing = text.starts_with("device '") && text.ends_with("' not found");
        known
            .map(|(_, state)| state)
            .or(is_missing.then_some(Self::Absent))
    }

    /// adb's word for it.
    pub fn as_str(&self) -> &str {
        if let Self::Other(word) = self {
            return word;
        }
        let known = Self::WORDS.iter().find(|(_, state)| state == self);
        known.map_or("unknown", |(name, _)| name)
    }

    /// Whether the device can be driven.
    pub const fn is_ready(&self) -> bool {
        matches!(self, Self::Device)
    }

    /// Whether it may become ready without anyone's help.
    pub(crate) const fn may_pass(&self) -> bool {
        match self {
            Self::Offline
            | Self::Authorizing
            | Self::Connecting
            | Self::Absent
            | Self::Bootloader
            | Self::Recovery => true,
            Self::Device
            | Self::Unauthorized
            | Self::NoPermissions
            | Self::Sideload
            | Self::Rescue
            | Self::Other(_) => false,
        }
    }

    /// What a person can do to make the device usable; `None` when it is.
    pub const fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Device => return None,
            Self::Offline => {
                "it may be rebooting; if it stays offline, unplug it or `adb reconnect offline`"
            }
            Self::Unauthorized => {
                "unlock the device and accept this computer's key; if no dialog shows, revoke USB \
                 debugging authorizations in its developer options and plug it in again"
            }
            Self::Authorizing | Self::Connecting => "try again in a moment",
            Self::NoPermissions => {
                "add udev rules for it and join the group plugdev, then `adb kill-server` and \
                 plug it in again"
            }
            Self::Recovery | Self::Sideload | Self::Rescue | Self::Bootloader => {
                "it is not running Android; `adb reboot` or choose reboot on its screen"
            }
            Self::Absent => {
                "check its cable or `packtrain devices connect` it again; `packtrain devices` shows what is there"
            }
            Self::Other(_) => "`adb devices -l` shows its state",
        })
    }
}

impl fmt::Display for DeviceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<DeviceState> for String {
    fn from(state: DeviceState) -> Self {
        state.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_leads_to_its_state_and_back() {
        for (word, state) in DeviceState::WORDS {
            assert_eq!(DeviceState::named(word), state);
            assert_eq!(state.as_str(), word);
            assert_eq!(state.hint().is_none(), state.is_ready(), "{word}");
        }
        assert_eq!(DeviceState::named("hibernating").as_str(), "hibernating");
    }

    #[test]
    fn a_refusal_tells_the_state_it_is_about() {
        let cases = [
            ("device offline", Some(DeviceState::Offline)),
            (
                "device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set",
                Some(DeviceState::Unauthorized),
            ),
            ("device 'R3CN' not found", Some(DeviceState::Absent)),
            ("closed", None),
            ("unknown host service", None),
        ];
        for (text, state) in cases {
            assert_eq!(DeviceState::in_refusal(text), state, "{text}");
        }
    }
}
