//! Tools that scroll until an element is in sight.

use crate::builtin::{Way, caseless, number};
use crate::mobile::PHONES;
use crate::mobile::element_query::{ElementQuery, TextCriterion, Words};
use crate::mobile::gesture::ScrollStart;
use crate::mobile::scroll::{self, Scrolling, until_visible};
use crate::tool::ToolError;

tools! { PHONES;
    /// Scrolls until an element is in sight, by a part of its text, by a pattern of its whole
    /// text, or by its id. Ends when the screen stops scrolling.
    Action scrollUntilTextIsVisible ScrollUntilTextIsVisible(reasoning) {
        /// A text somewhere in what it says, in any case.
        #[serde(default)]
        text: String,
        /// A pattern that all it says matches; counts before `text`.
        text_regex: Option<String>,
        /// Its id, in full or behind the last slash, as a pattern.
        id: Option<String>,
        /// Which of the matches in sight, from 0.
        #[serde(default)]
        index: u32,
        /// Where it lies: UP, DOWN, LEFT or RIGHT.
        #[serde(default, deserialize_with = "caseless")]
        direction: Way,
        /// How much of it must be in sight.
        #[serde(default = "number::<100, u32>")]
        visibility_percentage: u32,
        /// Bring it near the middle.
        #[serde(default)]
        center_element: bool,
        /// Which part of the screen is scrolled: CENTER, TOP or BOTTOM.
        #[serde(default, deserialize_with = "caseless")]
        scroll_start_position: Start,
    }
    .ruled(|arguments| Ok(arguments.words().map(drop)?))
    |arguments, call| {
        let scrolling = Scrolling {
            towards: arguments.direction.into(),
            start: arguments.scroll_start_position.into(),
            share: f64::from(arguments.visibility_percentage.min(100)) / 100.0,
            center: arguments.center_element,
            limit: scroll::SCROLL_TIMEOUT,
        };
        let wanted = ElementQuery::words(arguments.words()?, call.session.platform())?;
        until_visible(call, &wanted, scrolling).await
    };
}

impl ScrollUntilTextIsVisible {
    fn words(self) -> Result<Words, ToolError> {
        let present = |text: String| Some(text).filter(|text| !text.trim().is_empty());
        let says = match self.text_regex.and_then(present) {
            Some(pattern) => Some(TextCriterion::Matching(pattern)),
            None => present(self.text).map(TextCriterion::Containing),
        };
        let id = self.id.and_then(present);
        if says.is_none() && id.is_none() {
            return Err(ToolError::failed("missing `text`, `textRegex` or `id`"));
        }
        Ok(Words {
            says,
            id,
            index: self.index,
            ..Words::default()
        })
    }
}

words! {
    #[derive(Default)]
    enum Start as "UPPERCASE", for ScrollStart { #[default] Center, Top, Bottom }
}
