//! All iOS devices of a program: those configured, those plugged in, and booted simulators.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::Connector;
use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio_util::task::TaskTracker;

use crate::access::DeviceAccess;
use crate::connector::WdaConnector;
use crate::dial::AgentPort;
use crate::endpoint::{WdaEndpoint, WdaStart, WdaTarget};
use crate::error::WdaError;
use crate::facts::DeviceFacts;
use crate::keeper::{AgentPlace, KeepOrder, KeeperOptions};
use crate::lockdown;
use crate::model;
use crate::mux::{self, MuxAddress, MuxError};
use crate::route::Route;
use crate::simctl::{Simctl, SimctlError, Simulator};
use crate::start::{CommandStarter, SharedAgent, Starter};

/// How long a device may take to say what it is; what it does not say now is found out when it
/// is connected.
const INTRODUCTION_TIMEOUT: Duration = Duration::from_secs(5);

/// What a pool is made of.
#[derive(Debug, Clone, Default)]
pub struct WdaOptions {
    /// The devices that are configured.
    pub endpoints: Vec<WdaEndpoint>,
    /// Where usbmuxd listens; without it no devices are looked for there.
    pub usbmuxd: Option<MuxAddress>,
    /// Xcode's `xcrun`; without it there are no simulators.
    pub xcrun: Option<PathBuf>,
    /// How WebDriverAgent is started on simulators that are not configured.
    pub simulator_start: WdaStart,
    /// Who keeps the WebDriverAgents of simulators; without, none is started there.
    pub keeper: Option<KeeperOptions>,
    /// The folder where it is written down what settings were before a matrix changed them; without
    /// one, none is changed.
    pub restore: Option<PathBuf>,
}

impl WdaOptions {
    /// Options with nothing configured, from variables of the environment: `PATH`, where `xcrun`
    /// is looked for, and `USBMUXD_SOCKET_ADDRESS`, without which usbmuxd is where the system has
    /// it.
    pub fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let usbmuxd = variable("USBMUXD_SOCKET_ADDRESS")
            .and_then(|address| address.into_string().ok())
            .and_then(|address| address.parse().ok())
            .unwrap_or_else(MuxAddress::of_system);
        let path = variable("PATH").unwrap_or_default();
        let xcrun = std::env::split_paths(&path)
            .map(|folder| folder.join("xcrun"))
            .find(|file| file.is_file());
        Self {
            usbmuxd: Some(usbmuxd),
            xcrun,
            ..Self::default()
        }
    }
}

/// All iOS devices of a program, and what was started for them.
pub struct WdaPool {
    options: WdaOptions,
    tasks: TaskTracker,
    /// With the names of their devices.
    starters: Mutex<Vec<(String, Arc<Starter>)>>,
}

impl WdaPool {
    /// A pool. Nothing is looked for or started yet.
    pub fn new(options: WdaOptions) -> Arc<Self> {
        Arc::new(Self {
            options,
            tasks: TaskTracker::new(),
            starters: Mutex::new(Vec::new()),
        })
    }

    /// A connector for a device, which is not asked anything; unless it is said, it counts as an
    /// iPhone until it is connected.
    ///
    /// # Errors
    /// [`WdaError`] when the device cannot be reached as configured.
    pub fn connector(&self, endpoint: &WdaEndpoint) -> Result<Arc<dyn Connector>, WdaError> {
        Ok(Arc::new(self.connect_to(endpoint, endpoint.facts.clone())?))
    }

    /// Connectors for everything there is: what is configured, in that order; then what is
    /// plugged in; then booted simulators. Devices are asked what they are. A usbmuxd or `xcrun`
    /// that is not there, or fails, has no devices.
    ///
    /// # Errors
    /// [`WdaError`] when a configured device cannot be reached as configured.
    pub async fn discover(&self) -> Result<Vec<Arc<dyn Connector>>, WdaError> {
        let (listed, plugged_in) = tokio::join!(self.listed_simulators(), self.plugged_in());
        let (simulators, unlisted) = match listed {
            Ok(simulators) => (simulators, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let endpoints = self.all_endpoints(&simulators, &plugged_in);
        let mut connectors = self.connect_all(&endpoints, &simulators)?;
        if let Some(why) = unlisted {
            tracing::warn!(error = why, "simulators were not listed");
            // What may be a simulator is not started as a phone while in use.
            let is_unknown = |endpoint: &WdaEndpoint| {
                endpoint.is_of_system() && !plugged_in.iter().any(|udid| endpoint.is(udid))
            };
            let unknown = connectors.iter_mut().zip(&endpoints);
            for (connector, _) in unknown.filter(|(_, endpoint)| is_unknown(endpoint)) {
                connector.refuse(
                    &why,
                    "try again; a daemon looks again after `packtrain daemon stop`",
                );
            }
        }
        Ok(introduced(connectors).await)
    }

    /// What was found and is not configured.
    pub(crate) fn found(
        &self,
        simulators: &[Simulator],
        plugged_in: &[String],
    ) -> Vec<WdaEndpoint> {
        let mut all = self.all_endpoints(simulators, plugged_in);
        all.split_off(self.options.endpoints.len())
    }

    /// Connectors for what was found, each asked what it is.
    ///
    /// # Errors
    /// [`WdaError`] when this computer has nothing left to reach them with.
    pub(crate) async fn introduce(
        &self,
        found: &[WdaEndpoint],
        simulators: &[Simulator],
    ) -> Result<Vec<Arc<dyn Connector>>, WdaError> {
        Ok(introduced(self.connect_all(found, simulators)?).await)
    }

    fn connect_all(
        &self,
        endpoints: &[WdaEndpoint],
        simulators: &[Simulator],
    ) -> Result<Vec<WdaConnector>, WdaError> {
        let connect = |endpoint: &WdaEndpoint| {
            let known = known_simulator(endpoint, simulators);
            let facts = known.unwrap_or_default().or(endpoint.facts.clone());
            self.connect_to(endpoint, facts)
        };
        endpoints.iter().map(connect).collect()
    }

    /// Ends everything that was started for the devices.
    pub async fn shutdown(&self) {
        let starters = std::mem::take(&mut *self.starters());
        for (_, starter) in starters {
            starter.stop().await;
        }
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Ends what was started for a device that is gone.
    pub(crate) fn let_go(&self, name: &str) {
        let mut starters = self.starters();
        for (_, starter) in starters.extract_if(.., |(of, _)| of == name) {
            self.tasks.spawn(async move { starter.stop().await });
        }
    }

    fn starters(&self) -> parking_lot::MutexGuard<'_, Vec<(String, Arc<Starter>)>> {
        // A list to which only whole entries are added.
        self.starters.lock()
    }

    pub(crate) const fn options(&self) -> &WdaOptions {
        &self.options
    }

    /// The configured endpoints and those that were found, each device once.
    pub(crate) fn all_endpoints(
        &self,
        simulators: &[Simulator],
        plugged_in: &[String],
    ) -> Vec<WdaEndpoint> {
        let mut all = self.options.endpoints.clone();
        for endpoint in &mut all {
            // A configured udid does not say what it belongs to.
            if endpoint.is_of_system()
                && let Some(known) = simulators.iter().find(|known| endpoint.is(&known.udid))
            {
                let udid = known.udid.clone();
                endpoint.target = WdaTarget::Simulator { udid };
            }
        }
        let known = all.clone();
        let new = |udid: &&String| !known.iter().any(|endpoint| endpoint.is(udid));
        all.extend(plugged_in.iter().filter(new).map(WdaEndpoint::device));
        let booted = simulators.iter().filter(|simulator| simulator.booted);
        let booted = booted.map(|simulator| &simulator.udid).filter(new);
        all.extend(booted.map(|udid| WdaEndpoint {
            start: self.options.simulator_start.clone(),
            ..WdaEndpoint::simulator(udid)
        }));
        all
    }

    /// The simulators, booted or not; none without Xcode.
    pub(crate) async fn listed_simulators(&self) -> Result<Vec<Simulator>, SimctlError> {
        match &self.options.xcrun {
            Some(xcrun) => Simctl::new(xcrun.clone()).list().await,
            None => Ok(Vec::new()),
        }
    }

    async fn plugged_in(&self) -> Vec<String> {
        self.listed().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "devices were not listed");
            Vec::new()
        })
    }

    /// The udids that usbmuxd lists; none where there is no usbmuxd.
    pub(crate) async fn listed(&self) -> Result<Vec<String>, MuxError> {
        let Some(usbmuxd) = &self.options.usbmuxd else {
            return Ok(Vec::new());
        };
        match mux::devices(usbmuxd).await {
            Ok(devices) => Ok(devices.into_iter().map(|device| device.udid).collect()),
            Err(MuxError::Absent { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn connect_to(
        &self,
        endpoint: &WdaEndpoint,
        facts: DeviceFacts,
    ) -> Result<WdaConnector, WdaError> {
        let name = || endpoint.name.clone();
        let no_runner = || match endpoint.start {
            WdaStart::Runner { .. } => Err(WdaError::RunnerNeedsSimulator { name: name() }),
            WdaStart::Never | WdaStart::Command(_) => Ok(()),
        };
        let port = AgentPort::default();
        let (route, access) = match &endpoint.target {
            WdaTarget::Url(url) => {
                no_runner()?;
                (Route::to_url(&endpoint.name, url)?, DeviceAccess::Bare)
            }
            WdaTarget::Device { udid, usbmuxd } => {
                no_runner()?;
                let usbmuxd = usbmuxd.clone().or_else(|| self.options.usbmuxd.clone());
                let usbmuxd = usbmuxd.unwrap_or_else(MuxAddress::of_system);
                let route = Route::through(usbmuxd.clone(), udid.clone());
                let udid = udid.clone();
                (route, DeviceAccess::Device { usbmuxd, udid })
            }
            WdaTarget::Simulator { udid } => {
                let xcrun = self.options.xcrun.clone();
                let xcrun = xcrun.ok_or_else(|| WdaError::NoXcrun { name: name() })?;
                let simctl = Simctl::new(xcrun);
                let udid = udid.clone();
                (
                    Route::to_simulator(port.clone()),
                    DeviceAccess::Simulator { simctl, udid },
                )
            }
        };
        let starter = self.starter(endpoint, &route, port).map(|starter| {
            let starter = Arc::new(starter);
            self.starters()
                .push((endpoint.name.clone(), starter.clone()));
            starter
        });
        let is_kept = starter.is_some() || !matches!(access, DeviceAccess::Simulator { .. });
        let restore = self.options.restore.as_deref();
        let mut connector = WdaConnector::new(endpoint, facts, route, access, starter, restore);
        if !is_kept {
            let why = "no folder for the state of a simulator's WebDriverAgent";
            connector.refuse(why, "set HOME or XDG_STATE_HOME");
        }
        Ok(connector)
    }

    /// What starts WebDriverAgent there. A simulator is on this computer, so it always can be.
    fn starter(&self, endpoint: &WdaEndpoint, route: &Route, port: AgentPort) -> Option<Starter> {
        let folder = endpoint.folder.clone();
        let command = match endpoint.start.clone() {
            WdaStart::Never | WdaStart::Runner { .. } => Vec::new(),
            WdaStart::Command(words) => words,
        };
        if let WdaTarget::Simulator { udid } = &endpoint.target {
            let keeper = self.options.keeper.clone()?;
            let order = KeepOrder {
                place: AgentPlace::new(&keeper.folder, udid),
                udid: udid.clone(),
                xcrun: self.options.xcrun.clone()?,
                id: endpoint.runner().to_owned(),
                command,
                folder,
                answer_timeout: keeper.answer_timeout,
            };
            let agent = SharedAgent::new(order, keeper.command, port);
            return Some(Starter::Simulator(agent));
        }
        matches!(endpoint.start, WdaStart::Command(_)).then(|| {
            let tasks = self.tasks.clone();
            Starter::Command(CommandStarter::new(command, folder, route.port(), tasks))
        })
    }
}

fn known_simulator(endpoint: &WdaEndpoint, simulators: &[Simulator]) -> Option<DeviceFacts> {
    let simulator = simulators.iter().find(|known| endpoint.is(&known.udid))?;
    Some(DeviceFacts {
        tablet: Some(simulator.tablet),
        model: Some(simulator.name.clone()),
        version: Some(simulator.version.clone()),
        screen: model::screen(&simulator.name),
    })
}

/// The connectors, in that order, with what the devices say of themselves.
async fn introduced(connectors: Vec<WdaConnector>) -> Vec<Arc<dyn Connector>> {
    let mut asked = JoinSet::new();
    for (at, connector) in connectors.into_iter().enumerate() {
        asked.spawn(async move { (at, introduce(connector).await) });
    }
    let mut told: BTreeMap<usize, Arc<dyn Connector>> = BTreeMap::new();
    while let Some(joined) = asked.join_next().await {
        match joined {
            Ok((at, connector)) => {
                told.insert(at, Arc::new(connector));
            }
            Err(error) => tracing::warn!(%error, "a device could not be asked what it is"),
        }
    }
    told.into_values().collect()
}

/// The connector with what the device says of itself, if it does so in time.
async fn introduce(mut connector: WdaConnector) -> WdaConnector {
    if connector.facts() != &DeviceFacts::default() {
        return connector;
    }
    let asked = async {
        match connector.access() {
            DeviceAccess::Device { usbmuxd, udid } => match lockdown::facts(usbmuxd, udid).await {
                Ok(facts) => {
                    let model = model::name(&facts.product_type);
                    Some(DeviceFacts {
                        tablet: Some(model::is_tablet(&facts.product_type)),
                        screen: model::screen(model),
                        model: Some(model.to_owned()),
                        version: Some(facts.version),
                    })
                }
                Err(error) => {
                    let hint = error.hint();
                    tracing::warn!(%error, hint, %udid, "a device did not say what it is");
                    None
                }
            },
            DeviceAccess::Bare => connector.ask().await,
            DeviceAccess::Simulator { .. } => None,
        }
    };
    let told = tokio::time::timeout(INTRODUCTION_TIMEOUT, asked).await;
    if let Ok(Some(facts)) = told {
        connector.learn(facts);
    }
    connector
}
