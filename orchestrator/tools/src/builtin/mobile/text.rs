//! Tools that name an element by what it says or by its id, in Maestro's words: a pattern that the
//! whole text matches in any case, or the very text.

use std::time::Duration;

use super::expect::{expect_gone, expect_visible};
use super::patience;
use crate::call::Call;
use crate::mobile::act::{Touch, touch_element};
use crate::mobile::element_query::{ElementQuery, TextCriterion, Words};
use crate::mobile::watch::Watch;
use crate::mobile::{ELEMENT_TIMEOUT, PHONES};
use crate::tool::{Answer, ToolError};

/// Arguments that go with what an element says. Spelled out in each struct: `flatten` would read every
/// scalar before it is known which type is wanted.
macro_rules! with_words {
    (struct $name:ident { $($fields:tt)* }) => {
        arguments! {
            struct $name {
                $($fields)*
                /// Its id, in full or behind the last slash, as a pattern.
                id: Option<String>,
                /// Which of the matches in sight, from 0.
                index: Option<u32>,
                /// Whether it is enabled.
                enabled: Option<bool>,
                /// Whether it is selected.
                selected: Option<bool>,
            }
        }

        impl $name {
            fn saying(self, says: TextCriterion) -> Words {
                Words {
                    says: Some(says),
                    id: self.id,
                    index: self.index.unwrap_or(0),
                    enabled: self.enabled,
                    selected: self.selected,
                    ..Words::default()
                }
            }
        }
    };
}

tools! { PHONES;
    /// Taps an element whose visible text contains a text, in any case.
    Action tapOnElementWithText ByText: with_words {
        /// What it says.
        text: String,
        /// The whole text as it is written, in this case, and no pattern.
        #[serde(default)]
        exact: bool,
    }
    .internal()
    |arguments, call| touch(call, arguments.words(TextCriterion::Containing), Touch::Tap).await;

    /// Long-presses an element by its visible text.
    Action longPressOnElementWithText ByText
    .internal()
    |arguments, call| touch(call, arguments.words(TextCriterion::Matching), Touch::Hold).await;

    /// Taps an element by its accessibility text or its visible text.
    Action tapOnElementWithAccessibilityText ByAccessibilityText: with_words {
        /// Its accessibility text.
        accessibility_text: String,
    }
    .internal()
    |arguments, call| touch(call, arguments.words(), Touch::Tap).await;

    /// Long-presses an element by its accessibility text or its visible text.
    Action longPressElementWithAccessibilityText ByAccessibilityText
    .internal()
    |arguments, call| touch(call, arguments.words(), Touch::Hold).await;

    /// Expects an element to be visible, by its visible text.
    Assertion assertVisibleWithText AssertByText: with_words {
        /// What it says.
        text: String,
        /// The whole text as it is written, in this case, and no pattern.
        #[serde(default)]
        exact: bool,
        /// A text somewhere in what it says, in any case, and no pattern.
        #[serde(default)]
        contains: bool,
        /// How long it may take, in milliseconds; 5000 when not given.
        timeout_ms: Option<u64>,
    }
    .internal()
    |arguments, call| {
        let limit = patience(arguments.timeout_ms);
        visible(call, arguments.words(), limit).await
    };

    /// Expects that no element with a text is visible, or that it disappears in time.
    Assertion assertNotVisibleWithText ByText
    |arguments, call| {
        let words = arguments.words(TextCriterion::Matching);
        let wanted = ElementQuery::words(words, call.session.platform())?;
        expect_gone(&wanted, ELEMENT_TIMEOUT, call).await
    };

    /// Expects an element to be visible by its accessibility text or its visible text.
    Assertion assertVisibleWithAccessibilityText ByAccessibilityText
    .internal()
    |arguments, call| visible(call, arguments.words(), ELEMENT_TIMEOUT).await;

    /// Expects an element to be visible by its id.
    Assertion assertVisibleWithResourceId ByResourceId {
        /// Its id, in full or behind the last slash, as a pattern.
        resource_id: String,
        /// Its accessibility text.
        accessibility_text: Option<String>,
        /// Which of the matches in sight, from 0.
        index: Option<u32>,
        /// Whether it is enabled.
        enabled: Option<bool>,
        /// Whether it is selected.
        selected: Option<bool>,
        /// How long it may take, in milliseconds; 5000 when not given.
        timeout_ms: Option<u64>,
    }
    .internal()
    |arguments, call| {
        let limit = patience(arguments.timeout_ms);
        visible(call, arguments.words(), limit).await
    };
}

async fn touch(call: &Call<'_>, words: Words, touch: Touch) -> Result<Answer, ToolError> {
    let wanted = ElementQuery::words(words, call.session.platform())?;
    touch_element(Watch::new(call, ELEMENT_TIMEOUT), &wanted, touch, None).await
}

async fn visible(call: &Call<'_>, words: Words, limit: Duration) -> Result<Answer, ToolError> {
    let wanted = ElementQuery::words(words, call.session.platform())?;
    expect_visible(Watch::new(call, limit), &wanted).await
}

impl ByText {
    /// What it says; `otherwise`, unless it is to be exact.
    fn words(mut self, otherwise: fn(String) -> TextCriterion) -> Words {
        let text = std::mem::take(&mut self.text);
        let says = if self.exact {
            TextCriterion::Exactly(text)
        } else {
            otherwise(text)
        };
        self.saying(says)
    }
}

impl AssertByText {
    fn words(mut self) -> Words {
        let text = std::mem::take(&mut self.text);
        let says = match (self.exact, self.contains) {
            (true, _) => TextCriterion::Exactly(text),
            (false, true) => TextCriterion::Containing(text),
            (false, false) => TextCriterion::Matching(text),
        };
        self.saying(says)
    }
}

impl ByAccessibilityText {
    fn words(mut self) -> Words {
        let text = std::mem::take(&mut self.accessibility_text);
        self.saying(TextCriterion::Matching(text))
    }
}

impl ByResourceId {
    fn words(self) -> Words {
        Words {
            says: self.accessibility_text.map(TextCriterion::Matching),
            id: Some(self.resource_id),
            index: self.index.unwrap_or(0),
            enabled: self.enabled,
            selected: self.selected,
            ..Words::default()
        }
    }
}
