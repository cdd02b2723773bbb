//! The bodies of the devices: screen, scale and what they call themselves.

use serde::{Deserialize, Serialize};

/// The two kinds of virtual device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// A phone with adbd.
    Android,
    /// A phone with WebDriverAgent.
    Ios,
}

/// One model of phone. Lengths are dp or pt unless they say pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Which platform it runs.
    pub platform: Platform,
    /// What people call it: `Pixel 9`.
    pub model: &'static str,
    /// What the system calls it: `tokay`, `iPhone15,4`.
    pub product: &'static str,
    /// Who makes it.
    pub maker: &'static str,
    /// Width in pixels, upright.
    pub width_px: u32,
    /// Height in pixels, upright.
    pub height_px: u32,
    /// Pixels per dp or pt.
    pub scale: f64,
    /// Height of the status bar.
    pub status_bar: f64,
    /// Height of the navigation bar or home indicator.
    pub bottom_bar: f64,
    /// Version of the system: `15`, `16.7.8`.
    pub os_version: &'static str,
    /// Android API level; 0 on iOS.
    pub api_level: u32,
}

impl Shape {
    /// Width upright.
    pub fn width(&self) -> f64 {
        f64::from(self.width_px) / self.scale
    }

    /// Height upright.
    pub fn height(&self) -> f64 {
        f64::from(self.height_px) / self.scale
    }

    /// Dots per inch as Android counts them.
    pub fn density(&self) -> u32 {
        // Presets are whole numbers of dpi; rounding only undoes the division by 160.
        (self.scale * 160.0).round() as u32
    }
}

const fn android(
    model: &'static str,
    product: &'static str,
    maker: &'static str,
    pixels: (u32, u32),
    density: u32,
    (os_version, api_level): (&'static str, u32),
) -> Shape {
    Shape {
        platform: Platform::Android,
        model,
        product,
        maker,
        width_px: pixels.0,
        height_px: pixels.1,
        scale: density as f64 / 160.0,
        status_bar: 24.0,
        bottom_bar: 24.0,
        os_version,
        api_level,
    }
}

const fn ios(
    model: &'static str,
    product: &'static str,
    pixels: (u32, u32),
    scale: f64,
    bars: (f64, f64),
) -> Shape {
    Shape {
        platform: Platform::Ios,
        model,
        product,
        maker: "Apple",
        width_px: pixels.0,
        height_px: pixels.1,
        scale,
        status_bar: bars.0,
        bottom_bar: bars.1,
        os_version: "16.7.8",
        api_level: 0,
    }
}

/// The Android models of a fleet, used in turn.
pub const ANDROID: &[Shape] = &[
    android("Pixel 9", "tokay", "Google", (1080, 2424), 420, ("15", 35)),
    android(
        "Pixel 7",
        "panther",
        "Google",
        (1080, 2400),
        420,
        ("14", 34),
    ),
    android(
        "SM-S921B",
        "e1sxeea",
        "samsung",
        (1080, 2340),
        450,
        ("14", 34),
    ),
    android(
        "Pixel 4a",
        "sunfish",
        "Google",
        (1080, 2340),
        440,
        ("13", 33),
    ),
];

/// The iPhone models of a fleet, used in turn. All report iOS 16, because clients demand a
/// RemoteXPC tunnel from 17 on.
pub const IOS: &[Shape] = &[
    ios(
        "iPhone 14 Pro",
        "iPhone15,2",
        (1179, 2556),
        3.0,
        (59.0, 34.0),
    ),
    ios("iPhone 13", "iPhone14,5", (1170, 2532), 3.0, (47.0, 34.0)),
    ios("iPhone SE", "iPhone14,6", (750, 1334), 2.0, (20.0, 0.0)),
];
