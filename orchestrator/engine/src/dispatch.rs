//! The run's state: which session runs where, what runs next, when it is over. Pure: an event in,
//! what to do out.

mod devices;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use packtrain_drivers::DeviceId;
use packtrain_model::{
    AttemptNumber, Blame, CancelCause, Exit, Outcome, PlannedSession, RunEvent, SessionId,
    SessionIndex, Verdict,
};

use self::devices::{Devices, QueueEnd};
use crate::host::DeviceChange;
use crate::order;
use crate::resolve::Plan;
use crate::stop::StopReason;

/// How often a session that is lost with a device or a host of the farm goes to another one.
const MOST_REPLACEMENTS: u32 = 5;

/// One attempt of one planned session on one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) index: SessionIndex,
    pub(crate) attempt: AttemptNumber,
    /// The device; `None` when the farm finds one.
    pub(crate) device: Option<DeviceId>,
    /// How many attempts before this one say something about the app.
    pub(crate) tried: u32,
    /// How many were lost with a device or a host of the farm.
    pub(crate) lost: u32,
    /// Whether its pass was refused: what ran is not run again.
    pub(crate) is_refused: bool,
}

impl Assignment {
    pub(crate) fn session(&self) -> SessionId {
        SessionId::new(self.index, self.attempt)
    }
}

/// Something that happened to a run.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    /// The run begins.
    Begin,
    /// An attempt ended.
    SessionEnded {
        assignment: Assignment,
        outcome: Outcome,
        duration: Duration,
    },
    /// Something happened to a device.
    DeviceChanged(DeviceChange),
    /// The run is asked to stop.
    Stop(StopReason),
}

/// What to do about an event, in order.
#[derive(Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a few exist at a time, and each is carried out at once"
)]
pub(crate) enum Action {
    /// Journal a fact.
    Record(RunEvent),
    /// Start an attempt.
    Start(Assignment),
    /// Let running sessions end as soon as they can.
    Cancel(CancelCause),
    /// End running sessions now.
    Abort,
    /// Nothing is left to do.
    Finish(Verdict),
}

/// What to do about an event.
#[derive(Debug, Default, PartialEq)]
#[must_use = "a decision that is not carried out leaves the run hanging"]
pub(crate) struct Actions(pub(crate) VecDeque<Action>);

/// Where a planned session stands.
#[derive(Debug, Clone, Copy)]
enum SessionState {
    /// With the attempt that comes next.
    Waiting(AttemptNumber),
    Running,
    Settled,
}

/// A run's state.
pub(crate) struct Dispatcher {
    planned: Vec<PlannedSession>,
    /// The order in which sessions start.
    order: Vec<SessionIndex>,
    skips: Vec<Option<String>>,
    /// Whether the farm finds the session's device.
    is_anywhere: Vec<bool>,
    states: Vec<SessionState>,
    devices: Devices,
    retries: u32,
    fail_fast: bool,
    stopping: Option<StopReason>,
    /// Sessions for which the farm finds a device, and that wait to be asked for.
    anywhere: VecDeque<SessionIndex>,
    /// How many of them are asked for or under way.
    asked: usize,
    /// Attempts of each session that were lost with a device or a host of the farm.
    lost: BTreeMap<SessionIndex, u32>,
    /// Sessions of which an attempt has failed.
    failed: BTreeSet<SessionIndex>,
    verdict: Verdict,
    finished: bool,
}

impl Dispatcher {
    pub(crate) fn new(plan: &Plan) -> Self {
        let sessions = &plan.sessions;
        Self {
            planned: sessions.iter().map(|planned| planned.event()).collect(),
            order: plan.starting_order(),
            skips: sessions
                .iter()
                .map(|p| Some(p.skip.as_ref()?.reason.clone()))
                .collect(),
            is_anywhere: sessions.iter().map(|p| p.on.is_some()).collect(),
            states: vec![SessionState::Waiting(AttemptNumber(1)); sessions.len()],
            devices: Devices::new(plan),
            retries: plan.options.retries,
            fail_fast: plan.options.fail_fast,
            stopping: None,
            anywhere: VecDeque::new(),
            asked: 0,
            lost: BTreeMap::new(),
            failed: BTreeSet::new(),
            verdict: Verdict::default(),
            finished: false,
        }
    }

    /// Takes an event in and says what to do.
    pub(crate) fn handle(&mut self, event: Event) -> Actions {
        let mut actions = Actions::default();
        match event {
            Event::Begin => self.begin(&mut actions),
            Event::SessionEnded {
                assignment,
                outcome,
                duration,
            } => self.session_ended(&assignment, outcome, duration, &mut actions),
            Event::DeviceChanged(change) => self.devices.change(&change),
            Event::Stop(reason) => self.stop(reason, &mut actions),
        }
        self.assign(&mut actions);
        self.finish_if_done(&mut actions);
        actions
    }

    /// Sessions that have no end yet.
    #[cfg(test)]
    pub(crate) fn unsettled(&self) -> usize {
        let states = self.states.iter();
        states
            .filter(|state| !matches!(state, SessionState::Settled))
            .count()
    }

    fn begin(&mut self, actions: &mut Actions) {
        for index in std::mem::take(&mut self.order) {
            if let Some(reason) = self.skips[index.0].clone() {
                self.settle_unstarted(index, Outcome::Skipped { reason }, actions);
            } else if self.is_anywhere[index.0] {
                self.anywhere.push_back(index);
            } else {
                self.devices.enqueue(index, QueueEnd::Back);
            }
        }
    }

    fn session_ended(
        &mut self,
        assignment: &Assignment,
        outcome: Outcome,
        duration: Duration,
        actions: &mut Actions,
    ) {
        let index = assignment.index;
        let is_lost = is_lost(assignment, &outcome);
        let blamed = match &outcome {
            Outcome::Infrastructure { blame, .. } => Some(*blame),
            Outcome::Passed
            | Outcome::Skipped { .. }
            | Outcome::Failed(_)
            | Outcome::NeedsAgent { .. }
            | Outcome::Cancelled { .. } => None,
        };
        match &assignment.device {
            Some(device) => self.devices.release(device, blamed),
            None => self.asked -= 1,
        }
        if self.may_retry(assignment, &outcome) {
            if outcome.exit() == Exit::Failed {
                self.failed.insert(index);
            }
            let next = AttemptNumber(assignment.attempt.0 + 1);
            actions.record(RunEvent::SessionWillRetry {
                session: assignment.session(),
                next,
                outcome,
                duration_ms: duration,
            });
            self.states[index.0] = SessionState::Waiting(next);
            match &assignment.device {
                Some(device) => self.devices.retry(index, device, blamed),
                None => {
                    if is_lost {
                        *self.lost.entry(index).or_default() += 1;
                    }
                    self.anywhere.push_back(index);
                }
            }
            return;
        }
        let flaky = outcome.is_passed() && self.tried(assignment) > 0;
        self.settle(index, &outcome, flaky);
        let exit = outcome.exit();
        actions.record(RunEvent::SessionFinished {
            session: assignment.session(),
            outcome,
            flaky,
            duration_ms: duration,
        });
        if exit != Exit::Passed && self.fail_fast {
            self.stop(StopReason::FailFast, actions);
        }
    }

    /// Whether trying again may help: a missing recording does not appear, and what was cancelled
    /// stays so.
    fn may_retry(&self, assignment: &Assignment, outcome: &Outcome) -> bool {
        let is_worth_it = match outcome {
            Outcome::Failed(failure) => !failure.fatal,
            // What a device cannot have it cannot have the next time either.
            Outcome::Infrastructure { blame, .. } => *blame != Blame::Configuration,
            Outcome::Passed
            | Outcome::Skipped { .. }
            | Outcome::Cancelled { .. }
            | Outcome::NeedsAgent { .. } => false,
        };
        if !is_worth_it || assignment.is_refused || self.stopping.is_some() {
            return false;
        }
        if is_lost(assignment, outcome) {
            // Another device is not a second chance for the app.
            let lost = self.lost.get(&assignment.index).copied();
            return lost.unwrap_or_default() < MOST_REPLACEMENTS;
        }
        let is_possible = assignment.device.is_none() || self.devices.can_run(assignment.index);
        is_possible && self.tried(assignment) < self.retries
    }

    /// How many attempts before this one say something about the app.
    fn tried(&self, assignment: &Assignment) -> u32 {
        let lost = self.lost.get(&assignment.index).copied();
        let before = assignment.attempt.0.saturating_sub(1);
        before.saturating_sub(lost.unwrap_or_default())
    }

    /// Gives every free device something to do.
    fn assign(&mut self, actions: &mut Actions) {
        if self.stopping.is_some() {
            return;
        }
        let here = self.devices.assign().into_iter();
        let here = here.map(|(index, device)| (index, Some(device)));
        let anywhere = std::mem::take(&mut self.anywhere);
        let anywhere = anywhere.into_iter().map(|index| (index, None));
        for (index, device) in here.chain(anywhere).collect::<Vec<_>>() {
            if let SessionState::Waiting(attempt) = self.states[index.0] {
                self.states[index.0] = SessionState::Running;
                self.asked += usize::from(device.is_none());
                let mut assignment = Assignment {
                    index,
                    attempt,
                    device,
                    tried: 0,
                    lost: self.lost.get(&index).copied().unwrap_or_default(),
                    is_refused: false,
                };
                assignment.tried = self.tried(&assignment);
                actions.0.push_back(Action::Start(assignment));
            }
        }
    }

    /// Stops, or stops harder; a weaker reason than the one at work changes nothing.
    fn stop(&mut self, reason: StopReason, actions: &mut Actions) {
        if self.finished || self.stopping.is_some_and(|stopping| stopping >= reason) {
            return;
        }
        let is_first = self.stopping.is_none();
        self.stopping = Some(reason);
        if is_first {
            actions.record(RunEvent::StopRequested { by: reason.cause() });
        }
        actions.0.push_back(match reason {
            StopReason::FailFast | StopReason::TimeLimit | StopReason::Interrupt => {
                Action::Cancel(reason.cause())
            }
            StopReason::Overdue | StopReason::SecondInterrupt => Action::Abort,
        });
        for index in self.waiting() {
            let by = reason.cause();
            self.settle_unstarted(index, Outcome::Cancelled { by }, actions);
        }
    }

    /// Ends the run when nothing runs and nothing that waits can ever run.
    fn finish_if_done(&mut self, actions: &mut Actions) {
        if self.finished || self.devices.are_busy() || self.asked > 0 {
            return;
        }
        for index in self.waiting() {
            let outcome = Outcome::Infrastructure {
                blame: Blame::Device,
                cause: "no usable device was left for it".to_owned(),
                hint: Some("see the earlier sessions on the same device".to_owned()),
                unstarted: Vec::new(),
            };
            self.settle_unstarted(index, outcome, actions);
        }
        self.finished = true;
        actions.0.push_back(Action::Finish(self.verdict.clone()));
    }

    fn waiting(&self) -> Vec<SessionIndex> {
        let states = self.states.iter().enumerate();
        states
            .filter(|(_, state)| matches!(state, SessionState::Waiting(_)))
            .map(|(index, _)| SessionIndex(index))
            .collect()
    }

    /// Settles a session of which no attempt is under way, and journals it whole.
    fn settle_unstarted(&mut self, index: SessionIndex, outcome: Outcome, actions: &mut Actions) {
        let SessionState::Waiting(attempt) = self.states[index.0] else {
            return;
        };
        let session = SessionId::new(index, attempt);
        if let Some(device) = self.devices.first_for(index) {
            let planned = &self.planned[index.0];
            actions.record(order::started(&session, planned, attempt, device.clone()));
        }
        self.settle(index, &outcome, false);
        actions.record(RunEvent::SessionFinished {
            session,
            outcome,
            flaky: false,
            duration_ms: Duration::ZERO,
        });
    }

    fn settle(&mut self, index: SessionIndex, outcome: &Outcome, flaky: bool) {
        self.states[index.0] = SessionState::Settled;
        self.verdict.count(outcome, flaky);
        // An attempt that failed is not hidden by a later one of which nothing is known.
        if !outcome.is_passed() && self.failed.contains(&index) {
            self.verdict.exit = self.verdict.exit.max(Exit::Failed);
        }
    }
}

/// Whether an attempt on a device that the farm found was lost with that device or its host.
fn is_lost(assignment: &Assignment, outcome: &Outcome) -> bool {
    let Outcome::Infrastructure { blame, .. } = outcome else {
        return false;
    };
    let is_anywhere = assignment.device.is_none();
    is_anywhere && (matches!(blame, Blame::Device | Blame::Host) || blame.is_nobodys())
}

impl Actions {
    fn record(&mut self, event: RunEvent) {
        self.0.push_back(Action::Record(event));
    }
}
