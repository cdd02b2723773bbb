//! Selectors from what an element itself says, the most lasting first.

use crate::selector::condition::{identifier, own_value};
use crate::selector::{AndroidAccessibilityMatch, IosMaestroMatch, NodeSelector, WebMatch};
use crate::tree::{AndroidNode, IosNode, NodeDetail, WebNode};

/// Longest text put into a selector, in bytes: longer ones are prose, and prose is edited.
const MAX_TEXT: usize = 200;

/// Every selector worth trying for an element; the last one only says what kind of thing it is.
pub(super) fn candidates(detail: &NodeDetail) -> Vec<NodeSelector> {
    match detail {
        NodeDetail::Android(node) => android(node).into_iter().map(NodeSelector::from).collect(),
        NodeDetail::Ios(node) => ios(node).into_iter().map(NodeSelector::from).collect(),
        NodeDetail::Web(node) => web(node).into_iter().map(NodeSelector::from).collect(),
    }
}

/// The selectors that say which thing it is, fit to mark its container.
pub(super) fn marks(detail: &NodeDetail) -> Vec<NodeSelector> {
    let mut all = candidates(detail);
    all.pop();
    all.truncate(3);
    all
}

fn android(node: &AndroidNode) -> Vec<AndroidAccessibilityMatch> {
    type Block = AndroidAccessibilityMatch;
    let class_name_regex = identifier_pattern(node.class_name.as_deref());
    let resource_id_regex = identifier_pattern(node.resource_id.as_deref());
    let mut list = Vec::new();
    list.extend(usable(node.unique_id.as_deref()).map(|id| Block {
        unique_id: Some(id.to_owned()),
        ..Block::default()
    }));
    list.extend(resource_id_regex.is_some().then(|| Block {
        resource_id_regex: resource_id_regex.clone(),
        ..Block::default()
    }));
    list.extend(
        text_pattern(node.compose_test_tag.as_deref()).map(|tag| Block {
            compose_test_tag_regex: Some(tag),
            ..Block::default()
        }),
    );
    // What a field holds was typed; its hint and label were not.
    let text = node.text.as_deref().filter(|_| !node.is_editable);
    let mut texts: Vec<Block> = Vec::new();
    texts.extend(text_pattern(text).map(|text| Block {
        text_regex: Some(text),
        ..Block::default()
    }));
    texts.extend(text_pattern(node.hint_text.as_deref()).map(|text| Block {
        hint_text_regex: Some(text),
        ..Block::default()
    }));
    texts.extend(
        text_pattern(node.labeled_by_text.as_deref()).map(|text| Block {
            labeled_by_text_regex: Some(text),
            ..Block::default()
        }),
    );
    texts.extend(
        text_pattern(node.content_description.as_deref()).map(|text| Block {
            content_description_regex: Some(text),
            ..Block::default()
        }),
    );
    texts.extend(text_pattern(node.pane_title.as_deref()).map(|text| Block {
        pane_title_regex: Some(text),
        ..Block::default()
    }));
    list.extend(texts.iter().cloned());
    if resource_id_regex.is_some() {
        list.extend(texts.iter().cloned().map(|text| Block {
            resource_id_regex: resource_id_regex.clone(),
            ..text
        }));
    }
    if class_name_regex.is_some() {
        list.extend(texts.into_iter().map(|text| Block {
            class_name_regex: class_name_regex.clone(),
            ..text
        }));
    }
    let kind = Block {
        class_name_regex,
        ..Block::default()
    };
    list.push(Block {
        is_editable: node.is_editable.then_some(true),
        is_checkable: node.is_checkable.then_some(true),
        is_heading: node.is_heading.then_some(true),
        is_password: node.is_password.then_some(true),
        is_scrollable: node.is_scrollable.then_some(true),
        is_clickable: node.is_clickable.then_some(true),
        ..kind.clone()
    });
    list.push(kind);
    list
}

fn ios(node: &IosNode) -> Vec<IosMaestroMatch> {
    type Block = IosMaestroMatch;
    let takes_text = matches!(
        node.element_type.as_deref(),
        Some("TextField" | "SecureTextField" | "SearchField" | "TextView")
    );
    let class_name_regex = identifier_pattern(node.element_type.as_deref());
    let resource_id_regex = identifier_pattern(identifier(node));
    let text = node
        .title
        .as_deref()
        .or_else(|| own_value(node))
        .filter(|_| !takes_text);
    let mut texts = Vec::new();
    texts.extend(text_pattern(node.label.as_deref()).map(|text| Block {
        accessibility_text_regex: Some(text),
        ..Block::default()
    }));
    texts.extend(text_pattern(node.placeholder.as_deref()).map(|text| Block {
        hint_text_regex: Some(text),
        ..Block::default()
    }));
    texts.extend(text_pattern(text).map(|text| Block {
        text_regex: Some(text),
        ..Block::default()
    }));
    let mut list = Vec::new();
    if resource_id_regex.is_some() {
        list.push(Block {
            resource_id_regex: resource_id_regex.clone(),
            ..Block::default()
        });
    }
    list.extend(texts.iter().cloned());
    for text in texts {
        list.push(Block {
            class_name_regex: class_name_regex.clone(),
            resource_id_regex: resource_id_regex.clone(),
            ..text
        });
    }
    list.push(Block {
        class_name_regex,
        ..Block::default()
    });
    list
}

fn web(node: &WebNode) -> Vec<WebMatch> {
    type Block = WebMatch;
    let named = Block {
        aria_role: node.role.clone(),
        aria_name_regex: text_pattern(node.name.as_deref()),
        ..Block::default()
    };
    let mut list = Vec::new();
    list.extend(usable(node.test_id.as_deref()).map(|id| Block {
        data_test_id: Some(id.to_owned()),
        ..Block::default()
    }));
    list.extend(usable(node.css_selector.as_deref()).map(|css| Block {
        css_selector: Some(css.to_owned()),
        ..Block::default()
    }));
    if named.aria_name_regex.is_some() {
        list.push(named.clone());
        list.push(Block {
            heading_level: node.level,
            ..named
        });
    }
    list.push(Block {
        aria_role: node.role.clone(),
        ..Block::default()
    });
    list
}

fn usable(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.trim().is_empty() && text.len() <= MAX_TEXT)
}

/// A text as a pattern that matches just that text.
fn text_pattern(text: Option<&str>) -> Option<String> {
    usable(text).map(|text| escape(text, r"\^$.|?*+()[]{}"))
}

/// An identifier as a pattern. Its dots stay as they are: readable, and nothing else on a
/// screen differs from it just there.
fn identifier_pattern(text: Option<&str>) -> Option<String> {
    usable(text).map(|text| escape(text, r"\^$|?*+()[]{}"))
}

fn escape(text: &str, operators: &str) -> String {
    if text.contains(|c| operators.contains(c)) {
        format!(r"\Q{}\E", text.replace(r"\E", r"\E\\E\Q"))
    } else {
        text.to_owned()
    }
}
