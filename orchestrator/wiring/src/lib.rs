//! From configuration to connectors: with the files below, the only place that names concrete
//! drivers.

pub mod android;
pub mod descriptors;
mod elsewhere;
pub mod health;
pub mod ios;
pub mod network;
pub mod phones;
mod selection;
pub mod watch;
pub mod web;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use packtrain_config::{Config, VirtualSettings};
pub use packtrain_driver_adb::AdbDevice as UnusablePhone;
use packtrain_driver_adb::{AdbOptions, AdbPool};
use packtrain_driver_playwright::{WebPool, WebSlot, install};
use packtrain_driver_wda::{WdaOptions, WdaPool};
use packtrain_drivers::{Connector, DeviceId, DeviceInfo, Platform};
use packtrain_terminal::exit::CliError;
use packtrain_virtual::fleet::Fleet as VirtualFleet;

pub use self::selection::DeviceSelection;
pub use self::selection::Search;

/// The name of the web device that exists when none is configured.
const DEFAULT_SLOT: &str = "chromium";

/// Virtual phones, and what leads to them.
struct VirtualPhones {
    fleet: VirtualFleet,
    wda: Arc<WdaPool>,
    /// What was there before settings were changed.
    folder: PathBuf,
}

/// The folder in which what outlives a process is kept, for all projects of a user.
pub fn state_folder() -> Option<PathBuf> {
    user_folder("XDG_STATE_HOME", ".local/state")
}

/// The folder for what can be had again, for all projects of a user.
pub fn cache_folder() -> Option<PathBuf> {
    user_folder("XDG_CACHE_HOME", ".cache")
}

/// Where a variable says, if it does; otherwise there below the user's home.
fn user_folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    let folder = |name: &str| {
        let path = std::env::var_os(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let base = folder(variable).or_else(|| Some(folder("HOME")?.join(below_home)))?;
    Some(base.join("packtrain"))
}

/// Where phones were looked for.
#[derive(Debug, Clone, Copy)]
struct Searched {
    android: Search,
    ios: Search,
}

/// Everything devices are made of, ready to be connected.
pub struct Wiring {
    web: Arc<WebPool>,
    adb: Arc<AdbPool>,
    wda: Arc<WdaPool>,
    searched: Searched,
    phones: Option<VirtualPhones>,
    search: install::SearchPaths,
    found: install::Found,
    connectors: Vec<Arc<dyn Connector>>,
    /// Those of them that are phones and were found.
    found_phones: Vec<Arc<dyn Connector>>,
    /// The phones that have a name in the configuration, there or not, and what each is for everybody.
    configured: BTreeMap<DeviceId, DeviceId>,
    /// Android devices that are there and cannot be used.
    unusable: Vec<UnusablePhone>,
    /// What keeps simulators from being devices, where iPhones were asked for and there are none.
    simulators_lack: Option<String>,
    /// Android API levels, as far as they are known.
    levels: BTreeMap<DeviceId, u32>,
    /// Whether any `web/<slot>` is a device, because none was configured.
    free_slots: bool,
    /// Whether no web device is configured, wherever the devices are.
    has_default_browser: bool,
    headed: bool,
}

impl Wiring {
    /// Makes connectors for the devices that may be wanted. Virtual phones are started, real ones
    /// are looked for where `wanted` gives reason to; nothing is connected.
    ///
    /// # Errors
    /// When the configuration is invalid, or what was asked for by name cannot be looked for.
    pub async fn new(
        config: &Config,
        wanted: DeviceSelection<'_>,
        headed: bool,
    ) -> Result<Self, CliError> {
        let searched = Searched {
            android: wanted.search(Platform::Android),
            ios: wanted.search(Platform::Ios),
        };
        let mut wiring = Self::without_devices(config, searched, headed)?;
        wiring.add_virtual(config, wanted).await?;
        let survey = android::survey(&wiring.adb, searched.android).await?;
        wiring.found_phones.extend(survey.connectors);
        wiring.unusable = survey.unusable;
        wiring.levels.extend(survey.levels);
        let iphones = ios::discover(&wiring.wda, searched.ios).await?;
        if iphones.is_empty() && searched.ios == Search::Thoroughly {
            let lack = wiring.wda.survey().await.and_then(Result::err);
            wiring.simulators_lack = lack.map(|lack| lack.to_string());
        }
        wiring.found_phones.extend(iphones);
        let phones = wiring.found_phones.iter().cloned();
        wiring.connectors.extend(phones);
        for (name, slot) in &config.devices.web {
            wiring.add_slot(web::web_slot(name, slot, &wiring.search));
        }
        if wiring.free_slots && wiring.found.browser.is_some() {
            wiring.add_slot(web::named(DEFAULT_SLOT));
        }
        Ok(wiring)
    }

    /// The daemon's devices: they are connected there, and only known here.
    ///
    /// # Errors
    /// When the configuration is invalid.
    pub fn in_daemon(config: &Config, devices: Vec<DeviceInfo>) -> Result<Self, CliError> {
        let searched = Searched {
            android: Search::Not,
            ios: Search::Not,
        };
        let known = devices.into_iter().map(elsewhere::known);
        Ok(Self {
            connectors: known.collect(),
            free_slots: false,
            ..Self::without_devices(config, searched, false)?
        })
    }

    fn without_devices(
        config: &Config,
        searched: Searched,
        headed: bool,
    ) -> Result<Self, CliError> {
        let places = web::search_paths(config);
        let found = install::find(&places);
        let restore = state_folder().map(|folder| folder.join("restore"));
        let options = AdbOptions {
            restore: restore.clone(),
            ..android::options(&config.devices.android, searched.android)?
        };
        Ok(Self {
            web: WebPool::new(&found),
            adb: AdbPool::new(options),
            searched,
            wda: WdaPool::new(WdaOptions {
                restore,
                ..ios::options(&config.devices.ios)?
            }),
            phones: None,
            free_slots: config.devices.web.is_empty(),
            has_default_browser: config.devices.web.is_empty(),
            search: places,
            found,
            connectors: Vec::new(),
            found_phones: Vec::new(),
            configured: configured(config),
            unusable: Vec::new(),
            simulators_lack: None,
            levels: BTreeMap::new(),
            headed,
        })
    }

    /// All connectors: virtual phones, Android, iOS, web.
    pub fn connectors(&self) -> &[Arc<dyn Connector>] {
        &self.connectors
    }

    /// Whether a device is a phone that others may drive too.
    pub fn is_real(&self, id: &DeviceId) -> bool {
        self.found_phones.iter().any(|phone| phone.id() == id)
    }

    /// The phone that a device is, whatever the configuration calls it: by its serial number, its udid, or
    /// the address it is reached at.
    pub fn phone(&self, id: &DeviceId) -> DeviceId {
        self.configured.get(id).unwrap_or(id).clone()
    }

    /// Android devices that are there and cannot be used, with the reason.
    pub fn unusable(&self) -> &[UnusablePhone] {
        &self.unusable
    }

    /// What keeps simulators from being devices, and what helps.
    pub fn simulators_lack(&self) -> Option<&str> {
        self.simulators_lack.as_deref()
    }

    /// The Android API level of a device, where it has one and it is known.
    pub fn api_level(&self, id: &DeviceId) -> Option<u32> {
        self.levels.get(id).copied()
    }

    /// Web devices like that one, until there are `count` of them with it: a configuration runs on any.
    pub fn add_copies(&mut self, config: &Config, id: &DeviceId, count: u32) -> Vec<DeviceInfo> {
        let mut copies = Vec::new();
        for number in 2..=count {
            let name = format!("{}.{number}", id.name());
            let slot = match config.devices.web.get(id.name()) {
                Some(slot) => web::web_slot(&name, slot, &self.search),
                None => web::named(&name),
            };
            let copy = DeviceId::new(Platform::Web, name);
            if self.connectors.iter().any(|known| *known.id() == copy) {
                continue;
            }
            self.add_slot(slot);
            copies.extend(self.connectors.last().map(|added| added.describe()));
        }
        copies
    }

    /// Whether a device is the browser that is there when none is configured.
    pub fn is_default_browser(&self, id: &DeviceId) -> bool {
        self.has_default_browser && id.platform() == Platform::Web && id.name() == DEFAULT_SLOT
    }

    /// Makes `web/<slot>` a device with default options, when no slots are configured.
    pub fn add_free_slot(&mut self, slot: &str) -> bool {
        if self.free_slots {
            self.add_slot(web::named(slot));
        }
        self.free_slots
    }

    /// What was found of Playwright and browsers.
    pub const fn found(&self) -> &install::Found {
        &self.found
    }

    /// How to get a browser here.
    pub fn browser_remedy(&self) -> String {
        install::browser_remedy(&self.search)
    }

    /// Ends what the connectors share and what was started for them.
    pub async fn shutdown(self) {
        self.close().await;
    }

    /// As [`Wiring::shutdown`], for those who share it.
    pub async fn close(&self) {
        self.web.shutdown().await;
        self.wda.shutdown().await;
        if let Some(phones) = &self.phones {
            phones.wda.shutdown().await;
            phones.fleet.shutdown().await;
            // There is one only if something was changed and not put back.
            let _ = std::fs::remove_dir_all(&phones.folder);
        }
    }

    async fn add_virtual(
        &mut self,
        config: &Config,
        wanted: DeviceSelection<'_>,
    ) -> Result<(), CliError> {
        let configured = config.devices.simulated.clone().unwrap_or_default();
        // Asked for without a number and not configured is one.
        let count = |asked: Option<u32>, configured: u32| match asked {
            Some(0) => configured.max(1),
            Some(number) => number,
            None => configured,
        };
        let settings = VirtualSettings {
            android: count(
                wanted.virtual_phones(Platform::Android)?,
                configured.android,
            ),
            ios: count(wanted.virtual_phones(Platform::Ios)?, configured.ios),
            ..configured
        };
        if settings.android == 0 && settings.ios == 0 {
            return Ok(());
        }
        let fleet = phones::start(&settings, None).await?;
        // They live as long as this process, and so does what is kept about them.
        let folder = std::env::temp_dir().join(format!("packtrain-virtual-{}", std::process::id()));
        let adb = AdbPool::new(AdbOptions {
            restore: Some(folder.clone()),
            ..android::options(&config.devices.android, Search::Not)?
        });
        let wda = WdaPool::new(WdaOptions {
            restore: Some(folder.clone()),
            ..ios::options(&config.devices.ios)?
        });
        for (index, phone) in fleet.android().iter().enumerate() {
            let connector = android::virtual_phone(&adb, index, phone);
            let level = phone.device().shape().api_level;
            self.levels.insert(connector.id().clone(), level);
            self.connectors.push(connector);
        }
        for (index, phone) in fleet.ios().iter().enumerate() {
            self.connectors
                .push(ios::virtual_phone(&wda, index, phone)?);
        }
        self.phones = Some(VirtualPhones { fleet, wda, folder });
        Ok(())
    }

    fn add_slot(&mut self, mut slot: WebSlot) {
        slot.headed |= self.headed;
        self.connectors.push(self.web.connector(slot));
    }
}

fn configured(config: &Config) -> BTreeMap<DeviceId, DeviceId> {
    let android = config.devices.android.connect.iter();
    let android = android.map(|device| DeviceId::new(Platform::Android, android::name(device)));
    let android = android.map(|id| (id.clone(), id));
    let ios = config.devices.ios.iter().map(|(name, device)| {
        let reached = device.udid.as_ref().or(device.wda.as_ref());
        let ios = |name: &String| DeviceId::new(Platform::Ios, name);
        (ios(name), ios(reached.unwrap_or(name)))
    });
    android.chain(ios).collect()
}
