//! A connection of whatever kind: TCP, a Unix socket, a tunnel through usbmuxd, TLS over one.

use std::fmt::Debug;

use tokio::io::{AsyncRead, AsyncWrite};

/// Bytes both ways.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + Sync + Debug {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + Sync + Debug> Stream for S {}

/// A [`Stream`] in a box.
pub(crate) type BoxStream = Box<dyn Stream>;
