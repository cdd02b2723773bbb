//! The adb server's protocol: `hex4 + request`, answered by `OKAY` or `FAIL + hex4 + text`.
//!
//! Source: `OVERVIEW.TXT` and `SERVICES.TXT` of the Android Open Source Project. A connection that
//! has chosen a device and a service becomes that service, so each command needs a new one.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpStream;

use super::error::WireError;
use super::stream::Stream;
use crate::state::DeviceState;

/// The longest request: its length has four hexadecimal digits.
const MAX_REQUEST: usize = 0xffff;
/// How long a server on this computer may take to accept a connection.
const ACCEPT_TIMEOUT: Duration = Duration::from_secs(5);

/// Where an adb server listens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Server {
    address: SocketAddr,
}

impl Server {
    pub(crate) const fn new(address: SocketAddr) -> Self {
        Self { address }
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The server's version: what `adb version` prints behind `1.0.`.
    pub(crate) async fn version(&self) -> Result<u32, WireError> {
        let text = self.query("host:version").await?;
        u32::from_str_radix(&text, 16).map_err(|_| WireError::Garbled {
            doing: "ask the adb server for its version".to_owned(),
            reason: format!("it answered {text:?}"),
        })
    }

    /// Asks a question that is answered with a text.
    pub(crate) async fn query(&self, request: &str) -> Result<String, WireError> {
        let mut stream = self.ask(request).await?;
        read_text(&mut stream).await
    }

    /// The features both the server and the device have.
    pub(crate) async fn features(&self, serial: &str) -> Result<String, WireError> {
        self.query(&format!("host-serial:{serial}:features")).await
    }

    /// The state of a device.
    pub(crate) async fn state(&self, serial: &str) -> Result<DeviceState, WireError> {
        let request = format!("host-serial:{serial}:get-state");
        match self.query(&request).await {
            Ok(word) => Ok(DeviceState::named(&word)),
            Err(WireError::NotReady(state)) => Ok(state),
            Err(error) => Err(error),
        }
    }

    /// Opens a service of a device.
    ///
    /// # Errors
    /// [`WireError::NotReady`] when the device cannot be used; once the service has been asked
    /// for, [`WireError::ServiceRefused`] or [`WireError::Lost`].
    pub(crate) async fn open(
        &self,
        serial: &str,
        service: &str,
        doing: &str,
    ) -> Result<Stream, WireError> {
        let chosen = self.ask(&format!("host:transport:{serial}")).await;
        let mut stream = chosen.map_err(|error| match error {
            // The device has not been asked for anything yet.
            WireError::Lost { .. } => WireError::NotSent {
                doing: doing.to_owned(),
            },
            error => error,
        })?;
        stream.set_doing(doing);
        stream.write_all(frame(service)?).await?;
        match status(&mut stream).await? {
            Status::Okay => Ok(stream),
            Status::Fail(reason) => Err(match DeviceState::in_refusal(&reason) {
                Some(state) => WireError::NotReady(state),
                // The server's word both for a device that says no and for one that went away
                // before it said anything.
                None if is_never_refused(service) => stream.lost(),
                None => WireError::ServiceRefused {
                    service: service.to_owned(),
                },
            }),
        }
    }

    /// Every change of the list of devices, as the server's own texts: see [`next_frame`].
    pub(crate) async fn track(&self) -> Result<Stream, WireError> {
        self.ask("host:track-devices-l").await
    }

    /// Sends a request on a new connection and reads `OKAY`.
    async fn ask(&self, request: &str) -> Result<Stream, WireError> {
        let mut stream = self.dial().await?;
        stream.set_doing(format!("`{request}` to the adb server"));
        stream.write_all(frame(request)?).await?;
        match status(&mut stream).await? {
            Status::Okay => Ok(stream),
            Status::Fail(reason) => Err(match DeviceState::in_refusal(&reason) {
                Some(state) => WireError::NotReady(state),
                None => WireError::ServerRefused {
                    request: request.to_owned(),
                    reason,
                },
            }),
        }
    }

    async fn dial(&self) -> Result<Stream, WireError> {
        let no_server = |reason: String| WireError::NoServer {
            address: self.address.to_string(),
            reason,
        };
        let socket = tokio::time::timeout(ACCEPT_TIMEOUT, TcpStream::connect(self.address))
            .await
            .map_err(|_| no_server("it does not accept connections".to_owned()))?
            .map_err(|error| no_server(error.to_string()))?;
        // A request is one small write whose answer is waited for.
        let _ = socket.set_nodelay(true);
        Ok(Stream::of_server(socket, "a request to the adb server"))
    }
}

/// Whether every device has the service, so that a refusal means that the device is gone.
fn is_never_refused(service: &str) -> bool {
    let name = service.split([':', ',']).next();
    matches!(name, Some("shell" | "exec" | "sync"))
}

enum Status {
    Okay,
    Fail(String),
}

/// The next list of devices of [`Server::track`]; `None` when the server ended.
pub(crate) async fn next_frame(stream: &mut Stream) -> Option<String> {
    read_text(stream).await.ok()
}

async fn status(stream: &mut Stream) -> Result<Status, WireError> {
    let word = stream.read_exact(4).await?;
    match &*word {
        b"OKAY" => Ok(Status::Okay),
        b"FAIL" => Ok(Status::Fail(read_text(stream).await?)),
        other => Err(stream.garbled(format!(
            "expected OKAY or FAIL, got {:?}: not an adb server",
            String::from_utf8_lossy(other)
        ))),
    }
}

/// A text behind its length in four hexadecimal digits, so at most 65535 bytes.
async fn read_text(stream: &mut Stream) -> Result<String, WireError> {
    let digits = stream.read_exact(4).await?;
    let length = std::str::from_utf8(&digits)
        .ok()
        .and_then(|digits| usize::from_str_radix(digits, 16).ok())
        .ok_or_else(|| stream.garbled(format!("invalid length {digits:?}")))?;
    let text = stream.read_exact(length).await?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn frame(request: &str) -> Result<Vec<u8>, WireError> {
    if request.len() > MAX_REQUEST {
        return Err(WireError::TooLong {
            what: "a request to the adb server".to_owned(),
            limit: MAX_REQUEST,
        });
    }
    Ok(format!("{:04x}{request}", request.len()).into_bytes())
}
