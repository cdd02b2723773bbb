//! Blobs in the farm's stream of that name.

use bytes::Bytes;
use packtrain_drivers::BoxFuture;

use async_nats::jetstream::stream::DirectGetErrorKind;

use crate::bundle::{BlobError, BlobStore, digest_of};
use crate::link::{FarmError, Link, in_one_line};
use crate::names;
use crate::store::new_id;

/// A blob younger than this stays for as long as a run may take; an older one is stored again.
const FRESH: chrono::Duration = chrono::Duration::hours(12);

impl BlobStore for Link {
    fn has<'a>(&'a self, digest: &'a str) -> BoxFuture<'a, Result<bool, BlobError>> {
        Box::pin(async move {
            let store = |error: &dyn std::error::Error| BlobError::Store(in_one_line(error));
            let stream = self.stream(names::BLOBS).await.map_err(|e| store(&e))?;
            let found = stream
                .direct_get_builder()
                .last_by_subject(names::blob(digest))
                .send()
                .await;
            match found {
                // It came along: content that does not match its name is stored again.
                Ok(message) => Ok(chrono::Utc::now() - message.time < FRESH
                    && digest_of(&message.payload) == digest),
                Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(false),
                Err(error) => Err(store(&error)),
            }
        })
    }

    fn put<'a>(&'a self, digest: &'a str, content: Bytes) -> BoxFuture<'a, Result<(), BlobError>> {
        Box::pin(async move {
            // Not by its digest: something else may have been put over it since it was.
            let put = self
                .put_once(&names::blob(digest), &new_id(), content)
                .await;
            put.map_err(|error| match error {
                FarmError::Forbidden(_) | FarmError::Server { .. } => {
                    BlobError::Refused(error.to_string())
                }
                error => BlobError::Store(error.to_string()),
            })
        })
    }

    fn get<'a>(&'a self, digest: &'a str) -> BoxFuture<'a, Result<Bytes, BlobError>> {
        Box::pin(async move {
            let store = |error: &dyn std::error::Error| BlobError::Store(in_one_line(error));
            let stream = self.stream(names::BLOBS).await.map_err(|e| store(&e))?;
            let subject = names::blob(digest);
            match stream.direct_get_last_for_subject(subject.clone()).await {
                Ok(message) => return Ok(message.payload),
                Err(error) => tracing::debug!(%error, digest, "asking the leader"),
            }
            // Any server answers the above, the leader alone is sure to have it.
            let last = self.last(&subject).await.map_err(|error| store(&error))?;
            let value = last.and_then(|last| last.value);
            value.ok_or_else(|| BlobError::Missing(digest.to_owned()))
        })
    }
}
