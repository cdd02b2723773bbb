//! The elements WebDriverAgent tells of, read into a tree as if they were hostile.
//!
//! Wire: `/source?format=json` of <https://github.com/appium/WebDriverAgent>
//! (`XCUIApplication+FBHelpers.m`). Flags are texts there, `"1"` and `"0"`; older versions send
//! numbers. The number of elements is counted while they are read; serde_json bounds the depth.

mod element;
#[cfg(test)]
mod tests;

use std::cell::Cell;

use packtrain_drivers::tree::IosNode;
use packtrain_drivers::{NodeDetail, Size, Tree, TreeBuilder};
use serde::de::DeserializeSeed;

use self::element::{Element, ElementSeed};

/// Most elements of a screen: WebDriverAgent needs a minute for some thousand.
pub(crate) const MAX_ELEMENTS: usize = 50_000;

/// Why a text is not a tree of elements.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read the screen's elements: {0}")]
pub(crate) struct SourceError(String);

/// Reads the elements from the JSON of a `value`.
///
/// # Errors
/// When it is not JSON of that form, nests deeper than JSON is read, or has too many elements.
pub(crate) fn read(json: &str) -> Result<Tree, SourceError> {
    let left = Cell::new(MAX_ELEMENTS);
    let mut reader = serde_json::Deserializer::from_str(json);
    let root = ElementSeed(&left)
        .deserialize(&mut reader)
        .and_then(|root| reader.end().map(|()| root))
        .map_err(|error| SourceError(error.to_string()))?;
    Ok(build(root))
}

fn build(root: Element) -> Tree {
    let mut tree = TreeBuilder::new();
    // What is still to be opened, and markers for what is to be closed, last one first.
    let mut steps = vec![Some(root)];
    while let Some(step) = steps.pop() {
        let Some(element) = step else {
            tree.close();
            continue;
        };
        let Element {
            node,
            bounds,
            children,
        } = element;
        tree.open(bounds, NodeDetail::Ios(Box::new(node)));
        steps.push(None);
        steps.extend(children.into_iter().rev().map(Some));
    }
    tree.finish()
}

/// The node's facts, which are an iPhone's in every tree this crate reads.
pub(crate) fn ios(detail: &NodeDetail) -> Option<&IosNode> {
    match detail {
        NodeDetail::Ios(node) => Some(node),
        NodeDetail::Android(_) | NodeDetail::Web(_) => None,
    }
}

/// What the app in front calls itself, and the size of the screen as it is held.
pub(crate) fn root(tree: &Tree) -> (Option<&str>, Option<Size>) {
    let root = tree.nodes().first();
    let size = root
        .and_then(|root| root.bounds)
        .map(|bounds| Size::new(bounds.width(), bounds.height()))
        .filter(|size| size.width > 0.0 && size.height > 0.0);
    let label = root
        .and_then(|root| ios(&root.detail))
        .and_then(|node| node.label.as_deref().or(node.name.as_deref()));
    (label, size)
}
