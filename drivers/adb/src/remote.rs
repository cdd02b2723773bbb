//! Devices on the network: pairing, connecting and disconnecting them at the adb server.
//!
//! These are rare requests to the server that wait for seconds, so the blocking crate
//! `adb_client` does them, on a thread of its own. What drives a device does not go through it:
//! it never tells a command's exit code, loses the output of `exec`, cannot be interrupted and
//! pays 40 ms a command on direct connections.

use std::net::{SocketAddr, SocketAddrV4};
use std::time::Duration;

use adb_client::RustADBError;
use adb_client::server::ADBServer;

use crate::error::AdbError;

/// How long a request may take: the server itself gives up after ten seconds.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(15);

/// Pairs this computer with a device that shows a code (Android 11: wireless debugging).
pub(crate) async fn pair(
    server: SocketAddr,
    device: SocketAddrV4,
    code: String,
) -> Result<(), AdbError> {
    let request = format!("pair with {device}");
    ask(server, request, move |server| server.pair(device, code)).await
}

/// Has the server connect to a device on the network.
pub(crate) async fn connect(server: SocketAddr, device: SocketAddrV4) -> Result<(), AdbError> {
    let request = format!("connect to {device}");
    ask(server, request, move |server| server.connect_device(device)).await
}

/// Has the server forget a device on the network.
pub(crate) async fn disconnect(server: SocketAddr, device: SocketAddrV4) -> Result<(), AdbError> {
    let request = format!("disconnect from {device}");
    ask(server, request, move |server| {
        server.disconnect_device(device)
    })
    .await
}

async fn ask(
    address: SocketAddr,
    request: String,
    work: impl FnOnce(&mut ADBServer) -> adb_client::Result<()> + Send + 'static,
) -> Result<(), AdbError> {
    let refused = |reason: String| AdbError::Refused {
        request: request.clone(),
        reason,
    };
    let SocketAddr::V4(address) = address else {
        return Err(refused("the adb server has an IPv6 address".to_owned()));
    };
    // The crate starts a server before each request, on the default port whatever the address is.
    // Ours runs already, so it is given no program to do that with.
    let no_program = Some(String::new());
    let work = tokio::task::spawn_blocking(move || {
        work(&mut ADBServer::new_from_path(address, no_program))
    });
    match tokio::time::timeout(REQUEST_TIMEOUT, work).await {
        Ok(Ok(Ok(()))) => Ok(()),
        Ok(Ok(Err(RustADBError::ADBRequestFailed(words)))) => Err(refused(words)),
        Ok(Ok(Err(error))) => Err(refused(error.to_string())),
        Ok(Err(panic)) => Err(refused(panic.to_string())),
        // The thread ends when the server answers or goes.
        Err(_) => Err(AdbError::Timeout {
            request,
            after: REQUEST_TIMEOUT,
        }),
    }
}
