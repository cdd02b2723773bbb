//! Things that were seen in one session and may be seen in others.

use std::collections::BTreeMap;

use crate::answer::{ClusterKind, Occurrence};

/// Everything that was seen, by what makes two sightings the same.
#[derive(Debug, Default)]
pub(super) struct Sightings {
    pub(super) kinds: BTreeMap<(ClusterKind, String), Sighted>,
}

/// One thing, wherever it was seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Sighted {
    pub(super) title: String,
    pub(super) detail: String,
    /// The first in each session.
    pub(super) occurrences: BTreeMap<usize, Occurrence>,
    /// The sessions in which an earlier attempt had it and the last one did not.
    pub(super) flaky: Vec<usize>,
    /// Whether the reference has it too.
    pub(super) everywhere: bool,
    /// Whether it is worth telling without knowing what those cells have in common.
    pub(super) is_striking: bool,
    /// What else was seen in the same places.
    pub(super) more: usize,
}

impl Sightings {
    /// Notes a thing seen in a session; only the first time counts.
    pub(super) fn add(
        &mut self,
        kind: ClusterKind,
        signature: String,
        occurrence: Occurrence,
        told: impl FnOnce() -> (String, String),
    ) -> &mut Sighted {
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

    /// Joins differences that were seen in the same places into one.
    pub(super) fn join_differences(&mut self) {
        let mut joined: Vec<((ClusterKind, String), Sighted)> = Vec::new();
        let mut rest = BTreeMap::new();
        for (key, sighted) in std::mem::take(&mut self.kinds) {
            if key.0 != ClusterKind::Difference {
                rest.insert(key, sighted);
                continue;
            }
            let places = |one: &Sighted| -> Vec<(usize, u32)> {
                one.occurrences
                    .values()
                    .map(|o| (o.session, o.step))
                    .collect()
            };
            let own = places(&sighted);
            match joined.iter_mut().find(|(_, other)| places(other) == own) {
                Some((_, other)) => other.more += 1,
                None => joined.push((key, sighted)),
            }
        }
        rest.extend(joined);
        self.kinds = rest;
    }
}
