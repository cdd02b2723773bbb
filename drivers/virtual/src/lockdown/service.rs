//! The services lockdownd starts, and the ports they wait on.

mod installation_proxy;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::channel::{Channel, handshake};
use super::pairing::HostId;
use super::{Inner, values};
use crate::plist::{Value, dictionary, text};
use crate::usbmux::frame::FrameError;
use crate::usbmux::{BoxStream, DevicePort};

/// The first port a phone gives away.
const FIRST_PORT: u16 = 49_152;
/// How many started services may wait for their client; the oldest goes first.
const MAX_WAITING: usize = 256;
/// How often a phone's heartbeat asks, which it also tells the host.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);
/// How many names one client may observe.
const MAX_OBSERVED: usize = 1_024;

/// The services a phone without a developer disk image has and clients ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Heartbeat,
    ImageMounter,
    InstallationProxy,
    NotificationProxy,
    SyslogRelay,
}

impl Kind {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "com.apple.mobile.heartbeat" => Self::Heartbeat,
            "com.apple.mobile.mobile_image_mounter" => Self::ImageMounter,
            "com.apple.mobile.installation_proxy" => Self::InstallationProxy,
            "com.apple.mobile.notification_proxy"
            | "com.apple.mobile.insecure_notification_proxy" => Self::NotificationProxy,
            "com.apple.syslog_relay" => Self::SyslogRelay,
            _ => return None,
        })
    }
}

/// An installed app, as installation_proxy lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledApp {
    /// `com.example.shop`.
    pub bundle_id: String,
    /// What stands under its icon.
    pub name: String,
    /// `2.4.1`.
    pub version: String,
    /// Whether it came with the system.
    pub origin: Origin,
}

/// Where an app came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Part of iOS.
    System,
    /// Installed by someone.
    User,
}

/// What lockdownd cannot know beforehand: the apps on a phone, and how its battery is.
pub trait Inventory: Send + Sync {
    /// Charge of the battery in percent.
    fn battery_percent(&self) -> u8;

    /// What is installed.
    fn apps(&self) -> Vec<InstalledApp>;

    /// Removes an app that somebody installed; `false` when there is none of that id.
    fn uninstall(&self, bundle_id: &str) -> bool;
}

/// A service that was started for a host and waits for its one client.
#[derive(Debug)]
pub(super) struct Started {
    kind: Kind,
    host: HostId,
}

/// The ports of services that wait for a client.
#[derive(Default)]
pub(super) struct Ports(Mutex<PendingServices>);

#[derive(Default)]
struct PendingServices {
    given: u16,
    services: VecDeque<(DevicePort, Started)>,
}

impl Ports {
    /// Starts a service and answers where.
    pub(super) fn start(&self, kind: Kind, host: HostId) -> DevicePort {
        let mut waiting = self.0.lock();
        let port = DevicePort(FIRST_PORT + waiting.given);
        waiting.given = (waiting.given + 1) % (u16::MAX - FIRST_PORT);
        waiting.services.retain(|(taken, _)| *taken != port);
        if waiting.services.len() == MAX_WAITING {
            waiting.services.pop_front();
        }
        waiting.services.push_back((port, Started { kind, host }));
        port
    }

    /// Hands over the service that waits on `port`.
    pub(super) fn take(&self, port: DevicePort) -> Option<Started> {
        let mut waiting = self.0.lock();
        let place = waiting.services.iter().position(|(at, _)| *at == port)?;
        waiting.services.remove(place).map(|(_, started)| started)
    }
}

/// Serves the one client of a started service.
pub(super) async fn serve(phone: Arc<Inner>, started: Started, stream: BoxStream) {
    if let Err(error) = talk(&phone, &started, stream).await {
        tracing::debug!(%error, kind = ?started.kind, "a service's client was dropped");
    }
}

async fn talk(phone: &Inner, started: &Started, stream: BoxStream) -> Result<(), FrameError> {
    // The host may have been forgotten since; a phone closes the connection then.
    let Some(pairing) = phone.pairings.get(&started.host) else {
        return Ok(());
    };
    let stream = handshake(stream, phone.identity.tls(&pairing)).await?;
    let mut channel = Channel::Secure(Box::new(stream));
    match started.kind {
        Kind::Heartbeat => heartbeat(&mut channel).await,
        Kind::ImageMounter => mounted_images(&mut channel).await,
        Kind::InstallationProxy => {
            installation_proxy::serve(channel, phone.inventory.as_ref()).await
        }
        Kind::NotificationProxy => notifications(&mut channel).await,
        Kind::SyslogRelay => system_log(channel).await,
    }
}

/// `com.apple.mobile.heartbeat`: the phone says Marco, the host says Polo.
async fn heartbeat(channel: &mut Channel) -> Result<(), FrameError> {
    loop {
        let marco = dictionary([
            ("Command", "Marco".into()),
            ("Interval", Value::from(HEARTBEAT_INTERVAL.as_secs())),
            ("SupportsSleepyTime", true.into()),
        ]);
        channel.write(marco).await?;
        let asked = tokio::time::Instant::now();
        let Ok(answer) = tokio::time::timeout(2 * HEARTBEAT_INTERVAL, channel.read()).await else {
            let tired = dictionary([("Command", "SleepyTime".into())]);
            return Ok(channel.write(tired).await?);
        };
        if answer?.is_none_or(|answer| text(&answer, "Command") != Some("Polo")) {
            return Ok(());
        }
        tokio::time::sleep_until(asked + HEARTBEAT_INTERVAL).await;
    }
}

/// `com.apple.mobile.mobile_image_mounter`: whether a developer disk image is mounted. None is,
/// and none can be: there is nothing behind the services it would bring.
async fn mounted_images(channel: &mut Channel) -> Result<(), FrameError> {
    while let Some(request) = channel.read().await? {
        let command = text(&request, "Command").unwrap_or_default();
        let mut answer = values::recorded(["image_mounter", command]);
        if answer.is_empty() {
            answer = dictionary([("Error", "UnknownCommand".into())]);
        }
        channel.write(answer).await?;
        if command == "Hangup" {
            break;
        }
    }
    Ok(())
}

/// `com.apple.mobile.notification_proxy`: Darwin notifications by name. A client hears what it
/// posts itself, when it observes it; the phone posts nothing of its own accord.
async fn notifications(channel: &mut Channel) -> Result<(), FrameError> {
    let mut observed = HashSet::new();
    while let Some(request) = channel.read().await? {
        let name = text(&request, "Name").unwrap_or_default();
        match text(&request, "Command").unwrap_or_default() {
            "ObserveNotification" if observed.len() < MAX_OBSERVED => {
                observed.insert(name.to_owned());
            }
            "PostNotification" if observed.contains(name) => {
                let relay = [
                    ("Command", "RelayNotification".into()),
                    ("Name", name.into()),
                ];
                channel.write(dictionary(relay)).await?;
            }
            "Shutdown" => {
                let death = dictionary([("Command", "ProxyDeath".into())]);
                return Ok(channel.write(death).await?);
            }
            // Unanswered on a phone, too.
            _ => {}
        }
    }
    Ok(())
}

/// `com.apple.syslog_relay`: the system's log as lines, for as long as the client listens. What a
/// virtual phone has to say fits into one.
async fn system_log(channel: Channel) -> Result<(), FrameError> {
    let Channel::Secure(mut stream) = channel else {
        return Ok(());
    };
    // Lines end with a line feed and a zero.
    let line = b"Jan  1 00:00:00 iPhone syslog_relay[1] <Notice>: syslog_relay starting\n\0";
    stream.write_all(line).await?;
    stream.flush().await?;
    let mut ignored = [0; 256];
    while stream.read(&mut ignored).await? > 0 {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_takes_one_client() {
        let ports = Ports::default();
        let port = ports.start(Kind::Heartbeat, HostId("host".to_owned()));
        assert!(ports.take(port).is_some());
        assert!(ports.take(port).is_none());
    }

    #[test]
    fn services_that_nobody_fetches_do_not_pile_up() {
        let ports = Ports::default();
        let host = || HostId("host".to_owned());
        let first = ports.start(Kind::Heartbeat, host());
        for _ in 0..MAX_WAITING {
            ports.start(Kind::Heartbeat, host());
        }
        assert!(ports.take(first).is_none());
    }
}
