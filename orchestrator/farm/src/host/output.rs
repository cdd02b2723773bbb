//! From a session on this host to its run: events and files, packed, in order.

use std::time::Duration;

use bytes::Bytes;
use packtrain_engine::{ArtifactContent, SessionMessage, SessionOutput};
use packtrain_model::{RunEvent, RunId, SessionId};
use packtrain_wire::{Dated, File};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use crate::bundle::{self, BlobError};
use crate::link::{FarmError, Link, in_one_line};
use crate::names;
use crate::wire::{DeviceKey, Item, Pack};

/// What may wait to be sent; the session waits when it is full.
const QUEUED: usize = 256;
/// How long an event may wait for others to travel with.
const BATCH_DELAY: Duration = Duration::from_millis(150);
/// The most of one message, of the server's 1 MB.
const PACK_BYTES: usize = 256 * 1024;
/// A larger file does not travel.
const FILE_BYTES: u64 = 128 * 1024 * 1024;

/// Where the packs of a session go, and from where.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) run: RunId,
    pub(super) session: SessionId,
    pub(super) device: DeviceKey,
}

/// An output for a session, and what sends: with how many items there were, or why they are refused.
pub(super) fn output(
    link: &Link,
    to: &Address,
) -> (SessionOutput, AbortOnDropHandle<Result<u64, String>>) {
    let (output, queued) = SessionOutput::elsewhere(QUEUED);
    let sending = tokio::spawn(send(link.clone(), to.clone(), queued));
    (output, AbortOnDropHandle::new(sending))
}

/// What a session says, as it travels; `None` for what does not.
async fn item(link: &Link, device: &DeviceKey, message: SessionMessage) -> Option<Item> {
    match message {
        SessionMessage::Event(mut event, at) => {
            // The device has another name in the farm.
            if let RunEvent::SessionStarted {
                device: info,
                planned,
                ..
            } = &mut *event
            {
                info.id = device.public();
                planned.device = Some(device.public());
            }
            Some(Item::Event(Dated { at, event }))
        }
        SessionMessage::File(artifact, _) => {
            let shared = Some(matches!(artifact.content, ArtifactContent::Shared(_)));
            let (mut file, content) = File::of(artifact);
            // The stream is that of its session.
            (file.session, file.shared) = (None, shared);
            let reading = tokio::task::spawn_blocking(move || content.take(FILE_BYTES));
            let stored = match reading.await.unwrap_or_else(|error| Err(error.to_string())) {
                Ok(content) => {
                    let put = bundle::put(link, Bytes::from(content?)).await;
                    put.map_err(|error| in_one_line(&error))
                }
                Err(error) => Err(error),
            };
            Some(match stored {
                Ok(content) => Item::File(file.with(content)),
                Err(error) => Item::Lost(format!("{}: {error}", file.name)),
            })
        }
        // Its device is its own from the beginning.
        SessionMessage::Waits(_) => None,
    }
}

/// Sends what is queued until all outputs are gone; how many items there were, or why they are refused.
async fn send(
    link: Link,
    to: Address,
    mut queued: mpsc::Receiver<SessionMessage>,
) -> Result<u64, String> {
    let subject = names::events(&to.run, &to.session, &to.device.host);
    let mut first = 0;
    let (mut next, mut file) = (None, None);
    loop {
        let item = match next.take() {
            Some(item) => Some(item),
            None => {
                let message = match file.take() {
                    Some(file) => Some(file),
                    None => queued.recv().await,
                };
                match message {
                    Some(message) => item(&link, &to.device, message).await,
                    None => return Ok(first),
                }
            }
        };
        let Some(item) = item else { continue };
        let item = fit(&link, item).await?;
        let mut bytes = size(&item);
        let mut items = vec![item];
        let linger = Instant::now() + BATCH_DELAY;
        while bytes < PACK_BYTES {
            let Ok(Some(message)) = tokio::time::timeout_at(linger, queued.recv()).await else {
                break;
            };
            if matches!(message, SessionMessage::File(..)) {
                // What happened before does not wait until it is uploaded.
                file = Some(message);
                break;
            }
            let Some(item) = self::item(&link, &to.device, message).await else {
                continue;
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
            Ok(blob) => return Ok(Item::Large(blob)),
            Err(error @ BlobError::Refused(_)) => return Err(error.to_string()),
            Err(error) => tracing::warn!(%error, "a large event does not reach its run"),
        }
        tokio::time::sleep(BATCH_DELAY).await;
    }
}

fn size(item: &Item) -> usize {
    serde_json::to_vec(item).map_or(0, |json| json.len())
}

fn encode(pack: &Pack) -> Bytes {
    serde_json::to_vec(pack).unwrap_or_default().into()
}
