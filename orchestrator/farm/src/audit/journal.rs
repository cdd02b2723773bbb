//! One journal by itself: every planned session has one end, and the events of each attempt are complete,
//! in order, and reported once.

use std::collections::{BTreeMap, BTreeSet};

use packtrain_model::{
    AttemptNumber, Entry, Outcome, PlannedSession, RunEvent, SessionId, SessionIndex, StepIndex,
    TrailSummary,
};

use super::{Finding, FindingKind, parse_session};

/// What is wrong with a journal that was written to its end.
pub fn journal(entries: &[Entry]) -> Vec<Finding> {
    let mut reading = Reading::default();
    for (number, entry) in (1..).zip(entries) {
        reading.number(number, entry);
        reading.take(&entry.event);
    }
    reading.end()
}

#[derive(Default)]
struct Reading {
    findings: Vec<Finding>,
    trails: Vec<TrailSummary>,
    planned: Vec<PlannedSession>,
    sessions: BTreeMap<usize, Session>,
    has_begun: bool,
    settled: Option<u32>,
    /// A number that is out of place is reported once: all that follow are, too.
    is_out_of_step: bool,
}

/// A planned session.
#[derive(Default)]
struct Session {
    /// The attempts told of, by number.
    attempts: BTreeMap<u32, State>,
    finished: u32,
}

/// An attempt.
#[derive(Default)]
struct State {
    started: u32,
    ended: bool,
    steps: Vec<StepIndex>,
    finished: BTreeSet<StepIndex>,
    /// Calls of the step under way, by place, and whether each has ended.
    calls: BTreeMap<u32, bool>,
}

impl Reading {
    fn report(&mut self, kind: FindingKind, what: impl Into<String>) {
        self.findings.push(Finding::new(kind, what));
    }

    fn number(&mut self, expected: u64, entry: &Entry) {
        if entry.seq != expected && !self.is_out_of_step {
            self.is_out_of_step = true;
            let kind = if entry.seq > expected {
                FindingKind::Lost
            } else {
                FindingKind::Doubled
            };
            let what = format!("event {} stands where {expected} has to", entry.seq);
            self.report(kind, what);
        }
    }

    fn take(&mut self, event: &RunEvent) {
        if self.settled.is_some() {
            self.report(
                FindingKind::Disordered,
                "there is an event after the end of the run",
            );
        }
        if let RunEvent::RunStarted {
            trails, sessions, ..
        } = event
        {
            if self.has_begun {
                self.report(FindingKind::Doubled, "the run begins twice");
            }
            self.has_begun = true;
            self.trails.clone_from(trails);
            self.planned.clone_from(sessions);
        } else if let RunEvent::RunFinished { verdict, .. } = event {
            self.settled = Some(verdict.settled());
        } else if let Some(session) = event.session() {
            self.take_of(session, event);
        }
    }

    fn take_of(&mut self, id: &SessionId, event: &RunEvent) {
        let Some((number, attempt)) =
            parse_session(id).filter(|(number, _)| *number < self.planned.len())
        else {
            self.report(FindingKind::Doubled, format!("{id} was never planned"));
            return;
        };
        let planned = &self.planned[number];
        let trail = self.trails.get(planned.trail);
        let session = self.sessions.entry(number).or_default();
        let mut wrong = AttemptFindings(id, &mut self.findings);
        if attempt > 1 && !session.attempts.contains_key(&attempt) {
            let what = "begins before the attempt before it has ended";
            match session.attempts.get(&(attempt - 1)) {
                Some(before) => wrong.when(!before.ended, FindingKind::Doubled, what),
                None => wrong.when(true, FindingKind::Lost, what),
            }
        }
        let is_end = matches!(event, RunEvent::SessionFinished { .. });
        let kind = match is_end {
            true => FindingKind::Doubled,
            false => FindingKind::Disordered,
        };
        let what = "has an event after the session's end";
        wrong.when(session.finished > 0, kind, what);
        session.finished += u32::from(is_end);
        let state = session.attempts.entry(attempt).or_default();
        state.take(attempt, event, trail, &mut wrong);
    }

    fn end(mut self) -> Vec<Finding> {
        if !self.has_begun {
            self.report(FindingKind::Lost, "the run never began");
        }
        for number in 0..self.planned.len() {
            let finished = self.sessions.get(&number).map_or(0, |found| found.finished);
            if finished == 0 {
                let session = SessionId::new(SessionIndex(number), AttemptNumber(1));
                self.report(FindingKind::Lost, format!("{session} has no end"));
            }
        }
        match self.settled {
            None => self.report(FindingKind::Lost, "the run has no end"),
            Some(settled) if settled as usize != self.planned.len() => {
                let planned = self.planned.len();
                let what = format!("{settled} sessions are counted at the end, of {planned}");
                let kind = if (settled as usize) < planned {
                    FindingKind::Lost
                } else {
                    FindingKind::Doubled
                };
                self.report(kind, what);
            }
            Some(_) => {}
        }
        self.findings
    }
}

impl State {
    fn take(
        &mut self,
        attempt: u32,
        event: &RunEvent,
        trail: Option<&TrailSummary>,
        wrong: &mut AttemptFindings<'_>,
    ) {
        use FindingKind::{Disordered, Doubled, Lost};
        let is_end = matches!(
            event,
            RunEvent::SessionWillRetry { .. } | RunEvent::SessionFinished { .. }
        );
        let is_start = matches!(event, RunEvent::SessionStarted { .. });
        let kind = if is_end || is_start {
            Doubled
        } else {
            Disordered
        };
        wrong.when(self.ended, kind, "has an event after its end");
        if !is_start && !is_end && self.started == 0 {
            wrong.when(true, Lost, "has an event without its beginning");
            // Said once.
            self.started = 1;
        }
        match event {
            RunEvent::SessionStarted {
                attempt: number, ..
            } => {
                self.started += 1;
                wrong.when(self.started > 1, Doubled, "begins twice");
                let is_other = number.0 != attempt;
                wrong.when(is_other, Disordered, "is numbered as another attempt");
            }
            RunEvent::SessionWillRetry { next, outcome, .. } => {
                let what = "is followed by another than the next attempt";
                wrong.when(next.0 != attempt + 1, Lost, what);
                self.close(outcome, trail, wrong);
            }
            RunEvent::SessionFinished { outcome, .. } => self.close(outcome, trail, wrong),
            RunEvent::StepStarted { step, .. } => self.step(*step, trail, wrong),
            RunEvent::StepFinished { step, .. } => {
                let is_other = self.steps.last() != Some(step);
                wrong.when(is_other, Lost, "ends a step that is not under way");
                let is_new = self.finished.insert(*step);
                wrong.when(!is_new, Doubled, "ends a step twice");
                // All calls of a step have ended when it has.
                let is_open = self.calls.values().any(|ended| !ended);
                wrong.when(is_open, Lost, "has a call without an end");
            }
            RunEvent::ToolStarted { call, .. } => {
                let is_there = self.calls.insert(*call, false).is_some();
                wrong.when(is_there, Doubled, "begins a call twice");
                let is_next = *call as usize + 1 == self.calls.len();
                let what = "begins a call without the one before";
                wrong.when(!is_there && !is_next, Lost, what);
            }
            RunEvent::ToolFinished { call, .. } => {
                let before = self.calls.insert(*call, true);
                wrong.when(before == Some(true), Doubled, "ends a call twice");
                wrong.when(before.is_none(), Lost, "ends a call that did not begin");
            }
            RunEvent::RunStarted { .. }
            | RunEvent::SessionConfigured { .. }
            | RunEvent::StepObserved { .. }
            | RunEvent::ArtifactSaved { .. }
            | RunEvent::DeviceReported { .. }
            | RunEvent::SinkFailed { .. }
            | RunEvent::StopRequested { .. }
            | RunEvent::RunFinished { .. } => {}
        }
    }

    fn step(
        &mut self,
        step: StepIndex,
        trail: Option<&TrailSummary>,
        wrong: &mut AttemptFindings<'_>,
    ) {
        use FindingKind::{Doubled, Lost};
        let expected = trail.and_then(|trail| trail.steps.get(self.steps.len()));
        let is_next = expected.is_some_and(|expected| expected.step == step);
        let is_there = self.steps.contains(&step);
        wrong.when(is_there, Doubled, "begins a step twice");
        wrong.when(!is_there && !is_next, Lost, "leaves out a step");
        let what = "begins a step before the one before has ended";
        wrong.when(self.finished.len() < self.steps.len(), Lost, what);
        self.steps.push(step);
        self.calls.clear();
    }

    fn close(
        &mut self,
        outcome: &Outcome,
        trail: Option<&TrailSummary>,
        wrong: &mut AttemptFindings<'_>,
    ) {
        use FindingKind::Lost;
        self.ended = true;
        let is_whole = match outcome {
            Outcome::Passed | Outcome::Failed(_) | Outcome::NeedsAgent { .. } => true,
            Outcome::Skipped { .. }
            | Outcome::Infrastructure { .. }
            | Outcome::Cancelled { .. } => false,
        };
        let finished = self.finished.len();
        wrong.when(
            is_whole && self.started == 0,
            Lost,
            "ended without a beginning",
        );
        let is_open = finished < self.steps.len();
        wrong.when(is_whole && is_open, Lost, "has a step without an end");
        let all = trail.map_or(0, |trail| trail.steps.len());
        let lacks = outcome.is_passed() && finished != all;
        wrong.when(lacks, Lost, "passed and lacks steps");
    }
}

/// What is wrong with one attempt.
struct AttemptFindings<'a>(&'a SessionId, &'a mut Vec<Finding>);

impl AttemptFindings<'_> {
    fn when(&mut self, is_wrong: bool, kind: FindingKind, what: &str) {
        if is_wrong {
            let session = self.0;
            self.1.push(Finding::new(kind, format!("{session} {what}")));
        }
    }
}
