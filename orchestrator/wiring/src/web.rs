//! Web devices from configuration.

use packtrain_config as config;
use packtrain_driver_playwright::{
    ColorScheme, DialogAnswer, Engine, Geolocation, Isolation, ReducedMotion, WebSlot, install,
};

/// Where Playwright and browsers are looked for.
pub fn search_paths(config: &config::Config) -> install::SearchPaths {
    let mut search = install::SearchPaths::from_environment(|name| std::env::var_os(name));
    let configured = &config.playwright;
    // A bare name is looked for on the search path, like everything else.
    if configured.node.components().count() > 1 {
        search.node = Some(configured.node.clone());
    }
    if let Some(cli) = &configured.cli {
        search.cli = Some(cli.clone());
    }
    search
}

/// The devices that the playwright-core of this computer can emulate; none when that is not there.
pub fn emulated(config: &config::Config) -> Vec<String> {
    let found = install::find(&search_paths(config));
    found
        .cli
        .map_or_else(Vec::new, |cli| install::emulated_devices(&cli))
}

/// Why no browser can be driven here, and what to do about it.
pub struct NoWeb {
    /// What is lacking.
    pub why: &'static str,
    /// What to do about it.
    pub remedy: String,
    /// Whether installing playwright-core is the remedy.
    pub is_fixable: bool,
}

/// What web devices lack on this computer; `None` when nothing.
pub fn lacking(config: &config::Config) -> Option<NoWeb> {
    let search = search_paths(config);
    let found = install::find(&search);
    if found.browser.is_none() {
        Some(NoWeb {
            why: "no browser was found",
            remedy: install::browser_remedy(&search),
            is_fixable: false,
        })
    } else if found.node.is_none() {
        Some(NoWeb {
            why: "Node, which drives browsers, was not found",
            remedy: "install Node 20 or later with the system's package manager".to_owned(),
            is_fixable: false,
        })
    } else if found.cli.is_none() {
        Some(NoWeb {
            why: "playwright-core, which drives browsers, is not installed",
            remedy: "`packtrain doctor --fix` installs it".to_owned(),
            is_fixable: true,
        })
    } else {
        None
    }
}

/// A slot with nothing but a name.
pub(crate) fn named(slot: &str) -> WebSlot {
    WebSlot {
        name: slot.to_owned(),
        ..WebSlot::default()
    }
}

/// A slot as configured.
pub(crate) fn web_slot(
    name: &str,
    slot: &config::WebSlot,
    search: &install::SearchPaths,
) -> WebSlot {
    WebSlot {
        name: name.to_owned(),
        engine: match slot.engine {
            config::Engine::Chromium => Engine::Chromium,
            config::Engine::Firefox => Engine::Firefox,
        },
        viewport: slot
            .viewport
            .map(|viewport| (viewport.width, viewport.height)),
        emulate: slot.emulate.clone(),
        device_scale_factor: slot.device_scale_factor,
        touch: slot.touch,
        locale: slot.locale.clone(),
        timezone: slot.timezone.clone(),
        color_scheme: slot.color_scheme.and_then(|scheme| match scheme {
            config::ColorScheme::Light => Some(ColorScheme::Light),
            config::ColorScheme::Dark => Some(ColorScheme::Dark),
            config::ColorScheme::NoPreference => None,
        }),
        reduced_motion: slot.reduced_motion.map(|motion| match motion {
            config::ReducedMotion::Reduce => ReducedMotion::Reduce,
            config::ReducedMotion::NoPreference => ReducedMotion::NoPreference,
        }),
        user_agent: slot.user_agent.clone(),
        geolocation: slot.geolocation.map(|place| Geolocation {
            latitude: place.latitude,
            longitude: place.longitude,
            accuracy: place.accuracy,
        }),
        permissions: slot.permissions.clone(),
        offline: slot.offline,
        storage_state: slot.storage_state.clone(),
        extra_headers: slot.extra_headers.clone(),
        dialogs: match slot.dialogs {
            config::DialogAnswer::Dismiss => DialogAnswer::Dismiss,
            config::DialogAnswer::Accept => DialogAnswer::Accept,
        },
        base_url: slot.base_url.clone(),
        headed: !slot.headless,
        executable: slot.executable.as_deref().map(|it| search.program(it)),
        args: slot.args.clone(),
        firefox_preferences: std::collections::BTreeMap::new(),
        isolation: match slot.isolation {
            config::Isolation::Shared => Isolation::Shared,
            config::Isolation::Process => Isolation::Process,
        },
        classifiers: slot.classifiers.clone(),
    }
}
