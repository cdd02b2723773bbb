//! One open service of a device: bytes both ways, whatever the way to the device is.

use std::future::Future;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::error::WireError;
use super::link::LinkStream;

/// Bytes read at once from a socket, at least.
const CHUNK: usize = 8 * 1024;

/// An open service. Dropping it closes it, which ends the command on the device.
#[derive(Debug)]
pub(crate) struct Stream {
    source: Source,
    buffer: BytesMut,
    doing: String,
}

#[derive(Debug)]
enum Source {
    /// A connection to the adb server that has become this service.
    Server(TcpStream),
    /// One of the streams of a connection to adbd.
    Link(LinkStream),
}

/// Waits for `work` until `deadline`.
///
/// # Errors
/// [`WireError::Timeout`], or that of `work`.
pub(crate) async fn within<T>(
    deadline: Instant,
    doing: &str,
    work: impl Future<Output = Result<T, WireError>>,
) -> Result<T, WireError> {
    let start = Instant::now();
    let timeout = tokio::time::timeout_at(deadline, work);
    timeout.await.unwrap_or_else(|_| {
        Err(WireError::Timeout {
            doing: doing.to_owned(),
            after: start.elapsed(),
        })
    })
}

impl Stream {
    /// `doing` is what errors say was under way.
    pub(crate) fn of_server(socket: TcpStream, doing: impl Into<String>) -> Self {
        Self {
            source: Source::Server(socket),
            buffer: BytesMut::new(),
            doing: doing.into(),
        }
    }

    /// `doing` is what errors say was under way.
    pub(crate) fn of_link(stream: LinkStream, doing: impl Into<String>) -> Self {
        Self {
            source: Source::Link(stream),
            buffer: BytesMut::new(),
            doing: doing.into(),
        }
    }

    /// What errors say was under way from now on.
    pub(crate) fn set_doing(&mut self, doing: impl Into<String>) {
        self.doing = doing.into();
    }

    /// The stream has ended where more had to come.
    pub(crate) fn lost(&self) -> WireError {
        WireError::Lost {
            doing: self.doing.clone(),
        }
    }

    pub(crate) fn garbled(&self, reason: impl Into<String>) -> WireError {
        WireError::Garbled {
            doing: self.doing.clone(),
            reason: reason.into(),
        }
    }

    /// Writes everything, in as few system calls as it takes.
    pub(crate) async fn write_all(&mut self, bytes: impl Into<Bytes>) -> Result<(), WireError> {
        let bytes = bytes.into();
        let written = match &mut self.source {
            Source::Server(socket) => socket.write_all(&bytes).await.is_ok(),
            Source::Link(stream) => stream.write_all(bytes).await.is_ok(),
        };
        if written { Ok(()) } else { Err(self.lost()) }
    }

    /// Reads some bytes; empty at the end of the stream.
    pub(crate) async fn read_some(&mut self) -> Result<Bytes, WireError> {
        if self.buffer.is_empty() && !self.fill().await? {
            return Ok(Bytes::new());
        }
        Ok(self.buffer.split().freeze())
    }

    /// Reads exactly `count` bytes, which the caller has checked against its own limit.
    pub(crate) async fn read_exact(&mut self, count: usize) -> Result<Bytes, WireError> {
        while self.buffer.len() < count {
            if !self.fill().await? {
                return Err(self.lost());
            }
        }
        Ok(self.buffer.split_to(count).freeze())
    }

    /// Reads to the end of the stream.
    pub(crate) async fn read_to_end(&mut self, limit: usize) -> Result<Bytes, WireError> {
        while self.buffer.len() <= limit {
            if !self.fill().await? {
                return Ok(self.buffer.split().freeze());
            }
        }
        Err(WireError::TooLong {
            what: format!("the answer to {}", self.doing),
            limit,
        })
    }

    /// Reads once; false at the end of the stream.
    async fn fill(&mut self) -> Result<bool, WireError> {
        match &mut self.source {
            Source::Server(socket) => {
                self.buffer.reserve(CHUNK);
                match socket.read_buf(&mut self.buffer).await {
                    Ok(count) => Ok(count > 0),
                    Err(_) => Err(self.lost()),
                }
            }
            Source::Link(stream) => match stream.read().await {
                Ok(Some(bytes)) => {
                    self.buffer.extend_from_slice(&bytes);
                    Ok(true)
                }
                Ok(None) => Ok(false),
                Err(_) => Err(self.lost()),
            },
        }
    }
}
