//! Leases and grants: what stands, and what has to be put right.

use packtrain_model::{Blame, RunId, SessionId};

use super::run::Stage;
use super::table::{DeviceAt, RunAt, SessionAt};
use super::{LeaseSeen, SessionKey, State};
use crate::wire::{DeviceKey, Lease};

impl State {
    /// What stands as a device's lease.
    pub(super) fn set_lease(&mut self, seen: LeaseSeen) {
        let LeaseSeen {
            device,
            revision,
            lease,
        } = seen;
        let at = self.device_at(&device);
        let device = &mut self.devices[at];
        if revision != 0 && revision <= device.revision {
            return;
        }
        device.revision = revision;
        let before = std::mem::replace(&mut device.lease, lease.clone());
        let whose = |lease: &Option<Lease>| {
            (lease.as_ref()).map(|lease| (lease.run.clone(), lease.session.clone()))
        };
        if whose(&before) != whose(&lease)
            && let Some((run, session)) = before.and_then(|lease| self.holder(&lease))
        {
            let row = &mut self.runs[run].sessions[session];
            if row.held == Some(at) {
                row.is_orphan = row.granted == Some(at);
                let mut rivals = std::mem::take(&mut row.rivals);
                rivals.retain(|rival| {
                    let lease = self.devices[*rival].lease.as_ref();
                    lease.and_then(|lease| self.holder(lease)) == Some((run, session))
                });
                let held = rivals.pop();
                let row = &mut self.runs[run].sessions[session];
                row.held = held;
                row.rivals = rivals;
                self.refresh_session(run, session);
                self.review_session(run, session);
                if let Some(held) = held {
                    self.review_device(held);
                }
            }
        }
        if let Some(lease) = lease
            && let Some((run, session)) = self.session_at(&lease.run, lease.session)
        {
            let row = &mut self.runs[run].sessions[session];
            // Of two leases of a session, which two brokers put, that of its grant is its own.
            if row.held.is_none() || row.granted == Some(at) {
                row.held = Some(at);
                row.is_orphan = false;
            } else if row.granted.is_none() && row.held != Some(at) && !row.rivals.contains(&at) {
                row.rivals.push(at);
            }
            if row.visit.is_none() {
                self.runs[run].set_visit(session, Some(at));
            }
            self.refresh_session(run, session);
        }
        self.refresh_device(at);
        self.review_device(at);
    }

    /// Which device a session was granted. The first grant is the only one.
    pub(super) fn set_granted(&mut self, session: SessionKey, device: &DeviceKey) {
        let device = self.device_at(device);
        let Some((run, at)) = self.session_at(&session.run, session.session) else {
            return;
        };
        let row = &mut self.runs[run];
        if row.sessions[at].granted.is_some() {
            return;
        }
        row.sessions[at].granted = Some(device);
        let before = row.sessions[at].held;
        let rivals = std::mem::take(&mut row.sessions[at].rivals);
        let lease = self.devices[device].lease.as_ref();
        if lease.and_then(|lease| self.holder(lease)) == Some((run, at)) {
            self.runs[run].sessions[at].held = Some(device);
        }
        let row = &mut self.runs[run];
        row.has_begun = true;
        if row.sessions[at].visit != Some(device) {
            row.set_visit(at, Some(device));
            self.turns += 1;
            row.last_turn = self.turns;
        }
        self.refresh_session(run, at);
        let session = &self.runs[run].sessions[at];
        let (held, is_ours) = (session.held, session.pending.is_some());
        let is_running = session.stage == Stage::Running;
        for held in (before.into_iter().chain(rivals))
            .filter(|before| held != Some(*before))
            .chain(held)
        {
            self.refresh_device(held);
            self.review_device(held);
        }
        if self.is_leading && is_running && !is_ours && held != Some(device) {
            // Its lease has not been seen, or is gone already.
            self.check(run, at, device);
        }
    }

    /// Looks for what is wrong with a device's lease.
    pub(super) fn review_device(&mut self, at: DeviceAt) {
        let device = &self.devices[at];
        if !self.is_leading || device.has_deed {
            return;
        }
        let Some((run, session)) = device.lease.as_ref().and_then(|lease| self.holder(lease))
        else {
            return;
        };
        let row = &self.runs[run].sessions[session];
        if row.ends.contains(&device.host) && row.granted.is_some() {
            return;
        }
        let is_elsewhere = row.granted.is_some_and(|granted| granted != at);
        if is_elsewhere || self.runs[run].is_closing {
            self.take_back(at);
        } else if row.held != Some(at) {
            // Which of its leases a session keeps, its grant will say.
        } else if row.granted.is_some() {
            self.review_session(run, session);
        } else if row.wish.is_some() && !row.is_confirming && row.pending.is_none() {
            self.confirm(run, session, at);
        }
    }

    /// Looks whether a granted session was lost.
    pub(super) fn review_session(&mut self, run: RunAt, at: SessionAt) {
        let row = &self.runs[run];
        let session = &row.sessions[at];
        let Some(granted) = session.granted else {
            return;
        };
        let is_settled = session.is_losing || session.stage != Stage::Running;
        if !self.is_leading || is_settled || row.is_closing {
            return;
        }
        let device = &self.devices[granted];
        let host = &self.hosts[device.host];
        let lease = (device.lease.as_ref()).filter(|_| session.held == Some(granted));
        let lost = match (&host.advert, lease) {
            (None, _) if self.deaths_are_certain => {
                (Blame::HostLost, format!("its host {} is gone", host.name))
            }
            (Some(advert), Some(lease)) if advert.incarnation != lease.incarnation => {
                let cause = format!("its host {} was restarted", host.name);
                (Blame::HostLost, cause)
            }
            // The cause is unknown: the broker that did it is gone.
            _ if session.is_orphan => (Blame::HostLost, "its device was taken back".to_owned()),
            (Some(_), Some(_)) if device.advert.is_none() => {
                let cause = format!("its host {} does not have the device any more", host.name);
                (Blame::Device, cause)
            }
            _ if row.advert.is_none() && self.deaths_are_certain => {
                (Blame::RunLost, "its run is gone".to_owned())
            }
            _ if (row.advert.as_ref()).is_some_and(|run| run.given_up.contains(&session.id)) => {
                (Blame::Host, "its run has given it up".to_owned())
            }
            _ => return,
        };
        self.lose(run, at, granted, lost);
        if self.runs[run].sessions[at].held == Some(granted) {
            self.take_back(granted);
        }
    }

    pub(super) fn review_run(&mut self, run: RunAt) {
        let running: Vec<(SessionAt, Option<DeviceAt>)> = (self.runs[run].sessions.running())
            .map(|(at, session)| (at, session.held))
            .collect();
        for (at, held) in running {
            if let Some(held) = held {
                self.review_device(held);
            }
            self.review_session(run, at);
        }
    }

    pub(super) fn review_everything(&mut self) {
        for run in self.runs.places() {
            self.review_run(run);
        }
    }

    /// Begins to act on what was learnt.
    pub(super) fn lead(&mut self) {
        self.is_leading = true;
        self.open.everything = true;
        for run in self.runs.places() {
            for at in self.runs[run].sessions.places() {
                let session = &self.runs[run].sessions[at];
                let is_running = session.stage == Stage::Running;
                if let Some(granted) = session.granted.filter(|_| is_running)
                    && session.held != Some(granted)
                {
                    // Its lease was taken back; or somebody who still leads has just put it.
                    self.check(run, at, granted);
                }
                self.wait(run, at);
            }
        }
        for at in self.devices.places() {
            let lease = self.devices[at].lease.as_ref();
            let is_of_nobody =
                lease
                    .and_then(|lease| self.holder(lease))
                    .is_some_and(|(run, session)| {
                        let row = &self.runs[run].sessions[session];
                        row.wish.is_none() && row.granted.is_none() && row.ends.is_empty()
                    });
            if is_of_nobody {
                // Of a run that was purged while there was no leader, or older than what the stream keeps.
                self.take_back(at);
            } else {
                self.review_device(at);
            }
        }
        self.review_everything();
        for run in self.runs.places() {
            if (self.runs[run].advert.as_ref()).is_some_and(|advert| advert.done) {
                self.close(run);
            }
        }
    }

    fn holder(&self, lease: &Lease) -> Option<(RunAt, SessionAt)> {
        self.known(&lease.run, &lease.session)
    }

    pub(super) fn known(&self, run: &RunId, session: &SessionId) -> Option<(RunAt, SessionAt)> {
        let run = self.runs.place(run)?;
        Some((run, self.runs[run].session_place(session)?))
    }
}
