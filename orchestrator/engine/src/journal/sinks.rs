//! The sinks' threads, each behind a queue of its own that drops and counts when it is full.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use packtrain_model::{Entry, RunEvent};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::Sink;

/// How much may wait for one sink, as the journal's lines.
pub(super) const SINK_QUEUE_BYTES: usize = 8 * 1024 * 1024;
/// How long a sink may show nothing at the end of a run before it is left alone.
const SINK_STALL_TIMEOUT: Duration = Duration::from_secs(2);
/// How long sinks that go on showing may take at the end of a run.
const SINKS_TIMEOUT: Duration = Duration::from_secs(30);

/// What a sink's thread is asked to show.
enum Order {
    Show {
        entry: Arc<Entry>,
        bytes: usize,
    },
    /// Takes next to no room, and comes at most once before each event.
    SayDropped(u64),
}

/// What a sink's thread and the journal's know of each other.
#[derive(Debug, Default)]
struct State {
    waiting_bytes: AtomicUsize,
    offered: AtomicU64,
    shown: AtomicU64,
    failure: OnceLock<String>,
}

/// The journal's end of a sink.
pub(super) struct SinkFeed {
    pub(super) name: &'static str,
    /// Bounded by the state's `waiting_bytes`.
    orders: Sender<Order>,
    state: Arc<State>,
    /// How many were dropped since the sink was informed.
    dropped: u64,
}

/// Sinks that may still be showing.
#[derive(Debug)]
pub struct OpenSinks(Vec<OpenSink>);

#[derive(Debug)]
struct OpenSink {
    name: &'static str,
    state: Arc<State>,
    ended: oneshot::Receiver<()>,
}

/// A sink that was too slow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadSink {
    /// What the sink is called.
    pub sink: &'static str,
    /// How many events it did not show.
    pub lost: u64,
}

/// Starts a thread for each sink.
pub(super) fn start(sinks: Vec<Box<dyn Sink>>) -> std::io::Result<(Vec<SinkFeed>, OpenSinks)> {
    let mut feeds = Vec::with_capacity(sinks.len());
    let mut open = Vec::with_capacity(sinks.len());
    for sink in sinks {
        let name = sink.name();
        let (orders, receiver) = mpsc::channel();
        let (tell, ended) = oneshot::channel();
        let state = Arc::new(State::default());
        feeds.push(SinkFeed {
            name,
            orders,
            state: Arc::clone(&state),
            dropped: 0,
        });
        open.push(OpenSink {
            name,
            state: Arc::clone(&state),
            ended,
        });
        std::thread::Builder::new()
            .name(format!("sink {name}"))
            .spawn(move || {
                show(sink, &receiver, &state);
                // There may be no receiver.
                let _ = tell.send(());
            })?;
    }
    Ok((feeds, OpenSinks(open)))
}

fn show(mut sink: Box<dyn Sink>, orders: &Receiver<Order>, state: &State) {
    for order in orders {
        let shown = catch_unwind(AssertUnwindSafe(|| match &order {
            Order::Show { entry, .. } => sink.on_event(entry),
            Order::SayDropped(count) => sink.on_dropped(*count),
        }));
        if let Order::Show { bytes, .. } = order {
            state.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
            state.shown.fetch_add(1, Ordering::Relaxed);
        }
        let failure = match shown {
            Ok(Ok(())) => continue,
            Ok(Err(failure)) => failure,
            Err(_) => "it panicked".to_owned(),
        };
        // Set once: the thread ends here.
        let _ = state.failure.set(failure);
        return;
    }
}

impl SinkFeed {
    /// Why the sink gets no further events, if so.
    pub(super) fn failure(&self) -> Option<&str> {
        self.state.failure.get().map(String::as_str)
    }

    /// Shows an event, unless too much waits already. The end of the run always finds room.
    pub(super) fn offer(&mut self, entry: &Arc<Entry>, bytes: usize) {
        let waiting = self.state.waiting_bytes.load(Ordering::Relaxed);
        let is_last = matches!(entry.event, RunEvent::RunFinished { .. });
        self.state.offered.fetch_add(1, Ordering::Relaxed);
        if waiting.saturating_add(bytes) > SINK_QUEUE_BYTES && !is_last {
            self.dropped += 1;
            return;
        }
        self.say_dropped();
        self.state.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        let entry = Arc::clone(entry);
        // A sink that failed is found out before the next event.
        let _ = self.orders.send(Order::Show { entry, bytes });
    }

    fn say_dropped(&mut self) {
        if self.dropped > 0 {
            let _ = self.orders.send(Order::SayDropped(self.dropped));
            self.dropped = 0;
        }
    }
}

impl Drop for SinkFeed {
    fn drop(&mut self) {
        self.say_dropped();
    }
}

impl OpenSinks {
    /// Waits until the sinks have shown what they got, as long as they go on showing, and answers
    /// which of them did not show everything. One that failed was reported in the journal.
    pub async fn finish(self) -> Vec<UnreadSink> {
        self.finish_within(SINK_STALL_TIMEOUT).await
    }

    pub(super) async fn finish_within(self, stall: Duration) -> Vec<UnreadSink> {
        let begun = Instant::now();
        let mut unread = Vec::new();
        for mut sink in self.0 {
            let mut shown = sink.state.shown.load(Ordering::Relaxed);
            while tokio::time::timeout(stall, &mut sink.ended).await.is_err() {
                let before =
                    std::mem::replace(&mut shown, sink.state.shown.load(Ordering::Relaxed));
                if shown == before || begun.elapsed() > SINKS_TIMEOUT {
                    break;
                }
            }
            let shown = sink.state.shown.load(Ordering::Relaxed);
            let lost = sink.state.offered.load(Ordering::Relaxed) - shown;
            if lost > 0 && sink.state.failure.get().is_none() {
                let sink = sink.name;
                unread.push(UnreadSink { sink, lost });
            }
        }
        unread
    }
}
