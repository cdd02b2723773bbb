//! Tools that touch an element by its selector; recordings are made of them.

use std::sync::Arc;

use packtrain_drivers::Platform;
use packtrain_drivers::selector::{AndroidAccessibilityMatch, NodeSelector};
use schemars::JsonSchema;
use serde::Deserialize;

use super::maestro::Element;
use super::{Object, named, no_selector};
use crate::builtin::tool;
use crate::mobile::act::{Touch, touch_element};
use crate::mobile::element_query::ElementQuery;
use crate::mobile::gesture::shares;
use crate::mobile::watch::Watch;
use crate::mobile::{ELEMENT_TIMEOUT, PHONES};
use crate::tool::{Kind, Tool, ToolError};

pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    vec![
        tool::<TapBySelector>(
            "tapOnElementBySelector",
            Kind::Action,
            "Taps an element, once it is visible and stands still. With several matches it is the \
             first from the top.",
            |arguments, call| {
                Box::pin(async move {
                    let (newer, older) = (arguments.node_selector, arguments.selector);
                    let wanted = named(newer, older.as_ref(), call.session.platform())?;
                    let touch = Touch::long(arguments.long_press);
                    touch_element(Watch::new(call, ELEMENT_TIMEOUT), &wanted, touch, None).await
                })
            },
        )
        .ruled(|arguments| {
            let newer = arguments.node_selector.map(drop);
            Ok(newer
                .or(arguments.selector.map(drop))
                .ok_or_else(no_selector)?)
        })
        .on(PHONES)
        .internal()
        .done(),
        tool::<TapOn>(
            "tapOn",
            Kind::Action,
            "Taps an element in its middle or at a place in it.",
            |arguments, call| {
                Box::pin(async move {
                    let share = match arguments.relative_point.as_deref().map(str::trim) {
                        None | Some("") => None,
                        Some(point) => Some(shares(point)?),
                    };
                    let wanted =
                        ElementQuery::selector(arguments.selector, call.session.platform())?;
                    let touch = Touch::long(arguments.long_press);
                    touch_element(Watch::new(call, ELEMENT_TIMEOUT), &wanted, touch, share).await
                })
            },
        )
        .on(PHONES)
        .internal()
        .done(),
        tool::<TapOnAccessibilityNode>(
            "tapOnAccessibilityNode",
            Kind::Action,
            "Taps an element of Android's accessibility tree by its content description or text, \
             for widgets that draw their own buttons.",
            |arguments, call| {
                Box::pin(async move {
                    let touch = Touch::long(arguments.long_press);
                    let wanted =
                        ElementQuery::selector(arguments.selector()?, call.session.platform())?;
                    touch_element(Watch::new(call, ELEMENT_TIMEOUT), &wanted, touch, None).await
                })
            },
        )
        .ruled(|arguments| Ok(arguments.selector().map(drop)?))
        .on(&[Platform::Android])
        .internal()
        .done(),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "`reason` is for readers of the trail")]
struct TapBySelector {
    /// Why, for readers.
    #[serde(default)]
    reason: Option<String>,
    /// Hold it instead.
    #[serde(default)]
    long_press: bool,
    /// Which element: `androidAccessibility`, `androidMaestro`, `iosMaestro` or `iosAxe`, and
    /// relations.
    #[serde(default)]
    #[schemars(with = "Option<Object>")]
    node_selector: Option<NodeSelector>,
    /// The same in older recordings, in Maestro's words; used without a `nodeSelector`.
    #[serde(default)]
    #[schemars(with = "Option<Object>")]
    selector: Option<Element>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TapOn {
    /// Which element, as in other tools.
    #[schemars(with = "Object")]
    selector: NodeSelector,
    /// Where in it: `90%,50%` of its width and height.
    #[serde(default)]
    relative_point: Option<String>,
    /// Hold it instead.
    #[serde(default)]
    long_press: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TapOnAccessibilityNode {
    /// Pattern of its content description.
    #[serde(default)]
    content_description_regex: Option<String>,
    /// Pattern of its text.
    #[serde(default)]
    text_regex: Option<String>,
    /// Pattern of its class.
    #[serde(default)]
    class_name_regex: Option<String>,
    /// Pattern of its resource id.
    #[serde(default)]
    resource_id_regex: Option<String>,
    /// Hold it instead.
    #[serde(default)]
    long_press: bool,
}

impl TapOnAccessibilityNode {
    fn selector(self) -> Result<NodeSelector, ToolError> {
        let present = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        let block = AndroidAccessibilityMatch {
            content_description_regex: present(self.content_description_regex),
            text_regex: present(self.text_regex),
            class_name_regex: present(self.class_name_regex),
            resource_id_regex: present(self.resource_id_regex),
            ..AndroidAccessibilityMatch::default()
        };
        if block.content_description_regex.is_none() && block.text_regex.is_none() {
            return Err(ToolError::failed(
                "one of `contentDescriptionRegex` and `textRegex` is needed",
            ));
        }
        Ok(block.into())
    }
}
