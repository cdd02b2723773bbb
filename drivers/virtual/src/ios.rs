//! Virtual iPhones: each a [`Device`] with lockdownd and WebDriverAgent, all of them plugged into
//! one usbmuxd.
//!
//! Clients that come through usbmuxd find every phone behind one socket; those that speak to
//! WebDriverAgent directly find each at a TCP address of its own, as a simulator's.

mod inventory;
mod phone;
mod port;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
#[cfg(unix)]
use std::path::Path;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use self::phone::Iphone;
use crate::device::Device;
use crate::lockdown::Identity;
pub use crate::usbmux::Udid;
use crate::usbmux::Usbmuxd;

/// Several virtual iPhones and the usbmuxd they are plugged into.
pub struct Iphones {
    phones: Vec<Arc<Iphone>>,
    usbmuxd: Arc<Usbmuxd>,
    usbmuxd_address: SocketAddr,
}

/// The udid of the phone number `index` of a fleet, as phones of the last years have them: chip
/// and serial number of the chip.
pub fn udid(index: usize) -> Udid {
    Udid(format!(
        "00008110-{:016X}",
        0x000a_1b2c_0000_0000 + index as u64 + 1
    ))
}

impl Iphones {
    /// Plugs one phone in for each device. Their serials are their udids. This host is one every
    /// phone trusts. `shutdown` ends all they do, `tasks` waits for it.
    ///
    /// # Errors
    /// When no port is free on this machine.
    pub async fn start(
        devices: impl IntoIterator<Item = Arc<Device>>,
        shutdown: CancellationToken,
        tasks: TaskTracker,
    ) -> io::Result<Self> {
        let usbmuxd = Arc::new(Usbmuxd::new(shutdown.clone(), tasks.clone()));
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let usbmuxd_address = usbmuxd.serve_tcp(anywhere).await?;
        let identity = Arc::new(Identity::new());
        let phones = devices.into_iter().map(|device| {
            let (identity, usbmuxd) = (identity.clone(), usbmuxd.clone());
            Iphone::start(device, identity, usbmuxd, shutdown.clone(), tasks.clone())
        });
        Ok(Self {
            phones: phones.collect::<io::Result<_>>()?,
            usbmuxd,
            usbmuxd_address,
        })
    }

    /// The phones, in the order of their devices.
    pub fn phones(&self) -> &[Arc<Iphone>] {
        &self.phones
    }

    /// Where usbmuxd listens: `127.0.0.1:port`, the form `USBMUXD_SOCKET_ADDRESS` takes.
    pub const fn usbmuxd_address(&self) -> SocketAddr {
        self.usbmuxd_address
    }

    /// Has usbmuxd listen at a Unix socket, too; clients take it as `UNIX:path`.
    ///
    /// # Errors
    /// When the socket cannot be made, also when the path exists.
    #[cfg(unix)]
    pub fn serve_unix(&self, path: &Path) -> io::Result<()> {
        self.usbmuxd.serve_unix(path)
    }
}

impl std::fmt::Debug for Iphones {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Iphones")
            .field("phones", &self.phones)
            .field("usbmuxd_address", &self.usbmuxd_address)
            .finish_non_exhaustive()
    }
}
