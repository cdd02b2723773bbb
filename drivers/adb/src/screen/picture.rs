//! The screen as a PNG.

use std::time::Duration;

use bytes::Bytes;
use packtrain_drivers::{DriverError, Observation, Screenshot, Size};
use tokio::time::Instant;

use crate::device::{AndroidDevice, Result, reason, unmet};

/// How long `screencap` may take.
const SCREENSHOT_TIMEOUT: Duration = Duration::from_secs(20);
/// The first bytes of every PNG.
const MAGIC: &[u8] = b"\x89PNG\r\n\x1a\n";
/// The last: an empty chunk `IEND` and its check.
const END: &[u8] = b"\0\0\0\0IEND\xaeB`\x82";

impl AndroidDevice {
    /// Takes a picture of the screen.
    pub(crate) async fn picture(&self, deadline: Instant) -> Result<Observation> {
        let deadline = deadline.min(Instant::now() + SCREENSHOT_TIMEOUT);
        // Without a terminal, which would mix warnings into the picture.
        let output = self.shell("screencap -p", deadline).await?;
        if output.err().contains("Multiple displays") || is_warned(&output.stdout) {
            return Err(DriverError::Unsupported {
                command: "screenshot".to_owned(),
                device: "a device with several displays".to_owned(),
            }
            .into());
        }
        let Some(screen) = size_of(&output.stdout) else {
            let what = if output.stdout.starts_with(MAGIC) {
                "the screenshot is cut short".to_owned()
            } else if output.stdout.is_empty() && output.stderr.is_empty() {
                format!("no screenshot was returned, exit code {}", output.exit)
            } else {
                reason(&output)
            };
            return Err(unmet(format!("take a screenshot: {what}")));
        };
        Ok(Observation::Screenshot(Screenshot {
            png: Vec::from(output.stdout),
            screen,
        }))
    }
}

/// Whether an old shell mixed `screencap`'s warning into the picture.
fn is_warned(bytes: &Bytes) -> bool {
    bytes.starts_with(b"[Warning]")
}

/// Width and height of a whole PNG.
fn size_of(bytes: &[u8]) -> Option<Size> {
    let header = bytes.strip_prefix(MAGIC)?.get(..16)?;
    if !bytes.ends_with(END) || header.get(4..8)? != b"IHDR" {
        return None;
    }
    let number = |at: usize| {
        let bytes: [u8; 4] = header.get(at..at + 4)?.try_into().ok()?;
        Some(f64::from(u32::from_be_bytes(bytes)))
    };
    Some(Size::new(number(8)?, number(12)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let head = [
            &b"\0\0\0\x0dIHDR"[..],
            &width.to_be_bytes(),
            &height.to_be_bytes(),
        ]
        .concat();
        [MAGIC, &head, b"\x08\x06\0\0\0....", END].concat()
    }

    #[test]
    fn only_a_whole_picture_has_a_size() {
        let whole = png(1080, 2400);
        assert_eq!(size_of(&whole), Some(Size::new(1080.0, 2400.0)));
        for cut in 0..whole.len() {
            assert_eq!(size_of(&whole[..cut]), None, "{cut}");
        }
        assert_eq!(size_of(b"Failed to take screenshot"), None);
    }
}
