//! A run, compared: what went another way, where, and what those cells have in common.

mod clusters;
mod field;
mod noises;
pub(crate) mod screens;
mod sighting;
mod slow;
pub(crate) mod visual;

pub use clusters::letter;
use packtrain_model::Axis;

use crate::answer::{self, ClusterKind, Comparison, Verdict};
use crate::input::{OutcomeKind, Pictures, Run};
use crate::order;
use field::Field;
use sighting::Sightings;

/// Compares a run. It may still go on: what has no end is left out.
pub fn compare(run: &Run, pictures: &mut dyn Pictures) -> Comparison {
    let field = Field::new(run);
    let mut sightings = Sightings::default();
    let screens = screens::compare(&field, &mut sightings);
    noises::compare(&field, &screens, &mut sightings);
    let (visual, noise) = visual::compare(&field, &screens, pictures, &mut sightings);
    let timings = slow::compare(&field, &mut sightings);
    let facts = facts(run);
    let clusters = clusters::of(&field, &facts, sightings);
    let settled = run
        .sessions
        .iter()
        .filter(|session| session.outcome != OutcomeKind::Unfinished)
        .count();
    Comparison {
        schema_version: answer::SCHEMA_VERSION,
        run: run.run.clone(),
        packtrain: run.packtrain.clone(),
        settled,
        planned: run.planned,
        sentence: sentence(&field, &clusters, settled),
        axes: run
            .matrix
            .as_ref()
            .map(|m| m.axes.clone())
            .unwrap_or_default(),
        facts,
        cells: (0..run.cells.len()).map(|cell| field.cell(cell)).collect(),
        trails: run.trails.clone(),
        sessions: (0..run.sessions.len())
            .map(|session| field.session(session))
            .collect(),
        clusters,
        conventions: Vec::new(),
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
        match facts.iter_mut().find(|fact| fact.name == *name) {
            Some(fact) if fact.values.contains(value) => (),
            Some(fact) => fact.values.push(value.clone()),
            None => facts.push(Axis {
                name: name.clone(),
                values: vec![value.clone()],
                ordered: false,
            }),
        }
    }
    for fact in &mut facts {
        fact.ordered = order::is_ordered(&fact.values);
        fact.values.sort_by(|one, other| {
            let rank = |value: &str| order::rank(value).unwrap_or(f64::MAX);
            rank(one)
                .total_cmp(&rank(other))
                .then_with(|| one.cmp(other))
        });
    }
    facts.sort_by(|one, other| one.name.cmp(&other.name));
    facts
}

/// `54 of 60 cells passed the same way. 2 causes.`
fn sentence(field: &Field<'_>, clusters: &[answer::Cluster], settled: usize) -> String {
    let run = field.run;
    let looked_at: Vec<usize> = (0..run.cells.len())
        .filter(|cell| field.says_something(*cell))
        .collect();
    let news: Vec<&answer::Cluster> = clusters
        .iter()
        .filter(|cluster| matches!(cluster.kind, ClusterKind::Failure | ClusterKind::Difference))
        .collect();
    let alike = looked_at
        .iter()
        .filter(|cell| !news.iter().any(|cluster| cluster.cells.contains(cell)))
        .count();
    let mut words = if settled < run.planned {
        format!("So far, {settled} of {} sessions: ", run.planned)
    } else {
        String::new()
    };
    let all = looked_at.len();
    words += &match (alike, all) {
        (0, 0) => "No cell says anything of the app.".to_owned(),
        (1, 1) => "The only cell passed.".to_owned(),
        (alike, all) if alike == all && field.unseen() > 0 => format!("All {all} cells passed."),
        (alike, all) if alike == all => format!("All {all} cells passed the same way."),
        (alike, all) => format!("{alike} of {all} cells passed the same way."),
    };
    let is_explained = |cluster: &&&answer::Cluster| {
        matches!(
            cluster.verdict,
            Verdict::Cause | Verdict::Mostly | Verdict::Tie | Verdict::Everywhere
        )
    };
    let causes = news.iter().filter(is_explained).count();
    let open = news.len() - causes;
    let plural = |count: usize, word: &str| match count {
        1 => format!("1 {word}"),
        _ => format!("{count} {word}s"),
    };
    match (causes, open) {
        (0, 0) => (),
        (causes, 0) => words += &format!(" {}.", plural(causes, "cause")),
        (0, open) => words += &format!(" {} without a clear cause.", plural(open, "cluster")),
        (causes, open) => {
            words += &format!(
                " {}, {} without one.",
                plural(causes, "cause"),
                plural(open, "cluster")
            );
        }
    }
    match field.unseen() {
        0 => (),
        1 => words += " One screen was not looked at.",
        unseen => words += &format!(" {unseen} screens were not looked at."),
    }
    words
}

#[cfg(test)]
mod tests;
