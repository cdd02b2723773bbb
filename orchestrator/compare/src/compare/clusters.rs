//! Sightings, gathered to clusters with a letter and an explanation.

use std::collections::{BTreeMap, BTreeSet};

use packtrain_model::Axis;

use super::conventions::Conventions;
use super::field::Field;
use super::sighting::{Sighting, Sightings};
use crate::answer::{Cluster, ClusterKind, Next, Occurrence, Verdict};
use crate::attribute::{CellVerdict, Finding, Name, Table};
use crate::input::StepStatus;

pub(super) fn of(
    field: &Field<'_>,
    facts: &[Axis],
    sightings: Sightings,
    conventions: &mut Conventions,
) -> Vec<Cluster> {
    let table = Table::new(&names(field, facts), &field.values);
    let mut seen: Vec<RatedSighting> = Vec::new();
    for ((kind, signature), sighted) in sightings.kinds {
        let standings = standings(field, kind, &sighted);
        let cells = with_it(&standings);
        // Errors are reported wherever they are.
        use ClusterKind::{Console, Failure, Network};
        let is_everywhere = !matches!(kind, Failure | Network | Console)
            && (cells.len() > 1 || field.run.cells.len() == 1)
            && (standings.iter()).all(|one| matches!(one, CellVerdict::Bad | CellVerdict::Absent));
        if is_everywhere {
            conventions.everywhere.insert(sighted.title);
            continue;
        }
        seen.push(RatedSighting {
            kind,
            signature,
            sighted,
            standings,
            cells,
            also: Vec::new(),
        });
    }
    let mut seen = in_all_languages(field, seen);
    let is_page = |one: &RatedSighting| one.signature.starts_with("defect:ScrollsSideways");
    seen.sort_by_cached_key(|one| {
        let signature = one.signature.clone();
        (one.kind, one.sighted.rank, !is_page(one), signature)
    });
    let seen = joined(seen);
    let sets = seen.iter().map(|one| (one.kind, one.standings.clone()));
    let findings = table.judge(&sets.collect::<Vec<_>>());
    let mut clusters: Vec<(u8, Cluster)> = Vec::new();
    for (one, finding) in seen.into_iter().zip(findings) {
        use Verdict::{Cause, Mostly, Tie};
        let is_sure = matches!(finding.verdict, Cause | Mostly | Tie);
        let is_repeated = || {
            let first = one.sighted.occurrences.values().next();
            let own = first.map(|first| &field.run.sessions[first.session]);
            own.is_some_and(|own| field.sessions_of_cell(own.trail, own.cell) > 1)
        };
        let is_news = match one.kind {
            // What is slow here and there is slow by accident, most likely.
            ClusterKind::Slow => is_sure || is_repeated(),
            // Looks that came too early have nothing in common that one condition says.
            _ if one.sighted.is_early => {
                is_sure || finding.verdict == Verdict::Weak && finding.explanations.len() == 1
            }
            _ => true,
        };
        if is_news {
            clusters.push((one.sighted.rank, cluster(field, one, finding)));
        }
    }
    clusters.sort_by_cached_key(|(rank, one)| {
        let size = usize::MAX - one.cells.len();
        // What every cell has tells none of them apart.
        let is_last = one.everywhere && one.kind != ClusterKind::Failure;
        let names = (one.title.clone(), one.signature.clone());
        (is_last, one.kind, *rank, size, names)
    });
    let mut clusters: Vec<Cluster> = clusters.into_iter().map(|(_, cluster)| cluster).collect();
    for (place, cluster) in clusters.iter_mut().enumerate() {
        cluster.letter = letter(place);
    }
    clusters
}

/// A sighting with how each cell did.
struct RatedSighting {
    kind: ClusterKind,
    signature: String,
    sighted: Sighting,
    standings: Vec<CellVerdict>,
    /// Those that have it, at least once.
    cells: Vec<usize>,
    /// What was joined to it.
    also: Vec<String>,
}

impl RatedSighting {
    fn steps(&self) -> BTreeSet<(usize, u32)> {
        let occurrences = self.sighted.occurrences.values();
        occurrences.map(|one| (one.trail, one.step)).collect()
    }
}

/// Failures that say the same but for what each language calls it are one.
fn in_all_languages(field: &Field<'_>, seen: Vec<RatedSighting>) -> Vec<RatedSighting> {
    let mut merged: Vec<RatedSighting> = Vec::new();
    for one in seen {
        let locales = |seen: &RatedSighting| -> BTreeSet<&str> {
            let sessions = seen.sighted.occurrences.keys();
            sessions.map(|session| field.locale(*session)).collect()
        };
        let without_quoted = |seen: &RatedSighting| -> String {
            let parts = seen.sighted.detail.split('"');
            parts.step_by(2).collect::<Vec<_>>().concat()
        };
        // An element is called as in the reference already; a text is not.
        let is_failed_text = |seen: &RatedSighting| {
            let title = &seen.sighted.title;
            let is_text = !title.contains('"') || title.contains("text \"");
            is_text && seen.kind == ClusterKind::Failure
        };
        let same = merged.iter_mut().find(|known| {
            is_failed_text(&one)
                && is_failed_text(known)
                && known.steps() == one.steps()
                && locales(known).is_disjoint(&locales(&one))
                && without_quoted(known) == without_quoted(&one)
        });
        match same {
            Some(known) => {
                known.sighted.occurrences.extend(one.sighted.occurrences);
                known.sighted.flaky.extend(one.sighted.flaky);
                known.standings = standings(field, known.kind, &known.sighted);
                known.cells = with_it(&known.standings);
            }
            None => merged.push(one),
        }
    }
    merged
}

/// One card a fact: what the same cells have at the same step, and what is of one kind in the same cells,
/// is one; pictures differ with whatever else does. The worst comes first.
fn joined(seen: Vec<RatedSighting>) -> Vec<RatedSighting> {
    let mut joined: Vec<RatedSighting> = Vec::new();
    for one in seen {
        let is_visual = one.kind == ClusterKind::Visual;
        let place = joined.iter().position(|known| {
            if known.kind == ClusterKind::Failure && one.kind == ClusterKind::Failure {
                return false;
            }
            let meets = || !known.steps().is_disjoint(&one.steps());
            if known.cells == one.cells {
                return is_visual
                    || meets()
                    || known.kind == one.kind && known.sighted.rank == one.sighted.rank;
            }
            // What crosses the edge of a page that scrolls sideways is why it does.
            let is_part = is_visual
                || known.signature.starts_with("defect:ScrollsSideways")
                    && one.signature.starts_with("defect:CrossesEdge");
            let mut cells = one.cells.iter();
            is_part && meets() && cells.all(|cell| known.cells.contains(cell))
        });
        match place {
            Some(place) => {
                let known = &mut joined[place];
                known.sighted.is_early &= one.sighted.is_early;
                known.also.push(one.sighted.title);
                known.also.extend(one.also);
                let visual = one.sighted.occurrences.into_iter();
                for (session, occurrence) in visual.filter(|_| is_visual) {
                    if let Some(own) = known.sighted.occurrences.get_mut(&session)
                        && own.step == occurrence.step
                    {
                        own.visual = own.visual.or(occurrence.visual);
                    }
                }
            }
            None => joined.push(one),
        }
    }
    joined
}

fn cluster(field: &Field<'_>, one: RatedSighting, finding: Finding) -> Cluster {
    let sighted = one.sighted;
    let seen = || sighted.occurrences.values();
    let trails: BTreeSet<usize> = seen().map(|one| one.trail).collect();
    let occurrences = seen().map(|one| Occurrence {
        nearest: one.nearest.or_else(|| nearest(field, &sighted, one)),
        ..one.clone()
    });
    let occurrences: Vec<Occurrence> = occurrences.collect();
    let place = match (finding.verdict, &one.cells[..]) {
        (Verdict::Single, [cell]) => field.cell(*cell).label,
        _ => finding.place,
    };
    let is_single = finding.verdict == Verdict::Single && field.run.cells.len() > 1;
    let words = match place.as_str() {
        place if place.is_empty() || !is_single => finding.words,
        place if finding.is_flaky => format!("Only **{place}**, and not every time."),
        place => format!("Only **{place}**."),
    };
    let (next, words) = match (finding.next, occurrences.first()) {
        (Some(cell), Some(first)) if finding.verdict == Verdict::Tie => {
            let command = command(field, first, &cell);
            let words = format!("{words} To tell them apart: `{command}`");
            (Some(Next { cell, command }), words)
        }
        _ => (None, words),
    };
    let first = occurrences.first();
    let again = first.map(|first| command(field, first, &field.cell_of(first.session).values));
    let more = match one.also.len() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    Cluster {
        letter: String::new(),
        kind: one.kind,
        title: format!("{}{more}", sighted.title),
        detail: sighted.detail,
        also: one.also,
        place,
        signature: one.signature,
        trails: trails.len(),
        cells: one.cells,
        everywhere: finding.verdict == Verdict::Everywhere,
        occurrences,
        verdict: finding.verdict,
        words,
        explanations: finding.explanations,
        next,
        again: again.unwrap_or_default(),
    }
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

/// How each cell did. A cell is bad where a trail always has it, flaky where not every time.
fn standings(field: &Field<'_>, kind: ClusterKind, sighted: &Sighting) -> Vec<CellVerdict> {
    // The step at which a trail has it, for the cells that do not.
    let mut steps: BTreeMap<usize, u32> = BTreeMap::new();
    for one in sighted.occurrences.values() {
        let step = steps.entry(one.trail).or_insert(one.step);
        *step = (*step).min(one.step);
    }
    let mut standings = vec![CellVerdict::Absent; field.run.cells.len()];
    for (trail, step) in steps {
        let mut by_cell: BTreeMap<usize, (usize, usize, usize)> = BTreeMap::new();
        for &place in field.sessions_of(trail) {
            let (good, flaky, bad) = by_cell.entry(field.run.sessions[place].cell).or_default();
            if sighted.flaky.contains(&place) {
                *flaky += 1;
            } else if sighted.occurrences.contains_key(&place) {
                *bad += 1;
            } else if !sighted.excused.contains(&place) && is_without(field, kind, place, step) {
                *good += 1;
            }
        }
        for (cell, counts) in by_cell {
            let standing = match counts {
                (0, 0, 0) => CellVerdict::Absent,
                (_, 0, 0) => CellVerdict::Good,
                (0, 0, _) => CellVerdict::Bad,
                _ => CellVerdict::Flaky,
            };
            standings[cell] = standings[cell].max(standing);
        }
    }
    standings
}

/// The cells that have it, at least once.
fn with_it(standings: &[CellVerdict]) -> Vec<usize> {
    let has = |cell: &usize| matches!(standings[*cell], CellVerdict::Bad | CellVerdict::Flaky);
    (0..standings.len()).filter(has).collect()
}

/// Whether a session was looked at for that and did not have it.
fn is_without(field: &Field<'_>, kind: ClusterKind, place: usize, step: u32) -> bool {
    let session = &field.run.sessions[place];
    let own = field.step(place, step).filter(|_| session.is_told());
    own.is_some_and(|own| match kind {
        ClusterKind::Failure | ClusterKind::Slow => own.status == StepStatus::Passed,
        ClusterKind::Difference => own.status == StepStatus::Passed && own.tree.is_some(),
        ClusterKind::Visual => own.status == StepStatus::Passed && own.picture.is_some(),
        ClusterKind::Defect | ClusterKind::Console | ClusterKind::Network => {
            own.status != StepStatus::Other
        }
    })
}

/// The nearest session that passed a step without having that.
fn nearest(field: &Field<'_>, sighted: &Sighting, one: &Occurrence) -> Option<usize> {
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
    let last = char::from(b'A' + (place % 26) as u8);
    match place / 26 {
        0 => last.to_string(),
        more => format!("{}{last}", letter(more - 1)),
    }
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
