//! YAML as it was written: values with their places.
//!
//! The parser is asked for this tree only, and every type is read from the tree (`typed.rs`):
//! compiled for each type once more, the parser would be half of this crate.

mod typed;

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_saphyr::{Location, Spanned};

pub(crate) use typed::{Mistake, Wrong};

use crate::origin::Position;

/// A value and where it stands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Node {
    /// The default where no file says it.
    pub at: Position,
    pub content: Content,
}

#[derive(Debug, Clone, Default)]
pub(crate) enum Content {
    #[default]
    Null,
    Scalar(Scalar),
    List(Vec<Node>),
    /// In the order of the file; a key may be given twice.
    Map(Vec<Entry>),
}

/// A key with its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub key: String,
    /// Where the key stands.
    pub at: Position,
    pub value: Node,
}

/// A scalar as written, quotes and escapes undone.
#[derive(Debug, Clone)]
pub(crate) struct Scalar {
    pub text: String,
    pub meaning: Meaning,
}

/// What a scalar is where nothing says what is wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Meaning {
    Flag(bool),
    Whole(i128),
    Number(f64),
    Text,
}

impl Node {
    /// Reads one document.
    pub(crate) fn read(text: &str) -> Result<Self, serde_saphyr::Error> {
        // Duplicate keys are for the typed reading to refuse, which can name them.
        let options = serde_saphyr::options! {
            duplicate_keys: serde_saphyr::DuplicateKeyPolicy::LastWins,
        };
        let text = text.trim_start_matches('\u{feff}');
        let parsed = serde_saphyr::from_str_with_options(text, options)?;
        Ok(Self::new(parsed, text))
    }

    fn new(parsed: Spanned<Parsed>, source: &str) -> Self {
        let content = match parsed.value {
            Parsed::Null => Content::Null,
            Parsed::Text(text) => Content::scalar(text, Meaning::Text),
            Parsed::Plain(meaning) => {
                Content::scalar(written(source, parsed.defined).to_owned(), meaning)
            }
            Parsed::List(items) => {
                let items = items.into_iter().map(|item| Self::new(item, source));
                Content::List(items.collect())
            }
            Parsed::Map(entries) => {
                let entries = entries.into_iter().map(|(key, value)| Entry {
                    at: position(key.referenced),
                    key: key.value,
                    value: Self::new(value, source),
                });
                Content::Map(entries.collect())
            }
        };
        Self {
            at: position(parsed.referenced),
            content,
        }
    }
}

impl Content {
    fn scalar(text: String, meaning: Meaning) -> Self {
        Self::Scalar(Scalar { text, meaning })
    }
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        let content = match value {
            Value::Null => Content::Null,
            Value::Bool(value) => Content::scalar(value.to_string(), Meaning::Flag(value)),
            Value::Number(number) => {
                let whole = number.as_i128().map(Meaning::Whole);
                let meaning = whole.or_else(|| number.as_f64().map(Meaning::Number));
                Content::scalar(number.to_string(), meaning.unwrap_or(Meaning::Text))
            }
            Value::String(text) => Content::scalar(text, Meaning::Text),
            Value::Array(items) => Content::List(items.into_iter().map(Self::from).collect()),
            Value::Object(map) => {
                let entries = map.into_iter().map(|(key, value)| Entry {
                    key,
                    at: Position::default(),
                    value: Self::from(value),
                });
                Content::Map(entries.collect())
            }
        };
        Self {
            at: Position::default(),
            content,
        }
    }
}

pub(crate) fn position(location: Location) -> Position {
    Position {
        line: location.line(),
        column: location.column(),
    }
}

/// What stands at a place: `1.50` is a number, but as a text it is `1.50`.
fn written(source: &str, location: Location) -> &str {
    let place = location.span();
    let bytes = place.byte_offset().zip(place.byte_len());
    bytes
        .and_then(|(start, length)| {
            let start = usize::try_from(start).ok()?;
            source.get(start..start.checked_add(usize::try_from(length).ok()?)?)
        })
        .unwrap_or_default()
}

/// What the parser says of a value.
enum Parsed {
    Null,
    Text(String),
    Plain(Meaning),
    List(Vec<Spanned<Parsed>>),
    Map(Vec<(Spanned<String>, Spanned<Parsed>)>),
}

impl<'de> Deserialize<'de> for Parsed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ParsedVisitor)
    }
}

struct ParsedVisitor;

impl<'de> Visitor<'de> for ParsedVisitor {
    type Value = Parsed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("YAML")
    }

    fn visit_unit<E>(self) -> Result<Parsed, E> {
        Ok(Parsed::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Parsed, E> {
        Ok(Parsed::Plain(Meaning::Flag(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Parsed, E> {
        Ok(Parsed::Plain(Meaning::Whole(value.into())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Parsed, E> {
        Ok(Parsed::Plain(Meaning::Whole(value.into())))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Parsed, E> {
        Ok(Parsed::Plain(Meaning::Whole(value)))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Parsed, E> {
        Ok(Parsed::Plain(Meaning::Number(value as f64)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Parsed, E> {
        Ok(Parsed::Plain(Meaning::Number(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Parsed, E> {
        Ok(Parsed::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Parsed, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Parsed::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parsed, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Parsed::Map(entries))
    }
}
