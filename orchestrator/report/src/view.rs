//! A run as reports see it: trails, the devices each ran on, attempts, steps, tool calls.
//!
//! Built from the journal's events and nothing else, also when they stop in the middle.

mod fold;

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use packtrain_drivers::{ActionReport, AppliedAxis, DeviceEvent, DeviceId, DeviceInfo};
use packtrain_model::screen::Observation;
use packtrain_model::{
    Artifact, AttemptNumber, Blame, CancelCause, Cell, Entry, MatrixSummary, Outcome, RecordAs,
    RunId, RunOptionsSummary, SessionId, SourceCall, StepIndex, StepSummary, TrailSummary, Verdict,
};
use serde::Serialize;

use crate::mark::Mark;

/// A whole run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunView {
    /// The run.
    pub run: RunId,
    /// Version of the program that ran it.
    pub packtrain: String,
    /// When it started; `None` when not even that was journalled.
    pub started: Option<DateTime<Utc>>,
    /// From start to end, or to the last event.
    pub duration: Duration,
    /// Whether the journal has the run's end.
    pub state: RunState,
    /// What asked it to stop, when something did.
    pub stopped_by: Option<CancelCause>,
    /// The answer; counted from the sessions that ended when the run was cut short.
    pub verdict: Verdict,
    /// How it was asked for.
    pub options: RunOptionsSummary,
    /// The matrix, when there is one.
    pub matrix: Option<MatrixSummary>,
    /// The devices, as planned.
    pub devices: Vec<DeviceInfo>,
    /// The trails, as planned, with what became of them on each device.
    pub trails: Vec<TrailView>,
    /// Sinks that broke.
    pub broken_sinks: Vec<BrokenSink>,
}

/// Whether a run's journal is whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// The run ended and said so.
    Finished,
    /// The journal stops in the middle: it goes on, or was cut short.
    #[default]
    CutShort,
}

/// A sink that got no further events, or could not keep a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BrokenSink {
    /// Which.
    pub sink: String,
    /// What it said.
    pub message: String,
    /// The file that was not saved, when it was just that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsaved: Option<String>,
}

/// One trail on all its devices.
#[derive(Debug, Clone, PartialEq)]
pub struct TrailView {
    /// The trail.
    pub summary: TrailSummary,
    /// One for each device, in planning order.
    pub sessions: Vec<SessionView>,
}

/// One trail on one device, all attempts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionView {
    /// The id of the first attempt.
    pub id: SessionId,
    /// The device; `None` while it waits for one.
    pub device: Option<DeviceId>,
    /// What is known of the device.
    pub info: Option<DeviceInfo>,
    /// What the devices that may run it are called together, when they are alike.
    pub group: Option<DeviceId>,
    /// The configuration it runs in; empty without a matrix.
    pub cell: Cell,
    /// Which of several repetitions it is, from 1.
    pub repeat: Option<u32>,
    /// How it ended for good.
    pub status: Status,
    /// Whether an earlier attempt failed and the last one passed.
    pub flaky: bool,
    /// The attempts, first to last.
    pub attempts: Vec<AttemptView>,
}

/// One attempt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AttemptView {
    /// Its own id.
    pub id: SessionId,
    /// Which try.
    pub number: AttemptNumber,
    /// When the device was ready.
    pub started: Option<DateTime<Utc>>,
    /// When it ended.
    pub ended: Option<DateTime<Utc>>,
    /// How long it took; up to the last event when it has no end.
    pub duration: Duration,
    /// How it ended.
    pub status: Status,
    /// What was applied of its cell, as it was read back.
    pub axes: Vec<AppliedAxis>,
    /// What it remembered from the start, in a configuration of a matrix.
    pub memory: BTreeMap<String, String>,
    /// Every step of the trail, reached or not.
    pub steps: Vec<StepView>,
}

/// One step of one attempt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepView {
    /// Its place.
    pub step: StepIndex,
    /// When it began.
    pub started: Option<DateTime<Utc>>,
    /// How it ended.
    pub status: Status,
    /// How long it took; zero unless it ended.
    pub duration: Duration,
    /// Its tool calls, in the order they began.
    pub calls: Vec<CallView>,
    /// What was saved.
    pub artifacts: Vec<Artifact>,
    /// What was seen at its end.
    pub observed: Option<Observation>,
    /// What the device reported meanwhile.
    pub reports: Vec<DeviceEvent>,
}

/// One tool call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallView {
    /// Place among the step's calls.
    pub call: u32,
    /// 0 for a call of the trail, 1 for a call that call made ...
    pub depth: u32,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: serde_json::Value,
    /// How it ended.
    pub status: Status,
    /// How the element was found and what was noticed.
    pub report: ActionReport,
    /// What it answered.
    pub answer: Option<String>,
    /// What of it belongs into a recording.
    pub record: RecordAs,
    /// What the tool source did.
    pub via: Option<SourceCall>,
    /// How long it took; zero unless it ended.
    pub duration: Duration,
}

/// Where something stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Status {
    /// Never begun.
    #[default]
    NotRun,
    /// Begun, and no end is known.
    Unfinished,
    /// Ended.
    Ended(Outcome),
}

impl RunView {
    /// Folds a journal. Events may stop anywhere; invalid ones are left out.
    pub fn from_events(events: impl IntoIterator<Item = Entry>) -> Self {
        fold::fold(events)
    }

    /// Every session with its trail, in planning order of the trails.
    pub fn sessions(&self) -> impl Iterator<Item = (&TrailView, &SessionView)> {
        self.trails
            .iter()
            .flat_map(|trail| trail.sessions.iter().map(move |session| (trail, session)))
    }

    /// Every step of every attempt, with its attempt.
    pub fn steps(&self) -> impl Iterator<Item = (&AttemptView, &StepView)> {
        self.sessions()
            .flat_map(|(_, session)| &session.attempts)
            .flat_map(|attempt| attempt.steps.iter().map(move |step| (attempt, step)))
    }

    /// How many sessions have no end.
    pub fn unfinished(&self) -> usize {
        let open = |(_, one): &(_, &SessionView)| !matches!(one.status, Status::Ended(_));
        self.sessions().filter(open).count()
    }

    /// What all attempts before the last ones took together.
    pub fn retry_cost(&self) -> Duration {
        let sessions = self.sessions();
        sessions.map(|(_, session)| session.retry_cost()).sum()
    }

    /// The mark of the whole run.
    pub fn mark(&self) -> Mark {
        let marks = self.sessions().map(|(_, session)| session.mark());
        marks.min().unwrap_or(Mark::NotRun)
    }
}

impl TrailView {
    /// The worst mark of its sessions.
    pub fn mark(&self) -> Mark {
        let marks = self.sessions.iter().map(SessionView::mark);
        marks.min().unwrap_or(Mark::NotRun)
    }

    /// The sessions at these places.
    pub(crate) fn at<'v>(&'v self, places: &[usize]) -> impl Iterator<Item = &'v SessionView> {
        let places = places.iter();
        places.filter_map(|&place| self.sessions.get(place))
    }

    /// The sessions that passed, be it on a later attempt.
    pub(crate) fn passed(&self) -> impl Iterator<Item = &SessionView> {
        let sessions = self.sessions.iter();
        sessions.filter(|one| matches!(one.mark(), Mark::Passed | Mark::Flaky))
    }

    /// What its sessions are called: cells where they have a configuration, devices otherwise.
    pub fn ones(&self) -> &'static str {
        let has_cells = self.sessions.iter().any(|one| !one.cell.is_empty());
        if has_cells { "cells" } else { "devices" }
    }

    /// How long a step took where it passed: the quickest and the slowest of those sessions, and how many
    /// they are.
    pub fn spread(&self, step: StepIndex) -> Option<(&SessionView, &SessionView, usize)> {
        let took = |session: &SessionView| {
            let step = session.step(step)?;
            (step.mark() == Mark::Passed).then_some(step.duration)
        };
        let passed = || self.sessions.iter().filter(|one| took(one).is_some());
        let fastest = passed().min_by_key(|one| took(one))?;
        // The first of several that took as long.
        let slowest = passed().rev().max_by_key(|one| took(one))?;
        Some((fastest, slowest, passed().count())).filter(|(.., count)| *count > 1)
    }

    /// A step's words and place; `None` for a step the trail does not have.
    pub fn step(&self, step: StepIndex) -> Option<&StepSummary> {
        self.summary.steps.iter().find(|s| s.step == step)
    }
}

impl SessionView {
    /// The attempt that counts.
    pub fn last(&self) -> Option<&AttemptView> {
        self.attempts.last()
    }

    /// A step of the attempt that counts.
    pub fn step(&self, step: StepIndex) -> Option<&StepView> {
        let mut steps = self.last()?.steps.iter();
        steps.find(|one| one.step == step)
    }

    /// The device's id as text; `any device` while it waits for one.
    pub fn device_name(&self) -> String {
        device_name(self.device.as_ref())
    }

    /// The device as a part of the cell: what those that are alike are called together.
    pub fn cell_device(&self) -> String {
        match &self.group {
            Some(group) => group.to_string(),
            None => self.device_name(),
        }
    }

    /// What tells it from the trail's other sessions: the device's id and, where there are, the
    /// configuration and which repetition it is: `web/desktop (locale=de) #2`.
    pub fn name(&self) -> String {
        numbered(named(&self.cell_device(), &self.cell), self.repeat)
    }

    /// What a report shows for it.
    pub fn mark(&self) -> Mark {
        match (Mark::of(&self.status), self.flaky) {
            (Mark::Passed, true) => Mark::Flaky,
            (mark, _) => mark,
        }
    }

    /// What all attempts took together.
    pub fn total_duration(&self) -> Duration {
        self.attempts.iter().map(|attempt| attempt.duration).sum()
    }

    /// What the attempts before the last one took.
    pub fn retry_cost(&self) -> Duration {
        self.earlier().map(|attempt| attempt.duration).sum()
    }

    /// The attempts before the last one.
    pub(crate) fn earlier(&self) -> impl DoubleEndedIterator<Item = &AttemptView> {
        let earlier = self
            .attempts
            .split_last()
            .map_or(&[][..], |(_, before)| before);
        earlier.iter()
    }

    /// What has the message: the step at which the last attempt came off its trail, or itself.
    pub(crate) fn said(&self) -> &Status {
        let bad = self.last().and_then(AttemptView::first_bad_step);
        bad.map_or(&self.status, |step| step.status.or(&self.status))
    }
}

impl AttemptView {
    /// The step at which it came off the trail: the first that neither passed nor was skipped.
    pub fn first_bad_step(&self) -> Option<&StepView> {
        self.steps.iter().find(|step| step.is_bad())
    }
}

impl StepView {
    /// What a report shows for it.
    pub fn mark(&self) -> Mark {
        Mark::of(&self.status)
    }

    /// What its calls noticed, in order, each once.
    pub fn notes(&self) -> Vec<&str> {
        let mut notes = Vec::new();
        for note in self.calls.iter().flat_map(|call| &call.report.notes) {
            if !notes.contains(&note.as_str()) {
                notes.push(note.as_str());
            }
        }
        notes
    }

    /// Its mark's sign; `-` where nothing was to be done.
    pub fn sign(&self) -> &'static str {
        let sign = self.mark().sign();
        if self.is_idle() { "-" } else { sign }
    }

    /// Whether it passed because its recording says that nothing is to be done here: `[]`.
    pub fn is_idle(&self) -> bool {
        self.calls.is_empty() && self.mark() == Mark::Passed
    }

    /// Whether it began and neither passed nor was skipped.
    pub const fn is_bad(&self) -> bool {
        match &self.status {
            Status::NotRun | Status::Ended(Outcome::Passed | Outcome::Skipped { .. }) => false,
            Status::Unfinished
            | Status::Ended(
                Outcome::Failed(_)
                | Outcome::NeedsAgent { .. }
                | Outcome::Infrastructure { .. }
                | Outcome::Cancelled { .. },
            ) => true,
        }
    }
}

impl Status {
    /// This one where it has something to say, and another one otherwise.
    pub(crate) fn or<'s>(&'s self, other: &'s Self) -> &'s Self {
        match self.message() {
            Some(_) => self,
            None => other,
        }
    }

    /// How it ended, if it did.
    pub const fn outcome(&self) -> Option<&Outcome> {
        match self {
            Self::Ended(outcome) => Some(outcome),
            Self::NotRun | Self::Unfinished => None,
        }
    }

    /// The word reports print; for an infrastructure error, one that says whom it blames.
    pub const fn word(&self) -> &'static str {
        match self.blame() {
            Some(blame) => blame.word(),
            None => Mark::of(self).word(),
        }
    }

    /// Whom an infrastructure error blames.
    pub const fn blame(&self) -> Option<Blame> {
        match self {
            Self::Ended(Outcome::Infrastructure { blame, .. }) => Some(*blame),
            Self::Ended(_) | Self::NotRun | Self::Unfinished => None,
        }
    }

    /// The sentence behind the word; `None` for a pass.
    pub fn message(&self) -> Option<String> {
        match self {
            Self::NotRun => Some("never began".to_owned()),
            Self::Unfinished => Some("its end was not recorded".to_owned()),
            Self::Ended(outcome) => outcome.message(),
        }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<&str> {
        self.outcome().and_then(Outcome::hint)
    }
}

/// A device's id as text; `any device` where it is not known.
pub(crate) fn device_name(device: Option<&DeviceId>) -> String {
    device.map_or_else(|| "any device".to_owned(), ToString::to_string)
}

/// A device's name and, when there is one, the configuration behind it.
pub fn named(device: &str, cell: &Cell) -> String {
    if cell.is_empty() {
        device.to_owned()
    } else {
        format!("{device} ({cell})")
    }
}

/// A session's name and, when it is one of several repetitions, which.
pub fn numbered(name: String, repeat: Option<u32>) -> String {
    match repeat {
        Some(repeat) => format!("{name} #{repeat}"),
        None => name,
    }
}

#[cfg(test)]
mod tests;
