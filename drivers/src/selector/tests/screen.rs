//! Screens for tests: a tree written as nested calls.

use crate::geometry::Rect;
use crate::selector::{CompiledSelector, NodeSelector, resolve};
use crate::tree::{AndroidNode, IosNode, NodeDetail, NodeId, Tree, TreeBuilder, WebNode};

/// An element with its children.
pub(super) struct Element {
    detail: NodeDetail,
    bounds: Option<Rect>,
    children: Vec<Element>,
}

impl Element {
    /// Puts it at left, top, right, bottom.
    pub(super) fn at(mut self, left: f64, top: f64, right: f64, bottom: f64) -> Self {
        self.bounds = Some(Rect::new(left, top, right, bottom));
        self
    }

    pub(super) fn holding(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children = children.into_iter().collect();
        self
    }

    /// Says which app an Android element belongs to.
    pub(super) fn tagged(mut self, package: &str) -> Self {
        if let NodeDetail::Android(node) = &mut self.detail {
            node.package = Some(package.into());
        }
        self
    }

    pub(super) fn tree(self) -> Tree {
        let mut builder = TreeBuilder::new();
        self.build(&mut builder);
        builder.finish()
    }

    fn build(self, builder: &mut TreeBuilder) {
        builder.open(self.bounds, self.detail);
        for child in self.children {
            child.build(builder);
        }
        builder.close();
    }
}

fn element(detail: NodeDetail) -> Element {
    Element {
        detail,
        bounds: None,
        children: Vec::new(),
    }
}

pub(super) fn android(class: &str, change: impl FnOnce(&mut AndroidNode)) -> Element {
    let mut node = AndroidNode {
        class_name: Some(format!("android.widget.{class}")),
        is_enabled: true,
        is_visible: true,
        ..AndroidNode::default()
    };
    change(&mut node);
    element(NodeDetail::Android(Box::new(node)))
}

/// An Android element with a text.
pub(super) fn says(class: &str, text: &str) -> Element {
    android(class, |node| node.text = Some(text.into()))
}

pub(super) fn ios(kind: &str, change: impl FnOnce(&mut IosNode)) -> Element {
    let mut node = IosNode {
        element_type: Some(kind.into()),
        is_enabled: true,
        is_visible: true,
        ..IosNode::default()
    };
    change(&mut node);
    element(NodeDetail::Ios(Box::new(node)))
}

pub(super) fn web(role: &str, name: Option<&str>) -> Element {
    element(NodeDetail::Web(Box::new(WebNode {
        role: Some(role.into()),
        name: name.map(Into::into),
        ..WebNode::default()
    })))
}

pub(super) fn web_with(role: &str, change: impl FnOnce(&mut WebNode)) -> Element {
    let mut node = WebNode {
        role: Some(role.into()),
        ..WebNode::default()
    };
    change(&mut node);
    element(NodeDetail::Web(Box::new(node)))
}

/// A selector as a trail would hold it.
pub(super) fn selector(json: serde_json::Value) -> NodeSelector {
    serde_json::from_value(json).unwrap()
}

pub(super) fn compiled(json: serde_json::Value) -> CompiledSelector {
    CompiledSelector::new(&selector(json)).unwrap()
}

/// The places of the matches in document order, as the resolver orders them.
pub(super) fn found(tree: &Tree, json: serde_json::Value) -> Vec<u32> {
    let matches = resolve(tree, &compiled(json)).matches;
    matches.into_iter().map(|NodeId(place)| place).collect()
}
