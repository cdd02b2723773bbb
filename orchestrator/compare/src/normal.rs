//! Screens of all platforms in one notation, so that they can be compared: unnamed wrappers dropped,
//! keyboard and status bars left out, roles mapped to a few words.

mod android;
mod ios;
mod web;

use packtrain_drivers::{Hidden, HiddenBecause, NodeDetail, NodeId, Rect, Snapshot, Tree};
use packtrain_model::screen::{NOTATION, ScreenNode, ScreenTree};

use crate::defects::named;

/// The longest name or value that is kept, in characters.
const MAX_TEXT: usize = 2_000;

/// A screen in the notation of comparisons, with what a phone's tree has and does not show. What a
/// page hides, its driver tells.
pub fn screen(snapshot: &Snapshot) -> ScreenTree {
    let mut screen = ScreenTree {
        notation: NOTATION,
        width: snapshot.screen.width,
        height: snapshot.screen.height,
        title: snapshot.title.clone(),
        location: snapshot.location.clone(),
        hidden: Vec::new(),
        nodes: Vec::new(),
    };
    let nodes = snapshot.tree.nodes().iter().zip(0..);
    for (_, place) in nodes.filter(|(node, _)| node.parent.is_none()) {
        add(&snapshot.tree, NodeId(place), &mut screen);
    }
    screen
}

/// The bytes a screen is stored as, and its digest is of: the same for the same screen.
pub fn json(tree: &ScreenTree) -> Vec<u8> {
    serde_json::to_vec(tree).unwrap_or_default()
}

/// What a platform's node is in the notation of comparisons.
#[derive(Debug, Clone, PartialEq)]
enum Reading {
    /// It and everything below it is left out.
    Drop,
    /// It is left out; what is below it is not.
    Wrapper,
    /// The same, and it is reported as hidden.
    Hidden(ScreenNode),
    /// It is kept.
    Keep(ScreenNode),
}

impl Reading {
    fn of(detail: &NodeDetail, holds_others: bool) -> Self {
        match detail {
            NodeDetail::Android(android) => android::read(android),
            NodeDetail::Ios(ios) => ios::read(ios, holds_others),
            NodeDetail::Web(web) => web::read(web),
        }
    }
}

/// Reads a node and everything below it, on a stack of its own: a hostile tree is deep.
fn add(tree: &Tree, root: NodeId, screen: &mut ScreenTree) {
    let mut open = vec![(root, 0_u32)];
    while let Some((id, depth)) = open.pop() {
        let Some(node) = tree.get(id) else { continue };
        let holds_others = !tree.descendants(id).is_empty();
        let below = match Reading::of(&node.detail, holds_others) {
            Reading::Drop => continue,
            Reading::Wrapper => depth,
            Reading::Hidden(mut node) => {
                if !node.name.is_empty() && screen.hidden.len() < Hidden::MAX {
                    node.name = cut(&node.name);
                    screen.hidden.push(Hidden {
                        element: named(&node),
                        why: HiddenBecause::Other,
                        behind: None,
                    });
                }
                depth
            }
            Reading::Keep(mut kept) => {
                kept.depth = depth;
                kept.bounds = node.bounds.map(whole);
                let mut absorbed = false;
                if kept.name.is_empty() && is_actionable(&kept.role) && kept.role != "textbox" {
                    let (name, is_whole) = text_below(tree, id);
                    kept.name = name;
                    absorbed = is_whole && !kept.name.is_empty();
                }
                kept.states.sort();
                kept.states.dedup();
                let keep =
                    !kept.name.is_empty() || kept.value.is_some() || stands_unnamed(&kept.role);
                if keep {
                    kept.name = cut(&kept.name);
                    kept.value = kept.value.as_deref().map(cut);
                    screen.nodes.push(kept);
                }
                if absorbed {
                    continue;
                }
                depth + u32::from(keep)
            }
        };
        let children: Vec<NodeId> = tree.children(id).collect();
        open.extend(children.into_iter().rev().map(|child| (child, below)));
    }
}

/// The texts below an element that has no name, and whether there is nothing else below it.
fn text_below(tree: &Tree, id: NodeId) -> (String, bool) {
    let mut texts: Vec<String> = Vec::new();
    for below in tree.descendants(id) {
        let read = tree.get(NodeId(below));
        let read = read.map(|node| Reading::of(&node.detail, false));
        let Some(Reading::Keep(kept)) = read else {
            continue;
        };
        match kept.role.as_str() {
            "text" | "image" | "heading" | "group" if texts.len() < 8 => {
                if !kept.name.is_empty() && !texts.contains(&kept.name) {
                    texts.push(kept.name);
                }
            }
            _ => return (String::new(), false),
        }
    }
    (texts.join(" "), true)
}

/// Whether a person can act on elements of a role.
pub fn is_actionable(role: &str) -> bool {
    const ROLES: [&str; 11] = [
        "button", "link", "textbox", "combobox", "checkbox", "radio", "switch", "slider", "tab",
        "menuitem", "option",
    ];
    ROLES.contains(&role)
}

/// Whether an element without a name says something: a person can act on it, or it holds others in a
/// way that matters.
fn stands_unnamed(role: &str) -> bool {
    let others = ["dialog", "list", "table", "scroller", "progressbar"];
    is_actionable(role) || others.contains(&role)
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

fn whole(rect: Rect) -> [i32; 4] {
    // A cast of a float to an integer is bounded, and 0 for what is not a number.
    [rect.left, rect.top, rect.right, rect.bottom].map(|edge| edge.round() as i32)
}

/// A phone's node with the states that it has.
fn told(mut node: ScreenNode, states: [(bool, &str); 3], is_visible: bool) -> Reading {
    let states = states.into_iter().filter(|(is, _)| *is);
    node.states = states.map(|(_, state)| state.to_owned()).collect();
    match is_visible {
        true => Reading::Keep(node),
        false => Reading::Hidden(node),
    }
}

/// A node of a role and a name.
fn node(role: &str, name: &str) -> ScreenNode {
    ScreenNode {
        role: role.to_owned(),
        name: name.split_whitespace().collect::<Vec<_>>().join(" "),
        ..ScreenNode::default()
    }
}

#[cfg(test)]
mod tests;
