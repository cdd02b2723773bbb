//! Tools that expect an element to be visible, or not to be, by its selector.

use std::time::Duration;

use packtrain_drivers::selector::{Dialect, NodeSelector, Pattern};
use packtrain_drivers::{Platform, Snapshot};
use schemars::JsonSchema;
use serde::Deserialize;

use super::maestro::Element;
use super::{Object, either, named, patience};
use crate::builtin::{InvalidArgument, caseless};
use crate::call::Call;
use crate::mobile::PHONES;
use crate::mobile::element_query::ElementQuery;
use crate::mobile::find::{Presence, find, gone};
use crate::mobile::watch::{Unmet, Watch};
use crate::mobile::words::{quoted, texts_at};
use crate::tool::{Answer, ToolError};

tools! { PHONES;
    /// Expects an element to be visible, and to show a text when one is given.
    Assertion assertVisibleBySelector AssertBySelector: with_selector(reason) {
        /// Which element, as in other tools.
        node_selector,
        /// How long to wait for it, in milliseconds; 5000 when not given.
        timeout_ms: Option<u64>,
        /// What it shows, blanks around it aside.
        expected_text: Option<String>,
        /// EXACT, PREFIX or REGEX.
        #[serde(default, deserialize_with = "caseless")]
        text_match_mode: TextMatchMode,
    }
    .ruled(|arguments| {
        arguments.says_something()?;
        arguments.rule()
    })
    .internal()
    |mut arguments, call| {
        arguments.says_something()?;
        let wanted = arguments.wanted(call.session.platform())?;
        let watch = Watch::new(call, patience(arguments.timeout_ms));
        let expected = arguments.expected_text.as_deref();
        let expected = expected.map(|text| Expected::new(text, arguments.text_match_mode));
        assert_shows(watch, &wanted, expected).await
    };

    /// Expects that no such element is visible, or that it disappears in time.
    Assertion assertNotVisibleBySelector AssertNotBySelector: with_selector(reason) {
        /// Which element, as in other tools.
        node_selector,
        /// How long it may take to go away, in milliseconds; 5000 when not given.
        timeout_ms: Option<u64>,
    }
    .ruled(AssertNotBySelector::rule)
    .internal()
    |mut arguments, call| {
        let wanted = arguments.wanted(call.session.platform())?;
        expect_gone(&wanted, patience(arguments.timeout_ms), call).await
    };
}

/// Expects an element to go away.
pub(super) async fn expect_gone(
    wanted: &ElementQuery,
    limit: Duration,
    call: &Call<'_>,
) -> Result<Answer, ToolError> {
    match gone(&mut Watch::new(call, limit), wanted).await? {
        Presence::Gone => {
            let mut answer = Answer::default();
            answer.report.notes = wanted.notes();
            Ok(answer)
        }
        Presence::There(error) => Err(error),
    }
}

/// Expects an element to be visible.
pub(super) async fn expect_visible(
    mut watch: Watch<'_>,
    wanted: &ElementQuery,
) -> Result<Answer, ToolError> {
    let found = find(&mut watch, wanted).await?;
    Ok(found.into_answer(Answer::default()))
}

/// Expects an element to be visible and, when a text is expected, to show it.
pub(super) async fn assert_shows(
    mut watch: Watch<'_>,
    wanted: &ElementQuery,
    expected: Option<Expected>,
) -> Result<Answer, ToolError> {
    let Some(expected) = expected else {
        return expect_visible(watch, wanted).await;
    };
    let (_, visible_match) = watch
        .until(
            |snapshot| {
                let visible_match = wanted.visible_match(snapshot)?;
                let texts = texts_at(&snapshot.tree, visible_match.node, wanted.source());
                expected.is_among(&texts).then_some(visible_match)
            },
            |snapshot| expected.unmet(wanted, snapshot),
        )
        .await?;
    let mut answer = Answer::default();
    answer.report.located = Some(wanted.located(&visible_match));
    answer.report.notes = wanted.notes();
    Ok(answer)
}

/// What an element should show.
pub(super) struct Expected {
    text: String,
    mode: TextMatchMode,
    pattern: Pattern,
}

impl Expected {
    pub(super) fn new(text: &str, mode: TextMatchMode) -> Self {
        let text = text.trim().to_owned();
        Self {
            pattern: Pattern::new(&text, Dialect::Native),
            text,
            mode,
        }
    }

    fn is_among(&self, texts: &[String]) -> bool {
        let expects_none = self.mode == TextMatchMode::Exact && self.text.is_empty();
        texts.iter().any(|text| self.is(text)) || texts.is_empty() && expects_none
    }

    fn is(&self, text: &str) -> bool {
        match self.mode {
            TextMatchMode::Exact => text == self.text,
            TextMatchMode::Prefix => text.starts_with(&self.text),
            TextMatchMode::Regex => self.pattern.matches(text),
        }
    }

    fn unmet(&self, wanted: &ElementQuery, snapshot: &Snapshot) -> Unmet {
        let Some(visible_match) = wanted.visible_match(snapshot) else {
            return Unmet {
                what: format!("{} was not visible", wanted.description()),
                log: wanted.explain(snapshot),
            };
        };
        let texts = texts_at(&snapshot.tree, visible_match.node, wanted.source());
        let shown: Vec<_> = texts.iter().take(5).map(|text| quoted(text)).collect();
        let how = match self.mode {
            TextMatchMode::Exact => "show",
            TextMatchMode::Prefix => "show a text that begins with",
            TextMatchMode::Regex => "show a text that matches",
        };
        Unmet {
            what: format!(
                "{} did not {how} {}, but {},",
                wanted.description(),
                quoted(&self.text),
                if shown.is_empty() {
                    "no text".to_owned()
                } else {
                    shown.join(", ")
                }
            ),
            log: self
                .pattern
                .note()
                .filter(|_| self.mode == TextMatchMode::Regex)
                .into_iter()
                .collect(),
        }
    }
}

impl AssertBySelector {
    /// Every text begins with a blank one, so that expecting it would verify nothing.
    fn says_something(&self) -> Result<(), ToolError> {
        let expected = self.expected_text.as_deref();
        let blank = expected.is_some_and(|text| text.trim().is_empty());
        if blank && self.text_match_mode != TextMatchMode::Exact {
            return Err(ToolError::hinted(
                "`expectedText` is blank",
                "say what is expected; EXACT expects no text at all",
            ));
        }
        Ok(())
    }
}

/// How an expected text is compared.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum TextMatchMode {
    /// It is the text.
    #[default]
    Exact,
    /// It begins the text.
    Prefix,
    /// It is a pattern that the whole text matches.
    Regex,
}
