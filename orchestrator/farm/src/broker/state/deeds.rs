//! Deeds and their answers. What a deed is about is left alone until the answer is there.

use std::time::Duration;

use packtrain_drivers::DeviceInfo;
use packtrain_model::{Blame, RunId};

use super::run::{SessionDemand, Stage, Turn};
use super::table::{DeviceAt, RunAt, SessionAt};
use super::{Effect, LeaseSeen, SessionKey, State};
use crate::wire::{DeviceKey, Grant, Lease};

/// How many runs that were forgotten are remembered as such: late messages of a run come within minutes.
const FORGOTTEN_KEPT: usize = 1_000;

/// How long a session that is requested again waits for a device that has not lost it and that it has not
/// had; twice as long after each further loss. Longer than most hosts need to come back, and far shorter
/// than sessions of others may take.
pub(super) const BETTER_DEVICE_GRACE: Duration = Duration::from_secs(5);
/// The most doublings of it.
const MOST_DOUBLINGS: u32 = 4;

impl State {
    pub(super) fn grant(&mut self, run: RunAt, at: SessionAt, device: DeviceAt) {
        let row = &self.devices[device];
        let incarnation =
            (self.hosts[row.host].advert.as_ref()).map(|host| host.incarnation.clone());
        let (Some(advert), Some(incarnation)) = (&row.advert, incarnation) else {
            return;
        };
        self.deeds.push(Effect::Grant {
            session: self.key(run, at),
            grant: self.grant_of(run, at, device, &advert.info),
            incarnation: incarnation.clone(),
            expected: row.revision,
        });
        self.turns += 1;
        let row = &mut self.runs[run];
        row.deeds += 1;
        row.last_turn = self.turns;
        row.has_begun = true;
        row.sessions[at].pending = Some(device);
        row.set_visit(at, Some(device));
        let lease = Lease {
            run: row.id.clone(),
            session: row.sessions[at].id.clone(),
            incarnation,
        };
        let row = &mut self.devices[device];
        row.has_deed = true;
        row.putting = Some(lease);
        self.refresh_session(run, at);
        self.refresh_device(device);
    }

    pub(super) fn confirm(&mut self, run: RunAt, at: SessionAt, device: DeviceAt) {
        let row = &self.devices[device];
        let Some(advert) = &row.advert else {
            self.take_back(device);
            return;
        };
        let grant = self.grant_of(run, at, device, &advert.info);
        self.deeds.push(Effect::Confirm(self.key(run, at), grant));
        self.runs[run].deeds += 1;
        self.runs[run].sessions[at].is_confirming = true;
    }

    fn key(&self, run: RunAt, at: SessionAt) -> SessionKey {
        SessionKey {
            run: self.runs[run].id.clone(),
            session: self.runs[run].sessions[at].id.clone(),
        }
    }

    fn grant_of(&self, run: RunAt, at: SessionAt, device: DeviceAt, info: &DeviceInfo) -> Grant {
        let own = (self.runs[run].sessions[at].wish.as_ref()).and_then(|wish| wish.lane.own);
        Grant {
            device: self.devices[device].key.clone(),
            info: info.clone(),
            replaces: own.is_some_and(|own| own != device),
        }
    }

    pub(super) fn lose(
        &mut self,
        run: RunAt,
        at: SessionAt,
        device: DeviceAt,
        (blame, cause): (Blame, String),
    ) {
        let host = self.devices[device].host;
        self.deeds.push(Effect::Lose {
            session: self.key(run, at),
            host: self.hosts[host].name.clone(),
            blame,
            cause,
        });
        self.runs[run].deeds += 1;
        self.runs[run].sessions[at].is_losing = true;
    }

    pub(super) fn check(&mut self, run: RunAt, at: SessionAt, device: DeviceAt) {
        let device = self.devices[device].key.clone();
        self.deeds.push(Effect::Check(self.key(run, at), device));
        self.runs[run].deeds += 1;
    }

    /// Has a session wait that was requested again, or whose own device is out of service, for a while.
    pub(super) fn wait(&mut self, run: RunAt, at: SessionAt) {
        let session = &self.runs[run].sessions[at];
        let is_away = |own: DeviceAt| !self.devices[own].is_in_service;
        let waits = |wish: &&SessionDemand| wish.is_again || wish.lane.own.is_some_and(is_away);
        let Some(wish) = session.wish.as_ref().filter(waits) else {
            return;
        };
        if !self.is_leading || session.stage != Stage::Waiting {
            return;
        }
        let losses = u32::try_from(wish.avoid.len()).unwrap_or(u32::MAX);
        let doublings = losses.saturating_sub(1).min(MOST_DOUBLINGS);
        let time = BETTER_DEVICE_GRACE * 2_u32.pow(doublings);
        self.deeds.push(Effect::Wait(self.key(run, at), time));
    }

    /// Has the sessions wait whose own device went out of service.
    pub(super) fn wait_for(&mut self, own: DeviceAt) {
        for run in self.runs.places() {
            let lanes = self.runs[run].lanes.iter();
            let waiting = lanes.filter(|(lane, _)| lane.own == Some(own));
            let waiting: Vec<Turn> = waiting.flat_map(|(_, turns)| turns).copied().collect();
            waiting.iter().for_each(|turn| self.wait(run, turn.session));
        }
    }

    /// A session that has waited long enough takes what there is.
    pub(super) fn answer_wait(&mut self, session: &SessionKey) {
        let Some((run, at)) = self.known(&session.run, &session.session) else {
            return;
        };
        let row = &self.runs[run];
        // Its own device is back: it waits for that one, and again when it goes again.
        let is_back = row.sessions[at].wish.as_ref().is_some_and(|wish| {
            let mut own = wish.lane.own.into_iter();
            own.any(|own| self.devices[own].is_in_service && self.is_bound_to(row, wish, own))
        });
        if is_back {
            return;
        }
        let row = &mut self.runs[run].sessions[at];
        let is_waiting = row.stage == Stage::Waiting;
        if let Some(wish) = &mut row.wish {
            wish.is_choosy = false;
            if is_waiting {
                self.open.asked.insert((run, wish.lane.expression));
            }
        }
    }

    pub(super) fn take_back(&mut self, at: DeviceAt) {
        let device = &mut self.devices[at];
        if device.has_deed || device.lease.is_none() {
            return;
        }
        device.has_deed = true;
        (self.deeds).push(Effect::TakeBack(device.key.clone(), device.revision));
        self.refresh_device(at);
    }

    /// A run is done: its sessions go, then all that is stored of it.
    pub(super) fn close(&mut self, run: RunAt) {
        if !self.is_leading {
            return;
        }
        self.runs[run].is_closing = true;
        for at in self.runs[run].sessions.places() {
            self.refresh_session(run, at);
            let session = &self.runs[run].sessions[at];
            let held: Vec<_> = (session.held.iter().chain(&session.rivals))
                .copied()
                .collect();
            held.into_iter().for_each(|held| self.review_device(held));
        }
        self.forget_when_quiet(run);
    }

    fn forget_when_quiet(&mut self, run: RunAt) {
        let row = &mut self.runs[run];
        if row.is_closing && row.deeds == 0 && !row.has_forget {
            row.has_forget = true;
            self.deeds.push(Effect::Forget(row.id.clone()));
        }
    }

    /// What was stored of a run is gone.
    pub(super) fn forget(&mut self, id: RunId) {
        let Some(at) = self.runs.place(&id) else {
            return;
        };
        let Some(run) = self.runs.remove(&id) else {
            return;
        };
        self.open.runs.remove(&at);
        self.open.asked.retain(|(run, _)| *run != at);
        for expression in run.expressions {
            self.expressions[expression].waiting.remove(&at);
            self.release_expression(expression);
        }
        self.forgotten.push_back(id);
        if self.forgotten.len() > FORGOTTEN_KEPT {
            self.forgotten.pop_front();
        }
        for session in run.sessions.0 {
            for device in session.held.into_iter().chain(session.granted) {
                self.refresh_device(device);
            }
        }
    }

    /// A deed about a run's session was answered.
    pub(super) fn answer_deed(&mut self, run: &RunId) {
        if let Some(run) = self.runs.place(run) {
            self.runs[run].deeds -= 1;
            self.forget_when_quiet(run);
        }
    }

    /// The lease that was to be put stands, and the session was granted a device: that of the lease, or
    /// another one before.
    pub(super) fn answer_grant(
        &mut self,
        session: SessionKey,
        device: DeviceKey,
        revision: u64,
        granted: &DeviceKey,
    ) {
        let at = self.device_at(&device);
        let row = &mut self.devices[at];
        row.has_deed = false;
        let lease = row.putting.take();
        let is_of_lease = device == *granted;
        self.set_lease(LeaseSeen {
            device,
            revision,
            lease,
        });
        self.settle_pending(&session);
        self.refresh_device(at);
        self.review_device(at);
        self.set_granted(session.clone(), granted);
        self.review_device(at);
        if is_of_lease {
            self.judge_lease(&session);
        }
        self.answer_deed(&session.run);
    }

    /// The lease that was to be put was refused for another.
    pub(super) fn answer_lease_refused(&mut self, session: &SessionKey, seen: LeaseSeen) {
        let at = self.device_at(&seen.device);
        let row = &mut self.devices[at];
        row.has_deed = false;
        row.putting = None;
        self.set_lease(seen);
        let mut held = None;
        if let Some((run, session)) = self.known(&session.run, &session.session) {
            let row = &mut self.runs[run];
            held = row.sessions[session].held;
            let visit = row.sessions[session].granted.or(held);
            row.set_visit(session, visit);
        }
        self.settle_pending(session);
        // Another broker's, which may not live to write the grant.
        if let Some(held) = held {
            self.review_device(held);
        }
        self.refresh_device(at);
        self.review_device(at);
        self.answer_deed(&session.run);
    }

    fn settle_pending(&mut self, session: &SessionKey) {
        if let Some((run, session)) = self.known(&session.run, &session.session) {
            self.runs[run].sessions[session].pending = None;
            self.refresh_session(run, session);
        }
    }

    pub(super) fn answer_confirm(&mut self, session: SessionKey, granted: &DeviceKey) {
        if let Some((run, at)) = self.known(&session.run, &session.session) {
            self.runs[run].sessions[at].is_confirming = false;
        }
        self.answer_deed(&session.run);
        self.set_granted(session, granted);
    }

    /// A granted session whose lease was put, and is not there any more, lost it.
    pub(super) fn judge_lease(&mut self, session: &SessionKey) {
        if let Some((run, at)) = self.known(&session.run, &session.session) {
            let row = &mut self.runs[run].sessions[at];
            row.is_orphan = row.granted.is_some() && row.held != row.granted;
            self.review_session(run, at);
        }
    }

    pub(super) fn answer_take_back(&mut self, seen: LeaseSeen) {
        let at = self.device_at(&seen.device);
        self.devices[at].has_deed = false;
        self.set_lease(seen);
        self.refresh_device(at);
        self.review_device(at);
    }
}
