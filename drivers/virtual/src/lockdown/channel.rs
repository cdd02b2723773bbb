//! A connection that turns to TLS in the middle, and back. On it are frames: a big-endian length,
//! then a property list.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::server::TlsStream;
use tokio_rustls::{Accept, TlsAcceptor};

use crate::plist::{self, Dictionary};
use crate::usbmux::frame::{self, FrameError};
use crate::usbmux::{BoxStream, Stream};

/// How long a client may take for its handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// The connection in either state.
pub(super) enum Channel {
    Plain(BoxStream),
    Secure(Box<TlsStream<BoxStream>>),
}

impl Channel {
    pub(super) async fn read(&mut self) -> Result<Option<Dictionary>, FrameError> {
        match self {
            Self::Plain(stream) => read(stream).await,
            Self::Secure(stream) => read(stream.as_mut()).await,
        }
    }

    pub(super) async fn write(&mut self, body: Dictionary) -> io::Result<()> {
        match self {
            Self::Plain(stream) => write(stream, body).await,
            Self::Secure(stream) => write(stream.as_mut(), body).await,
        }
    }

    /// Does the handshake; a channel that is secure stays as it is.
    pub(super) async fn secure(self, config: Arc<ServerConfig>) -> io::Result<Self> {
        match self {
            Self::Plain(stream) => Ok(Self::Secure(Box::new(handshake(stream, config).await?))),
            Self::Secure(_) => Ok(self),
        }
    }

    /// Ends TLS on both sides and goes on in the open.
    pub(super) async fn open_up(self) -> io::Result<Self> {
        match self {
            Self::Plain(_) => Ok(self),
            Self::Secure(mut stream) => {
                let mut rest = [0; 64];
                while stream.read(&mut rest).await? > 0 {}
                // Not `shutdown`, which would close the connection below, too.
                stream.get_mut().1.send_close_notify();
                stream.flush().await?;
                Ok(Self::Plain(stream.into_inner().0))
            }
        }
    }
}

/// Reads one frame; `None` when the client closed between frames.
pub(crate) async fn read(
    stream: &mut (impl Stream + ?Sized),
) -> Result<Option<Dictionary>, FrameError> {
    let frame = frame::read(stream, |length: [u8; 4]| Ok(u32::from_be_bytes(length))).await;
    match frame {
        // A TLS peer that just hangs up.
        Err(FrameError::Io(error)) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        frame => Ok(frame?.map(|(_, body)| body)),
    }
}

/// Writes one frame.
pub(crate) async fn write(stream: &mut (impl Stream + ?Sized), body: Dictionary) -> io::Result<()> {
    let body = plist::write_xml(body);
    let length = u32::try_from(body.len()).map_err(io::Error::other)?;
    frame::write(stream, &length.to_be_bytes(), &body).await
}

/// Does a handshake on a fresh connection.
pub(super) async fn handshake(
    stream: BoxStream,
    config: Arc<ServerConfig>,
) -> io::Result<TlsStream<BoxStream>> {
    let accept: Accept<BoxStream> = TlsAcceptor::from(config).accept(stream);
    tokio::time::timeout(HANDSHAKE_TIMEOUT, accept)
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}
