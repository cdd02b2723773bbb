//! What to call an element: its role, and its text as a person would read it.

use crate::selector::condition::own_value;
use crate::selector::describe::quote;
use crate::tree::{AndroidNode, IosNode, Node, NodeDetail, NodeId, Tree};

/// Longest label, in characters.
const MAX_LABEL: usize = 120;

/// The element's role or short class name.
pub(in crate::selector) fn role(node: &Node) -> String {
    let role = match &node.detail {
        NodeDetail::Android(node) => node.class_name.as_deref().map(short_class),
        NodeDetail::Ios(node) => node.element_type.as_deref(),
        NodeDetail::Web(node) => node.role.as_deref(),
    };
    tidy(role).unwrap_or_else(|| "element".to_owned())
}

/// The element in a few words: `Button "Save"`.
pub(in crate::selector) fn describe(tree: &Tree, id: NodeId) -> String {
    let role = tree.get(id).map_or_else(String::new, role);
    match label(tree, id) {
        Some(label) => format!("{role} {}", quote(&label)),
        None => role,
    }
}

/// The element's text, on one line; for a text-less control that of its first child that has
/// one.
pub(in crate::selector) fn label(tree: &Tree, id: NodeId) -> Option<String> {
    let node = tree.get(id)?;
    own_label(node, Part::Whole).or_else(|| borrowed_label(tree, id, node))
}

/// The part of the label that does not change when the element is used.
pub(super) fn lasting(tree: &Tree, id: NodeId) -> Option<String> {
    let node = tree.get(id)?;
    own_label(node, Part::Lasting).or_else(|| borrowed_label(tree, id, node))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    Lasting,
}

fn own_label(node: &Node, part: Part) -> Option<String> {
    match &node.detail {
        NodeDetail::Android(node) => android_label(node, part),
        NodeDetail::Ios(node) => ios_label(node, part),
        NodeDetail::Web(node) => tidy(node.name.as_deref())
            .or_else(|| tidy(node.value.as_deref()).filter(|_| part == Part::Whole)),
    }
}

fn android_label(node: &AndroidNode, part: Part) -> Option<String> {
    let text = tidy(node.text.as_deref());
    let name = tidy(node.hint_text.as_deref())
        .or_else(|| tidy(node.labeled_by_text.as_deref()))
        .or_else(|| tidy(node.content_description.as_deref()))
        .or_else(|| tidy(node.pane_title.as_deref()));
    if node.is_editable {
        return join(name, text, part);
    }
    text.or(name)
}

fn ios_label(node: &IosNode, part: Part) -> Option<String> {
    let title = tidy(node.title.as_deref());
    let label = tidy(node.label.as_deref());
    // What a switch or a slider stands at is a state, not its name.
    let value = match node.element_type.as_deref() {
        Some("Switch" | "Toggle") => None,
        _ => tidy(own_value(node)),
    };
    let name = label
        .or(title)
        .or_else(|| tidy(node.placeholder.as_deref()));
    join(name, value, part)
}

/// `Email: me@example.com`
fn join(name: Option<String>, value: Option<String>, part: Part) -> Option<String> {
    match (name, value) {
        (Some(name), Some(value)) if part == Part::Whole && name != value => {
            tidy(Some(&format!("{name}: {value}")))
        }
        (None, value) if part == Part::Whole => value,
        (name, _) => name,
    }
}

fn borrowed_label(tree: &Tree, id: NodeId, node: &Node) -> Option<String> {
    let borrows = match &node.detail {
        NodeDetail::Android(node) => {
            node.is_clickable || node.is_checkable || node.is_selected || node.is_long_clickable
        }
        NodeDetail::Ios(node) => matches!(node.element_type.as_deref(), Some("Button" | "Cell")),
        NodeDetail::Web(_) => false,
    };
    if !borrows {
        return None;
    }
    tree.children(id)
        .filter_map(|child| tree.get(child))
        .find_map(|child| own_label(child, Part::Lasting))
}

/// On one line, not blank, not too long.
pub(super) fn tidy(text: Option<&str>) -> Option<String> {
    let words: Vec<&str> = text?.split_whitespace().collect();
    let line = words.join(" ");
    if line.is_empty() {
        return None;
    }
    match line.char_indices().nth(MAX_LABEL) {
        Some((cut, _)) => Some(format!("{}...", &line[..cut])),
        None => Some(line),
    }
}

fn short_class(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
