//! The journal: order is decided here, once. A thread of its own numbers every event, hands it to
//! each sink, and saves files; what a broken sink does stays with that sink.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::JoinHandle;

use chrono::Utc;
use packtrain_model::memory::Redactor;
use packtrain_model::{Artifact, ArtifactKind, Entry, RunEvent, SessionId, StepIndex};
use tokio::sync::mpsc;

/// Entries that may wait for the disk. When it is full, sessions wait: losing events is worse.
const WAITING: usize = 1024;

/// A file for the run's folder.
#[derive(Debug)]
pub struct NewArtifact {
    /// The session it belongs to.
    pub session: SessionId,
    /// The step it belongs to.
    pub step: StepIndex,
    /// What it is.
    pub kind: ArtifactKind,
    /// A file name to start from; the sink makes it unique.
    pub name: String,
    /// Where the content comes from.
    pub content: ArtifactContent,
}

/// A file's content.
#[derive(Debug)]
pub enum ArtifactContent {
    /// In memory.
    Bytes(Vec<u8>),
    /// On disk already, in the run's folder, where it stays.
    File(std::path::PathBuf),
    /// A log on disk, if it was written; the sink takes it over without what is to be hidden.
    Log {
        /// Where it may be.
        path: std::path::PathBuf,
        /// What nobody may read in it.
        hide: Redactor,
    },
}

/// Takes a run's events. A sink that fails or panics gets no further events; the run goes on.
pub trait Sink: Send {
    /// What warnings call it.
    fn name(&self) -> &'static str;

    /// Takes an event. Called on the journal's thread, in order.
    ///
    /// # Errors
    /// A sentence for the warning; the sink is out of the run after it.
    fn on_event(&mut self, entry: &Entry) -> Result<(), String>;

    /// Saves a file, when this sink is the one that keeps files.
    ///
    /// # Errors
    /// A sentence for the warning; the sink stays.
    fn save(&mut self, artifact: &NewArtifact) -> Option<Result<Artifact, String>> {
        let _ = artifact;
        None
    }
}

enum Message {
    Event(RunEvent),
    Save(NewArtifact),
}

/// The writing end of a run's journal. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Journal {
    tx: mpsc::Sender<Message>,
}

/// The journal's thread.
#[derive(Debug)]
pub struct JournalThread(JoinHandle<Vec<BrokenSink>>);

/// A sink that broke, and what it said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenSink {
    /// What the sink is called.
    pub sink: &'static str,
    /// Its words.
    pub message: String,
}

impl Journal {
    /// Starts a journal whose sinks get each event in the order given, without what the redactor
    /// hides.
    ///
    /// # Errors
    /// When the system refuses another thread.
    pub fn start(
        sinks: Vec<Box<dyn Sink>>,
        redactor: Redactor,
    ) -> std::io::Result<(Self, JournalThread)> {
        let (tx, mut rx) = mpsc::channel(WAITING);
        let thread = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || {
                let mut desk = Desk {
                    sinks,
                    redactor,
                    broken: Vec::new(),
                    seq: 0,
                };
                while let Some(message) = rx.blocking_recv() {
                    match message {
                        Message::Event(event) => desk.publish(event),
                        Message::Save(artifact) => desk.save(&artifact),
                    }
                }
                desk.broken
            })?;
        Ok((Self { tx }, JournalThread(thread)))
    }

    /// Journals an event.
    pub async fn record(&self, event: RunEvent) {
        // The thread ends only after all writing ends are gone.
        let _ = self.tx.send(Message::Event(event)).await;
    }

    /// Saves a file and journals that it was.
    pub async fn save(&self, artifact: NewArtifact) {
        let _ = self.tx.send(Message::Save(artifact)).await;
    }
}

impl JournalThread {
    /// Waits until everything journalled so far has reached every sink, and answers which of them
    /// broke on the way. All writing ends must be gone, or this waits for them.
    pub async fn finish(self) -> Vec<BrokenSink> {
        let ended = tokio::task::spawn_blocking(move || self.0.join()).await;
        // The thread catches what sinks do; a panic of its own lost nobody's sink.
        ended.ok().and_then(Result::ok).unwrap_or_default()
    }
}

/// The thread's state.
struct Desk {
    sinks: Vec<Box<dyn Sink>>,
    redactor: Redactor,
    broken: Vec<BrokenSink>,
    seq: u64,
}

impl Desk {
    fn publish(&mut self, mut event: RunEvent) {
        event.redact(&self.redactor);
        self.seq += 1;
        let entry = Entry {
            seq: self.seq,
            at: Utc::now(),
            event,
        };
        let mut broken = Vec::new();
        self.sinks.retain_mut(|sink| {
            let taken = catch_unwind(AssertUnwindSafe(|| sink.on_event(&entry)));
            let message = match taken {
                Ok(Ok(())) => return true,
                Ok(Err(message)) => message,
                Err(_) => "it panicked".to_owned(),
            };
            broken.push(BrokenSink {
                sink: sink.name(),
                message,
            });
            false
        });
        for BrokenSink { sink, message } in broken.clone() {
            self.publish(RunEvent::SinkFailed {
                sink: sink.to_owned(),
                message,
                unsaved: None,
            });
        }
        self.broken.extend(broken);
    }

    fn save(&mut self, artifact: &NewArtifact) {
        let saved = self.sinks.iter_mut().find_map(|sink| {
            let saved = catch_unwind(AssertUnwindSafe(|| sink.save(artifact)));
            let saved = saved.unwrap_or_else(|_| Some(Err("it panicked".to_owned())))?;
            Some((sink.name(), saved))
        });
        match saved {
            Some((_, Ok(saved))) => self.publish(RunEvent::ArtifactSaved {
                session: artifact.session.clone(),
                step: artifact.step,
                artifact: saved,
            }),
            Some((sink, Err(message))) => self.publish(RunEvent::SinkFailed {
                sink: sink.to_owned(),
                message,
                unsaved: Some(artifact.name.clone()),
            }),
            // Nobody keeps files in this run.
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    struct Keeping(Arc<Mutex<Vec<Entry>>>);

    impl Sink for Keeping {
        fn name(&self) -> &'static str {
            "keeping"
        }

        fn on_event(&mut self, entry: &Entry) -> Result<(), String> {
            self.0.lock().unwrap().push(entry.clone());
            Ok(())
        }
    }

    struct Breaking {
        panics: bool,
    }

    impl Sink for Breaking {
        fn name(&self) -> &'static str {
            "breaking"
        }

        fn on_event(&mut self, _: &Entry) -> Result<(), String> {
            assert!(!self.panics, "a sink with a bug");
            Err("the disk is full".to_owned())
        }
    }

    async fn record(panics: bool) -> Vec<Entry> {
        let kept = Arc::default();
        let sinks: Vec<Box<dyn Sink>> = vec![
            Box::new(Breaking { panics }),
            Box::new(Keeping(Arc::clone(&kept))),
        ];
        let (journal, thread) = Journal::start(sinks, Redactor::default()).unwrap();
        journal
            .record(RunEvent::StopRequested {
                by: packtrain_model::CancelCause::Interrupt,
            })
            .await;
        journal
            .record(RunEvent::StopRequested {
                by: packtrain_model::CancelCause::Interrupt,
            })
            .await;
        drop(journal);
        let broken = thread.finish().await;
        let names: Vec<_> = broken.iter().map(|broken| broken.sink).collect();
        assert_eq!(names, ["breaking"]);
        Arc::try_unwrap(kept).unwrap().into_inner().unwrap()
    }

    #[tokio::test]
    async fn a_broken_sink_becomes_one_warning_and_the_run_goes_on() {
        for panics in [false, true] {
            let entries = record(panics).await;
            let numbers: Vec<_> = entries.iter().map(|entry| entry.seq).collect();
            assert_eq!(numbers, [1, 2, 3]);
            assert!(
                matches!(&entries[1].event, RunEvent::SinkFailed { sink, .. } if sink == "breaking")
            );
        }
    }
}
