//! What happened so far, and the report of that: made when somebody looks, one at a time, on a thread
//! that may block, and never for more than a part of one processor.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::response::sse::Event;
use futures::{Stream, stream};
use packtrain_compare::answer::Comparison;
use packtrain_model::Entry;
use packtrain_record::JournalReader;
use packtrain_report::{HtmlOptions, RunView, html, html_data};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::{reports, run_files};

/// How many bytes of events are kept, as lines of the journal. Of a longer run the journal is read.
const MOST_KEPT: usize = 64 * 1024 * 1024;
/// The time from one report to the next, at least.
const INTERVAL: Duration = Duration::from_millis(500);
/// How many times as long as making a report took nothing is made.
const REST: u32 = 3;
/// How long those who watch may take to go once they were told the end.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);

/// A run that goes on.
pub(crate) struct Followed {
    folder: PathBuf,
    kept: watch::Sender<Kept>,
    shown: Arc<tokio::sync::Mutex<Option<Moment>>>,
    /// What is shown for good.
    last: OnceLock<String>,
    ended: CancellationToken,
    /// Those who watch.
    watchers: TaskTracker,
    /// Cancelled when no client is waited for any more.
    closed: CancellationToken,
}

#[derive(Default)]
struct Kept {
    /// How many events there were.
    news: u64,
    entries: Vec<Arc<Entry>>,
    bytes: usize,
    /// Whether only the journal has all of it.
    is_in_journal: bool,
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
            kept: watch::Sender::default(),
            shown: Arc::default(),
            last: OnceLock::new(),
            ended: CancellationToken::new(),
            watchers: TaskTracker::new(),
            closed: CancellationToken::new(),
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps an event, which has so many bytes in the journal.
    pub(crate) fn keep(&self, entry: &Entry, bytes: usize) {
        self.kept.send_modify(|kept| {
            kept.bytes = kept.bytes.saturating_add(bytes);
            if kept.bytes > MOST_KEPT {
                kept.forget();
            }
            if !kept.is_in_journal {
                kept.entries.push(Arc::new(entry.clone()));
            }
            kept.news += 1;
        });
    }

    /// Reads the journal from now on, because some events did not come.
    pub(crate) fn lean_on_journal(&self) {
        self.kept.send_if_modified(|kept| {
            kept.forget();
            // There is no news for those who watch.
            false
        });
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
            news: watch::Receiver<Kept>,
            is_new: bool,
            is_told: bool,
            _watches: TaskTrackerToken,
        }
        let listener = Listener {
            run: Arc::clone(self),
            news: self.kept.subscribe(),
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
                    let news = listener.news.borrow_and_update().news.to_string();
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
        let news = self.kept.borrow().news;
        let is_old = |moment: &&Moment| moment.news != news;
        if let Some(old) = shown.as_ref().filter(is_old) {
            tokio::time::sleep_until(old.next).await;
        }
        let run = Arc::clone(self);
        // A client that goes away leaves the lock to what is being made.
        let making = tokio::task::spawn_blocking(move || {
            let mut shown = shown;
            let moment = match shown.take() {
                Some(moment) if moment.news == run.kept.borrow().news => moment,
                Some(_) | None => run.moment()?,
            };
            show(shown.insert(moment), &run.folder)
        });
        making.await.map_err(NotShown::because)?
    }

    fn moment(&self) -> Result<Moment, NotShown> {
        let begun = Instant::now();
        let news = self.kept.borrow().news;
        let view = self.view()?;
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

    fn view(&self) -> Result<RunView, NotShown> {
        let entries = {
            let kept = self.kept.borrow();
            (!kept.is_in_journal).then(|| kept.entries.clone())
        };
        match entries {
            Some(entries) => Ok(RunView::from_events(
                entries.iter().map(|entry| Entry::clone(entry)),
            )),
            None => {
                let journal = JournalReader::open(&self.folder).map_err(NotShown::because)?;
                // The last line may be half there.
                Ok(RunView::from_events(journal.map_while(Result::ok)))
            }
        }
    }
}

fn options() -> HtmlOptions {
    HtmlOptions {
        inline_limit: 0,
        live: true,
        ..HtmlOptions::default()
    }
}

impl Kept {
    fn forget(&mut self) {
        self.is_in_journal = true;
        self.entries = Vec::new();
    }
}
