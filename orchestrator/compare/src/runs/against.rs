//! A run, cell by cell, against what was.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::answer::{self, Change, ChangeKind, ChangeStatus, RunComparison};
use super::baseline::{Baselines, Stored};
use super::screen::{self, Screen};
use super::side::{Side, TrailResult, was_observed};
use super::{names, slow, steps, words};
use crate::answer::Trail;
use crate::input::StepStatus;
use crate::signature;

/// What a run is compared with.
pub(super) enum ReferenceRun<'b, 'a> {
    Run(&'b mut Side<'a>),
    Baselines(&'b mut dyn Baselines),
}

pub(super) fn compare(
    run: &mut Side<'_>,
    mut before: ReferenceRun<'_, '_>,
    fail_on: &[ChangeKind],
) -> RunComparison {
    let mut answer = RunComparison {
        schema_version: answer::SCHEMA_VERSION,
        base: match &before {
            ReferenceRun::Run(base) => Some(base.run.run.clone()),
            ReferenceRun::Baselines(_) => None,
        },
        run: run.run.run.clone(),
        fail_on: fail_on.to_vec(),
        ..RunComparison::default()
    };
    let cells = run.cells.clone();
    let mut as_before = 0;
    for ((trail, cell), sessions) in &cells {
        let told = (answer.changes.len(), answer.not_compared.len());
        let mut looking = Looking {
            run: &mut *run,
            trail: *trail,
            cell: *cell,
            sessions,
            answer: &mut answer,
        };
        if looking.look(&mut before) {
            answer.cells += 1;
            as_before += usize::from(told == (answer.changes.len(), answer.not_compared.len()));
        }
    }
    if let ReferenceRun::Run(base) = &before {
        (answer.gone, answer.cells_gone) = gone(base, run);
    }
    for change in &mut answer.changes {
        let is_bad = matches!(change.status, ChangeStatus::Changed | ChangeStatus::New);
        change.fails = is_bad && fail_on.contains(&change.kind);
    }
    words::letters(&mut answer.changes);
    answer.sentence = words::sentence(&answer, as_before);
    answer
}

/// A cell of a trail while it is compared.
struct Looking<'l, 'a> {
    run: &'l mut Side<'a>,
    trail: usize,
    cell: usize,
    sessions: &'l [usize],
    answer: &'l mut RunComparison,
}

/// The same cell in the earlier run.
struct Counterpart {
    trail: usize,
    sessions: Vec<usize>,
    went: TrailResult,
    /// The session that stands for its repeats.
    session: usize,
    /// For each of the later run's steps its step in the earlier one.
    steps: BTreeMap<u32, u32>,
}

impl Looking<'_, '_> {
    /// Compares the cell; whether anything was there to compare.
    fn look(&mut self, before: &mut ReferenceRun<'_, '_>) -> bool {
        let silent = self.run.silent(self.sessions);
        for why in silent {
            self.unknown(None, why);
        }
        let (went, session) = self.run.went(self.sessions);
        if went == TrailResult::Unknown {
            return false;
        }
        let counterpart = match before {
            ReferenceRun::Run(base) => match self.counterpart(base) {
                Ok(counterpart) => Some(counterpart),
                Err(why) => {
                    self.unknown(None, why);
                    return false;
                }
            },
            ReferenceRun::Baselines(_) => None,
        };
        match &counterpart {
            Some(counterpart) => self.outcome(&counterpart.went, &went, session),
            // A trail with baselines is one that passes; that it is flaky, its run says.
            None if matches!(went, TrailResult::Failed { .. }) => {
                self.outcome(&TrailResult::Passed, &went, session);
            }
            None => (),
        }
        let mut beyond = None;
        let own = self.run.run.sessions[session].steps.iter();
        let own = own.filter(|step| step.status == StepStatus::Passed);
        // Of a cell that was never looked at that is said once, and little of what was is read for it.
        let is_blind = !own.clone().any(was_observed);
        // A failure alone can be as before; a pass is one of screens.
        let mut is_missed = !matches!(went, TrailResult::Failed { .. });
        for step in own {
            if is_blind && is_missed {
                break;
            }
            let number = step.step;
            let is = self.run.screen(session, step);
            let was = self.before(before, counterpart.as_ref(), number);
            // With why pictures cannot be compared here.
            let (mut is, mut was, mut uneven) = match (is, was) {
                (Some(is), BaseStep::Screen(was, uneven)) => (is, was, uneven),
                (Some(_), BaseStep::Beyond) => {
                    beyond = Some(number);
                    break;
                }
                (Some(_), BaseStep::Missing) => {
                    self.answer.steps += 1;
                    let of = match before {
                        ReferenceRun::Run(_) => "the base has no such step",
                        ReferenceRun::Baselines(_) => "no baseline",
                    };
                    let mut new = Change::of(ChangeKind::Visual, of);
                    new.status = ChangeStatus::New;
                    self.push(new, Some(number), session);
                    continue;
                }
                (Some(_), BaseStep::Unobserved) => {
                    self.unknown(Some(number), "the base did not observe it".to_owned());
                    continue;
                }
                (Some(_), BaseStep::Unknown(why)) => {
                    self.unknown(Some(number), why);
                    continue;
                }
                (None, was) => {
                    let has_base = match was {
                        BaseStep::Missing | BaseStep::Beyond => false,
                        BaseStep::Unobserved => !is_blind,
                        BaseStep::Screen(..) | BaseStep::Unknown(_) => true,
                    };
                    is_missed |= has_base;
                    if has_base && !is_blind {
                        self.unknown(Some(number), "the step was not observed".to_owned());
                    }
                    continue;
                }
            };
            match self.run.noise(self.sessions, number) {
                Ok(noise) => is.masks.extend(noise),
                Err(why) => uneven = Some(why),
            }
            if let Some(why) = uneven {
                self.unknown(Some(number), why.to_owned());
                was.without_picture();
                is.without_picture();
            }
            let run = self.run.run;
            let values = run.cells[self.cell].all_values();
            let mut compared = screen::compare(&was, &is, |item| {
                let mut expected = run.expectations.iter();
                expected.any(|expected| expected.applies(item, number, &values))
            });
            if matches!(before, ReferenceRun::Baselines(_)) {
                // Until it is approved again, it would hide every later change.
                compared.propose_anew(&was, &is);
            }
            self.answer.steps += 1;
            for change in compared.changes {
                self.push(change, Some(number), session);
            }
            for why in compared.unknown {
                self.unknown(Some(number), why.to_owned());
            }
            if let (ReferenceRun::Run(base), Some(counterpart)) = (&*before, &counterpart)
                && let Some(other) = counterpart.steps.get(&number)
            {
                let base = (&**base, counterpart.trail, *other);
                let slower = slow::compare(base, (&*self.run, self.sessions, number));
                if let Some(change) = slower {
                    self.push(change, Some(number), session);
                }
            }
            if compared.is_another {
                // Whatever follows differs for this.
                break;
            }
        }
        if let Some(step) = beyond {
            self.unknown(Some(step), "the base did not get that far".to_owned());
        }
        if is_blind && is_missed {
            self.unknown(None, "no screen was recorded".to_owned());
        }
        true
    }

    fn counterpart(&self, base: &Side<'_>) -> Result<Counterpart, String> {
        let run = self.run.run;
        let (own, own_trail) = (&run.cells[self.cell], &run.trails[self.trail]);
        let mut trails = base.run.trails.iter();
        let mut others = trails.clone();
        let trail = trails
            .position(|one| one.path == own_trail.path)
            .or_else(|| others.position(|one| one.name == own_trail.name))
            .ok_or("the base has no such trail")?;
        let mut found = base.cells.iter().filter(|((other, cell), _)| {
            let cell = &base.run.cells[*cell];
            *other == trail && cell.device == own.device && cell.values == own.values
        });
        let (_, sessions) = found.next().ok_or("the base has no such cell")?;
        let (went, session) = base.went(sessions);
        if went == TrailResult::Unknown {
            let why = base.silent(sessions).into_iter().next();
            let why = why.unwrap_or_else(|| "skipped".to_owned());
            return Err(format!("the base has no result for it: {why}"));
        }
        fn texts(trail: &Trail) -> Vec<&str> {
            trail.steps.iter().map(|step| step.text.as_str()).collect()
        }
        let base_trail = &base.run.trails[trail];
        let aligned = steps::align(&texts(base_trail), &texts(own_trail));
        let steps = (own_trail.steps.iter().zip(aligned))
            .filter_map(|(step, other)| Some((step.step, base_trail.steps.get(other?)?.step)));
        Ok(Counterpart {
            trail,
            sessions: sessions.clone(),
            went,
            session,
            steps: steps.collect(),
        })
    }

    /// What was at a step.
    fn before<'b>(
        &self,
        before: &mut ReferenceRun<'_, 'b>,
        counterpart: Option<&Counterpart>,
        step: u32,
    ) -> BaseStep<'b> {
        let (base, other) = match (before, counterpart) {
            (ReferenceRun::Baselines(baselines), _) => {
                return self.approved(&mut **baselines, step);
            }
            (ReferenceRun::Run(base), Some(counterpart)) => (base, counterpart),
            (ReferenceRun::Run(_), None) => return BaseStep::Beyond,
        };
        let Some(&step) = other.steps.get(&step) else {
            return BaseStep::Missing;
        };
        let found = base.step(other.session, step);
        let Some(found) = found.filter(|found| found.status == StepStatus::Passed) else {
            return BaseStep::Beyond;
        };
        let Some(mut screen) = base.screen(other.session, found) else {
            return BaseStep::Unobserved;
        };
        match base.noise(&other.sessions, step) {
            Ok(noise) => {
                screen.masks.extend(noise);
                BaseStep::Screen(screen, None)
            }
            Err(why) => BaseStep::Screen(screen, Some(why)),
        }
    }

    fn approved(&self, baselines: &mut dyn Baselines, step: u32) -> BaseStep<'static> {
        let key = names::key(&self.run.run.cells[self.cell]);
        if key.is_empty() {
            return BaseStep::Unknown("no picture was recorded".to_owned());
        }
        let path = &self.run.run.trails[self.trail].path;
        match baselines.get(path, self.run.step_id(self.trail, step), &key) {
            Stored::Missing => BaseStep::Missing,
            Stored::Unreadable(why) => BaseStep::Unknown(why),
            Stored::Approved(approved) => {
                let entry = approved.entry;
                let screen = Screen {
                    engine: Cow::Owned(entry.engine),
                    masks: entry.masks,
                    scale: entry.scale,
                    defects: entry.defects,
                    tree: approved.tree,
                    picture: Some(Rc::new(approved.picture)),
                    ..Screen::default()
                };
                BaseStep::Screen(screen, None)
            }
        }
    }

    fn outcome(&mut self, was: &TrailResult, is: &TrailResult, session: usize) {
        use TrailResult::{Failed, Flaky, Passed, Unknown};
        let (words, step, message, detail) = match (was, is) {
            (Failed { message: was, .. }, Failed { step, message }) => {
                let cell = &self.run.run.cells[self.cell];
                if signature::of(was, cell) == signature::of(message, cell) {
                    return;
                }
                let detail = format!("before: {was}");
                ("fails differently", Some(*step), message, detail)
            }
            (_, Failed { step, message }) => {
                let words = match self.answer.base {
                    Some(_) => "newly failing",
                    None => "fails",
                };
                (words, Some(*step), message, message.clone())
            }
            (Passed, Flaky { step, message }) => {
                ("newly flaky", Some(*step), message, message.clone())
            }
            (Failed { .. }, Flaky { step, message }) => (
                "still fails at times",
                Some(*step),
                message,
                message.clone(),
            ),
            (Failed { message, .. }, Passed) => ("newly fixed", None, message, String::new()),
            (Flaky { message, .. }, Passed) => ("no longer flaky", None, message, String::new()),
            (Unknown | Passed, _) | (_, Unknown) | (Flaky { .. }, Flaky { .. }) => return,
        };
        let title = format!("{words}: {}", signature::title(message).0);
        let change = Change {
            status: match step {
                Some(_) => ChangeStatus::Changed,
                None => ChangeStatus::Fixed,
            },
            detail,
            ..Change::of(ChangeKind::Outcome, title)
        };
        self.push(change, step, session);
    }

    fn push(&mut self, change: Change, step: Option<u32>, session: usize) {
        let trail = &self.run.run.trails[self.trail];
        let (step_id, text) = step.map_or(("", ""), |step| {
            let id = self.run.step_id(self.trail, step);
            (id, self.run.text(self.trail, step))
        });
        self.answer.changes.push(Change {
            trail: trail.name.clone(),
            path: trail.path.clone(),
            cell: self.run.run.cells[self.cell].id(),
            session: self.run.run.sessions[session].id.clone(),
            step,
            step_id: step_id.to_owned(),
            text: text.to_owned(),
            place: session,
            ..change
        });
    }

    fn unknown(&mut self, step: Option<u32>, why: String) {
        let unknown = self.run.unknown(self.trail, self.cell, step, why);
        self.answer.not_compared.push(unknown);
    }
}

/// What was at a step.
enum BaseStep<'a> {
    /// A screen, and why its picture cannot be compared.
    Screen(Screen<'a>, Option<&'static str>),
    Missing,
    /// It passed, and was not looked at.
    Unobserved,
    /// The base did not get that far.
    Beyond,
    Unknown(String),
}

/// Trails, cells and steps that only the earlier run has, and how many cells of trails that are.
fn gone(base: &Side<'_>, run: &Side<'_>) -> (Vec<String>, usize) {
    let (mut gone, mut count) = (Vec::new(), 0);
    for (place, trail) in base.run.trails.iter().enumerate() {
        let cells = base.cells.keys().filter(|(one, _)| *one == place);
        let mut trails = run.run.trails.iter();
        let is = |other: &Trail| other.path == trail.path || other.name == trail.name;
        let Some(at) = trails.position(is) else {
            gone.push(trail.name.clone());
            count += cells.count();
            continue;
        };
        let now = &run.run.trails[at];
        let has = |text: &str| now.steps.iter().any(|step| step.text == text);
        let steps = trail.steps.iter().filter(|step| !has(&step.text));
        gone.extend(steps.map(|step| format!("{}: step {}: {}", trail.name, step.step, step.text)));
        for (_, cell) in cells {
            let own = &base.run.cells[*cell];
            let mut cells = run.cells.keys().filter(|(one, _)| *one == at);
            let is_own = |(_, one): &(usize, usize)| {
                let one = &run.run.cells[*one];
                one.device == own.device && one.values == own.values
            };
            if !cells.any(is_own) {
                count += 1;
                gone.push(format!("{} on {}", trail.name, own.id()));
            }
        }
    }
    (gone, count)
}
