//! Frames: a header of some bytes, then a property list. Knows nothing of what a list says.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::Stream;
use crate::plist::{self, Dictionary, PlistError};

/// A pair record with three certificates and two keys is some 12 KiB.
pub(super) const MAX_BODY: u32 = 256 * 1024;
/// How long the rest of a frame may take once its first byte is there.
const REST_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a client's bytes are not a frame. The connection is of no use after any of these.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameError {
    /// The connection broke or ended inside a frame.
    #[error("connection broke inside a frame: {0}")]
    Io(#[from] io::Error),
    /// The header announces an impossible length.
    #[error("a frame of {0} bytes was announced")]
    Length(u32),
    /// The header is of usbmuxd's binary dialect of before 2009, or of something else.
    #[error("message {tag} is not in the plist dialect")]
    Dialect {
        /// For the answer.
        tag: u32,
    },
    /// The body is not an acceptable property list.
    #[error("frame with a bad body: {0}")]
    Body(#[from] PlistError),
    /// The rest of the frame did not come.
    #[error("the rest of a frame did not come in {REST_TIMEOUT:?}")]
    Timeout,
}

/// Reads one frame, of whose header `length` makes the length of the body; `None` when the client
/// closed between frames.
pub(crate) async fn read<const N: usize>(
    stream: &mut (impl Stream + ?Sized),
    length: impl FnOnce([u8; N]) -> Result<u32, FrameError>,
) -> Result<Option<([u8; N], Dictionary)>, FrameError> {
    let mut header = [0; N];
    if stream.read(&mut header[..1]).await? == 0 {
        return Ok(None);
    }
    let rest = async {
        stream.read_exact(&mut header[1..]).await?;
        let length = length(header)?;
        if length > MAX_BODY {
            return Err(FrameError::Length(length));
        }
        let mut body = vec![0; length as usize];
        stream.read_exact(&mut body).await?;
        Ok(Some((header, plist::read_dictionary(&body)?)))
    };
    let rest = tokio::time::timeout(REST_TIMEOUT, rest).await;
    rest.map_err(|_| FrameError::Timeout)?
}

/// Writes one frame, in one piece.
pub(crate) async fn write(
    stream: &mut (impl Stream + ?Sized),
    header: &[u8],
    body: &[u8],
) -> io::Result<()> {
    stream.write_all(&[header, body].concat()).await?;
    stream.flush().await
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::connection;
    use super::*;
    use crate::lockdown;
    use crate::plist::Value;

    /// Does something with a connection on which these bytes come and then its end.
    fn with<T>(bytes: &[u8], act: impl AsyncFnOnce(&mut tokio::io::DuplexStream) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async {
            let (mut near, mut far) = tokio::io::duplex(bytes.len().max(1));
            far.write_all(bytes).await.unwrap();
            drop(far);
            act(&mut near).await
        })
    }

    fn usbmux(bytes: &[u8]) -> Result<Option<(u32, Dictionary)>, FrameError> {
        with(bytes, connection::read)
    }

    fn lockdown(bytes: &[u8]) -> Result<Option<Dictionary>, FrameError> {
        with(bytes, lockdown::channel::read)
    }

    fn header(length: u32, version: u32, kind: u32) -> Vec<u8> {
        [length, version, kind, 7].map(u32::to_le_bytes).concat()
    }

    #[test]
    fn what_is_no_frame_is_told_apart_before_anything_is_allocated() {
        assert!(matches!(
            usbmux(&header(u32::MAX, 1, 8)),
            Err(FrameError::Length(u32::MAX))
        ));
        assert!(matches!(
            usbmux(&header(15, 1, 8)),
            Err(FrameError::Length(15))
        ));
        assert!(matches!(
            usbmux(&header(16, 0, 3)),
            Err(FrameError::Dialect { tag: 7 })
        ));
        assert!(matches!(
            lockdown(&[0xff; 8]),
            Err(FrameError::Length(u32::MAX))
        ));
    }

    #[test]
    fn a_client_that_closes_between_frames_is_no_error_and_inside_of_one_is() {
        assert!(matches!(usbmux(b""), Ok(None)));
        assert!(matches!(lockdown(b""), Ok(None)));
        let broken = [header(500, 1, 8), b"<plist>".to_vec()].concat();
        assert!(matches!(usbmux(&broken), Err(FrameError::Io(_))));
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_back(tag: u32, key in "[A-Za-z]{1,20}", text in "[ -~äöü€]{0,200}") {
            let body = plist::dictionary([(key.as_str(), Value::from(text.as_str()))]);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            let read = runtime.block_on(async {
                let (mut near, mut far) = tokio::io::duplex(64 * 1024);
                connection::write(&mut far, tag, body.clone()).await.unwrap();
                let first = connection::read(&mut near).await.unwrap();
                lockdown::channel::write(&mut far, body.clone()).await.unwrap();
                (first, lockdown::channel::read(&mut near).await.unwrap())
            });
            prop_assert_eq!(read, (Some((tag, body.clone())), Some(body)));
        }

        #[test]
        fn any_bytes_are_answered_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = (usbmux(&bytes), lockdown(&bytes));
        }
    }
}
