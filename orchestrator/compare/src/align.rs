//! How one screen differs from another. Nodes are aligned first: by id, by role and name, by their
//! place among siblings; what is left was added or is missing.

mod expected;
mod items;
mod pairs;
mod text;

use std::collections::BTreeSet;

use packtrain_model::screen::ScreenTree;

use crate::answer::Item;

pub use expected::{Expectation, NameMatch, Place};
pub use text::Texts;

pub(crate) use items::in_view;

/// A screen made ready to be aligned with others.
#[derive(Debug, Clone)]
pub struct Prepared<'a> {
    tree: &'a ScreenTree,
    /// Names without what differs by nature, one for each node.
    names: Vec<String>,
    values: Vec<Option<String>>,
    /// The place of each node's parent.
    parents: Vec<Option<usize>>,
}

/// What two screens have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Alignment {
    /// For each node of the first, its place in the second.
    pub to: Vec<Option<usize>>,
    /// For each node of the second, its place in the first.
    pub from: Vec<Option<usize>>,
}

/// In what two cells differ, as far as it explains differences of their screens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Varied {
    /// The axes that differ: `locale`, `viewport`, `platform` ...
    pub axes: BTreeSet<String>,
    /// Whether the languages differ, and not only the countries.
    pub language: bool,
}

impl<'a> Prepared<'a> {
    /// Makes a screen ready.
    pub fn new(tree: &'a ScreenTree, texts: &Texts) -> Self {
        let mut open: Vec<usize> = Vec::new();
        let parents = tree
            .nodes
            .iter()
            .enumerate()
            .map(|(place, node)| {
                while open
                    .last()
                    .is_some_and(|parent| tree.nodes[*parent].depth >= node.depth)
                {
                    open.pop();
                }
                let parent = open.last().copied();
                open.push(place);
                parent
            })
            .collect();
        Self {
            tree,
            names: tree
                .nodes
                .iter()
                .map(|node| texts.normal(&node.name))
                .collect(),
            values: tree
                .nodes
                .iter()
                .map(|node| node.value.as_ref().map(|value| texts.normal(value)))
                .collect(),
            parents,
        }
    }

    /// The screen.
    pub const fn tree(&self) -> &'a ScreenTree {
        self.tree
    }
}

impl Alignment {
    /// The alignment of the first screen with a third one, to which the second is aligned by `next`.
    pub fn through(&self, next: &Self) -> Self {
        let chain = |first: &[Option<usize>], second: &[Option<usize>]| {
            first
                .iter()
                .map(|place| place.and_then(|place| second.get(place).copied().flatten()))
                .collect()
        };
        Self {
            to: chain(&self.to, &next.to),
            from: chain(&next.from, &self.from),
        }
    }
}

/// Aligns two screens.
pub fn align(was: &Prepared<'_>, is: &Prepared<'_>) -> Alignment {
    pairs::align(was, is)
}

/// How a screen differs from the one it is compared with, and what of it the axes explain. `uses` are
/// the roles and names of elements that a recording of the step uses.
pub fn differences(
    was: &Prepared<'_>,
    is: &Prepared<'_>,
    alignment: &Alignment,
    varied: &Varied,
    uses: &[(String, String)],
) -> Vec<Item> {
    let mut items = items::of(was, is, alignment, varied);
    for item in &mut items {
        item.expected_by = expected::by_axis(item, varied, uses).map(str::to_owned);
    }
    items
}

#[cfg(test)]
mod tests;
