//! What waits for the journal's thread, bounded in bytes: a thousand screenshots are gigabytes.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use packtrain_model::RunEvent;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::NewArtifact;

/// How much may wait. When it is full, sessions wait, in the order in which they came.
pub(super) const QUEUE_BYTES: usize = 64 * 1024 * 1024;
/// How often to look for the next message after one, and how long in between.
const LOOKS: u32 = 4;
const LOOK_INTERVAL: Duration = Duration::from_micros(500);
/// What a message takes besides its content.
const MESSAGE_BYTES: usize = 512;

/// What the journal's thread is asked to do.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "most messages are events, and each is taken out soon"
)]
pub(super) enum Message {
    /// With the moment at which it happened elsewhere; now when there is none.
    Event(RunEvent, Option<DateTime<Utc>>),
    Save(NewArtifact),
}

/// The end of the queue that sessions have.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    /// Bounded by `room`.
    messages: UnboundedSender<Queued>,
    room: Arc<Semaphore>,
}

/// A message, and the room it takes until that is dropped.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) message: Message,
    pub(super) bytes: usize,
    /// `None` when it could not be waited for.
    pub(super) room: Option<OwnedSemaphorePermit>,
}

/// The end of the queue that the journal's thread has. Senders stop waiting for room once it is gone.
#[derive(Debug)]
pub(super) struct Messages {
    messages: UnboundedReceiver<Queued>,
    room: Arc<Semaphore>,
    /// How often to look before waiting to be woken.
    looks: u32,
}

impl Queue {
    pub(super) fn new() -> (Self, Messages) {
        let room = Arc::new(Semaphore::new(QUEUE_BYTES));
        #[expect(clippy::disallowed_methods, reason = "bounded in bytes, by `room`")]
        let (sender, receiver) = mpsc::unbounded_channel();
        let queue = Self {
            messages: sender,
            room: Arc::clone(&room),
        };
        let messages = Messages {
            messages: receiver,
            room,
            looks: 0,
        };
        (queue, messages)
    }

    /// Waits for room and queues a message with so much content. When the thread is gone, which its
    /// end tells, the message goes nowhere.
    pub(super) async fn push(&self, message: Message, bytes: usize) {
        let bytes = bytes.saturating_add(MESSAGE_BYTES).min(QUEUE_BYTES);
        let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
        if let Ok(room) = Arc::clone(&self.room).acquire_many_owned(permits).await {
            let _ = self.messages.send(Queued {
                message,
                bytes,
                room: Some(room),
            });
        }
    }

    /// Queues a message that somebody leaves behind who cannot wait any more; it is short.
    pub(super) fn push_now(&self, message: Message, bytes: usize) {
        let _ = self.messages.send(Queued {
            message,
            bytes,
            room: None,
        });
    }
}

impl Messages {
    /// The next message; `None` when all writing ends are gone.
    ///
    /// While there is much to do it looks again after a moment, rather than have each message wake
    /// the thread: that costs the sender more than writing it down.
    pub(super) fn next(&mut self) -> Option<Queued> {
        for _ in 0..self.looks {
            if let Some(message) = self.waiting() {
                self.looks = LOOKS;
                return Some(message);
            }
            #[expect(
                clippy::disallowed_methods,
                reason = "not to be woken by each event is what it is for"
            )]
            std::thread::sleep(LOOK_INTERVAL);
        }
        self.looks = 0;
        let message = self.messages.blocking_recv();
        self.looks = LOOKS;
        message
    }

    /// A message that is there already.
    pub(super) fn waiting(&mut self) -> Option<Queued> {
        self.messages.try_recv().ok()
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        self.room.close();
    }
}

/// How long an event is as a line of the journal.
pub(super) fn bytes_of(event: &RunEvent) -> usize {
    struct Length(usize);
    impl io::Write for Length {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut length = Length(0);
    // What cannot be encoded is reported by the store.
    let _ = serde_json::to_writer(&mut length, event);
    length.0
}
