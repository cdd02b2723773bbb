//! Things that were seen in one session and may be seen in others.

use std::collections::{BTreeMap, BTreeSet};

use crate::answer::{ClusterKind, Occurrence};

/// Everything that was seen, by what makes two sightings the same.
#[derive(Debug, Default)]
pub(super) struct Sightings {
    pub(super) kinds: BTreeMap<(ClusterKind, String), Sighting>,
}

/// One thing, wherever it was seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Sighting {
    pub(super) title: String,
    pub(super) detail: String,
    /// The first in each session.
    pub(super) occurrences: BTreeMap<usize, Occurrence>,
    /// The sessions in which an earlier attempt had it and the last one did not.
    pub(super) flaky: Vec<usize>,
    /// The sessions for which something else explains it: they say nothing of it.
    pub(super) excused: BTreeSet<usize>,
    /// Whether it may be a look that came too early: told where a cause is sure.
    pub(super) is_early: bool,
    /// Its place among those of its kind, worst first.
    pub(super) rank: u8,
}

impl Sightings {
    /// Notes a thing seen in a session; only the first time counts.
    pub(super) fn add(
        &mut self,
        kind: ClusterKind,
        signature: String,
        occurrence: Occurrence,
        told: impl FnOnce() -> (String, String),
    ) -> &mut Sighting {
        let sighted = self.kinds.entry((kind, signature)).or_default();
        if sighted.title.is_empty() {
            (sighted.title, sighted.detail) = told();
        }
        sighted
            .occurrences
            .entry(occurrence.session)
            .or_insert(occurrence);
        sighted
    }
}
