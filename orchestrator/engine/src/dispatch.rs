//! The run's state: which session runs where, what runs next, when it is over. Pure: an event in,
//! what to do out.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use packtrain_drivers::{DeviceId, DeviceInfo};
use packtrain_model::{
    AttemptNumber, Blame, CancelCause, Outcome, PlannedSession, RunEvent, SessionId, SessionIndex,
    Verdict,
};

use crate::resolve::Plan;
use crate::stop::StopReason;

/// After this many infrastructure errors in a row that blame it, a device gets no further sessions.
const GIVE_UP_AFTER: u32 = 2;

/// One attempt of one planned session on one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) index: SessionIndex,
    pub(crate) attempt: AttemptNumber,
    pub(crate) device: DeviceId,
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
    /// A device died and is being restarted.
    DeviceDown(DeviceId),
    /// A device that was down is there again.
    DeviceUp(DeviceId),
    /// A device is gone and nobody restarts it.
    DeviceLeft(DeviceId),
    /// A device that had left, or that was given up, was connected anew.
    DeviceJoined(DeviceId),
    /// Somebody or something asks the run to stop.
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
#[must_use = "a decision that nobody carries out leaves the run hanging"]
pub(crate) struct Actions(pub(crate) VecDeque<Action>);

/// Where a planned session stands.
#[derive(Debug)]
enum SessionState {
    Waiting(Waiting),
    /// With the devices to blame for earlier attempts.
    Running(BTreeSet<DeviceIndex>),
    Settled,
}

#[derive(Debug)]
struct Waiting {
    attempt: AttemptNumber,
    /// The devices to blame for earlier attempts: others go first.
    avoid: BTreeSet<DeviceIndex>,
}

/// A device's place in the plan, from 0: the order in which devices are given sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DeviceIndex(usize);

/// Where a device stands.
#[derive(Debug)]
struct DeviceSlot {
    info: DeviceInfo,
    running: Option<SessionIndex>,
    /// Sessions that only this device may run, in planning order, retries first.
    bound: VecDeque<SessionIndex>,
    /// Infrastructure errors in a row that blame it.
    errors: u32,
    availability: Availability,
}

/// Whether a device may be given sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Availability {
    Up,
    /// Restarting: it gets what only it may run.
    Down,
    /// It broke too often, or left.
    Retired,
}

/// A run's state.
pub(crate) struct Dispatcher {
    planned: Vec<PlannedSession>,
    /// The devices that may run each session.
    candidates: Vec<Vec<DeviceIndex>>,
    skips: Vec<Option<String>>,
    states: Vec<SessionState>,
    devices: Vec<DeviceSlot>,
    indices: HashMap<DeviceId, DeviceIndex>,
    /// How many devices have a session.
    busy: usize,
    /// Sessions that several devices may run, in planning order, retries first.
    shared: VecDeque<SessionIndex>,
    retries: u32,
    fail_fast: bool,
    stopping: Option<StopReason>,
    verdict: Verdict,
    finished: bool,
}

impl Dispatcher {
    pub(crate) fn new(plan: &Plan) -> Self {
        let slot = |device: &DeviceInfo| DeviceSlot {
            info: device.clone(),
            running: None,
            bound: VecDeque::new(),
            errors: 0,
            availability: Availability::Up,
        };
        let numbered = plan.devices.iter().enumerate();
        let indices: HashMap<_, _> = numbered
            .map(|(index, device)| (device.id.clone(), DeviceIndex(index)))
            .collect();
        let candidates = |devices: &[DeviceId]| {
            let known = devices.iter().filter_map(|id| indices.get(id));
            known.copied().collect()
        };
        let waiting = || {
            SessionState::Waiting(Waiting {
                attempt: AttemptNumber(1),
                avoid: BTreeSet::new(),
            })
        };
        let sessions = &plan.sessions;
        Self {
            planned: sessions.iter().map(|planned| planned.event()).collect(),
            candidates: sessions.iter().map(|p| candidates(&p.devices)).collect(),
            skips: sessions.iter().map(|p| p.skip.clone()).collect(),
            states: sessions.iter().map(|_| waiting()).collect(),
            devices: plan.devices.iter().map(slot).collect(),
            busy: 0,
            shared: VecDeque::new(),
            retries: plan.options.retries,
            fail_fast: plan.options.fail_fast,
            stopping: None,
            verdict: Verdict::default(),
            finished: false,
            indices,
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
            Event::DeviceDown(id) => self.change(&id, Availability::Up, Availability::Down),
            Event::DeviceUp(id) => self.change(&id, Availability::Down, Availability::Up),
            Event::DeviceLeft(id) => {
                if let Some(&device) = self.indices.get(&id) {
                    self.retire(device);
                }
            }
            Event::DeviceJoined(id) => {
                if let Some(&device) = self.indices.get(&id) {
                    let slot = &mut self.devices[device.0];
                    slot.availability = Availability::Up;
                    slot.errors = 0;
                }
            }
            Event::Stop(reason) => self.stop(reason, &mut actions),
        }
        self.assign(&mut actions);
        self.finish_if_done(&mut actions);
        actions
    }

    /// Sessions that have no end yet.
    pub(crate) fn unsettled(&self) -> usize {
        let states = self.states.iter();
        states
            .filter(|state| !matches!(state, SessionState::Settled))
            .count()
    }

    fn begin(&mut self, actions: &mut Actions) {
        for index in (0..self.planned.len()).map(SessionIndex) {
            if let Some(reason) = self.skips[index.0].clone() {
                self.settle_unstarted(index, Outcome::Skipped { reason }, actions);
            } else {
                self.enqueue(index, Place::Back);
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
        let Some(&device) = self.indices.get(&assignment.device) else {
            return;
        };
        let blamed = match &outcome {
            Outcome::Infrastructure { blame, .. } => Some(*blame),
            Outcome::Passed
            | Outcome::Skipped { .. }
            | Outcome::Failed(_)
            | Outcome::NeedsAgent { .. }
            | Outcome::Cancelled { .. } => None,
        };
        self.release(device, blamed);
        if self.may_retry(assignment, &outcome) {
            let next = AttemptNumber(assignment.attempt.0 + 1);
            actions.record(RunEvent::SessionWillRetry {
                session: assignment.session(),
                next,
                outcome,
                duration_ms: duration,
            });
            self.retry(index, next, device, blamed);
            return;
        }
        let flaky = outcome.is_passed() && assignment.attempt.0 > 1;
        self.settle(index, &outcome, flaky);
        let exit = outcome.exit();
        actions.record(RunEvent::SessionFinished {
            session: assignment.session(),
            outcome,
            flaky,
            duration_ms: duration,
        });
        if exit != packtrain_model::Exit::Passed && self.fail_fast {
            self.stop(StopReason::FailFast, actions);
        }
    }

    /// Whether trying again may help: a missing recording does not appear, and what was called off
    /// stays so.
    fn may_retry(&self, assignment: &Assignment, outcome: &Outcome) -> bool {
        let is_worth_it = match outcome {
            Outcome::Failed(_) | Outcome::Infrastructure { .. } => true,
            Outcome::Passed
            | Outcome::Skipped { .. }
            | Outcome::Cancelled { .. }
            | Outcome::NeedsAgent { .. } => false,
        };
        is_worth_it
            && self.stopping.is_none()
            && assignment.attempt.0 <= self.retries
            && self.candidates[assignment.index.0]
                .iter()
                .any(|&device| self.is_in_service(device))
    }

    /// A failure is tried again where it happened, so that a flaky app shows as one; what a device
    /// is to blame for goes to another device if there is one.
    fn retry(
        &mut self,
        index: SessionIndex,
        attempt: AttemptNumber,
        device: DeviceIndex,
        blamed: Option<Blame>,
    ) {
        let mut avoid = match &mut self.states[index.0] {
            SessionState::Running(avoid) => std::mem::take(avoid),
            SessionState::Waiting(_) | SessionState::Settled => BTreeSet::new(),
        };
        let is_devices_fault = blamed == Some(Blame::Device);
        if is_devices_fault {
            avoid.insert(device);
        }
        self.states[index.0] = SessionState::Waiting(Waiting { attempt, avoid });
        if is_devices_fault || !self.is_in_service(device) {
            self.enqueue(index, Place::Front);
        } else {
            self.devices[device.0].bound.push_front(index);
        }
    }

    /// A device has no session any more; `blamed` is whom an infrastructure error blames.
    fn release(&mut self, device: DeviceIndex, blamed: Option<Blame>) {
        let slot = &mut self.devices[device.0];
        slot.running = None;
        self.busy -= 1;
        match blamed {
            Some(Blame::Device) => {
                slot.errors += 1;
                if slot.errors >= GIVE_UP_AFTER {
                    self.retire(device);
                }
            }
            Some(Blame::Source | Blame::Host) => {}
            None => slot.errors = 0,
        }
    }

    /// Gives a device nothing more to do, and what others may run too to them.
    fn retire(&mut self, device: DeviceIndex) {
        let slot = &mut self.devices[device.0];
        slot.availability = Availability::Retired;
        for index in std::mem::take(&mut slot.bound).into_iter().rev() {
            self.enqueue(index, Place::Front);
        }
    }

    fn enqueue(&mut self, index: SessionIndex, place: Place) {
        let queue = match self.candidates[index.0].as_slice() {
            &[only] => &mut self.devices[only.0].bound,
            _ => &mut self.shared,
        };
        match place {
            Place::Front => queue.push_front(index),
            Place::Back => queue.push_back(index),
        }
    }

    /// Gives every free device something to do.
    fn assign(&mut self, actions: &mut Actions) {
        if self.stopping.is_some() {
            return;
        }
        for device in (0..self.devices.len()).map(DeviceIndex) {
            let Some(index) = self.next_for(device) else {
                continue;
            };
            let SessionState::Waiting(waiting) = &mut self.states[index.0] else {
                continue;
            };
            let (attempt, avoid) = (waiting.attempt, std::mem::take(&mut waiting.avoid));
            self.states[index.0] = SessionState::Running(avoid);
            let slot = &mut self.devices[device.0];
            slot.running = Some(index);
            self.busy += 1;
            actions.0.push_back(Action::Start(Assignment {
                index,
                attempt,
                device: slot.info.id.clone(),
            }));
        }
    }

    /// Takes out of the queues what a device shall run now.
    fn next_for(&mut self, device: DeviceIndex) -> Option<SessionIndex> {
        let slot = &mut self.devices[device.0];
        if slot.running.is_some() || slot.availability == Availability::Retired {
            return None;
        }
        if let Some(index) = slot.bound.pop_front() {
            return Some(index);
        }
        let mut shared = self.shared.iter();
        let place = shared.position(|&index| self.suits(index, device))?;
        self.shared.remove(place)
    }

    /// Whether a session may run on this device, and no better one could take it.
    fn suits(&self, index: SessionIndex, device: DeviceIndex) -> bool {
        let candidates = &self.candidates[index.0];
        let SessionState::Waiting(Waiting { avoid, .. }) = &self.states[index.0] else {
            return false;
        };
        // Lower is better. A device is passed over when a better one is in service, though busy.
        let rank = |device: DeviceIndex| {
            let is_down = self.devices[device.0].availability != Availability::Up;
            (avoid.contains(&device), is_down)
        };
        let own = rank(device);
        let mut others = candidates
            .iter()
            .filter(|&&other| self.is_in_service(other));
        candidates.contains(&device)
            && (own == (false, false) || !others.any(|&other| rank(other) < own))
    }

    fn is_in_service(&self, device: DeviceIndex) -> bool {
        self.devices[device.0].availability != Availability::Retired
    }

    fn change(&mut self, id: &DeviceId, from: Availability, to: Availability) {
        if let Some(device) = self.indices.get(id) {
            let slot = &mut self.devices[device.0];
            if slot.availability == from {
                slot.availability = to;
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
        if self.finished || self.busy > 0 {
            return;
        }
        for index in self.waiting() {
            let outcome = Outcome::Infrastructure {
                blame: Blame::Device,
                cause: "no usable device was left for it".to_owned(),
                hint: Some("the sessions before it on the same device say why".to_owned()),
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
        let attempt = match &self.states[index.0] {
            SessionState::Waiting(waiting) => waiting.attempt,
            SessionState::Running(_) | SessionState::Settled => return,
        };
        let session = SessionId::new(index, attempt);
        if let Some(first) = self.candidates[index.0].first() {
            let device = self.devices[first.0].info.clone();
            let mut planned = self.planned[index.0].clone();
            planned.device = Some(device.id.clone());
            actions.record(RunEvent::SessionStarted {
                session: session.clone(),
                planned,
                attempt,
                device,
            });
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
    }
}

/// An end of a queue.
enum Place {
    Front,
    Back,
}

impl Actions {
    fn record(&mut self, event: RunEvent) {
        self.0.push_back(Action::Record(event));
    }
}
