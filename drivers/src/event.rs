//! What happens on a device without having been asked for: console lines, dialogs, crashes.

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

/// Something that happened on a device, in the past tense.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeviceEvent {
    /// The page or app wrote a line to its console or log.
    Logged {
        /// `log`, `warning`, `error` ...
        level: String,
        /// The line.
        text: String,
        /// Where it came from, when known: `app.js:12`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<String>,
    },
    /// An uncaught exception.
    PageFailed {
        /// The exception's message and stack.
        error: String,
    },
    /// A request that got no answer, or one with a status of 400 and up.
    RequestFailed {
        /// `GET`, `POST` ...
        method: String,
        /// The whole address.
        url: String,
        /// The status, when there was an answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
        /// The network error, when there was none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// A dialog or system alert opened and was answered.
    DialogOpened {
        /// `alert`, `confirm`, `prompt`, `beforeunload`, `permission` ...
        dialog: String,
        /// Its text.
        message: String,
        /// What it was answered with: `accepted`, `dismissed`, `left open`.
        answer: String,
    },
    /// A new tab or window opened and became the current one.
    PageOpened {
        /// Its address at the time.
        url: String,
    },
    /// The current tab closed; another one, if any, is current now.
    PageClosed {
        /// The address it had.
        url: String,
    },
    /// A download finished or failed.
    Downloaded {
        /// The suggested file name.
        file: String,
        /// Where it was saved; `None` when it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// The app or the page's renderer crashed.
    Crashed {
        /// What is known of it.
        what: String,
    },
    /// The connection was repaired without anyone's help.
    Reconnected {
        /// What had to be done.
        what: String,
    },
    /// Settings that a matrix changed were put back.
    Restored {
        /// The axes.
        axes: Vec<String>,
    },
    /// Events were dropped because they were not read fast enough.
    EventsDropped {
        /// How many.
        count: u64,
    },
}

impl DeviceEvent {
    /// Every text that a device influences, for redaction.
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Logged { text, source, .. } => [text].into_iter().chain(source).collect(),
            Self::PageFailed { error } => vec![error],
            Self::RequestFailed { url, error, .. } => [url].into_iter().chain(error).collect(),
            Self::DialogOpened { message, .. } => vec![message],
            Self::PageOpened { url } | Self::PageClosed { url } => vec![url],
            Self::Downloaded { file, path, error } => {
                [file].into_iter().chain(path).chain(error).collect()
            }
            Self::Crashed { what } | Self::Reconnected { what } => vec![what],
            Self::Restored { .. } | Self::EventsDropped { .. } => Vec::new(),
        }
    }
}

/// Events a device may hold back before they are dropped: enough for a page that logs in a loop
/// between two steps, little enough for thousands of devices.
const CAPACITY: usize = 1024;

/// The driver's end of a device's event channel. Full or closed never blocks the driver: the
/// event is dropped and counted.
#[derive(Debug, Clone)]
pub struct EventSink {
    tx: mpsc::Sender<DeviceEvent>,
    dropped: std::sync::Arc<std::sync::atomic::AtomicU64>,
}

/// The session's end of a device's event channel.
#[derive(Debug)]
pub struct EventStream {
    rx: mpsc::Receiver<DeviceEvent>,
    dropped: std::sync::Arc<std::sync::atomic::AtomicU64>,
}

/// A channel from a driver to the holder of the lease.
pub fn event_channel() -> (EventSink, EventStream) {
    let (tx, rx) = mpsc::channel(CAPACITY);
    let dropped = std::sync::Arc::default();
    (
        EventSink {
            tx,
            dropped: std::sync::Arc::clone(&dropped),
        },
        EventStream { rx, dropped },
    )
}

impl EventSink {
    /// Reports an event; never waits.
    pub fn report(&self, event: DeviceEvent) {
        if self.tx.try_send(event).is_err() {
            self.dropped
                .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }
}

impl EventStream {
    /// The next event; `None` once the driver is gone and everything was read.
    pub async fn next(&mut self) -> Option<DeviceEvent> {
        match self.take_dropped() {
            Some(event) => Some(event),
            None => self.rx.recv().await,
        }
    }

    /// What has arrived by now.
    pub fn drain(&mut self) -> Vec<DeviceEvent> {
        let mut events: Vec<_> = std::iter::from_fn(|| self.rx.try_recv().ok()).collect();
        events.extend(self.take_dropped());
        events
    }

    fn take_dropped(&self) -> Option<DeviceEvent> {
        match self.dropped.swap(0, std::sync::atomic::Ordering::Relaxed) {
            0 => None,
            count => Some(DeviceEvent::EventsDropped { count }),
        }
    }
}
