//! A file's text with its name, and places in it. Knows nothing of what the text means.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

/// A text and what people call it. Cloning shares both.
#[derive(Clone, PartialEq, Eq)]
pub struct Source(Arc<Inner>);

#[derive(PartialEq, Eq)]
struct Inner {
    name: String,
    text: String,
}

impl Source {
    /// A text under the name that messages show: a path as given, or `<arguments>`.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            name: name.into(),
            text: text.into(),
        }))
    }

    /// The name that messages show.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The text, as read.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// A place by its line and its column, both from 1.
    pub fn position(&self, line: u64, column: u64) -> Position {
        let at = |number: u64| usize::try_from(number).unwrap_or(1).max(1) - 1;
        let lines = self.text().split_inclusive('\n');
        let before: usize = lines.clone().take(at(line)).map(str::len).sum();
        let text = lines.skip(at(line)).map(str::chars).next();
        let within: usize = text
            .map(|chars| chars.take(at(column)).map(char::len_utf8).sum())
            .unwrap_or_default();
        Position {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
            offset: before + within,
        }
    }

    /// The text between two places; empty when the span belongs to another source.
    pub fn slice(&self, span: Span) -> &str {
        self.text()
            .get(span.start.offset..span.end.offset)
            .unwrap_or_default()
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({}, {} bytes)", self.name(), self.text().len())
    }
}

impl Serialize for Source {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A place in a text; all zero when unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Bytes from the start of the text.
    pub offset: usize,
}

impl Position {
    /// Where a text begins.
    pub const START: Self = Self {
        line: 1,
        column: 1,
        offset: 0,
    };
}

/// A stretch of text; the end is the place after its last character.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Span {
    /// Where it begins.
    pub start: Position,
    /// Where it has ended.
    pub end: Position,
}

impl Span {
    /// A stretch between two places.
    pub const fn new(start: Position, end: Position) -> Self {
        Self { start, end }
    }

    /// No text, just a place.
    pub const fn at(place: Position) -> Self {
        Self {
            start: place,
            end: place,
        }
    }

    /// From the start of this one to the end of the other.
    pub const fn to(self, other: Self) -> Self {
        Self {
            start: self.start,
            end: other.end,
        }
    }
}
