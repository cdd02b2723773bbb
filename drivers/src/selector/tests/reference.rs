//! The resolver against one written straight from the description, on random screens.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use crate::geometry::Rect;
use crate::selector::{
    AndroidAccessibilityMatch, CompiledSelector, Dialect, IosMaestroMatch, NodeSelector, Pattern,
    WebMatch, resolve,
};
use crate::tree::{AndroidNode, IosNode, NodeDetail, NodeId, Tree, TreeBuilder, WebNode};

/// What the description says, with no thought of speed.
fn reference(tree: &Tree, selector: &NodeSelector) -> Vec<NodeId> {
    let everything: Vec<NodeId> = tree.iter().map(|(id, _)| id).collect();
    let scope = match &selector.child_of {
        None => everything,
        Some(parent) => {
            let mut scope = Vec::new();
            for parent in reference(tree, parent) {
                for id in tree.descendants(parent).map(NodeId) {
                    if !scope.contains(&id) {
                        scope.push(id);
                    }
                }
            }
            scope
        }
    };
    let mut matches: Vec<NodeId> = scope
        .into_iter()
        .filter(|&id| fits(tree, selector, id))
        .collect();
    let key = |id: &NodeId| {
        let bounds = tree.get(*id).unwrap().bounds;
        bounds.map_or((i64::MAX, i64::MAX), |b| (b.top as i64, b.left as i64))
    };
    matches.sort_by_key(key);
    match selector.index {
        None => matches,
        Some(index) => matches.into_iter().skip(index as usize).take(1).collect(),
    }
}

fn fits(tree: &Tree, selector: &NodeSelector, id: NodeId) -> bool {
    let node = tree.get(id).unwrap();
    let side = |anchor: &Option<Box<NodeSelector>>, holds: fn(Rect, Rect) -> bool| {
        let Some(anchor) = anchor else { return true };
        let anchor = reference(tree, anchor)
            .first()
            .and_then(|&id| tree.get(id).unwrap().bounds);
        matches!((node.bounds, anchor), (Some(n), Some(a)) if holds(n, a))
    };
    block_fits(tree, selector, id)
        && side(&selector.below, |n, a| n.top >= a.bottom)
        && side(&selector.above, |n, a| n.bottom <= a.top)
        && side(&selector.left_of, |n, a| n.right <= a.left)
        && side(&selector.right_of, |n, a| n.left >= a.right)
        && selector.contains_child.as_deref().is_none_or(|child| {
            let mut nodes = tree.iter();
            nodes.any(|(inner, node)| node.parent == Some(id) && fits(tree, child, inner))
        })
        && selector.contains_descendants.iter().all(|wanted| {
            let mut nodes = tree.iter().map(|(inner, _)| inner);
            nodes.any(|inner| tree.ancestors(inner).any(|up| up == id) && fits(tree, wanted, inner))
        })
}

fn block_fits(tree: &Tree, selector: &NodeSelector, id: NodeId) -> bool {
    let detail = &tree.get(id).unwrap().detail;
    let pattern = |want: &Option<String>, have: Option<&String>, dialect| {
        want.as_ref()
            .is_none_or(|want| have.is_some_and(|have| Pattern::new(want, dialect).matches(have)))
    };
    let blocks = [
        selector
            .android_accessibility
            .as_ref()
            .map(|want| match detail {
                NodeDetail::Android(have) => {
                    let text = have.text.as_ref().or(have.hint_text.as_ref());
                    let text = text.or(have.content_description.as_ref());
                    pattern(&want.text_regex, text, Dialect::Native)
                        && pattern(
                            &want.class_name_regex,
                            have.class_name.as_ref(),
                            Dialect::Native,
                        )
                        && want
                            .is_clickable
                            .is_none_or(|want| want == have.is_clickable)
                }
                _ => false,
            }),
        selector.ios_maestro.as_ref().map(|want| match detail {
            NodeDetail::Ios(have) => {
                pattern(
                    &want.accessibility_text_regex,
                    have.label.as_ref(),
                    Dialect::Maestro,
                ) && want.selected.is_none_or(|want| want == have.is_selected)
            }
            _ => false,
        }),
        selector.web.as_ref().map(|want| match detail {
            NodeDetail::Web(have) => {
                let before = tree.iter().take_while(|(other, _)| *other != id);
                let equal = before.filter(|(_, other)| match &other.detail {
                    NodeDetail::Web(other) => {
                        (&other.role, &other.name) == (&have.role, &have.name)
                    }
                    _ => false,
                });
                pattern(&want.aria_name_regex, have.name.as_ref(), Dialect::Native)
                    && want.aria_role.is_none_or_equals(have.role.as_ref())
                    && want
                        .nth_index
                        .is_none_or(|nth| nth as usize == equal.count())
            }
            _ => false,
        }),
    ];
    blocks.into_iter().flatten().all(|fits| fits)
}

trait NoneOrEquals {
    fn is_none_or_equals(&self, have: Option<&String>) -> bool;
}

impl NoneOrEquals for Option<String> {
    fn is_none_or_equals(&self, have: Option<&String>) -> bool {
        self.as_ref().is_none_or(|want| Some(want) == have)
    }
}

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "A", "b", "ab", "a+"]).prop_map(Into::into)
}

fn pattern() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "a", "b", "a+", "[aA]", ".*", "a.?", r"\Qa+\E", "(a", "(?!b).*",
    ])
    .prop_map(Into::into)
}

fn bounds() -> impl Strategy<Value = Option<Rect>> {
    let edge = || -2..6_i8;
    of((edge(), edge(), 0..4_i8, 0..4_i8)
        .prop_map(|(x, y, w, h)| Rect::new(x.into(), y.into(), (x + w).into(), (y + h).into())))
}

fn detail() -> impl Strategy<Value = NodeDetail> {
    let android = (
        of(word()),
        of(word()),
        of(word()),
        of(word()),
        any::<bool>(),
    )
        .prop_map(
            |(text, hint_text, content_description, class_name, is_clickable)| {
                NodeDetail::Android(Box::new(AndroidNode {
                    text,
                    hint_text,
                    content_description,
                    class_name,
                    is_clickable,
                    ..AndroidNode::default()
                }))
            },
        );
    let ios = (of(word()), any::<bool>()).prop_map(|(label, is_selected)| {
        NodeDetail::Ios(Box::new(IosNode {
            label,
            is_selected,
            ..IosNode::default()
        }))
    });
    let web = (of(word()), of(word())).prop_map(|(role, name)| {
        NodeDetail::Web(Box::new(WebNode {
            role: Some(role.unwrap_or_else(|| "text".into())),
            name,
            ..WebNode::default()
        }))
    });
    prop_oneof![3 => android, 1 => ios, 1 => web]
}

/// Random trees: each element goes up some levels from the one before it, then down one.
pub(super) fn tree(most: usize) -> impl Strategy<Value = Tree> {
    vec((0..5_usize, bounds(), detail()), 0..most).prop_map(|elements| {
        let mut builder = TreeBuilder::new();
        for (up, bounds, detail) in elements {
            for _ in 0..up.min(builder.depth().saturating_sub(1)) {
                builder.close();
            }
            builder.open(bounds, detail);
        }
        builder.finish()
    })
}

fn block() -> impl Strategy<Value = NodeSelector> {
    let android = (of(pattern()), of(pattern()), of(any::<bool>())).prop_map(
        |(text_regex, class_name_regex, is_clickable)| {
            AndroidAccessibilityMatch {
                text_regex,
                class_name_regex,
                is_clickable,
                ..AndroidAccessibilityMatch::default()
            }
            .into()
        },
    );
    let ios =
        (of(pattern()), of(any::<bool>())).prop_map(|(accessibility_text_regex, selected)| {
            IosMaestroMatch {
                accessibility_text_regex,
                selected,
                ..IosMaestroMatch::default()
            }
            .into()
        });
    let web = (of(word()), of(pattern()), of(0..3_u32)).prop_map(
        |(aria_role, aria_name_regex, nth_index)| {
            WebMatch {
                aria_role,
                aria_name_regex,
                nth_index,
                ..WebMatch::default()
            }
            .into()
        },
    );
    prop_oneof![2 => Just(NodeSelector::default()), 4 => android, 1 => ios, 1 => web]
}

pub(super) fn selector() -> impl Strategy<Value = NodeSelector> {
    block().prop_recursive(3, 12, 3, |inner| {
        let relation = (0..7_u8, inner.clone(), inner);
        (block(), vec(relation, 0..3), of(0..4_u32)).prop_map(|(mut selector, relations, index)| {
            for (which, nested, second) in relations {
                let boxed = Some(Box::new(nested.clone()));
                match which {
                    0 => selector.below = boxed,
                    1 => selector.above = boxed,
                    2 => selector.left_of = boxed,
                    3 => selector.right_of = boxed,
                    4 => selector.child_of = boxed,
                    5 => selector.contains_child = boxed,
                    _ => selector.contains_descendants = vec![nested, second],
                }
            }
            selector.index = index;
            selector
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn the_resolver_agrees_with_the_description(tree in tree(30), selector in selector()) {
        let compiled = CompiledSelector::new(&selector).unwrap();
        prop_assert_eq!(resolve(&tree, &compiled).matches, reference(&tree, &selector));
    }
}
