//! A connection that turns to TLS in the middle, and back.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::server::TlsStream;
use tokio_rustls::{Accept, TlsAcceptor};

use super::frame::{self, FrameError};
use crate::plist::Dictionary;
use crate::usbmux::BoxStream;

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
            Self::Plain(stream) => frame::read(stream).await,
            Self::Secure(stream) => frame::read(stream.as_mut()).await,
        }
    }

    pub(super) async fn write(&mut self, body: Dictionary) -> io::Result<()> {
        match self {
            Self::Plain(stream) => frame::write(stream, body).await,
            Self::Secure(stream) => frame::write(stream.as_mut(), body).await,
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
