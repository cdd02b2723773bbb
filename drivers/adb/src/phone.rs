//! The way to one device: opens services on it, and opens the way again when it was cut.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use packtrain_drivers::{DeviceEvent, EventSink};
use parking_lot::Mutex;
use tokio::io::AsyncRead;
use tokio::time::Instant;

use crate::state::DeviceState;
use crate::wire::link::KEY_ACCEPT_TIMEOUT;
use crate::wire::shell::{MAX_OUTPUT, ShellOutput, ShellProtocol};
use crate::wire::{DirectAddress, KeyRing, Link, Server, Stream, WireError, sync, within};

/// How long a device that dropped may take to come back within a command: adb finds one again in
/// 250 ms, USB takes a few seconds, a command does not wait for a reboot.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(8);
/// How long one attempt to greet a device may take.
const GREETING_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a device on the network may be offline before the server is told to reconnect.
const REDIAL_INTERVAL: Duration = Duration::from_millis(1500);
/// Proves that a device answers.
const ECHO: &str = "shell:echo here";
/// More than that says no device, in bytes.
const MAX_ECHO: usize = 1024;
/// How often to look for a device that is away.
const RECONNECT_POLL: Duration = Duration::from_millis(50);

/// Whether a piece of work may be done twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// It changes nothing, or the same a second time.
    Freely,
    /// Only when it is certain that the device has not begun with it.
    IfNotBegun,
}

/// What a device that seemed lost needed to be used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reconnection {
    /// It was never away.
    NotNeeded,
    /// It was, and is there again.
    Done,
}

/// The way to one device.
#[derive(Debug)]
pub(crate) struct Phone {
    route: Route,
    protocol: Mutex<Option<Abilities>>,
    events: Option<EventSink>,
}

#[derive(Debug)]
enum Route {
    Server {
        server: Server,
        serial: String,
        /// The server has forgotten the device because it was told to: it is not to be found, but
        /// not unknown.
        forgotten: AtomicBool,
    },
    Direct {
        address: DirectAddress,
        keys: Arc<KeyRing>,
        link: tokio::sync::Mutex<Option<Arc<Link>>>,
    },
}

/// What a device's adbd can do, of what this driver needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Abilities {
    pub(crate) shell: ShellProtocol,
    /// Whether system services take commands and streams: `cmd package install`.
    pub(crate) cmd: bool,
}

impl Abilities {
    fn of<'a>(features: impl IntoIterator<Item = &'a str>) -> Self {
        let mut abilities = Self {
            shell: ShellProtocol::One,
            cmd: false,
        };
        for feature in features {
            match feature.trim() {
                "shell_v2" => abilities.shell = ShellProtocol::Two,
                "cmd" => abilities.cmd = true,
                _ => {}
            }
        }
        abilities
    }
}

impl Phone {
    /// A device that the adb server knows.
    pub(crate) const fn behind(server: Server, serial: String, events: Option<EventSink>) -> Self {
        Self {
            route: Route::Server {
                server,
                serial,
                forgotten: AtomicBool::new(false),
            },
            protocol: Mutex::new(None),
            events,
        }
    }

    /// A device that is connected to directly.
    pub(crate) fn at(
        address: DirectAddress,
        keys: Arc<KeyRing>,
        events: Option<EventSink>,
    ) -> Self {
        Self {
            route: Route::Direct {
                address,
                keys,
                link: tokio::sync::Mutex::new(None),
            },
            protocol: Mutex::new(None),
            events,
        }
    }

    /// Whether the device hangs on a network that it would take away from itself by
    /// disconnecting.
    pub(crate) fn hangs_on_its_network(&self) -> bool {
        let address = match &self.route {
            Route::Server { serial, .. } => serial.parse().ok(),
            Route::Direct { address, .. } => match address {
                DirectAddress::Tcp(address) => Some(*address),
                DirectAddress::Unix(_) => None,
            },
        };
        address.is_some_and(|address: std::net::SocketAddr| !address.ip().is_loopback())
    }

    /// Runs a command line in the device's shell.
    ///
    /// # Errors
    /// [`WireError`]; an exit code other than 0 is none.
    pub(crate) async fn shell(
        &self,
        command: &str,
        repeat: Repeat,
        deadline: Instant,
    ) -> Result<ShellOutput, WireError> {
        self.carry(repeat, deadline, || self.shell_once(command, deadline))
            .await
    }

    async fn shell_once(&self, command: &str, deadline: Instant) -> Result<ShellOutput, WireError> {
        let protocol = self.abilities(deadline).await?.shell;
        let service = protocol.service(command);
        let doing = format!("`{}`", shortened(command));
        self.served(&service, &doing, deadline, async |mut stream| {
            protocol.read(&mut stream).await
        })
        .await
    }

    /// Sends bytes to a service and reads what it answers until it closes. What a loss means is
    /// the caller's to judge: the service may have ended alone.
    ///
    /// # Errors
    /// [`WireError::NotSent`] for a loss before all bytes were on their way: a request that breaks
    /// off is none.
    pub(crate) async fn converse(
        &self,
        service: &str,
        doing: &str,
        request: Bytes,
        deadline: Instant,
    ) -> Result<Bytes, WireError> {
        let mut is_sent = request.is_empty();
        let talk = async |mut stream: Stream| {
            if !is_sent {
                stream.write_all(request.clone()).await?;
                is_sent = true;
            }
            stream.read_to_end(MAX_OUTPUT).await
        };
        match self.served(service, doing, deadline, talk).await {
            Err(WireError::Lost { doing }) if !is_sent => Err(WireError::NotSent { doing }),
            answer => answer,
        }
    }

    /// Writes a file on the device; `open` gives its content, once per attempt.
    pub(crate) async fn push<R, F>(
        &self,
        path: &str,
        mode: u32,
        open: impl Fn() -> F,
        deadline: Instant,
    ) -> Result<(), WireError>
    where
        R: AsyncRead + Unpin,
        F: Future<Output = std::io::Result<R>>,
    {
        let doing = format!("the transfer of {path}");
        self.carry(Repeat::Freely, deadline, || async {
            let content = open().await.map_err(|error| WireError::File {
                path: path.to_owned(),
                reason: error.to_string(),
            })?;
            self.served("sync:", &doing, deadline, async |mut stream| {
                sync::push(&mut stream, path, mode, content).await
            })
            .await
        })
        .await
    }

    /// Opens a service that stays open.
    pub(crate) async fn open(
        &self,
        service: &str,
        doing: &str,
        deadline: Instant,
    ) -> Result<Stream, WireError> {
        self.served(service, doing, deadline, async |stream| Ok(stream))
            .await
    }

    /// What the device's adbd can do; asked once per connection.
    pub(crate) async fn abilities(&self, deadline: Instant) -> Result<Abilities, WireError> {
        let known = *self.protocol.lock();
        if let Some(known) = known {
            return Ok(known);
        }
        let abilities = match &self.route {
            Route::Server { server, serial, .. } => {
                let doing = "ask for the device's features";
                let features = within(deadline, doing, server.features(serial)).await?;
                Abilities::of(features.split(','))
            }
            Route::Direct { .. } => {
                let link = self.link(deadline).await?;
                Abilities::of(link.banner().features.iter().map(String::as_str))
            }
        };
        self.remember(Some(abilities));
        Ok(abilities)
    }

    fn remember(&self, abilities: Option<Abilities>) {
        *self.protocol.lock() = abilities;
    }

    /// Opens a service and lets `talk` use it, all before `deadline`.
    async fn served<T>(
        &self,
        service: &str,
        doing: &str,
        deadline: Instant,
        talk: impl AsyncFnOnce(Stream) -> Result<T, WireError>,
    ) -> Result<T, WireError> {
        match &self.route {
            Route::Server { server, serial, .. } => {
                let work = async { talk(server.open(serial, service, doing).await?).await };
                within(deadline, doing, work).await
            }
            Route::Direct { .. } => {
                let link = self.link(deadline).await?;
                let work = async {
                    let stream = link.open(service, doing).await?;
                    talk(Stream::of_link(stream, doing)).await
                };
                within(deadline, doing, work).await
            }
        }
    }

    async fn link(&self, deadline: Instant) -> Result<Arc<Link>, WireError> {
        let Route::Direct {
            address,
            keys,
            link,
        } = &self.route
        else {
            // Only called for the other route; still an answer, not a panic.
            return Err(WireError::NotReady(DeviceState::Absent));
        };
        let mut link = link.lock().await;
        if let Some(link) = link.as_ref().filter(|link| !link.has_ended()) {
            return Ok(Arc::clone(link));
        }
        let limit = deadline.min(Instant::now() + GREETING_TIMEOUT);
        let new = Arc::new(Link::connect(address, keys, limit).await?);
        // However long ago it was cut, the driver's owner hears of it once.
        if link.replace(Arc::clone(&new)).is_some() {
            let what = "the connection was cut; the device came back".to_owned();
            self.report(DeviceEvent::Reconnected { what });
        }
        Ok(new)
    }

    /// Does `work`; when the device was lost, waits for it and does `work` once more, if it may be.
    async fn carry<T, F>(
        &self,
        repeat: Repeat,
        deadline: Instant,
        work: impl Fn() -> F,
    ) -> Result<T, WireError>
    where
        F: Future<Output = Result<T, WireError>>,
    {
        let error = match work().await {
            Err(error) if error.is_loss() => error,
            done => return done,
        };
        let may_repeat = match repeat {
            Repeat::Freely => true,
            Repeat::IfNotBegun => error.nothing_was_done(),
        };
        self.await_reconnection(&error, deadline).await?;
        self.report_reconnection(&error);
        if may_repeat { work().await } else { Err(error) }
    }

    /// Waits until the device can be used again after `error`.
    ///
    /// # Errors
    /// `error`, or what keeps the device away now if that says more.
    pub(crate) async fn await_reconnection(
        &self,
        error: &WireError,
        deadline: Instant,
    ) -> Result<Reconnection, WireError> {
        self.remember(None);
        let limit = deadline.min(Instant::now() + RECONNECT_TIMEOUT);
        tracing::debug!(%error, "waiting for the device");
        let state = match self.await_ready(limit).await {
            Err(WireError::NotReady(state @ (DeviceState::Absent | DeviceState::Offline))) => state,
            // Nothing answers, or nothing listens.
            Err(WireError::Timeout { .. } | WireError::Unreachable { .. }) => DeviceState::Offline,
            back => return back,
        };
        Err(match error.clone() {
            WireError::Lost { doing } | WireError::NotSent { doing } => {
                WireError::Gone { doing, state }
            }
            error => error,
        })
    }

    /// Tells the driver's owner that the device was away.
    pub(crate) fn report_reconnection(&self, error: &WireError) {
        match self.route {
            Route::Server { .. } => self.report(DeviceEvent::Reconnected {
                what: format!("{error}; the device came back"),
            }),
            // Reported when the link was reconnected.
            Route::Direct { .. } => {}
        }
    }

    /// Tells the driver's owner what happened on the device.
    pub(crate) fn report(&self, event: DeviceEvent) {
        if let Some(events) = &self.events {
            events.report(event);
        }
    }

    /// Waits until the device can be used.
    ///
    /// # Errors
    /// What keeps it away, at `deadline`, or at once when waiting does not help.
    pub(crate) async fn await_ready(&self, deadline: Instant) -> Result<Reconnection, WireError> {
        let accepted = Instant::now() + KEY_ACCEPT_TIMEOUT;
        let mut dialled: Option<Instant> = None;
        let mut reconnection = Reconnection::NotNeeded;
        let mut known = None;
        let begun = Instant::now();
        loop {
            let error = match self.look(deadline).await {
                Ok(Reconnection::NotNeeded) => return Ok(reconnection),
                Ok(Reconnection::Done) => return Ok(Reconnection::Done),
                // The last look was cut short; what the one before saw says more.
                Err(error @ WireError::Timeout { .. }) => return Err(known.unwrap_or(error)),
                Err(error) => error,
            };
            reconnection = Reconnection::Done;
            let may_pass = match &error {
                // A direct connection has already waited for the user.
                WireError::NotReady(DeviceState::Unauthorized) => {
                    matches!(self.route, Route::Server { .. }) && Instant::now() < accepted
                }
                WireError::NotReady(state) => state.may_pass(),
                WireError::Unreachable { .. }
                | WireError::NotSent { .. }
                | WireError::Lost { .. } => true,
                _ => false,
            };
            if !may_pass || Instant::now() + RECONNECT_POLL >= deadline {
                return Err(error);
            }
            // Again and again: a server that is still forgetting a device does not connect to it.
            let dial: &[&str] = match &error {
                _ if dialled.is_some_and(|at| at.elapsed() < REDIAL_INTERVAL) => &[],
                WireError::NotReady(DeviceState::Absent) => &["connect"],
                WireError::NotReady(DeviceState::Offline) if begun.elapsed() > REDIAL_INTERVAL => {
                    &["disconnect", "connect"]
                }
                _ => &[],
            };
            if !dial.is_empty() {
                self.ask_server(dial, deadline).await;
                dialled = Some(Instant::now());
            }
            known = Some(error);
            tokio::time::sleep(RECONNECT_POLL).await;
        }
    }

    /// Looks once whether the device can be used.
    async fn look(&self, deadline: Instant) -> Result<Reconnection, WireError> {
        let back = match &self.route {
            Route::Server {
                server,
                serial,
                forgotten,
            } => {
                let doing = "ask for the device's state";
                match within(deadline, doing, server.state(serial)).await? {
                    DeviceState::Device => forgotten.store(false, Ordering::Relaxed),
                    DeviceState::Absent if forgotten.load(Ordering::Relaxed) => {
                        return Err(WireError::NotReady(DeviceState::Offline));
                    }
                    state => return Err(WireError::NotReady(state)),
                }
                // The server may not have noticed yet that the device is gone.
                let echo = async {
                    let mut stream = server.open(serial, ECHO, doing).await?;
                    stream.read_to_end(MAX_ECHO).await
                };
                if within(deadline, doing, echo).await?.is_empty() {
                    return Err(WireError::NotReady(DeviceState::Offline));
                }
                Reconnection::NotNeeded
            }
            Route::Direct { link, .. } => {
                let link = link.lock().await;
                if link.as_ref().is_some_and(|link| !link.has_ended()) {
                    Reconnection::NotNeeded
                } else {
                    Reconnection::Done
                }
            }
        };
        self.remember(None);
        self.abilities(deadline).await?;
        Ok(back)
    }

    /// Asks the server to disconnect from or connect to a device on the network: by itself it
    /// tries again every ten seconds only, and forgets a device whose port was closed for a while.
    async fn ask_server(&self, requests: &[&str], deadline: Instant) {
        let Route::Server {
            server,
            serial,
            forgotten,
        } = &self.route
        else {
            return;
        };
        // Only looking at devices must not reconnect one that was just disconnected.
        if self.events.is_none() || !serial.contains(':') || serial.contains(' ') {
            return;
        }
        for what in requests {
            if *what == "disconnect" {
                forgotten.store(true, Ordering::Relaxed);
            }
            let request = format!("host:{what}:{serial}");
            let answer = within(deadline, "reconnect the device", server.query(&request)).await;
            tracing::debug!(?answer, serial, what, "asked the adb server");
        }
    }
}

/// A command as errors quote it.
fn shortened(command: &str) -> String {
    match command.char_indices().nth(80) {
        Some((cut, _)) => format!("{}...", &command[..cut]),
        None => command.to_owned(),
    }
}
