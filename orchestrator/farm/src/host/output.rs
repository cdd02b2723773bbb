//! From a session on this host to its run: events and files, packed, in order.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chrono::Utc;
use packtrain_drivers::BoxFuture;
use packtrain_engine::{ArtifactContent, NewArtifact, SessionSink};
use packtrain_model::memory::Redactor;
use packtrain_model::{RunEvent, RunId, SessionId};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use crate::bundle::{self, BlobError};
use crate::link::{FarmError, Link, in_one_line};
use crate::names;
use crate::wire::{DeviceKey, HostName, Item, Pack};

/// What may wait to be sent; the session waits when it is full.
const QUEUED: usize = 256;
/// How long an event may wait for others to travel with.
const LINGER: Duration = Duration::from_millis(150);
/// The most of one message, of the server's 1 MB.
const PACK_BYTES: usize = 256 * 1024;
/// A larger file does not travel.
const FILE_BYTES: u64 = 128 * 1024 * 1024;

/// The end that the session has.
pub(super) struct Output {
    items: mpsc::Sender<Item>,
    link: Link,
    device: DeviceKey,
}

/// The end that sends.
pub(super) struct Sending(AbortOnDropHandle<Result<u64, String>>);

/// Where the packs of a session go.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) run: RunId,
    pub(super) session: SessionId,
    pub(super) host: HostName,
}

/// An output for a session on a device.
pub(super) fn output(link: &Link, to: Address, device: DeviceKey) -> (Arc<Output>, Sending) {
    let (items, queued) = mpsc::channel(QUEUED);
    let sending = tokio::spawn(send(link.clone(), to, queued));
    let output = Output {
        items,
        link: link.clone(),
        device,
    };
    (Arc::new(output), Sending(AbortOnDropHandle::new(sending)))
}

impl Sending {
    /// Waits until everything is sent, once all outputs are gone, and answers how many items there were;
    /// or until the server refuses some of it, and answers why. May be dropped and called again before.
    pub(super) async fn finish(&mut self) -> Result<u64, String> {
        let sent = (&mut self.0).await;
        sent.unwrap_or_else(|error| Err(error.to_string()))
    }
}

impl Output {
    /// What happened, with the device's name in the farm.
    fn item(&self, mut event: RunEvent) -> Item {
        if let RunEvent::SessionStarted {
            device, planned, ..
        } = &mut event
        {
            device.id = self.device.public();
            planned.device = Some(self.device.public());
        }
        Item::Event {
            at: Utc::now(),
            event,
        }
    }

    async fn file(&self, artifact: NewArtifact) -> Option<Item> {
        let name = artifact.name.clone();
        let is_shared = matches!(artifact.content, ArtifactContent::Shared(_));
        let content = match artifact.content {
            ArtifactContent::Bytes(bytes) | ArtifactContent::Shared(bytes) => Ok(Some(bytes)),
            other => tokio::task::spawn_blocking(move || read(other))
                .await
                .unwrap_or_else(|error| Err(error.to_string())),
        };
        let stored = match content {
            Ok(None) => return None,
            Ok(Some(content)) => {
                let put = bundle::put(&self.link, Bytes::from(content)).await;
                put.map_err(|error| in_one_line(&error))
            }
            Err(error) => Err(error),
        };
        Some(match stored {
            Ok((content, _)) => Item::File {
                step: artifact.step,
                kind: artifact.kind,
                name,
                shared: is_shared,
                content,
            },
            Err(error) => Item::Lost(format!("{name}: {error}")),
        })
    }
}

impl SessionSink for Output {
    fn record(&self, event: RunEvent) -> BoxFuture<'_, ()> {
        let item = self.item(event);
        Box::pin(async move {
            // Whoever sends is gone when the session is.
            let _ = self.items.send(item).await;
        })
    }

    fn record_now(&self, event: RunEvent) {
        if self.items.try_send(self.item(event)).is_err() {
            tracing::debug!("an event of a session that was left did not travel");
        }
    }

    fn save(&self, artifact: NewArtifact) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if let Some(item) = self.file(artifact).await {
                let _ = self.items.send(item).await;
            }
        })
    }
}

/// A file's content, and the file is gone; `None` when there is nothing to keep.
fn read(content: ArtifactContent) -> Result<Option<Vec<u8>>, String> {
    let (path, hide) = match content {
        ArtifactContent::Bytes(bytes) | ArtifactContent::Shared(bytes) => return Ok(Some(bytes)),
        ArtifactContent::Unwanted(path) => {
            // It may never have been written.
            let _ = std::fs::remove_file(path);
            return Ok(None);
        }
        ArtifactContent::File(path) => (path, Redactor::default()),
        ArtifactContent::Log { path, hide } => (path, hide),
    };
    let about = match std::fs::symlink_metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|error| error.to_string())?,
    };
    if !about.is_file() || about.len() > FILE_BYTES {
        return Err(format!("{} bytes are too many to travel", about.len()));
    }
    let bytes = std::fs::read(&path).map_err(|error| error.to_string())?;
    let _ = std::fs::remove_file(&path);
    Ok(Some(hide.redact_file(bytes)))
}

/// Sends what is queued until all outputs are gone; how many items there were, or why they are refused.
async fn send(link: Link, to: Address, mut queued: mpsc::Receiver<Item>) -> Result<u64, String> {
    let subject = names::events(&to.run, &to.session, &to.host);
    let mut first = 0;
    let mut next = None;
    loop {
        let Some(item) = (match next.take() {
            Some(item) => Some(item),
            None => queued.recv().await,
        }) else {
            return Ok(first);
        };
        let item = fit(&link, item).await?;
        let mut bytes = size(&item);
        let mut items = vec![item];
        let linger = Instant::now() + LINGER;
        while bytes < PACK_BYTES {
            let Ok(Some(item)) = tokio::time::timeout_at(linger, queued.recv()).await else {
                break;
            };
            let more = size(&item);
            if bytes + more > PACK_BYTES {
                next = Some(item);
                break;
            }
            bytes += more;
            items.push(item);
        }
        let count = items.len() as u64;
        let id = format!("{subject}.{first}");
        let pack = encode(&Pack { first, items });
        loop {
            match link.put_once(&subject, &id, pack.clone()).await {
                Ok(()) => break,
                // The server is away; the session waits, and its host's fence is closed by then.
                Err(FarmError::Silent { .. }) => {}
                // It would be refused again.
                Err(error) => return Err(error.to_string()),
            }
        }
        first += count;
    }
}

/// An item as it fits into a message. Waits while the server is away; an error says that it refuses it.
async fn fit(link: &Link, item: Item) -> Result<Item, String> {
    if size(&item) <= PACK_BYTES {
        return Ok(item);
    }
    let content = Bytes::from(serde_json::to_vec(&item).unwrap_or_default());
    loop {
        match bundle::put(link, content.clone()).await {
            Ok((blob, _)) => return Ok(Item::Large(blob)),
            Err(error @ BlobError::Refused(_)) => return Err(error.to_string()),
            Err(error) => tracing::warn!(%error, "a large event does not reach its run"),
        }
        tokio::time::sleep(LINGER).await;
    }
}

fn size(item: &Item) -> usize {
    serde_json::to_vec(item).map_or(0, |json| json.len())
}

fn encode(pack: &Pack) -> Bytes {
    serde_json::to_vec(pack).unwrap_or_default().into()
}
