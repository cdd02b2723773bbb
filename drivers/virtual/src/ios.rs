//! Virtual iPhones: each a [`crate::device::Device`] with lockdownd and WebDriverAgent, all of
//! them plugged into one usbmuxd.
//!
//! Clients that come through usbmuxd find every phone behind one socket; those that speak to
//! WebDriverAgent directly find each at a TCP address of its own, as a simulator's.

mod phone;
mod port;

pub use self::phone::Iphone;
pub use crate::usbmux::Udid;

/// The udid of the phone number `index` of a fleet, as phones of the last years have them: chip
/// and serial number of the chip.
pub fn udid(index: usize) -> Udid {
    Udid(format!(
        "00008110-{:016X}",
        0x000a_1b2c_0000_0000 + index as u64 + 1
    ))
}
