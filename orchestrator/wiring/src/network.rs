//! Android devices on the network, which the adb server is asked to connect to, to pair with or to
//! forget.

use std::net::{SocketAddr, SocketAddrV4, ToSocketAddrs};
use std::sync::Arc;

use packtrain_config::Config;
use packtrain_driver_adb::{AdbError, AdbPool};
use packtrain_drivers::{DeviceId, Platform};
use packtrain_terminal::exit::CliError;

use super::android;
use super::selection::Search;

/// Where adbd listens by default.
const ADBD_PORT: u16 = 5555;

/// The adb server, and what it is asked about devices on the network.
pub struct Network {
    pool: Arc<AdbPool>,
}

impl Network {
    /// Starts a server with the first request when none runs.
    ///
    /// # Errors
    /// When the configuration is invalid.
    pub fn new(config: &Config) -> Result<Self, CliError> {
        let options = android::options(&config.devices.android, Search::Thoroughly)?;
        let pool = AdbPool::new(options);
        Ok(Self { pool })
    }

    /// Connects a device.
    ///
    /// # Errors
    /// When it does not answer or does not know this computer.
    pub async fn connect(&self, address: &str) -> Result<DeviceId, CliError> {
        let device = resolve(address, Some(ADBD_PORT))?;
        let connected = self.pool.connect(device).await;
        // A device that asks its owner whether to trust this computer is listed all the same.
        let listed = self.pool.devices().await.unwrap_or_default();
        let hint = listed
            .into_iter()
            .find(|listed| listed.serial == device.to_string())
            .and_then(|listed| listed.hint);
        connected.map_err(|error| match hint {
            Some(hint) => refused(&error).hint(hint),
            None => refused(&error),
        })?;
        Ok(id(device))
    }

    /// Pairs this computer with a device that shows an address and a code.
    ///
    /// # Errors
    /// When the device does not answer or the code is not the one it shows.
    pub async fn pair(&self, address: &str, code: &str) -> Result<(), CliError> {
        if code.is_empty() || !code.chars().all(|digit| digit.is_ascii_digit()) {
            return Err(CliError::misuse(format!("`{code}` is not a pairing code"))
                .hint("the phone shows six digits"));
        }
        let device = resolve(address, None)?;
        self.pool.pair(device, code).await.map_err(|error| {
            refused(&error).hint("the phone shows a new port and a new code each time")
        })
    }

    /// Disconnects a device, or all devices on the network; answers which.
    ///
    /// # Errors
    /// When it is not connected.
    pub async fn disconnect(&self, address: Option<&str>) -> Result<Vec<DeviceId>, CliError> {
        let devices = match address {
            Some(address) => vec![resolve(address, Some(ADBD_PORT))?],
            None => {
                let listed = self.pool.devices().await.map_err(|error| refused(&error))?;
                let serials = listed.iter().map(|device| device.serial.parse());
                serials.filter_map(Result::ok).collect()
            }
        };
        let mut gone = Vec::new();
        for device in devices {
            let disconnected = self.pool.disconnect(device).await;
            disconnected.map_err(|error| refused(&error))?;
            gone.push(id(device));
        }
        Ok(gone)
    }
}

fn id(device: SocketAddrV4) -> DeviceId {
    DeviceId::new(Platform::Android, device.to_string())
}

fn refused(error: &AdbError) -> CliError {
    let refused = CliError::infrastructure(error.to_string());
    match error.hint() {
        Some(hint) => refused.hint(hint),
        None => refused,
    }
}

/// The address of `HOST:PORT`, or of `HOST` when there is a usual port.
fn resolve(text: &str, usual: Option<u16>) -> Result<SocketAddrV4, CliError> {
    let wrong = || {
        let form = match usual {
            Some(_) => "HOST or HOST:PORT",
            None => "HOST:PORT, as the phone shows it beside the code",
        };
        CliError::misuse(format!("`{text}` is not an address")).hint(format!("expected {form}"))
    };
    let (host, port) = match (text.rsplit_once(':'), usual) {
        (Some((host, port)), _) => (host, port.parse().map_err(|_| wrong())?),
        (None, Some(port)) => (text, port),
        (None, None) => return Err(wrong()),
    };
    if host.is_empty() || host.contains([':', '/', '@', ' ']) || port == 0 {
        return Err(wrong());
    }
    let found = (host, port)
        .to_socket_addrs()
        .map_err(|error| CliError::infrastructure(format!("cannot find {host}")).because(&error))?;
    let mut found = found.filter_map(|address| match address {
        SocketAddr::V4(address) => Some(address),
        SocketAddr::V6(_) => None,
    });
    found
        .next()
        .ok_or_else(|| CliError::infrastructure(format!("{host} has no IPv4 address")))
}
