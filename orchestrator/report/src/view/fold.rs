//! Events into a view, one at a time.

use std::collections::HashMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use packtrain_drivers::DeviceInfo;
use packtrain_model::{
    AttemptNumber, Entry, Exit, Outcome, PlannedSession, RecordAs, RunEvent, SessionId,
    SessionIndex, StepIndex, TrailSummary, Verdict,
};
use serde_json::Value;

use super::{
    AttemptView, BrokenSink, CallView, RunState, RunView, SessionView, Status, StepView, TrailView,
};

/// Where a session is in the view.
#[derive(Clone, Copy)]
struct Place {
    trail: usize,
    session: usize,
}

#[derive(Default)]
struct Fold {
    view: RunView,
    /// Sessions by the id of their first attempt.
    places: HashMap<String, Place>,
    last: Option<DateTime<Utc>>,
    finished: Option<(Verdict, Duration)>,
}

pub(super) fn fold(events: impl IntoIterator<Item = Entry>) -> RunView {
    let mut fold = Fold::default();
    for Entry { at, event, .. } in events {
        fold.last = Some(at);
        fold.event(at, event);
    }
    fold.finish()
}

impl Fold {
    fn event(&mut self, at: DateTime<Utc>, event: RunEvent) {
        match event {
            RunEvent::RunStarted {
                schema_version: _,
                packtrain,
                run,
                trails,
                devices,
                sessions,
                options,
                matrix,
            } => {
                self.view.matrix = matrix;
                self.view.run = run;
                self.view.packtrain = packtrain;
                self.view.started = Some(at);
                self.view.options = options;
                // What other machines run is not a part of this run.
                self.view.options.elsewhere = Vec::new();
                self.view.devices = devices;
                self.view.trails = trails.into_iter().map(TrailView::new).collect();
                for (index, planned) in sessions.iter().enumerate() {
                    let id = SessionId::new(SessionIndex(index), AttemptNumber(1));
                    self.plan(id, planned);
                }
            }
            RunEvent::SessionStarted {
                session,
                planned,
                attempt,
                device,
                ..
            } => self.session_started(at, session, &planned, attempt, device),
            RunEvent::SessionConfigured {
                session,
                axes,
                memory,
            } => {
                if let Some(attempt) = self.attempt(&session) {
                    attempt.memory = memory;
                    attempt.axes = axes;
                }
            }
            RunEvent::StepObserved {
                session,
                step,
                observed,
            } => {
                if let Some(step) = self.step(&session, step) {
                    step.observed = Some(observed);
                }
            }
            RunEvent::StepStarted { session, step } => {
                if let Some(step) = self.step(&session, step) {
                    step.started = Some(at);
                    step.status = Status::Unfinished;
                }
            }
            RunEvent::ToolStarted {
                session,
                step,
                call,
                depth,
                tool,
                arguments,
            } => {
                if let Some(step) = self.step(&session, step) {
                    let begun = CallView::new(call, depth, tool, arguments);
                    step.calls.push(begun);
                }
            }
            RunEvent::ToolFinished {
                session,
                step,
                call,
                depth,
                tool,
                outcome,
                report,
                answer,
                record,
                via,
                duration_ms,
            } => {
                if let Some(step) = self.step(&session, step) {
                    let begun = step.calls.iter().rposition(|known| {
                        known.status == Status::Unfinished
                            && (known.call, known.depth) == (call, depth)
                            && known.tool == tool
                    });
                    let unknown = || CallView::new(call, depth, tool, Value::Null);
                    let ended = match begun {
                        Some(begun) => &mut step.calls[begun],
                        None => step.calls.push_mut(unknown()),
                    };
                    (ended.record, ended.via) = (record, via);
                    ended.status = Status::Ended(outcome);
                    ended.report = report;
                    ended.answer = answer;
                    ended.duration = duration_ms;
                }
            }
            RunEvent::StepFinished {
                session,
                step,
                outcome,
                duration_ms,
            } => {
                if let Some(step) = self.step(&session, step) {
                    step.status = Status::Ended(outcome);
                    step.duration = duration_ms;
                }
            }
            RunEvent::ArtifactSaved {
                session,
                step,
                artifact,
            } => {
                if let Some(step) = self.step(&session, step) {
                    step.artifacts.push(artifact);
                }
            }
            RunEvent::DeviceReported {
                session,
                step,
                report,
            } => {
                if let Some(step) = self.step(&session, step) {
                    step.reports.push(report);
                }
            }
            RunEvent::SessionWillRetry {
                session,
                next: _,
                outcome,
                duration_ms,
            } => {
                self.ended(at, &session, outcome, duration_ms);
            }
            RunEvent::SessionFinished {
                session,
                outcome,
                flaky,
                duration_ms,
            } => {
                self.ended(at, &session, outcome.clone(), duration_ms);
                if let Some(session) = self.session(&session) {
                    session.status = Status::Ended(outcome);
                    session.flaky = flaky;
                }
            }
            RunEvent::SinkFailed {
                sink,
                message,
                unsaved,
            } => {
                self.view.broken_sinks.push(BrokenSink {
                    sink,
                    message,
                    unsaved,
                });
            }
            RunEvent::StopRequested { by } => self.view.stopped_by = Some(by),
            RunEvent::RunFinished {
                verdict,
                duration_ms,
            } => self.finished = Some((verdict, duration_ms)),
        }
    }

    /// Makes room for a session of the plan.
    fn plan(&mut self, id: SessionId, planned: &PlannedSession) -> Place {
        let trail = self.trail(planned.trail);
        let mut devices = self.view.devices.iter();
        let info = devices.find(|device| planned.device.as_ref() == Some(&device.id));
        let info = info.cloned();
        let sessions = &mut self.view.trails[trail].sessions;
        let place = Place {
            trail,
            session: sessions.len(),
        };
        self.places.insert(id.0.clone(), place);
        sessions.push(SessionView {
            id,
            device: planned.device.clone(),
            info,
            group: planned.one_of.first().cloned(),
            cell: planned.cell.clone(),
            repeat: planned.repeat,
            ..SessionView::default()
        });
        place
    }

    /// The trail of that index. A journal that names one it did not announce gets one trail for
    /// all such sessions.
    fn trail(&mut self, index: usize) -> usize {
        const UNKNOWN: &str = "unknown";
        if index < self.view.trails.len() {
            return index;
        }
        let is_unknown = |one: &TrailView| {
            let summary = &one.summary;
            summary.name == UNKNOWN && summary.path.is_empty()
        };
        let known = self.view.trails.iter().position(is_unknown);
        known.unwrap_or_else(|| {
            self.view.trails.push(TrailView::new(TrailSummary {
                name: UNKNOWN.to_owned(),
                title: UNKNOWN.to_owned(),
                path: String::new(),
                tags: Vec::new(),
                steps: Vec::new(),
            }));
            self.view.trails.len() - 1
        })
    }

    fn session_started(
        &mut self,
        at: DateTime<Utc>,
        id: SessionId,
        planned: &PlannedSession,
        number: AttemptNumber,
        device: DeviceInfo,
    ) {
        let first = first_attempt(&id);
        let place = match self.places.get(first) {
            Some(place) => *place,
            None => self.plan(SessionId(first.to_owned()), planned),
        };
        let trail = &mut self.view.trails[place.trail];
        let mut attempt = AttemptView::new(id, number, &trail.summary);
        attempt.started = Some(at);
        attempt.status = Status::Unfinished;
        let session = &mut trail.sessions[place.session];
        session.attempts.push(attempt);
        session.device = Some(device.id.clone());
        session.info = Some(device);
        session.status = Status::Unfinished;
    }

    fn session(&mut self, id: &SessionId) -> Option<&mut SessionView> {
        let place = self.places.get(first_attempt(id))?;
        Some(&mut self.view.trails[place.trail].sessions[place.session])
    }

    /// The attempt of that id. One that never started, because its device was never ready, is
    /// made here.
    fn attempt(&mut self, id: &SessionId) -> Option<&mut AttemptView> {
        let place = *self.places.get(first_attempt(id))?;
        let trail = &mut self.view.trails[place.trail];
        let attempts = &mut trail.sessions[place.session].attempts;
        match attempts.iter().position(|attempt| attempt.id == *id) {
            Some(known) => attempts.get_mut(known),
            None => {
                let number = u32::try_from(attempts.len() + 1).unwrap_or(u32::MAX);
                let attempt = AttemptView::new(id.clone(), AttemptNumber(number), &trail.summary);
                Some(attempts.push_mut(attempt))
            }
        }
    }

    fn ended(&mut self, at: DateTime<Utc>, id: &SessionId, outcome: Outcome, took: Duration) {
        if let Some(attempt) = self.attempt(id) {
            attempt.status = Status::Ended(outcome);
            attempt.ended = Some(at);
            attempt.duration = took;
        }
    }

    fn step(&mut self, session: &SessionId, step: StepIndex) -> Option<&mut StepView> {
        let steps = &mut self.attempt(session)?.steps;
        Some(match steps.iter().position(|known| known.step == step) {
            Some(known) => &mut steps[known],
            None => steps.push_mut(StepView::new(step)),
        })
    }

    fn finish(mut self) -> RunView {
        let last = self.last;
        if self.view.options.part.is_some() {
            // All their sessions are on other machines.
            self.view.trails.retain(|trail| !trail.sessions.is_empty());
        }
        let trails = self.view.trails.iter_mut();
        let sessions = trails.flat_map(|trail| &mut trail.sessions);
        for attempt in sessions.flat_map(|session| &mut session.attempts) {
            attempt.finish(last);
        }
        match self.finished {
            Some((verdict, duration)) => {
                self.view.state = RunState::Finished;
                self.view.verdict = verdict;
                self.view.duration = duration;
            }
            None => {
                self.view.duration = since(self.view.started, last);
                self.view.verdict = count(&self.view);
            }
        }
        self.view
    }
}

impl TrailView {
    const fn new(summary: TrailSummary) -> Self {
        Self {
            summary,
            sessions: Vec::new(),
        }
    }
}

impl AttemptView {
    fn new(id: SessionId, number: AttemptNumber, trail: &TrailSummary) -> Self {
        let steps = trail.steps.iter().map(|step| StepView::new(step.step));
        Self {
            id,
            number,
            steps: steps.collect(),
            ..Self::default()
        }
    }

    /// Settles what no event said: a step under way when its attempt ended shares its end.
    fn finish(&mut self, last: Option<DateTime<Utc>>) {
        match &self.status {
            Status::NotRun | Status::Unfinished => self.duration = since(self.started, last),
            Status::Ended(Outcome::Passed) => {}
            Status::Ended(outcome) => {
                for step in &mut self.steps {
                    if step.status == Status::Unfinished {
                        step.status = Status::Ended(outcome.clone());
                    }
                }
            }
        }
    }
}

impl StepView {
    fn new(step: StepIndex) -> Self {
        Self {
            step,
            ..Self::default()
        }
    }
}

impl CallView {
    /// A call that has begun.
    fn new(call: u32, depth: u32, tool: String, arguments: Value) -> Self {
        Self {
            call,
            depth,
            tool,
            arguments,
            status: Status::Unfinished,
            record: RecordAs::Nothing,
            ..Self::default()
        }
    }
}

/// `s2` for `s2.3`.
fn first_attempt(id: &SessionId) -> &str {
    id.0.split_once('.').map_or(&*id.0, |(first, _)| first)
}

fn since(start: Option<DateTime<Utc>>, end: Option<DateTime<Utc>>) -> Duration {
    let both = start.zip(end);
    let since = both.and_then(|(start, end)| (end - start).to_std().ok());
    since.unwrap_or_default()
}

/// The answer of a run that did not give one.
fn count(view: &RunView) -> Verdict {
    let mut verdict = Verdict::default();
    for (_, session) in view.sessions() {
        match &session.status {
            Status::Ended(outcome) => verdict.count(outcome, session.flaky),
            Status::NotRun | Status::Unfinished => {}
        }
    }
    verdict.exit = verdict.exit.max(Exit::Infrastructure);
    verdict
}
