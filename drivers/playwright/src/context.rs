//! What a browser context is opened with. Pure.

use playwright_rs::DeviceDescriptor;
use playwright_rs::protocol::{BrowserContextOptions, Geolocation, Viewport};

use crate::slot::{ColorScheme, ReducedMotion, WebSlot};

/// The options of a slot, on top of the device that it emulates.
pub(crate) fn context_options(
    slot: &WebSlot,
    emulated: Option<&DeviceDescriptor>,
    base_url: Option<&String>,
) -> BrowserContextOptions {
    let viewport = |width, height| Viewport { width, height };
    let mut options = BrowserContextOptions::default();
    options.viewport = Some(viewport(1280, 720));
    if let Some(device) = emulated {
        options.viewport = Some(viewport(device.viewport.width, device.viewport.height));
        options.screen = device
            .screen
            .as_ref()
            .map(|screen| viewport(screen.width, screen.height));
        options.user_agent = Some(device.user_agent.clone());
        options.device_scale_factor = Some(device.device_scale_factor);
        options.is_mobile = Some(device.is_mobile);
        options.has_touch = Some(device.has_touch);
    }
    if let Some((width, height)) = slot.viewport {
        options.viewport = Some(viewport(width, height));
        options.screen = None;
    }
    if let Some(factor) = slot.device_scale_factor {
        options.device_scale_factor = Some(factor);
    }
    if let Some(touch) = slot.touch {
        options.has_touch = Some(touch);
    }
    if let Some(agent) = &slot.user_agent {
        options.user_agent = Some(agent.clone());
    }
    options.locale.clone_from(&slot.locale);
    options.timezone_id.clone_from(&slot.timezone);
    options.color_scheme = slot.color_scheme.map(|scheme| {
        match scheme {
            ColorScheme::Light => "light",
            ColorScheme::Dark => "dark",
        }
        .to_owned()
    });
    options.reduced_motion = slot.reduced_motion.map(|motion| {
        match motion {
            ReducedMotion::Reduce => "reduce",
            ReducedMotion::NoPreference => "no-preference",
        }
        .to_owned()
    });
    options.geolocation = slot.geolocation.map(|place| Geolocation {
        latitude: place.latitude,
        longitude: place.longitude,
        accuracy: place.accuracy,
    });
    if !slot.permissions.is_empty() {
        options.permissions = Some(slot.permissions.clone());
    }
    if slot.offline {
        options.offline = Some(true);
    }
    if !slot.extra_headers.is_empty() {
        options.extra_http_headers = Some(slot.extra_headers.clone().into_iter().collect());
    }
    options.storage_state_path = slot
        .storage_state
        .as_ref()
        .map(|path| path.display().to_string());
    options.base_url = base_url.cloned();
    options
}
