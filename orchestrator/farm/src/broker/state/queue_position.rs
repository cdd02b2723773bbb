//! Where runs stand, in words.

use std::collections::BTreeMap;

use packtrain_model::RunId;

use super::State;
use super::expression::Expression;
use super::run::Run;
use super::table::{DeviceAt, RunAt};
use crate::wire::{OutOfService, QueuePosition};

/// How many causes and holders a sentence names.
const NAMED: usize = 3;

impl State {
    /// The runs with their standings, in the order in which they are served.
    pub fn queue(&self) -> Vec<QueuePosition> {
        let order = self.in_order();
        (order.iter().enumerate())
            .map(|(place, at)| self.standing(*at, &order[..place]))
            .collect()
    }

    /// The standings that changed since they were last sent; that of a run with nothing under way and
    /// nothing that waits is sent once. Takes time for each run and device, so it
    /// is asked for now and then, not after each fact.
    #[must_use = "they are not told again"]
    pub fn tell(&mut self) -> Vec<QueuePosition> {
        let queue = self.queue();
        let mut news = Vec::new();
        for standing in &queue {
            if self.told.get(&standing.run) != Some(standing) {
                news.push(standing.clone());
            }
        }
        let now = (queue.into_iter())
            .map(|standing| (standing.run.clone(), standing))
            .collect();
        let before = std::mem::replace(&mut self.told, now);
        let over = (before.into_iter()).filter(|(run, _)| !self.told.contains_key(run));
        news.extend(over.map(|(run, standing)| QueuePosition {
            run,
            owner: standing.owner,
            running: 0,
            waiting: 0,
            ahead: 0,
            reason: None,
        }));
        news
    }

    fn standing(&self, at: RunAt, before: &[RunAt]) -> QueuePosition {
        let run = &self.runs[at];
        let is_idle = run.running == 0 && run.waiting > 0;
        let ahead = if is_idle {
            (before.iter())
                .filter(|other| self.compete(run, &self.runs[**other]))
                .count()
        } else {
            0
        };
        QueuePosition {
            run: run.id.clone(),
            owner: (run.advert.as_ref()).map_or_else(String::new, |advert| advert.owner.clone()),
            running: run.running,
            waiting: run.waiting,
            ahead: u32::try_from(ahead).unwrap_or(u32::MAX),
            reason: is_idle.then(|| self.reason(run, ahead)),
        }
    }

    /// Whether the sessions of two runs that wait want the same devices.
    fn compete(&self, run: &Run, other: &Run) -> bool {
        let matching = |run: &Run| {
            (run.heads.keys())
                .map(|at| &self.expressions[*at].matching)
                .collect::<Vec<_>>()
        };
        let others = matching(other);
        (matching(run).into_iter())
            .any(|mine| others.iter().any(|theirs| !mine.is_disjoint(theirs)))
    }

    /// Why nothing of a run is under way.
    fn reason(&self, run: &Run, ahead: usize) -> String {
        let first = run.heads.values().filter_map(|heads| heads.first()).min();
        let wish = first.and_then(|turn| run.sessions[turn.session].wish.as_ref());
        let (Some(advert), Some(wish)) = (&run.advert, wish) else {
            return "its process is gone; its sessions wait until it is resumed".to_owned();
        };
        if advert.stopping {
            return "it was stopped".to_owned();
        }
        let expression = &self.expressions[wish.lane.expression];
        if let Err(error) = &expression.requirement {
            return error.clone();
        }
        if expression.matching.is_empty() {
            return self.nothing_matches(expression);
        }
        if expression.in_service.is_empty() {
            return self.nothing_in_service(expression);
        }
        if !self.is_ready(run) {
            let wanted = advert.min_devices;
            let there = self.in_service_for(run);
            return format!(
                "it waits for {wanted} devices that match; there are {there} in service"
            );
        }
        if !expression.free.is_empty() {
            return self.no_room(expression, self.is_choosing(run, wish));
        }
        let mut reason = self.all_busy(expression);
        if ahead > 0 {
            reason += &match ahead {
                1 => "; 1 run is ahead".to_owned(),
                many => format!("; {many} runs are ahead"),
            };
        }
        reason
    }

    fn nothing_matches(&self, expression: &Expression) -> String {
        let on = &expression.on;
        let Ok(requirement) = &expression.requirement else {
            return format!("no device matches `{on}`");
        };
        let nearest = (self.devices.iter())
            .filter_map(|(_, device)| {
                let mismatches = requirement.why_not(device.subject.as_ref()?);
                Some((mismatches.len(), &device.key, mismatches))
            })
            .min_by(|one, other| (one.0, one.1).cmp(&(other.0, other.1)));
        match nearest {
            None => format!("no device matches `{on}`: the farm has none"),
            Some((_, key, mismatches)) => {
                let parts: Vec<String> = mismatches.iter().map(ToString::to_string).collect();
                let parts = parts.join("; ");
                format!("no device matches `{on}`; the closest is {key} ({parts})")
            }
        }
    }

    fn nothing_in_service(&self, expression: &Expression) -> String {
        let devices = &expression.matching;
        let mut causes: Vec<String> = (devices.iter().take(NAMED))
            .map(|device| {
                format!(
                    "{} {}",
                    self.devices[*device].key,
                    self.out_of_service(*device)
                )
            })
            .collect();
        if devices.len() > NAMED {
            causes.push(format!("and {} more", devices.len() - NAMED));
        }
        let causes = causes.join(", ");
        match devices.len() {
            1 => format!("the only device that matches is out of service: {causes}"),
            many => format!("all {many} devices that match are out of service: {causes}"),
        }
    }

    fn out_of_service(&self, at: DeviceAt) -> String {
        let device = &self.devices[at];
        let host = &self.hosts[device.host];
        let cause = (device.advert.as_ref()).and_then(|advert| advert.out_of_service.as_ref());
        match (&host.advert, cause) {
            (None, _) => format!("(its host {} is gone)", host.name),
            (Some(_), Some(OutOfService::Down)) => "(it does not answer)".to_owned(),
            (Some(_), Some(OutOfService::Quarantined(cause))) => format!("(quarantined: {cause})"),
            (Some(_), None) => format!("(its host {} is draining)", host.name),
        }
    }

    fn no_room(&self, expression: &Expression, is_choosing: bool) -> String {
        let full: Vec<String> = (expression.free.keys())
            .filter(|pool| !self.hosts[pool.host].has_room(pool.is_browsers))
            .filter_map(|pool| {
                let host = &self.hosts[pool.host];
                let capacity = host.advert.as_ref()?.capacity;
                let is_full = host.busy >= capacity.sessions;
                Some(if is_full {
                    format!("{} takes {} sessions", host.name, capacity.sessions)
                } else {
                    format!("{} takes {} browsers", host.name, capacity.browsers)
                })
            })
            .take(NAMED)
            .collect();
        if full.is_empty() && is_choosing {
            return "a retried session waits a moment for another device".to_owned();
        }
        if full.is_empty() {
            return "its sessions wait for devices that they have not tried".to_owned();
        }
        format!("the hosts of its devices are full: {}", full.join(", "))
    }

    fn all_busy(&self, expression: &Expression) -> String {
        let mut holders: BTreeMap<&RunId, usize> = BTreeMap::new();
        for device in &expression.in_service {
            let device = &self.devices[*device];
            if let Some(lease) = device.putting.as_ref().or(device.lease.as_ref()) {
                *holders.entry(&lease.run).or_insert(0) += 1;
            }
        }
        let mut holders: Vec<(&RunId, usize)> = holders.into_iter().collect();
        holders.sort_by_key(|(run, count)| (std::cmp::Reverse(*count), *run));
        let names: Vec<String> = (holders.iter().take(NAMED))
            .map(|(run, _)| {
                let owner = (self.runs.place(run))
                    .and_then(|at| self.runs[at].advert.as_ref())
                    .map(|advert| advert.owner.as_str());
                owner.map_or_else(|| run.to_string(), |owner| format!("{run} ({owner})"))
            })
            .collect();
        let names = names.join(", ");
        match expression.in_service.len() {
            1 => format!("the only device that matches is busy with {names}"),
            many => format!("all {many} devices that match are busy with {names}"),
        }
    }
}
