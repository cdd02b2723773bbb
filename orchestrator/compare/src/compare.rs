//! A run, compared: what went another way, where, and what those cells have in common.

mod clusters;
mod conventions;
mod elements;
mod facts;
mod failures;
mod field;
mod noises;
pub(crate) mod screens;
mod sighting;
pub(crate) mod slow;
pub(crate) mod visual;

pub use clusters::letter;
use packtrain_model::Axis;

use crate::answer::{self, Comparison};
use crate::headline::headline;
use crate::input::{OutcomeKind, Pictures, Run};
use crate::order;
use field::Field;
use sighting::Sightings;

/// Compares a run. It may still go on: what has no end is left out.
pub fn compare(run: &Run, pictures: &mut dyn Pictures) -> Comparison {
    let field = Field::new(run);
    let mut sightings = Sightings::default();
    let mut screens = screens::compare(&field, &mut sightings);
    noises::compare(&field, &mut screens, &mut sightings);
    let (visual, noise) = visual::compare(&field, &screens, pictures, &mut sightings);
    let timings = slow::compare(&field, &mut sightings);
    let facts = facts(run);
    let clusters = clusters::of(&field, &facts, sightings, &mut screens.conventions);
    let cells: Vec<_> = (0..run.cells.len()).map(|cell| field.cell(cell)).collect();
    let settled = run.sessions.iter();
    let settled = settled.filter(|session| session.outcome != OutcomeKind::Unfinished);
    Comparison {
        schema_version: answer::SCHEMA_VERSION,
        run: run.run.clone(),
        packtrain: run.packtrain.clone(),
        settled: settled.count(),
        planned: run.planned,
        sentence: headline(run, &cells, &clusters),
        axes: (run.matrix.as_ref()).map_or_else(Vec::new, |matrix| matrix.axes.clone()),
        facts,
        cells,
        trails: run.trails.clone(),
        sessions: (0..run.sessions.len())
            .map(|session| field.session(session))
            .collect(),
        clusters,
        conventions: screens.conventions.lines(&field),
        differences: screens.differences,
        visual,
        timings,
        expected: screens.expected,
        expectations: screens.expectations,
        noise,
        not_compared: field.not_compared(),
        baselines: None,
    }
}

/// What tells cells apart beside the axes, values in order. What all have alike is kept: it says what
/// was not varied.
fn facts(run: &Run) -> Vec<Axis> {
    let mut facts: Vec<Axis> = Vec::new();
    for (name, value) in run.cells.iter().flat_map(|cell| &cell.facts) {
        let place = facts.iter().position(|fact| fact.name == *name);
        let fact = match place {
            Some(place) => &mut facts[place],
            None => facts.push_mut(Axis {
                name: name.clone(),
                values: Vec::new(),
                ordered: false,
            }),
        };
        if !fact.values.contains(value) {
            fact.values.push(value.clone());
        }
    }
    let rank = |value: &str| order::rank(value).unwrap_or(f64::MAX);
    for fact in &mut facts {
        fact.ordered = order::is_ordered(&fact.values);
        fact.values.sort();
        fact.values
            .sort_by(|one, other| rank(one).total_cmp(&rank(other)));
    }
    facts.sort_by(|one, other| one.name.cmp(&other.name));
    facts
}

#[cfg(test)]
mod tests;
