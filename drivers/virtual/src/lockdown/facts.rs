//! What one phone tells about itself.

use crate::usbmux::Udid;

/// The facts lockdownd is asked for. Those not listed here follow from these.
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

impl Facts {
    /// The serial number printed on the box: twelve letters and digits.
    pub fn serial_number(&self) -> String {
        format!("VPKT{:08}", self.ordinal % 100_000_000)
    }

    /// Its Bluetooth address.
    pub fn bluetooth_address(&self) -> String {
        let [_, a, b, c] = self.ordinal.to_be_bytes();
        format!("a4:83:e8:{a:02x}:{b:02x}:{c:02x}")
    }

    /// The number the chip was born with.
    pub fn unique_chip_id(&self) -> u64 {
        0x000a_1b2c_0000_0000 + u64::from(self.ordinal)
    }

    /// The build of iOS.
    pub const fn build_version(&self) -> &'static str {
        "20H343"
    }
}
