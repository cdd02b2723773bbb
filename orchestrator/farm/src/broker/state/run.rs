//! Runs and their sessions.

use std::collections::{BTreeSet, HashMap};

use packtrain_model::{RunId, SessionId};

use super::table::{DeviceAt, ExpressionAt, HostAt, RowIndex, RunAt, SessionAt, WordAt};
use super::{SessionKey, State};
use crate::wire::{Demand, DeviceKey, HostName, RunAdvert};

/// A run.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) id: RunId,
    /// What it says; `None` when it is not alive.
    pub(super) advert: Option<RunAdvert>,
    /// Whether it is done and on its way to be forgotten.
    pub(super) is_closing: bool,
    pub(super) has_forget: bool,
    /// Deeds about its sessions that were not answered yet.
    pub(super) deeds: u32,
    pub(super) sessions: Sessions,
    places: HashMap<SessionId, SessionAt>,
    /// What it asked for.
    pub(super) expressions: BTreeSet<ExpressionAt>,
    words: HashMap<String, WordAt>,
    /// How many sessions of each word a device has had.
    pub(super) visits: Vec<HashMap<DeviceAt, u32>>,
    /// Sessions that wait, alike in each lane.
    pub(super) lanes: HashMap<Lane, BTreeSet<Turn>>,
    /// The first of each lane.
    pub(super) heads: HashMap<ExpressionAt, BTreeSet<Turn>>,
    /// Sessions under way.
    pub(super) running: u32,
    /// Sessions that wait.
    pub(super) waiting: u32,
    /// When it was given something last; 0 for never.
    pub(super) last_turn: u64,
    /// When it asked first.
    pub(super) first: u64,
    /// Whether it had its [`min_devices`](RunAdvert::min_devices) once.
    pub(super) has_begun: bool,
}

/// The sessions of a run.
#[derive(Debug, Default)]
pub(super) struct Sessions(pub(super) Vec<Session>);

impl std::ops::Index<SessionAt> for Sessions {
    type Output = Session;

    fn index(&self, at: SessionAt) -> &Session {
        &self.0[at.index()]
    }
}

impl std::ops::IndexMut<SessionAt> for Sessions {
    fn index_mut(&mut self, at: SessionAt) -> &mut Session {
        &mut self.0[at.index()]
    }
}

impl Sessions {
    pub(super) fn places(&self) -> impl Iterator<Item = SessionAt> + use<> {
        (0..self.0.len()).map(SessionAt::of)
    }

    pub(super) fn running(&self) -> impl Iterator<Item = (SessionAt, &Session)> {
        (self.places().zip(&self.0)).filter(|(_, session)| session.stage == Stage::Running)
    }
}

/// A session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) wish: Option<SessionDemand>,
    /// The device that it was granted.
    pub(super) granted: Option<DeviceAt>,
    /// The device whose lease it has.
    pub(super) held: Option<DeviceAt>,
    /// Devices with further leases of it, as long as it has no grant.
    pub(super) rivals: Vec<DeviceAt>,
    /// The device that it is being granted.
    pub(super) pending: Option<DeviceAt>,
    /// The device that counts as visited by its word.
    pub(super) visit: Option<DeviceAt>,
    /// Where it ended.
    pub(super) ends: Vec<HostAt>,
    /// Whether it is being confirmed.
    pub(super) is_confirming: bool,
    /// Whether it is being lost.
    pub(super) is_losing: bool,
    /// Whether its lease was taken from it.
    pub(super) is_orphan: bool,
    pub(super) stage: Stage,
}

/// What a session wants.
#[derive(Debug, Clone)]
pub(super) struct SessionDemand {
    pub(super) lane: Lane,
    pub(super) turn: Turn,
    pub(super) avoid: Vec<DeviceAt>,
    pub(super) avoid_hosts: Vec<HostAt>,
    /// Whether there was an attempt before.
    pub(super) is_again: bool,
    /// Whether it waits for a device that it does not avoid, and for one of its own.
    pub(super) is_choosy: bool,
}

/// Sessions that are alike: what one may have, the others may have too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Lane {
    pub(super) expression: ExpressionAt,
    /// The device that they were planned on; then they have no word.
    pub(super) own: Option<DeviceAt>,
    pub(super) word: Option<WordAt>,
    /// One that avoids devices is like no other.
    alone: Option<SessionAt>,
}

/// A session's turn in its run: requeued first, then who asked first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Turn {
    is_new: bool,
    pub(super) sequence: u64,
    pub(super) session: SessionAt,
}

/// How far a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Not requested yet, or not any more.
    Unknown,
    Waiting,
    Running,
    Over,
}

impl Run {
    fn new(id: RunId) -> Self {
        Self {
            id,
            advert: None,
            is_closing: false,
            has_forget: false,
            deeds: 0,
            sessions: Sessions::default(),
            places: HashMap::new(),
            expressions: BTreeSet::new(),
            words: HashMap::new(),
            visits: Vec::new(),
            lanes: HashMap::new(),
            heads: HashMap::new(),
            running: 0,
            waiting: 0,
            last_turn: 0,
            first: u64::MAX,
            has_begun: false,
        }
    }

    pub(super) fn session_place(&self, id: &SessionId) -> Option<SessionAt> {
        self.places.get(id).copied()
    }

    /// Who goes first among runs: the smallest.
    pub(super) fn order(&self) -> (u32, u64, u64) {
        (self.running, self.last_turn, self.first)
    }

    fn session_at(&mut self, id: SessionId) -> SessionAt {
        if let Some(at) = self.session_place(&id) {
            return at;
        }
        let at = SessionAt::of(self.sessions.0.len());
        self.sessions.0.push(Session {
            id: id.clone(),
            wish: None,
            granted: None,
            held: None,
            rivals: Vec::new(),
            pending: None,
            visit: None,
            ends: Vec::new(),
            is_confirming: false,
            is_losing: false,
            is_orphan: false,
            stage: Stage::Unknown,
        });
        self.places.insert(id, at);
        at
    }

    fn word(&mut self, word: &str) -> Option<WordAt> {
        if word.is_empty() {
            return None;
        }
        if let Some(at) = self.words.get(word) {
            return Some(*at);
        }
        let at = WordAt::of(self.visits.len());
        self.visits.push(HashMap::new());
        self.words.insert(word.to_owned(), at);
        Some(at)
    }

    /// Counts the device that a session has, or is about to have, for its word.
    pub(super) fn set_visit(&mut self, at: SessionAt, visit: Option<DeviceAt>) {
        let session = &mut self.sessions[at];
        let before = std::mem::replace(&mut session.visit, visit);
        let Some(word) = session.wish.as_ref().and_then(|wish| wish.lane.word) else {
            return;
        };
        let visits = &mut self.visits[word.index()];
        if let Some(device) = visit {
            *visits.entry(device).or_insert(0) += 1;
        }
        if let Some(device) = before {
            let count = visits.entry(device).or_insert(1);
            *count -= 1;
            if *count == 0 {
                visits.remove(&device);
            }
        }
    }

    /// Gives a session its place in its lane, or takes it.
    pub(super) fn queue(&mut self, at: SessionAt, is_waiting: bool) {
        let Some(SessionDemand { lane, turn, .. }) = self.sessions[at].wish else {
            return;
        };
        let turns = self.lanes.entry(lane).or_default();
        let before = turns.first().copied();
        if is_waiting {
            turns.insert(turn);
            self.waiting += 1;
        } else if turns.remove(&turn) {
            self.waiting -= 1;
        }
        let after = turns.first().copied();
        if turns.is_empty() {
            self.lanes.remove(&lane);
        }
        if before == after {
            return;
        }
        let heads = self.heads.entry(lane.expression).or_default();
        if let Some(before) = before {
            heads.remove(&before);
        }
        if let Some(after) = after {
            heads.insert(after);
        }
        if heads.is_empty() {
            self.heads.remove(&lane.expression);
        }
    }
}

impl State {
    pub(super) fn is_forgotten(&self, run: &RunId) -> bool {
        self.forgotten.contains(run)
    }

    /// A run's place; `None` when it was forgotten.
    pub(super) fn run_at(&mut self, id: &RunId) -> Option<RunAt> {
        if let Some(at) = self.runs.place(id) {
            return Some(at);
        }
        (!self.is_forgotten(id)).then(|| self.runs.insert(id.clone(), Run::new(id.clone())))
    }

    /// A session's places; `None` when its run was forgotten.
    pub(super) fn session_at(&mut self, run: &RunId, id: SessionId) -> Option<(RunAt, SessionAt)> {
        let run = self.run_at(run)?;
        Some((run, self.runs[run].session_at(id)))
    }

    pub(super) fn set_run(&mut self, id: RunId, advert: Option<RunAdvert>) {
        let Some(advert) = advert else {
            if let Some(at) = self.runs.place(&id) {
                self.runs[at].advert = None;
                self.review_run(at);
            }
            return;
        };
        if !advert.done {
            self.forgotten.retain(|forgotten| *forgotten != id);
        }
        let Some(at) = self.run_at(&id) else {
            return;
        };
        let (is_done, gives_up) = (advert.done, !advert.given_up.is_empty());
        self.runs[at].advert = Some(advert);
        if is_done {
            self.close(at);
        } else {
            self.open.runs.insert(at);
            if gives_up {
                self.review_run(at);
            }
        }
    }

    pub(super) fn set_demand(&mut self, session: SessionKey, sequence: u64, demand: Demand) {
        let Some((run, at)) = self.session_at(&session.run, session.session) else {
            return;
        };
        if self.runs[run].sessions[at].wish.is_some() {
            return;
        }
        let expression = self.expressions.place(&demand.on);
        let is_known = expression.is_some_and(|at| self.runs[run].expressions.contains(&at));
        let expression = match expression {
            Some(expression) if is_known => expression,
            Some(_) | None => self.use_expression(&demand.on),
        };
        let avoid: Vec<DeviceAt> = (demand.avoid.iter())
            .map(|device: &DeviceKey| self.device_at(device))
            .collect();
        let avoid_hosts: Vec<HostAt> = (demand.avoid_hosts.iter())
            .map(|host| self.host_at(host))
            .collect();
        let own = demand.own.as_ref().map(|own| self.device_at(own));
        let row = &mut self.runs[run];
        row.expressions.insert(expression);
        row.first = row.first.min(sequence);
        let lane = Lane {
            expression,
            own,
            word: row.word(&demand.spread).filter(|_| own.is_none()),
            alone: (!avoid.is_empty() || !avoid_hosts.is_empty()).then_some(at),
        };
        row.sessions[at].wish = Some(SessionDemand {
            lane,
            turn: Turn {
                is_new: !demand.requeued,
                sequence,
                session: at,
            },
            is_again: demand.requeued || !avoid.is_empty() || !avoid_hosts.is_empty(),
            is_choosy: true,
            avoid,
            avoid_hosts,
        });
        // What it had before its word was known counts now.
        let visit = row.sessions[at].visit.take();
        row.set_visit(at, visit);
        self.refresh_session(run, at);
        if let Some(held) = self.runs[run].sessions[at].held {
            self.review_device(held);
        }
    }

    pub(super) fn set_end(&mut self, session: SessionKey, host: HostName) {
        let Some((run, at)) = self.session_at(&session.run, session.session) else {
            return;
        };
        let host = self.host_at(&host);
        let session = &mut self.runs[run].sessions[at];
        session.is_losing = false;
        if session.ends.contains(&host) {
            return;
        }
        session.ends.push(host);
        let devices: BTreeSet<DeviceAt> = [session.held, session.granted]
            .into_iter()
            .flatten()
            .collect();
        self.refresh_session(run, at);
        for device in devices {
            self.refresh_device(device);
        }
    }

    /// Works out how far a session is, and keeps what depends on it.
    pub(super) fn refresh_session(&mut self, run: RunAt, at: SessionAt) {
        let row = &self.runs[run];
        let session = &row.sessions[at];
        let stage = if let Some(device) = session.granted {
            if session.ends.contains(&self.devices[device].host) {
                Stage::Over
            } else {
                Stage::Running
            }
        } else if session.pending.is_some() || session.held.is_some() {
            Stage::Running
        } else if session.wish.is_some() && !row.is_closing {
            Stage::Waiting
        } else {
            Stage::Unknown
        };
        let before = session.stage;
        if stage == before {
            return;
        }
        let row = &mut self.runs[run];
        row.sessions[at].stage = stage;
        if before == Stage::Running {
            row.running -= 1;
        }
        if stage == Stage::Running {
            row.running += 1;
        }
        if before == Stage::Waiting || stage == Stage::Waiting {
            row.queue(at, stage == Stage::Waiting);
            self.keep_waiting(run, at);
        }
        if stage == Stage::Waiting
            && let Some(wish) = &self.runs[run].sessions[at].wish
        {
            self.open.asked.insert((run, wish.lane.expression));
            // Also when what it was to be granted was another's.
            self.wait(run, at);
        }
    }

    /// Keeps which runs wait for the expression of a session.
    fn keep_waiting(&mut self, run: RunAt, at: SessionAt) {
        let row = &self.runs[run];
        let Some(wish) = &row.sessions[at].wish else {
            return;
        };
        let expression = wish.lane.expression;
        let waiting = &mut self.expressions[expression].waiting;
        if row.heads.contains_key(&expression) {
            waiting.insert(run);
        } else {
            waiting.remove(&run);
        }
    }
}
