//! Installed packages on the side of Android: their APKs and versions. Which apps are
//! installed, the world knows.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::android::Android;
use crate::android::apk::{Manifest, placeholder};
use crate::android::blobs::Blob;
use crate::app::AppId;
use crate::faults::{Event, Fault};
use crate::world::Installed;

/// The versions of the packages that clients installed, as the system compares them.
pub type Packages = BTreeMap<String, u64>;

const NO_APK: &str =
    "INSTALL_PARSE_FAILED_NOT_APK: Failed to parse /data/app/base.apk: Failed to load asset path";
const BAD_MANIFEST: &str =
    "INSTALL_PARSE_FAILED_BAD_MANIFEST: Failed to parse /data/app/base.apk: AndroidManifest.xml";

/// How an install is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InstallMode {
    /// `-g`: all permissions at once.
    pub grants: bool,
    /// `-d`: an older version is fine too.
    pub downgrades: bool,
    /// No `-R`: what is there is replaced.
    pub keeps_existing: bool,
}

impl Android {
    /// Puts the APKs of the apps that are there from the beginning where they belong.
    pub(super) fn lay_out_packages(&self) {
        let apps: Vec<Installed> = self.device.world(|world| world.installed().collect());
        for app in apps {
            let apk = placeholder(app.id.as_str(), &app.version);
            if let Ok(blob) = self.blobs.put(&apk) {
                self.lay_out(&app, blob);
            }
        }
    }

    fn lay_out(&self, app: &Installed, apk: Blob) {
        let path = apk_path(app);
        let dir = crate::android::files::parent_of(&path).to_owned();
        let now = self.seconds();
        let mut files = self.files.lock();
        files.make_system_dir(&dir, now);
        files.write_system(&path, apk, now);
        files.make_system_dir(&format!("/data/data/{}", app.id), now);
    }

    /// Installs an APK; its package name.
    ///
    /// # Errors
    /// In Android's words.
    pub(super) async fn install(&self, apk: Blob, mode: InstallMode) -> Result<AppId, String> {
        let latency = self.device.latency();
        self.device.takes(latency.install).await;
        let bytes =
            Duration::from_secs_f64(apk.length() as f64 / latency.install_rate.max(1) as f64);
        self.device.sleep(bytes).await;
        let is_zip = apk.read(4).is_ok_and(|head| head == *b"PK\x03\x04");
        if !is_zip {
            return Err(NO_APK.to_owned());
        }
        let manifest = Manifest::of(&apk).ok_or(BAD_MANIFEST)?;
        let id = AppId(manifest.package.clone());
        for fault in self.device.fire_faults(Event::Install(id.as_str())) {
            match fault {
                Fault::StorageFull => return Err("INSTALL_FAILED_INSUFFICIENT_STORAGE".to_owned()),
                Fault::Fail(text) => return Err(text),
                Fault::Delay(time) => self.device.sleep(time.0).await,
                _ => {}
            }
        }
        if manifest.split {
            // A part of an app changes nothing that can be seen here.
            return Ok(id);
        }
        let code = manifest.version_code.unwrap_or(1);
        let known = self.device.world(|world| world.installed_app(&id));
        if known.is_some() {
            let older = self.version_code(&id) > code;
            if mode.keeps_existing {
                return Err(format!(
                    "INSTALL_FAILED_ALREADY_EXISTS: Attempt to re-install {id} without first uninstalling."
                ));
            }
            if older && !mode.downgrades {
                return Err(format!(
                    "INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected: Update version code is older than current for {id}"
                ));
            }
        }
        self.device
            .world(|world| world.install(&id, manifest.version.clone()));
        if mode.grants {
            self.device.world(|world| {
                for permission in crate::app::Permission::ALL {
                    world.set_permission(&id, permission, true);
                }
            });
        }
        self.packages.lock().insert(id.0.clone(), code);
        if let Some(app) = self.device.world(|world| world.installed_app(&id)) {
            self.lay_out(&app, apk);
        }
        self.log('I', "PackageManager", format!("Package {id} installed"));
        Ok(id)
    }

    /// Removes a package; false when it is not there or is the system's.
    pub(super) fn uninstall(&self, id: &AppId) -> bool {
        let app = self.device.world(|world| world.installed_app(id));
        let Some(app) = app.filter(|app| !app.system) else {
            return false;
        };
        let path = apk_path(&app);
        let mut files = self.files.lock();
        files.remove_system(crate::android::files::parent_of(&path));
        files.remove_system(&format!("/data/data/{id}"));
        drop(files);
        self.packages.lock().remove(id.as_str());
        self.device.world(|world| world.uninstall(id))
    }

    /// The version of a package as the system compares it.
    pub(super) fn version_code(&self, id: &AppId) -> u64 {
        let known = self.packages.lock().get(id.as_str()).copied();
        known.unwrap_or(1)
    }
}

/// Where the APK of an app lies.
pub fn apk_path(app: &Installed) -> String {
    if app.system {
        return format!("/system/priv-app/{}/{}.apk", app.name, app.name);
    }
    // As random as on a phone, and the same in every run.
    let hash = (app.id.as_str().bytes()).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!(
        "/data/app/~~{hash:016x}AAAAA==/{}-{:016x}BBBBB==/base.apk",
        app.id,
        hash.rotate_left(32)
    )
}
