//! Where connections to a WebDriverAgent come from: TCP, or a tunnel through usbmuxd, one for
//! each connection.

use std::io;
use std::time::Duration;

use packtrain_drivers::local_network;
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::mux::{self, MuxAddress, MuxError};
use crate::stream::BoxStream;

/// How long a computer in the same room takes to accept a connection, at most.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The port of this computer on which a simulator's WebDriverAgent listens, once that is known.
pub(crate) type AgentPort = watch::Sender<Option<u16>>;

/// A way to a WebDriverAgent.
#[derive(Debug, Clone)]
pub(crate) enum Dial {
    Tcp {
        host: String,
        port: u16,
    },
    Tunnel {
        muxer: MuxAddress,
        udid: String,
        port: u16,
    },
    Simulator(AgentPort),
}

/// Why there is no connection. Nothing was sent, so trying again is always safe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DialError {
    /// The other end is there, but no WebDriverAgent.
    #[error("nothing listens at {at}")]
    Refused { at: String },
    /// It cannot be told whether there is another end.
    #[error("connect to {at}: {message}")]
    Unreachable { at: String, message: String },
    /// The device is not plugged in.
    #[error(transparent)]
    Mux(MuxError),
}

impl Dial {
    /// A connection. Small messages are sent at once.
    pub(crate) async fn open(&self) -> Result<BoxStream, DialError> {
        match self {
            Self::Tcp { host, port } => connect(host, *port).await,
            Self::Simulator(port) => {
                let port = *port.borrow();
                let at = "the simulator".to_owned();
                connect("127.0.0.1", port.ok_or(DialError::Refused { at })?).await
            }
            Self::Tunnel { muxer, udid, port } => {
                mux::connect(muxer, udid, *port)
                    .await
                    .map_err(|error| match error {
                        MuxError::Refused { udid, port } => DialError::Refused {
                            at: format!("port {port} of {udid}"),
                        },
                        other => DialError::Mux(other),
                    })
            }
        }
    }

    /// What HTTP calls the other end.
    pub(crate) fn host(&self) -> String {
        match self {
            Self::Tcp { host, port } => format!("{host}:{port}"),
            Self::Tunnel { port, .. } => format!("127.0.0.1:{port}"),
            Self::Simulator(port) => format!("127.0.0.1:{}", port.borrow().unwrap_or(0)),
        }
    }
}

async fn connect(host: &str, port: u16) -> Result<BoxStream, DialError> {
    let at = format!("{host}:{port}");
    let unreachable = |message: String| DialError::Unreachable {
        at: at.clone(),
        message,
    };
    let connecting = TcpStream::connect((host, port));
    let connected = tokio::time::timeout(CONNECT_TIMEOUT, connecting).await;
    let connected = connected
        .map_err(|_| unreachable(format!("no answer within {} s", CONNECT_TIMEOUT.as_secs())))?;
    let stream = connected.map_err(|error| match error.kind() {
        // A listener that stops just then resets it.
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset => {
            DialError::Refused { at: at.clone() }
        }
        _ => unreachable(error.to_string()),
    })?;
    let prepared = stream.set_nodelay(true);
    prepared.map_err(|error| unreachable(error.to_string()))?;
    Ok(Box::new(stream))
}

impl DialError {
    /// What a person can do about it.
    pub(crate) fn hint(&self) -> String {
        self.hint_on(std::env::consts::OS)
    }

    fn hint_on(&self, system: &str) -> String {
        match self {
            Self::Refused { .. } => "start WebDriverAgent on the device, or set `start` in \
                 devices.ios.<name> to a command that does"
                .to_owned(),
            Self::Unreachable { message, .. } => local_network::hint(system, message)
                .unwrap_or("check the address in devices.ios.<name>.wda and the network")
                .to_owned(),
            Self::Mux(MuxError::Absent { .. }) => {
                "on Linux, install and start usbmuxd; on macOS it is always there".to_owned()
            }
            Self::Mux(MuxError::NoDevice { udid, .. }) => {
                format!("plug {udid} in, unlock it and trust this computer")
            }
            Self::Mux(MuxError::Refused { .. } | MuxError::Failed { .. }) => {
                "unplug the device and plug it in again".to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_macos_may_keep_from_us_is_hinted_at_so() {
        let ehostunreach = if cfg!(target_os = "macos") { 65 } else { 113 };
        for (number, is_hint) in [(ehostunreach, true), (13, false)] {
            let message = io::Error::from_raw_os_error(number).to_string();
            let at = "10.0.0.7:8100".to_owned();
            let error = DialError::Unreachable { at, message };
            assert_eq!(error.hint_on("macos").contains("Local Network"), is_hint);
            assert!(error.hint_on("linux").contains("check the address"));
        }
    }
}
