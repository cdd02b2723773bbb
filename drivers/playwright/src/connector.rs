//! From a slot to a connected device.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use packtrain_drivers::{
    BoxFuture, Classifier, CommandContext, Connector, DeviceId, DeviceInfo, Driver, DriverError,
    EventSink, Platform, Size,
};
use tokio::sync::Mutex;

use crate::browser::{BrowserHandle, BrowserLaunch, Browsers};
use crate::configuration::{Configuration, Engine};
use crate::driver::WebDriver;
use crate::host::{Host, HostError};
use crate::install::{Found, Installation};
use crate::slot::WebSlot;

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
    /// A browser for one session, which is not its device's own.
    ///
    /// # Errors
    /// When there is none, or it does not start.
    pub(crate) async fn browser_for(
        &self,
        configuration: &Configuration,
    ) -> Result<BrowserHandle, HostError> {
        let slot = &configuration.slot;
        let launch = match configuration.engine {
            Engine::Firefox => BrowserLaunch {
                engine: Engine::Firefox,
                executable: self.firefox.clone().ok_or(HostError::NoFirefox)?,
                headed: slot.headed,
                args: Vec::new(),
                is_slow: false,
                preferences: configuration.firefox_preferences(),
            },
            Engine::Chromium => BrowserLaunch {
                is_slow: configuration.slows(),
                ..chromium(slot, self.chromium.as_ref())?
            },
        };
        self.browsers.get(&self.host, slot.isolation, &launch).await
    }
}

/// The Chromium of a slot: its own program, or the one that was found.
fn chromium(slot: &WebSlot, found: Option<&PathBuf>) -> Result<BrowserLaunch, HostError> {
    let program = slot.executable.as_ref().or(found);
    Ok(BrowserLaunch {
        engine: Engine::Chromium,
        executable: program.ok_or(HostError::NoBrowser)?.clone(),
        headed: slot.headed,
        args: slot.args.clone(),
        is_slow: false,
        preferences: BTreeMap::new(),
    })
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
        let launch = chromium(&self.slot, self.pool.browser.as_ref())?;
        let shared = self.pool.shared().await?;
        let browser = shared
            .browsers
            .get(&shared.host, self.slot.isolation, &launch)
            .await?;
        let mut info = self.describe();
        info.system = format!("Chromium {}", browser.running.browser.version());
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
            browser,
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
            message: format!("Playwright knows no device `{name}` to emulate"),
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
            system: "Chromium".to_owned(),
            screen: Size::new(f64::from(width), f64::from(height)),
        }
    }

    fn connect<'a>(
        &'a self,
        events: EventSink,
        ctx: &'a CommandContext,
    ) -> BoxFuture<'a, Result<Box<dyn Driver>, DriverError>> {
        Box::pin(async move {
            let opened = tokio::select! {
                opened = self.open(events) => opened,
                () = ctx.cancel.cancelled() => return Err(DriverError::Cancelled),
                () = tokio::time::sleep(ctx.remaining()) => {
                    return Err(DriverError::lost("the browser did not start in time"));
                }
            };
            match opened {
                Ok(driver) => Ok(Box::new(driver) as Box<dyn Driver>),
                Err(error) => Err(DriverError::Lost {
                    cause: error.to_string(),
                    hint: Some(error.hint().to_owned()),
                }),
            }
        })
    }
}
