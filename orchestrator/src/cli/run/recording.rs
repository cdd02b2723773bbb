//! A run as it is kept and shown, wherever its sessions are carried out: journal, progress, reports,
//! and the end that a signal brings about.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use packtrain_config::Config;
use packtrain_engine::{Journal, JournalThread, Plan, Run, SessionHost, Sink, Stop, StopReason};
use packtrain_model::memory::Redactor;
use packtrain_model::{Exit, RunId, Verdict};
use packtrain_record::{JournalWriter, mark_latest};
use packtrain_report::console::Detail;
use tokio_util::task::AbortOnDropHandle;

use super::ending::Ending;
use super::request::RunRequest;
use super::shown::Shown;
use crate::cli::{Context, Format};
use crate::exit::{CliError, OrCliError as _};
use crate::live::LiveReport;
use crate::opener;
use crate::render::{self, Color};
use crate::shutdown::Interrupts;
use crate::sinks::live::{AboveBars, Live};
use crate::sinks::{lines::Lines, ndjson::Ndjson};
use crate::workplace::disk::Disk;

/// How long a run may take after a signal before it is given up. Its sessions have less.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);

/// Makes the folder of a run, in which its journal is written.
///
/// # Errors
/// When the disk refuses, or there is one.
pub(super) fn create_folder(
    config: &Config,
    run: &RunId,
    color: Color,
) -> Result<JournalWriter, CliError> {
    let root = &config.run.output_dir;
    let writer =
        JournalWriter::create(root, run).or_infrastructure("cannot write the run's journal")?;
    if let Err(error) = mark_latest(root, run) {
        render::warning(&error.to_string(), color);
    }
    Ok(writer)
}

/// Puts what an earlier process of the run wrote aside.
///
/// # Errors
/// When the disk refuses.
pub(super) fn put_aside(config: &Config, run: &RunId) -> Result<(), CliError> {
    let root = &config.run.output_dir;
    let folder = root.join(&run.0);
    if !folder.exists() {
        return Ok(());
    }
    let mut places = (1..).map(|number| root.join(format!(".{run}.{number}")));
    let aside = places.find(|path| !path.exists()).unwrap_or_default();
    std::fs::rename(&folder, &aside).or_infrastructure("cannot put the earlier journal aside")
}

/// Removes what was put aside of a run.
pub(super) fn remove_aside(config: &Config, run: &RunId) {
    let entries = std::fs::read_dir(&config.run.output_dir);
    let prefix = format!(".{run}.");
    for entry in entries.into_iter().flatten().filter_map(Result::ok) {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            // What stays does no harm.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// A run that is recorded.
pub(super) struct Recording {
    journal: Journal,
    thread: JournalThread,
    ending: Arc<Ending>,
    live: Option<LiveReport>,
    stop: Stop,
    stopping: AbortOnDropHandle<()>,
    interrupts: Interrupts,
    is_opened: bool,
}

/// A run that has come to its end, but for what was started for it.
pub(super) struct Recorded {
    stopping: AbortOnDropHandle<()>,
    ending: Arc<Ending>,
    live: Option<LiveReport>,
    is_opened: bool,
    concluded: Result<Exit, CliError>,
}

impl Recording {
    /// Begins to record.
    ///
    /// # Errors
    /// When the journal or the live report cannot be started.
    pub(super) async fn begin(
        request: &RunRequest,
        folder: JournalWriter,
        context: &Context,
        interrupts: &Interrupts,
    ) -> Result<Self, CliError> {
        let live = live_report(&request.shown, folder.folder(), context.color).await?;
        let ending = Arc::new(Ending {
            folder: folder.folder().to_owned(),
            copies: request.copies.clone(),
            format: request.format,
            color: context.color,
            live: live.as_ref().map(LiveReport::run),
            ..Ending::default()
        });
        let is_opened = request.shown.open && live.is_none();
        let disk = Box::new(Disk::new(folder));
        let secrets = Redactor::of(&request.secrets);
        let (shown, above) = shown(request, context.color);
        let mut sinks = vec![shown];
        sinks.extend(live.as_ref().map(LiveReport::sink));
        let (journal, thread) =
            Journal::start(disk, sinks, secrets).or_infrastructure("cannot start the journal")?;
        let stop = Stop::default();
        let stopping = interrupts.stopping(stop.clone(), move |words| match above.clone() {
            Some(above) => above.say_without_waiting(words),
            None => render::say_without_waiting(words),
        });
        interrupts.before_quitting({
            let (ending, stop) = (Arc::clone(&ending), stop.clone());
            move || {
                stop.request(StopReason::SecondInterrupt);
                ending.quit()
            }
        });
        Ok(Self {
            journal,
            thread,
            ending,
            live,
            stop,
            stopping,
            interrupts: interrupts.clone(),
            is_opened,
        })
    }

    /// Carries out a plan and makes the reports, unless somebody else carries it on: then it is let go of
    /// as it is, without its end and without a report.
    pub(super) async fn run(
        self,
        plan: Plan,
        host: Arc<dyn SessionHost>,
        elsewhere: impl Future<Output = CliError>,
    ) -> Recorded {
        let overdue = async {
            self.interrupts.first().cancelled().await;
            tokio::time::sleep(STOP_TIMEOUT).await;
        };
        let run = Run {
            plan,
            host,
            journal: self.journal,
            stop: self.stop,
        };
        let verdict: Result<Option<Verdict>, CliError> = tokio::select! {
            biased;
            elsewhere = elsewhere => Err(elsewhere),
            verdict = run.execute() => Ok(Some(verdict)),
            () = overdue => Ok(None),
        };
        let concluded = match verdict {
            Ok(verdict) => {
                if let Some(verdict) = &verdict {
                    self.interrupts.known(verdict.exit);
                }
                self.ending.conclude(verdict, self.thread).await
            }
            Err(elsewhere) => {
                self.ending.abandon(self.thread, elsewhere.exit).await;
                Err(elsewhere)
            }
        };
        Recorded {
            stopping: self.stopping,
            ending: self.ending,
            live: self.live,
            is_opened: self.is_opened,
            concluded,
        }
    }
}

impl Recorded {
    /// Whether the journal is whole and the run has a verdict.
    pub(super) const fn is_whole(&self) -> bool {
        self.concluded.is_ok()
    }

    /// What is left to do once everything that was started for the run has ended.
    pub(super) async fn close(self) -> Result<Exit, CliError> {
        if let Some(live) = self.live {
            live.shutdown().await;
        }
        // One may have gone on until its device was let go of.
        self.ending.remove_raw_logs();
        drop(self.stopping);
        if let Some(html) = self.ending.html.get().filter(|_| self.is_opened).cloned() {
            let color = self.ending.color;
            // That it does not open was said.
            let _ = tokio::task::spawn_blocking(move || opener::file(&html, color)).await;
        }
        self.concluded
    }
}

/// The report while the run goes on, when it is wanted.
async fn live_report(
    asked: &Shown,
    folder: &Path,
    color: Color,
) -> Result<Option<LiveReport>, CliError> {
    if !asked.live {
        return Ok(None);
    }
    let live = LiveReport::start(folder)
        .await
        .or_infrastructure("cannot serve the live report")?;
    render::say(&format!("live: {}", live.url()));
    if asked.open {
        opener::address(live.url(), color);
    }
    Ok(Some(live))
}

fn shown(request: &RunRequest, color: Color) -> (Box<dyn Sink>, Option<AboveBars>) {
    match (request.format, request.shown.detail()) {
        (Format::Json, _) => (Box::new(Ndjson), None),
        (Format::Text, None) if Live::is_possible() => {
            let live = Live::new(color);
            let above = live.above();
            (Box::new(live), Some(above))
        }
        (Format::Text, detail) => {
            let lines = Lines::new(color, detail.unwrap_or(Detail::Steps));
            (Box::new(lines), None)
        }
    }
}
