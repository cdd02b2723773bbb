//! Devices on the network: pairing, connecting and disconnecting them at the adb server.
//!
//! The server says `OKAY` to these requests whatever comes of them; the words of its answer tell.

use std::net::SocketAddrV4;
use std::time::{Duration, Instant};

use crate::error::AdbError;
use crate::wire::{Server, within};

/// How long a request may take: the server itself gives up after ten seconds.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(15);

/// Pairs this computer with a device that shows a code (Android 11: wireless debugging).
pub(crate) async fn pair(server: Server, device: SocketAddrV4, code: &str) -> Result<(), AdbError> {
    let doing = format!("pair with {device}");
    let request = format!("host:pair:{code}:{device}");
    ask(server, doing, &request, &["Successfully paired to"]).await
}

/// Has the server connect to a device on the network.
pub(crate) async fn connect(server: Server, device: SocketAddrV4) -> Result<(), AdbError> {
    let doing = format!("connect to {device}");
    let request = format!("host:connect:{device}");
    let done = ["connected to", "already connected to"];
    ask(server, doing, &request, &done).await
}

/// Has the server forget a device on the network.
pub(crate) async fn disconnect(server: Server, device: SocketAddrV4) -> Result<(), AdbError> {
    let doing = format!("disconnect from {device}");
    let request = format!("host:disconnect:{device}");
    ask(server, doing, &request, &["disconnected"]).await
}

async fn ask(server: Server, doing: String, request: &str, done: &[&str]) -> Result<(), AdbError> {
    let deadline = Instant::now() + REQUEST_TIMEOUT;
    let reason = within(deadline, &doing, server.query(request)).await?;
    if done.iter().any(|words| reason.starts_with(words)) {
        return Ok(());
    }
    Err(AdbError::Refused {
        request: doing,
        reason,
    })
}
