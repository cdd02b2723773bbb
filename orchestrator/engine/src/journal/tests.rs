use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::task::{Context, Poll, Waker};

use packtrain_model::{CancelCause, Verdict};
use parking_lot::Mutex;

use super::queue::QUEUE_BYTES;
use super::sinks::SINK_QUEUE_BYTES;
use super::*;

type Entries = Arc<Mutex<Vec<Entry>>>;

/// Keeps events, each when the gate lets it.
#[derive(Default)]
struct Memory {
    entries: Entries,
    gate: Option<Receiver<()>>,
}

impl Memory {
    fn wait(&self) {
        if let Some(gate) = &self.gate {
            // Open for good when the other end is gone.
            let _ = gate.recv();
        }
    }
}

impl Store for Memory {
    fn append(&mut self, entries: &[Arc<Entry>]) -> Result<(), String> {
        for entry in entries {
            self.wait();
            self.entries.lock().push(Entry::clone(entry));
        }
        Ok(())
    }

    fn save(&mut self, _: &NewArtifact) -> Result<Option<Artifact>, String> {
        self.wait();
        Ok(None)
    }
}

/// Shows events, each when the gate lets it, and says which and how many it did not get.
struct Slow {
    gate: Receiver<()>,
    shown: Sender<Shown>,
}

#[derive(Debug, PartialEq)]
enum Shown {
    Event(u64),
    Dropped(u64),
}

impl Sink for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn on_event(&mut self, entry: &Entry) -> Result<(), String> {
        let _ = self.gate.recv();
        let _ = self.shown.send(Shown::Event(entry.seq));
        Ok(())
    }

    fn on_dropped(&mut self, count: u64) -> Result<(), String> {
        let _ = self.shown.send(Shown::Dropped(count));
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

    fn on_dropped(&mut self, _: u64) -> Result<(), String> {
        Ok(())
    }
}

fn start(store: impl Store + 'static, sinks: Vec<Box<dyn Sink>>) -> (Journal, JournalThread) {
    Journal::start(Box::new(store), sinks, Redactor::default()).unwrap()
}

fn long_event(bytes: usize) -> RunEvent {
    RunEvent::ToolStarted {
        session: SessionId("s1".to_owned()),
        step: StepIndex(1),
        call: 0,
        depth: 0,
        tool: "long".to_owned(),
        arguments: "x".repeat(bytes).into(),
    }
}

fn stop_requested() -> RunEvent {
    RunEvent::StopRequested {
        by: CancelCause::Interrupt,
    }
}

fn last_event() -> RunEvent {
    RunEvent::RunFinished {
        verdict: Verdict::default(),
        duration_ms: Duration::ZERO,
    }
}

fn screenshot(bytes: usize) -> NewArtifact {
    NewArtifact {
        session: SessionId("s1".to_owned()),
        step: StepIndex(1),
        kind: ArtifactKind::Screenshot,
        name: "screen.png".to_owned(),
        content: ArtifactContent::Bytes(vec![0; bytes]),
    }
}

#[tokio::test]
async fn a_broken_sink_becomes_one_warning_and_the_run_goes_on() {
    for panics in [false, true] {
        let store = Memory::default();
        let entries = Arc::clone(&store.entries);
        let failures = || {
            let entries = entries.lock();
            let failed = |entry: &&Entry| matches!(entry.event, RunEvent::SinkFailed { .. });
            entries.iter().filter(failed).count()
        };
        let (journal, thread) = start(store, vec![Box::new(Breaking { panics })]);
        while failures() == 0 {
            journal.record(stop_requested()).await;
        }
        journal.record(last_event()).await;
        drop(journal);
        let end = thread.finish().await;
        assert_eq!(end.failure, None);
        assert_eq!(end.sinks.finish().await, []);
        assert_eq!(failures(), 1);
        let entries = entries.lock();
        let numbers: Vec<_> = entries.iter().map(|entry| entry.seq).collect();
        assert_eq!(numbers, (1..=entries.len() as u64).collect::<Vec<_>>());
        let is_last = matches!(entries.last().unwrap().event, RunEvent::RunFinished { .. });
        assert!(is_last, "{entries:?}");
    }
}

#[tokio::test]
async fn a_sink_that_shows_nothing_holds_up_neither_the_journal_nor_its_end() {
    let store = Memory::default();
    let entries = Arc::clone(&store.entries);
    let (_closed, gate) = mpsc::channel();
    let (shown, _seen) = mpsc::channel();
    let (journal, thread) = start(store, vec![Box::new(Slow { gate, shown })]);
    for _ in 0..20 {
        journal.record(long_event(SINK_QUEUE_BYTES / 16)).await;
    }
    drop(journal);
    let end = thread.finish().await;
    assert_eq!(end.failure, None);
    assert_eq!(entries.lock().len(), 20);
    let unread = end.sinks.finish_within(Duration::from_millis(50)).await;
    let (sink, lost) = ("slow", 20);
    assert_eq!(unread, [UnreadSink { sink, lost }]);
}

#[tokio::test]
async fn a_sink_that_was_too_slow_is_told_how_much_it_missed_and_gets_the_end() {
    let (open, gate) = mpsc::channel();
    let (shown, seen) = mpsc::channel();
    let (journal, thread) = start(Memory::default(), vec![Box::new(Slow { gate, shown })]);
    for _ in 0..20 {
        journal.record(long_event(SINK_QUEUE_BYTES / 16)).await;
    }
    journal.record(last_event()).await;
    drop(journal);
    let end = thread.finish().await;
    drop(open);
    let unread = end.sinks.finish().await;
    let seen: Vec<_> = seen.iter().collect();
    let [
        ..,
        Shown::Event(before),
        Shown::Dropped(dropped),
        Shown::Event(21),
    ] = seen[..]
    else {
        panic!("{seen:?}");
    };
    assert_eq!(before + dropped, 20);
    let (sink, lost) = ("slow", dropped);
    assert_eq!(unread, [UnreadSink { sink, lost }]);
}

#[tokio::test]
async fn what_waits_for_the_store_is_bounded_in_bytes() {
    let (open, gate) = mpsc::channel();
    let (entries, gate) = (Entries::default(), Some(gate));
    let (journal, thread) = start(Memory { entries, gate }, Vec::new());
    for _ in 0..3 {
        journal.save(screenshot(QUEUE_BYTES / 4)).await;
    }
    {
        let mut fourth = pin!(journal.save(screenshot(QUEUE_BYTES / 4)));
        let mut nobody = Context::from_waker(Waker::noop());
        assert_eq!(fourth.as_mut().poll(&mut nobody), Poll::Pending);
        drop(open);
        fourth.await;
    }
    // Larger than the queue, and yet it finds its way through.
    journal.save(screenshot(QUEUE_BYTES + 1)).await;
    drop(journal);
    assert_eq!(thread.finish().await.failure, None);
}

#[tokio::test]
async fn a_journal_whose_thread_panics_is_broken_and_nobody_waits_for_it() {
    struct Panicking;
    impl Store for Panicking {
        fn append(&mut self, _: &[Arc<Entry>]) -> Result<(), String> {
            Ok(())
        }

        fn save(&mut self, _: &NewArtifact) -> Result<Option<Artifact>, String> {
            panic!("a store with a bug");
        }
    }
    let (journal, thread) = start(Panicking, Vec::new());
    for _ in 0..4 {
        journal.save(screenshot(QUEUE_BYTES / 2)).await;
    }
    drop(journal);
    let failure = thread.finish().await.failure;
    assert_eq!(failure.as_deref(), Some("its thread panicked"));
}
