//! The apps of a phone as lockdownd's services list them.

use std::sync::Arc;

use crate::app::AppId;
use crate::device::Device;
use crate::lockdown::{InstalledApp, Inventory, Origin};

/// Under which id the app is installed whose process is WebDriverAgent.
const RUNNER: &str = "com.facebook.WebDriverAgentRunner.xctrunner";

/// What is installed in a device's world, and the app WebDriverAgent came in.
pub(super) struct Apps(pub(super) Arc<Device>);

impl Inventory for Apps {
    fn battery_percent(&self) -> u8 {
        self.0.battery()
    }

    fn apps(&self) -> Vec<InstalledApp> {
        let mut apps: Vec<InstalledApp> = self.0.world(|world, _| {
            let installed = world.installed();
            installed
                .map(|app| InstalledApp {
                    bundle_id: app.id.to_string(),
                    name: app.name,
                    version: app.version,
                    origin: if app.system {
                        Origin::System
                    } else {
                        Origin::User
                    },
                })
                .collect()
        });
        apps.push(InstalledApp {
            bundle_id: RUNNER.to_owned(),
            name: "WebDriverAgentRunner-Runner".to_owned(),
            version: "1.0".to_owned(),
            origin: Origin::User,
        });
        apps
    }

    fn uninstall(&self, bundle_id: &str) -> bool {
        let id = AppId::from(bundle_id);
        self.0.world(|world, now| world.uninstall(&id, now))
    }

    fn note_unhandled(&self, request: &str) {
        self.0.note_unhandled(request);
    }
}
