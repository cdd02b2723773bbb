//! The report of what the journal has so far: made when somebody looks, one at a time, on a thread
//! that may block, and never for more than a part of one processor.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::response::sse::Event;
use futures::{Stream, stream};
use packtrain_compare::answer::Comparison;
use packtrain_engine::STORE;
use packtrain_model::{Entry, RunEvent};
use packtrain_record::JournalReader;
use packtrain_report::{HtmlOptions, RunView, html, html_data};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::{reports, run_files};

/// The time from one report to the next, at least.
const INTERVAL: Duration = Duration::from_millis(500);
/// How many times as long as making a report took nothing is made.
const REST: u32 = 3;
/// How long those who watch may take to go once they were told the end.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);

/// A run that goes on.
pub(crate) struct Followed {
    folder: PathBuf,
    /// How many events there were.
    news: watch::Sender<u64>,
    shown: Arc<tokio::sync::Mutex<Option<Moment>>>,
    /// That the journal broke, which it cannot hold itself.
    broken: OnceLock<Entry>,
    /// What is shown for good.
    last: OnceLock<String>,
    ended: CancellationToken,
    /// Those who watch.
    watchers: TaskTracker,
    /// Cancelled when no client is waited for any more.
    closed: CancellationToken,
}

/// The report of what happened until some moment.
struct Moment {
    /// How many events it is made of.
    news: u64,
    view: RunView,
    comparison: Comparison,
    data: String,
    /// When the next one may be made.
    next: Instant,
}

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
#[error("the report of what happened so far could not be made")]
pub(super) struct NotShown(#[source] Box<dyn std::error::Error + Send + Sync>);

impl NotShown {
    fn because(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

impl Followed {
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            news: watch::Sender::new(0),
            shown: Arc::default(),
            broken: OnceLock::new(),
            last: OnceLock::new(),
            ended: CancellationToken::new(),
            watchers: TaskTracker::new(),
            closed: CancellationToken::new(),
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps what happened if it is what the journal does not have: that it broke.
    pub(super) fn tell_of(&self, entry: &Entry) {
        if let RunEvent::SinkFailed { sink, unsaved, .. } = &entry.event
            && (sink.as_str(), unsaved) == (STORE, &None)
        {
            // It breaks once.
            let _ = self.broken.set(entry.clone());
        }
    }

    /// The journal has more.
    pub(super) fn more(&self) {
        self.news.send_modify(|news| *news += 1);
    }

    /// Shows this for good, or, when there is nothing, what there is. Only the first time counts.
    pub(crate) fn end(&self, written: Option<&reports::Written>) {
        if self.ended.is_cancelled() {
            return;
        }
        if let Some(data) = written.and_then(|written| written.data(&self.folder, &options())) {
            // It is set only here.
            let _ = self.last.set(data);
        }
        self.ended.cancel();
    }

    /// Waits until those who watch have gone, as a page does that was told the end: who is about to ask for
    /// something shall not find the door closed before.
    pub(super) async fn left(&self) {
        self.watchers.close();
        // Who stays has been told all the same.
        let _ = tokio::time::timeout(LEAVE_TIMEOUT, self.watchers.wait()).await;
        self.closed.cancel();
    }

    /// The page.
    pub(super) async fn page(self: &Arc<Self>) -> Result<String, NotShown> {
        self.show(|moment, folder| {
            let files = &mut |path: &str| run_files::file(folder, path);
            html(&moment.view, &moment.comparison, &options(), files).map_err(NotShown::because)
        })
        .await
    }

    /// What a page that is open is given.
    pub(super) async fn data(self: &Arc<Self>) -> Result<String, NotShown> {
        match self.last.get() {
            Some(last) => Ok(last.clone()),
            None => self.show(|moment, _| Ok(moment.data.clone())).await,
        }
    }

    /// A message whenever there is more to see, and the last with all of it.
    pub(super) fn events(
        self: &Arc<Self>,
    ) -> impl Stream<Item = Result<Event, axum::Error>> + Send + use<> {
        struct Listener {
            run: Arc<Followed>,
            news: watch::Receiver<u64>,
            is_new: bool,
            is_told: bool,
            _watches: TaskTrackerToken,
        }
        let listener = Listener {
            run: Arc::clone(self),
            news: self.news.subscribe(),
            is_new: true,
            is_told: false,
            _watches: self.watchers.token(),
        };
        stream::unfold(listener, |mut listener| async {
            if listener.is_told {
                listener.run.closed.cancelled().await;
                return None;
            }
            let more = async {
                if !std::mem::take(&mut listener.is_new) {
                    tokio::time::sleep(INTERVAL).await;
                    // The run holds the other end.
                    let _ = listener.news.changed().await;
                }
            };
            tokio::select! {
                biased;
                () = listener.run.ended.cancelled() => {
                    let last = Event::default().event("end").data(listener.run.last.get()?);
                    listener.is_told = true;
                    Some((Ok(last), listener))
                }
                () = more => {
                    let news = listener.news.borrow_and_update().to_string();
                    Some((Ok(Event::default().data(news)), listener))
                }
            }
        })
    }

    /// Shows what happened so far: what was made for somebody else when nothing is new.
    async fn show(
        self: &Arc<Self>,
        show: impl FnOnce(&Moment, &Path) -> Result<String, NotShown> + Send + 'static,
    ) -> Result<String, NotShown> {
        let shown = Arc::clone(&self.shown).lock_owned().await;
        let news = *self.news.borrow();
        let is_old = |moment: &&Moment| moment.news != news;
        if let Some(old) = shown.as_ref().filter(is_old) {
            tokio::time::sleep_until(old.next).await;
        }
        let run = Arc::clone(self);
        // A client that goes away leaves the lock to what is being made.
        let making = tokio::task::spawn_blocking(move || {
            let mut shown = shown;
            let moment = match shown.take() {
                Some(moment) if moment.news == *run.news.borrow() => moment,
                Some(_) | None => run.moment()?,
            };
            show(shown.insert(moment), &run.folder)
        });
        making.await.map_err(NotShown::because)?
    }

    fn moment(&self) -> Result<Moment, NotShown> {
        let begun = Instant::now();
        let news = *self.news.borrow();
        let journal = JournalReader::open(&self.folder).map_err(NotShown::because)?;
        // The last line may be half there.
        let stored = journal.map_while(Result::ok);
        let view = RunView::from_events(stored.chain(self.broken.get().cloned()));
        let files = &mut |path: &str| run_files::file(&self.folder, path);
        let comparison = packtrain_report::comparison::compare(&view, files);
        let data = html_data(&view, &comparison, &options(), files);
        let data = data.map_err(NotShown::because)?;
        let next = (begun + INTERVAL).max(Instant::now() + begun.elapsed() * REST);
        Ok(Moment {
            news,
            view,
            comparison,
            data,
            next,
        })
    }
}

fn options() -> HtmlOptions {
    HtmlOptions {
        inline_limit: 0,
        live: true,
        ..HtmlOptions::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORED: &str = "../tests/fixtures/stored-1/run/events.ndjson";

    #[tokio::test]
    async fn that_the_journal_broke_is_shown_though_it_cannot_say_so_itself() {
        let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join(STORED);
        let stored = std::fs::read_to_string(stored).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let start = stored.lines().next().unwrap();
        std::fs::write(folder.path().join("events.ndjson"), format!("{start}\n")).unwrap();
        let run = Arc::new(Followed::new(folder.path()));
        for sink in ["junit", STORE] {
            run.tell_of(&Entry {
                seq: 2,
                at: chrono::DateTime::UNIX_EPOCH,
                event: RunEvent::SinkFailed {
                    sink: sink.to_owned(),
                    message: format!("no space for {sink}"),
                    unsaved: None,
                },
            });
            run.more();
            let is_shown = run
                .page()
                .await
                .unwrap()
                .contains(&format!("no space for {sink}"));
            assert_eq!(is_shown, sink == STORE, "what others had is in the journal");
        }
    }
}
