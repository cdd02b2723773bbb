//! What the iOS blocks read from an [`IosNode`], which holds WebDriverAgent's attributes.
//!
//! The blocks were written for other programs, so this is a translation. Blank texts count as
//! absent throughout, as they do there.
//!
//! | `iosMaestro` | WebDriverAgent |
//! |---|---|
//! | text | title, else value |
//! | hintText | placeholder |
//! | accessibilityText | label |
//! | resourceId | identifier; else name, where it differs from the label |
//! | className | element type, short: `Button` |
//!
//! | `iosAxe` | WebDriverAgent |
//! |---|---|
//! | role, subrole | as delivered; else what Apple's API calls the element type |
//! | label, title, enabled | the same |
//! | value | value |
//! | uniqueId | as `resourceId` above |
//! | type | element type, short |
//!
//! WebDriverAgent makes up values where an element has none: a static text's is its label, an
//! empty field's its placeholder, a selected button's `1`. XCTest knows nothing of these, and
//! neither do the blocks: see [`own_value`].

use std::borrow::Cow;

use super::{Field, Fields};
use crate::selector::{IosAxeMatch, IosMaestroMatch};
use crate::tree::{IosNode, NodeDetail};

fn ios(detail: &NodeDetail) -> Option<&IosNode> {
    match detail {
        NodeDetail::Ios(node) => Some(node),
        NodeDetail::Android(_) | NodeDetail::Web(_) => None,
    }
}

fn present(value: &Option<String>) -> Option<&str> {
    value.as_deref().filter(|text| !text.trim().is_empty())
}

fn borrowed(value: Option<&str>) -> Option<Cow<'_, str>> {
    value.map(Cow::Borrowed)
}

/// The element's value as XCTest has it.
pub(in crate::selector) fn own_value(node: &IosNode) -> Option<&str> {
    let value = present(&node.value)?;
    let made_up = match node.element_type.as_deref() {
        Some("StaticText") => node.label.as_deref() == Some(value),
        Some("Button") => node.is_selected && value == "1",
        Some("TextField" | "SecureTextField" | "SearchField" | "TextView") => {
            node.placeholder.as_deref() == Some(value)
        }
        _ => false,
    };
    (!made_up).then_some(value)
}

/// The element's accessibility identifier.
pub(in crate::selector) fn identifier(node: &IosNode) -> Option<&str> {
    // WebDriverAgent's name is the identifier, or the label when there is none.
    present(&node.identifier)
        .or_else(|| present(&node.name).filter(|name| node.label.as_deref() != Some(name)))
}

fn label(node: &IosNode) -> Option<&str> {
    present(&node.label)
}

fn maestro_text(node: &IosNode) -> Option<&str> {
    present(&node.title).or_else(|| own_value(node))
}

fn resolved_text(detail: &NodeDetail) -> Option<Cow<'_, str>> {
    let node = ios(detail)?;
    borrowed(
        maestro_text(node)
            .or_else(|| present(&node.placeholder))
            .or_else(|| label(node)),
    )
}

fn role(node: &IosNode) -> Option<Cow<'_, str>> {
    if let Some(role) = present(&node.role) {
        return Some(Cow::Borrowed(role));
    }
    Some(match present(&node.element_type)? {
        "SecureTextField" | "SearchField" => Cow::Borrowed("AXTextField"),
        "TextView" => Cow::Borrowed("AXTextArea"),
        "Switch" | "Toggle" => Cow::Borrowed("AXCheckBox"),
        "Other" => Cow::Borrowed("AXGroup"),
        other => Cow::Owned(format!("AX{other}")),
    })
}

fn subrole(node: &IosNode) -> Option<&str> {
    present(&node.subrole).or(match node.element_type.as_deref() {
        Some("SecureTextField") => Some("AXSecureTextField"),
        Some("SearchField") => Some("AXSearchField"),
        Some("Switch") => Some("AXSwitch"),
        _ => None,
    })
}

pub(super) const MAESTRO: &Fields<IosMaestroMatch> = &[
    (
        "textRegex",
        Field::Pattern(|b| &b.text_regex, resolved_text),
    ),
    (
        "resourceIdRegex",
        Field::Pattern(|b| &b.resource_id_regex, |d| borrowed(identifier(ios(d)?))),
    ),
    (
        "accessibilityTextRegex",
        Field::Pattern(
            |b| &b.accessibility_text_regex,
            |d| borrowed(label(ios(d)?)),
        ),
    ),
    (
        "classNameRegex",
        Field::Pattern(
            |b| &b.class_name_regex,
            |d| borrowed(present(&ios(d)?.element_type)),
        ),
    ),
    (
        "hintTextRegex",
        Field::Pattern(
            |b| &b.hint_text_regex,
            |d| borrowed(present(&ios(d)?.placeholder)),
        ),
    ),
    (
        "focused",
        Field::Flag(|b| b.focused, |d| Some(ios(d)?.is_focused)),
    ),
    (
        "selected",
        Field::Flag(|b| b.selected, |d| Some(ios(d)?.is_selected)),
    ),
];

pub(super) const AXE: &Fields<IosAxeMatch> = &[
    (
        "labelRegex",
        Field::Pattern(|b| &b.label_regex, |d| borrowed(label(ios(d)?))),
    ),
    (
        "valueRegex",
        Field::Pattern(|b| &b.value_regex, |d| borrowed(own_value(ios(d)?))),
    ),
    (
        "titleRegex",
        Field::Pattern(|b| &b.title_regex, |d| borrowed(present(&ios(d)?.title))),
    ),
    (
        "uniqueId",
        Field::Equals(|b| &b.unique_id, |d| borrowed(identifier(ios(d)?))),
    ),
    (
        "typeRegex",
        Field::Pattern(
            |b| &b.type_regex,
            |d| borrowed(present(&ios(d)?.element_type)),
        ),
    ),
    (
        "roleRegex",
        Field::Pattern(|b| &b.role_regex, |d| role(ios(d)?)),
    ),
    (
        "subroleRegex",
        Field::Pattern(|b| &b.subrole_regex, |d| borrowed(subrole(ios(d)?))),
    ),
    (
        "customAction",
        Field::Contains(|b| &b.custom_action, |d| Some(&ios(d)?.custom_actions)),
    ),
    (
        "enabled",
        Field::Flag(|b| b.enabled, |d| Some(ios(d)?.is_enabled)),
    ),
];
