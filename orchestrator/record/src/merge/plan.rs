//! What the parts say of the plan that they are of, and whether they mean the same one.

use std::path::{Path, PathBuf};
use std::{fs, io};

use chrono::{DateTime, Utc};
use packtrain_drivers::{DeviceId, DeviceInfo};
use packtrain_model::{
    Cell, MatrixSummary, PlannedSession, RunEvent, RunId, RunOptionsSummary, SCHEMA_VERSION,
    TrailSummary,
};

use super::MergeError;
use crate::{EVENTS_FILE, JournalReader, RecordError};

/// A run that is a part, as its first event tells of it.
pub(super) struct PartRun {
    pub(super) folder: PathBuf,
    pub(super) number: u32,
    pub(super) of: u32,
    pub(super) at: DateTime<Utc>,
    pub(super) packtrain: String,
    pub(super) trails: Vec<TrailSummary>,
    pub(super) devices: Vec<DeviceInfo>,
    /// What it ran, by the index in its ids.
    pub(super) sessions: Vec<PlannedSession>,
    pub(super) options: RunOptionsSummary,
    pub(super) matrix: Option<MatrixSummary>,
}

/// A session of the whole plan.
pub(super) struct WholeSession {
    pub(super) session: PlannedSession,
    /// The part that ran it; `None` when that is not there.
    pub(super) owner: Option<String>,
}

/// The plan that the parts are of.
pub(super) struct WholePlan {
    pub(super) of: u32,
    pub(super) sessions: Vec<WholeSession>,
    pub(super) devices: Vec<DeviceInfo>,
}

impl PartRun {
    pub(super) fn read(folder: &Path) -> Result<Self, MergeError> {
        let journal = folder.join(EVENTS_FILE);
        if fs::symlink_metadata(&journal).is_ok_and(|about| !about.is_file()) {
            let error = io::Error::other("it is not a regular file");
            return Err(RecordError::disk("read", &journal)(error).into());
        }
        let mut reader = JournalReader::open(folder)?;
        let missing = RecordError::NotAJournal(reader.path().to_owned());
        let Some(first) = reader.next().transpose()? else {
            return Err(missing.into());
        };
        let at = first.at;
        let RunEvent::RunStarted {
            packtrain,
            trails,
            devices,
            sessions,
            options,
            matrix,
            ..
        } = first.event
        else {
            return Err(missing.into());
        };
        let part = options.part.as_deref().and_then(|part| {
            let (number, of) = part.split_once('/')?;
            let (number, of): (u32, u32) = (number.parse().ok()?, of.parse().ok()?);
            (1..=of).contains(&number).then_some((number, of))
        });
        let Some((number, of)) = part else {
            return Err(MergeError::NotAPart(folder.to_owned()));
        };
        Ok(Self {
            folder: folder.to_owned(),
            number,
            of,
            at,
            packtrain,
            trails,
            devices,
            sessions,
            options,
            matrix,
        })
    }

    /// Every session of the plan in its place; an error when places are missing or double.
    fn whole(&self) -> Result<Vec<&PlannedSession>, MergeError> {
        let sessions = self.sessions.iter();
        let mut all: Vec<_> = sessions.chain(&self.options.elsewhere).collect();
        all.sort_by_key(|planned| planned.place);
        let mut places = (0..).zip(&all);
        match places.all(|(place, planned)| planned.place == Some(place)) {
            true => Ok(all),
            false => Err(MergeError::NotAPart(self.folder.clone())),
        }
    }
}

impl WholePlan {
    /// The plan, when the parts agree on it.
    pub(super) fn of(parts: &[PartRun]) -> Result<Self, MergeError> {
        let Some((first, others)) = parts.split_first() else {
            return Err(RecordError::NotAJournal(PathBuf::new()).into());
        };
        for (index, other) in others.iter().enumerate() {
            let earlier = &parts[..=index];
            if let Some(same) = earlier.iter().find(|part| part.number == other.number)
                && same.of == other.of
            {
                return Err(MergeError::Twice {
                    part: format!("{}/{}", other.number, other.of),
                    one: same.folder.clone(),
                    other: other.folder.clone(),
                });
            }
        }
        let sessions = first.whole()?;
        for other in others {
            let theirs = other.whole()?;
            if let Some(what) = difference((first, &sessions), (other, &theirs)) {
                return Err(different(what, first, other));
            }
        }
        let mut whole: Vec<_> = sessions.into_iter().map(unowned).collect();
        let mut owners: Vec<Option<&PartRun>> = whole.iter().map(|_| None).collect();
        for part in parts {
            for planned in &part.sessions {
                let Some(place) = planned.place.map(|place| place as usize) else {
                    continue;
                };
                let (Some(owner), Some(session)) = (owners.get_mut(place), whole.get_mut(place))
                else {
                    return Err(MergeError::NotAPart(part.folder.clone()));
                };
                if let Some(owner) = owner.replace(part) {
                    return Err(divided_otherwise(owner, part));
                }
                *session = WholeSession {
                    owner: Some(format!("{}/{}", part.number, part.of)),
                    ..unowned(planned)
                };
            }
        }
        // With all parts there, nothing may be left over.
        let is_left = whole.iter().any(|session| session.owner.is_none());
        if parts.len() == first.of as usize
            && is_left
            && let Some(other) = others.last()
        {
            return Err(divided_otherwise(first, other));
        }
        let mut devices: Vec<DeviceInfo> = Vec::new();
        for device in parts.iter().flat_map(|part| &part.devices) {
            if devices.iter().all(|known| known.id != device.id) {
                devices.push(device.clone());
            }
        }
        Ok(Self {
            of: first.of,
            sessions: whole,
            devices,
        })
    }

    /// The journal's first event.
    pub(super) fn started(&self, run: &RunId, parts: &[PartRun]) -> RunEvent {
        let first = parts.first();
        let options = first.map(|part| part.options.clone()).unwrap_or_default();
        let sessions = self.sessions.iter().map(|whole| whole.session.clone());
        RunEvent::RunStarted {
            schema_version: SCHEMA_VERSION,
            packtrain: first.map(|part| part.packtrain.clone()).unwrap_or_default(),
            run: run.clone(),
            trails: first.map(|part| part.trails.clone()).unwrap_or_default(),
            devices: self.devices.clone(),
            sessions: sessions.collect(),
            options: RunOptionsSummary {
                // Each part had its own.
                order_seed: None,
                part: None,
                elsewhere: Vec::new(),
                plan: String::new(),
                ..options
            },
            matrix: first.and_then(|part| part.matrix.clone()),
        }
    }
}

impl WholeSession {
    /// The device that it is called by.
    pub(super) fn first_device(&self) -> Option<&DeviceId> {
        key(&self.session).1
    }
}

fn unowned(planned: &PlannedSession) -> WholeSession {
    WholeSession {
        session: PlannedSession {
            place: None,
            ..planned.clone()
        },
        owner: None,
    }
}

/// What makes two sessions the same, whatever machine they were planned on: how many devices that are
/// alike run side by side is each machine's own affair.
fn key(planned: &PlannedSession) -> (usize, Option<&DeviceId>, &Cell, Option<u32>) {
    let device = planned.device.as_ref().or_else(|| planned.one_of.first());
    (planned.trail, device, &planned.cell, planned.repeat)
}

/// In what two parts differ that should not; `None` when they are of one plan.
fn difference(
    (one, ours): (&PartRun, &[&PlannedSession]),
    (other, theirs): (&PartRun, &[&PlannedSession]),
) -> Option<String> {
    if one.of != other.of {
        return Some(format!("{} parts and {} parts", one.of, other.of));
    }
    if one.packtrain != other.packtrain {
        let (one, other) = (&one.packtrain, &other.packtrain);
        return Some(format!("packtrain {one} and packtrain {other}"));
    }
    let paths = |part: &PartRun| -> Vec<String> {
        part.trails.iter().map(|trail| trail.path.clone()).collect()
    };
    let (our_paths, their_paths) = (paths(one), paths(other));
    if our_paths != their_paths {
        let only = |some: &[String], others: &[String]| {
            some.iter().find(|path| !others.contains(path)).cloned()
        };
        let only = only(&our_paths, &their_paths).or_else(|| only(&their_paths, &our_paths));
        return Some(match only {
            Some(path) => format!("only one has the trail {path}"),
            None => "their trails are in another order".to_owned(),
        });
    }
    let mut trails = one.trails.iter().zip(&other.trails);
    if let Some((trail, _)) = trails.find(|(ours, theirs)| ours != theirs) {
        return Some(format!("the trail {} is not the same", trail.path));
    }
    if one.matrix != other.matrix {
        return Some("their matrices are not the same".to_owned());
    }
    if one.options.shard != other.options.shard {
        let (one, other) = (&one.options.shard, &other.options.shard);
        return Some(format!("--shard {one} and --shard {other}"));
    }
    if one.options.retries != other.options.retries {
        let (one, other) = (one.options.retries, other.options.retries);
        return Some(format!("{one} retries and {other} retries"));
    }
    if one.options.plan != other.options.plan {
        return Some("the parts were run from different trails or options".to_owned());
    }
    if ours.len() != theirs.len() {
        let (one, other) = (ours.len(), theirs.len());
        return Some(format!("{one} planned sessions and {other}"));
    }
    let mut pairs = ours.iter().zip(theirs);
    let differs = pairs.any(|(ours, theirs)| key(ours) != key(theirs));
    differs.then(|| "their sessions are planned on other devices or configurations".to_owned())
}

fn divided_otherwise(one: &PartRun, other: &PartRun) -> MergeError {
    let what =
        "they divided the sessions in different ways; give each part the same `--times` file";
    different(what.to_owned(), one, other)
}

fn different(what: String, one: &PartRun, other: &PartRun) -> MergeError {
    MergeError::Different {
        what,
        one: one.folder.clone(),
        other: other.folder.clone(),
    }
}
