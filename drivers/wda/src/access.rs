//! What can be done with a device beside WebDriverAgent.

use crate::mux::MuxAddress;
use crate::simctl::Simctl;

/// The means there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DeviceAccess {
    /// None: only an address is known.
    Bare,
    /// A cable.
    Device { usbmuxd: MuxAddress, udid: String },
    /// A simulator on this computer.
    Simulator { simctl: Simctl, udid: String },
}

impl DeviceAccess {
    /// What such a device is called when it cannot do something.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Bare => "an iOS device behind a WebDriverAgent address",
            Self::Device { .. } => "an iOS device",
            Self::Simulator { .. } => "an iOS simulator",
        }
    }

    /// Why nothing takes text, and what helps.
    pub(crate) const fn no_focus(&self) -> &'static str {
        match self {
            Self::Bare | Self::Device { .. } => "no field has the focus; tap one first",
            Self::Simulator { .. } => {
                "no field has the focus, or the simulator shows no keyboard; tap a field first, and \
                 switch off I/O, Keyboard, Connect Hardware Keyboard in Simulator"
            }
        }
    }
}
