//! What the tools for pages take.

use packtrain_drivers::selector::NodeSelector;
use packtrain_drivers::{TextMatch, WebTarget};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::json;

use crate::builtin::{Way, caseless, number, yes};

/// Arguments that name an element besides what is listed. Spelled out in each struct: `flatten`
/// would read every scalar before it is known which type is wanted.
macro_rules! with_element {
    ($(#[$meta:meta])* pub(super) struct $name:ident { $($fields:tt)* }) => {
        arguments! {
            $(#[$meta])*
            pub(super) struct $name(reasoning) {
                $($fields)*
                /// A number of the compact list (`e4`), `css=...`, `text=...`, or an ARIA descriptor
                /// (`button "Save"`). Used when there is no selector, and by actions whose selector
                /// matches nothing.
                #[serde(rename = "ref")]
                pub(super) reference: Option<String>,
                /// The durable selector; tried first.
                #[serde(default)]
                #[schemars(schema_with = "selector_schema")]
                pub(super) node_selector: Option<NodeSelector>,
            }
        }

        impl $name {
            pub(super) fn target(&mut self) -> WebTarget {
                WebTarget {
                    selector: self.node_selector.take(),
                    reference: self.reference.take().filter(|text| !text.trim().is_empty()),
                }
            }
        }
    };
}

/// A selector in short: its page block. Relations such as `below` and `childOf` are on the page of
/// selectors.
fn selector_schema(_: &mut SchemaGenerator) -> Schema {
    let text = json!({ "type": "string" });
    json_schema!({ "type": "object", "properties": { "web": { "type": "object", "properties": {
        "ariaRole": text, "ariaNameRegex": text, "cssSelector": text, "dataTestId": text,
        "nthIndex": { "type": "integer" },
    } } } })
}

with_element! {
    /// An element and nothing else.
    pub(super) struct Element {}
}

with_element! {
    pub(super) struct VerifyElement {
        /// How long it may take, in milliseconds; the usual time when not given.
        pub(super) timeout_ms: Option<u64>,
    }
}

with_element! {
    pub(super) struct Type {
        /// The text.
        pub(super) text: String,
        /// Replace what is there instead of typing behind it.
        #[serde(default = "yes")]
        pub(super) clear_first: bool,
    }
}

with_element! {
    pub(super) struct Select {
        /// Values or labels.
        pub(super) values: Vec<String>,
    }
}

with_element! {
    pub(super) struct Upload {
        /// Files, from the trail's folder or the working directory on, and in none above.
        pub(super) files: Vec<String>,
    }
}

with_element! {
    pub(super) struct Scroll {
        /// UP, DOWN, LEFT or RIGHT.
        #[serde(default, deserialize_with = "caseless")]
        pub(super) direction: Way,
        /// CSS pixels.
        #[serde(default = "number::<500, u32>")]
        pub(super) amount: u32,
    }
}

with_element! {
    pub(super) struct VerifyValue {
        /// TEXT (contains, case counts), VALUE or ATTRIBUTE (equals).
        #[serde(default, rename = "type", deserialize_with = "caseless")]
        pub(super) kind: VerifyKind,
        /// What it should be.
        pub(super) expected: String,
        /// The attribute's name, for ATTRIBUTE.
        #[serde(default)]
        pub(super) attribute: String,
        /// TEXT: the whole text instead of a part of it.
        #[serde(default)]
        pub(super) exact: bool,
    }
}

with_element! {
    pub(super) struct VerifyList {
        /// The texts.
        pub(super) items: Vec<String>,
        /// The whole text, in this case, instead of a part of it.
        #[serde(default)]
        pub(super) exact: bool,
    }
}

arguments! {
    pub(super) struct Navigate(reasoning) {
        /// GOTO, BACK or FORWARD.
        #[serde(default, deserialize_with = "caseless")]
        pub(super) action: Navigation,
        /// Where to, for GOTO.
        #[serde(default)]
        pub(super) url: String,
    }
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Navigation {
    #[default]
    Goto,
    Back,
    Forward,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum VerifyKind {
    #[default]
    Text,
    Value,
    Attribute,
}

#[derive(PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum Detail {
    Bounds,
    CssSelectors,
    OffscreenElements,
    OccludedElements,
}

arguments! {
    pub(super) struct FillSecret {
        /// The element, as in other tools.
        #[serde(rename = "ref")]
        pub(super) reference: String,
        /// The value.
        pub(super) value: String,
    }

    pub(super) struct PressKey(reasoning) {
        /// `Enter`, `Control+A`.
        pub(super) key: String,
    }

    pub(super) struct Wait(reasoning) {
        /// 1 to 30.
        #[serde(default = "number::<1, u64>")]
        pub(super) seconds: u64,
    }

    pub(super) struct WaitForUrl {
        /// A regular expression.
        pub(super) pattern: String,
        /// Milliseconds.
        #[serde(default = "number::<30_000, u64>")]
        pub(super) timeout_ms: u64,
    }

    pub(super) struct Resize(reasoning) {
        /// CSS pixels.
        pub(super) width: u32,
        /// CSS pixels.
        pub(super) height: u32,
    }

    pub(super) struct ApplyCookies {
        /// JSON.
        #[serde(default)]
        pub(super) cookies_json: String,
    }

    pub(super) struct AnswerDialogs {
        /// OK instead of Cancel.
        pub(super) accept: bool,
        /// What to enter into prompts.
        pub(super) text: Option<String>,
    }

    pub(super) struct Evaluate {
        /// An expression; `(() => { ... })()` for statements.
        pub(super) script: String,
    }

    pub(super) struct VerifyText(reasoning) {
        /// The text.
        pub(super) text: String,
        /// The whole text of an element, in this case, instead of a part of it.
        #[serde(default)]
        pub(super) exact: bool,
        /// How long it may take, in milliseconds; 5000 when not given.
        pub(super) timeout_ms: Option<u64>,
    }

    pub(super) struct AssertDownload(reasoning) {
        /// The file's whole name, as the page suggests it.
        pub(super) name: Option<String>,
        /// A regular expression of the whole name.
        pub(super) name_regex: Option<String>,
        /// A text in the file, in this case.
        pub(super) contains: Option<String>,
        /// How many bytes it has at least.
        pub(super) min_bytes: Option<u64>,
        /// Milliseconds.
        #[serde(default = "number::<30_000, u64>")]
        pub(super) timeout_ms: u64,
    }

    pub(super) struct NetworkEvent(reasoning) {
        /// What the address or the body mentions, in any case.
        pub(super) event_name: String,
        /// Milliseconds.
        #[serde(default = "number::<5_000, u64>")]
        pub(super) timeout_ms: u64,
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "the names label the artifacts, which the run keeps"
)]
pub(super) struct Snapshot {
    /// Name of the screen: `login`.
    screen_name: String,
    /// Why, for readers.
    reasoning: Option<String>,
}

arguments! {
    pub(super) struct RequestDetails(reasoning) {
        /// BOUNDS, CSS_SELECTORS, OFFSCREEN_ELEMENTS, OCCLUDED_ELEMENTS.
        pub(super) include: Vec<Detail>,
    }
}

/// How texts are compared, by the argument `exact`.
pub(super) const fn matching(exact: bool) -> TextMatch {
    if exact {
        TextMatch::Exact
    } else {
        TextMatch::Contains
    }
}
