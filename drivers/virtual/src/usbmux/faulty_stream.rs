//! A connection that can go wrong: it breaks after so many bytes, is slow, or sends rubbish.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::BoxStream;
use crate::faults::Fault;

/// How often a slow connection sends some.
const SLOW_SEND_INTERVAL: Duration = Duration::from_millis(50);
/// What rubbish looks like: it is no HTTP.
const RUBBISH: &[u8] = b"\x00\xffGARBAGE\r\n\r\n";

/// What is wrong with a connection; may change while it is used.
#[derive(Debug)]
pub(crate) struct ConnectionFaults {
    /// Bytes still sent before it breaks.
    left: AtomicU64,
    /// Bytes sent in a beat.
    per_interval: AtomicU64,
    garbled: AtomicBool,
}

impl Default for ConnectionFaults {
    fn default() -> Self {
        Self {
            left: AtomicU64::new(u64::MAX),
            per_interval: AtomicU64::new(u64::MAX),
            garbled: AtomicBool::new(false),
        }
    }
}

impl ConnectionFaults {
    /// Takes on what a fault says of a connection; others say nothing.
    pub(crate) fn apply(&self, fault: &Fault) {
        match fault {
            Fault::DropAfter { bytes } => self.left.store(*bytes, Ordering::Relaxed),
            Fault::Slow { bytes_per_second } => {
                let intervals = 1_000 / u64::try_from(SLOW_SEND_INTERVAL.as_millis()).unwrap_or(1);
                let per_interval = (bytes_per_second / intervals).max(1);
                self.per_interval.store(per_interval, Ordering::Relaxed);
            }
            Fault::Garbage => self.garbled.store(true, Ordering::Relaxed),
            _ => {}
        }
    }

    fn are_none(&self) -> bool {
        let limits = [&self.left, &self.per_interval];
        (limits.iter()).all(|limit| limit.load(Ordering::Relaxed) == u64::MAX)
            && !self.garbled.load(Ordering::Relaxed)
    }
}

/// A connection with its troubles.
pub(crate) struct FaultyStream {
    stream: BoxStream,
    faults: Arc<ConnectionFaults>,
    pause: Option<Pin<Box<Sleep>>>,
}

impl FaultyStream {
    pub(crate) fn new(stream: BoxStream, faults: Arc<ConnectionFaults>) -> Self {
        Self {
            stream,
            faults,
            pause: None,
        }
    }
}

impl AsyncRead for FaultyStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for FaultyStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(cx));
            self.pause = None;
        }
        let left = self.faults.left.load(Ordering::Relaxed);
        let per_interval = self.faults.per_interval.load(Ordering::Relaxed);
        if left == 0 {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        let most = usize::try_from(left.min(per_interval)).unwrap_or(usize::MAX);
        let part = buf.get(..most).unwrap_or(buf);
        let wrote = if self.faults.garbled.load(Ordering::Relaxed) {
            let rubbish: Vec<u8> = RUBBISH.iter().copied().cycle().take(part.len()).collect();
            ready!(Pin::new(&mut self.stream).poll_write(cx, &rubbish))?
        } else {
            ready!(Pin::new(&mut self.stream).poll_write(cx, part))?
        };
        if left != u64::MAX {
            let rest = left.saturating_sub(wrote as u64);
            self.faults.left.store(rest, Ordering::Relaxed);
        }
        if per_interval != u64::MAX {
            self.pause = Some(Box::pin(tokio::time::sleep(SLOW_SEND_INTERVAL)));
        }
        Poll::Ready(Ok(wrote))
    }

    /// So that hyper keeps no copy of what it sends.
    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.pause.is_none() && self.faults.are_none() {
            return Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        }
        let first = bufs.iter().find(|buf| !buf.is_empty());
        self.poll_write(cx, first.map_or(&[][..], |buf| buf))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn send(fault: Fault, bytes: &[u8]) -> (io::Result<()>, Vec<u8>) {
        let (near, mut far) = tokio::io::duplex(1 << 16);
        let faults = Arc::new(ConnectionFaults::default());
        faults.apply(&fault);
        let mut faulty_stream = FaultyStream::new(Box::new(near), faults);
        let sent = faulty_stream.write_all(bytes).await;
        drop(faulty_stream);
        let mut got = Vec::new();
        far.read_to_end(&mut got).await.unwrap();
        (sent, got)
    }

    #[tokio::test]
    async fn a_connection_breaks_after_so_many_bytes() {
        let (sent, got) = send(Fault::DropAfter { bytes: 4 }, b"abcdefgh").await;
        assert!(sent.is_err());
        assert_eq!(got, b"abcd");
    }

    #[tokio::test]
    async fn parts_go_together_where_nothing_is_wrong() {
        for (left, wrote) in [(u64::MAX, 4), (3, 2), (1, 1)] {
            let (near, _far) = tokio::io::duplex(64);
            let faults = Arc::new(ConnectionFaults::default());
            faults.apply(&Fault::DropAfter { bytes: left });
            let mut stream = FaultyStream::new(Box::new(near), faults);
            let parts = [&b""[..], b"ab", b"cd"].map(io::IoSlice::new);
            assert_eq!(stream.write_vectored(&parts).await.unwrap(), wrote);
        }
    }

    #[tokio::test]
    async fn rubbish_is_as_long_as_what_it_replaces() {
        let (sent, got) = send(Fault::Garbage, b"HTTP/1.1 200 OK").await;
        assert!(sent.is_ok());
        assert_eq!((got.len(), &got[..3]), (15, b"\x00\xffG".as_slice()));
    }

    #[tokio::test]
    async fn a_slow_connection_takes_its_time() {
        let slow = Fault::Slow {
            bytes_per_second: 1_000,
        };
        let start = tokio::time::Instant::now();
        let (_, got) = send(slow, &[7; 150]).await;
        assert_eq!(got, [7; 150]);
        assert!(start.elapsed() >= 2 * SLOW_SEND_INTERVAL);
    }
}
