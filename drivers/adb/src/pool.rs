//! All Android devices of a program: found at an adb server and at sockets of their own.

use std::collections::BTreeMap;
use std::net::{SocketAddr, SocketAddrV4};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, Stream, StreamExt as _};
use packtrain_drivers::{Connector, DeviceId};
use tokio::time::Instant;

use crate::agent::Jar;
use crate::connector::{AdbConnector, Endpoint, Shared};
use crate::error::AdbError;
use crate::identity::{self, Identity, Route};
use crate::listing::{self, AdbDevice};
use crate::options::{AdbOptions, StartServer};
use crate::probe::Profile;
use crate::program::{AdbProgram, find_adb};
use crate::remote;
use crate::state::DeviceState;
use crate::wire::server::next_frame;
use crate::wire::{DirectAddress, KeyRing, Server, WireError, within};

/// Devices that are asked at once what they are.
const PROBED_AT_ONCE: usize = 32;
/// How long the server may take to list its devices.
const SERVER_TIMEOUT: Duration = Duration::from_secs(5);
/// The oldest server that knows all that is asked of it.
const OLDEST_SERVER: u32 = 39;

/// Finds Android devices and leads to them.
#[derive(Debug)]
pub struct AdbPool {
    shared: Arc<Shared>,
}

/// What was found.
#[derive(Default)]
pub struct Survey {
    /// Devices that can be driven.
    pub connectors: Vec<Arc<dyn Connector>>,
    /// Devices that cannot, and why.
    pub unusable: Vec<AdbDevice>,
    /// The API levels of those that can be driven, as far as they say them.
    pub levels: BTreeMap<DeviceId, u32>,
}

/// A device that was asked what it is: the way to it, and what leads there with its API level, or why it
/// cannot be used.
pub(crate) type Asked = (Route, Result<(Arc<dyn Connector>, Option<u32>), AdbDevice>);

impl Survey {
    /// Of the ways to each device the best; for each way whether it is that.
    pub(crate) fn of(asked: Vec<Asked>) -> (Self, Vec<bool>) {
        let (ways, results): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
        let best = identity::best(&ways);
        let mut survey = Self::default();
        for (result, is_best) in results.into_iter().zip(&best) {
            match result {
                _ if !is_best => {}
                Ok((connector, level)) => {
                    let level = level.map(|level| (connector.id().clone(), level));
                    survey.levels.extend(level);
                    survey.connectors.push(connector);
                }
                Err(device) => survey.unusable.push(device),
            }
        }
        (survey, best)
    }
}

/// What is known of the adb server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerReport {
    /// Where it listens.
    pub address: SocketAddr,
    /// Its version, if it runs.
    pub server: Option<u32>,
    /// The program `adb` and its version, if there is one.
    pub program: Option<(PathBuf, u32)>,
}

impl ServerReport {
    /// Whether the next use of the program `adb` would end the server, and with it every
    /// connection to a device.
    pub fn fights_with_program(&self) -> bool {
        match (self.server, &self.program) {
            (Some(server), Some((_, program))) => server != *program,
            _ => false,
        }
    }
}

impl AdbPool {
    /// A pool that looks for nothing until it is asked.
    pub fn new(options: AdbOptions) -> Arc<Self> {
        let keys = Arc::new(KeyRing::new(options.key.clone()));
        let jar = options
            .files
            .u2_jar
            .clone()
            .map(|path| Arc::new(Jar::new(path)));
        Arc::new(Self {
            shared: Arc::new(Shared { options, keys, jar }),
        })
    }

    /// The devices that can be driven now, each with final classifiers.
    ///
    /// # Errors
    /// [`AdbError`] when the server cannot be reached or started; a device that cannot be used is
    /// none: see [`Self::survey`].
    pub async fn discover(&self) -> Result<Vec<Arc<dyn Connector>>, AdbError> {
        Ok(self.survey().await?.connectors)
    }

    /// All devices, asked in parallel what they are. One to which several ways lead is there once.
    ///
    /// # Errors
    /// As [`Self::discover`].
    pub async fn survey(&self) -> Result<Survey, AdbError> {
        let mut found: Vec<(AdbDevice, Endpoint)> = Vec::new();
        if let Some(server) = self.running_server().await? {
            for device in self.listed(server).await? {
                let endpoint = Endpoint::Server(server, device.serial.clone());
                found.push((device, endpoint));
            }
        }
        for (name, address) in &self.shared.options.direct {
            let device = AdbDevice::new(name.clone(), DeviceState::Device, None);
            found.push((device, Endpoint::Direct(address.clone())));
        }
        let asked: Vec<_> = stream::iter(found)
            .map(|(device, endpoint)| self.probe(device, endpoint))
            .buffered(PROBED_AT_ONCE)
            .collect()
            .await;
        Ok(Survey::of(asked).0)
    }

    /// The adb server's devices as it lists them, usable or not. Asks no device.
    ///
    /// # Errors
    /// As [`Self::discover`].
    pub async fn devices(&self) -> Result<Vec<AdbDevice>, AdbError> {
        match self.running_server().await? {
            Some(server) => self.listed(server).await,
            None => Ok(Vec::new()),
        }
    }

    /// A snapshot of the server's devices now and after every change, until the server ends.
    ///
    /// # Errors
    /// As [`Self::discover`], at once; later the stream only ends.
    pub async fn track(
        &self,
    ) -> Result<impl Stream<Item = Vec<AdbDevice>> + Send + use<>, AdbError> {
        let server = self.server().await?;
        let stream = within(
            Instant::now() + SERVER_TIMEOUT,
            "track the adb server's devices",
            server.track(),
        )
        .await?;
        let state = (stream, None::<Vec<AdbDevice>>);
        Ok(stream::unfold(state, async |(mut stream, mut last)| {
            loop {
                let devices = listing::read(&next_frame(&mut stream).await?);
                // A device that reboots makes the server repeat itself several times a second.
                if last.as_ref() != Some(&devices) {
                    last = Some(devices.clone());
                    return Some((devices, (stream, last)));
                }
            }
        }))
    }

    /// A device at a socket of its own, asked what it is. Needs no adb server.
    ///
    /// # Errors
    /// [`AdbError::Wire`] when it cannot be reached.
    pub async fn direct(
        &self,
        name: impl Into<String>,
        address: DirectAddress,
    ) -> Result<Arc<dyn Connector>, AdbError> {
        let endpoint = Endpoint::Direct(address);
        let (profile, _) = self.ask(&endpoint).await?;
        Ok(self.connector(endpoint, name.into(), profile))
    }

    /// A device at a socket of its own whose properties are known.
    pub fn direct_known(
        &self,
        name: impl Into<String>,
        address: DirectAddress,
        profile: Profile,
    ) -> Arc<dyn Connector> {
        self.connector(Endpoint::Direct(address), name.into(), profile)
    }

    /// Has the adb server connect to a device on the network.
    ///
    /// # Errors
    /// [`AdbError::Refused`] with the server's words.
    pub async fn connect(&self, device: SocketAddrV4) -> Result<(), AdbError> {
        remote::connect(self.server().await?.address(), device).await
    }

    /// Has the adb server forget a device on the network.
    ///
    /// # Errors
    /// [`AdbError::Refused`] with the server's words.
    pub async fn disconnect(&self, device: SocketAddrV4) -> Result<(), AdbError> {
        remote::disconnect(self.server().await?.address(), device).await
    }

    /// Pairs this computer with a device that shows `code`, at the port it shows with it.
    ///
    /// # Errors
    /// [`AdbError::Refused`] with the server's words.
    pub async fn pair(&self, device: SocketAddrV4, code: &str) -> Result<(), AdbError> {
        remote::pair(self.server().await?.address(), device, code.to_owned()).await
    }

    /// Looks at server and program without starting anything.
    ///
    /// # Errors
    /// [`AdbError::Program`] when the program is there but broken.
    pub async fn report(&self) -> Result<Option<ServerReport>, AdbError> {
        let Some(address) = self.shared.options.server else {
            return Ok(None);
        };
        let program = match self.program() {
            Some(program) => {
                let version = program.version().await?;
                Some((program.path, version))
            }
            None => None,
        };
        Ok(Some(ServerReport {
            address,
            server: Server::new(address).version().await.ok(),
            program,
        }))
    }

    pub(crate) fn options(&self) -> &AdbOptions {
        &self.shared.options
    }

    /// Asks a device what it is.
    pub(crate) async fn probe(&self, device: AdbDevice, endpoint: Endpoint) -> Asked {
        let asked = if device.state.is_ready() {
            self.ask(&endpoint).await
        } else {
            Err(WireError::NotReady(device.state.clone()))
        };
        let (result, identity) = match asked {
            Ok((profile, identity)) => {
                let level = profile.api;
                let connector = self.connector(endpoint.clone(), device.serial, profile);
                (Ok((connector, level)), identity)
            }
            Err(WireError::NotReady(state)) => {
                let device = AdbDevice::new(device.serial, state, device.model);
                (Err(device), None)
            }
            Err(error) => {
                let device = device.unusable(error.to_string(), error.hint());
                (Err(device), None)
            }
        };
        let way = Route {
            endpoint,
            is_usable: result.is_ok(),
            identity,
            was_kept: false,
        };
        (way, result)
    }

    async fn ask(&self, endpoint: &Endpoint) -> Result<(Profile, Option<Identity>), WireError> {
        let deadline = Instant::now() + self.shared.options.probe;
        let phone = endpoint.phone(&self.shared, None);
        within(
            deadline,
            "ask the device what it is",
            Profile::ask(&phone, deadline),
        )
        .await
    }

    fn connector(&self, endpoint: Endpoint, name: String, profile: Profile) -> Arc<dyn Connector> {
        let shared = Arc::clone(&self.shared);
        Arc::new(AdbConnector::new(shared, endpoint, name, profile))
    }

    async fn listed(&self, server: Server) -> Result<Vec<AdbDevice>, AdbError> {
        let deadline = Instant::now() + SERVER_TIMEOUT;
        let doing = "list the adb server's devices";
        let text = within(deadline, doing, server.query("host:devices-l")).await?;
        Ok(listing::read(&text))
    }

    async fn running_server(&self) -> Result<Option<Server>, AdbError> {
        match self.shared.options.server {
            Some(_) => self.server().await.map(Some),
            None => Ok(None),
        }
    }

    /// The adb server, started when need be.
    async fn server(&self) -> Result<Server, AdbError> {
        let options = &self.shared.options;
        let Some(address) = options.server else {
            return Err(AdbError::Refused {
                request: "ask the adb server".to_owned(),
                reason: "none is configured".to_owned(),
            });
        };
        let server = Server::new(address);
        let deadline = || Instant::now() + SERVER_TIMEOUT;
        let doing = "ask the adb server for its version";
        let version = match within(deadline(), doing, server.version()).await {
            Err(WireError::NoServer { .. })
                if options.start == StartServer::IfNeeded && address.ip().is_loopback() =>
            {
                let program = self.program().ok_or_else(|| AdbError::NoProgram {
                    address: address.to_string(),
                })?;
                program.start_server(address).await?;
                within(deadline(), doing, server.version()).await?
            }
            version => version?,
        };
        if version < OLDEST_SERVER {
            return Err(AdbError::ServerTooOld {
                address: address.to_string(),
                version,
            });
        }
        Ok(server)
    }

    fn program(&self) -> Option<AdbProgram> {
        let options = &self.shared.options;
        Some(AdbProgram {
            path: find_adb(&options.path)?,
            environment: options.environment.clone(),
        })
    }
}
