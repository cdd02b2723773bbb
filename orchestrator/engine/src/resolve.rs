//! From a request to a plan: which trail runs on which device. Pure.

#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use packtrain_drivers::{DeviceId, DeviceInfo, Platform};
use packtrain_model::trail::Trail;
use packtrain_model::{
    Cell, Expected, MatrixSummary, PlannedSession, RunEvent, RunId, RunOptionsSummary,
    SCHEMA_VERSION,
};
use sha2::{Digest, Sha256};

use crate::dispatch::Assignment;
use crate::matrix::{CellSettings, Matrix};
use crate::order::{DeviceRequirement, SessionOrder, SessionValues};
use crate::part::TakenPart;
use crate::pins::{self, Skip, SkippedBy};
use crate::request::{Anywhere, RequestedTrail, RunOptions, RunRequest, Shard};

/// What will run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The run's name.
    pub run: RunId,
    /// The trails that sessions refer to.
    pub trails: Vec<Arc<Trail>>,
    /// The matrix of each trail.
    pub matrices: Vec<Option<Arc<Matrix>>>,
    /// The devices, in order.
    pub devices: Vec<DeviceInfo>,
    /// The sessions, in order.
    pub sessions: Vec<Planned>,
    /// How trails and devices were combined.
    pub shard: Shard,
    /// Which part of a larger plan it is.
    pub part: Option<TakenPart>,
    /// Everything else.
    pub options: RunOptions,
}

/// One session to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Index into the plan's trails.
    pub trail: usize,
    /// The device; several when any of them will do, none when the farm finds one.
    pub devices: Vec<DeviceId>,
    /// What a device has to be that the farm finds, also in the place of one that cannot be had.
    pub on: Option<String>,
    /// Why it is not run at all; the device is then the first it would have run on.
    pub skip: Option<Skip>,
    /// Whether the devices are alike: then they are called by the first.
    pub alike: bool,
    /// The configuration it runs in.
    pub cell: Cell,
    /// Which of several repetitions it is, from 1.
    pub repeat: Option<u32>,
    /// Its place in the whole plan, from 0, when this is a part of it.
    pub place: Option<u32>,
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
        let planned = |devices, skip, cell| Planned {
            trail: index,
            devices,
            on: None,
            skip,
            alike: false,
            cell,
            repeat: None,
            place: None,
        };
        if let Some(anywhere) = &request.anywhere
            && (!runs.is_empty() || skips.is_empty())
        {
            if requested.only.as_ref().is_some_and(Vec::is_empty) {
                continue;
            }
            let on = wanted(anywhere, requested, request.driver.as_deref());
            let owns: Vec<Vec<DeviceId>> = match anywhere.count {
                None if !runs.is_empty() => runs.iter().map(|(id, _)| vec![id.clone()]).collect(),
                count => vec![Vec::new(); count.unwrap_or(1)],
            };
            let cells = match (&requested.matrix, runs.first()) {
                (Some(matrix), Some((id, _))) => matrix.cells_on(id.platform()),
                _ => vec![Cell::default()],
            };
            for own in owns {
                sessions.extend(cells.iter().map(|cell| Planned {
                    on: Some(on.clone()),
                    ..planned(own.clone(), None, cell.clone())
                }));
            }
            continue;
        }
        let plain = [Cell::default()];
        let split = request.shard == Shard::Split;
        match (request.shard, &requested.matrix) {
            (_, Some(matrix)) => {
                let groups = groups(&request.alike, runs);
                for group in groups {
                    for cell in matrix.cells_on(group[0].platform()) {
                        sessions.push(Planned {
                            alike: group.len() > 1,
                            ..planned(group.clone(), None, cell)
                        });
                    }
                }
                let [cell] = plain;
                let skipped = skips.into_iter();
                sessions.extend(skipped.map(|(id, skip)| planned(vec![id], skip, cell.clone())));
            }
            (_, None) if runs.is_empty() && (split || request.anywhere.is_some()) => {
                let skips = skips.into_iter().take(1);
                sessions.extend(skips.map(|(id, skip)| planned(vec![id], skip, Cell::default())));
            }
            (Shard::All, None) => {
                // Devices keep their order, so that reports have their columns in it.
                let mut all: Vec<_> = runs.into_iter().chain(skips).collect();
                all.sort_by_key(|(id, _)| request.devices.iter().position(|d| d.id == *id));
                let all = all.into_iter();
                sessions.extend(all.map(|(id, skip)| planned(vec![id], skip, Cell::default())));
            }
            (Shard::Split, None) => {
                let devices = runs.into_iter().map(|(id, _)| id).collect();
                sessions.push(planned(devices, None, Cell::default()));
            }
        }
    }
    Plan {
        run: request.run,
        matrices: trails
            .iter()
            .map(|requested| requested.matrix.clone())
            .collect(),
        trails: trails
            .into_iter()
            .map(|requested| requested.trail)
            .collect(),
        devices: request.devices,
        sessions,
        shard: request.shard,
        part: None,
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
                narrowed_by: self.options.narrowed_by.clone(),
                order_seed: (self.matrices.iter().any(Option::is_some)).then(|| self.order_seed()),
                secrets: self
                    .options
                    .secrets
                    .iter()
                    .map(|(name, _)| name.clone())
                    .collect(),
                part: self.part.as_ref().map(|taken| taken.part.to_string()),
                elsewhere: self
                    .part
                    .as_ref()
                    .map(|taken| taken.elsewhere.clone())
                    .unwrap_or_default(),
                plan: self
                    .part
                    .as_ref()
                    .map(|_| self.digest())
                    .unwrap_or_default(),
            },
            matrix: self.matrix(),
        }
    }

    /// What tells this plan from another, sessions included.
    pub fn fingerprint(&self) -> String {
        let sessions: Vec<_> = self.sessions.iter().map(|p| (p.event(), &p.on)).collect();
        let sessions = serde_json::to_vec(&sessions).unwrap_or_default();
        let hash = Sha256::digest([self.digest().into_bytes(), sessions].concat());
        hash.iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// What tells one plan from another: the first 16 hex digits of the SHA-256 of all that decides
    /// what is run, but for secrets' values and for what is each machine's own.
    fn digest(&self) -> String {
        let options = &self.options;
        let trails = self.trails.iter().zip(&self.matrices);
        let trails = trails.map(|(trail, matrix)| {
            let meanings = matrix.iter().flat_map(|matrix| &matrix.meanings);
            let meanings = meanings.map(|(value, meaning)| {
                let app_file = meaning.app_file.as_deref().and_then(Path::file_name);
                let meaning = CellSettings {
                    app_file: app_file.map(|name| name.to_string_lossy().into_owned().into()),
                    ..meaning.clone()
                };
                (value, meaning)
            });
            (
                // However the machine ends its lines.
                trail.source.text().lines().collect::<Vec<_>>(),
                options.targets.of(trail.config.target.as_deref()),
                trail.config.bind_args(&trail.source, &options.args).ok(),
                meanings.collect::<Vec<_>>(),
            )
        });
        let memory: BTreeMap<_, _> = options.memory.iter().cloned().collect();
        let secrets: BTreeSet<_> = options.secrets.iter().map(|(name, _)| name).collect();
        let decides = (trails.collect::<Vec<_>>(), memory, secrets);
        let hash = Sha256::digest(serde_json::to_vec(&decides).unwrap_or_default());
        let digits = hash.iter().take(8).map(|byte| format!("{byte:02x}"));
        digits.collect()
    }

    /// What varies in the run, all trails together.
    fn matrix(&self) -> Option<MatrixSummary> {
        let mut own: Vec<(usize, &Arc<Matrix>)> = Vec::new();
        for (trail, matrix) in self.matrices.iter().enumerate() {
            own.extend(matrix.as_ref().map(|matrix| (trail, matrix)));
        }
        let (_, first) = *own.first()?;
        let mut all = first.summary.clone();
        if own.iter().all(|(_, matrix)| **matrix == *first) {
            return Some(all);
        }
        // What is expected of one trail is not of another.
        let expected = own.iter().flat_map(|(trail, matrix)| {
            let entries = matrix.summary.expect.iter().cloned();
            entries.map(|entry| Expected {
                trail: Some(*trail),
                ..entry
            })
        });
        all.expect = expected.collect();
        for (_, other) in &own[1..] {
            let other = &other.summary;
            for axis in &other.axes {
                match all.axes.iter_mut().find(|known| known.name == axis.name) {
                    Some(known) => {
                        let new = axis.values.iter();
                        let new = new.filter(|value| !known.values.contains(value));
                        let new: Vec<_> = new.cloned().collect();
                        known.values.extend(new);
                    }
                    None => all.axes.push(axis.clone()),
                }
            }
            let new = other.cells.iter().filter(|cell| !all.cells.contains(cell));
            let new: Vec<_> = new.cloned().collect();
            all.cells.extend(new);
        }
        Some(all)
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
        let requires = match (&assignment.device, &planned.on) {
            (Some(id), _) => {
                let device = self.device(id).cloned();
                let device = device.ok_or_else(|| format!("the plan has no device {id}"))?;
                DeviceRequirement::Exactly(device)
            }
            (None, Some(on)) => DeviceRequirement::Matching(on.clone()),
            (None, None) => return Err("no device was chosen for it".to_owned()),
        };
        let matrix = self.matrices.get(planned.trail).and_then(Option::as_ref);
        let cell = matrix.map_or_else(CellSettings::default, |matrix| {
            matrix.settings(&planned.cell)
        });
        let mut target = options.targets.of(trail.config.target.as_deref());
        if cell.base_url.is_some() {
            target.base_url.clone_from(&cell.base_url);
        }
        Ok(SessionOrder {
            run: self.run.clone(),
            session: assignment.session(),
            attempt: assignment.attempt,
            planned: planned.event(),
            trail: Arc::clone(trail),
            requires,
            target,
            cell,
            values: SessionValues {
                memory: options.memory.clone(),
                secrets: options.secrets.clone(),
                args,
            },
            options: options.session.clone(),
        })
    }
}

/// What a device has to be for a trail: what was asked for, of a platform that the trail declares, and
/// none that it skips.
fn wanted(anywhere: &Anywhere, requested: &RequestedTrail, driver: Option<&str>) -> String {
    let trail = &requested.trail;
    let mut parts = vec![anywhere.on.clone()];
    let may = |platform: &Platform| pins::may_be(trail, *platform, driver);
    let declared: Vec<_> = Platform::ALL.into_iter().filter(may).collect();
    if declared.len() < Platform::ALL.len() {
        let names = declared.iter().map(|platform| platform.as_str());
        parts.push(names.collect::<Vec<_>>().join(" | "));
    }
    let skipped = trail.config.skip.iter();
    let skipped = skipped.filter_map(|entry| entry.classifier.as_deref());
    parts.extend(skipped.map(|name| format!("!classifier={name}")));
    // A trail of which each kind of device has a file of its own.
    parts.extend(requested.only.iter().map(|only| {
        let quoted = |id: &DeviceId| id.to_string().replace('\\', "\\\\").replace('"', "\\\"");
        let devices = only.iter().map(|id| format!("device=\"{}\"", quoted(id)));
        devices.collect::<Vec<_>>().join(" | ")
    }));
    parts.retain(|part| !matches!(part.trim(), "" | "*"));
    match parts.as_slice() {
        [only] => only.clone(),
        parts => {
            let parts: Vec<_> = parts.iter().map(|part| format!("({part})")).collect();
            parts.join(" & ")
        }
    }
}

/// The devices that may run, those that are alike together.
fn groups(alike: &[Vec<DeviceId>], runs: Vec<(DeviceId, Option<Skip>)>) -> Vec<Vec<DeviceId>> {
    let mut groups: Vec<Vec<DeviceId>> = Vec::new();
    for (id, _) in runs {
        let group = alike.iter().find(|group| group.contains(&id));
        let known =
            group.and_then(|group| groups.iter_mut().find(|known| group.contains(&known[0])));
        match known {
            Some(known) => known.push(id),
            None => groups.push(vec![id]),
        }
    }
    groups
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
            one_of: if self.alike {
                self.devices.clone()
            } else {
                Vec::new()
            },
            cell: self.cell.clone(),
            repeat: self.repeat,
            place: self.place,
        }
    }
}
