//! The driver blocks: what one element must look like, in one platform's words.
//!
//! Field names are those of Trailblaze's `DriverNodeMatch`. Fields that end in `Regex` hold
//! patterns, the others are compared exactly. A missing field asks for nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NodeSelector, scalar};

/// One block's structure: texts may be written as numbers, everything is optional.
macro_rules! block {
    ($(#[$doc:meta])* $name:ident {
        text { $($text:ident),* $(,)? }
        other { $($other:ident: $type:ty),* $(,)? }
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields, default)]
        #[expect(missing_docs, reason = "the names are the format's own")]
        pub struct $name {
            $(
                #[serde(deserialize_with = "scalar::text", skip_serializing_if = "Option::is_none")]
                #[schemars(extend("type" = ["string", "number", "boolean", "null"]))]
                pub $text: Option<String>,
            )*
            $(
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $other: Option<$type>,
            )*
        }
    };
}

block! {
    /// The `androidAccessibility` block: Android's accessibility tree in full.
    AndroidAccessibilityMatch {
        text {
            class_name_regex, resource_id_regex, unique_id, compose_test_tag_regex, text_regex,
            content_description_regex, hint_text_regex, labeled_by_text_regex,
            state_description_regex, pane_title_regex, role_description_regex,
        }
        other {
            is_enabled: bool, is_clickable: bool, is_checkable: bool, is_checked: bool,
            is_selected: bool, is_focused: bool, is_editable: bool, is_scrollable: bool,
            is_password: bool, is_heading: bool, is_multi_line: bool, input_type: i64,
            collection_item_row_index: i64, collection_item_column_index: i64,
        }
    }
}

block! {
    /// The `androidMaestro` block: Android as Maestro sees it. Patterns ignore case.
    AndroidMaestroMatch {
        text {
            text_regex, resource_id_regex, accessibility_text_regex, class_name_regex,
            hint_text_regex,
        }
        other { clickable: bool, enabled: bool, focused: bool, checked: bool, selected: bool }
    }
}

block! {
    /// The `iosMaestro` block: iOS as Maestro sees it. Patterns ignore case.
    IosMaestroMatch {
        text {
            text_regex, resource_id_regex, accessibility_text_regex, class_name_regex,
            hint_text_regex,
        }
        other { focused: bool, selected: bool }
    }
}

block! {
    /// The `iosAxe` block: iOS in the words of Apple's accessibility API.
    IosAxeMatch {
        text {
            role_regex, subrole_regex, label_regex, value_regex, unique_id, type_regex,
            title_regex, custom_action,
        }
        other { enabled: bool }
    }
}

block! {
    /// The `web` block: an element of a page as assistive technology sees it.
    WebMatch {
        text { aria_role, aria_name_regex, aria_descriptor_regex, css_selector, data_test_id }
        other { heading_level: u32, nth_index: u32 }
    }
}

block! {
    /// The `compose` block: a Compose desktop window. Read and kept; no driver of ours has one.
    ComposeMatch {
        text {
            test_tag, role, text_regex, editable_text_regex, content_description_regex,
            toggleable_state,
        }
        other { is_enabled: bool, is_focused: bool, is_selected: bool, is_password: bool }
    }
}

/// A block makes a selector of its own.
macro_rules! selects {
    ($($block:ident $field:ident),* $(,)?) => {
        $(
            impl From<$block> for NodeSelector {
                fn from(block: $block) -> Self {
                    Self {
                        $field: Some(block.into()),
                        ..Self::default()
                    }
                }
            }
        )*
    };
}

selects! {
    AndroidAccessibilityMatch android_accessibility,
    AndroidMaestroMatch android_maestro,
    IosMaestroMatch ios_maestro,
    IosAxeMatch ios_axe,
    WebMatch web,
    ComposeMatch compose,
}
