//! An element in Maestro's words: a text, an id, an index, a state, relations. Pure.

use std::fmt::Write as _;

use packtrain_drivers::Platform;
use packtrain_drivers::selector::{
    AndroidMaestroMatch, Dialect, IosMaestroMatch, NodeSelector, Pattern, around_number,
};

use crate::mobile::words::quoted;
use crate::tool::ToolError;

/// An element in Maestro's words.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    /// What it says.
    pub(crate) says: Option<TextCriterion>,
    /// Its id, in full or behind the last slash, as a pattern.
    pub(crate) id: Option<String>,
    /// Which of those in sight, from 0.
    pub(crate) index: u32,
    /// Its states.
    pub(crate) enabled: Option<bool>,
    pub(crate) checked: Option<bool>,
    pub(crate) focused: Option<bool>,
    pub(crate) selected: Option<bool>,
    /// How it lies to others; its blocks and its index are not used.
    pub(crate) relations: NodeSelector,
}

/// What an element says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TextCriterion {
    /// A pattern that the whole text matches, in any case, or the very text.
    Matching(String),
    /// A text somewhere in it, in any case, and not within a longer number.
    Containing(String),
    /// This text and no other, in this case.
    Exactly(String),
}

/// Where a text is looked for.
#[derive(Debug, Clone, Copy)]
enum TextLocation {
    /// In what stands for the element: the first of the others that there is.
    Resolved,
    Hint,
    Accessibility,
}

impl Words {
    /// An element by what it says.
    pub(crate) fn matching(pattern: impl Into<String>) -> Self {
        Self {
            says: Some(TextCriterion::Matching(pattern.into())),
            ..Self::default()
        }
    }

    /// The selectors each of which is enough.
    ///
    /// # Errors
    /// A failure when nothing is said about the element.
    pub(super) fn selectors(&self, on: Platform) -> Result<Vec<NodeSelector>, ToolError> {
        let blank = |text: &str| text.trim().is_empty();
        if self.says.as_ref().is_some_and(|says| blank(says.text()))
            || self.id.as_deref().is_some_and(blank)
        {
            return Err(ToolError::failed(
                "the text is empty, so it would match anything",
            ));
        }
        let places: &[TextLocation] = match self.says {
            Some(_) => &[
                TextLocation::Resolved,
                TextLocation::Hint,
                TextLocation::Accessibility,
            ],
            None => &[TextLocation::Resolved],
        };
        let selectors = places
            .iter()
            .map(|&place| self.selector(on, place))
            .collect::<Result<Vec<_>, _>>()?;
        // Without a word the selector has no block, and only relations could tell elements apart.
        for selector in &selectors {
            super::platform::check(selector, on)?;
        }
        Ok(selectors)
    }

    /// One selector, for use inside others: a text is looked for in what stands for the element.
    ///
    /// # Errors
    /// A failure on a platform that has no such words.
    pub(crate) fn plain_selector(&self, on: Platform) -> Result<NodeSelector, ToolError> {
        let mut selector = self.selector(on, TextLocation::Resolved)?;
        selector.index = (self.index > 0).then_some(self.index);
        Ok(selector)
    }

    fn selector(&self, on: Platform, place: TextLocation) -> Result<NodeSelector, ToolError> {
        let text = |wanted: fn(TextLocation) -> bool| {
            let says = self.says.as_ref().filter(|_| wanted(place));
            says.map(TextCriterion::pattern)
        };
        let resolved = text(|place| matches!(place, TextLocation::Resolved));
        let hint = text(|place| matches!(place, TextLocation::Hint));
        let accessibility = text(|place| matches!(place, TextLocation::Accessibility));
        let id = self.id.as_deref().map(id_pattern);
        let relations = NodeSelector {
            index: None,
            ..self.relations.clone()
        };
        match on {
            Platform::Android => {
                let block = AndroidMaestroMatch {
                    text_regex: resolved,
                    hint_text_regex: hint,
                    accessibility_text_regex: accessibility,
                    resource_id_regex: id,
                    enabled: self.enabled,
                    checked: self.checked,
                    focused: self.focused,
                    selected: self.selected,
                    ..AndroidMaestroMatch::default()
                };
                Ok(NodeSelector {
                    android_maestro: (block != AndroidMaestroMatch::default())
                        .then(|| Box::new(block)),
                    ..relations
                })
            }
            Platform::Ios => {
                let block = IosMaestroMatch {
                    text_regex: resolved,
                    hint_text_regex: hint,
                    accessibility_text_regex: accessibility,
                    resource_id_regex: id,
                    focused: self.focused,
                    selected: self.selected,
                    ..IosMaestroMatch::default()
                };
                Ok(NodeSelector {
                    ios_maestro: (block != IosMaestroMatch::default()).then(|| Box::new(block)),
                    ..relations
                })
            }
            Platform::Web => Err(ToolError::failed(
                "this names elements of phones, not of pages",
            )),
        }
    }

    /// What is looked for, in one line.
    pub(super) fn description(&self) -> String {
        let mut words = Vec::new();
        match &self.says {
            Some(TextCriterion::Matching(pattern)) => {
                words.push(format!("text {}", quoted(pattern)))
            }
            Some(TextCriterion::Containing(text)) => {
                words.push(format!("text with {}", quoted(text)))
            }
            Some(TextCriterion::Exactly(text)) => {
                words.push(format!("exact text {}", quoted(text)))
            }
            None => {}
        }
        if let Some(id) = &self.id {
            words.push(format!("id {}", quoted(id)));
        }
        for (state, want) in [
            ("enabled", self.enabled),
            ("checked", self.checked),
            ("focused", self.focused),
            ("selected", self.selected),
        ] {
            match want {
                Some(true) => words.push(state.to_owned()),
                Some(false) => words.push(format!("not {state}")),
                None => {}
            }
        }
        if self.relations != NodeSelector::default() {
            words.push(self.relations.to_string());
        }
        let mut description = words.join(" ");
        if self.index > 0 {
            let _ = write!(description, " index {}", self.index);
        }
        description
    }
}

impl TextCriterion {
    fn text(&self) -> &str {
        match self {
            Self::Matching(text) | Self::Containing(text) | Self::Exactly(text) => text,
        }
    }

    fn pattern(&self) -> String {
        match self {
            Self::Matching(pattern) => pattern.clone(),
            Self::Containing(text) => {
                let (before, after) = around_number(text).unwrap_or((".*", ".*"));
                format!("{before}{}{after}", regex::escape(text))
            }
            Self::Exactly(text) => format!("(?-i:{})", regex::escape(text)),
        }
    }
}

/// An id in full, or only what follows its last slash.
fn id_pattern(id: &str) -> String {
    let escaped = regex::escape(id);
    let is_pattern = Pattern::new(id, Dialect::Maestro).note().is_none();
    if is_pattern && escaped != id {
        format!("(?:.*/)?(?:{id}|{escaped})")
    } else {
        format!("(?:.*/)?{escaped}")
    }
}
