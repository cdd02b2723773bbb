//! Frames: sixteen bytes of header, then a property list. Knows nothing of what a list says.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::Stream;
use crate::plist::{self, Dictionary, PlistError};

/// Header: length with itself, version, message type, tag; all u32, little endian.
const HEADER: usize = 16;
/// A pair record with three certificates and two keys is some 12 KiB.
const MAX_FRAME: usize = 256 * 1024;
/// How long the rest of a frame may take once its header is there.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// Version of the plist dialect.
const VERSION_PLIST: u32 = 1;
/// Message type of the plist dialect.
const TYPE_PLIST: u32 = 8;
/// Message type of an answer in the old binary dialect.
const TYPE_RESULT: u32 = 1;

/// Echoed from a request into its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag(pub u32);

impl Tag {
    /// What events carry, which answer no request.
    pub(super) const EVENT: Self = Self(0);
}

/// Why a client's bytes are not a frame. The connection is of no use after any of these.
#[derive(Debug, thiserror::Error)]
pub enum CodecError {
    /// The connection broke or ended inside a frame.
    #[error("connection broke inside a frame: {0}")]
    Io(#[from] io::Error),
    /// The header announces an impossible length.
    #[error("a frame of {0} bytes was announced")]
    Length(u32),
    /// The client speaks the binary dialect of usbmuxd before 2009, or something else.
    #[error("version {version}, message type {kind} is not the plist dialect")]
    Dialect {
        /// From the header.
        version: u32,
        /// From the header.
        kind: u32,
        /// For the answer.
        tag: u32,
    },
    /// The body is not an acceptable property list.
    #[error("frame with a bad body: {0}")]
    Body(#[from] PlistError),
    /// The rest of the frame did not come.
    #[error("the rest of a frame did not come in {BODY_TIMEOUT:?}")]
    Timeout,
}

/// Reads one frame; `None` when the client closed between frames.
pub(super) async fn read(
    stream: &mut (impl Stream + ?Sized),
) -> Result<Option<(Tag, Dictionary)>, CodecError> {
    let mut header = [0; HEADER];
    if stream.read(&mut header[..1]).await? == 0 {
        return Ok(None);
    }
    tokio::time::timeout(BODY_TIMEOUT, read_rest(stream, header))
        .await
        .map_err(|_| CodecError::Timeout)?
        .map(Some)
}

async fn read_rest(
    stream: &mut (impl Stream + ?Sized),
    mut header: [u8; HEADER],
) -> Result<(Tag, Dictionary), CodecError> {
    stream.read_exact(&mut header[1..]).await?;
    let [length, version, kind, tag] = words(header);
    let body = usize::try_from(length)
        .ok()
        .filter(|&whole| whole <= MAX_FRAME)
        .and_then(|whole| whole.checked_sub(HEADER))
        .ok_or(CodecError::Length(length))?;
    let mut bytes = vec![0; body];
    stream.read_exact(&mut bytes).await?;
    if (version, kind) != (VERSION_PLIST, TYPE_PLIST) {
        return Err(CodecError::Dialect { version, kind, tag });
    }
    Ok((Tag(tag), plist::read_dictionary(&bytes)?))
}

/// Writes one frame.
pub(super) async fn write(
    stream: &mut (impl Stream + ?Sized),
    tag: Tag,
    body: Dictionary,
) -> io::Result<()> {
    let body = plist::write_xml(body);
    let mut frame = Vec::with_capacity(HEADER + body.len());
    let length = u32::try_from(HEADER + body.len()).map_err(io::Error::other)?;
    for word in [length, VERSION_PLIST, TYPE_PLIST, tag.0] {
        frame.extend(word.to_le_bytes());
    }
    frame.extend(body);
    stream.write_all(&frame).await?;
    stream.flush().await
}

/// Answers a client of the binary dialect with a result code, in its own dialect.
pub(super) async fn write_binary_result(
    stream: &mut (impl Stream + ?Sized),
    tag: Tag,
    code: u32,
) -> io::Result<()> {
    let mut frame = Vec::with_capacity(HEADER + 4);
    for word in [20, 0, TYPE_RESULT, tag.0, code] {
        frame.extend(word.to_le_bytes());
    }
    stream.write_all(&frame).await?;
    stream.flush().await
}

fn words(header: [u8; HEADER]) -> [u32; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(header.chunks_exact(4)) {
        *word = bytes
            .iter()
            .rev()
            .fold(0, |sum, &byte| (sum << 8) | u32::from(byte));
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plist::Value;

    fn frame(length: u32, version: u32, kind: u32, body: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        for word in [length, version, kind, 7] {
            frame.extend(word.to_le_bytes());
        }
        frame.extend(body);
        frame
    }

    fn read_bytes(bytes: &[u8]) -> Result<Option<(Tag, Dictionary)>, CodecError> {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap()
            .block_on(async {
                let (mut near, mut far) = tokio::io::duplex(bytes.len().max(1));
                far.write_all(bytes).await.unwrap();
                drop(far);
                read(&mut near).await
            })
    }

    #[test]
    fn a_length_beyond_the_cap_is_refused_before_anything_is_allocated() {
        assert!(matches!(
            read_bytes(&frame(u32::MAX, 1, 8, b"")),
            Err(CodecError::Length(u32::MAX))
        ));
    }

    #[test]
    fn a_length_shorter_than_the_header_is_refused() {
        assert!(matches!(
            read_bytes(&frame(15, 1, 8, b"")),
            Err(CodecError::Length(15))
        ));
    }

    #[test]
    fn the_binary_dialect_is_told_apart() {
        assert!(matches!(
            read_bytes(&frame(16, 0, 3, b"")),
            Err(CodecError::Dialect {
                kind: 3,
                tag: 7,
                ..
            })
        ));
    }

    #[test]
    fn a_client_that_closes_between_frames_is_no_error() {
        assert!(matches!(read_bytes(b""), Ok(None)));
    }

    #[test]
    fn a_client_that_closes_inside_a_frame_is_an_error() {
        assert!(matches!(
            read_bytes(&frame(500, 1, 8, b"<plist>")),
            Err(CodecError::Io(_))
        ));
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_back(tag: u32, key in "[A-Za-z]{1,20}", text in "[ -~äöü€]{0,200}") {
            let body = plist::dictionary([(key.as_str(), Value::from(text.as_str()))]);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            let read = runtime.block_on(async {
                let (mut near, mut far) = tokio::io::duplex(64 * 1024);
                write(&mut far, Tag(tag), body.clone()).await.unwrap();
                read(&mut near).await.unwrap()
            });
            prop_assert_eq!(read, Some((Tag(tag), body)));
        }

        #[test]
        fn any_bytes_are_answered_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = read_bytes(&bytes);
        }
    }
}
