//! Which node of one screen is which of the other.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{Alignment, Prepared};

pub(super) fn align(was: &Prepared<'_>, is: &Prepared<'_>) -> Alignment {
    let mut pairing = Pairing::new(was, is);
    pairing.unique_ids();
    pairing.unique_names();
    pairing.containers();
    // What moved out of its container is found over the whole screen.
    let all = [&pairing.to, &pairing.from].map(|side| (0..side.len()).collect::<Vec<_>>());
    pairing.common(&all[0], &all[1], Key::Named);
    Alignment {
        to: pairing.to,
        from: pairing.from,
    }
}

/// By what nodes are taken to be alike.
#[derive(Clone, Copy)]
enum Key {
    /// Role and name.
    Named,
    /// Role alone, which pairs translations.
    Role,
}

struct Pairing<'a> {
    was: &'a Prepared<'a>,
    is: &'a Prepared<'a>,
    to: Vec<Option<usize>>,
    from: Vec<Option<usize>>,
    /// Numbers for role and name, and for roles, one for each node.
    keys: [(Vec<u32>, Vec<u32>); 2],
    children: [HashMap<Option<usize>, Vec<usize>>; 2],
}

impl<'a> Pairing<'a> {
    fn new(was: &'a Prepared<'a>, is: &'a Prepared<'a>) -> Self {
        let mut named = HashMap::new();
        let mut roles = HashMap::new();
        let mut keys = |side: &'a Prepared<'a>| {
            let nodes = side.tree.nodes.iter().zip(&side.names);
            nodes
                .map(|(node, name)| {
                    let role = node.role.as_str();
                    let next = named.len() as u32;
                    let key = *named.entry((role, name.as_str())).or_insert(next);
                    let next = roles.len() as u32;
                    (key, *roles.entry(role).or_insert(next))
                })
                .unzip()
        };
        let keys = [keys(was), keys(is)];
        let children = |side: &Prepared<'_>| {
            let mut children: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
            for (place, parent) in side.parents.iter().enumerate() {
                children.entry(*parent).or_default().push(place);
            }
            children
        };
        Self {
            was,
            is,
            to: vec![None; was.tree.nodes.len()],
            from: vec![None; is.tree.nodes.len()],
            keys,
            children: [children(was), children(is)],
        }
    }

    fn pair(&mut self, was: usize, is: usize) {
        self.to[was] = Some(is);
        self.from[is] = Some(was);
    }

    fn unique_ids(&mut self) {
        fn ids<'a>(side: &'a Prepared<'a>) -> HashMap<(&'a str, &'a str), Option<usize>> {
            unique(side.tree.nodes.iter().map(|node| {
                let id = node.id.as_deref()?;
                Some((node.role.as_str(), id))
            }))
        }
        let (was, is) = (self.was, self.is);
        self.pair_unique(&ids(was), &ids(is));
    }

    fn unique_names(&mut self) {
        fn names(keys: &[u32], side: &Prepared<'_>) -> HashMap<u32, Option<usize>> {
            let named = keys.iter().zip(&side.names);
            unique(named.map(|(key, name)| (!name.is_empty()).then_some(*key)))
        }
        let was = names(&self.keys[0].0, self.was);
        let is = names(&self.keys[1].0, self.is);
        self.pair_unique(&was, &is);
    }

    fn pair_unique<K: Hash + Eq>(
        &mut self,
        was: &HashMap<K, Option<usize>>,
        is: &HashMap<K, Option<usize>>,
    ) {
        for (key, place) in was {
            if let (Some(was), Some(Some(is))) = (*place, is.get(key))
                && self.to[was].is_none()
                && self.from[*is].is_none()
            {
                self.pair(was, *is);
            }
        }
    }

    /// Aligns the children of aligned nodes, from the roots down.
    fn containers(&mut self) {
        let mut queue: VecDeque<(Option<usize>, Option<usize>)> = VecDeque::from([(None, None)]);
        while let Some((was, is)) = queue.pop_front() {
            let left = self.children[0].get(&was).cloned().unwrap_or_default();
            let right = self.children[1].get(&is).cloned().unwrap_or_default();
            self.common(&left, &right, Key::Named);
            for (left, right) in self.gaps(&left, &right) {
                self.common(&left, &right, Key::Role);
            }
            let aligned = left.iter().filter_map(|was| Some((*was, self.to[*was]?)));
            queue.extend(aligned.map(|(was, is)| (Some(was), Some(is))));
        }
    }

    /// The runs of nodes that are not aligned, between those that are.
    fn gaps(&self, left: &[usize], right: &[usize]) -> Vec<(Vec<usize>, Vec<usize>)> {
        let mut gaps = Vec::new();
        let mut from = 0;
        let mut gap = Vec::new();
        for was in left {
            let Some(is) = self.to[*was] else {
                gap.push(*was);
                continue;
            };
            // An anchor that moved back, or to elsewhere, bounds nothing.
            let Some(at) = right[from..].iter().position(|place| *place == is) else {
                continue;
            };
            let others = self.open_of(&right[from..from + at]);
            gaps.push((std::mem::take(&mut gap), others));
            from += at + 1;
        }
        gaps.push((gap, self.open_of(&right[from..])));
        gaps
    }

    fn open_of(&self, right: &[usize]) -> Vec<usize> {
        let open = right.iter().filter(|place| self.from[**place].is_none());
        open.copied().collect()
    }

    /// Pairs the longest common subsequence of the nodes that are not aligned.
    fn common(&mut self, left: &[usize], right: &[usize], by: Key) {
        let key = |side: usize, place: usize| match by {
            Key::Named => self.keys[side].0[place],
            Key::Role => self.keys[side].1[place],
        };
        let keyed = |side: usize, places: &[usize], done: &[Option<usize>]| {
            let open = places.iter().filter(|place| done[**place].is_none());
            open.map(|place| (key(side, *place), *place))
                .collect::<Vec<_>>()
        };
        let mut was = keyed(0, left, &self.to);
        let mut is = keyed(1, right, &self.from);
        // What only one side has would cost time and pair nothing.
        let has = |side: &[(u32, usize)]| side.iter().map(|(key, _)| *key).collect();
        let (left, right): (HashSet<u32>, HashSet<u32>) = (has(&was), has(&is));
        was.retain(|(key, _)| right.contains(key));
        is.retain(|(key, _)| left.contains(key));
        let keys = |side: &[(u32, usize)]| side.iter().map(|(key, _)| *key).collect::<Vec<_>>();
        for (one, other) in equal(Algorithm::Myers, &keys(&was), &keys(&is)) {
            self.pair(was[one].1, is[other].1);
        }
    }
}

/// The places of what is equal in both, in order.
pub(crate) fn equal<T: Hash + Ord>(by: Algorithm, was: &[T], is: &[T]) -> Vec<(usize, usize)> {
    let equal = |op| match op {
        DiffOp::Equal {
            old_index,
            new_index,
            len,
        } => (old_index..old_index + len).zip(new_index..new_index + len),
        _ => (0..0).zip(0..0),
    };
    let ops = capture_diff_slices(by, was, is);
    ops.into_iter().flat_map(equal).collect()
}

/// Places by key; `None` for a key that is there more than once.
pub(crate) fn unique<K: Hash + Eq>(
    keys: impl Iterator<Item = Option<K>>,
) -> HashMap<K, Option<usize>> {
    let mut places = HashMap::new();
    for (place, key) in keys.enumerate() {
        let Some(key) = key else { continue };
        let known = places.entry(key).and_modify(|known| *known = None);
        known.or_insert(Some(place));
    }
    places
}
