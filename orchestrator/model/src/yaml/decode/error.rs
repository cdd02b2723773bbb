//! Why a value is not what a tool wants.

use std::fmt;

use serde::de;

use crate::diagnostic::{Diagnostic, quoted};
use crate::source::{Source, Span};
use crate::suggest::did_you_mean;

/// Why a value is not what was wanted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", Prefix(path))]
pub struct DecodeError {
    /// Where in the value: `nodeSelector.web.nthIndex`, `commands[0]`; empty for the value itself.
    pub path: String,
    /// Where in the text, when the value was read from one.
    pub span: Option<Span>,
    /// What was expected and what was found.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

struct Prefix<'a>(&'a str);

impl fmt::Display for Prefix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            Ok(())
        } else {
            write!(f, "{}: ", self.0)
        }
    }
}

impl DecodeError {
    /// A value that has the right shape and still makes no sense.
    pub fn at(span: Option<Span>, message: impl Into<String>) -> Self {
        Self {
            span,
            ..Self::new(message.into())
        }
    }

    pub(super) fn new(message: String) -> Self {
        Self {
            path: String::new(),
            span: None,
            message,
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

    #[must_use]
    pub(super) fn in_key(mut self, key: &str) -> Self {
        self.path = match self.path.as_bytes().first() {
            None => key.to_owned(),
            Some(b'[') => format!("{key}{}", self.path),
            Some(_) => format!("{key}.{}", self.path),
        };
        self
    }

    #[must_use]
    pub(super) fn in_item(mut self, place: usize) -> Self {
        self.path = match self.path.as_bytes().first() {
            None | Some(b'[') => format!("[{place}]{}", self.path),
            Some(_) => format!("[{place}].{}", self.path),
        };
        self
    }
}

/// The candidate that was meant, or else all of them when they are few.
fn advice(word: &str, candidates: &'static [&'static str]) -> Option<String> {
    const FEW: usize = 12;
    did_you_mean(word, candidates.iter().copied()).or_else(|| match candidates {
        [] => Some("it takes none".to_owned()),
        all if all.len() <= FEW => Some(format!("it can be {}", all.join(", "))),
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
            ..Self::new(format!("unknown value {}", quoted(variant)))
        }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self {
            hint: advice(field, expected),
            ..Self::new(format!("unknown key {}", quoted(field)))
        }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("`{field}` is missing"))
    }
}
