//! The end of a run: its journal is whole, its reports are made, its verdict is said, and only then
//! comes what can hang. A second signal takes the same way, as far as it gets.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use packtrain_engine::JournalThread;
use packtrain_model::{Exit, Verdict};
use parking_lot::{Condvar, Mutex};

use crate::cli::Format;
use crate::exit::CliError;
use crate::live::Followed;
use crate::render::{self, Color};
use crate::reports::{self, Copies, Written};

/// How long making the reports may take.
const REPORTS_TIMEOUT: Duration = Duration::from_secs(300);

/// How long a run may take after the second signal to come to its end by itself.
const CONCLUDE_TIMEOUT: Duration = Duration::from_secs(2);

/// What the end of a run takes, in every case.
#[derive(Default)]
pub(super) struct Ending {
    pub(super) folder: PathBuf,
    pub(super) copies: Copies,
    pub(super) format: Format,
    pub(super) color: Color,
    /// What shows the run while it goes on.
    pub(super) live: Option<Arc<Followed>>,
    /// The HTML report, once it is made.
    pub(super) html: OnceLock<PathBuf>,
    /// Whether the reports were begun: they are made once.
    pub(super) begun: OnceLock<()>,
    /// The exit code, once the verdict is said.
    pub(super) exit: Mutex<Option<Exit>>,
    pub(super) concluded: Condvar,
}

impl Ending {
    /// Concludes a run that ended by itself, or was given up when `verdict` is `None`.
    pub(super) async fn conclude(
        self: &Arc<Self>,
        verdict: Option<Verdict>,
        journal: JournalThread,
    ) -> Result<Exit, CliError> {
        let journal = journal.finish().await;
        self.remove_raw_logs();
        let written = self.reports_in_time().await;
        let unread = journal.sinks.finish().await;
        let summary = match (&written, self.format) {
            (Ok(written), Format::Text) => Some(written.summary(self.color.on_stderr())),
            (_, Format::Json) | (Err(_), _) => None,
        };
        let annotations = written.as_ref().map(Written::annotations);
        let annotations = annotations.unwrap_or_default();
        let (color, format) = (self.color, self.format);
        render::in_time(move || {
            if let Some(summary) = summary {
                render::say(&summary);
            }
            for line in annotations {
                render::annotation(&line, format);
            }
            for sink in unread {
                let (name, lost) = (sink.sink, sink.lost);
                render::warning(
                    &format!("{name} was read too slowly: {lost} events are missing"),
                    color,
                );
            }
        });
        let exit = verdict.as_ref().map(|verdict| verdict.exit);
        let concluded = match (journal.failure, exit) {
            (Some(failure), exit) => Err(CliError::infrastructure(
                "the run's journal could not be written completely",
            )
            .cause(failure)
            .hint("the reports end where the journal does; make room on the disk and run again")
            .at_least(exit.unwrap_or_default())),
            (None, None) => Err(CliError::infrastructure("the run did not stop in time")
                .hint("the reports say what ran until then")
                .at_least(written.as_ref().map_or(Exit::Infrastructure, Written::exit))),
            (None, Some(exit)) => written
                .and_then(Written::copied)
                .map(|()| exit)
                .map_err(|error| error.at_least(exit)),
        };
        let exit = match &concluded {
            Ok(exit) => *exit,
            Err(error) => error.exit,
        };
        self.ended(exit);
        concluded
    }

    /// Lets go of a run that is not this process's any more: its journal ends where it is, and nothing is
    /// made of it.
    pub(super) async fn abandon(&self, journal: JournalThread, exit: Exit) {
        // The one who ends it makes no reports either.
        self.begun.get_or_init(|| ());
        let journal = journal.finish().await;
        journal.sinks.finish().await;
        if let Some(live) = &self.live {
            live.end(None);
        }
        self.ended(exit);
    }

    fn ended(&self, exit: Exit) {
        *self.exit.lock() = Some(exit);
        self.concluded.notify_all();
    }

    /// What a second signal does: reports of what is there, unless the run comes to its end at once.
    pub(super) fn quit(&self) -> Exit {
        if let Some(exit) = self.concluded_in_time() {
            return exit;
        }
        self.remove_raw_logs();
        let written = self.reports();
        let known = match &written {
            Some(Ok(written)) => written.exit(),
            Some(Err(_)) | None => Exit::Infrastructure,
        };
        let folder = self.folder.display().to_string();
        let failure = written.and_then(|written| written.and_then(Written::copied).err());
        let exit = failure
            .as_ref()
            .map_or(known, |error| known.max(error.exit));
        render::in_time(move || match failure {
            None => render::say(&format!("quit; reports of what ran: {folder}")),
            Some(error) => render::error(&error, Color::Never),
        });
        exit
    }

    /// Removes what devices logged and no session came to hand over: nothing is hidden in it.
    pub(super) fn remove_raw_logs(&self) {
        let logs = self.folder.join("logs");
        match std::fs::remove_dir_all(&logs) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(%error, logs = %logs.display(), "raw logs are left");
            }
            _ => {}
        }
    }

    fn concluded_in_time(&self) -> Option<Exit> {
        let mut exit = self.exit.lock();
        let is_open = |exit: &mut Option<Exit>| exit.is_none();
        self.concluded
            .wait_while_for(&mut exit, is_open, CONCLUDE_TIMEOUT);
        *exit
    }

    async fn reports_in_time(self: &Arc<Self>) -> Result<Written, CliError> {
        let ending = Arc::clone(self);
        let making = tokio::task::spawn_blocking(move || ending.reports());
        match tokio::time::timeout(REPORTS_TIMEOUT, making).await {
            Ok(Ok(Some(written))) => written,
            Ok(Ok(None)) => Err(CliError::infrastructure("interrupted")),
            Ok(Err(error)) => {
                Err(CliError::infrastructure("cannot make the reports").because(&error))
            }
            Err(_) => Err(
                CliError::infrastructure("cannot make the reports").cause(format!(
                    "they were not written within {} s",
                    REPORTS_TIMEOUT.as_secs()
                )),
            ),
        }
    }

    /// Makes the reports, or waits for who makes them; `None` then.
    fn reports(&self) -> Option<Result<Written, CliError>> {
        let mut made = None;
        self.begun.get_or_init(|| {
            let written = reports::write(&self.folder, &self.copies);
            if let Some(live) = &self.live {
                live.end(written.as_ref().ok());
            }
            if let Some(html) = written.as_ref().ok().and_then(Written::html) {
                // Reports are made once.
                let _ = self.html.set(html.to_owned());
            }
            made = Some(written);
        });
        made
    }
}
