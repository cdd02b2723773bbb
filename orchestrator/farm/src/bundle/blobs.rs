//! Content under its digest: in parts that fit into a message, each stored once.

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use packtrain_drivers::BoxFuture;
use sha2::{Digest, Sha256};

use super::{IN_FLIGHT, PART_BYTES};
use crate::wire::Blob;

/// Where blobs are kept.
pub trait BlobStore: Send + Sync {
    /// Whether a blob is there, and stays there for as long as a run may take.
    ///
    /// # Errors
    /// When the store does not answer.
    fn has<'a>(&'a self, digest: &'a str) -> BoxFuture<'a, Result<bool, BlobError>>;

    /// Stores a blob of at most [`PART_BYTES`]. One that is there already is fine.
    ///
    /// # Errors
    /// When the store does not take it.
    fn put<'a>(&'a self, digest: &'a str, content: Bytes) -> BoxFuture<'a, Result<(), BlobError>>;

    /// Reads a blob. The caller checks its digest.
    ///
    /// # Errors
    /// When it is not there, or the store does not answer.
    fn get<'a>(&'a self, digest: &'a str) -> BoxFuture<'a, Result<Bytes, BlobError>>;
}

/// Why a blob could not be stored or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlobError {
    /// It is not there, or no longer.
    #[error("the farm has no blob {0}, or no longer has it")]
    Missing(String),
    /// What is there is something else.
    #[error("the farm's blob {0} does not match its digest")]
    Altered(String),
    /// It says of itself what cannot be.
    #[error("invalid blob {digest}: {why}")]
    Malformed {
        /// Its digest.
        digest: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The store cannot be reached or refuses.
    #[error("the farm's blob store: {0}")]
    Store(String),
    /// The store refuses it, and would again.
    #[error("the farm's blob store rejected it: {0}")]
    Refused(String),
}

/// The SHA-256 of some bytes, in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Stores some content, as much of it as is not there.
///
/// # Errors
/// As [`BlobStore::put`].
pub async fn put(store: &dyn BlobStore, content: Bytes) -> Result<Blob, BlobError> {
    let blob = Blob {
        digest: digest(&content),
        bytes: content.len() as u64,
        parts: match content.len() {
            0..=PART_BYTES => Vec::new(),
            _ => content.chunks(PART_BYTES).map(digest).collect(),
        },
    };
    let digests: Vec<String> = blob.part_digests().map(str::to_owned).collect();
    let parts = digests.into_iter().enumerate().map(|(index, digest)| {
        let start = index * PART_BYTES;
        let part = content.slice(start..content.len().min(start + PART_BYTES));
        async move { put_part(store, &digest, async { Ok::<_, BlobError>(part) }).await }
    });
    futures::stream::iter(parts.collect::<Vec<_>>())
        .buffer_unordered(IN_FLIGHT)
        .try_collect::<()>()
        .await?;
    Ok(blob)
}

/// Stores a part unless it is there; only then it is read.
pub(super) async fn put_part<E: From<BlobError>>(
    store: &dyn BlobStore,
    digest: &str,
    content: impl Future<Output = Result<Bytes, E>>,
) -> Result<(), E> {
    if !store.has(digest).await? {
        store.put(digest, content.await?).await?;
    }
    Ok(())
}

/// Reads some content of at most `limit` bytes, and checks that it is what was stored.
///
/// # Errors
/// When it is larger, not there, or something else.
pub async fn get(store: &dyn BlobStore, blob: &Blob, limit: u64) -> Result<Bytes, BlobError> {
    blob.check(limit)?;
    let parts = blob
        .part_digests()
        .map(|digest| get_part(store, digest))
        .collect::<Vec<_>>();
    let mut parts = futures::stream::iter(parts).buffered(IN_FLIGHT);
    let mut content = Vec::with_capacity(usize::try_from(blob.bytes).unwrap_or_default());
    while let Some(part) = parts.next().await {
        let part = part?;
        if blob.parts.is_empty() && part.len() as u64 == blob.bytes {
            return Ok(part);
        }
        content.extend_from_slice(&part);
    }
    if content.len() as u64 != blob.bytes || digest(&content) != blob.digest {
        return Err(BlobError::Altered(blob.digest.clone()));
    }
    Ok(content.into())
}

/// Reads a part and checks that it is what its name says.
pub(super) async fn get_part(store: &dyn BlobStore, part: &str) -> Result<Bytes, BlobError> {
    let content = store.get(part).await?;
    if content.len() > PART_BYTES || digest(&content) != part {
        return Err(BlobError::Altered(part.to_owned()));
    }
    Ok(content)
}

impl Blob {
    /// What its parts are called, in order; empty content has none.
    pub(super) fn part_digests(&self) -> impl Iterator<Item = &str> {
        let own = (self.parts.is_empty() && self.bytes > 0).then_some(&self.digest);
        own.into_iter().chain(&self.parts).map(String::as_str)
    }

    /// Looks at what it says of itself, before anything is made of it.
    ///
    /// # Errors
    /// When it is larger than `limit` bytes, or its parts cannot be as many as they are.
    pub(super) fn check(&self, limit: u64) -> Result<(), BlobError> {
        let wrong = |why| {
            let digest = self.digest.chars().take(64).collect();
            Err(BlobError::Malformed { digest, why })
        };
        let is_digest = |text: &String| {
            text.len() == 64
                && text
                    .bytes()
                    .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        };
        if !is_digest(&self.digest) || !self.parts.iter().all(is_digest) {
            return wrong("a digest is 64 hexadecimal digits");
        }
        if self.bytes > limit {
            return wrong("it is too large");
        }
        let parts = match self.bytes.div_ceil(PART_BYTES as u64) {
            0 | 1 => 0,
            several => several,
        };
        if self.parts.len() as u64 != parts {
            return wrong("its number of parts does not match its size");
        }
        Ok(())
    }
}
