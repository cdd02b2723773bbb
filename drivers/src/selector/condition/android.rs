//! What Android's blocks read from an [`AndroidNode`].
//!
//! Maestro reads the same attributes under other names: its `accessibilityText` is the content
//! description. Both blocks' `textRegex` looks at the first of text, hint and description.

use std::borrow::Cow;

use super::{Field, Fields, text};
use crate::selector::{AndroidAccessibilityMatch, AndroidMaestroMatch};
use crate::tree::{AndroidNode, NodeDetail};

fn android(detail: &NodeDetail) -> Option<&AndroidNode> {
    match detail {
        NodeDetail::Android(node) => Some(node),
        NodeDetail::Ios(_) | NodeDetail::Web(_) => None,
    }
}

fn resolved_text(detail: &NodeDetail) -> Option<Cow<'_, str>> {
    let node = android(detail)?;
    text(&node.text)
        .or_else(|| text(&node.hint_text))
        .or_else(|| text(&node.content_description))
}

pub(super) const ACCESSIBILITY: &Fields<AndroidAccessibilityMatch> = &[
    (
        "textRegex",
        Field::Pattern(|b| &b.text_regex, resolved_text),
    ),
    (
        "contentDescriptionRegex",
        Field::Pattern(
            |b| &b.content_description_regex,
            |d| text(&android(d)?.content_description),
        ),
    ),
    (
        "hintTextRegex",
        Field::Pattern(|b| &b.hint_text_regex, |d| text(&android(d)?.hint_text)),
    ),
    (
        "labeledByTextRegex",
        Field::Pattern(
            |b| &b.labeled_by_text_regex,
            |d| text(&android(d)?.labeled_by_text),
        ),
    ),
    (
        "uniqueId",
        Field::Equals(|b| &b.unique_id, |d| text(&android(d)?.unique_id)),
    ),
    (
        "resourceIdRegex",
        Field::Pattern(|b| &b.resource_id_regex, |d| text(&android(d)?.resource_id)),
    ),
    (
        "composeTestTagRegex",
        Field::Pattern(
            |b| &b.compose_test_tag_regex,
            |d| text(&android(d)?.compose_test_tag),
        ),
    ),
    (
        "classNameRegex",
        Field::Pattern(|b| &b.class_name_regex, |d| text(&android(d)?.class_name)),
    ),
    (
        "stateDescriptionRegex",
        Field::Pattern(
            |b| &b.state_description_regex,
            |d| text(&android(d)?.state_description),
        ),
    ),
    (
        "paneTitleRegex",
        Field::Pattern(|b| &b.pane_title_regex, |d| text(&android(d)?.pane_title)),
    ),
    (
        "roleDescriptionRegex",
        Field::Pattern(
            |b| &b.role_description_regex,
            |d| text(&android(d)?.role_description),
        ),
    ),
    (
        "isEnabled",
        Field::Flag(|b| b.is_enabled, |d| Some(android(d)?.is_enabled)),
    ),
    (
        "isClickable",
        Field::Flag(|b| b.is_clickable, |d| Some(android(d)?.is_clickable)),
    ),
    (
        "isCheckable",
        Field::Flag(|b| b.is_checkable, |d| Some(android(d)?.is_checkable)),
    ),
    (
        "isChecked",
        Field::Flag(|b| b.is_checked, |d| Some(android(d)?.is_checked)),
    ),
    (
        "isSelected",
        Field::Flag(|b| b.is_selected, |d| Some(android(d)?.is_selected)),
    ),
    (
        "isFocused",
        Field::Flag(|b| b.is_focused, |d| Some(android(d)?.is_focused)),
    ),
    (
        "isEditable",
        Field::Flag(|b| b.is_editable, |d| Some(android(d)?.is_editable)),
    ),
    (
        "isScrollable",
        Field::Flag(|b| b.is_scrollable, |d| Some(android(d)?.is_scrollable)),
    ),
    (
        "isPassword",
        Field::Flag(|b| b.is_password, |d| Some(android(d)?.is_password)),
    ),
    (
        "isHeading",
        Field::Flag(|b| b.is_heading, |d| Some(android(d)?.is_heading)),
    ),
    (
        "isMultiLine",
        Field::Flag(|b| b.is_multi_line, |d| Some(android(d)?.is_multi_line)),
    ),
    (
        // Android says 0 for what takes no input.
        "inputType",
        Field::Number(
            |b| b.input_type,
            |d| Some(android(d)?.input_type.unwrap_or(0)),
        ),
    ),
    (
        "collectionItemRowIndex",
        Field::Number(
            |b| b.collection_item_row_index,
            |d| android(d)?.collection_item_row_index,
        ),
    ),
    (
        "collectionItemColumnIndex",
        Field::Number(
            |b| b.collection_item_column_index,
            |d| android(d)?.collection_item_column_index,
        ),
    ),
];

pub(super) const MAESTRO: &Fields<AndroidMaestroMatch> = &[
    (
        "textRegex",
        Field::Pattern(|b| &b.text_regex, resolved_text),
    ),
    (
        "resourceIdRegex",
        Field::Pattern(|b| &b.resource_id_regex, |d| text(&android(d)?.resource_id)),
    ),
    (
        "accessibilityTextRegex",
        Field::Pattern(
            |b| &b.accessibility_text_regex,
            |d| text(&android(d)?.content_description),
        ),
    ),
    (
        "classNameRegex",
        Field::Pattern(|b| &b.class_name_regex, |d| text(&android(d)?.class_name)),
    ),
    (
        "hintTextRegex",
        Field::Pattern(|b| &b.hint_text_regex, |d| text(&android(d)?.hint_text)),
    ),
    (
        "clickable",
        Field::Flag(|b| b.clickable, |d| Some(android(d)?.is_clickable)),
    ),
    (
        "enabled",
        Field::Flag(|b| b.enabled, |d| Some(android(d)?.is_enabled)),
    ),
    (
        "focused",
        Field::Flag(|b| b.focused, |d| Some(android(d)?.is_focused)),
    ),
    (
        "checked",
        Field::Flag(|b| b.checked, |d| Some(android(d)?.is_checked)),
    ),
    (
        "selected",
        Field::Flag(|b| b.selected, |d| Some(android(d)?.is_selected)),
    ),
];
