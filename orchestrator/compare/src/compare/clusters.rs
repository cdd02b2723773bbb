//! Sightings, gathered to clusters with a letter and an explanation.

use std::collections::{BTreeMap, BTreeSet};

use packtrain_model::Axis;

use super::field::Field;
use super::sighting::{Sighted, Sightings};
use crate::answer::{Cluster, ClusterKind, Next, Occurrence, Verdict};
use crate::attribute::{Name, Standing, Table};
use crate::input::{OutcomeKind, StepStatus};

pub(super) fn of(field: &Field<'_>, facts: &[Axis], sightings: Sightings) -> Vec<Cluster> {
    let sighted: Vec<((ClusterKind, String), Sighted)> = sightings.kinds.into_iter().collect();
    let table = Table::new(&names(field, facts), &field.values);
    let sets: Vec<(ClusterKind, Vec<Standing>)> = sighted
        .iter()
        .map(|((kind, _), sighted)| (*kind, standings(field, *kind, sighted)))
        .collect();
    let findings = table.judge(&sets);
    let mut clusters: Vec<Cluster> = sighted
        .into_iter()
        .zip(sets.iter().zip(findings))
        .filter_map(
            |(((kind, signature), sighted), ((_, standings), finding))| {
                // What is slow here and there is slow by accident, most likely.
                let is_news = kind != ClusterKind::Slow
                    || sighted.is_striking
                    || matches!(
                        finding.verdict,
                        Verdict::Cause | Verdict::Mostly | Verdict::Tie
                    );
                let cells = (0..standings.len())
                    .filter(|cell| matches!(standings[*cell], Standing::Bad | Standing::Flaky))
                    .collect();
                let trails: BTreeSet<usize> =
                    sighted.occurrences.values().map(|one| one.trail).collect();
                let occurrences: Vec<Occurrence> = sighted
                    .occurrences
                    .values()
                    .map(|one| Occurrence {
                        nearest: one.nearest.or_else(|| nearest(field, &sighted, one)),
                        ..one.clone()
                    })
                    .collect();
                let (next, words) = match (finding.verdict, finding.next, occurrences.first()) {
                    (Verdict::Tie, Some(cell), Some(first)) => {
                        let command = command(field, first, &cell);
                        let words = format!("{} To tell them apart: `{command}`", finding.words);
                        (Some(Next { cell, command }), words)
                    }
                    _ => (None, finding.words),
                };
                let again = occurrences
                    .first()
                    .map(|first| command(field, first, &field.cell_of(first.session).values));
                let more = match sighted.more {
                    0 => String::new(),
                    more => format!(", and {more} more"),
                };
                is_news.then(|| Cluster {
                    letter: String::new(),
                    kind,
                    title: format!("{}{more}", sighted.title),
                    detail: sighted.detail,
                    also: Vec::new(),
                    place: String::new(),
                    signature,
                    trails: trails.len(),
                    cells,
                    everywhere: sighted.everywhere || finding.verdict == Verdict::Everywhere,
                    occurrences,
                    verdict: finding.verdict,
                    words,
                    explanations: finding.explanations,
                    next,
                    again: again.unwrap_or_default(),
                })
            },
        )
        .collect();
    clusters.sort_by(|one, other| {
        let key = |cluster: &Cluster| {
            let size = usize::MAX - cluster.cells.len();
            (cluster.kind, cluster.everywhere, size)
        };
        key(one)
            .cmp(&key(other))
            .then_with(|| one.title.cmp(&other.title))
            .then_with(|| one.signature.cmp(&other.signature))
    });
    for (place, cluster) in clusters.iter_mut().enumerate() {
        cluster.letter = letter(place);
    }
    clusters
}

/// What may explain a cluster: the axes, then the facts, then the device.
fn names(field: &Field<'_>, facts: &[Axis]) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    let mut push = |name: &str, ordered: bool, is_axis: bool| {
        if !names.iter().any(|known| known.name == name) {
            names.push(Name {
                name: name.to_owned(),
                ordered,
                is_axis,
            });
        }
    };
    let axes = field.run.matrix.iter().flat_map(|matrix| &matrix.axes);
    for axis in axes {
        push(&axis.name, axis.ordered, true);
    }
    for axis in field.run.cells.iter().flat_map(|cell| cell.values.keys()) {
        push(axis, false, true);
    }
    for fact in facts {
        push(&fact.name, fact.ordered, false);
    }
    push("device", false, false);
    names
}

/// How each cell did. A cell is bad where a trail always has it, flaky where not each time.
fn standings(field: &Field<'_>, kind: ClusterKind, sighted: &Sighted) -> Vec<Standing> {
    // The step at which a trail has it, for the cells that do not.
    let mut steps: BTreeMap<usize, u32> = BTreeMap::new();
    for one in sighted.occurrences.values() {
        let step = steps.entry(one.trail).or_insert(one.step);
        *step = (*step).min(one.step);
    }
    let mut standings = vec![Standing::Absent; field.run.cells.len()];
    for (trail, step) in steps {
        let mut by_cell: BTreeMap<usize, (usize, usize, usize)> = BTreeMap::new();
        for &place in field.sessions_of(trail) {
            let (good, flaky, bad) = by_cell.entry(field.run.sessions[place].cell).or_default();
            if sighted.flaky.contains(&place) {
                *flaky += 1;
            } else if sighted.occurrences.contains_key(&place) {
                *bad += 1;
            } else if is_without(field, kind, place, step) {
                *good += 1;
            }
        }
        for (cell, counts) in by_cell {
            let standing = match counts {
                (0, 0, 0) => Standing::Absent,
                (_, 0, 0) => Standing::Good,
                (0, 0, _) => Standing::Bad,
                _ => Standing::Flaky,
            };
            standings[cell] = standings[cell].max(standing);
        }
    }
    standings
}

/// Whether a session was looked at for that and did not have it.
fn is_without(field: &Field<'_>, kind: ClusterKind, place: usize, step: u32) -> bool {
    let session = &field.run.sessions[place];
    if !matches!(session.outcome, OutcomeKind::Passed | OutcomeKind::Failed) {
        return false;
    }
    let Some(own) = field.step(place, step) else {
        return false;
    };
    match kind {
        ClusterKind::Failure | ClusterKind::Slow => own.status == StepStatus::Passed,
        ClusterKind::Difference => own.status == StepStatus::Passed && own.tree.is_some(),
        ClusterKind::Visual => own.status == StepStatus::Passed && own.picture.is_some(),
        ClusterKind::Defect | ClusterKind::Console | ClusterKind::Network => {
            own.status != StepStatus::Other
        }
    }
}

/// The nearest session that passed a step without having that.
fn nearest(field: &Field<'_>, sighted: &Sighted, one: &Occurrence) -> Option<usize> {
    field.nearest(one.session, |other| {
        field.passed(other, one.step) && !sighted.occurrences.contains_key(&other)
    })
}

fn command(field: &Field<'_>, one: &Occurrence, cell: &BTreeMap<String, String>) -> String {
    let device = field.cell_of(one.session).device.as_str();
    let path = &field.run.trails[one.trail].path;
    let device = (!device.is_empty()).then_some(device);
    field.run.commands.run(path, device, cell)
}

/// The letter of a place from 0: `A` to `Z`, then `AA` and on.
pub fn letter(place: usize) -> String {
    let mut letters = Vec::new();
    let mut rest = place + 1;
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'A' + (rest % 26) as u8));
        rest /= 26;
    }
    letters.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::letter;

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!(
            [0, 25, 26, 27, 701, 702].map(letter),
            ["A", "Z", "AA", "AB", "ZZ", "AAA"]
        );
    }
}
