//! The apps a fleet knows: those of the app file and the system's own.

use std::sync::Arc;

use crate::app::{App, AppError, AppId, Rules};
use crate::shape::Platform;

/// The package of Android's launcher.
pub const LAUNCHER: &str = "com.google.android.apps.nexuslauncher";
/// The bundle id of the iOS home screen.
pub const SPRINGBOARD: &str = "com.apple.springboard";
/// The package of Android's settings.
pub const SETTINGS: &str = "com.android.settings";
/// The package of Android's browser.
pub const CHROME: &str = "com.android.chrome";

const SYSTEM_APPS: &str = include_str!("system-apps.yaml");

/// The apps a fleet knows.
#[derive(Debug)]
pub struct Catalog {
    apps: Vec<Arc<App>>,
    /// How many at the front of `apps` are the system's.
    system: usize,
}

impl Catalog {
    /// The system's apps and these.
    ///
    /// # Errors
    /// Never for a build that passed its tests: the system's own file is read here.
    pub fn new(apps: impl IntoIterator<Item = App>) -> Result<Self, AppError> {
        let mut all: Vec<_> = (App::parse_all(SYSTEM_APPS, "system-apps.yaml")?.into_iter())
            .map(Arc::new)
            .collect();
        let system = all.len();
        all.extend(apps.into_iter().map(Arc::new));
        Ok(Self { apps: all, system })
    }

    /// The app with this id; a later one hides an earlier.
    pub fn find(&self, platform: Platform, id: &AppId) -> Option<&Arc<App>> {
        self.apps.iter().rev().find(|app| app.id(platform) == id)
    }

    /// Whether the app is the system's.
    pub fn is_system(&self, app: &Arc<App>) -> bool {
        (self.apps.iter().take(self.system)).any(|known| Arc::ptr_eq(known, app))
    }

    pub(super) fn preinstalled(&self) -> impl Iterator<Item = &Arc<App>> {
        self.apps.iter().filter(|app| app.app.preinstalled)
    }
}

/// The rules an app has for a link, and what of the link follows the prefix.
pub(super) fn link_rules<'a>(app: &'a App, url: &'a str) -> Option<(usize, &'a Rules, &'a str)> {
    (app.app.links.iter())
        .filter_map(|(prefix, rules)| Some((prefix.len(), rules, url.strip_prefix(&**prefix)?)))
        .max_by_key(|(length, ..)| *length)
}
