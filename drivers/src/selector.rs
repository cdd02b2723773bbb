//! Node selectors: how a trail names an element, durably.
//!
//! The shape is that of Trailblaze's `nodeSelector`, so that its files work unchanged. This
//! module finds elements in a [`Tree`](crate::Tree), says why it found none, and writes
//! selectors and snapshot references for elements; it knows nothing of devices or of templates
//! such as `{{target.appId}}`, which are filled in before a selector is compiled.

mod block;
mod compile;
mod condition;
mod describe;
mod error;
mod explain;
mod generate;
mod java;
mod number;
mod pattern;
mod refs;
mod resolve;
mod role;
mod scalar;

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

pub use block::{
    AndroidAccessibilityMatch, AndroidMaestroMatch, ComposeMatch, IosAxeMatch, IosMaestroMatch,
    WebMatch,
};
pub use compile::CompiledSelector;
pub use error::SelectorError;
pub use explain::explain;
pub use generate::selector_for;
pub use number::{around_number, contains_plain};
pub use pattern::{Dialect, Pattern};
pub use refs::{RefList, find_ref, is_input_method, list_refs, quoted_label, refs};
pub use resolve::{Match, Resolution, resolve};
pub use role::{is_role, role_and_name, roles, without_state};

/// Names an element: at most one driver block, plus relations to other elements.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NodeSelector {
    /// Android's accessibility tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub android_accessibility: Option<Box<AndroidAccessibilityMatch>>,
    /// Android as Maestro sees it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub android_maestro: Option<Box<AndroidMaestroMatch>>,
    /// iOS as Maestro sees it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ios_maestro: Option<Box<IosMaestroMatch>>,
    /// iOS in the words of Apple's accessibility API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ios_axe: Option<Box<IosAxeMatch>>,
    /// A page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web: Option<WebMatch>,
    /// A Compose desktop window: kept, but matches nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compose: Option<Box<ComposeMatch>>,
    /// Its top edge is at or below the bottom of the first element that matches this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<Box<NodeSelector>>,
    /// Its bottom edge is at or above the top of the first element that matches this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<Box<NodeSelector>>,
    /// Its right edge is at or left of the left edge of the first element that matches this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_of: Option<Box<NodeSelector>>,
    /// Its left edge is at or right of the right edge of the first element that matches this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right_of: Option<Box<NodeSelector>>,
    /// It lies somewhere below an element that matches this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child_of: Option<Box<NodeSelector>>,
    /// One of its direct children matches this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains_child: Option<Box<NodeSelector>>,
    /// For each of these, some descendant matches it.
    #[serde(
        deserialize_with = "null_is_empty",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub contains_descendants: Vec<NodeSelector>,
    /// Which of the matches, counted from 0 from top to bottom, then left to right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
}

impl NodeSelector {
    /// Checks what no device is needed for: at most one driver block in each part, and neither
    /// too deep nor too large. Patterns that are not regular expressions are not errors, they match
    /// as text: see [`CompiledSelector::notes`].
    pub fn validate(&self) -> Result<(), SelectorError> {
        error::check(self)
    }
}

fn null_is_empty<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<NodeSelector>, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
