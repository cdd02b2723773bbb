//! What can be verified of a page. Nothing falls back here.

use std::time::Duration;

use packtrain_drivers::selector::NodeSelector;
use packtrain_drivers::{TextMatch, ValueKind, WantedDownload, WebCommand, WebTarget};
use schemars::JsonSchema;
use serde::Deserialize;

use super::rules::{listed, named, not_blank, regular};
use super::{WEB, selector_schema, web};
use crate::builtin::{InvalidArgument, caseless, number};
use crate::tool::ToolError;

tools! { WEB;
    /// Expects a text to be visible: any case, anywhere, across nested elements; with
    /// `exact: true`, the whole text of an element, in this case.
    Assertion web_verifyTextVisible VerifyText(reasoning) {
        /// The text.
        text: String,
        /// The whole text of an element, in this case, instead of a part of it.
        #[serde(default)]
        exact: bool,
        /// How long it may take, in milliseconds; 5000 when not given.
        timeout_ms: Option<u64>,
    }
    .ruled(|arguments| not_blank("text", &arguments.text))
    |arguments, call| {
        let command = WebCommand::ExpectText {
            matching: matching(arguments.exact),
            limit: arguments.timeout_ms.map(Duration::from_millis),
            text: arguments.text,
        };
        web(call, command).await
    };

    /// Expects an element to be visible.
    Assertion web_verifyElementVisible VerifyElement: with_element {
        /// How long it may take, in milliseconds; the usual time when not given.
        timeout_ms: Option<u64>,
    }
    .ruled(|mut arguments| named(&arguments.target()))
    |mut arguments, call| {
        let command = WebCommand::ExpectVisible {
            target: arguments.target(),
            limit: arguments.timeout_ms.map(Duration::from_millis),
        };
        web(call, command).await
    };

    /// Expects the text, the value or an attribute of an element. A text contains what is
    /// expected; with `exact: true` it is the same as a whole.
    Assertion web_verifyValue VerifyValue: with_element {
        /// TEXT (contains, case counts), VALUE or ATTRIBUTE (equals).
        #[serde(default, rename = "type", deserialize_with = "caseless")]
        kind: VerifyKind,
        /// What it should be.
        expected: String,
        /// The attribute's name, for ATTRIBUTE.
        #[serde(default)]
        attribute: String,
        /// TEXT: the whole text instead of a part of it.
        #[serde(default)]
        exact: bool,
    }
    .ruled(VerifyValue::rule)
    |mut arguments, call| {
        let target = arguments.target();
        let kind = match arguments.kind {
            VerifyKind::Text => ValueKind::Text,
            VerifyKind::Value => ValueKind::Value,
            VerifyKind::Attribute if arguments.attribute.is_empty() => {
                return Err(ToolError::failed("`attribute` is empty"));
            }
            VerifyKind::Attribute => ValueKind::Attribute(arguments.attribute),
        };
        let command = WebCommand::ExpectValue {
            target,
            kind,
            expected: arguments.expected,
            matching: matching(arguments.exact),
        };
        web(call, command).await
    };

    /// Expects texts to be visible inside an element, or on the page: in any case, as a
    /// part of it; with `exact: true`, the whole text of an element, in this case.
    Assertion web_verifyListVisible VerifyList: with_element {
        /// The texts.
        items: Vec<String>,
        /// The whole text, in this case, instead of a part of it.
        #[serde(default)]
        exact: bool,
    }
    .ruled(|arguments| listed("items", &arguments.items))
    |mut arguments, call| {
        let command = WebCommand::ExpectList {
            target: arguments.target(),
            items: arguments.items,
            matching: matching(arguments.exact),
        };
        web(call, command).await
    };

    /// Expects a download of this session, past or coming, to be complete: by its name, a text
    /// in it, its size. Packtrain's own.
    Assertion web_assertDownload AssertDownload(reasoning) {
        /// The file's whole name, as the page suggests it.
        name: Option<String>,
        /// A regular expression of the whole name.
        name_regex: Option<String>,
        /// A text in the file, in this case.
        contains: Option<String>,
        /// How many bytes it has at least.
        min_bytes: Option<u64>,
        /// Milliseconds.
        #[serde(default = "number::<30_000, u64>")]
        timeout_ms: u64,
    }
    .ruled(AssertDownload::rule)
    |arguments, call| {
        let limit = Duration::from_millis(arguments.timeout_ms);
        let wanted = WantedDownload {
            name: arguments.name,
            name_regex: arguments.name_regex,
            contains: arguments.contains,
            min_bytes: arguments.min_bytes,
        };
        web(call, WebCommand::ExpectDownload { wanted, limit }).await
    };

    /// Expects a request of this session whose URL or body mentions a name.
    Assertion web_assertNetworkEvent NetworkEvent(reasoning) {
        /// What the address or the body mentions, in any case.
        event_name: String,
        /// Milliseconds.
        #[serde(default = "number::<5_000, u64>")]
        timeout_ms: u64,
    }
    .ruled(|arguments| not_blank("eventName", &arguments.event_name))
    |arguments, call| {
        let limit = Duration::from_millis(arguments.timeout_ms);
        let name = arguments.event_name;
        web(call, WebCommand::ExpectRequest { name, limit }).await
    };
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum VerifyKind {
    #[default]
    Text,
    Value,
    Attribute,
}

/// How texts are compared, by the argument `exact`.
const fn matching(exact: bool) -> TextMatch {
    if exact {
        TextMatch::Exact
    } else {
        TextMatch::Contains
    }
}

impl VerifyValue {
    fn rule(mut self) -> Result<(), InvalidArgument> {
        named(&self.target())?;
        match self.kind {
            VerifyKind::Attribute if self.attribute.is_empty() => {
                Err(InvalidArgument::new("attribute", "`attribute` is empty")
                    .hint("add `attribute`, such as `attribute: href`"))
            }
            VerifyKind::Attribute | VerifyKind::Text | VerifyKind::Value => Ok(()),
        }
    }
}

impl AssertDownload {
    fn rule(self) -> Result<(), InvalidArgument> {
        for (key, text) in [("name", &self.name), ("contains", &self.contains)] {
            text.iter().try_for_each(|text| not_blank(key, text))?;
        }
        self.name_regex
            .iter()
            .try_for_each(|pattern| regular("nameRegex", pattern))
    }
}
