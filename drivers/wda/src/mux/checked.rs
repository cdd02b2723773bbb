//! A stream from a usbmuxd that hands out whole messages only, and only after they were checked:
//! their length before anything is allocated, their property list before anybody builds it.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::plist;
use crate::stream::BoxStream;

/// Length, version, type and tag: four little-endian words.
const HEADER: usize = 16;
/// Longest message: a pair record has 10 KB, a device in a list 700 bytes.
const MAX_MESSAGE: usize = 4 * 1024 * 1024;

/// What follows the first message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Following {
    /// Others like it.
    Messages,
    /// The bytes of a tunnel, which are handed through.
    Tunnel,
}

/// A stream that hands out checked messages.
pub(super) struct Checked {
    inner: BoxStream,
    following: Following,
    state: State,
}

enum State {
    /// A message is on its way: what there is of it, and how long it gets as far as known.
    Collecting { got: Vec<u8>, wanted: usize },
    /// A message is handed out, from here on.
    HandingOut { message: Vec<u8>, from: usize },
    /// Nothing is looked at any more.
    Open,
}

impl State {
    fn new() -> Self {
        Self::Collecting {
            got: Vec::new(),
            wanted: HEADER,
        }
    }
}

impl Checked {
    pub(super) fn new(inner: BoxStream, following: Following) -> Self {
        Self {
            inner,
            following,
            state: State::new(),
        }
    }
}

impl fmt::Debug for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checked")
            .field("following", &self.following)
            .finish()
    }
}

/// The length a header names.
fn length(header: &[u8]) -> io::Result<usize> {
    let length = header
        .first_chunk::<4>()
        .and_then(|bytes| usize::try_from(u32::from_le_bytes(*bytes)).ok())
        .unwrap_or(0);
    if (HEADER..=MAX_MESSAGE).contains(&length) {
        return Ok(length);
    }
    Err(invalid(format!("a message of {length} bytes")))
}

fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl AsyncRead for Checked {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            match &mut this.state {
                State::Open => return Pin::new(&mut this.inner).poll_read(cx, out),
                State::HandingOut { message, from } => {
                    let rest = message.get(*from..).unwrap_or_default();
                    if rest.is_empty() {
                        this.state = match this.following {
                            Following::Messages => State::new(),
                            Following::Tunnel => State::Open,
                        };
                        continue;
                    }
                    let count = rest.len().min(out.remaining());
                    out.put_slice(&rest[..count]);
                    *from += count;
                    return Poll::Ready(Ok(()));
                }
                State::Collecting { got, wanted } => {
                    if got.len() == *wanted && *wanted == HEADER {
                        *wanted = length(got)?;
                    }
                    if got.len() == *wanted {
                        let list = got.get(HEADER..).unwrap_or_default();
                        plist::dictionary(list).map_err(|error| invalid(error.to_string()))?;
                        this.state = State::HandingOut {
                            message: std::mem::take(got),
                            from: 0,
                        };
                        continue;
                    }
                    // In steps, so that a length alone reserves no memory.
                    let mut step = [0; 4096];
                    let most = (*wanted - got.len()).min(step.len());
                    let mut read = ReadBuf::new(&mut step[..most]);
                    ready!(Pin::new(&mut this.inner).poll_read(cx, &mut read))?;
                    if read.filled().is_empty() {
                        return if got.is_empty() {
                            Poll::Ready(Ok(()))
                        } else {
                            Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()))
                        };
                    }
                    got.extend_from_slice(read.filled());
                }
            }
        }
    }
}

impl AsyncWrite for Checked {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
