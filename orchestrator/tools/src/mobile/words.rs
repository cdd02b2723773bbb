//! What an element says, in a person's words. Pure.

use packtrain_drivers::selector::{CompiledSelector, NodeSelector, resolve};
use packtrain_drivers::tree::{AndroidNode, IosNode};
use packtrain_drivers::{NodeDetail, NodeId, Rect, Tree};

/// Longest text in a message, in characters.
const SHOWN: usize = 120;

/// The text an element shows: what it holds, or else its name.
pub(crate) fn text_of(detail: &NodeDetail) -> Option<&str> {
    match detail {
        NodeDetail::Android(node) => android_text(node),
        NodeDetail::Ios(node) => ios_text(node),
        NodeDetail::Web(node) => present(&node.name).or_else(|| present(&node.value)),
    }
}

/// The text a selector's `textRegex` looks at: what the element holds, or else its hint, or else
/// its name.
pub(crate) fn resolved_text(detail: &NodeDetail) -> Option<&str> {
    match detail {
        NodeDetail::Android(node) => present(&node.text)
            .or_else(|| present(&node.hint_text))
            .or_else(|| present(&node.content_description)),
        NodeDetail::Ios(_) | NodeDetail::Web(_) => text_of(detail),
    }
}

fn android_text(node: &AndroidNode) -> Option<&str> {
    present(&node.text)
        .or_else(|| present(&node.content_description))
        .or_else(|| present(&node.labeled_by_text))
}

fn ios_text(node: &IosNode) -> Option<&str> {
    // A selected button has the value 1 and an empty field that of its placeholder; neither is
    // anything a person wrote.
    let made_up = |value: &str| match node.element_type.as_deref() {
        Some("Button") => node.is_selected && value == "1",
        Some("TextField" | "SecureTextField" | "SearchField" | "TextView") => {
            node.placeholder.as_deref() == Some(value)
        }
        _ => false,
    };
    present(&node.title)
        .or_else(|| present(&node.value).filter(|value| !made_up(value)))
        .or_else(|| present(&node.label))
}

fn present(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.trim().is_empty())
}

/// The texts an expectation on an element is about: those of the parts a selector names by what
/// it contains; otherwise the element's own; and those of all that is in it when it has none.
pub(crate) fn texts_at(tree: &Tree, id: NodeId, selector: &NodeSelector) -> Vec<String> {
    let text = |id: NodeId| {
        let text = tree.get(id).and_then(|node| text_of(&node.detail))?;
        Some(text.trim().to_owned())
    };
    let parts = parts(tree, id, selector);
    if !parts.is_empty() {
        return parts.into_iter().filter_map(text).collect();
    }
    match text(id) {
        Some(own) => vec![own],
        None => tree.descendants(id).map(NodeId).filter_map(text).collect(),
    }
}

/// What in an element made its selector match.
fn parts(tree: &Tree, id: NodeId, selector: &NodeSelector) -> Vec<NodeId> {
    let range = tree.descendants(id);
    selector
        .contains_child
        .as_deref()
        .into_iter()
        .chain(&selector.contains_descendants)
        .filter_map(|contained| CompiledSelector::new(contained).ok())
        .flat_map(|contained| resolve(tree, &contained).matches)
        .filter(|found| range.contains(&found.0))
        .collect()
}

/// An element in a few words: `Button "Save"`.
pub(crate) fn describe(tree: &Tree, id: NodeId) -> String {
    let Some(node) = tree.get(id) else {
        return "element".to_owned();
    };
    let role = match &node.detail {
        NodeDetail::Android(node) => node.class_name.as_deref(),
        NodeDetail::Ios(node) => node.element_type.as_deref(),
        NodeDetail::Web(node) => node.role.as_deref(),
    };
    let role = role
        .and_then(|role| role.rsplit('.').next())
        .unwrap_or("element");
    match text_of(&node.detail) {
        Some(text) => format!("{role} {}", quoted(text)),
        None => role.to_owned(),
    }
}

/// A text in quotes, on one line, not too long.
pub(crate) fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    format!("{shown:?}")
}

/// A rectangle in a few words: `10,20 to 110,60`.
pub(crate) fn place(bounds: Rect) -> String {
    format!(
        "{:.0},{:.0} to {:.0},{:.0}",
        bounds.left, bounds.top, bounds.right, bounds.bottom
    )
}
