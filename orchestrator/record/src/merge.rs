//! Several runs that were parts of one plan, made into the one run that they would have been.
//!
//! Nothing is made up: a session of a part that is not there, or that was cut short, is one of which
//! nothing is known.

mod files;
mod plan;
mod rename;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, Utc};
use packtrain_model::{
    AttemptNumber, Blame, Entry, Exit, Outcome, RunEvent, RunId, SessionId, SessionIndex, Verdict,
};

use self::plan::{PartRun, WholePlan};
use self::rename::Renaming;
use crate::{JournalReader, JournalWriter, RecordError};

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The folder of the run.
    pub folder: PathBuf,
    /// How many parts the plan has.
    pub of: u32,
    /// The parts that were not given.
    pub missing: Vec<u32>,
    /// The parts whose journal has no end.
    pub cut_short: Vec<u32>,
    /// Trees and pictures that were left out, as no part has one that is what its name says.
    pub damaged: Vec<String>,
}

/// Why runs cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A journal cannot be read, or the new one not written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A run is whole by itself.
    #[error("{} is not a part of a run: it was started without `--shard N/M`", .0.display())]
    NotAPart(PathBuf),
    /// A part was given more than once.
    #[error("{} and {} are both part {part}", one.display(), other.display())]
    Twice {
        /// Which part.
        part: String,
        /// The one.
        one: PathBuf,
        /// The other.
        other: PathBuf,
    },
    /// The runs are not parts of the same plan.
    #[error("{} and {} belong to different runs: {what}", one.display(), other.display())]
    Different {
        /// In what they differ.
        what: String,
        /// The one.
        one: PathBuf,
        /// The other.
        other: PathBuf,
    },
}

/// Makes one run of parts, below `root`.
///
/// # Errors
/// When the runs are not the parts of one plan, each once; or the disk refuses.
pub fn merge(root: &Path, run: &RunId, folders: &[PathBuf]) -> Result<Merged, MergeError> {
    let parts = folders.iter().map(|folder| PartRun::read(folder));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let whole = WholePlan::of(&parts)?;
    let writer = JournalWriter::create(root, run)?;
    let folder = writer.folder().to_owned();
    let mut damaged = BTreeSet::new();
    for part in &parts {
        damaged.extend(files::take_in(part, &folder)?);
    }
    damaged.retain(|path| !folder.join(path).exists());
    let mut merging = Merging {
        writer,
        seq: 0,
        sessions: BTreeMap::new(),
        failed: BTreeSet::new(),
        verdict: Verdict::default(),
        unknown: false,
        duration: Duration::ZERO,
    };
    let begun = parts.iter().map(|part| part.at).min().unwrap_or_default();
    merging.write(begun, whole.started(run, &parts))?;
    let sources = parts.iter().map(Source::open);
    let mut sources = sources.collect::<Result<Vec<_>, _>>()?;
    let mut last = begun;
    // What happened at the same time stands in the order of the parts.
    while let Some(source) = sources
        .iter_mut()
        .filter(|source| source.next.is_some())
        .min_by_key(|source| source.next.as_ref().map(|entry| entry.at))
    {
        if let Some(entry) = source.take()? {
            last = last.max(entry.at);
            merging.event(entry, source.part)?;
        }
    }
    let cut_short: Vec<_> = sources.iter().filter(|s| !s.has_ended).collect();
    for source in &cut_short {
        let took = (source.last - source.part.at).to_std().unwrap_or_default();
        merging.duration = merging.duration.max(took);
    }
    let cut_short = cut_short.iter().map(|source| source.part.number).collect();
    merging.settle(last, &whole)?;
    merging.finish(last)?;
    let missing = (1..=whole.of).filter(|number| parts.iter().all(|part| part.number != *number));
    Ok(Merged {
        folder,
        of: whole.of,
        missing: missing.collect(),
        cut_short,
        damaged: damaged.into_iter().collect(),
    })
}

/// A part's events, one ahead.
struct Source<'a> {
    part: &'a PartRun,
    reader: JournalReader,
    next: Option<Entry>,
    last: DateTime<Utc>,
    has_ended: bool,
}

impl<'a> Source<'a> {
    fn open(part: &'a PartRun) -> Result<Self, RecordError> {
        let mut reader = JournalReader::open(&part.folder)?;
        // The first was read to see what the part is.
        reader.next().transpose()?;
        let next = reader.next().transpose()?;
        Ok(Self {
            part,
            reader,
            next,
            last: part.at,
            has_ended: false,
        })
    }

    fn take(&mut self) -> Result<Option<Entry>, RecordError> {
        let taken = self.next.take();
        self.next = self.reader.next().transpose()?;
        if let Some(entry) = &taken {
            self.last = entry.at;
            self.has_ended |= matches!(entry.event, RunEvent::RunFinished { .. });
        }
        Ok(taken)
    }
}

/// The journal being written, and what it says so far.
struct Merging {
    writer: JournalWriter,
    seq: u64,
    /// The last attempt of each session by its place, and whether it is settled.
    sessions: BTreeMap<u32, (SessionId, bool)>,
    /// Places of sessions of which an attempt has failed.
    failed: BTreeSet<u32>,
    verdict: Verdict,
    /// Whether a part found nothing out although nothing broke.
    unknown: bool,
    duration: Duration,
}

impl Merging {
    fn write(&mut self, at: DateTime<Utc>, event: RunEvent) -> Result<(), RecordError> {
        self.seq += 1;
        let seq = self.seq;
        self.writer.append([&Entry { seq, at, event }])
    }

    fn event(&mut self, entry: Entry, part: &PartRun) -> Result<(), RecordError> {
        let Entry { at, mut event, .. } = entry;
        let renaming = Renaming { part };
        let Some(place) = renaming.event(&mut event) else {
            if let RunEvent::RunFinished {
                verdict,
                duration_ms,
            } = event
            {
                self.duration = self.duration.max(duration_ms);
                self.unknown |= verdict.exit != Exit::Passed && verdict.settled() > 0;
            } else if event.session().is_none() && !matches!(event, RunEvent::RunStarted { .. }) {
                self.write(at, event)?;
            }
            return Ok(());
        };
        // A session has one end, and nothing after it.
        if self.sessions.get(&place).is_some_and(|known| known.1) {
            return Ok(());
        }
        if let Some(session) = event.session() {
            let is_settled = matches!(event, RunEvent::SessionFinished { .. });
            self.sessions.insert(place, (session.clone(), is_settled));
        }
        if let RunEvent::SessionWillRetry { outcome, .. } = &event
            && outcome.exit() == Exit::Failed
        {
            self.failed.insert(place);
        }
        if let RunEvent::SessionFinished { outcome, flaky, .. } = &event {
            self.verdict.count(outcome, *flaky);
            // An attempt that failed is not hidden by a later one of which nothing is known.
            if !outcome.is_passed() && self.failed.contains(&place) {
                self.verdict.exit = self.verdict.exit.max(Exit::Failed);
            }
        }
        self.write(at, event)
    }

    /// Gives an end to each session that has none.
    fn settle(&mut self, at: DateTime<Utc>, whole: &WholePlan) -> Result<(), RecordError> {
        for (place, planned) in (0_u32..).zip(&whole.sessions) {
            let known = self.sessions.get(&place);
            if known.is_some_and(|(_, is_settled)| *is_settled) {
                continue;
            }
            let first = SessionId::new(SessionIndex(place as usize), AttemptNumber(1));
            let session = known.map_or(first, |(session, _)| session.clone());
            let is_begun = known.is_some();
            let (cause, hint) = match &planned.owner {
                Some(part) => (
                    format!("the journal of part {part} ends before it"),
                    "run that part again",
                ),
                None => (
                    "its part is not among the runs that were merged".to_owned(),
                    "merge all parts",
                ),
            };
            let outcome = Outcome::Infrastructure {
                blame: Blame::Host,
                cause,
                hint: Some(hint.to_owned()),
                unstarted: Vec::new(),
            };
            let device = planned.first_device();
            let device = whole.devices.iter().find(|known| Some(&known.id) == device);
            if let (false, Some(device)) = (is_begun, device) {
                let event = RunEvent::session_started(
                    session.clone(),
                    planned.session.clone(),
                    AttemptNumber(1),
                    device.clone(),
                );
                self.write(at, event)?;
            }
            self.verdict.count(&outcome, false);
            if self.failed.contains(&place) {
                self.verdict.exit = self.verdict.exit.max(Exit::Failed);
            }
            let event = RunEvent::SessionFinished {
                session,
                outcome,
                flaky: false,
                duration_ms: Duration::ZERO,
            };
            self.write(at, event)?;
        }
        Ok(())
    }

    fn finish(mut self, at: DateTime<Utc>) -> Result<(), RecordError> {
        // What no part could run because its driver is not there.
        if self.unknown && self.verdict.skipped == self.verdict.settled() {
            self.verdict.exit = self.verdict.exit.max(Exit::Infrastructure);
        }
        let event = RunEvent::RunFinished {
            verdict: self.verdict.clone(),
            duration_ms: self.duration,
        };
        self.write(at, event)
    }
}
