//! An adb server that has no devices. Clients that drive devices directly ask it all the same, and would
//! start the real one where there is none.
//!
//! Source: `OVERVIEW.TXT` and `SERVICES.TXT` of the Android Open Source Project.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use futures::FutureExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::listener::ListenerScope;

/// The version it says it has, in hexadecimal digits: 41, that of all since 2018.
const VERSION: &str = "0029";

/// Starts one on a free port of loopback.
///
/// # Errors
/// When no port is free.
pub(crate) async fn start(scope: &ListenerScope) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    // A client that breaks off has what it wanted.
    scope.accept(listener, |client, _| serve(client).map(drop));
    Ok(address)
}

/// Answers the one request of a connection.
async fn serve(mut client: TcpStream) -> io::Result<()> {
    let mut digits = [0; 4];
    client.read_exact(&mut digits).await?;
    let length = std::str::from_utf8(&digits)
        .ok()
        .and_then(|digits| u16::from_str_radix(digits, 16).ok())
        .ok_or(io::ErrorKind::InvalidData)?;
    let mut request = vec![0; usize::from(length)];
    client.read_exact(&mut request).await?;
    let told = |verb: &str, text: &str| format!("{verb}{:04x}{text}", text.len());
    let (answer, stays) = match request.as_slice() {
        b"host:version" => (told("OKAY", VERSION), false),
        b"host:devices" | b"host:devices-l" => (told("OKAY", ""), false),
        b"host:track-devices" | b"host:track-devices-l" => (told("OKAY", ""), true),
        _ => (told("FAIL", "no devices/emulators found"), false),
    };
    client.write_all(answer.as_bytes()).await?;
    if stays {
        // Nothing changes until the client has had enough.
        while client.read(&mut [0; 64]).await? > 0 {}
    }
    Ok(())
}
