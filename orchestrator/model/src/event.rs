//! What happened in a run, in the past tense: the journal's lines, and all that reports know.

mod redact;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use chrono::{DateTime, Utc};
use packtrain_drivers::{ActionReport, AppliedAxis, DeviceEvent, DeviceId, DeviceInfo};
use serde::{Deserialize, Serialize};

use crate::ids::{AttemptNumber, RunId, SessionId, StepIndex};
use crate::outcome::{CancelCause, Outcome, Verdict};
use crate::screen::Observation;

/// Version of the shape below. Raised when a reader of the old shape would misread the new one.
pub const SCHEMA_VERSION: u32 = 1;

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Place in the journal, from 1, without gaps. Order is decided here and nowhere else.
    pub seq: u64,
    /// When it was journalled.
    pub at: DateTime<Utc>,
    /// What happened.
    #[serde(flatten)]
    pub event: RunEvent,
}

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// Always the first.
    RunStarted {
        /// Version of this shape.
        schema_version: u32,
        /// Version of the program.
        packtrain: String,
        /// The run.
        run: RunId,
        /// The trails, by the index that sessions refer to.
        trails: Vec<TrailSummary>,
        /// The devices.
        devices: Vec<DeviceInfo>,
        /// What shall run, in planning order.
        sessions: Vec<PlannedSession>,
        /// How it was asked for.
        options: RunOptionsSummary,
        /// The matrix, when there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        matrix: Option<MatrixSummary>,
    },
    /// A device was leased for a trail and is ready.
    SessionStarted {
        /// The session.
        session: SessionId,
        /// Which trail and device.
        planned: PlannedSession,
        /// Which try.
        attempt: AttemptNumber,
        /// The device as it described itself once connected.
        device: DeviceInfo,
    },
    /// The device has what its cell asks for, as it says itself.
    SessionConfigured {
        /// The session.
        session: SessionId,
        /// What was applied and read back.
        axes: Vec<AppliedAxis>,
        /// What it remembers from the start, secrets left out.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        memory: BTreeMap<String, String>,
    },
    /// A step began.
    StepStarted {
        /// The session.
        session: SessionId,
        /// The step.
        step: StepIndex,
    },
    /// A tool call began.
    ToolStarted {
        /// The session.
        session: SessionId,
        /// The step.
        step: StepIndex,
        /// Place among the step's calls, from 0.
        call: u32,
        /// How deep: 0 for a call of the trail, 1 for a call that call made ...
        depth: u32,
        /// The tool's name.
        tool: String,
        /// Its arguments after templates were filled in, secrets redacted.
        arguments: serde_json::Value,
    },
    /// A tool call ended.
    ToolFinished {
        /// The session.
        session: SessionId,
        /// The step.
        step: StepIndex,
        /// Place among the step's calls, from 0.
        call: u32,
        /// How deep.
        depth: u32,
        /// The tool's name.
        tool: String,
        /// How it ended.
        #[serde(flatten)]
        outcome: Outcome,
        /// How the element was found and what was noticed.
        report: ActionReport,
        /// What it answered, when that is worth reading; secrets redacted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
        /// What of it belongs into a recording.
        #[serde(default, skip_serializing_if = "RecordAs::is_itself")]
        record: RecordAs,
        /// What the tool source did, when the tool is one's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        via: Option<SourceCall>,
        /// How long it took.
        #[serde(with = "millis")]
        duration_ms: Duration,
    },
    /// A step ended.
    StepFinished {
        /// The session.
        session: SessionId,
        /// The step.
        step: StepIndex,
        /// How it ended.
        #[serde(flatten)]
        outcome: Outcome,
        /// How long it took, artifacts excluded.
        #[serde(with = "millis")]
        duration_ms: Duration,
    },
    /// The screen was observed at the end of a step.
    StepObserved {
        /// The session.
        session: SessionId,
        /// The step.
        step: StepIndex,
        /// What was seen.
        #[serde(flatten)]
        observed: Observation,
    },
    /// A file was saved.
    ArtifactSaved {
        /// The session.
        session: SessionId,
        /// The step it belongs to.
        step: StepIndex,
        /// The file.
        artifact: Artifact,
    },
    /// Something happened on the device unasked.
    DeviceReported {
        /// The session that held the device.
        session: SessionId,
        /// The step that was under way.
        step: StepIndex,
        /// What happened.
        report: DeviceEvent,
    },
    /// An attempt failed and there will be another.
    SessionWillRetry {
        /// The session that failed.
        session: SessionId,
        /// The attempt that follows.
        next: AttemptNumber,
        /// How the failed one ended.
        #[serde(flatten)]
        outcome: Outcome,
        /// How long it took.
        #[serde(with = "millis")]
        duration_ms: Duration,
    },
    /// A session ended for good.
    SessionFinished {
        /// The session.
        session: SessionId,
        /// How it ended.
        #[serde(flatten)]
        outcome: Outcome,
        /// Whether an earlier attempt failed and this one passed.
        flaky: bool,
        /// How long this attempt took.
        #[serde(with = "millis")]
        duration_ms: Duration,
    },
    /// A sink broke, or could not keep a file. The run goes on.
    SinkFailed {
        /// Which sink.
        sink: String,
        /// What it said.
        message: String,
        /// The file that was not saved; the sink goes on. Without one the sink gets no further
        /// events.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unsaved: Option<String>,
    },
    /// The run was asked to stop.
    StopRequested {
        /// By what. Without it, as in older journals, an interrupt.
        #[serde(default)]
        by: CancelCause,
    },
    /// Always the last.
    RunFinished {
        /// The answer.
        verdict: Verdict,
        /// From start to end.
        #[serde(with = "millis")]
        duration_ms: Duration,
    },
}

/// What of a call belongs into a recording.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordAs {
    /// The call.
    #[default]
    Itself,
    /// The calls that it made.
    Children,
    /// Neither.
    Nothing,
}

impl RecordAs {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde hands out references"
    )]
    const fn is_itself(&self) -> bool {
        matches!(self, Self::Itself)
    }
}

/// Which calls of a step belong into a recording: the outermost that are recorded themselves, and
/// nothing below those. `of` says of a call how deep it is, what of it is recorded, and whether it
/// passed; calls stand in the order in which they began.
pub fn recorded<T>(calls: &[T], of: impl Fn(&T) -> (u32, RecordAs, bool)) -> Vec<bool> {
    let mut covered = None;
    let calls = calls.iter().map(|call| {
        let (depth, record, passed) = of(call);
        if covered.is_some_and(|above| depth > above) {
            return false;
        }
        covered = match record {
            RecordAs::Itself | RecordAs::Nothing => Some(depth),
            RecordAs::Children => None,
        };
        passed && record == RecordAs::Itself
    });
    calls.collect()
}

/// What a tool source did for a call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceCall {
    /// The source.
    pub source: String,
    /// Which of its processes, from 1.
    pub replica: u32,
    /// How often its tool called back.
    pub callbacks: u32,
    /// How long those took, on the device and on the way to it.
    #[serde(with = "millis")]
    pub device_ms: Duration,
    /// The source's log, below the folder of the run, with `/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
}

/// A trail, as far as reports need it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrailSummary {
    /// Short name: `login` for `trails/login.trail.yaml`.
    pub name: String,
    /// `config.title`, or the name.
    pub title: String,
    /// Path as given.
    pub path: String,
    /// `config.tags`.
    pub tags: Vec<String>,
    /// The trailhead, when there is one, and the steps, in order.
    pub steps: Vec<StepSummary>,
}

/// A step, as far as reports need it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepSummary {
    /// Its place.
    pub step: StepIndex,
    /// Do or verify.
    pub kind: StepKind,
    /// Its words.
    pub text: String,
    /// Line in the file, from 1.
    pub line: u32,
}

/// What a step wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Bring the app to where the trail starts.
    Trailhead,
    /// Do something.
    Step,
    /// Assert something.
    Verify,
}

/// One trail on one device, as planned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedSession {
    /// Index into the run's trails.
    pub trail: usize,
    /// The device; `None` when it comes from a queue and is not known yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceId>,
    /// The devices that are alike, any of which may run it; they are called by the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_of: Vec<DeviceId>,
    /// The configuration it runs in.
    #[serde(default, skip_serializing_if = "Cell::is_empty")]
    pub cell: Cell,
    /// Which of several repetitions it is, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
    /// Its place in the whole plan, from 0, in a run that is a part of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u32>,
}

/// One configuration out of a matrix: a value for each axis. Empty without a matrix.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cell(pub BTreeMap<String, String>);

impl Cell {
    /// Whether there is no axis.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Cell {
    /// `browser=firefox, locale=de`; nothing without axes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (axis, value)) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{axis}={value}")?;
        }
        Ok(())
    }
}

/// The matrix of a run: what varied, and what was left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MatrixSummary {
    /// Its name; empty when it was given on the command line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The axes, in order.
    pub axes: Vec<Axis>,
    /// The cells, without devices.
    pub cells: Vec<Cell>,
    /// The cell that others are compared with first.
    pub reference: Cell,
    /// `all`, `pairs` or `one-at-a-time`.
    pub cover: String,
    /// How many cells `exclude` left out.
    #[serde(default)]
    pub excluded: u32,
    /// Pairs of values that no cell has because of what is excluded: `engine=firefox, fontScale=2`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreachable: Vec<String>,
    /// Whether it stands in a trail, which then asks for it by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_inline: bool,
    /// Differences that are as they should be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Expected>,
}

/// Differences that are as they should be: those for which all that is said here holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// The trail it is about, when others of the run have matrices of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trail: Option<usize>,
    /// The configurations it is about: values by axis.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub when: BTreeMap<String, String>,
    /// The step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// What is different.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The element's role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// A regular expression for the element's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl fmt::Display for Expected {
    /// As it stands in the configuration, more or less: `locale=de-DE step=3 kind=missing`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = self
            .when
            .iter()
            .map(|(axis, value)| format!("{axis}={value}"));
        let step = self.step.map(|step| format!("step={step}"));
        let named = |name: &str, value: &Option<String>| {
            value.as_ref().map(|value| format!("{name}={value}"))
        };
        let rest = [
            step,
            named("kind", &self.kind),
            named("role", &self.role),
            named("name", &self.name),
        ];
        let words: Vec<_> = when.chain(rest.into_iter().flatten()).collect();
        f.write_str(&words.join(" "))
    }
}

/// One axis of a matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// Its values, in order.
    pub values: Vec<String>,
    /// Whether the values are numbers, or sizes, so that "at most" makes sense.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ordered: bool,
}

/// How a run was asked for, as far as reports need it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunOptionsSummary {
    /// `all` or `split`.
    pub shard: String,
    /// How often a failed session is tried again.
    pub retries: u32,
    /// The folder it was started in.
    pub working_directory: String,
    /// The flags that left out devices or configurations of the project: `--device`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub narrowed_by: Vec<String>,
    /// What decides in which order cells started, in runs with a matrix; it follows from the run's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_seed: Option<u32>,
    /// The names of the secrets it was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// Which part of a plan it is that several machines share: `2/4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The rest of that plan, which other machines run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<PlannedSession>,
    /// A digest of what decides what a part runs; the same in all parts of one plan, empty when it is
    /// no part.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub plan: String,
}

/// A file of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// What it is.
    pub kind: ArtifactKind,
    /// Path below the run's folder, with `/`.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
}

/// What a file of a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactKind {
    /// A PNG of the screen at the end of a step.
    Screenshot,
    /// The screen as a compact list, text.
    Snapshot,
    /// The screen as a tree, JSON.
    Tree,
    /// A file the page or the app offered for download.
    Download,
    /// The device's log.
    DeviceLog,
    /// The screen as it is compared, JSON.
    ScreenTree,
    /// A trace of the whole session, as Playwright's viewer opens it.
    Trace,
}

impl RunEvent {
    /// That a session has its device.
    pub const fn session_started(
        session: SessionId,
        planned: PlannedSession,
        attempt: AttemptNumber,
        device: DeviceInfo,
    ) -> Self {
        Self::SessionStarted {
            session,
            planned,
            attempt,
            device,
        }
    }

    /// The session the event belongs to.
    pub const fn session(&self) -> Option<&SessionId> {
        match self {
            Self::SessionStarted { session, .. }
            | Self::SessionConfigured { session, .. }
            | Self::StepObserved { session, .. }
            | Self::StepStarted { session, .. }
            | Self::ToolStarted { session, .. }
            | Self::ToolFinished { session, .. }
            | Self::StepFinished { session, .. }
            | Self::ArtifactSaved { session, .. }
            | Self::DeviceReported { session, .. }
            | Self::SessionWillRetry { session, .. }
            | Self::SessionFinished { session, .. } => Some(session),
            Self::RunStarted { .. }
            | Self::SinkFailed { .. }
            | Self::StopRequested { .. }
            | Self::RunFinished { .. } => None,
        }
    }
}

/// Durations as milliseconds with fractions.
mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &Duration, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_f64((value.as_secs_f64() * 1e6).round() / 1e3)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(d)? / 1e3).map_err(serde::de::Error::custom)
    }
}
