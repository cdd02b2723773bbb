//! A run as one JSON document for other programs: the headline, counts, every session with its steps.
//! Keys are only ever added within a schema version; durations are milliseconds.

use chrono::{DateTime, Utc};
use packtrain_drivers::{DeviceEvent, DeviceInfo};
use packtrain_model::{
    Artifact, Blame, CancelCause, Cell, Outcome, RunOptionsSummary, SourceCall, StepIndex,
    StepKind, Verdict, recorded,
};
use serde::Serialize;

use packtrain_compare::answer::Comparison;

use crate::mark::Mark;
use crate::notes::StepNote;
use crate::problem::Problem;
use crate::view::{
    AttemptView, BrokenSink, CallView, RunState, RunView, SessionView, Status, StepView, TrailView,
};

/// Version of the document's shape. Raised when a reader of the old shape would misread the new.
pub const SUMMARY_SCHEMA_VERSION: u32 = 1;

/// Renders a run, indented for reading.
///
/// # Errors
/// When the encoder breaks; a run cannot make it.
pub fn json(view: &RunView, comparison: &Comparison) -> Result<String, serde_json::Error> {
    let trails = view.trails.iter();
    let problems: Vec<_> = trails.map(|trail| Problem::of(trail, comparison)).collect();
    let summary = Summary::of(view, &comparison.sentence, &problems);
    let mut text = serde_json::to_string_pretty(&summary)?;
    text.push('\n');
    Ok(text)
}

/// The document.
#[derive(Serialize)]
struct Summary<'a> {
    schema_version: u32,
    packtrain: &'a str,
    run: &'a str,
    /// `finished` or `cut_short`.
    state: RunState,
    /// The verdict in words, as every report has it.
    headline: &'a str,
    stop_requested: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_by: Option<CancelCause>,
    started_at: Option<DateTime<Utc>>,
    duration_ms: f64,
    /// What retries took, all sessions together.
    retry_cost_ms: f64,
    exit_code: u8,
    verdict: &'a Verdict,
    /// Sessions without an end.
    unfinished: usize,
    options: &'a RunOptionsSummary,
    broken_sinks: &'a [BrokenSink],
    devices: &'a [DeviceInfo],
    trails: Vec<Trail<'a>>,
}

#[derive(Serialize)]
struct Trail<'a> {
    name: &'a str,
    title: &'a str,
    path: &'a str,
    tags: &'a [String],
    outcome: &'static str,
    steps: Vec<TrailStep<'a>>,
    sessions: Vec<Session<'a>>,
    /// What did not pass, those of one cause together, worst first.
    divergences: Vec<Divergence<'a>>,
    /// The sessions that passed.
    reference: Vec<&'a str>,
    /// What calls noticed, each once for all devices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<Note<'a>>,
}

#[derive(Serialize)]
struct Note<'a> {
    step: u32,
    note: String,
    sessions: Vec<&'a str>,
}

#[derive(Serialize)]
struct TrailStep<'a> {
    step: u32,
    kind: StepKind,
    text: &'a str,
    line: u32,
    /// Where it passed on two devices or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    spread: Option<StepSpread<'a>>,
}

#[derive(Serialize)]
struct StepSpread<'a> {
    fastest_ms: f64,
    fastest_session: &'a str,
    slowest_ms: f64,
    slowest_session: &'a str,
    sessions: usize,
}

#[derive(Serialize)]
struct Divergence<'a> {
    letter: &'a str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    blame: Option<Blame>,
    /// The step at which they stopped.
    first_divergent_step: Option<u32>,
    message: Option<&'a str>,
    hint: Option<&'a str>,
    at: Option<&'a str>,
    sessions: Vec<&'a str>,
    devices: Vec<String>,
    /// What these have in common.
    only: Vec<&'a str>,
}

#[derive(Serialize)]
struct Session<'a> {
    session: &'a str,
    device: Option<String>,
    #[serde(skip_serializing_if = "Cell::is_empty")]
    cell: &'a Cell,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat: Option<u32>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    blame: Option<Blame>,
    flaky: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    /// The step at which the last attempt came off the trail.
    first_bad_step: Option<u32>,
    duration_ms: f64,
    retry_cost_ms: f64,
    attempts: Vec<Attempt<'a>>,
}

#[derive(Serialize)]
struct Attempt<'a> {
    session: &'a str,
    attempt: u32,
    outcome: &'static str,
    started_at: Option<DateTime<Utc>>,
    duration_ms: f64,
    steps: Vec<Step<'a>>,
}

#[derive(Serialize)]
struct Step<'a> {
    step: u32,
    outcome: &'static str,
    duration_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<FailureReason<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    device_events: &'a [DeviceEvent],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    artifacts: &'a [Artifact],
}

/// Why something did not pass.
#[derive(Serialize)]
struct FailureReason<'a> {
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    blame: Option<Blame>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    log: &'a [String],
}

#[derive(Serialize)]
struct Call<'a> {
    tool: &'a str,
    depth: u32,
    outcome: &'static str,
    duration_ms: f64,
    arguments: &'a serde_json::Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    found_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<u32>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Whether it belongs into a recording.
    recorded: bool,
    /// What the tool source did.
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<&'a SourceCall>,
}

impl<'a> Summary<'a> {
    fn of(view: &'a RunView, headline: &'a str, problems: &'a [Vec<Problem>]) -> Self {
        let trails = view.trails.iter().zip(problems);
        Self {
            schema_version: SUMMARY_SCHEMA_VERSION,
            packtrain: &view.packtrain,
            run: &view.run.0,
            state: view.state,
            headline,
            stop_requested: view.stopped_by.is_some(),
            stopped_by: view.stopped_by,
            started_at: view.started,
            duration_ms: millis(view.duration),
            retry_cost_ms: millis(view.retry_cost()),
            exit_code: view.verdict.exit.code(),
            verdict: &view.verdict,
            unfinished: view.unfinished(),
            options: &view.options,
            broken_sinks: &view.broken_sinks,
            devices: &view.devices,
            trails: trails.map(|(trail, own)| Trail::of(trail, own)).collect(),
        }
    }
}

impl<'a> Trail<'a> {
    fn of(trail: &'a TrailView, problems: &'a [Problem]) -> Self {
        let steps = trail.summary.steps.iter().map(|step| TrailStep {
            step: step.step.0,
            kind: step.kind,
            text: &step.text,
            line: step.line,
            spread: StepSpread::of(trail, step.step),
        });
        let notes = StepNote::of(trail).into_iter().map(|note| Note {
            step: note.step.0,
            sessions: ids(trail, &note.sessions),
            note: note.text,
        });
        let problems = problems.iter();
        Self {
            name: &trail.summary.name,
            title: &trail.summary.title,
            path: &trail.summary.path,
            tags: &trail.summary.tags,
            outcome: trail.mark().key(),
            steps: steps.collect(),
            sessions: trail.sessions.iter().map(Session::of).collect(),
            divergences: problems.map(|one| Divergence::of(trail, one)).collect(),
            reference: trail.passed().map(|session| &*session.id.0).collect(),
            notes: notes.collect(),
        }
    }
}

impl<'a> StepSpread<'a> {
    fn of(trail: &'a TrailView, step: StepIndex) -> Option<Self> {
        let (fastest, slowest, sessions) = trail.spread(step)?;
        let took = |session: &SessionView| session.step(step).map(|step| millis(step.duration));
        Some(Self {
            fastest_ms: took(fastest)?,
            fastest_session: &fastest.id.0,
            slowest_ms: took(slowest)?,
            slowest_session: &slowest.id.0,
            sessions,
        })
    }
}

impl<'a> Divergence<'a> {
    fn of(trail: &'a TrailView, problem: &'a Problem) -> Self {
        let devices = trail.at(&problem.sessions);
        let devices = devices.filter_map(|session| session.device.as_ref());
        let place = Some(&*problem.place).filter(|place| !place.is_empty());
        Self {
            letter: &problem.letter,
            outcome: problem.mark.key(),
            blame: problem.blame,
            first_divergent_step: problem.step.map(|step| step.0),
            message: problem.message.as_deref(),
            hint: problem.hint.as_deref(),
            at: problem.at.as_deref(),
            sessions: ids(trail, &problem.sessions),
            devices: devices.map(ToString::to_string).collect(),
            only: place.into_iter().collect(),
        }
    }
}

impl<'a> Session<'a> {
    fn of(session: &'a SessionView) -> Self {
        let bad = session.last().and_then(AttemptView::first_bad_step);
        let said = bad.map_or(&session.status, |step| &step.status);
        Self {
            session: &session.id.0,
            device: session.device.as_ref().map(ToString::to_string),
            cell: &session.cell,
            repeat: session.repeat,
            outcome: Mark::of(&session.status).key(),
            blame: session.status.blame(),
            flaky: session.flaky,
            message: said.message(),
            hint: said.hint(),
            first_bad_step: bad.map(|step| step.step.0),
            duration_ms: millis(session.total_duration()),
            retry_cost_ms: millis(session.retry_cost()),
            attempts: session.attempts.iter().map(Attempt::of).collect(),
        }
    }
}

impl<'a> Attempt<'a> {
    fn of(attempt: &'a AttemptView) -> Self {
        Self {
            session: &attempt.id.0,
            attempt: attempt.number.0,
            outcome: Mark::of(&attempt.status).key(),
            started_at: attempt.started,
            duration_ms: millis(attempt.duration),
            steps: attempt.steps.iter().map(Step::of).collect(),
        }
    }
}

impl<'a> Step<'a> {
    fn of(step: &'a StepView) -> Self {
        let recorded = recorded(&step.calls, |call| {
            let passed = call.status == Status::Ended(Outcome::Passed);
            (call.depth, call.record, passed)
        });
        Self {
            step: step.step.0,
            outcome: step.mark().key(),
            duration_ms: millis(step.duration),
            problem: FailureReason::of(&step.status),
            calls: step.calls.iter().zip(recorded).map(Call::of).collect(),
            device_events: &step.reports,
            artifacts: &step.artifacts,
        }
    }
}

impl<'a> FailureReason<'a> {
    /// What a status that is an end other than a pass has to say.
    fn of(status: &'a Status) -> Option<Self> {
        let outcome = status.outcome()?;
        let failure = if let Outcome::Failed(failure) = outcome {
            Some(failure)
        } else {
            None
        };
        Some(Self {
            message: outcome.message()?,
            blame: status.blame(),
            hint: outcome.hint(),
            at: failure.and_then(|failure| failure.at.as_deref()),
            tool: failure.and_then(|failure| failure.tool.as_deref()),
            log: failure.map_or(&[], |failure| &failure.log),
        })
    }
}

impl<'a> Call<'a> {
    fn of((call, recorded): (&'a CallView, bool)) -> Self {
        let located = call.report.located.as_ref();
        Self {
            tool: &call.tool,
            depth: call.depth,
            outcome: Mark::of(&call.status).key(),
            duration_ms: millis(call.duration),
            arguments: &call.arguments,
            found_by: located.map(|located| located.by.as_str()),
            matched: located.map(|located| located.matched),
            notes: &call.report.notes,
            message: call.status.outcome().and_then(Outcome::message),
            recorded,
            via: call.via.as_ref(),
        }
    }
}

fn ids<'a>(trail: &'a TrailView, places: &[usize]) -> Vec<&'a str> {
    trail.at(places).map(|session| &*session.id.0).collect()
}

/// Milliseconds with three decimals.
fn millis(duration: std::time::Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}
