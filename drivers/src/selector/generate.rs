//! A durable selector for an element on the screen.
//!
//! Tried in order of how long each is likely to hold: identifiers, texts, texts with a class;
//! then what the element contains; then what it lies in; and only then its place among equals.
//! Every try is resolved, so the answer names exactly the element it was asked for.

mod own;

use super::compile::CompiledSelector;
use super::resolve::{find_all, resolve};
use super::{Match, NodeSelector};
use crate::tree::{NodeId, Tree};

/// Most selectors tried with relations, which bounds the time on large trees.
const MAX_TRIES: usize = 60;
/// How many children and other descendants are tried as a mark of their container.
const MAX_CONTENTS: usize = 6;
/// How many containers are tried, the nearest first.
const MAX_ANCESTORS: usize = 6;
/// How far around an element its neighbours are looked at.
const MAX_NEIGHBOURS: usize = 50;

/// Writes a selector that resolves to just this element. An id of another tree gives one that
/// matches nothing.
pub fn selector_for(tree: &Tree, id: NodeId) -> NodeSelector {
    let Some(node) = tree.get(id) else {
        return NodeSelector {
            index: Some(u32::MAX),
            ..NodeSelector::default()
        };
    };
    let own = own::candidates(&node.detail);
    if let Some(found) = own.iter().find(|selector| names_only(tree, selector, id)) {
        return found.clone();
    }
    let bases: Vec<NodeSelector> = own
        .into_iter()
        .filter(|selector| matches(tree, selector).contains(&id))
        .collect();
    with_contents(tree, id, &bases)
        .chain(within(tree, id, &bases))
        .take(MAX_TRIES)
        .find(|selector| names_only(tree, selector, id))
        .unwrap_or_else(|| by_place(tree, id, &bases))
}

fn names_only(tree: &Tree, selector: &NodeSelector, id: NodeId) -> bool {
    CompiledSelector::new(selector)
        .is_ok_and(|selector| resolve(tree, &selector).outcome() == Match::Single(id))
}

fn matches(tree: &Tree, selector: &NodeSelector) -> Vec<NodeId> {
    CompiledSelector::new(selector).map_or_else(|_| Vec::new(), |s| find_all(tree, &s.plan))
}

/// The element by what is in it: a row by its title.
fn with_contents<'a>(
    tree: &'a Tree,
    id: NodeId,
    bases: &'a [NodeSelector],
) -> impl Iterator<Item = NodeSelector> + 'a {
    let marks = |id: NodeId| {
        let detail = tree.get(id).map(|node| &node.detail);
        detail.into_iter().flat_map(own::marks)
    };
    let children = tree
        .children(id)
        .take(MAX_CONTENTS)
        .flat_map(marks)
        .map(|mark| NodeSelector {
            contains_child: Some(Box::new(mark)),
            ..NodeSelector::default()
        });
    let deeper = tree
        .descendants(id)
        .take(MAX_NEIGHBOURS)
        .map(NodeId)
        .filter(move |&inner| tree.get(inner).is_some_and(|node| node.parent != Some(id)))
        .flat_map(marks)
        .take(MAX_CONTENTS)
        .map(|mark| NodeSelector {
            contains_descendants: vec![mark],
            ..NodeSelector::default()
        });
    // The least demanding base lasts longest beside a mark; it is the last one.
    let base = bases.last().cloned().unwrap_or_default();
    children.chain(deeper).map(move |contents| NodeSelector {
        contains_child: contents.contains_child,
        contains_descendants: contents.contains_descendants,
        ..base.clone()
    })
}

/// The element by what it is in.
fn within<'a>(
    tree: &'a Tree,
    id: NodeId,
    bases: &'a [NodeSelector],
) -> impl Iterator<Item = NodeSelector> + 'a {
    let containers = tree
        .ancestors(id)
        .take(MAX_NEIGHBOURS)
        .filter_map(move |ancestor| {
            let own = own::candidates(&tree.get(ancestor)?.detail);
            own.into_iter()
                .find(|selector| names_only(tree, selector, ancestor))
        });
    containers.take(MAX_ANCESTORS).flat_map(move |container| {
        bases.iter().map(move |base| NodeSelector {
            child_of: Some(Box::new(container.clone())),
            ..base.clone()
        })
    })
}

/// The element by its place among those that look the same.
fn by_place(tree: &Tree, id: NodeId, bases: &[NodeSelector]) -> NodeSelector {
    let everything = NodeSelector::default();
    let place = |selector: &NodeSelector| {
        let matches = matches(tree, selector);
        let place = matches.iter().position(|&found| found == id)?;
        Some((matches.len(), u32::try_from(place).ok()?))
    };
    let found = bases
        .iter()
        .chain([&everything])
        .filter_map(|base| place(base).map(|(count, place)| (count, place, base)))
        .min_by_key(|(count, ..)| *count);
    match found {
        Some((_, place, base)) => NodeSelector {
            index: Some(place),
            ..base.clone()
        },
        None => everything,
    }
}
