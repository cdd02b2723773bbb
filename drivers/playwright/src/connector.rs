//! From a slot to a connected device.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use packtrain_drivers::{
    BoxFuture, Classifier, CommandContext, Connector, DeviceId, DeviceInfo, Driver, DriverError,
    EventSink, Platform, SessionOptions, Size,
};
use tokio::sync::Mutex;

use crate::browser::{BrowserHandle, BrowserLaunch, Browsers};
use crate::configuration::{Configuration, Engine};
use crate::driver::WebDriver;
use crate::executable;
use crate::host::{Host, HostError};
use crate::install::{Found, Installation};
use crate::slot::{Isolation, WebSlot};

/// All web devices of a program: the driver process they share and their browsers.
pub struct WebPool {
    installation: Option<Installation>,
    browser: Option<PathBuf>,
    firefox: Option<PathBuf>,
    host: Mutex<Option<Arc<Shared>>>,
}

/// A driver process and its browsers: they live and die together.
pub(crate) struct Shared {
    pub(crate) host: Arc<Host>,
    pub(crate) browsers: Browsers,
    chromium: Option<PathBuf>,
    firefox: Option<PathBuf>,
}

impl Shared {
    /// What a session's browser is started with.
    ///
    /// # Errors
    /// When there is no such browser.
    pub(crate) fn launch(&self, configuration: &Configuration) -> Result<BrowserLaunch, HostError> {
        let slot = &configuration.slot;
        let engine = configuration.engine;
        // What is set of the program is about the device's own engine.
        let is_own = engine == slot.engine;
        let own = slot.executable.as_ref().filter(|_| is_own);
        let (found, missing) = match engine {
            Engine::Chromium => (&self.chromium, HostError::NoBrowser),
            Engine::Firefox => (&self.firefox, HostError::NoFirefox),
        };
        Ok(BrowserLaunch {
            engine,
            executable: own.or(found.as_ref()).ok_or(missing)?.clone(),
            headed: slot.headed,
            args: if is_own {
                slot.args.clone()
            } else {
                Vec::new()
            },
            is_slow: configuration.slows(),
            preferences: match engine {
                Engine::Chromium => BTreeMap::new(),
                Engine::Firefox => configuration.firefox_preferences(),
            },
        })
    }

    /// A browser started so, running already or not.
    ///
    /// # Errors
    /// When it does not start.
    pub(crate) async fn browser(
        &self,
        isolation: Isolation,
        launch: &BrowserLaunch,
    ) -> Result<BrowserHandle, HostError> {
        self.browsers.get(&self.host, isolation, launch).await
    }
}

/// Leads to one web device.
pub struct WebConnector {
    pool: Arc<WebPool>,
    slot: Arc<WebSlot>,
    id: DeviceId,
}

impl WebPool {
    /// A pool that starts Playwright when the first device is connected. What is missing is
    /// reported then, by every device.
    pub fn new(found: &Found) -> Arc<Self> {
        Arc::new(Self {
            installation: found.installation(),
            browser: found.browser.clone(),
            firefox: found.firefox.clone(),
            host: Mutex::new(None),
        })
    }

    /// A connector for one slot.
    pub fn connector(self: &Arc<Self>, slot: WebSlot) -> Arc<dyn Connector> {
        Arc::new(WebConnector {
            id: DeviceId::new(Platform::Web, slot.name.clone()),
            pool: Arc::clone(self),
            slot: Arc::new(slot),
        })
    }

    /// Closes all browsers and ends the driver process.
    pub async fn shutdown(&self) {
        let shared = self.host.lock().await.take();
        if let Some(shared) = shared {
            shared.host.shutdown().await;
        }
    }

    /// The running driver process; a new one when the last has died.
    async fn shared(&self) -> Result<Arc<Shared>, HostError> {
        let mut current = self.host.lock().await;
        if let Some(shared) = current
            .as_ref()
            .filter(|shared| !shared.host.dead().is_cancelled())
        {
            return Ok(Arc::clone(shared));
        }
        let installation = self.installation.as_ref().ok_or(HostError::Missing {
            missing: "Node or playwright-core",
        })?;
        let shared = Arc::new(Shared {
            host: Host::start(installation).await?,
            browsers: Browsers::default(),
            chromium: self.browser.clone(),
            firefox: self.firefox.clone(),
        });
        *current = Some(Arc::clone(&shared));
        Ok(shared)
    }
}

impl WebConnector {
    async fn open(&self, events: EventSink) -> Result<WebDriver, HostError> {
        let plain = SessionOptions::default();
        let configuration = Configuration::new(&self.slot, &plain)
            .map_err(|error| HostError::Handshake(error.to_string()))?;
        if let Some(program) = &self.slot.executable {
            executable::check(program, self.slot.engine).await?;
        }
        let shared = self.pool.shared().await?;
        let launch = shared.launch(&configuration)?;
        let browser = shared.browser(self.slot.isolation, &launch).await?;
        let mut info = self.describe();
        let version = browser.running.browser.version();
        info.system = format!("{} {version}", self.slot.engine.name());
        if self.slot.viewport.is_none()
            && let Some(device) = self.emulated(shared.host.playwright().devices())?
        {
            info.screen = Size::new(
                f64::from(device.viewport.width),
                f64::from(device.viewport.height),
            );
        }
        Ok(WebDriver::new(
            info,
            Arc::clone(&self.slot),
            shared,
            (launch, browser),
            events,
        ))
    }

    fn emulated<'a>(
        &self,
        known: &'a HashMap<String, playwright_rs::DeviceDescriptor>,
    ) -> Result<Option<&'a playwright_rs::DeviceDescriptor>, HostError> {
        let Some(name) = &self.slot.emulate else {
            return Ok(None);
        };
        known.get(name).map(Some).ok_or_else(|| HostError::Browser {
            program: self.id.to_string(),
            message: format!("unknown Playwright device `{name}`"),
        })
    }
}

impl Connector for WebConnector {
    fn id(&self) -> &DeviceId {
        &self.id
    }

    fn describe(&self) -> DeviceInfo {
        let (width, height) = self.slot.viewport.unwrap_or((1280, 720));
        DeviceInfo {
            id: self.id.clone(),
            driver: "playwright-native".to_owned(),
            classifiers: self
                .slot
                .classifiers()
                .into_iter()
                .map(Classifier)
                .collect(),
            model: format!("{} {}", self.slot.name, self.slot.describe()),
            system: self.slot.engine.name().to_owned(),
            screen: Size::new(f64::from(width), f64::from(height)),
        }
    }

    fn connect<'a>(
        &'a self,
        events: EventSink,
        ctx: &'a CommandContext,
    ) -> BoxFuture<'a, Result<Box<dyn Driver>, DriverError>> {
        Box::pin(async move {
            let opening = async {
                self.open(events).await.map_err(|error| DriverError::Lost {
                    cause: error.to_string(),
                    hint: Some(error.hint().to_owned()),
                })
            };
            match ctx.bound("connect", opening).await {
                Ok(driver) => Ok(Box::new(driver) as Box<dyn Driver>),
                Err(DriverError::Timeout { .. }) => {
                    Err(DriverError::lost("the browser did not start in time"))
                }
                Err(error) => Err(error),
            }
        })
    }
}
