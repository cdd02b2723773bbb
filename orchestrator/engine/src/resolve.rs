//! From a request to a plan: which trail runs on which device. Pure.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use packtrain_drivers::{DeviceId, DeviceInfo};
use packtrain_model::trail::Trail;
use packtrain_model::{Cell, PlannedSession, RunEvent, RunId, RunOptionsSummary, SCHEMA_VERSION};

use crate::dispatch::Assignment;
use crate::order::{DeviceRequirement, SessionOrder, SessionValues};
use crate::pins::{self, Skip, SkippedBy};
use crate::request::{RunOptions, RunRequest, Shard};

/// What will run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The run's name.
    pub run: RunId,
    /// The trails that sessions refer to.
    pub trails: Vec<Arc<Trail>>,
    /// The devices, in order.
    pub devices: Vec<DeviceInfo>,
    /// The sessions, in order.
    pub sessions: Vec<Planned>,
    /// How trails and devices were combined.
    pub shard: Shard,
    /// Everything else.
    pub options: RunOptions,
}

/// One session to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Index into the plan's trails.
    pub trail: usize,
    /// The device; several when any of them will do.
    pub devices: Vec<DeviceId>,
    /// Why it is not run at all; the device is then the first it would have run on.
    pub skip: Option<Skip>,
    /// The configuration it runs in.
    pub cell: Cell,
}

/// Makes a plan: filters by tag, combines trails with devices, notes what trails skip.
pub fn resolve(request: RunRequest) -> Plan {
    let trails: Vec<_> = request
        .trails
        .into_iter()
        .filter(|requested| {
            let tags = &requested.trail.config.tags;
            request.tags.is_empty() || tags.iter().any(|tag| request.tags.contains(tag))
        })
        .collect();
    let mut sessions = Vec::new();
    for (index, requested) in trails.iter().enumerate() {
        let trail = &requested.trail;
        let (runs, skips): (Vec<_>, Vec<_>) = request
            .devices
            .iter()
            .filter(|device| requested.may_run_on(&device.id))
            .filter(|device| !request.only_declared || pins::declares(trail, device))
            .map(|device| {
                let skip = pins::skip(trail, device, request.driver.as_deref());
                (device.id.clone(), skip)
            })
            .partition(|(_, skip)| skip.is_none());
        let planned = |devices, skip| Planned {
            trail: index,
            devices,
            skip,
            cell: Cell::default(),
        };
        match request.shard {
            Shard::All => {
                // Devices keep their order, so that reports have their columns in it.
                let mut all: Vec<_> = runs.into_iter().chain(skips).collect();
                all.sort_by_key(|(id, _)| request.devices.iter().position(|d| d.id == *id));
                sessions.extend(all.into_iter().map(|(id, skip)| planned(vec![id], skip)));
            }
            Shard::Split if runs.is_empty() => {
                sessions.extend(
                    skips
                        .into_iter()
                        .take(1)
                        .map(|(id, skip)| planned(vec![id], skip)),
                );
            }
            Shard::Split => {
                sessions.push(planned(runs.into_iter().map(|(id, _)| id).collect(), None));
            }
        }
    }
    Plan {
        run: request.run,
        trails: trails
            .into_iter()
            .map(|requested| requested.trail)
            .collect(),
        devices: request.devices,
        sessions,
        shard: request.shard,
        options: request.options,
    }
}

impl Plan {
    /// The journal's first event.
    pub fn started(&self) -> RunEvent {
        RunEvent::RunStarted {
            schema_version: SCHEMA_VERSION,
            packtrain: self.options.version.clone(),
            run: self.run.clone(),
            trails: self.trails.iter().map(|trail| trail.summary()).collect(),
            devices: self.devices.clone(),
            sessions: self.sessions.iter().map(Planned::event).collect(),
            options: RunOptionsSummary {
                shard: self.shard.word().to_owned(),
                retries: self.options.retries,
                working_directory: self.options.working_directory.display().to_string(),
            },
            matrix: None,
        }
    }

    /// Whether there is a session that is not run for want of its driver.
    pub(crate) fn lacks_a_driver(&self) -> bool {
        let mut skips = self
            .sessions
            .iter()
            .filter_map(|planned| planned.skip.as_ref());
        skips.any(|skip| skip.by == SkippedBy::Pin)
    }

    /// A device of the plan by its name.
    pub fn device(&self, id: &DeviceId) -> Option<&DeviceInfo> {
        self.devices.iter().find(|device| device.id == *id)
    }

    /// The order for one attempt of a planned session.
    ///
    /// # Errors
    /// What is wrong with the trail's arguments, in one sentence; the command line has told it
    /// before with its places.
    pub(crate) fn order(&self, assignment: &Assignment) -> Result<SessionOrder, String> {
        let planned = &self.sessions[assignment.index.0];
        let trail = &self.trails[planned.trail];
        let options = &self.options;
        let args = trail
            .config
            .bind_args(&trail.source, &options.args)
            .map_err(|problems| {
                let told = problems.iter().map(|problem| problem.message.as_str());
                told.collect::<Vec<_>>().join("; ")
            })?;
        let device = self
            .device(&assignment.device)
            .ok_or_else(|| format!("the plan has no device {}", assignment.device))?;
        Ok(SessionOrder {
            run: self.run.clone(),
            session: assignment.session(),
            attempt: assignment.attempt,
            planned: planned.event(),
            trail: Arc::clone(trail),
            requires: DeviceRequirement::Exactly(device.clone()),
            target: options.targets.of(trail.config.target.as_deref()),
            values: SessionValues {
                memory: options.memory.clone(),
                secrets: options.secrets.clone(),
                args,
            },
            options: options.session.clone(),
        })
    }
}

impl Planned {
    /// As the journal has it.
    pub fn event(&self) -> PlannedSession {
        PlannedSession {
            trail: self.trail,
            device: match self.devices.as_slice() {
                [device] => Some(device.clone()),
                _ => None,
            },
            cell: self.cell.clone(),
        }
    }
}
