//! What is wrong with a text, and where. Says nothing about what happens then.

mod render;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::Serialize;

use crate::source::{Source, Span};

/// One thing to tell a person about a text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, one line, lower case, no full stop.
    pub message: String,
    /// The text it is about; serialized as its name.
    pub source: Source,
    /// Where in the text; `None` when it is about all of it.
    pub span: Option<Span>,
    /// A few words for the caret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// How bad a [`Diagnostic`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth a look; the file is used anyway.
    Warning,
    /// The file cannot be used.
    Error,
}

impl Diagnostic {
    /// Whether the file cannot be used.
    pub const fn is_error(&self) -> bool {
        matches!(self.severity, Severity::Error)
    }

    /// A mistake that makes the file unusable.
    pub fn error(
        source: &Source,
        span: impl Into<Option<Span>>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            source: source.clone(),
            span: span.into(),
            label: None,
            hint: None,
        }
    }

    /// What it says; not the text that it is about.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let texts = [&mut self.message].into_iter();
        texts.chain(&mut self.label).chain(&mut self.hint)
    }

    /// Something suspicious.
    pub fn warning(
        source: &Source,
        span: impl Into<Option<Span>>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(source, span, message)
        }
    }

    /// Adds the words at the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Option<String>>) -> Self {
        self.hint = hint.into();
        self
    }

    /// `trails/login.trail.yaml:12:9`; without a place only the name.
    pub fn location(&self) -> String {
        match self.span {
            Some(Span { start, .. }) => {
                format!("{}:{}:{}", self.source.name(), start.line, start.column)
            }
            None => self.source.name().to_owned(),
        }
    }

    /// Several lines for a person: what, where, the source line with a caret, the hint. Ends
    /// without a line break. Colours are ANSI sequences.
    pub fn render(&self, color: bool) -> String {
        render::render(self, color)
    }
}

/// One line, as compilers print it: `login.trail.yaml:12:9: error: ...`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(
            f,
            "{}: {severity}: {}",
            printable(&self.location()),
            printable(&self.message)
        )
    }
}

impl std::error::Error for Diagnostic {}

/// A piece of a file inside a message: short, one line, nothing a terminal would obey.
pub fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("`{}...`", printable(&text[..end])),
        None => format!("`{}`", printable(text)),
    }
}

/// The text with everything escaped that would move a cursor or change a colour.
fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // These turn the reading direction around.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => shown.extend(c.escape_unicode()),
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}
