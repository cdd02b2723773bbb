//! What is stored on the server: writing once, writing by compare-and-set, reading back.

use std::error::Error as _;
use std::time::Duration;

use async_nats::jetstream::context::{PublishErrorKind, traits::Publisher as _};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{
    Config, DiscardPolicy, InfoError, RawMessageErrorKind, RetentionPolicy, StorageType, Stream,
};
use async_nats::jetstream::{self, kv};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures::TryStreamExt as _;
use tokio::time::Instant;

use crate::link::{FarmError, Link, in_one_line};
use crate::names;

/// How long the remains of a run are kept, when they were not removed.
const RUN_RETENTION: Duration = Duration::from_secs(24 * 3600);
/// How long the server remembers the ids of messages.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);
/// How long markers of expired keys are kept.
const MARKER_TTL: Duration = Duration::from_secs(60);
/// On what the server itself copied from a stream to where a request wanted its answer. It does not
/// look at whether the one who asked may write there, so nothing of ours is read that way.
const COPIED: &str = "Nats-Stream";
/// How long something is tried again while the server does not answer.
pub(crate) const RETRY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long streams and buckets that are not there are waited for.
const SET_UP_TIMEOUT: Duration = Duration::from_secs(3);
/// The pause between two attempts.
const RETRY_DELAY: Duration = Duration::from_millis(100);
/// Tells a message of ours that was stored from another's, when its acknowledgement was lost.
const NONCE: &str = "Packtrain-Nonce";
/// How many seconds a message lives.
const TTL: &str = "Nats-TTL";
/// Why a message is only a marker.
const MARKER: &str = "Nats-Marker-Reason";
/// What was done to a key.
const KV_OPERATION: &str = "KV-Operation";

/// What came of a compare-and-set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// It was stored under this sequence, which is the revision of a key.
    Done(u64),
    /// Somebody else was first.
    Refused,
}

/// A message of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its subject.
    pub subject: String,
    /// Its number in the stream; of a key, its revision.
    pub sequence: u64,
    /// Its content; `None` when a key was deleted or has expired.
    pub value: Option<Bytes>,
    /// When the server stored it.
    pub at: DateTime<Utc>,
    pub(crate) nonce: Option<String>,
}

impl Stored {
    /// What the content says.
    ///
    /// # Errors
    /// A sentence when it is not what it should be, or is gone.
    pub fn read<T: serde::de::DeserializeOwned>(&self) -> Result<T, String> {
        let value = self.value.as_deref().unwrap_or_default();
        serde_json::from_slice(value).map_err(|error| format!("{}: {error}", self.subject))
    }

    /// The tokens of the subject.
    pub fn tokens(&self) -> Vec<&str> {
        self.subject.split('.').collect()
    }

    pub(crate) fn new(
        subject: String,
        sequence: u64,
        payload: Bytes,
        headers: Option<&async_nats::HeaderMap>,
        at: DateTime<Utc>,
    ) -> Self {
        let header = |name: &str| headers.and_then(|headers| headers.get(name));
        let is_gone = header(MARKER).is_some()
            || header(COPIED).is_some()
            || header(KV_OPERATION).is_some_and(|done| matches!(done.as_str(), "DEL" | "PURGE"));
        Self {
            subject,
            sequence,
            value: (!is_gone).then_some(payload),
            at,
            nonce: header(NONCE).map(|nonce| nonce.as_str().to_owned()),
        }
    }
}

/// Whether a message that is not stored was sent by the server for somebody: copied from a stream where
/// a request wanted its answer, or delivered by a consumer. Who may have that done may not write there.
pub(crate) fn is_relayed(message: &async_nats::Message) -> bool {
    let is_copied = |headers: &async_nats::HeaderMap| headers.get(COPIED).is_some();
    let is_delivered = |reply: &async_nats::Subject| reply.starts_with("$JS.");
    message.headers.as_ref().is_some_and(is_copied)
        || message.reply.as_ref().is_some_and(is_delivered)
}

impl Link {
    /// Makes the streams and buckets that are not there, on so many servers: 1, or an odd number up to 5.
    ///
    /// # Errors
    /// When the server refuses, has no JetStream, or has other things of these names.
    pub async fn set_up(&self, replicas: usize) -> Result<(), FarmError> {
        let base = |name: &str, subjects: &str| Config {
            name: name.to_owned(),
            subjects: vec![subjects.to_owned()],
            retention: RetentionPolicy::Limits,
            storage: StorageType::File,
            discard: DiscardPolicy::New,
            max_age: RUN_RETENTION,
            duplicate_window: DUPLICATE_WINDOW,
            allow_direct: true,
            num_replicas: replicas,
            ..Config::default()
        };
        for config in [base(names::RUNS, "r.>"), base(names::BLOBS, "blob.*")] {
            let name = config.name.clone();
            let made = self.jetstream.create_stream(config).await;
            made.map_err(|error| self.set_up_error(&name, &error))?;
        }
        let bucket = |bucket: &str| kv::Config {
            bucket: bucket.to_owned(),
            history: 1,
            storage: StorageType::File,
            num_replicas: replicas,
            ..kv::Config::default()
        };
        let buckets = [
            kv::Config {
                limit_markers: Some(MARKER_TTL),
                ..bucket(names::LIVE)
            },
            bucket(names::LEASES),
            bucket(names::DEVICES),
            kv::Config {
                max_age: RUN_RETENTION,
                ..bucket(names::MANIFESTS)
            },
        ];
        for config in buckets {
            let name = config.bucket.clone();
            let made = self.jetstream.create_key_value(config).await;
            made.map_err(|error| self.set_up_error(&name, &error))?;
        }
        Ok(())
    }

    fn set_up_error(&self, name: &str, error: &dyn std::error::Error) -> FarmError {
        let cause = in_one_line(error);
        if cause.contains("jetstream not enabled") || cause.contains("no responders") {
            return FarmError::NoJetStream;
        }
        FarmError::server(format!("set up {name}"), &cause)
    }

    /// Writes a message if the last one of its subject is still the expected one, 0 for none. Tries
    /// again while the server does not answer; an answer that was lost does not make it a refusal.
    ///
    /// # Errors
    /// When this user may not, or the server does not answer for half a minute.
    pub async fn put_if(
        &self,
        subject: &str,
        expected: u64,
        value: Bytes,
        ttl: Option<Duration>,
    ) -> Result<Put, FarmError> {
        self.put_within(subject, expected, value, ttl, RETRY_TIMEOUT)
            .await
    }

    /// As [`put_if`](Self::put_if), for at most `patience`.
    pub(crate) async fn put_within(
        &self,
        subject: &str,
        expected: u64,
        value: Bytes,
        ttl: Option<Duration>,
        patience: Duration,
    ) -> Result<Put, FarmError> {
        let nonce = new_id();
        let mut message = PublishMessage::build()
            .payload(value)
            .header(NONCE, nonce.as_str())
            .expected_last_subject_sequence(expected);
        if let Some(ttl) = ttl {
            message = message.header(TTL, ttl.as_secs().max(1).to_string().as_str());
        }
        self.write(subject, &message, &nonce, patience).await
    }

    /// Writes a message that bears that nonce, if the last one of its subject is the expected one.
    async fn write(
        &self,
        subject: &str,
        message: &PublishMessage,
        nonce: &str,
        patience: Duration,
    ) -> Result<Put, FarmError> {
        let begun = Instant::now();
        let mut is_first = true;
        loop {
            match self.publish(subject, message).await? {
                Some(Put::Refused) if !is_first => match self.last(subject).await {
                    // Ours may have been stored and its acknowledgement lost.
                    Ok(Some(last)) if last.nonce.as_deref() == Some(nonce) => {
                        return Ok(Put::Done(last.sequence));
                    }
                    Ok(_) => return Ok(Put::Refused),
                    Err(error @ FarmError::Forbidden(_)) => return Err(error),
                    Err(error) => tracing::debug!(%error, "not read back yet"),
                },
                Some(put) => return Ok(put),
                None => is_first = false,
            }
            let doing = format!("write {subject}");
            self.try_again(subject, &doing, begun, patience).await?;
        }
    }

    /// Sends a message to be stored; `None` when it is unknown whether it was.
    async fn publish(
        &self,
        subject: &str,
        message: &PublishMessage,
    ) -> Result<Option<Put>, FarmError> {
        let outbound = message.clone().outbound_message(subject.to_owned());
        let published = async { self.publishing.publish_message(outbound).await?.await };
        let error = match published.await {
            Ok(ack) => {
                self.learn_of_store(None);
                return Ok(Some(Put::Done(ack.sequence)));
            }
            Err(error) => error,
        };
        match error.kind() {
            PublishErrorKind::WrongLastSequence => return Ok(Some(Put::Refused)),
            // Trying again would not make it smaller.
            PublishErrorKind::MaxPayloadExceeded => {
                return Err(FarmError::server(
                    format!("write {subject}"),
                    &"it is larger than the server takes in one message",
                ));
            }
            _ => {}
        }
        if let Some(refusal) = self.refusal(subject) {
            return Err(FarmError::Forbidden(refusal));
        }
        self.learn_of_store(Some(&error));
        tracing::debug!(%error, subject, "not stored yet");
        Ok(None)
    }

    /// Pauses before what got no answer is tried again.
    ///
    /// # Errors
    /// When `asked` was refused, or has been tried for so long.
    async fn try_again(
        &self,
        asked: &str,
        doing: &str,
        begun: Instant,
        patience: Duration,
    ) -> Result<(), FarmError> {
        if let Some(refusal) = self.refusal(asked) {
            return Err(FarmError::Forbidden(refusal));
        }
        if begun.elapsed() >= patience {
            return Err(self.silent(asked, doing, patience));
        }
        tokio::time::sleep(RETRY_DELAY).await;
        Ok(())
    }

    /// Writes a message once: of several with one id the server keeps the first. Tries again as
    /// [`put_if`](Self::put_if).
    ///
    /// # Errors
    /// As there.
    pub async fn put_once(&self, subject: &str, id: &str, value: Bytes) -> Result<(), FarmError> {
        let message = PublishMessage::build().payload(value).message_id(id);
        let begun = Instant::now();
        while self.publish(subject, &message).await?.is_none() {
            let doing = format!("write {subject}");
            self.try_again(subject, &doing, begun, RETRY_TIMEOUT)
                .await?;
        }
        Ok(())
    }

    /// Writes a key, whatever it was. Tries again as
    /// [`put_if`](Self::put_if).
    ///
    /// # Errors
    /// As there.
    pub async fn put_key(&self, bucket: &str, key: &str, value: Bytes) -> Result<(), FarmError> {
        let subject = names::key_subject(bucket, key);
        self.put_once(&subject, &new_id(), value).await
    }

    /// Deletes a key if its revision is still the expected one; it is as if it had never been, but for
    /// a marker that watchers see.
    ///
    /// # Errors
    /// As [`put_if`](Self::put_if).
    pub async fn take_key(&self, bucket: &str, key: &str, expected: u64) -> Result<Put, FarmError> {
        let subject = names::key_subject(bucket, key);
        let nonce = new_id();
        let message = PublishMessage::build()
            .header(NONCE, nonce.as_str())
            .header(KV_OPERATION, "PURGE")
            .header("Nats-Rollup", "sub")
            .expected_last_subject_sequence(expected);
        self.write(&subject, &message, &nonce, RETRY_TIMEOUT).await
    }

    /// The last message of a subject, from the stream's leader; a key's value is under
    /// [`names::key_subject`].
    ///
    /// # Errors
    /// When this user may not, or the server does not answer for half a minute.
    pub async fn last(&self, subject: &str) -> Result<Option<Stored>, FarmError> {
        let stream = self.stream(&stream_of(subject)).await?;
        let begun = Instant::now();
        loop {
            match stream.get_last_raw_message_by_subject(subject).await {
                Ok(message) => {
                    let (sequence, payload) = (message.sequence, message.payload);
                    let (headers, at) = (Some(&message.headers), message.time);
                    let subject = message.subject.to_string();
                    return Ok(Some(Stored::new(subject, sequence, payload, headers, at)));
                }
                Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => {
                    return Ok(None);
                }
                Err(error) => tracing::debug!(%error, subject, "not read yet"),
            }
            let asked = format!("$JS.API.STREAM.MSG.GET.{}", stream_of(subject));
            let doing = format!("read {subject}");
            self.try_again(&asked, &doing, begun, RETRY_TIMEOUT).await?;
        }
    }

    /// The subjects of a bucket's keys that match, also of those that were deleted.
    ///
    /// # Errors
    /// When this user may not, the bucket is not made in time, or the server does not answer.
    pub(crate) async fn subjects(
        &self,
        bucket: &str,
        keys: &str,
    ) -> Result<Vec<String>, FarmError> {
        let name = names::bucket_stream(bucket);
        let stream = self.stream(&name).await?;
        let filter = names::key_subject(bucket, keys);
        let begun = Instant::now();
        loop {
            let listed = async {
                let listed = stream.info_with_subjects(&filter).await?;
                listed.map_ok(|(subject, _)| subject).try_collect().await
            };
            let error = match listed.await {
                Ok(subjects) => return Ok(subjects),
                Err::<_, InfoError>(error) => error,
            };
            // The process that makes it may just have been started.
            let cause = error
                .source()
                .and_then(|cause| cause.downcast_ref::<jetstream::Error>());
            let is_missing = cause.is_some_and(is_not_found);
            if is_missing && begun.elapsed() >= SET_UP_TIMEOUT {
                return Err(FarmError::NotSetUp(name));
            }
            tracing::debug!(%error, filter, "not listed yet");
            let asked = format!("$JS.API.STREAM.INFO.{name}");
            let doing = format!("list {filter}");
            self.try_again(&asked, &doing, begun, RETRY_TIMEOUT).await?;
        }
    }

    /// Deletes all messages of a stream whose subjects match.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn purge(&self, stream: &str, filter: &str) -> Result<(), FarmError> {
        let purged = self.stream(stream).await?.purge().filter(filter).await;
        purged
            .map(|_| ())
            .map_err(|error| FarmError::server(format!("purge {filter}"), &in_one_line(&error)))
    }

    pub(crate) async fn stream(&self, name: &str) -> Result<Stream<()>, FarmError> {
        let found = self.jetstream.get_stream_no_info(name).await;
        found.map_err(|error| FarmError::server(format!("find {name}"), &in_one_line(&error)))
    }
}

/// The stream that a subject is stored in.
pub(crate) fn stream_of(subject: &str) -> String {
    let mut tokens = subject.split('.');
    match (tokens.next(), tokens.next()) {
        (Some("$KV"), Some(bucket)) => names::bucket_stream(bucket),
        (Some("blob"), _) => names::BLOBS.to_owned(),
        _ => names::RUNS.to_owned(),
    }
}

/// Whether a stream is not there.
pub(crate) fn is_not_found(error: &jetstream::Error) -> bool {
    error.error_code() == jetstream::ErrorCode::STREAM_NOT_FOUND
}

/// A unique text: one token.
pub(crate) fn new_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}
