//! What the proxy does to what passes, and what it has counted. Decisions only: no sockets.

use std::collections::{BTreeMap, BTreeSet};

use super::frame::Operation;

/// The most answers that are remembered to be awaited. A client that waits for more is not one of ours.
const MOST_AWAITED: usize = 65_536;

/// A connection of a client through the proxy, from 1 in the order in which they came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link(pub u64);

/// A way through the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// From clients to the server.
    ToServer,
    /// From the server to clients.
    ToClient,
}

/// Which connections something is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// All, those that come later too.
    All,
    /// This one.
    One(Link),
}

/// What clients have sent, all connections together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Publications by subject.
    pub published: BTreeMap<String, u64>,
    /// Pings of clients.
    pub pings: u64,
    /// Connections.
    pub links: u64,
    /// Acknowledgements that were kept from clients.
    pub dropped: u64,
}

impl Counts {
    /// Publications whose subject a pattern covers: `$KV.live.>`, `$JS.API.STREAM.*.RUNS`.
    pub fn to(&self, pattern: &str) -> u64 {
        let covered = self
            .published
            .iter()
            .filter(|(subject, _)| covers(pattern, subject));
        covered.map(|(_, count)| count).sum()
    }

    /// Publications that none of these patterns covers, by subject.
    pub fn besides(&self, patterns: &[&str]) -> BTreeMap<String, u64> {
        let others = self
            .published
            .iter()
            .filter(|(subject, _)| !patterns.iter().any(|pattern| covers(pattern, subject)));
        others
            .map(|(subject, count)| (subject.clone(), *count))
            .collect()
    }

    /// What came after `before` was counted.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let published = self.published.iter().filter_map(|(subject, count)| {
            let earlier = before.published.get(subject).copied().unwrap_or_default();
            (*count > earlier).then(|| (subject.clone(), count - earlier))
        });
        Self {
            published: published.collect(),
            pings: self.pings - before.pings,
            links: self.links - before.links,
            dropped: self.dropped - before.dropped,
        }
    }
}

/// Whether a subject is one of those that a pattern stands for.
pub fn covers(pattern: &str, subject: &str) -> bool {
    let mut tokens = subject.split('.');
    for wanted in pattern.split('.') {
        match (wanted, tokens.next()) {
            (">", Some(_)) => return true,
            ("*", Some(_)) => {}
            (wanted, Some(token)) if wanted == token => {}
            _ => return false,
        }
    }
    tokens.next().is_none()
}

/// What is to be done to what passes.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) counts: Counts,
    /// Acknowledgements to be dropped: of publications to what subjects, and how many more.
    drops: Vec<(String, u64)>,
    /// Acknowledgements of which every so many is dropped: of publications to what subjects, every how
    /// many, and how many publications there were.
    thinned: Vec<(String, u64, u64)>,
    /// Answers to be dropped, by the subject they are awaited on.
    awaited: BTreeSet<String>,
    stalled: BTreeSet<(Option<Link>, Direction)>,
}

impl Rules {
    pub(super) fn drop_acks(&mut self, pattern: &str, count: u64) {
        self.drops.push((pattern.to_owned(), count));
    }

    pub(super) fn thin_acks(&mut self, pattern: &str, every: u64) {
        self.thinned.push((pattern.to_owned(), every, 0));
    }

    pub(super) fn keep_acks(&mut self) {
        self.drops.clear();
        self.thinned.clear();
        self.awaited.clear();
    }

    pub(super) fn stall(&mut self, links: Links, direction: Direction) {
        self.stalled.insert((links.one(), direction));
    }

    pub(super) fn flow(&mut self, links: Links) {
        match links {
            Links::All => self.stalled.clear(),
            Links::One(link) => self.stalled.retain(|(stalled, _)| *stalled != Some(link)),
        }
    }

    pub(super) fn is_stalled(&self, link: Link, direction: Direction) -> bool {
        [None, Some(link)]
            .iter()
            .any(|which| self.stalled.contains(&(*which, direction)))
    }

    /// Takes note of a frame; whether it may pass.
    pub(super) fn passes(&mut self, direction: Direction, operation: &Operation) -> bool {
        match (direction, operation) {
            (Direction::ToServer, Operation::Publish { subject, reply }) => {
                *self.counts.published.entry(subject.clone()).or_default() += 1;
                if let Some(reply) = reply {
                    self.await_drop(subject, reply);
                }
                true
            }
            (Direction::ToServer, Operation::Ping) => {
                self.counts.pings += 1;
                true
            }
            (Direction::ToClient, Operation::Deliver(subject)) => {
                let is_dropped = self.awaited.remove(subject);
                self.counts.dropped += u64::from(is_dropped);
                !is_dropped
            }
            _ => true,
        }
    }

    fn await_drop(&mut self, subject: &str, reply: &str) {
        let rule = self
            .drops
            .iter_mut()
            .find(|(pattern, left)| *left > 0 && covers(pattern, subject));
        if let Some((_, left)) = rule
            && self.awaited.len() < MOST_AWAITED
        {
            *left -= 1;
            self.awaited.insert(reply.to_owned());
            return;
        }
        let rule = self
            .thinned
            .iter_mut()
            .find(|(pattern, ..)| covers(pattern, subject));
        if let Some((_, every, seen)) = rule {
            *seen += 1;
            if seen.is_multiple_of(*every) && self.awaited.len() < MOST_AWAITED {
                self.awaited.insert(reply.to_owned());
            }
        }
    }
}

impl Links {
    const fn one(self) -> Option<Link> {
        match self {
            Self::All => None,
            Self::One(link) => Some(link),
        }
    }
}
