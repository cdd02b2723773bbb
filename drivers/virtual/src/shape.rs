//! The bodies of the devices: screen, scale and what they call themselves.

use std::sync::LazyLock;

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
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Shape {
    /// Which platform it runs.
    pub platform: Platform,
    /// What people call it: `Pixel 9`.
    pub model: &'static str,
    /// What the system calls it: `tokay`, `iPhone15,4`.
    pub product: &'static str,
    /// Who makes it.
    pub maker: &'static str,
    /// Its panel.
    pub screen: ScreenMetrics,
    /// Height of the status bar.
    pub status_bar: f64,
    /// Height of the navigation bar or home indicator.
    pub bottom_bar: f64,
    /// Version of the system: `15`, `16.7.8`.
    pub os_version: &'static str,
    /// Android API level; 0 on iOS.
    pub api_level: u32,
}

/// A screen upright.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct ScreenMetrics {
    /// Width in pixels.
    pub width_px: u32,
    /// Height in pixels.
    pub height_px: u32,
    /// Pixels per dp or pt.
    pub scale: f64,
}

impl ScreenMetrics {
    /// Dots per inch as Android counts them.
    pub fn density(&self) -> u32 {
        // Whole numbers of dpi; rounding only undoes the division by 160.
        (self.scale * 160.0).round() as u32
    }

    /// Width in dp or pt.
    pub fn width(&self) -> f64 {
        f64::from(self.width_px) / self.scale
    }

    /// Height in dp or pt.
    pub fn height(&self) -> f64 {
        f64::from(self.height_px) / self.scale
    }
}

/// The models of a platform in a fleet, used in turn. All iPhones report iOS 16, because clients
/// demand a RemoteXPC tunnel from 17 on.
pub fn models(platform: Platform) -> impl Iterator<Item = &'static Shape> + Clone {
    static MODELS: LazyLock<Vec<Shape>> = LazyLock::new(|| {
        serde_json::from_str(include_str!("shapes.json")).expect("the tests have read it")
    });
    MODELS
        .iter()
        .filter(move |shape| shape.platform == platform)
}
