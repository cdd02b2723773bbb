//! The service lockdownd starts, the list of apps, and the ports it waits on.

mod installation_proxy;

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use super::Lockdown;
use super::channel::{Channel, handshake};
use super::pairing::{HostId, tls};
use crate::usbmux::frame::FrameError;
use crate::usbmux::{BoxStream, DevicePort};

/// The first port a phone gives away.
const FIRST_PORT: u16 = 49_152;
/// The only service: others need a developer disk image, or nobody asks for them.
pub(super) const NAME: &str = "com.apple.mobile.installation_proxy";
/// How many started services may wait for their client; the oldest goes first.
const MAX_WAITING: usize = 256;

/// The ports of services that wait for a client.
#[derive(Default)]
pub(super) struct Ports(Mutex<PendingServices>);

#[derive(Default)]
struct PendingServices {
    given: u16,
    /// Each with the host it was started for.
    services: VecDeque<(DevicePort, HostId)>,
}

impl Ports {
    /// Starts a service and answers where.
    pub(super) fn start(&self, host: HostId) -> DevicePort {
        let mut waiting = self.0.lock();
        let port = DevicePort(FIRST_PORT + waiting.given);
        waiting.given = (waiting.given + 1) % (u16::MAX - FIRST_PORT);
        waiting.services.retain(|(taken, _)| *taken != port);
        if waiting.services.len() == MAX_WAITING {
            waiting.services.pop_front();
        }
        waiting.services.push_back((port, host));
        port
    }

    /// Hands over the service that waits on `port`.
    pub(super) fn take(&self, port: DevicePort) -> Option<HostId> {
        let mut waiting = self.0.lock();
        let place = waiting.services.iter().position(|(at, _)| *at == port)?;
        waiting.services.remove(place).map(|(_, host)| host)
    }
}

/// Serves the one client of a started service.
pub(super) async fn serve(phone: Arc<Lockdown>, host: HostId, stream: BoxStream) {
    if let Err(error) = talk(&phone, &host, stream).await {
        tracing::debug!(%error, "a service's client was dropped");
    }
}

async fn talk(phone: &Lockdown, host: &HostId, stream: BoxStream) -> Result<(), FrameError> {
    // The host may have been forgotten since; a phone closes the connection then.
    let Some(pairing) = phone.pairings.get(host) else {
        return Ok(());
    };
    let stream = handshake(stream, tls(&pairing)).await?;
    let channel = Channel::Secure(Box::new(stream));
    installation_proxy::serve(channel, &phone.device).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_takes_one_client() {
        let ports = Ports::default();
        let port = ports.start(HostId("host".to_owned()));
        assert!(ports.take(port).is_some());
        assert!(ports.take(port).is_none());
    }

    #[test]
    fn services_that_nobody_fetches_do_not_pile_up() {
        let ports = Ports::default();
        let host = || HostId("host".to_owned());
        let first = ports.start(host());
        for _ in 0..MAX_WAITING {
            ports.start(host());
        }
        assert!(ports.take(first).is_none());
    }
}
