//! Who gets what is free.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::State;
use super::expression::Pool;
use super::run::{Run, SessionDemand, Turn};
use super::table::{DeviceAt, ExpressionAt, HostAt, RowIndex, RunAt, SessionAt};

/// Where something may have become possible since it was looked at last.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// Devices that became free.
    pub(super) devices: BTreeSet<DeviceAt>,
    /// Hosts that have room again.
    pub(super) hosts: BTreeSet<HostAt>,
    /// Runs that may have what they might not have.
    pub(super) runs: BTreeSet<RunAt>,
    /// Runs with new sessions, and what those want.
    pub(super) asked: BTreeSet<(RunAt, ExpressionAt)>,
    pub(super) everything: bool,
}

/// The devices that are looked at.
#[derive(Debug, Clone, Copy)]
enum Within {
    Device(DeviceAt),
    Host(HostAt),
    Matching(ExpressionAt),
    Everything,
}

/// A device for a session, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Choice {
    /// Whether an earlier attempt was lost on the device.
    is_avoided: bool,
    turn: Turn,
    device: DeviceAt,
}

impl State {
    /// Grants whatever can be granted.
    pub(super) fn serve_open(&mut self) {
        loop {
            if std::mem::take(&mut self.open.everything) {
                self.open = Open::default();
                self.serve(Within::Everything, None);
            } else if let Some(host) = self.open.hosts.pop_first() {
                // Before its devices: who goes first is decided among all that wait for the host.
                self.serve(Within::Host(host), None);
            } else if let Some(device) = self.open.devices.pop_first() {
                self.serve(Within::Device(device), None);
            } else if let Some(run) = self.open.runs.pop_first() {
                self.serve(Within::Everything, Some(run));
            } else if let Some((run, expression)) = self.open.asked.pop_first() {
                self.serve(Within::Matching(expression), Some(run));
            } else {
                return;
            }
        }
    }

    fn serve(&mut self, within: Within, only: Option<RunAt>) {
        while let Some((run, session, device)) = self.next_grant(within, only) {
            self.grant(run, session, device);
            self.open_after_grant(run, session);
        }
    }

    fn next_grant(
        &self,
        within: Within,
        only: Option<RunAt>,
    ) -> Option<(RunAt, SessionAt, DeviceAt)> {
        let mut candidates: Vec<RunAt> = match only {
            Some(run) => vec![run],
            None => self.waiting_for(within),
        };
        candidates.sort_by_key(|run| self.runs[*run].order());
        (candidates.into_iter())
            .filter(|run| self.is_ready(&self.runs[*run]))
            .find_map(|run| {
                let choice = self.choose(run, within)?;
                Some((run, choice.turn.session, choice.device))
            })
    }

    /// The runs with sessions that wait for any of the devices.
    fn waiting_for(&self, within: Within) -> Vec<RunAt> {
        if let Within::Device(device) = within {
            let expressions = self.devices[device].expressions.iter();
            let runs: BTreeSet<RunAt> = expressions
                .flat_map(|at| self.expressions[*at].waiting.iter().copied())
                .collect();
            return runs.into_iter().collect();
        }
        (self.runs.iter())
            .filter(|(_, run)| run.waiting > 0)
            .map(|(at, _)| at)
            .collect()
    }

    /// Whether a run may have anything at all.
    pub(super) fn is_ready(&self, run: &Run) -> bool {
        (run.advert.as_ref()).is_some_and(|advert| {
            let has_enough = run.has_begun
                || advert.min_devices <= 1
                || self.in_service_for(run) >= advert.min_devices as usize;
            !advert.done && !advert.stopping && !run.is_closing && has_enough
        })
    }

    /// How many devices in service match any of a run's demands.
    pub(super) fn in_service_for(&self, run: &Run) -> usize {
        let devices: BTreeSet<DeviceAt> = (run.expressions.iter())
            .flat_map(|at| self.expressions[*at].in_service.iter().copied())
            .collect();
        devices.len()
    }

    /// The session of a run that goes first, and its device.
    fn choose(&self, run: RunAt, within: Within) -> Option<Choice> {
        let row = &self.runs[run];
        let of_expression = |at: ExpressionAt| self.choose_for(row, at, within);
        if let Within::Device(device) = within {
            let expressions = self.devices[device].expressions.iter();
            return expressions.filter_map(|at| of_expression(*at)).min();
        }
        if let Within::Matching(expression) = within {
            return of_expression(expression);
        }
        row.heads.keys().filter_map(|at| of_expression(*at)).min()
    }

    fn choose_for(&self, run: &Run, at: ExpressionAt, within: Within) -> Option<Choice> {
        let heads = run.heads.get(&at)?;
        let pools = self.pools(at, within);
        if pools.is_empty() {
            return None;
        }
        let mut avoided = None;
        for turn in heads {
            let Some(wish) = &run.sessions[turn.session].wish else {
                continue;
            };
            let choice = self.choose_device(run, wish, &pools, within);
            match choice {
                Some(choice) if !choice.is_avoided => return Some(choice),
                Some(choice) => avoided = avoided.or(Some(choice)),
                None => {}
            }
        }
        avoided
    }

    /// Where devices that match are free on hosts with room, the emptiest host first.
    fn pools(&self, at: ExpressionAt, within: Within) -> Vec<Pool> {
        let free = &self.expressions[at].free;
        let is_in = |pool: &Pool| match within {
            Within::Device(device) => self.devices[device].pool() == *pool,
            Within::Host(host) => pool.host == host,
            Within::Matching(_) | Within::Everything => true,
        };
        let mut pools: Vec<Pool> = (free.keys())
            .filter(|pool| is_in(pool) && self.hosts[pool.host].has_room(pool.is_browsers))
            .copied()
            .collect();
        pools.sort_by_key(|pool| self.hosts[pool.host].load());
        pools
    }

    fn choose_device(
        &self,
        run: &Run,
        wish: &SessionDemand,
        pools: &[Pool],
        within: Within,
    ) -> Option<Choice> {
        let expression = &self.expressions[wish.lane.expression];
        let free = &expression.free;
        let own = wish.lane.own;
        if let Some(own) = own.filter(|own| self.is_bound_to(run, wish, *own)) {
            let is_meant = !matches!(within, Within::Device(only) if only != own);
            let mut free = pools.iter().filter_map(|pool| free.get(pool));
            return (is_meant && free.any(|free| free.contains(&own))).then_some(Choice {
                is_avoided: false,
                turn: wish.turn,
                device: own,
            });
        }
        let mut avoided = None;
        let mut visited = None;
        let mut needs_new = None;
        // A device that loses its sessions is always free: a session lost there waits for another, for a while.
        let has_better = || self.worth_waiting_for(run, wish).next().is_some();
        for pool in pools {
            for device in free.get(pool).into_iter().flatten().copied() {
                if matches!(within, Within::Device(only) if only != device) {
                    continue;
                }
                let is_visited = self.is_visited(run, wish, device);
                let has_new =
                    is_visited && *needs_new.get_or_insert_with(|| self.has_new(run, wish));
                if has_new && wish.is_choosy {
                    continue;
                }
                if self.is_set_aside(run, device) && has_better() {
                    continue;
                }
                let choice = Choice {
                    is_avoided: self.is_avoided(run, wish, device),
                    turn: wish.turn,
                    device,
                };
                match (choice.is_avoided, has_new) {
                    (false, false) => return Some(choice),
                    (false, true) => visited = visited.or(Some(choice)),
                    (true, _) => avoided = avoided.or(Some(choice)),
                }
            }
        }
        visited.or_else(|| avoided.filter(|_| !wish.is_choosy || !has_better()))
    }

    /// Whether a session takes no device but its own: that can be had, or may be in a moment.
    pub(super) fn is_bound_to(&self, run: &Run, wish: &SessionDemand, own: DeviceAt) -> bool {
        let device = &self.devices[own];
        let expression = &self.expressions[wish.lane.expression];
        let can_be_had = expression.in_service.contains(&own)
            && self.hosts[device.host].takes(device.is_browser());
        let may_come_back = wish.is_choosy && !device.is_in_service;
        (can_be_had || may_come_back) && !self.is_avoided(run, wish, own)
    }

    /// Whether a session waits, for a while, for something better than what is free.
    pub(super) fn is_choosing(&self, run: &Run, wish: &SessionDemand) -> bool {
        wish.is_again && wish.is_choosy && self.worth_waiting_for(run, wish).next().is_some()
    }

    fn is_avoided(&self, run: &Run, wish: &SessionDemand, device: DeviceAt) -> bool {
        wish.avoid.contains(&device)
            || wish.avoid_hosts.contains(&self.devices[device].host)
            || self.is_set_aside(run, device)
    }

    /// Whether the run does without the device's host, for as long as there is another.
    fn is_set_aside(&self, run: &Run, device: DeviceAt) -> bool {
        let host = &self.hosts[self.devices[device].host].name;
        (run.advert.as_ref()).is_some_and(|advert| advert.set_aside.contains(host))
    }

    fn is_visited(&self, run: &Run, wish: &SessionDemand, device: DeviceAt) -> bool {
        (wish.lane.word).is_some_and(|word| run.visits[word.index()].contains_key(&device))
    }

    /// Whether a device that is worth waiting for has not had a session of the word yet.
    fn has_new(&self, run: &Run, wish: &SessionDemand) -> bool {
        let mut others = self.worth_waiting_for(run, wish);
        others.any(|device| !self.is_visited(run, wish, device))
    }

    /// The devices, free or busy, that a session may have to wait for. Not one that it avoids: it would
    /// wait for what it does not take.
    fn worth_waiting_for(&self, run: &Run, wish: &SessionDemand) -> impl Iterator<Item = DeviceAt> {
        let in_service = &self.expressions[wish.lane.expression].in_service;
        in_service.iter().copied().filter(|at| {
            let device = &self.devices[*at];
            !self.is_avoided(run, wish, *at) && self.hosts[device.host].takes(device.is_browser())
        })
    }

    /// A session that waited for its own device may have any once there is none left.
    fn open_after_grant(&mut self, run: RunAt, session: SessionAt) {
        let row = &self.runs[run];
        let is_last = row.waiting > 0
            && (row.sessions[session].wish.as_ref())
                .is_some_and(|wish| wish.lane.word.is_some() && !self.has_new(row, wish));
        if is_last {
            self.open.runs.insert(run);
        }
    }

    /// The runs that have sessions, those that go first first.
    pub(super) fn in_order(&self) -> Vec<RunAt> {
        let mut runs: Vec<RunAt> = (self.runs.iter())
            .filter(|(_, run)| run.running > 0 || run.waiting > 0)
            .map(|(at, _)| at)
            .collect();
        runs.sort_by_key(|at| {
            let run = &self.runs[*at];
            (Reverse(self.is_ready(run)), run.order())
        });
        runs
    }
}
