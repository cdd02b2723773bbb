//! What the journal's thread does: it numbers, takes secrets out, stores, and feeds the sinks.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use packtrain_model::memory::Redactor;
use packtrain_model::{Entry, RunEvent};

use super::queue::{self, Message, Messages};
use super::sinks::SinkFeed;
use super::{NewArtifact, Store};

/// Messages that are taken at once.
const MOST_AT_ONCE: usize = 256;
/// What warnings call the store.
pub const STORE: &str = "journal";

/// An event that is not numbered yet.
struct New {
    event: RunEvent,
    /// When it happened, if not now.
    at: Option<DateTime<Utc>>,
    bytes: usize,
}

pub(super) struct Worker {
    /// `None` once it failed.
    store: Option<Box<dyn Store>>,
    /// Why.
    failure: Option<String>,
    sinks: Vec<SinkFeed>,
    redactor: Redactor,
    seq: u64,
}

impl Worker {
    pub(super) fn new(store: Box<dyn Store>, sinks: Vec<SinkFeed>, redactor: Redactor) -> Self {
        Self {
            store: Some(store),
            failure: None,
            sinks,
            redactor,
            seq: 0,
        }
    }

    /// Works until all writing ends are gone; why not everything was stored.
    pub(super) fn work(mut self, mut messages: Messages) -> Option<String> {
        let mut events = Vec::new();
        while let Some(queued) = messages.next() {
            // What came meanwhile is stored with it, in one go.
            let mut next = Some(queued);
            let mut room = Vec::new();
            while let Some(queued) = next {
                match queued.message {
                    Message::Event(event, at) => events.push(New {
                        event,
                        at,
                        bytes: queued.bytes,
                    }),
                    Message::Save(artifact) => {
                        self.publish(&mut events);
                        self.save(&artifact);
                    }
                }
                room.push(queued.room);
                next = (room.len() < MOST_AT_ONCE)
                    .then(|| messages.waiting())
                    .flatten();
            }
            self.publish(&mut events);
        }
        self.failure
    }

    fn publish(&mut self, events: &mut Vec<New>) {
        if events.is_empty() {
            return;
        }
        self.tell_of_failed_sinks();
        let numbered = events.drain(..).map(|new| {
            let New {
                mut event,
                at,
                bytes,
            } = new;
            event.redact(&self.redactor);
            self.seq += 1;
            let entry = Arc::new(Entry {
                seq: self.seq,
                at: at.unwrap_or_else(Utc::now),
                event,
            });
            (entry, bytes)
        });
        let (entries, bytes): (Vec<_>, Vec<_>) = numbered.unzip();
        let stored = match &mut self.store {
            Some(store) => store.append(&entries),
            None => Ok(()),
        };
        for (entry, bytes) in entries.iter().zip(bytes) {
            for sink in &mut self.sinks {
                sink.offer(entry, bytes);
            }
        }
        if let Err(failure) = stored {
            self.store = None;
            self.failure = Some(failure.clone());
            self.publish_failure(STORE, failure, None);
        }
    }

    fn tell_of_failed_sinks(&mut self) {
        let mut failed = Vec::new();
        self.sinks.retain(|sink| match sink.failure() {
            None => true,
            Some(failure) => {
                failed.push((sink.name, failure.to_owned()));
                false
            }
        });
        for (sink, failure) in failed {
            self.publish_failure(sink, failure, None);
        }
    }

    fn save(&mut self, artifact: &NewArtifact) {
        let Some(store) = &mut self.store else {
            return;
        };
        match store.save(artifact) {
            Ok(Some(saved)) => {
                let event = RunEvent::ArtifactSaved {
                    session: artifact.session.clone(),
                    step: artifact.step,
                    artifact: saved,
                };
                let bytes = queue::bytes_of(&event);
                self.publish(&mut vec![New {
                    event,
                    at: None,
                    bytes,
                }]);
            }
            Ok(None) => {}
            Err(failure) => self.publish_failure(STORE, failure, Some(artifact.name.clone())),
        }
    }

    fn publish_failure(&mut self, sink: &str, message: String, unsaved: Option<String>) {
        let event = RunEvent::SinkFailed {
            sink: sink.to_owned(),
            message,
            unsaved,
        };
        let bytes = queue::bytes_of(&event);
        self.publish(&mut vec![New {
            event,
            at: None,
            bytes,
        }]);
    }
}
