//! YAML as it was written: values with their places.
//!
//! The parser is asked for this tree only, and types are read from it (`typed.rs`): compiled for
//! each type once more, the parser would be a fifth of this crate.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

use super::Place;

/// A value and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    pub place: Place,
    pub content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    Null,
    Flag(bool, Written),
    Whole(i64, Written),
    Number(f64, Written),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// How a scalar that is no text was written: `1.0` is the number 1, but as a text it is `1.0`.
pub(super) type Written = String;

#[derive(Debug)]
pub(super) struct Entry {
    pub key: String,
    /// Where the key stands.
    pub place: Place,
    pub value: Node,
}

/// Reads every document of a text.
pub(super) fn read(text: &str) -> Result<Vec<Node>, serde_saphyr::Error> {
    let text = text.trim_start_matches('\u{feff}');
    let documents: Vec<Spanned<Parsed>> = serde_saphyr::from_multiple(text)?;
    let nodes = documents.into_iter().map(|parsed| Node::new(parsed, text));
    Ok(nodes.collect())
}

impl Node {
    fn new(parsed: Spanned<Parsed>, source: &str) -> Self {
        let written = || written(source, parsed.defined).to_owned();
        let content = match parsed.value {
            Parsed::Null => Content::Null,
            Parsed::Flag(value) => Content::Flag(value, written()),
            Parsed::Whole(value) => Content::Whole(value, written()),
            Parsed::Number(value) => Content::Number(value, written()),
            Parsed::Text(text) => Content::Text(text),
            Parsed::List(items) => {
                let items = items.into_iter().map(|item| Self::new(item, source));
                Content::List(items.collect())
            }
            Parsed::Map(entries) => {
                let entries = entries.into_iter().map(|(key, value)| Entry {
                    place: key.referenced.into(),
                    key: key.value,
                    value: Self::new(value, source),
                });
                Content::Map(entries.collect())
            }
        };
        Self {
            place: parsed.referenced.into(),
            content,
        }
    }
}

fn written(source: &str, location: Location) -> &str {
    let span = location.span();
    let bytes = span.byte_offset().zip(span.byte_len());
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
    Flag(bool),
    Whole(i64),
    Number(f64),
    Text(String),
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
        Ok(Parsed::Flag(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Parsed, E> {
        Ok(Parsed::Whole(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Parsed, E> {
        Ok(i64::try_from(value).map_or(Parsed::Number(value as f64), Parsed::Whole))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Parsed, E> {
        Ok(Parsed::Number(value))
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
