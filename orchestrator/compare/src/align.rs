//! How one screen differs from another. Nodes are aligned first: by id, by role and name, by their
//! place among siblings; what is left was added or is missing.

mod expected;
mod items;
mod pairs;
mod text;

use packtrain_model::screen::ScreenTree;

use crate::answer::Item;

pub use expected::{Expectation, NameMatch, Place};
pub use text::Texts;

pub(crate) use items::{in_view, out_of_order, stands_by_itself};
pub(crate) use pairs::{equal, unique};
pub(crate) use text::{has_words, is_raw_key};

/// A screen made ready to be aligned with others.
#[derive(Debug, Clone)]
pub struct Prepared<'a> {
    tree: &'a ScreenTree,
    /// Names without what differs by nature, one for each node.
    names: Vec<String>,
    values: Vec<Option<String>>,
    /// Names and values as they are compared within a language: with their digits.
    exact: Vec<(String, Option<String>)>,
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

impl<'a> Prepared<'a> {
    /// Makes a screen ready.
    pub fn new(tree: &'a ScreenTree, texts: &Texts) -> Self {
        let nodes = || tree.nodes.iter();
        let mut open: Vec<usize> = Vec::new();
        let parents = nodes().enumerate().map(|(place, node)| {
            open.truncate(open.partition_point(|parent| tree.nodes[*parent].depth < node.depth));
            let parent = open.last().copied();
            open.push(place);
            parent
        });
        let names = nodes().map(|node| texts.normal(&node.name));
        let values = nodes().map(|node| node.value.as_ref().map(|value| texts.normal(value)));
        let exact = nodes().map(|node| {
            let value = node.value.as_ref().map(|value| texts.exact(value));
            (texts.exact(&node.name), value)
        });
        Self {
            tree,
            names: names.collect(),
            values: values.collect(),
            exact: exact.collect(),
            parents: parents.collect(),
        }
    }

    /// A node's name without what differs by nature.
    pub(crate) fn name(&self, node: usize) -> &str {
        &self.names[node]
    }

    /// A node's name and value as they are compared within a language.
    pub(crate) fn exact(&self, node: usize) -> (&str, Option<&str>) {
        let (name, value) = &self.exact[node];
        (name, value.as_deref())
    }

    /// The node that holds a node.
    pub(crate) fn parent(&self, node: usize) -> Option<usize> {
        self.parents[node]
    }

    /// The screen.
    pub const fn tree(&self) -> &'a ScreenTree {
        self.tree
    }
}

/// Aligns two screens.
pub fn align(was: &Prepared<'_>, is: &Prepared<'_>) -> Alignment {
    pairs::align(was, is)
}

/// How a screen differs from the one it is compared with, in the same configuration.
pub fn differences(was: &Prepared<'_>, is: &Prepared<'_>, alignment: &Alignment) -> Vec<Item> {
    items::of(was, is, alignment)
}

#[cfg(test)]
mod tests;
