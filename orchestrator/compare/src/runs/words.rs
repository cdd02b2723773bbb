//! What a comparison came to, in letters and in a sentence.

use std::collections::{BTreeMap, BTreeSet};

use super::answer::{Change, ChangeStatus, RunComparison};
use crate::{letter, words};

/// Gives equal changes one letter, worst first.
pub(super) fn letters(changes: &mut [Change]) {
    let key = |one: &Change| {
        let (trail, title) = (one.trail.clone(), one.title.clone());
        (!one.fails, one.kind, one.status, trail, title)
    };
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    for change in changes.iter() {
        *counts.entry(key(change)).or_default() += 1;
    }
    // Within a kind, what is in more places first; new baselines of one trail are one.
    changes.sort_by_cached_key(|one| {
        let own = key(one);
        let count = counts.get(&own).copied().unwrap_or_default();
        let (fails, kind, status, trail, title) = own;
        let place = (one.step, one.cell.clone());
        (fails, kind, status, usize::MAX - count, trail, title, place)
    });
    let mut known = BTreeMap::new();
    for change in changes {
        let next = known.len();
        let place = *known.entry(key(change)).or_insert(next);
        change.letter = letter(place);
    }
}

/// `3 of 4 cells are as before. 1 change, 1 new screen, 2 not compared.`
pub(super) fn sentence(answer: &RunComparison, as_before: usize) -> String {
    let gone = answer.cells_gone;
    let before = match answer.base {
        Some(_) => "as before",
        None => "as approved",
    };
    let mut sentence = match (as_before, answer.cells) {
        (_, 0) => "Nothing could be compared.".to_owned(),
        (alike, rest) if gone > 0 => {
            let all = rest + gone;
            format!("{alike} of {all} cells are {before}; {gone} removed.")
        }
        (1, 1) => format!("The only cell is {before}."),
        (0, 1) => format!("The only cell is not {before}."),
        (alike, all) if alike == all => format!("All {all} cells are {before}."),
        (alike, all) => format!("{alike} of {all} cells are {before}."),
    };
    let clusters = answer.clusters();
    let count = |status: ChangeStatus| {
        let all = clusters.iter().filter_map(|cluster| cluster.first());
        all.filter(|change| change.status == status).count()
    };
    let places = |status: ChangeStatus| {
        let all = answer.changes.iter();
        all.filter(move |change| change.status == status)
    };
    // What is proposed is a screen, whatever differs on it.
    let proposed = places(ChangeStatus::Proposed);
    let proposed: BTreeSet<_> = proposed.map(|change| (change.place, change.step)).collect();
    let new = places(ChangeStatus::New).count();
    let parts = [
        (count(ChangeStatus::Changed), "change", "changes"),
        (new, "new screen", "new screens"),
        (
            proposed.len(),
            "new baseline proposed",
            "new baselines proposed",
        ),
        (count(ChangeStatus::Fixed), "fixed", "fixed"),
        (answer.not_compared.len(), "not compared", "not compared"),
    ];
    let parts = parts.iter().filter(|(count, ..)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(number, one, many)| words::count(*number, one, many))
        .collect();
    if !parts.is_empty() {
        sentence += &format!(" {}.", parts.join(", "));
    }
    sentence
}
