//! A run's project on its way to hosts: which files travel, as what blobs, and where they are laid
//! down. It knows files and digests and no server: blobs go through a [`BlobStore`].
//!
//! **A blob** is at most [`PART_BYTES`] large and called by the SHA-256 of its content, so that what
//! is stored once is never sent again. A larger file is several.

mod blobs;
mod cache;
mod collect;
mod materialise;
mod path;
mod seal;
#[cfg(test)]
mod tests;

pub(crate) use self::blobs::digest as digest_of;
pub use self::blobs::{BlobError, BlobStore, get, put};
pub use self::cache::{Bundle, CacheLimits, create_private};
pub use self::collect::{CollectError, CollectOptions, Collected, PROJECT_FOLDER, collect};
pub use self::materialise::{MaterialiseError, materialise};
pub use self::path::{BundlePathError, check_path, inside};
pub use self::seal::{SealError, SealKey, Secrets, seal};

/// The largest part of a file, in bytes: a message of the server's.
pub const PART_BYTES: usize = 512 * 1024;
/// What the files of a bundle may have together, in bytes.
pub const BUNDLE_BYTES: u64 = 256 * 1024 * 1024;
/// How many files a bundle may have.
pub const BUNDLE_FILES: usize = 20_000;
/// How many blobs are asked for, sent or read at a time.
const IN_FLIGHT: usize = 16;
