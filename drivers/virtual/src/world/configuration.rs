//! How a device is set up: size and density of its screen, size of its text, languages of apps.

use std::collections::BTreeMap;

use crate::app::AppId;
use crate::shape::ScreenMetrics;
use crate::world::World;

/// The text sizes that apps are laid out with.
const FONT_SCALES: std::ops::RangeInclusive<f64> = 0.25..=5.0;
/// The least and the most pixels of a side, and dots per inch.
const PIXELS: std::ops::RangeInclusive<u32> = 200..=8192;
const DENSITIES: std::ops::RangeInclusive<u32> = 72..=1200;

/// What of it differs from a device as it was made.
#[derive(Debug)]
pub(super) struct Configuration {
    size: Option<(u32, u32)>,
    density: Option<u32>,
    font_scale: f64,
    locales: BTreeMap<AppId, String>,
}

impl Default for Configuration {
    fn default() -> Self {
        Self {
            size: None,
            density: None,
            font_scale: 1.0,
            locales: BTreeMap::new(),
        }
    }
}

impl Configuration {
    /// An app is gone, and with it its language.
    pub(super) fn forget(&mut self, id: &AppId) {
        self.locales.remove(id);
    }

    fn metrics(&self, panel: ScreenMetrics) -> ScreenMetrics {
        let (width_px, height_px) = self.size.unwrap_or((panel.width_px, panel.height_px));
        let scale = (self.density).map_or(panel.scale, |density| f64::from(density) / 160.0);
        ScreenMetrics {
            width_px,
            height_px,
            scale,
        }
    }
}

impl World {
    /// The screen as apps are laid out for it.
    pub fn screen(&self) -> ScreenMetrics {
        self.configuration.metrics(self.shape.screen)
    }

    /// The size that was set instead of the panel's, in pixels.
    pub const fn size_override(&self) -> Option<(u32, u32)> {
        self.configuration.size
    }

    /// Lays out for another size than the panel's; false when no screen has that.
    pub fn set_size(&mut self, size: Option<(u32, u32)>) -> bool {
        let is_size = |(width, height)| PIXELS.contains(&width) && PIXELS.contains(&height);
        if !size.is_none_or(is_size) {
            return false;
        }
        // As Android has it: the panel's own size is none that differs.
        let panel = self.shape.screen;
        let panel = (panel.width_px, panel.height_px);
        self.configuration.size = size.filter(|size| *size != panel);
        self.moved();
        true
    }

    /// The density that was set instead of the panel's, in dots per inch.
    pub const fn density_override(&self) -> Option<u32> {
        self.configuration.density
    }

    /// Lays out for another density than the panel's; false when no screen has that.
    pub fn set_density(&mut self, density: Option<u32>) -> bool {
        if !density.is_none_or(|density| DENSITIES.contains(&density)) {
            return false;
        }
        let panel = self.shape.screen.density();
        self.configuration.density = density.filter(|density| *density != panel);
        self.moved();
        true
    }

    /// How large text is, 1 being usual.
    pub const fn font_scale(&self) -> f64 {
        self.configuration.font_scale
    }

    /// Makes text larger or smaller; what is no size for text counts as 1.
    pub fn set_font_scale(&mut self, scale: f64) {
        let scale = Some(scale).filter(|scale| FONT_SCALES.contains(scale));
        self.configuration.font_scale = scale.unwrap_or(1.0);
        self.moved();
    }

    /// The language that was chosen for an app: `de-DE`.
    pub fn app_locale(&self, id: &AppId) -> Option<&str> {
        self.configuration.locales.get(id).map(String::as_str)
    }

    /// Chooses a language for an app, whether it runs or not; false when it is not there.
    pub fn set_app_locale(&mut self, id: &AppId, locale: Option<&str>) -> bool {
        if !self.installed.contains_key(id) {
            return false;
        }
        let locales = &mut self.configuration.locales;
        match locale {
            Some(locale) => locales.insert(id.clone(), locale.to_owned()),
            None => locales.remove(id),
        };
        self.set_language(id, locale.map(str::to_owned));
        true
    }

    /// Has an app that runs speak a language until it ends, as a launch argument does.
    pub fn set_language(&mut self, id: &AppId, language: Option<String>) {
        if let Some(run) = self.running.get_mut(id) {
            run.language = language;
            self.moved();
        }
    }
}
