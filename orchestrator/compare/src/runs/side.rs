//! One of two runs: its cells with their repeats, and their screens.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::answer::Unknown;
use super::names;
use super::screen::Screen;
use crate::defects::sentence;
use crate::input::{OutcomeKind, Pictures, Run, Session, Step, StepStatus};
use crate::picture::{self, Album, Difference};

/// Pictures kept decoded.
const MAX_DECODED: usize = 4;

pub(super) struct Side<'a> {
    pub(super) run: &'a Run,
    pictures: Album<'a>,
    /// The sessions of each trail in each cell.
    pub(super) cells: BTreeMap<(usize, usize), Vec<usize>>,
    /// The names of each trail's steps.
    pub(super) step_ids: Vec<Vec<String>>,
}

/// How a trail went in a cell, all repeats together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TrailResult {
    Passed,
    /// It passed and failed.
    Flaky {
        step: u32,
        message: String,
    },
    Failed {
        step: u32,
        message: String,
    },
    /// It says nothing of the app.
    Unknown,
}

impl<'a> Side<'a> {
    pub(super) fn new(run: &'a Run, pictures: &'a mut dyn Pictures) -> Self {
        let step_ids = run.trails.iter().map(|trail| {
            let texts = trail.steps.iter().map(|step| step.text.as_str());
            names::step_ids(texts)
        });
        Self {
            run,
            pictures: Album::new(pictures, MAX_DECODED),
            cells: run.by_cell(),
            step_ids: step_ids.collect(),
        }
    }

    /// Something of a cell of a trail that could not be compared.
    pub(super) fn unknown(
        &self,
        trail: usize,
        cell: usize,
        step: Option<u32>,
        why: String,
    ) -> Unknown {
        Unknown {
            trail: self.run.trails[trail].name.clone(),
            cell: self.run.cells[cell].id(),
            step,
            why,
        }
    }

    pub(super) fn step_id(&self, trail: usize, step: u32) -> &str {
        let steps = self.run.trails[trail].steps.iter();
        let place = steps.map(|one| one.step).position(|one| one == step);
        place.map_or("", |place| self.step_ids[trail][place].as_str())
    }

    pub(super) fn text(&self, trail: usize, step: u32) -> &'a str {
        self.run.trails[trail].text(step).unwrap_or_default()
    }

    pub(super) fn step(&self, session: usize, step: u32) -> Option<&'a Step> {
        self.run.sessions[session].step(step)
    }

    /// How a trail went, and the session that stands for its repeats: one that passed, if there is.
    pub(super) fn went(&self, sessions: &[usize]) -> (TrailResult, usize) {
        let of = |place: &usize| &self.run.sessions[*place];
        let all = |outcome| sessions.iter().filter(move |at| of(at).outcome == outcome);
        let steady = all(OutcomeKind::Passed).find(|place| of(place).earlier.is_none());
        let passed = steady.or_else(|| all(OutcomeKind::Passed).next());
        let failed = all(OutcomeKind::Failed).next();
        let earlier = sessions.iter().find_map(|place| of(place).earlier.as_ref());
        let failure = failed.map(|place| failure(of(place)));
        let flake = failure.or_else(|| earlier.map(|one| (one.step, one.message.clone())));
        match (passed, failed, flake) {
            (Some(place), _, Some((step, message))) => {
                (TrailResult::Flaky { step, message }, *place)
            }
            (Some(place), _, None) => (TrailResult::Passed, *place),
            (None, Some(place), Some((step, message))) => {
                (TrailResult::Failed { step, message }, *place)
            }
            (None, ..) => {
                let first = sessions.first().copied();
                (TrailResult::Unknown, first.unwrap_or_default())
            }
        }
    }

    /// What the sessions of a cell that say nothing of the app say instead, but for those it was not
    /// meant for.
    pub(super) fn silent(&self, sessions: &[usize]) -> Vec<String> {
        let told = |session: &Session| {
            let word = match session.outcome {
                OutcomeKind::Passed | OutcomeKind::Failed | OutcomeKind::Skipped => return None,
                OutcomeKind::Infrastructure => "infrastructure error",
                OutcomeKind::NeedsAgent => "not recorded",
                OutcomeKind::Cancelled => "cancelled",
                OutcomeKind::Unfinished => "cut short",
            };
            Some(session.with_why(word))
        };
        let sessions = sessions.iter().map(|place| &self.run.sessions[*place]);
        sessions.filter_map(told).collect()
    }

    /// A step's screen; `None` where nothing was looked at.
    pub(super) fn screen(&mut self, session: usize, step: &'a Step) -> Option<Screen<'a>> {
        if !was_observed(step) {
            return None;
        }
        let own = &self.run.sessions[session];
        let seen = step.picture.as_ref();
        let picture = seen.and_then(|seen| self.pictures.get(&seen.digest));
        Some(Screen {
            engine: Cow::Borrowed(self.run.cells[own.cell].engine.as_str()),
            masks: seen.map(|seen| seen.masked.clone()).unwrap_or_default(),
            scale: seen.map_or(1.0, |seen| seen.scale),
            defects: step.defects.iter().map(sentence).collect(),
            tree: step.tree.as_ref().map(|seen| seen.tree.clone()),
            is_tree_lost: step.is_unreadable,
            memory: &own.memory,
            is_picture_lost: seen.is_some() && picture.is_none(),
            picture,
        })
    }

    /// What differs between the repeats of a cell at a step, in pixels, or why that is not known.
    pub(super) fn noise(
        &mut self,
        sessions: &[usize],
        step: u32,
    ) -> Result<Vec<[i32; 4]>, &'static str> {
        let mut noise = Vec::new();
        let seen = sessions.iter().filter_map(|place| {
            let step = self.step(*place, step)?;
            let passed = step.status == StepStatus::Passed;
            step.picture.as_ref().filter(|_| passed)
        });
        let seen: Vec<_> = seen.collect();
        let Some((first, rest)) = seen.split_first() else {
            return Ok(noise);
        };
        for other in rest.iter().filter(|other| other.digest != first.digest) {
            let masks = [first.masked.as_slice(), &other.masked].concat();
            let pictures = [first, other].map(|seen| self.pictures.get(&seen.digest));
            let [Some(was), Some(is)] = pictures else {
                return Err("a picture of its repeats cannot be read");
            };
            let difference = picture::difference(&was, &is, &masks);
            if difference == Difference::Size {
                return Err("pictures of its repeats are not equally large");
            }
            noise.extend(difference.boxes());
        }
        noise.sort_unstable();
        noise.dedup();
        Ok(noise)
    }
}

/// Whether a step's screen was recorded, be it readable or not.
pub(super) fn was_observed(step: &Step) -> bool {
    step.tree.is_some() || step.is_unreadable || step.picture.is_some()
}

/// Where a session failed, and what it said.
fn failure(session: &Session) -> (u32, String) {
    let mut steps = session.steps.iter();
    let failed = steps.find(|step| step.status == StepStatus::Failed);
    match failed {
        Some(step) => (step.step, step.message.clone()),
        None => (0, session.why.clone()),
    }
}
