//! Being alive: a key that expires unless it is written again.
//!
//! Only compare-and-set writes with a time to live of their own keep a key that can expire and be taken
//! again; the client's own calls for it drop the time to live on the way.

use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use crate::link::{FarmError, Link};
use crate::names;
use crate::store::{Put, Stored};

/// How long keys live on one server; in a cluster it has to outlast an election.
pub const TTL_ALONE: Duration = Duration::from_secs(10);
/// How long keys live in a cluster.
pub const TTL_CLUSTER: Duration = Duration::from_secs(20);
/// A renewal is certain to hold for this much less than the time to live.
const MARGIN: Duration = Duration::from_millis(250);

/// How long keys live on so many servers.
pub const fn ttl(replicas: usize) -> Duration {
    if replicas > 1 { TTL_CLUSTER } else { TTL_ALONE }
}

/// What is known of one's own key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Alive {
    /// Until this moment we cannot count as dead.
    Until(Instant),
    /// Somebody else has the key now; the sentence says who.
    Taken(String),
}

/// Keeps a key alive until it is dropped; then it expires.
pub struct Liveness {
    alive: watch::Receiver<Alive>,
    value: watch::Sender<Bytes>,
    renewing: AbortOnDropHandle<()>,
    key: String,
    link: Link,
}

/// How a key is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// Its holder.
    Over,
    /// Only if it is free.
    Free,
}

impl Liveness {
    /// Takes a key of the bucket of those who are alive and keeps it. `None` when it was to be free and
    /// is not. Once expired, it is rewritten only while there is something under the subject
    /// `needs`, if any is named.
    ///
    /// # Errors
    /// When this user may not, or the server does not answer.
    pub async fn take(
        link: &Link,
        key: String,
        value: Vec<u8>,
        ttl: Duration,
        how: Take,
        needs: Option<String>,
    ) -> Result<Option<Self>, FarmError> {
        let subject = names::key_subject(names::LIVE, &key);
        let value = Bytes::from(value);
        let (sent, revision) = loop {
            let last = link.last(&subject).await?;
            if how == Take::Free && last.as_ref().is_some_and(|last| last.value.is_some()) {
                return Ok(None);
            }
            let expected = last.map_or(0, |last| last.sequence);
            let sent = Instant::now();
            let put = link.put_if(&subject, expected, value.clone(), Some(ttl));
            match put.await? {
                Put::Done(revision) => break (sent, revision),
                Put::Refused => {}
            }
        };
        let (told, alive) = watch::channel(Alive::Until(until(sent, ttl)));
        let (value, new_value) = watch::channel(value);
        let renewing = Renewing {
            link: link.clone(),
            subject,
            ttl,
            due: sent + ttl / 3,
            needs,
            revision,
            value: new_value,
            told,
        };
        Ok(Some(Self {
            alive,
            value,
            renewing: AbortOnDropHandle::new(tokio::spawn(renewing.renew())),
            key,
            link: link.clone(),
        }))
    }

    /// Until when we are certain to be alive, and whether somebody took the key.
    pub fn alive(&self) -> watch::Receiver<Alive> {
        self.alive.clone()
    }

    /// Writes another value, at once.
    pub fn set(&self, value: Vec<u8>) {
        self.value.send_replace(value.into());
    }

    /// Gives the key up, so that its expiry need not be awaited.
    pub async fn release(self) {
        self.renewing.abort();
        let subject = names::key_subject(names::LIVE, &self.key);
        let given_up = async {
            if let Some(last) = self.link.last(&subject).await?
                && last.value.as_deref() == Some(&**self.value.borrow())
            {
                self.link
                    .take_key(names::LIVE, &self.key, last.sequence)
                    .await?;
            }
            Ok::<_, FarmError>(())
        };
        if let Ok(Err(error)) = tokio::time::timeout(Duration::from_secs(3), given_up).await {
            tracing::debug!(%error, "the key expires by itself");
        }
    }
}

struct Renewing {
    link: Link,
    subject: String,
    ttl: Duration,
    /// When the key is written next. Counted from when it was sent last, not from the answer, which may
    /// have taken most of the time there is.
    due: Instant,
    /// What has to be there for an expired key to be rewritten.
    needs: Option<String>,
    revision: u64,
    value: watch::Receiver<Bytes>,
    told: watch::Sender<Alive>,
}

impl Renewing {
    async fn renew(mut self) {
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(self.due) => {}
                Ok(()) = self.value.changed() => {}
            }
            let value = self.value.borrow_and_update().clone();
            let sent = Instant::now();
            let (ttl, revision) = (Some(self.ttl), self.revision);
            let put = self
                .link
                .put_within(&self.subject, revision, value.clone(), ttl, self.ttl);
            match put.await {
                Ok(Put::Done(revision)) => {
                    self.revision = revision;
                    self.due = sent + self.ttl / 3;
                    self.told.send_replace(Alive::Until(until(sent, self.ttl)));
                }
                Ok(Put::Refused) => {
                    if let Some(taken) = self.was_taken(&value).await {
                        self.told.send_replace(Alive::Taken(taken));
                        return;
                    }
                    // It had expired, or was put by us: rewritten at once.
                    self.due = sent;
                }
                // Tried again; callers see that the moment has passed.
                Err(error) => {
                    tracing::debug!(%error, subject = self.subject, "not renewed");
                    self.due = Instant::now() + MARGIN;
                }
            }
        }
    }

    /// Who has the key, if it is somebody else; otherwise the revision to go on from is known.
    async fn was_taken(&mut self, own: &Bytes) -> Option<String> {
        match self.link.last(&self.subject).await {
            Ok(None) => {
                self.revision = 0;
                return self.is_over().await;
            }
            Ok(Some(last)) if is_ours(&last, own) => {
                self.revision = last.sequence;
                if last.value.is_none() {
                    return self.is_over().await;
                }
            }
            Ok(Some(_)) => return Some("another one of the same name is alive".to_owned()),
            Err(error) => tracing::debug!(%error, "not read back"),
        }
        None
    }

    /// That there is nothing any more that the key is for, if so.
    async fn is_over(&self) -> Option<String> {
        let last = self.link.last(self.needs.as_deref()?).await;
        match last {
            Ok(last) if last.as_ref().is_none_or(|last| last.value.is_none()) => {
                Some("it has ended elsewhere".to_owned())
            }
            Ok(_) | Err(_) => None,
        }
    }
}

/// Whether the key is free, or the incarnation that its value names is our own.
fn is_ours(last: &Stored, own: &Bytes) -> bool {
    let incarnation = |bytes: &[u8]| {
        let value: Option<serde_json::Value> = serde_json::from_slice(bytes).ok();
        value.and_then(|value| Some(value.get("incarnation")?.as_str()?.to_owned()))
    };
    match &last.value {
        None => true,
        Some(value) => value == own || incarnation(value) == incarnation(own),
    }
}

fn until(sent: Instant, ttl: Duration) -> Instant {
    sent + ttl.saturating_sub(MARGIN)
}

/// Ends at a moment; never without one.
pub(crate) async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
