//! Files to a device: adb's sync service.
//!
//! Source: `SYNC.TXT` and `file_sync_protocol.h` of the Android Open Source Project.

use std::time::{SystemTime, UNIX_EPOCH};

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::error::WireError;
use super::stream::Stream;

/// The most bytes in one piece of a file.
const PIECE: usize = 64 * 1024;
/// Pieces written at once, so that few packets are waited for.
const PIECES: usize = 4;
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
    let mut out = request(b"SEND", target.len());
    out.extend_from_slice(target.as_bytes());
    loop {
        let start = out.len();
        out.extend_from_slice(b"DATA\0\0\0\0");
        let read = (&mut content)
            .take(PIECE as u64)
            .read_to_end(&mut out)
            .await
            .map_err(|error| refused(error.to_string()))?;
        if read == 0 {
            out.truncate(start);
            break;
        }
        if let Some(length) = out.get_mut(start + 4..start + 8) {
            // A piece has 64 KiB at most.
            length.copy_from_slice(&u32::try_from(read).unwrap_or(0).to_le_bytes());
        }
        if out.len() >= PIECE * PIECES {
            stream.write_all(&out).await?;
            out.clear();
        }
    }
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| now.as_secs());
    out.extend(request(b"DONE", usize::try_from(now).unwrap_or(0)));
    stream.write_all(&out).await?;
    answer(stream, path).await
}

async fn answer(stream: &mut Stream, path: &str) -> Result<(), WireError> {
    let head = stream.read_exact(8).await?;
    let (id, length) = head.split_at(4);
    // A slice of four bytes.
    let length = length.try_into().map_or(0, u32::from_le_bytes) as usize;
    match id {
        b"OKAY" => {
            // A polite good-bye; whether it arrives does not matter.
            let _ = stream.write_all(&request(b"QUIT", 0)).await;
            Ok(())
        }
        b"FAIL" if length <= MAX_REASON => {
            let reason = stream.read_exact(length).await?;
            Err(WireError::File {
                path: path.to_owned(),
                reason: String::from_utf8_lossy(&reason).into_owned(),
            })
        }
        _ => Err(stream.garbled("neither OKAY nor FAIL")),
    }
}

fn request(id: &[u8; 4], number: usize) -> Vec<u8> {
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    [&id[..], &number.to_le_bytes()].concat()
}
