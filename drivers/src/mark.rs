//! What a screen showed, in a number: two looks with the same mark showed the same screen.
//!
//! This is the only definition of "the same screen". It covers all that a selector, an assertion
//! or a reader could tell apart: which elements there are, how they nest, where they are on a
//! phone, their texts and their states. It does not cover what goes on around the app (system
//! bars, unless nothing else is on the screen), nor what depends on how the snapshot was taken
//! (on a page: bounds, numbers, CSS selectors).

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::tree::{Node, NodeDetail, Tree, WebNode};

/// What a screen showed. Of use to this program only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ScreenMark(u64);

impl ScreenMark {
    /// The mark of a screen.
    pub fn of(tree: &Tree) -> Self {
        let mut hasher = DefaultHasher::new();
        let skip_system = has_app(tree);
        for (id, node) in tree.iter() {
            if !(skip_system && is_system(node)) {
                // A node and where it ends say how the tree nests.
                (id, tree.descendants(id).end).hash(&mut hasher);
                hash_node(node, &mut hasher);
            }
        }
        Self(hasher.finish())
    }
}

fn hash_node(node: &Node, hasher: &mut DefaultHasher) {
    match &node.detail {
        NodeDetail::Android(detail) => detail.hash(hasher),
        NodeDetail::Ios(detail) => detail.hash(hasher),
        NodeDetail::Web(detail) => {
            let WebNode {
                role,
                name,
                level,
                value,
                states,
                reference: _,
                css_selector: _,
                test_id: _,
            } = &**detail;
            (role, name, level, value, states).hash(hasher);
            return;
        }
    }
    let edges = node.bounds.map(|bounds| {
        // Adding zero makes the two zeros equal.
        [bounds.left, bounds.top, bounds.right, bounds.bottom].map(|edge| (edge + 0.0).to_bits())
    });
    edges.hash(hasher);
}

/// Status and navigation bars, which no test is about.
pub(crate) fn is_system(node: &Node) -> bool {
    match &node.detail {
        NodeDetail::Android(node) => node
            .package
            .as_ref()
            .is_some_and(|package| package.starts_with("com.android.systemui")),
        NodeDetail::Ios(_) | NodeDetail::Web(_) => false,
    }
}

/// Whether there is anything but system bars; the notification shade is all system.
pub(crate) fn has_app(tree: &Tree) -> bool {
    tree.nodes().iter().any(|node| match &node.detail {
        NodeDetail::Android(android) => android.package.is_some() && !is_system(node),
        NodeDetail::Ios(_) | NodeDetail::Web(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Rect;
    use crate::tree::{AndroidNode, TreeBuilder};

    fn tree(nodes: impl IntoIterator<Item = (Option<Rect>, NodeDetail)>) -> Tree {
        let mut tree = TreeBuilder::new();
        for (bounds, detail) in nodes {
            tree.open(bounds, detail);
            tree.close();
        }
        tree.finish()
    }

    fn android(change: impl FnOnce(&mut AndroidNode)) -> NodeDetail {
        let mut node = AndroidNode {
            package: Some("com.example".into()),
            text: Some("Save".into()),
            ..AndroidNode::default()
        };
        change(&mut node);
        NodeDetail::Android(Box::new(node))
    }

    fn mark(nodes: impl IntoIterator<Item = (Option<Rect>, NodeDetail)>) -> ScreenMark {
        ScreenMark::of(&tree(nodes))
    }

    const HERE: Option<Rect> = Some(Rect {
        left: 0.0,
        top: 0.0,
        right: 10.0,
        bottom: 10.0,
    });

    #[test]
    fn whatever_a_selector_could_tell_apart_is_another_screen() {
        let before = mark([(HERE, android(|_| ()))]);
        assert_eq!(before, mark([(HERE, android(|_| ()))]));
        let moved = HERE.map(|here| Rect { top: 1.0, ..here });
        for after in [
            mark([]),
            mark([(None, android(|_| ()))]),
            mark([(moved, android(|_| ()))]),
            mark([(HERE, android(|node| node.text = Some("Saved".into())))]),
            mark([(HERE, android(|node| node.hint_text = Some("Save".into())))]),
            mark([(HERE, android(|node| node.is_enabled = true))]),
            mark([(HERE, android(|node| node.is_focused = true))]),
            mark([(HERE, android(|_| ())), (HERE, android(|_| ()))]),
            mark([(HERE, NodeDetail::Ios(Box::default()))]),
        ] {
            assert_ne!(before, after);
        }
    }

    #[test]
    fn nesting_counts() {
        let two = |nested: bool| {
            let mut tree = TreeBuilder::new();
            tree.open(HERE, NodeDetail::Ios(Box::default()));
            if !nested {
                tree.close();
            }
            tree.open(HERE, NodeDetail::Ios(Box::default()));
            ScreenMark::of(&tree.finish())
        };
        assert_ne!(two(true), two(false));
    }

    #[test]
    fn the_clock_in_the_status_bar_is_no_change_unless_nothing_else_is_there() {
        let clock = |time: &str| {
            let node = android(|node| {
                node.package = Some("com.android.systemui".into());
                node.text = Some(time.into());
            });
            (HERE, node)
        };
        let app = || (HERE, android(|_| ()));
        assert_eq!(mark([app(), clock("9:41")]), mark([app(), clock("9:42")]));
        assert_ne!(mark([clock("9:41")]), mark([clock("9:42")]));
    }

    #[test]
    fn how_a_page_was_read_is_no_change() {
        let page = |bounds, css: Option<&str>| {
            let node = WebNode {
                role: Some("button".into()),
                css_selector: css.map(str::to_owned),
                ..WebNode::default()
            };
            mark([(bounds, NodeDetail::Web(Box::new(node)))])
        };
        assert_eq!(page(HERE, Some("#save")), page(None, None));
    }

    #[test]
    fn a_tree_that_was_written_and_read_is_the_same() {
        let named = |name: &str| {
            let text = Some(name.to_owned());
            let detail = AndroidNode {
                text,
                ..AndroidNode::default()
            };
            NodeDetail::Android(Box::new(detail))
        };
        let mut tree = TreeBuilder::new();
        for name in ["root", "list", "item"] {
            tree.open(None, named(name));
        }
        tree.close();
        tree.open(Some(Rect::new(0.5, 1.0, 2.25, 3.0)), named("other item"));
        tree.close();
        tree.close();
        tree.open(None, named("last"));
        for tree in [tree.finish(), Tree::default()] {
            let written = serde_json::to_string(&tree).unwrap();
            let read: Tree = serde_json::from_str(&written).unwrap();
            assert_eq!(read, tree);
        }
        let wrong = r#"[{"parent":0,"platform":"web"}]"#;
        assert!(serde_json::from_str::<Tree>(wrong).is_err());
    }
}
