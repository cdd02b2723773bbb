//! The services lockdownd starts, and the ports they wait on.

mod installation_proxy;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::channel::{Channel, handshake};
use super::pairing::{HostId, tls};
use super::{Lockdown, values};
use crate::device::Device;
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

type Ended = Result<(), FrameError>;

/// A service, which talks with its client until that leaves.
pub(super) type Serve = for<'a> fn(Channel, &'a Device) -> BoxFuture<'a, Ended>;

/// The services that clients ask a phone without a developer disk image for.
const SERVICES: [(&str, Serve); 6] = [
    ("com.apple.mobile.heartbeat", |channel, _| {
        heartbeat(channel).boxed()
    }),
    (
        "com.apple.mobile.insecure_notification_proxy",
        |channel, _| notifications(channel).boxed(),
    ),
    ("com.apple.mobile.installation_proxy", |channel, device| {
        installation_proxy::serve(channel, device).boxed()
    }),
    ("com.apple.mobile.mobile_image_mounter", |channel, _| {
        mounted_images(channel).boxed()
    }),
    ("com.apple.mobile.notification_proxy", |channel, _| {
        notifications(channel).boxed()
    }),
    ("com.apple.syslog_relay", |channel, _| {
        system_log(channel).boxed()
    }),
];

/// The service of that name.
pub(super) fn named(name: &str) -> Option<Serve> {
    let found = SERVICES.iter().find(|(known, _)| *known == name);
    found.map(|(_, serve)| *serve)
}

/// The ports of services that wait for a client.
#[derive(Default)]
pub(super) struct Ports(Mutex<PendingServices>);

#[derive(Default)]
struct PendingServices {
    given: u16,
    /// Each with the host it was started for.
    services: VecDeque<(DevicePort, (Serve, HostId))>,
}

impl Ports {
    /// Starts a service and answers where.
    pub(super) fn start(&self, serve: Serve, host: HostId) -> DevicePort {
        let mut waiting = self.0.lock();
        let port = DevicePort(FIRST_PORT + waiting.given);
        waiting.given = (waiting.given + 1) % (u16::MAX - FIRST_PORT);
        waiting.services.retain(|(taken, _)| *taken != port);
        if waiting.services.len() == MAX_WAITING {
            waiting.services.pop_front();
        }
        waiting.services.push_back((port, (serve, host)));
        port
    }

    /// Hands over the service that waits on `port`.
    pub(super) fn take(&self, port: DevicePort) -> Option<(Serve, HostId)> {
        let mut waiting = self.0.lock();
        let place = waiting.services.iter().position(|(at, _)| *at == port)?;
        waiting.services.remove(place).map(|(_, started)| started)
    }
}

/// Serves the one client of a started service.
pub(super) async fn serve(phone: Arc<Lockdown>, started: (Serve, HostId), stream: BoxStream) {
    if let Err(error) = talk(&phone, started, stream).await {
        tracing::debug!(%error, "a service's client was dropped");
    }
}

async fn talk(phone: &Lockdown, (serve, host): (Serve, HostId), stream: BoxStream) -> Ended {
    // The host may have been forgotten since; a phone closes the connection then.
    let Some(pairing) = phone.pairings.get(&host) else {
        return Ok(());
    };
    let stream = handshake(stream, tls(&pairing)).await?;
    serve(Channel::Secure(Box::new(stream)), &phone.device).await
}

/// The phone says Marco, the host says Polo.
async fn heartbeat(mut channel: Channel) -> Ended {
    loop {
        let asked = tokio::time::Instant::now();
        let marco = dictionary([
            ("Command", "Marco".into()),
            ("Interval", Value::from(HEARTBEAT_INTERVAL.as_secs())),
            ("SupportsSleepyTime", true.into()),
        ]);
        channel.write(marco).await?;
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

/// Whether a developer disk image is mounted. None is, and none can be: there is nothing behind
/// the services it would bring.
async fn mounted_images(mut channel: Channel) -> Ended {
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

/// Darwin notifications by name. A client hears what it posts itself, when it observes it; the
/// phone posts nothing of its own accord.
async fn notifications(mut channel: Channel) -> Ended {
    let mut observed = HashSet::new();
    while let Some(request) = channel.read().await? {
        let name = text(&request, "Name").unwrap_or_default();
        match text(&request, "Command").unwrap_or_default() {
            "ObserveNotification" if observed.len() < MAX_OBSERVED => {
                observed.insert(name.to_owned());
            }
            "PostNotification" if observed.contains(name) => {
                let command = ("Command", "RelayNotification".into());
                let relay = dictionary([command, ("Name", name.into())]);
                channel.write(relay).await?;
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

/// The system's log as lines, for as long as the client listens. What a virtual phone has to say
/// fits into one.
async fn system_log(channel: Channel) -> Ended {
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

    fn start(ports: &Ports) -> DevicePort {
        ports.start(SERVICES[0].1, HostId("host".to_owned()))
    }

    #[test]
    fn a_port_takes_one_client() {
        let ports = Ports::default();
        let port = start(&ports);
        assert!(ports.take(port).is_some());
        assert!(ports.take(port).is_none());
    }

    #[test]
    fn services_that_nobody_fetches_do_not_pile_up() {
        let ports = Ports::default();
        let first = start(&ports);
        for _ in 0..MAX_WAITING {
            start(&ports);
        }
        assert!(ports.take(first).is_none());
    }
}
