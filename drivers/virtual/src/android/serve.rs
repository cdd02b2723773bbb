//! Where a device listens: a TCP port, or an address of its own on a shared port.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};

use crate::android::Android;
use crate::android::auth::AuthPolicy;
use crate::android::link::{self, LinkFaults};
use crate::device::Power;
use crate::faults::{Event, Fault};
use crate::listener::ListenerScope;

impl ListenerScope {
    /// Has `android` listen on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port is free.
    pub async fn tcp(&self, android: Arc<Android>) -> std::io::Result<SocketAddr> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        self.accept_at(listener, move |_| Some(android.clone()));
        Ok(address)
    }

    /// Has all devices listen on one free port of all loopback addresses, each answering on its
    /// own address: 127.1.0.1, 127.1.0.2 ... (Linux has them all, macOS only 127.0.0.1.)
    ///
    /// # Errors
    /// When no port is free.
    pub async fn per_address(&self, androids: &[Arc<Android>]) -> std::io::Result<Vec<SocketAddr>> {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).await?;
        let port = listener.local_addr()?.port();
        let addresses: Vec<IpAddr> = (0..androids.len()).map(own_address).collect();
        let by_address: HashMap<IpAddr, Arc<Android>> = addresses
            .iter()
            .copied()
            .zip(androids.iter().cloned())
            .collect();
        self.accept_at(listener, move |dialled| by_address.get(&dialled).cloned());
        Ok(addresses
            .into_iter()
            .map(|ip| SocketAddr::new(ip, port))
            .collect())
    }

    fn accept_at(
        &self,
        listener: TcpListener,
        device_at: impl Fn(IpAddr) -> Option<Arc<Android>> + Send + 'static,
    ) {
        self.accept(listener, move |socket, peer| {
            let dialled = socket.local_addr().map(|address| address.ip());
            let device = dialled.ok().and_then(&device_at);
            async move {
                match device {
                    Some(android) => welcome(&android, socket, peer).await,
                    None => reset(&socket),
                }
            }
        });
    }
}

/// The loopback address of the device number `index`.
fn own_address(index: usize) -> IpAddr {
    let number = index + 1;
    let part = |shift: usize| u8::try_from(number >> shift & 0xff).unwrap_or(u8::MAX);
    // 127.1.x.y leaves 127.0.0.1 to others.
    IpAddr::V4(Ipv4Addr::new(127, 1 + part(16), part(8), part(0)))
}

async fn welcome(android: &Arc<Android>, socket: TcpStream, peer: SocketAddr) {
    match admit(android, peer).await {
        Admission::Accepted(faults) => {
            link::serve(android, socket.into_split(), faults).await;
        }
        Admission::Refused => {}
        Admission::Reset => reset(&socket),
    }
}

/// Closes with RST, as a kernel does for which nobody listens any more. A device that is down
/// and accepts without answering would be `offline` for its host for good.
fn reset(socket: &TcpStream) {
    // Without it the client sees a plain end, which is as good.
    let _ = socket.set_zero_linger();
}

enum Admission {
    Accepted(LinkFaults),
    Refused,
    Reset,
}

async fn admit(android: &Arc<Android>, peer: SocketAddr) -> Admission {
    let device = android.device();
    if device.power() != Power::Up {
        return Admission::Reset;
    }
    let mut link = LinkFaults::default();
    for fault in device.fire_faults(Event::Connect(&peer.to_string())) {
        match fault {
            Fault::Refuse => return Admission::Refused,
            Fault::Reset => return Admission::Reset,
            Fault::NeverCnxn => link.silent = true,
            Fault::Unauthorized => link.auth = Some(AuthPolicy::Pending),
            Fault::AcceptAfter(time) => link.auth = Some(AuthPolicy::AcceptAfter(time.0)),
            Fault::Slow { bytes_per_second } => link.bytes_per_second = Some(bytes_per_second),
            Fault::DropAfter { bytes } => link.drop_after = Some(bytes),
            Fault::Flap(time) => link.flap = Some(time.0),
            Fault::Delay(time) => device.sleep(time.0).await,
            _ => {}
        }
    }
    Admission::Accepted(link)
}
