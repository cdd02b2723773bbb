//! Why a value is not what a tool wants.

use std::fmt;

use serde::de;

use crate::diagnostic::{Diagnostic, quoted};
use crate::source::{Source, Span};
use crate::suggest::did_you_mean;

/// Why a value is not what was wanted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", Prefix(way))]
pub struct DecodeError {
    /// The way into the value, innermost first.
    way: Vec<Step>,
    /// A key that is unknown, and those that are known.
    pub unknown_key: Option<Box<(String, &'static [&'static str])>>,
    /// Whether it is a word that is none of those there are.
    pub is_unknown_word: bool,
    /// Where in the text, when the value was read from one.
    pub span: Option<Span>,
    /// What was expected and what was found.
    pub message: Box<str>,
    /// What to do about it.
    pub hint: Option<String>,
}

/// One part of the way into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A key.
    Key(String),
    /// An item of a list, from 0.
    Item(usize),
}

/// `nodeSelector.web.nthIndex: `, `commands[0]: `; nothing for the value itself.
struct Prefix<'a>(&'a [Step]);

impl fmt::Display for Prefix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.0.iter().rev().enumerate() {
            match step {
                Step::Item(item) => write!(f, "[{item}]")?,
                Step::Key(key) if place == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
            }
        }
        f.write_str(if self.0.is_empty() { "" } else { ": " })
    }
}

impl DecodeError {
    /// A value that has the right shape and is still invalid.
    pub fn at(span: Option<Span>, message: impl Into<String>) -> Self {
        Self {
            span,
            ..Self::new(message.into())
        }
    }

    pub(super) fn new(message: String) -> Self {
        Self {
            way: Vec::new(),
            unknown_key: None,
            is_unknown_word: false,
            span: None,
            message: message.into(),
            hint: None,
        }
    }

    /// The same as a diagnostic of the text the value was read from.
    pub fn diagnostic(&self, source: &Source) -> Diagnostic {
        Diagnostic::error(source, self.span, self.to_string()).hint(self.hint.clone())
    }

    /// Places the error unless an inner value has done so.
    #[must_use]
    pub(super) fn or_at(mut self, span: Option<Span>) -> Self {
        self.span = self.span.or(span);
        self
    }

    /// The way into the value, outermost first; none for the value itself.
    pub fn way(&self) -> impl Iterator<Item = &Step> {
        self.way.iter().rev()
    }

    /// The error of a value below a key.
    #[must_use]
    pub fn in_key(mut self, key: impl Into<String>) -> Self {
        self.way.push(Step::Key(key.into()));
        self
    }

    #[must_use]
    pub(super) fn in_item(mut self, place: usize) -> Self {
        self.way.push(Step::Item(place));
        self
    }
}

/// The candidate that was meant, or else all of them when they are few.
fn advice(word: &str, candidates: &'static [&'static str]) -> Option<String> {
    const FEW: usize = 14;
    did_you_mean(word, candidates.iter().copied()).or_else(|| match candidates {
        [] => Some("it takes none".to_owned()),
        all if all.len() <= FEW => Some(format!("expected one of: {}", all.join(", "))),
        _ => None,
    })
}

impl de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(format!("expected {expected}, found {unexpected}"))
    }

    fn invalid_value(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(format!("expected {expected}, found {unexpected}"))
    }

    fn invalid_length(length: usize, expected: &dyn de::Expected) -> Self {
        Self::new(format!("expected {expected}, found {length} items"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self {
            hint: advice(variant, expected),
            is_unknown_word: true,
            ..Self::new(format!("unknown value {}", quoted(variant)))
        }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self {
            hint: advice(field, expected),
            unknown_key: Some(Box::new((field.to_owned(), expected))),
            ..Self::new(format!("unknown key {}", quoted(field)))
        }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("`{field}` is missing"))
    }
}
