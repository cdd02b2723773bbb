//! What the journal's thread does: it numbers, takes secrets out, stores, and feeds the sinks.

use std::sync::Arc;

use chrono::Utc;
use packtrain_model::memory::Redactor;
use packtrain_model::{Entry, RunEvent};

use super::queue::{self, Message, Messages, Queued};
use super::sinks::SinkFeed;
use super::{NewArtifact, Store};

/// What warnings call the store.
const STORE: &str = "journal";

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
        while let Some(queued) = messages.next() {
            let Queued {
                message,
                bytes,
                room,
            } = queued;
            match message {
                Message::Event(event) => self.publish(event, bytes),
                Message::Save(artifact) => self.save(&artifact),
            }
            drop(room);
        }
        self.failure
    }

    fn publish(&mut self, mut event: RunEvent, bytes: usize) {
        self.tell_of_failed_sinks();
        event.redact(&self.redactor);
        self.seq += 1;
        let entry = Arc::new(Entry {
            seq: self.seq,
            at: Utc::now(),
            event,
        });
        let stored = match &mut self.store {
            Some(store) => store.append(&entry),
            None => Ok(()),
        };
        for sink in &mut self.sinks {
            sink.offer(&entry, bytes);
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
                self.publish(event, bytes);
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
        self.publish(event, bytes);
    }
}
