//! Where a run's tool sources start: what does not start is its host's fault, or its own.

use std::collections::{BTreeMap, BTreeSet};

use crate::wire::HostName;

/// So many sessions in a row that a source was not there for, and the run does without the host.
const SET_ASIDE_AFTER: u32 = 3;
/// A source that has started nowhere and failed on so many hosts is broken itself.
const OWN_FAULT: usize = 2;

/// What is known of the sources of a run.
#[derive(Debug, Default)]
pub(super) struct Starts {
    sources: BTreeMap<String, Source>,
    /// The hosts on which a trail had all that it needs.
    worked: BTreeMap<usize, BTreeSet<HostName>>,
}

#[derive(Debug, Default)]
struct Source {
    /// The trails that need it.
    trails: BTreeSet<usize>,
    /// How many sessions in a row it was not there for, by host; 0 once it was.
    failed: BTreeMap<HostName, u32>,
}

impl Starts {
    /// A session of a trail had its sources on a host.
    pub(super) fn worked(&mut self, trail: usize, host: &HostName) {
        self.worked.entry(trail).or_default().insert(host.clone());
        let of_trail = (self.sources.values_mut()).filter(|source| source.trails.contains(&trail));
        for source in of_trail {
            source.failed.remove(host);
        }
    }

    /// Sources did not start for a session of a trail; answers whether that is the host's fault.
    pub(super) fn failed(&mut self, trail: usize, host: &HostName, names: &[String]) -> bool {
        for name in names {
            let source = self.sources.entry(name.clone()).or_default();
            source.trails.insert(trail);
            *source.failed.entry(host.clone()).or_default() += 1;
        }
        let mut known = names.iter().filter_map(|name| self.sources.get(name));
        known.all(|source| !self.is_broken(source))
    }

    /// The hosts that the run does without.
    pub(super) fn set_aside(&self) -> Vec<HostName> {
        let hosts: BTreeSet<&HostName> = (self.sources.values())
            .filter(|source| !self.is_broken(source))
            .flat_map(|source| &source.failed)
            .filter(|(_, times)| **times >= SET_ASIDE_AFTER)
            .map(|(host, _)| host)
            .collect();
        hosts.into_iter().cloned().collect()
    }

    fn is_broken(&self, source: &Source) -> bool {
        let mut trails = source.trails.iter();
        let has_started = trails.any(|trail| self.worked.contains_key(trail));
        !has_started && source.failed.len() >= OWN_FAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str) -> HostName {
        name.parse().unwrap()
    }

    fn tools() -> Vec<String> {
        vec!["tools".to_owned()]
    }

    #[test]
    fn a_host_on_which_a_source_does_not_start_three_times_in_a_row_is_set_aside() {
        let mut starts = Starts::default();
        let bare = host("bare");
        starts.worked(0, &host("good"));
        for _ in 0..2 {
            assert!(starts.failed(0, &bare, &tools()));
        }
        starts.worked(0, &bare);
        for _ in 0..2 {
            assert!(starts.failed(0, &bare, &tools()));
            assert!(starts.set_aside().is_empty());
        }
        assert!(starts.failed(0, &bare, &tools()));
        assert_eq!(starts.set_aside(), [bare]);
    }

    #[test]
    fn a_source_that_starts_nowhere_sets_no_host_aside() {
        let mut starts = Starts::default();
        // One of another trail works, and says nothing of this one.
        starts.worked(1, &host("a"));
        for _ in 0..3 {
            assert!(starts.failed(0, &host("a"), &tools()));
        }
        assert_eq!(starts.set_aside(), [host("a")]);
        assert!(!starts.failed(0, &host("b"), &tools()));
        assert!(!starts.failed(0, &host("a"), &tools()));
        assert!(starts.set_aside().is_empty());
    }

    #[test]
    fn a_source_that_started_somewhere_is_not_broken_wherever_it_fails() {
        let mut starts = Starts::default();
        starts.worked(0, &host("good"));
        for name in ["a", "b", "c"] {
            assert!(starts.failed(0, &host(name), &tools()), "{name}");
        }
    }
}
