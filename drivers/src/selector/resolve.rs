//! Finding the elements a selector names.
//!
//! The order of things is Trailblaze's: take the tree, or what lies below the matches of
//! `childOf`; keep what the block, the sides and the contents allow; sort by top and left; pick
//! the `index`. Anchors are found once, not once per element, and descendants are looked up in
//! sorted lists, so the cost grows with the tree and not with its square.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::CompiledSelector;
use super::compile::{Plan, Side};
use super::condition::{Condition, Family, descriptor};
use super::pattern::Pattern;
use crate::geometry::Rect;
use crate::observation::Located;
use crate::tree::{Node, NodeId, Tree};

/// The elements a selector names, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// From top to bottom, then left to right; without bounds last.
    pub matches: Vec<NodeId>,
}

/// How many elements a selector names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// None.
    None,
    /// Just this one.
    Single(NodeId),
    /// Several; actions use the first.
    Multiple {
        /// The first in order.
        first: NodeId,
        /// How many there are.
        count: usize,
    },
}

impl Resolution {
    /// The element to act on: the first in order.
    pub fn first(&self) -> Option<NodeId> {
        self.matches.first().copied()
    }

    /// Whether none, one or several were found.
    pub fn outcome(&self) -> Match {
        match self.matches[..] {
            [] => Match::None,
            [only] => Match::Single(only),
            [first, ..] => Match::Multiple {
                first,
                count: self.matches.len(),
            },
        }
    }

    /// What led to the first element and how many there were, for a report.
    pub fn located(&self, selector: &CompiledSelector) -> Option<Located> {
        self.first().map(|_| Located {
            by: selector.description().to_owned(),
            matched: u32::try_from(self.matches.len()).unwrap_or(u32::MAX),
        })
    }
}

/// Finds the elements a selector names.
pub fn resolve(tree: &Tree, selector: &CompiledSelector) -> Resolution {
    Resolution {
        matches: find(tree, &selector.plan),
    }
}

/// All matches of a part of a selector, its index applied.
pub(super) fn find(tree: &Tree, plan: &Plan) -> Vec<NodeId> {
    let matches = find_all(tree, plan);
    match plan.index {
        None => matches,
        Some(index) => matches.get(index as usize).copied().into_iter().collect(),
    }
}

/// All matches of a part of a selector, whatever its index.
pub(super) fn find_all(tree: &Tree, plan: &Plan) -> Vec<NodeId> {
    let Some(filter) = Filter::new(tree, plan) else {
        return Vec::new();
    };
    let mut matches = scope(tree, plan);
    matches.retain(|&id| filter.accepts(id));
    matches.sort_by(|&a, &b| {
        let (a, b) = (position(tree, a), position(tree, b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    matches
}

/// Top and left, for sorting. Adding zero makes the two zeros equal.
fn position(tree: &Tree, id: NodeId) -> (f64, f64) {
    tree.get(id)
        .and_then(|node| node.bounds)
        .map_or((f64::INFINITY, f64::INFINITY), |bounds| {
            (bounds.top + 0.0, bounds.left + 0.0)
        })
}

/// Where to search: everywhere, or below the matches of `childOf`, each element once.
pub(super) fn scope(tree: &Tree, plan: &Plan) -> Vec<NodeId> {
    let Some(parent) = &plan.child_of else {
        return tree.iter().map(|(id, _)| id).collect();
    };
    let mut scope = Vec::new();
    let mut seen = vec![false; tree.len()];
    // Where a range begins that was added before, its end: it is skipped in one step, because
    // matches may lie inside each other, thousands deep.
    let mut skip = vec![0_u32; tree.len()];
    for parent in find(tree, parent) {
        let range = tree.descendants(parent);
        if seen[parent.0 as usize] || range.is_empty() {
            continue;
        }
        let mut next = range.start;
        while next < range.end {
            let index = next as usize;
            if skip[index] > 0 {
                next = skip[index];
                continue;
            }
            seen[index] = true;
            scope.push(NodeId(next));
            next += 1;
        }
        skip[range.start as usize] = range.end;
    }
    scope
}

/// A part of `containsDescendants`, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DescendantIndex(pub(super) usize);

/// Everything about a part of a selector that can be found out before looking at an element.
pub(super) struct Filter<'t> {
    tree: &'t Tree,
    plan: &'t Plan,
    pub(super) anchors: Vec<(Side, Rect)>,
    child: Option<Box<Filter<'t>>>,
    /// For each wanted descendant, the ids of all that match it, in order.
    descendants: Vec<Vec<u32>>,
    /// For each element, how many equal ones come before it.
    nth: OnceCell<Vec<u32>>,
}

impl<'t> Filter<'t> {
    /// `None` when nothing can match because an anchor is missing.
    pub(super) fn new(tree: &'t Tree, plan: &'t Plan) -> Option<Self> {
        let anchors = plan.spatial.iter().map(|(side, anchor)| {
            let first = find(tree, anchor).first().copied();
            Some((*side, tree.get(first?)?.bounds?))
        });
        let child = match &plan.contains_child {
            Some(child) => Some(Box::new(Self::new(tree, child)?)),
            None => None,
        };
        let descendants = plan.contains_descendants.iter().map(|wanted| {
            let wanted = Filter::new(tree, wanted)?;
            let ids = (0..).take(tree.len());
            Some(ids.filter(|&id| wanted.accepts(NodeId(id))).collect())
        });
        Some(Self {
            tree,
            plan,
            anchors: anchors.collect::<Option<_>>()?,
            child,
            descendants: descendants.collect::<Option<_>>()?,
            nth: OnceCell::new(),
        })
    }

    pub(super) fn accepts(&self, id: NodeId) -> bool {
        self.tree.get(id).is_some_and(|node| {
            self.block_holds(id, node)
                && self.sides_hold(node)
                && self.child_holds(id)
                && self.descendants_hold(id)
        })
    }

    fn block_holds(&self, id: NodeId, node: &Node) -> bool {
        self.plan.block.as_ref().is_none_or(|block| {
            block.family == Family::of(&node.detail)
                && block
                    .conditions
                    .iter()
                    .all(|condition| self.holds(condition, id, node))
        })
    }

    pub(super) fn holds(&self, condition: &Condition<Pattern>, id: NodeId, node: &Node) -> bool {
        condition.holds(&node.detail, || self.nth(id))
    }

    fn sides_hold(&self, node: &Node) -> bool {
        self.anchors.iter().all(|(side, anchor)| {
            node.bounds
                .is_some_and(|bounds| side.holds(&bounds, anchor))
        })
    }

    pub(super) fn child_holds(&self, id: NodeId) -> bool {
        self.child
            .as_ref()
            .is_none_or(|child| self.tree.children(id).any(|id| child.accepts(id)))
    }

    fn descendants_hold(&self, id: NodeId) -> bool {
        (0..self.descendants.len()).all(|index| self.descendant_holds(DescendantIndex(index), id))
    }

    /// Whether some descendant is what that part of `containsDescendants` wants.
    pub(super) fn descendant_holds(&self, index: DescendantIndex, id: NodeId) -> bool {
        let range = self.tree.descendants(id);
        self.descendants.get(index.0).is_some_and(|matching| {
            let first = matching.partition_point(|&found| found < range.start);
            matching.get(first).is_some_and(|&found| found < range.end)
        })
    }

    fn nth(&self, id: NodeId) -> u32 {
        let nth = self.nth.get_or_init(|| {
            let mut seen: HashMap<_, u32> = HashMap::new();
            let count = |node: &'t Node| {
                let count = seen.entry(descriptor(&node.detail)).or_default();
                *count += 1;
                *count - 1
            };
            self.tree.nodes().iter().map(count).collect()
        });
        nth.get(id.0 as usize).copied().unwrap_or(u32::MAX)
    }
}
