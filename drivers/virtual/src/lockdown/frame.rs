//! Frames of lockdownd and of most services behind it: a big-endian length, then a property list.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::plist::{self, Dictionary, PlistError};
use crate::usbmux::Stream;

/// A pairing request with three certificates is some 10 KiB.
const MAX_FRAME: u32 = 256 * 1024;
/// How long the rest of a frame may take once its first byte is there.
const REST_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a client's bytes are not a frame. The connection is of no use after any of these.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The connection broke or ended inside a frame.
    #[error("connection broke inside a frame: {0}")]
    Io(#[from] io::Error),
    /// The frame announces more than any client sends.
    #[error("a frame of {0} bytes was announced")]
    Length(u32),
    /// The body is not an acceptable property list.
    #[error("frame with a bad body: {0}")]
    Body(#[from] PlistError),
    /// The rest of the frame did not come.
    #[error("the rest of a frame did not come in {REST_TIMEOUT:?}")]
    Timeout,
}

/// Reads one frame; `None` when the client closed between frames.
pub(super) async fn read(
    stream: &mut (impl Stream + ?Sized),
) -> Result<Option<Dictionary>, FrameError> {
    let mut length = [0; 4];
    match stream.read(&mut length[..1]).await {
        Ok(0) => return Ok(None),
        Ok(_) => {}
        // A TLS peer that just hangs up.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let rest = tokio::time::timeout(REST_TIMEOUT, read_rest(stream, length));
    rest.await.map_err(|_| FrameError::Timeout)?.map(Some)
}

async fn read_rest(
    stream: &mut (impl Stream + ?Sized),
    mut length: [u8; 4],
) -> Result<Dictionary, FrameError> {
    stream.read_exact(&mut length[1..]).await?;
    let length = u32::from_be_bytes(length);
    if length > MAX_FRAME {
        return Err(FrameError::Length(length));
    }
    let mut body = vec![0; length as usize];
    stream.read_exact(&mut body).await?;
    Ok(plist::read_dictionary(&body)?)
}

/// Writes one frame.
pub(super) async fn write(stream: &mut (impl Stream + ?Sized), body: Dictionary) -> io::Result<()> {
    let body = plist::write_xml(body);
    let length = u32::try_from(body.len()).map_err(io::Error::other)?;
    let mut frame = length.to_be_bytes().to_vec();
    frame.extend(body);
    stream.write_all(&frame).await?;
    stream.flush().await
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read_bytes(bytes: &[u8]) -> Result<Option<Dictionary>, FrameError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async {
            let (mut near, mut far) = tokio::io::duplex(bytes.len().max(1));
            far.write_all(bytes).await.unwrap();
            drop(far);
            read(&mut near).await
        })
    }

    #[test]
    fn a_length_beyond_the_cap_is_refused_before_anything_is_allocated() {
        assert!(matches!(
            read_bytes(&[0xff; 8]),
            Err(FrameError::Length(u32::MAX))
        ));
    }

    #[test]
    fn what_was_written_is_read_back() {
        let body = plist::dictionary([("Request", "QueryType".into())]);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let read = runtime.block_on(async {
            let (mut near, mut far) = tokio::io::duplex(4096);
            write(&mut far, body.clone()).await.unwrap();
            read(&mut near).await.unwrap()
        });
        assert_eq!(read, Some(body));
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = read_bytes(&bytes);
        }
    }
}
