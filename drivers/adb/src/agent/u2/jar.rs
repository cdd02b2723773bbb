//! The file `u2.jar` on this computer: read and summed once, however many devices are sent it.

use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use md5::{Digest as _, Md5};
use tokio::sync::OnceCell;

/// The largest jar that is pushed, in bytes.
const MAX_SIZE: u64 = 64 * 1024 * 1024;

/// uiautomator2's server, for all devices of a pool.
#[derive(Debug)]
pub(crate) struct Jar {
    path: PathBuf,
    content: OnceCell<Content>,
}

/// What is in it.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) bytes: Bytes,
    /// In hexadecimal digits.
    pub(super) md5: String,
}

impl Jar {
    /// The file at `path`, which is not read before a device needs it.
    pub(crate) const fn new(path: PathBuf) -> Self {
        Self {
            path,
            content: OnceCell::const_new(),
        }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What is in it.
    ///
    /// # Errors
    /// When it cannot be read; the next one who asks tries again.
    pub(super) async fn content(&self) -> std::io::Result<&Content> {
        let read = || async {
            let path = self.path.clone();
            let reading = tokio::task::spawn_blocking(move || read(&path));
            reading.await.map_err(std::io::Error::other)?
        };
        self.content.get_or_try_init(read).await
    }
}

fn read(path: &Path) -> std::io::Result<Content> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path)?;
    file.take(MAX_SIZE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_SIZE {
        return Err(ErrorKind::FileTooLarge.into());
    }
    let digest = Md5::digest(&bytes);
    Ok(Content {
        md5: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
        bytes: bytes.into(),
    })
}
