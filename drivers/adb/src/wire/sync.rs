//! Files to a device: adb's sync service.
//!
//! Source: `SYNC.TXT` and `file_sync_protocol.h` of the Android Open Source Project.

use std::time::{SystemTime, UNIX_EPOCH};

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::error::WireError;
use super::stream::Stream;

/// The most bytes in one piece of a file: with its head, what devices take in without growing a
/// buffer.
const PIECE: usize = 64 * 1024 - HEAD;
/// Bytes of a request before what belongs to it.
const HEAD: usize = 8;
/// The longest path the service takes.
const MAX_PATH: usize = 1024;
/// The longest reason for a failure that is read.
const MAX_REASON: usize = 64 * 1024;

/// Writes a file to `path` with permissions `mode`, parents included; `stream` is the service
/// `sync:`.
///
/// # Errors
/// [`WireError::File`] with the device's words, or with this computer's when `content` cannot be
/// read.
pub(crate) async fn push(
    stream: &mut Stream,
    path: &str,
    mode: u32,
    mut content: impl AsyncRead + Unpin,
) -> Result<(), WireError> {
    let refused = |reason: String| WireError::File {
        path: path.to_owned(),
        reason,
    };
    let target = format!("{path},{}", mode | 0o100_000);
    if target.len() > MAX_PATH {
        return Err(refused("the path is too long".to_owned()));
    }
    let mut send = request(b"SEND", target.len());
    send.extend_from_slice(target.as_bytes());
    stream.write_all(send).await?;
    loop {
        let mut data = request(b"DATA", 0);
        data.reserve_exact(PIECE);
        let read = (&mut content)
            .take(PIECE as u64)
            .read_to_end(&mut data)
            .await
            .map_err(|error| refused(error.to_string()))?;
        if read == 0 {
            break;
        }
        if let Some(length) = data.get_mut(4..HEAD) {
            // A piece has less than 64 KiB.
            length.copy_from_slice(&u32::try_from(read).unwrap_or(0).to_le_bytes());
        }
        stream.write_all(data).await?;
    }
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| now.as_secs());
    let done = request(b"DONE", usize::try_from(now).unwrap_or(0));
    stream.write_all(done).await?;
    answer(stream, path).await
}

async fn answer(stream: &mut Stream, path: &str) -> Result<(), WireError> {
    let head = stream.read_exact(HEAD).await?;
    match verdict(&head) {
        Some(Verdict::Stored) => {
            // A polite good-bye; whether it arrives does not matter.
            let _ = stream.write_all(request(b"QUIT", 0)).await;
            Ok(())
        }
        Some(Verdict::Refused(length)) => {
            let reason = stream.read_exact(length).await?;
            Err(WireError::File {
                path: path.to_owned(),
                reason: String::from_utf8_lossy(&reason).into_owned(),
            })
        }
        None => Err(stream.garbled("neither OKAY nor FAIL")),
    }
}

/// What a device makes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It has it.
    Stored,
    /// It does not; a reason of so many bytes follows.
    Refused(usize),
}

/// The verdict in the eight bytes of an answer's head; `None` when they are none.
pub(crate) fn verdict(head: &[u8]) -> Option<Verdict> {
    let (id, length) = head.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length.first_chunk()?) as usize;
    match id {
        b"OKAY" => Some(Verdict::Stored),
        b"FAIL" if length <= MAX_REASON => Some(Verdict::Refused(length)),
        _ => None,
    }
}

fn request(id: &[u8; 4], number: usize) -> Vec<u8> {
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    [&id[..], &number.to_le_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::io::AsyncWriteExt as _;
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    /// Pushes to a device that takes everything in and answers so; what it took in, and what the
    /// push came to.
    fn pushed(content: &[u8], answer: Vec<u8>) -> (Vec<u8>, Result<(), WireError>) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let socket = TcpStream::connect(listener.local_addr().unwrap())
                .await
                .unwrap();
            let (mut device, _) = listener.accept().await.unwrap();
            let device = async move {
                let mut taken = Vec::new();
                // The last request is DONE with a time; no content of these tests looks like it.
                while taken.len() < 8 || &taken[taken.len() - 8..taken.len() - 4] != b"DONE" {
                    if device.read_buf(&mut taken).await.unwrap() == 0 {
                        break;
                    }
                }
                device.write_all(&answer).await.unwrap();
                taken
            };
            let mut stream = Stream::of_server(socket, "the transfer");
            let push = async {
                let result = push(&mut stream, "/sdcard/x", 0o644, content).await;
                drop(stream);
                result
            };
            tokio::join!(device, push)
        })
    }

    /// The file in a stream of requests, as a device reads it.
    fn stored(mut taken: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        loop {
            let (head, rest) = taken.split_at(8);
            let number = u32::from_le_bytes(head[4..].try_into().unwrap()) as usize;
            match &head[..4] {
                b"SEND" => taken = &rest[number..],
                b"DATA" => {
                    assert!((1..=PIECE).contains(&number), "a piece of {number} bytes");
                    file.extend_from_slice(&rest[..number]);
                    taken = &rest[number..];
                }
                b"DONE" => return file,
                other => panic!("{other:?}"),
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn a_file_is_stored_as_it_is_whatever_its_length(
            length in prop_oneof![0..200_usize, PIECE - 2..PIECE + 2, PIECE * 3 - 2..PIECE * 3 + 2],
            seed in any::<u8>(),
        ) {
            let content: Vec<u8> = (0..length).map(|n| (n % 61) as u8 ^ (seed & 0x3f)).collect();
            let (taken, result) = pushed(&content, b"OKAY\0\0\0\0".to_vec());
            prop_assert_eq!(result, Ok(()));
            prop_assert!(taken.starts_with(b"SEND"));
            prop_assert_eq!(stored(&taken), content);
        }

        #[test]
        fn no_answer_makes_a_push_succeed_that_did_not(
            id in prop_oneof![Just(*b"FAIL"), Just(*b"OKAX"), any::<[u8; 4]>()],
            length in prop_oneof![0..64_u32, any::<u32>()],
            rest in proptest::collection::vec(any::<u8>(), 0..64),
        ) {
            prop_assume!(id != *b"OKAY");
            let answer = [&id[..], &length.to_le_bytes(), &rest].concat();
            let (_, result) = pushed(b"x", answer);
            prop_assert!(result.is_err());
        }
    }

    #[test]
    fn a_reason_of_any_length_is_not_waited_for() {
        let head = |length: u32| [&b"FAIL"[..], &length.to_le_bytes()].concat();
        assert_eq!(verdict(&head(9)), Some(Verdict::Refused(9)));
        assert_eq!(verdict(&head(u32::MAX)), None);
        assert_eq!(verdict(b"OKAY"), None);
    }
}
