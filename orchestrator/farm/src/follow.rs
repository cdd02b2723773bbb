//! Reading a stream as it grows, in order and without a gap, and without asking: the server sends.
//!
//! An ordered push consumer of our own rather than the client's: its heartbeats are short, so that a
//! server that was restarted is noticed within seconds, and it goes on where it was.

use std::time::Duration;

use async_nats::Subscriber;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, push};
use async_nats::jetstream::message::Message;
use async_nats::jetstream::stream::ConsumerErrorKind;
use futures::StreamExt as _;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use crate::link::{FarmError, Link, in_one_line};
use crate::names;
use crate::store::{Stored, is_not_found, new_id};

/// How often the server says that there is nothing new.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);
/// After how long without a message the consumer is recreated.
const CONSUMER_TIMEOUT: Duration = Duration::from_millis(2500);
/// The pause before a consumer that could not be made is tried again.
const RETRY_DELAY: Duration = Duration::from_millis(200);
/// How often a first consumer is tried before that is an error.
const FIRST_TRIES: u32 = 10;

/// What a follower reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Followed {
    /// The next message.
    Message(Stored),
    /// What was there when the following began has been read. Told once.
    CaughtUp,
}

/// Reads messages of a stream.
pub struct Follower {
    wanted: ConsumerSpec,
    consumer: Option<Consumer>,
    /// A consumer that is being made; not lost when the waiter is dropped for a moment.
    making: Option<AbortOnDropHandle<Result<Consumer, FarmError>>>,
    tries: u32,
    caught_up: bool,
}

struct Consumer {
    messages: Subscriber,
    /// The number that the next message has among the consumer's.
    next: u64,
    /// Nothing was there when it was made.
    was_empty: bool,
    /// When the server was heard last.
    heard: Instant,
}

impl Link {
    /// Follows subjects of the stream of runs.
    pub fn follow_runs(&self, filters: Vec<String>) -> Follower {
        Follower::new(self, names::RUNS.to_owned(), filters, DeliverPolicy::All)
    }

    /// Follows keys of a bucket: first what they are, then what changes. `keys` may have wildcards.
    pub fn follow_keys(&self, bucket: &str, keys: &[String]) -> Follower {
        let filters = keys.iter().map(|key| names::key_subject(bucket, key));
        let stream = names::bucket_stream(bucket);
        Follower::new(
            self,
            stream,
            filters.collect(),
            DeliverPolicy::LastPerSubject,
        )
    }
}

impl Follower {
    fn new(link: &Link, stream: String, filters: Vec<String>, since: DeliverPolicy) -> Self {
        Self {
            wanted: ConsumerSpec {
                link: link.clone(),
                stream,
                filters,
                since,
                last: 0,
                delay: Duration::ZERO,
            },
            consumer: None,
            making: None,
            tries: 0,
            caught_up: false,
        }
    }

    /// The next message, however long that takes. May be dropped and called again.
    ///
    /// # Errors
    /// When this user may not read it, or nothing of it is there at the beginning.
    pub async fn next(&mut self) -> Result<Followed, FarmError> {
        loop {
            let Some(consumer) = &mut self.consumer else {
                self.make().await?;
                continue;
            };
            if consumer.was_empty && !self.caught_up {
                self.caught_up = true;
                return Ok(Followed::CaughtUp);
            }
            let silent = consumer.heard + CONSUMER_TIMEOUT;
            let received = tokio::time::timeout_at(silent, consumer.messages.next()).await;
            let Ok(Some(message)) = received else {
                // The server was silent, or the subscription is gone.
                self.consumer = None;
                continue;
            };
            consumer.heard = Instant::now();
            if message.status.is_some_and(|status| status.as_u16() == 100) {
                self.answer(&message).await;
                continue;
            }
            let headers = message.headers.clone();
            let (subject, payload) = (message.subject.to_string(), message.payload.clone());
            let context = self.wanted.link.jetstream.clone();
            let message = Message { message, context };
            let Ok(info) = message.info() else {
                continue;
            };
            if info.consumer_sequence != consumer.next {
                // One is missing: it is read again from there.
                self.consumer = None;
                continue;
            }
            consumer.next += 1;
            consumer.was_empty |= info.pending == 0;
            let sequence = info.stream_sequence;
            if sequence <= self.wanted.last {
                continue;
            }
            self.wanted.last = sequence;
            let stored = Stored::new(subject, sequence, payload, headers.as_ref(), info.published);
            return Ok(Followed::Message(stored));
        }
    }

    /// Makes a consumer, or waits for the one that is being made.
    async fn make(&mut self) -> Result<(), FarmError> {
        let making = self.making.get_or_insert_with(|| {
            AbortOnDropHandle::new(tokio::spawn(self.wanted.clone().consume()))
        });
        let made = making.await;
        self.making = None;
        match made {
            Ok(Ok(consumer)) => {
                self.tries = 0;
                self.wanted.delay = Duration::ZERO;
                self.consumer = Some(consumer);
            }
            Ok(Err(error @ FarmError::Forbidden(_))) => return Err(error),
            Ok(Err(error)) => {
                self.tries += 1;
                self.wanted.delay = RETRY_DELAY;
                let is_first = self.wanted.last == 0 && !self.caught_up;
                if is_first && self.tries >= FIRST_TRIES {
                    return Err(error);
                }
                tracing::debug!(%error, stream = self.wanted.stream, "not followed yet");
            }
            Err(error) => tracing::debug!(%error, "following"),
        }
        Ok(())
    }

    /// Answers the server when it asks whether we keep up.
    async fn answer(&self, message: &async_nats::Message) {
        let stalled = message
            .headers
            .as_ref()
            .and_then(|headers| headers.get("Nats-Consumer-Stalled"))
            .map(|subject| subject.as_str().to_owned());
        let asked = message.reply.as_ref().map(ToString::to_string);
        if let Some(subject) = asked.or(stalled) {
            self.wanted.link.tell(subject, Vec::new()).await;
        }
    }
}

/// The consumer that is wanted.
#[derive(Clone)]
struct ConsumerSpec {
    link: Link,
    stream: String,
    filters: Vec<String>,
    /// From where, at first.
    since: DeliverPolicy,
    /// The last message that was read.
    last: u64,
    /// The pause before it is made.
    delay: Duration,
}

impl ConsumerSpec {
    async fn consume(self) -> Result<Consumer, FarmError> {
        tokio::time::sleep(self.delay).await;
        let server = |error: &dyn std::error::Error| {
            FarmError::server(format!("read {}", self.stream), &in_one_line(error))
        };
        let inbox = self.link.client.new_inbox();
        let messages = self.link.listen(inbox.clone()).await?;
        let name = new_id();
        let mut config = push::Config {
            name: Some(name.clone()),
            deliver_subject: inbox,
            deliver_policy: match self.last {
                0 => self.since,
                last => DeliverPolicy::ByStartSequence {
                    start_sequence: last + 1,
                },
            },
            ack_policy: AckPolicy::None,
            flow_control: true,
            idle_heartbeat: HEARTBEAT_INTERVAL,
            memory_storage: true,
            num_replicas: 1,
            ..push::Config::default()
        };
        let mut asked = format!("$JS.API.CONSUMER.CREATE.{}.{name}", self.stream);
        match self.filters.as_slice() {
            [only] => {
                config.filter_subject.clone_from(only);
                asked = format!("{asked}.{only}");
            }
            several => config.filter_subjects = several.to_vec(),
        }
        let made = self
            .link
            .jetstream
            .create_consumer_on_stream(config, &self.stream);
        let consumer = made.await.map_err(|error| {
            if let Some(refusal) = self.link.refusal(&asked) {
                return FarmError::Forbidden(refusal);
            }
            match error.kind() {
                ConsumerErrorKind::JetStream(cause) if is_not_found(&cause) => {
                    FarmError::NotSetUp(self.stream.clone())
                }
                _ => server(&error),
            }
        })?;
        let pending = consumer.cached_info().num_pending;
        Ok(Consumer {
            messages,
            next: 1,
            was_empty: pending == 0,
            heard: Instant::now(),
        })
    }
}
