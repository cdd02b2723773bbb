//! Less of a plan, or more of the same: some of its sessions, or each several times.

use crate::resolve::{Plan, Planned};

impl Plan {
    /// Keeps some of the sessions, and the trails that are left with any.
    pub fn keep(&mut self, wanted: impl Fn(&Plan, &Planned) -> bool) {
        let kept: Vec<_> = self.sessions.iter().map(|p| wanted(self, p)).collect();
        let mut kept = kept.into_iter();
        self.sessions.retain(|_| kept.next().unwrap_or(false));
        let mut places = vec![None; self.trails.len()];
        let mut used: Vec<_> = self.sessions.iter().map(|planned| planned.trail).collect();
        used.sort_unstable();
        used.dedup();
        for (place, old) in used.iter().enumerate() {
            places[*old] = Some(place);
        }
        for planned in &mut self.sessions {
            planned.trail = places[planned.trail].unwrap_or(planned.trail);
        }
        let is_used = |old: usize| places.get(old).is_some_and(Option::is_some);
        let mut old = 0..;
        self.trails.retain(|_| old.next().is_some_and(is_used));
        let mut old = 0..;
        self.matrices.retain(|_| old.next().is_some_and(is_used));
    }

    /// Plans each session so many times, one right after the other. One that is skipped is skipped
    /// once.
    pub fn repeat(&mut self, times: u32) {
        if times < 2 {
            return;
        }
        let sessions = std::mem::take(&mut self.sessions);
        self.sessions = sessions
            .into_iter()
            .flat_map(|planned| {
                let numbers: Vec<_> = match planned.skip {
                    Some(_) => vec![None],
                    None => (1..=times).map(Some).collect(),
                };
                numbers.into_iter().map(move |repeat| Planned {
                    repeat,
                    ..planned.clone()
                })
            })
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use packtrain_drivers::{DeviceId, Platform};
    use packtrain_model::{Cell, RunId, Trail};

    use super::*;
    use crate::pins::{Skip, SkippedBy};
    use crate::request::{RunOptions, Shard};

    fn plan() -> Plan {
        let names = ["a", "b", "c"];
        let planned = (0..6).map(|number| Planned {
            trail: number / 2,
            devices: vec![DeviceId::new(Platform::Web, format!("d{}", number % 2))],
            on: None,
            skip: None,
            alike: false,
            cell: Cell::default(),
            repeat: None,
            place: None,
        });
        Plan {
            run: RunId("r".into()),
            trails: names.map(|name| Arc::new(Trail::empty(name))).to_vec(),
            matrices: vec![None; 3],
            devices: Vec::new(),
            sessions: planned.collect(),
            shard: Shard::All,
            part: None,
            options: RunOptions::default(),
        }
    }

    #[test]
    fn trails_without_a_session_go_with_their_sessions() {
        let mut plan = plan();
        plan.keep(|plan, planned| {
            plan.trails[planned.trail].source.name() != "b" && planned.devices[0].name() == "d1"
        });
        let names: Vec<_> = plan
            .trails
            .iter()
            .map(|trail| trail.source.name())
            .collect();
        assert_eq!(names, ["a", "c"]);
        assert_eq!(plan.matrices.len(), 2);
        let trails: Vec<_> = plan.sessions.iter().map(|planned| planned.trail).collect();
        assert_eq!(trails, [0, 1]);
    }

    #[test]
    fn each_session_is_repeated_and_a_skipped_one_is_not() {
        let mut plan = plan();
        plan.sessions.truncate(2);
        plan.sessions[1].skip = Some(Skip {
            by: SkippedBy::Trail,
            reason: "not here".to_owned(),
        });
        plan.repeat(3);
        let repeats: Vec<_> = plan.sessions.iter().map(|planned| planned.repeat).collect();
        assert_eq!(repeats, [Some(1), Some(2), Some(3), None]);
    }
}
