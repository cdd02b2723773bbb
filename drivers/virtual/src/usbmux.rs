//! A usbmuxd: the daemon on a host that knows which iPhones hang on its cables and turns a client's
//! socket into a connection to a port of one of them.
//!
//! Wire: <https://github.com/libimobiledevice/usbmuxd> (`src/usbmuxd-proto.h`, `src/client.c`), the
//! plist dialect that every client of the last ten years speaks. This module does not know what
//! runs on a device's ports; [`Attachable`] is all it sees of one.

mod connection;
pub(crate) mod faulty_stream;
pub(crate) mod frame;
mod hub;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
#[cfg(unix)]
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use self::hub::DeviceId;
use self::hub::Hub;

/// A future in a box.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A connection of whatever kind: TCP, Unix socket, TLS over either.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A [`Stream`] in a box.
pub type BoxStream = Box<dyn Stream>;

/// What answers on a device's port: takes one connection and ends with it.
pub type Service = Box<dyn FnOnce(BoxStream) -> BoxFuture<'static, ()> + Send>;

/// A device's unique identifier, `00008110-000A1B2C3D4E801E`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Udid(pub String);

impl Udid {
    /// The identifier as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Udid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The identity of a host as its pair records carry it, a UUID.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemBuid(pub String);

/// A TCP port on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DevicePort(pub u16);

/// What stands at the far end of a cable.
pub trait Attachable: Send + Sync + 'static {
    /// The name clients know it by.
    fn udid(&self) -> &Udid;

    /// What answers on `port`; `None` when nothing listens there and the connection is refused.
    fn open(&self, port: DevicePort) -> BoxFuture<'_, Option<Service>>;
}

/// A running usbmuxd.
#[derive(Clone)]
pub struct Usbmuxd {
    hub: Arc<Hub>,
    shutdown: CancellationToken,
    tasks: TaskTracker,
}

impl Usbmuxd {
    /// A usbmuxd with nothing attached and nobody to talk to yet. `shutdown` ends all it does,
    /// `tasks` waits for it.
    pub fn new(shutdown: CancellationToken, tasks: TaskTracker) -> Self {
        Self {
            hub: Arc::new(Hub::default()),
            shutdown,
            tasks,
        }
    }

    /// Takes clients at a TCP address, port 0 for any; answers the address it got. Clients find it
    /// through `USBMUXD_SOCKET_ADDRESS=127.0.0.1:port`.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub async fn serve_tcp(&self, address: SocketAddr) -> io::Result<SocketAddr> {
        let listener = TcpListener::bind(address).await?;
        let (address, listener) = (listener.local_addr()?, Arc::new(listener));
        self.tasks.spawn(self.clone().accept(move || {
            let listener = listener.clone();
            async move {
                let (stream, _) = listener.accept().await?;
                // Small messages that wait for an answer: Nagle would cost 40 ms each.
                let _ = stream.set_nodelay(true);
                Ok(Box::new(stream) as BoxStream)
            }
        }));
        Ok(address)
    }

    /// Takes clients at a Unix socket, as a real usbmuxd does at `/var/run/usbmuxd`. Clients find
    /// it through `USBMUXD_SOCKET_ADDRESS=UNIX:path`.
    ///
    /// # Errors
    /// When the socket cannot be bound, also when the path exists.
    #[cfg(unix)]
    pub fn serve_unix(&self, path: &Path) -> io::Result<()> {
        let listener = Arc::new(UnixListener::bind(path)?);
        let (path, usbmuxd) = (path.to_owned(), self.clone());
        self.tasks.spawn(async move {
            let accept = || {
                let listener = listener.clone();
                async move { Ok(Box::new(listener.accept().await?.0) as BoxStream) }
            };
            usbmuxd.accept(accept).await;
            // The socket was ours; a path that stays behind would refuse the next bind.
            let _ = std::fs::remove_file(path);
        });
        Ok(())
    }

    async fn accept<F: Future<Output = io::Result<BoxStream>>>(self, next: impl Fn() -> F) {
        while let Some(accepted) = self.shutdown.run_until_cancelled(next()).await {
            match accepted {
                Ok(stream) => {
                    let client = connection::serve(self.hub.clone(), stream);
                    let stop = self.shutdown.clone();
                    self.tasks
                        .spawn(async move { stop.run_until_cancelled_owned(client).await });
                }
                Err(error) => {
                    // Out of file descriptors, usually: the listener stays and lets others close some.
                    tracing::warn!(%error, "usbmuxd could not accept a client");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    /// Plugs a device in and tells everyone who listens. A device that is plugged in already is
    /// pulled out first.
    pub fn attach(&self, device: Arc<dyn Attachable>) -> DeviceId {
        self.hub.attach(device)
    }

    /// Pulls the cable: its connections end and listeners are told. Answers whether it was there.
    pub fn detach(&self, udid: &Udid) -> bool {
        self.hub.detach(udid)
    }

    /// The identity of this host, which pair records carry.
    pub fn system_buid(&self) -> &SystemBuid {
        self.hub.system_buid()
    }

    /// Stores a pair record, as if this host had paired with the device before.
    pub fn save_pair_record(&self, udid: &Udid, record: Vec<u8>) {
        self.hub.save_pair_record(udid.as_str(), record);
    }
}
