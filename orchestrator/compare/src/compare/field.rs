//! Who is compared with whom.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::facts::LAYOUT;
use crate::answer;
use crate::input::{Cell, OutcomeKind, Run, Session, Step, StepStatus};

/// Names and their values as numbers, in the order of the names' numbers: two are compared quickly.
type Coded = Vec<(usize, usize)>;

/// A cell's axes and facts.
struct CodedCell {
    values: Coded,
    facts: Coded,
}

/// Numbers for texts, from 0.
#[derive(Default)]
struct Numbers<'a>(HashMap<&'a str, usize>);

impl<'a> Numbers<'a> {
    fn of(&mut self, text: &'a str) -> usize {
        let next = self.0.len();
        *self.0.entry(text).or_insert(next)
    }

    fn coded(&mut self, named: &'a BTreeMap<String, String>) -> Coded {
        let mut coded: Coded = (named.iter())
            .map(|(name, value)| (self.of(name), self.of(value)))
            .collect();
        coded.sort_unstable();
        coded
    }
}

/// How many names have another value in one than in the other, or stand in one of them only.
fn differing(mut one: &[(usize, usize)], mut other: &[(usize, usize)]) -> usize {
    let mut count = 0;
    while let (Some((here, here_left)), Some((there, there_left))) =
        (one.split_first(), other.split_first())
    {
        count += usize::from(here != there);
        if here.0 <= there.0 {
            one = here_left;
        }
        if there.0 <= here.0 {
            other = there_left;
        }
    }
    count + one.len() + other.len()
}

/// Sessions from the nearest to the farthest, by where they were ranked from.
type Rankings = HashMap<(usize, usize), Rc<[usize]>>;

/// A run with its reference.
pub(super) struct Field<'a> {
    pub(super) run: &'a Run,
    /// The cell that others are compared with first.
    pub(super) reference: Option<usize>,
    /// The same among the cells of each platform.
    by_platform: BTreeMap<&'a str, usize>,
    /// The sessions of each trail.
    by_trail: BTreeMap<usize, Vec<usize>>,
    /// The sessions of a trail and a cell.
    by_cell: BTreeMap<(usize, usize), Vec<usize>>,
    /// The sessions of a trail, those whose cells are nearest to a cell first; worked out when asked for.
    by_distance: RefCell<Rankings>,
    /// Axes and facts of each cell, to be compared.
    coded: Vec<CodedCell>,
    /// What a person calls each cell.
    labels: Vec<String>,
    /// Axes and facts of each cell together.
    pub(super) values: Vec<BTreeMap<String, String>>,
}

impl<'a> Field<'a> {
    pub(super) fn new(run: &'a Run) -> Self {
        let mut by_trail: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let by_cell = run.by_cell();
        for ((trail, _), sessions) in &by_cell {
            by_trail.entry(*trail).or_default().extend(sessions);
        }
        for sessions in by_trail.values_mut() {
            sessions.sort_unstable();
        }
        let mut passed = vec![0; run.cells.len()];
        let all = run.sessions.iter();
        for session in all.filter(|one| one.outcome == OutcomeKind::Passed) {
            if let Some(count) = passed.get_mut(session.cell) {
                *count += 1;
            }
        }
        let mut numbers = Numbers::default();
        let coded = run.cells.iter().map(|cell| CodedCell {
            values: numbers.coded(&cell.values),
            facts: numbers.coded(&cell.facts),
        });
        let coded = coded.collect();
        let mut field = Self {
            run,
            reference: None,
            by_platform: BTreeMap::new(),
            by_trail,
            by_cell,
            by_distance: RefCell::default(),
            coded,
            labels: Self::labels(run),
            values: run.cells.iter().map(Cell::all_values).collect(),
        };
        let standings = passed.into_iter().zip(0..);
        let standings = standings.map(|(passed, cell)| field.standing(cell, passed));
        let standings: Vec<_> = standings.collect();
        for place in 0..run.cells.len() {
            let platform = field.platform(place);
            let known = field.by_platform.get(platform).copied();
            if known.is_none_or(|known| standings[place] < standings[known]) {
                field.by_platform.insert(platform, place);
            }
        }
        field.reference = (0..run.cells.len()).min_by_key(|cell| standings[*cell]);
        field
    }

    /// How far a cell is from being the reference: axes that differ, then trails that did not pass.
    fn standing(&self, cell: usize, passed: usize) -> (usize, usize) {
        let values = &self.run.cells[cell].values;
        let wanted = self
            .run
            .matrix
            .iter()
            .flat_map(|matrix| &matrix.reference.0);
        let differ = wanted.filter(|(axis, value)| {
            let own = values.get(*axis);
            own.is_some_and(|own| own != *value)
        });
        (differ.count(), usize::MAX - passed)
    }

    /// The sessions of a trail.
    pub(super) fn sessions_of(&self, trail: usize) -> &[usize] {
        self.by_trail.get(&trail).map_or(&[], Vec::as_slice)
    }

    /// How often a trail was run in a cell.
    pub(super) fn sessions_of_cell(&self, trail: usize, cell: usize) -> usize {
        self.by_cell.get(&(trail, cell)).map_or(0, Vec::len)
    }

    /// All sessions that have a trail and a cell.
    pub(super) fn sessions(&self) -> impl Iterator<Item = (usize, &'a Session)> + '_ {
        let (run, places) = (self.run, self.by_trail.values().flatten());
        places.map(|place| (*place, &run.sessions[*place]))
    }

    pub(super) fn cell_of(&self, session: usize) -> &'a Cell {
        &self.run.cells[self.run.sessions[session].cell]
    }

    /// A step of a session that was reached.
    pub(super) fn step(&self, session: usize, step: u32) -> Option<&'a Step> {
        self.run.sessions[session].step(step)
    }

    pub(super) fn passed(&self, session: usize, step: u32) -> bool {
        let step = self.step(session, step);
        step.is_some_and(|step| step.status == StepStatus::Passed)
    }

    /// How unlike two cells are: axes, then facts; of equals, the reference first.
    fn distance(&self, from: usize, to: usize) -> (usize, usize, bool, usize) {
        let (one, other) = (&self.run.cells[from], &self.run.cells[to]);
        let (here, there) = (&self.coded[from], &self.coded[to]);
        (
            differing(&here.values, &there.values),
            differing(&here.facts, &there.facts) + usize::from(one.device != other.device),
            self.reference != Some(to),
            to,
        )
    }

    /// How far a cell is from the reference.
    pub(super) fn unlike_reference(&self, cell: usize) -> (usize, usize, bool, usize) {
        self.distance(self.reference.unwrap_or(cell), cell)
    }

    /// The session of the nearest other cell of the same trail that is like that.
    pub(super) fn nearest(&self, session: usize, is: impl Fn(usize) -> bool) -> Option<usize> {
        let Session { trail, cell, .. } = self.run.sessions[session];
        let cell_of = |other: usize| self.run.sessions[other].cell;
        let others = self.sessions_of(trail).iter().copied();
        let others = others.filter(|other| cell_of(*other) != cell && is(*other));
        others.min_by_key(|other| (self.distance(cell, cell_of(*other)), *other))
    }

    /// The platform of a cell; empty where that is not known.
    pub(super) fn platform(&self, cell: usize) -> &'a str {
        let platform = self.run.cells[cell].facts.get("platform");
        platform.map_or("", String::as_str)
    }

    /// The reference among the cells of a platform.
    pub(super) fn reference_of(&self, platform: &str) -> Option<usize> {
        self.by_platform.get(platform).copied()
    }

    /// The session that a session's step is looked at beside: of the platform's reference, or the
    /// nearest to it that passed the step.
    pub(super) fn baseline(&self, session: usize, step: u32) -> Option<usize> {
        let own = &self.run.sessions[session];
        let platform = self.platform(own.cell);
        let wanted = self.reference_of(platform)?;
        let nearest = self.nearest_to(own.trail, wanted);
        let others = nearest.iter().copied().filter(|other| {
            let cell = self.run.sessions[*other].cell;
            cell != own.cell && self.passed(*other, step)
        });
        let (mut near, mut far) = (others.clone(), others);
        near.find(|other| self.platform(self.run.sessions[*other].cell) == platform)
            .or_else(|| far.next())
    }

    /// The sessions of a trail, those whose cells are nearest to a cell first.
    pub(super) fn nearest_to(&self, trail: usize, cell: usize) -> Rc<[usize]> {
        let mut known = self.by_distance.borrow_mut();
        let ranked = known.entry((trail, cell)).or_insert_with(|| {
            let mut ranked = self.sessions_of(trail).to_vec();
            ranked.sort_by_cached_key(|other| {
                (self.distance(cell, self.run.sessions[*other].cell), *other)
            });
            ranked.into()
        });
        Rc::clone(ranked)
    }

    /// The last step of a session before a step.
    pub(super) fn before(&self, session: usize, step: u32) -> Option<u32> {
        let steps = self.run.sessions[session].steps.iter().rev();
        steps.map(|one| one.step).find(|one| *one < step)
    }

    /// The platforms with their references.
    pub(super) fn platforms(&self) -> impl Iterator<Item = (&'a str, usize)> + use<'a> {
        self.by_platform.clone().into_iter()
    }

    /// What a session's layout is like.
    pub(super) fn layout(&self, session: usize) -> [Option<&str>; LAYOUT.len()] {
        LAYOUT.map(|name| self.value(session, name))
    }

    /// How unlike the cells of two sessions are.
    pub(super) fn apart(&self, session: usize, other: usize) -> (usize, usize, bool, usize) {
        let cell = |session: usize| self.run.sessions[session].cell;
        self.distance(cell(session), cell(other))
    }

    /// A value of an axis or a fact of a session's cell.
    pub(super) fn value(&self, session: usize, name: &str) -> Option<&str> {
        let cell = self.run.sessions[session].cell;
        self.values[cell].get(name).map(String::as_str)
    }

    /// The language of a session's screens, with the country.
    pub(super) fn locale(&self, session: usize) -> &str {
        self.value(session, "locale").unwrap_or_default()
    }

    pub(super) fn cell(&self, place: usize) -> answer::Cell {
        let cell = &self.run.cells[place];
        answer::Cell {
            id: cell.id(),
            label: self.labels[place].clone(),
            device: cell.device.clone(),
            values: cell.values.clone(),
            facts: cell.facts.clone(),
            visual_key: cell.visual_key.clone(),
            reference: self.reference == Some(place),
        }
    }

    /// What a person calls each cell: the device where there are several, and its values; no two alike.
    fn labels(run: &Run) -> Vec<String> {
        let is_only = |cell: &Cell| run.cells.iter().all(|other| other.name == cell.name);
        // Two sizes of one width are written in full.
        let told = |axis: &String, value: &String| {
            let mut others = run.cells.iter().filter_map(|cell| cell.values.get(axis));
            let words = said(axis, value);
            match others.any(|other| other != value && said(axis, other) == words) {
                true => value.clone(),
                false => words,
            }
        };
        let label = |cell: &Cell| {
            let has_name = !cell.name.is_empty();
            let called = if has_name { &cell.name } else { &cell.device };
            let is_told = !is_only(cell) || cell.values.is_empty();
            let name = is_told.then(|| called.clone());
            let values = cell.values.iter().map(|(axis, value)| told(axis, value));
            let words: Vec<String> = name.into_iter().chain(values).collect();
            words.join(", ")
        };
        let labels: Vec<String> = run.cells.iter().map(label).collect();
        let alike = |label: &String| labels.iter().filter(|other| *other == label).count() > 1;
        let told = run.cells.iter().zip(&labels);
        told.map(|(cell, label)| match alike(label) {
            true => format!("{label} ({})", cell.device),
            false => label.clone(),
        })
        .collect()
    }

    pub(super) fn session(&self, place: usize) -> answer::Session {
        let session = &self.run.sessions[place];
        let outcome = match session.outcome {
            OutcomeKind::Passed if session.earlier.is_some() => "flaky",
            OutcomeKind::Passed => "passed",
            OutcomeKind::Failed => "failed",
            OutcomeKind::Infrastructure => "infrastructure",
            OutcomeKind::NeedsAgent => "needs_agent",
            OutcomeKind::Cancelled => "cancelled",
            OutcomeKind::Skipped => "skipped",
            OutcomeKind::Unfinished => "unfinished",
        };
        let passed = |other: usize| self.run.sessions[other].outcome == OutcomeKind::Passed;
        let is_known = session.cell < self.run.cells.len();
        let is_other = is_known && self.reference != Some(session.cell);
        let reference = is_other.then(|| self.nearest(place, passed)).flatten();
        answer::Session {
            session: session.id.clone(),
            trail: session.trail,
            cell: session.cell,
            outcome: outcome.to_owned(),
            reference,
        }
    }

    /// Sessions that say nothing of the app.
    pub(super) fn not_compared(&self) -> Vec<answer::NotCompared> {
        let has_others = self.run.cells.len() > 1;
        let why = |session: &Session| {
            let word = match session.outcome {
                OutcomeKind::Passed | OutcomeKind::Failed => {
                    let unseen = Some(unseen(session)).filter(|count| *count > 0 && has_others);
                    return unseen
                        .map(|count| format!("{count} of its screens were not looked at"));
                }
                OutcomeKind::Infrastructure => "infrastructure",
                OutcomeKind::NeedsAgent => "not recorded",
                OutcomeKind::Cancelled => "cancelled",
                OutcomeKind::Skipped => "skipped",
                OutcomeKind::Unfinished => "not finished",
            };
            Some(session.with_why(word))
        };
        let sessions = self.run.sessions.iter().enumerate();
        let whys = sessions.filter_map(|(session, own)| Some((session, why(own)?)));
        whys.map(|(session, why)| answer::NotCompared { session, why })
            .collect()
    }
}

/// A value of an axis as a person says it: `dark`, `390 wide`; with its axis where it says nothing alone.
pub(super) fn said(axis: &str, value: &str) -> String {
    match axis {
        "viewport" | "size" => match packtrain_drivers::axes::size(value) {
            Some((width, _)) => format!("{width} wide"),
            None => value.to_owned(),
        },
        "width" => format!("{value} wide"),
        "locale" | "colorScheme" | "engine" | "browser" | "orientation" | "os" | "model"
        | "platform" | "form" | "device" => value.to_owned(),
        _ => format!("{axis}={value}"),
    }
}

/// How many steps passed of which no screen is known.
fn unseen(session: &Session) -> usize {
    let steps = session.steps.iter();
    steps
        .filter(|step| step.status == StepStatus::Passed && step.tree.is_none())
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        pairs.iter().map(owned).collect()
    }

    #[test]
    fn what_differs_is_counted_once_for_each_name() {
        let mut numbers = Numbers::default();
        let all = [
            named(&[("locale", "de"), ("width", "390")]),
            named(&[("width", "390"), ("locale", "en")]),
            named(&[("width", "390"), ("touch", "yes")]),
            named(&[]),
        ];
        let coded: Vec<Coded> = all.iter().map(|one| numbers.coded(one)).collect();
        let apart = |one: usize, other: usize| differing(&coded[one], &coded[other]);
        assert_eq!(
            [apart(0, 0), apart(0, 1), apart(0, 2), apart(0, 3)],
            [0, 1, 2, 2]
        );
        assert_eq!([apart(1, 0), apart(2, 0), apart(3, 0)], [1, 2, 2]);
    }

    /// A trail of two steps on that many devices; on those named the second one failed.
    fn run(devices: usize, failed: &[usize]) -> Run {
        let cell = |place: usize| Cell {
            device: format!("android/{place}"),
            facts: named(&[("os", ["14", "15"][place % 2])]),
            ..Cell::default()
        };
        let session = |place: usize| {
            let is_bad = failed.contains(&place);
            let step = |step: u32| Step {
                step,
                status: if is_bad && step == 2 {
                    StepStatus::Failed
                } else {
                    StepStatus::Passed
                },
                ..Step::default()
            };
            Session {
                cell: place,
                outcome: if is_bad {
                    OutcomeKind::Failed
                } else {
                    OutcomeKind::Passed
                },
                steps: vec![step(1), step(2)],
                ..Session::default()
            }
        };
        Run {
            trails: vec![answer::Trail::default()],
            cells: (0..devices).map(cell).collect(),
            sessions: (0..devices).map(session).collect(),
            ..Run::default()
        }
    }

    #[test]
    fn what_its_reference_has_not_passed_is_compared_with_the_nearest_to_that_which_did() {
        let run = run(6, &[0, 2]);
        let mut field = Field::new(&run);
        assert_eq!(field.reference, Some(1));
        field.by_platform.insert("", 0);
        assert_eq!(field.baseline(5, 1), Some(0));
        // Of the same system as the reference.
        assert_eq!(field.baseline(5, 2), Some(4));
        assert_eq!(field.baseline(4, 2), Some(1));
        assert_eq!(field.by_distance.borrow().len(), 1, "ranked once");
    }
}
