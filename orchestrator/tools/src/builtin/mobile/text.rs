//! Tools that name an element by what it says or by its id, in Maestro's words: a pattern that the
//! whole text matches in any case, or the very text.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::expect::{expect_gone, expect_visible};
use super::{Answering, patience};
use crate::builtin::tool;
use crate::call::Call;
use crate::mobile::act::{Touch, touch_element};
use crate::mobile::element_query::{ElementQuery, Says, Words};
use crate::mobile::watch::Watch;
use crate::mobile::{ELEMENT_TIMEOUT, PHONES};
use crate::tool::{Kind, Tool};

pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    let mut tools = touching();
    tools.extend(expecting());
    tools
}

fn touching() -> Vec<Arc<dyn Tool>> {
    vec![
        tool::<ByText>(
            "tapOnElementWithText",
            Kind::Action,
            "Taps an element that has a text somewhere in what it says, in any case.",
            |mut arguments, call| {
                let text = arguments.says(Says::Containing);
                touch(call, arguments.words(text), Touch::Tap)
            },
        )
        .on(PHONES)
        .internal()
        .done(),
        tool::<ByText>(
            "longPressOnElementWithText",
            Kind::Action,
            "Holds an element by what it says.",
            |mut arguments, call| {
                let text = arguments.says(Says::Matching);
                touch(call, arguments.words(text), Touch::Hold)
            },
        )
        .on(PHONES)
        .internal()
        .done(),
        tool::<ByAccessibilityText>(
            "tapOnElementWithAccessibilityText",
            Kind::Action,
            "Taps an element by its accessibility text, or by what it says.",
            |arguments, call| touch(call, arguments.words(), Touch::Tap),
        )
        .on(PHONES)
        .internal()
        .done(),
        tool::<ByAccessibilityText>(
            "longPressElementWithAccessibilityText",
            Kind::Action,
            "Holds an element by its accessibility text, or by what it says.",
            |arguments, call| touch(call, arguments.words(), Touch::Hold),
        )
        .on(PHONES)
        .internal()
        .done(),
    ]
}

fn expecting() -> Vec<Arc<dyn Tool>> {
    vec![
        tool::<AssertByText>(
            "assertVisibleWithText",
            Kind::Assertion,
            "Expects an element to be visible by what it says.",
            |arguments, call| {
                let limit = patience(arguments.timeout_ms);
                visible(call, arguments.words(), limit)
            },
        )
        .on(PHONES)
        .internal()
        .done(),
        tool::<ByText>(
            "assertNotVisibleWithText",
            Kind::Assertion,
            "Expects that no element that says so is visible, or that it goes away in time.",
            |mut arguments, call| {
                let text = arguments.says(Says::Matching);
                let words = arguments.words(text);
                Box::pin(async move {
                    let wanted = ElementQuery::words(words, call.session.platform())?;
                    expect_gone(&wanted, ELEMENT_TIMEOUT, call).await
                })
            },
        )
        .on(PHONES)
        .done(),
        tool::<ByAccessibilityText>(
            "assertVisibleWithAccessibilityText",
            Kind::Assertion,
            "Expects an element to be visible by its accessibility text, or by what it says.",
            |arguments, call| visible(call, arguments.words(), ELEMENT_TIMEOUT),
        )
        .on(PHONES)
        .internal()
        .done(),
        tool::<ByResourceId>(
            "assertVisibleWithResourceId",
            Kind::Assertion,
            "Expects an element to be visible by its id.",
            |arguments, call| {
                let limit = patience(arguments.timeout_ms);
                visible(call, arguments.words(), limit)
            },
        )
        .on(PHONES)
        .internal()
        .done(),
    ]
}

fn touch<'a>(call: &'a Call<'a>, words: Words, touch: Touch) -> Answering<'a> {
    Box::pin(async move {
        let wanted = ElementQuery::words(words, call.session.platform())?;
        touch_element(Watch::new(call, ELEMENT_TIMEOUT), &wanted, touch, None).await
    })
}

fn visible<'a>(call: &'a Call<'a>, words: Words, limit: Duration) -> Answering<'a> {
    Box::pin(async move {
        let wanted = ElementQuery::words(words, call.session.platform())?;
        expect_visible(Watch::new(call, limit), &wanted).await
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ByText {
    /// What it says.
    text: String,
    /// The whole text as it is written, in this case, and no pattern.
    #[serde(default)]
    exact: bool,
    /// Its id, in full or behind the last slash, as a pattern.
    #[serde(default)]
    id: Option<String>,
    /// Which of the matches in sight, from 0.
    #[serde(default)]
    index: Option<u32>,
    /// Whether it is enabled.
    #[serde(default)]
    enabled: Option<bool>,
    /// Whether it is selected.
    #[serde(default)]
    selected: Option<bool>,
}

impl ByText {
    /// What it says; `otherwise`, unless it is to be exact.
    fn says(&mut self, otherwise: fn(String) -> Says) -> Says {
        let text = std::mem::take(&mut self.text);
        if self.exact {
            Says::Exactly(text)
        } else {
            otherwise(text)
        }
    }

    fn words(self, says: Says) -> Words {
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

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AssertByText {
    /// What it says.
    text: String,
    /// The whole text as it is written, in this case, and no pattern.
    #[serde(default)]
    exact: bool,
    /// A text somewhere in what it says, in any case, and no pattern.
    #[serde(default)]
    contains: bool,
    /// Its id, in full or behind the last slash, as a pattern.
    #[serde(default)]
    id: Option<String>,
    /// Which of the matches in sight, from 0.
    #[serde(default)]
    index: Option<u32>,
    /// Whether it is enabled.
    #[serde(default)]
    enabled: Option<bool>,
    /// Whether it is selected.
    #[serde(default)]
    selected: Option<bool>,
    /// How long it may take, in milliseconds; 5000 when not given.
    #[serde(default)]
    timeout_ms: Option<u64>,
}

impl AssertByText {
    fn words(self) -> Words {
        let says = match (self.exact, self.contains) {
            (true, _) => Says::Exactly(self.text),
            (false, true) => Says::Containing(self.text),
            (false, false) => Says::Matching(self.text),
        };
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

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ByAccessibilityText {
    /// Its accessibility text.
    accessibility_text: String,
    /// Its id, in full or behind the last slash, as a pattern.
    #[serde(default)]
    id: Option<String>,
    /// Which of the matches in sight, from 0.
    #[serde(default)]
    index: Option<u32>,
    /// Whether it is enabled.
    #[serde(default)]
    enabled: Option<bool>,
    /// Whether it is selected.
    #[serde(default)]
    selected: Option<bool>,
}

impl ByAccessibilityText {
    fn words(self) -> Words {
        Words {
            says: Some(Says::Matching(self.accessibility_text)),
            id: self.id,
            index: self.index.unwrap_or(0),
            enabled: self.enabled,
            selected: self.selected,
            ..Words::default()
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ByResourceId {
    /// Its id, in full or behind the last slash, as a pattern.
    resource_id: String,
    /// Its accessibility text.
    #[serde(default)]
    accessibility_text: Option<String>,
    /// Which of the matches in sight, from 0.
    #[serde(default)]
    index: Option<u32>,
    /// Whether it is enabled.
    #[serde(default)]
    enabled: Option<bool>,
    /// Whether it is selected.
    #[serde(default)]
    selected: Option<bool>,
    /// How long it may take, in milliseconds; 5000 when not given.
    #[serde(default)]
    timeout_ms: Option<u64>,
}

impl ByResourceId {
    fn words(self) -> Words {
        Words {
            says: self.accessibility_text.map(Says::Matching),
            id: Some(self.resource_id),
            index: self.index.unwrap_or(0),
            enabled: self.enabled,
            selected: self.selected,
            ..Words::default()
        }
    }
}
