//! What the `web` block reads from a [`WebNode`], and the `compose` block's fields, which
//! nothing has.

use std::borrow::Cow;

use super::{Field, Fields, text};
use crate::selector::{ComposeMatch, WebMatch};
use crate::tree::{NodeDetail, WebNode};

fn web(detail: &NodeDetail) -> Option<&WebNode> {
    match detail {
        NodeDetail::Web(node) => Some(node),
        NodeDetail::Android(_) | NodeDetail::Ios(_) => None,
    }
}

/// Role and name in one: `button "Save"`, `text: Hello`, or the role alone.
pub(in crate::selector) fn descriptor(detail: &NodeDetail) -> Option<Cow<'_, str>> {
    let node = web(detail)?;
    let role = node.role.as_deref()?;
    Some(match &node.name {
        Some(name) if role == "text" => Cow::Owned(format!("text: {name}")),
        Some(name) => Cow::Owned(format!("{role} \"{name}\"")),
        None => Cow::Borrowed(role),
    })
}

pub(super) const WEB: &Fields<WebMatch> = &[
    (
        "ariaRole",
        Field::Equals(|b| &b.aria_role, |d| text(&web(d)?.role)),
    ),
    (
        "ariaNameRegex",
        Field::Pattern(|b| &b.aria_name_regex, |d| text(&web(d)?.name)),
    ),
    (
        "ariaDescriptorRegex",
        Field::Pattern(|b| &b.aria_descriptor_regex, descriptor),
    ),
    (
        "headingLevel",
        Field::Number(
            |b| b.heading_level.map(i64::from),
            |d| web(d)?.level.map(i64::from),
        ),
    ),
    (
        "cssSelector",
        Field::Equals(|b| &b.css_selector, |d| text(&web(d)?.css_selector)),
    ),
    (
        "dataTestId",
        Field::Equals(|b| &b.data_test_id, |d| text(&web(d)?.test_id)),
    ),
    ("nthIndex", Field::Nth(|b| b.nth_index)),
];

pub(super) const COMPOSE: &Fields<ComposeMatch> = &[
    ("textRegex", Field::Pattern(|b| &b.text_regex, |_| None)),
    (
        "editableTextRegex",
        Field::Pattern(|b| &b.editable_text_regex, |_| None),
    ),
    (
        "contentDescriptionRegex",
        Field::Pattern(|b| &b.content_description_regex, |_| None),
    ),
    ("testTag", Field::Equals(|b| &b.test_tag, |_| None)),
    ("role", Field::Equals(|b| &b.role, |_| None)),
    (
        "toggleableState",
        Field::Equals(|b| &b.toggleable_state, |_| None),
    ),
    ("isEnabled", Field::Flag(|b| b.is_enabled, |_| None)),
    ("isFocused", Field::Flag(|b| b.is_focused, |_| None)),
    ("isSelected", Field::Flag(|b| b.is_selected, |_| None)),
    ("isPassword", Field::Flag(|b| b.is_password, |_| None)),
];
