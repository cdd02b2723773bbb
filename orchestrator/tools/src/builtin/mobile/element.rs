//! Tools that touch an element by its selector; recordings are made of them.

use packtrain_drivers::Platform;
use packtrain_drivers::selector::{AndroidAccessibilityMatch, NodeSelector};

use super::maestro::Element;
use super::{Object, either, named};
use crate::builtin::InvalidArgument;
use crate::mobile::act::{Touch, touch_element};
use crate::mobile::element_query::ElementQuery;
use crate::mobile::gesture::shares;
use crate::mobile::watch::Watch;
use crate::mobile::{ELEMENT_TIMEOUT, PHONES};
use crate::tool::ToolError;

tools! { PHONES;
    /// Taps an element, once it is visible and stable. With several matches it is the
    /// first from the top.
    Action tapOnElementBySelector TapBySelector: with_selector(reason) {
        /// Which element: `androidAccessibility`, `androidMaestro`, `iosMaestro` or `iosAxe`, and
        /// relations.
        node_selector,
        /// Hold it instead.
        #[serde(default)]
        long_press: bool,
    }
    .ruled(TapBySelector::rule)
    .internal()
    |mut arguments, call| {
        let wanted = arguments.wanted(call.session.platform())?;
        let touch = Touch::long(arguments.long_press);
        touch_element(Watch::new(call, ELEMENT_TIMEOUT), &wanted, touch, None).await
    };

    /// Taps an element in its middle or at a place in it.
    Action tapOn TapOn {
        /// Which element, as in other tools.
        #[schemars(with = "Object")]
        selector: NodeSelector,
        /// Where in it: `90%,50%` of its width and height.
        relative_point: Option<String>,
        /// Hold it instead.
        #[serde(default)]
        long_press: bool,
    }
    .internal()
    |arguments, call| {
        let share = match arguments.relative_point.as_deref().map(str::trim) {
            None | Some("") => None,
            Some(point) => Some(shares(point)?),
        };
        let wanted = ElementQuery::selector(arguments.selector, call.session.platform())?;
        let touch = Touch::long(arguments.long_press);
        touch_element(Watch::new(call, ELEMENT_TIMEOUT), &wanted, touch, share).await
    };

    /// Taps an element of Android's accessibility tree by its content description or text,
    /// for widgets that draw their own buttons.
    Action tapOnAccessibilityNode TapOnAccessibilityNode {
        /// Pattern of its content description.
        content_description_regex: Option<String>,
        /// Pattern of its text.
        text_regex: Option<String>,
        /// Pattern of its class.
        class_name_regex: Option<String>,
        /// Pattern of its resource id.
        resource_id_regex: Option<String>,
        /// Hold it instead.
        #[serde(default)]
        long_press: bool,
    }
    .ruled(|arguments| Ok(arguments.selector().map(drop)?))
    .on(&[Platform::Android])
    .internal()
    |arguments, call| {
        let touch = Touch::long(arguments.long_press);
        let wanted = ElementQuery::selector(arguments.selector()?, call.session.platform())?;
        touch_element(Watch::new(call, ELEMENT_TIMEOUT), &wanted, touch, None).await
    };
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
                "missing `contentDescriptionRegex` or `textRegex`",
            ));
        }
        Ok(block.into())
    }
}
