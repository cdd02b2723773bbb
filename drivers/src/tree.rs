//! The neutral UI tree: nodes in document order, each keeping its platform's facts whole.
//!
//! Nodes lie in one vector in pre-order, so the descendants of a node are a contiguous range.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::geometry::Rect;

/// A node's place in its tree, in document order; the root is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

/// One node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// The node it hangs on; `None` for the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<NodeId>,
    /// One past the last descendant.
    #[serde(skip)]
    end: u32,
    /// Where it is on the screen, when the platform says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Rect>,
    /// What the platform knows of it.
    #[serde(flatten)]
    pub detail: NodeDetail,
}

/// What a platform knows of a node, whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "platform", rename_all = "lowercase")]
pub enum NodeDetail {
    /// From Android's accessibility tree.
    Android(Box<AndroidNode>),
    /// From XCTest's element tree.
    Ios(Box<IosNode>),
    /// From a browser's accessibility tree.
    Web(Box<WebNode>),
}

/// An Android accessibility node. Texts are `None` when the attribute is absent or empty.
#[derive(Debug, Clone, Default, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the names are Android's own attributes")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the flags are Android's own attributes"
)]
pub struct AndroidNode {
    pub class_name: Option<String>,
    pub package: Option<String>,
    pub resource_id: Option<String>,
    pub unique_id: Option<String>,
    pub text: Option<String>,
    pub content_description: Option<String>,
    pub hint_text: Option<String>,
    pub labeled_by_text: Option<String>,
    pub state_description: Option<String>,
    pub pane_title: Option<String>,
    pub role_description: Option<String>,
    pub compose_test_tag: Option<String>,
    pub input_type: Option<i64>,
    pub collection_item_row_index: Option<i64>,
    pub collection_item_column_index: Option<i64>,
    pub is_enabled: bool,
    pub is_clickable: bool,
    pub is_long_clickable: bool,
    pub is_checkable: bool,
    pub is_checked: bool,
    pub is_selected: bool,
    pub is_focusable: bool,
    pub is_focused: bool,
    pub is_editable: bool,
    pub is_scrollable: bool,
    pub is_password: bool,
    pub is_heading: bool,
    pub is_multi_line: bool,
    pub is_visible: bool,
}

/// An XCTest element.
#[derive(Debug, Clone, Default, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the names are WebDriverAgent's own attributes")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the flags are WebDriverAgent's own attributes"
)]
pub struct IosNode {
    /// Short form, without `XCUIElementType`: `Button`.
    pub element_type: Option<String>,
    /// Accessibility identifier.
    pub identifier: Option<String>,
    pub name: Option<String>,
    pub label: Option<String>,
    pub value: Option<String>,
    pub placeholder: Option<String>,
    pub title: Option<String>,
    pub role: Option<String>,
    pub subrole: Option<String>,
    pub traits: Vec<String>,
    pub custom_actions: Vec<String>,
    pub is_enabled: bool,
    pub is_visible: bool,
    pub is_accessible: bool,
    pub is_focused: bool,
    pub is_selected: bool,
}

/// An element of a page as assistive technology sees it.
#[derive(Debug, Clone, Default, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebNode {
    /// ARIA role.
    pub role: Option<String>,
    /// Accessible name.
    pub name: Option<String>,
    /// Level of a heading.
    pub level: Option<u32>,
    /// Text or value.
    pub value: Option<String>,
    /// The compact list's reference, `e1` and up.
    pub reference: Option<String>,
    /// States as the ARIA snapshot prints them: `checked`, `disabled`, `expanded` ...
    pub states: Vec<String>,
    /// CSS selector, when asked for.
    pub css_selector: Option<String>,
    /// `data-testid`, when asked for.
    pub test_id: Option<String>,
}

/// A UI tree.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tree {
    #[serde(deserialize_with = "nodes")]
    nodes: Vec<Node>,
}

/// Nodes with their ends, which are not written but derived from the nodes' parents.
fn nodes<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<Node>, D::Error> {
    let mut nodes = Vec::<Node>::deserialize(from)?;
    for index in (0..nodes.len()).rev() {
        let id = u32::try_from(index).map_err(serde::de::Error::custom)?;
        let end = nodes[index].end.max(id + 1);
        nodes[index].end = end;
        let Some(parent) = nodes[index].parent else {
            continue;
        };
        if parent >= NodeId(id) {
            return Err(serde::de::Error::custom("a node before its parent"));
        }
        let above = &mut nodes[parent.0 as usize];
        above.end = above.end.max(end);
    }
    Ok(nodes)
}

impl Tree {
    /// All nodes in document order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// How many nodes there are.
    pub const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A node by its place; `None` when the id belongs to another tree.
    pub fn get(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0 as usize)
    }

    /// Every node with its id, in document order.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        (0..).map(NodeId).zip(&self.nodes)
    }

    /// The ids of everything below `id`, in document order, `id` itself excluded.
    pub fn descendants(&self, id: NodeId) -> Range<u32> {
        match self.get(id) {
            Some(node) => id.0 + 1..node.end,
            None => 0..0,
        }
    }

    /// The ids of the direct children of `id`.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let range = self.descendants(id);
        let mut next = range.start;
        std::iter::from_fn(move || {
            (next < range.end).then(|| {
                let child = NodeId(next);
                next = self.nodes[next as usize].end;
                child
            })
        })
    }

    /// The chain of parents of `id`, nearest first.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.get(id).and_then(|node| node.parent), |&id| {
            self.get(id).and_then(|node| node.parent)
        })
    }
}

/// Builds a tree in document order: open a node, build its children, close it.
#[derive(Debug, Default)]
pub struct TreeBuilder {
    nodes: Vec<Node>,
    open: Vec<NodeId>,
}

impl TreeBuilder {
    /// An empty tree.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many nodes were opened so far.
    pub const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing was opened yet.
    pub const fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// How many nodes are open now.
    pub const fn depth(&self) -> usize {
        self.open.len()
    }

    /// Starts a node below the one that is open.
    pub fn open(&mut self, bounds: Option<Rect>, detail: NodeDetail) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node {
            parent: self.open.last().copied(),
            end: id.0 + 1,
            bounds,
            detail,
        });
        self.open.push(id);
        id
    }

    /// Ends the node opened last.
    pub fn close(&mut self) {
        let end = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        if let Some(node) = self
            .open
            .pop()
            .and_then(|id| self.nodes.get_mut(id.0 as usize))
        {
            node.end = end;
        }
    }

    /// The finished tree; nodes still open are closed.
    pub fn finish(mut self) -> Tree {
        while !self.open.is_empty() {
            self.close();
        }
        Tree { nodes: self.nodes }
    }
}
