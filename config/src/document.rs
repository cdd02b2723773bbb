//! A YAML file with the place of every key, and its errors in words people use.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

use crate::error::{ConfigError, Problem};
use crate::key::KeyPath;
use crate::origin::Position;
use crate::suggest;

/// Largest file read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A file that was read.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub path: PathBuf,
    pub text: String,
    pub content: Content,
}

/// What is in a file, apart from the values.
#[derive(Debug, Clone, Default)]
pub(crate) enum Content {
    #[default]
    Null,
    Scalar,
    List(Vec<(Position, Content)>),
    Map(Vec<(String, Position, Content)>),
}

impl Document {
    /// Reads a file; errors carry the place.
    pub(crate) fn read(path: &Path) -> Result<Self, ConfigError> {
        let unreadable = |source| ConfigError::Unreadable {
            path: path.to_owned(),
            source,
        };
        let size = std::fs::metadata(path).map_err(unreadable)?.len();
        if size > MAX_BYTES {
            return Err(ConfigError::TooLarge {
                path: path.to_owned(),
                limit: MAX_BYTES,
            });
        }
        Self::from_text(path, std::fs::read_to_string(path).map_err(unreadable)?)
    }

    /// The same for a text that was read already.
    pub(crate) fn from_text(path: &Path, text: String) -> Result<Self, ConfigError> {
        let mut document = Self {
            path: path.to_owned(),
            text,
            content: Content::Null,
        };
        // Keys that are there twice are for the typed reading to refuse, which can name them.
        let options = serde_saphyr::options! {
            duplicate_keys: serde_saphyr::DuplicateKeyPolicy::LastWins,
        };
        document.content = serde_saphyr::from_str_with_options(&document.text, options)
            .map_err(|error| document.explain(error.without_snippet()))?;
        Ok(document)
    }

    /// The file as a type of ours.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        serde_saphyr::from_str(&self.text).map_err(|error| self.explain(error.without_snippet()))
    }

    /// Something wrong at a place of this file.
    pub(crate) fn problem(
        &self,
        position: Position,
        key: KeyPath,
        message: String,
        hint: Option<String>,
    ) -> ConfigError {
        let line = usize::try_from(position.line)
            .unwrap_or(1)
            .saturating_sub(1);
        ConfigError::Invalid(Box::new(Problem {
            path: self.path.clone(),
            position,
            key,
            message,
            hint,
            line: self.text.lines().nth(line).unwrap_or_default().to_owned(),
        }))
    }

    /// Where a key is; that of the nearest one around it when it is not there.
    pub(crate) fn position(&self, key: &KeyPath) -> Position {
        let mut content = &self.content;
        let mut position = Position { line: 1, column: 1 };
        for part in key.parts() {
            let found = match content {
                Content::Map(entries) => {
                    let mut entries = entries.iter();
                    entries
                        .find(|(name, ..)| name == part)
                        .map(|(_, at, inner)| (at, inner))
                }
                Content::List(items) => {
                    let item = part.parse().ok().and_then(|place: usize| items.get(place));
                    item.map(|(at, inner)| (at, inner))
                }
                Content::Null | Content::Scalar => None,
            };
            let Some((at, inner)) = found else { break };
            position = *at;
            content = inner;
        }
        position
    }

    fn explain(&self, error: &serde_saphyr::Error) -> ConfigError {
        let position = error
            .location()
            .map_or_else(Position::default, |at| Position {
                line: at.line().max(1),
                column: at.column().max(1),
            });
        let mut key = KeyPath::default();
        let inner = self.content.key_at(position, &KeyPath::default(), &mut key);
        if let serde_saphyr::Error::SerdeMissingField { .. } = error
            && !matches!(inner, Content::Map(_))
        {
            // The place is that of the first key beside the missing one.
            key = key.parent().unwrap_or_default();
        }
        let (message, hint) = suggest::words(error);
        self.problem(position, key, message, hint)
    }
}

impl Content {
    /// The last key at or before a place, which is the one a value there belongs to, and what it
    /// holds.
    fn key_at(&self, position: Position, here: &KeyPath, found: &mut KeyPath) -> &Self {
        let children: Vec<(KeyPath, Position, &Self)> = match self {
            Self::Null | Self::Scalar => Vec::new(),
            Self::Map(entries) => entries
                .iter()
                .map(|(name, at, inner)| (here.child(name), *at, inner))
                .collect(),
            Self::List(items) => items
                .iter()
                .enumerate()
                .map(|(place, (at, inner))| (here.child(place.to_string()), *at, inner))
                .collect(),
        };
        match children.into_iter().rfind(|(_, at, _)| *at <= position) {
            Some((key, _, inner)) => {
                found.clone_from(&key);
                inner.key_at(position, &key, found)
            }
            None => self,
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("YAML")
    }

    fn visit_unit<E>(self) -> Result<Content, E> {
        Ok(Content::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Content, E> {
        Ok(Content::Scalar)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Content, E> {
        Ok(Content::Scalar)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Content, E> {
        Ok(Content::Scalar)
    }

    fn visit_i128<E>(self, _: i128) -> Result<Content, E> {
        Ok(Content::Scalar)
    }

    fn visit_u128<E>(self, _: u128) -> Result<Content, E> {
        Ok(Content::Scalar)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Content, E> {
        Ok(Content::Scalar)
    }

    fn visit_str<E>(self, _: &str) -> Result<Content, E> {
        Ok(Content::Scalar)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element::<Spanned<Content>>()? {
            items.push((position(&item), item.value));
        }
        Ok(Content::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let at = position(&key);
            entries.push((key.value, at, map.next_value()?));
        }
        Ok(Content::Map(entries))
    }
}

fn position<T>(value: &Spanned<T>) -> Position {
    Position {
        line: value.referenced.line(),
        column: value.referenced.column(),
    }
}
