//! Types from the tree: a scalar is read as what the field wants. Knows nothing of files.

use std::fmt;

use serde::Deserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Error, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use super::{Content, Entry, Meaning, Node, Scalar};
use crate::key::KeyPath;
use crate::origin::Position;

/// What is wrong with a value, and where.
#[derive(Debug)]
pub(crate) struct Mistake {
    pub wrong: Wrong,
    /// Where it stands.
    pub at: Option<Position>,
    /// The way to it, innermost first.
    way: Vec<String>,
}

/// What is wrong.
#[derive(Debug)]
pub(crate) enum Wrong {
    /// A value of another kind was expected: `a list`.
    Kind(String),
    /// A key nothing is known of, and those that are known.
    UnknownKey(String, &'static [&'static str]),
    /// A word that is not among the possible ones.
    UnknownWord(String, &'static [&'static str]),
    /// A key that has to be there.
    MissingKey(&'static str),
    /// A key that is given twice.
    RepeatedKey(String),
    /// A value's own words.
    Other(String),
}

impl Mistake {
    /// The setting it is about.
    pub(crate) fn key(&self) -> KeyPath {
        KeyPath::new(self.way.iter().rev())
    }

    fn new(wrong: Wrong) -> Self {
        Self {
            wrong,
            at: None,
            way: Vec::new(),
        }
    }

    fn kind(wanted: &str) -> Self {
        Self::new(Wrong::Kind(wanted.to_owned()))
    }

    fn or_at(mut self, at: Position) -> Self {
        self.at.get_or_insert(at);
        self
    }

    fn inside(mut self, key: impl fmt::Display) -> Self {
        self.way.push(key.to_string());
        self
    }
}

impl std::error::Error for Mistake {}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::suggest::words(&self.wrong).0)
    }
}

impl Error for Mistake {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Wrong::Other(message.to_string()))
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::kind(&expected.to_string())
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        Self::new(Wrong::UnknownWord(word.to_owned(), known))
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Self::new(Wrong::UnknownKey(key.to_owned(), known))
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(Wrong::MissingKey(key))
    }
}

impl Node {
    /// The value as a type of ours.
    pub(crate) fn decode<T: DeserializeOwned>(&self) -> Result<T, Mistake> {
        T::deserialize(self).map_err(|error| error.or_at(self.at))
    }

    fn scalar(&self, wanted: &str) -> Result<&Scalar, Mistake> {
        match &self.content {
            Content::Scalar(scalar) => Ok(scalar),
            Content::Null | Content::List(_) | Content::Map(_) => Err(Mistake::kind(wanted)),
        }
    }

    fn flag(&self) -> Result<bool, Mistake> {
        const WANTED: &str = "true or false";
        let scalar = self.scalar(WANTED)?;
        match scalar.meaning {
            Meaning::Flag(value) => Ok(value),
            _ => match scalar.text.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" => Ok(true),
                "false" | "no" | "off" => Ok(false),
                _ => Err(Mistake::kind(WANTED)),
            },
        }
    }

    fn whole(&self, wanted: &str) -> Result<i128, Mistake> {
        let scalar = self.scalar(wanted)?;
        match scalar.meaning {
            Meaning::Whole(value) => Ok(value),
            _ => scalar.text.parse().map_err(|_| Mistake::kind(wanted)),
        }
    }

    fn number(&self) -> Result<f64, Mistake> {
        const WANTED: &str = "a number";
        let scalar = self.scalar(WANTED)?;
        match scalar.meaning {
            Meaning::Whole(value) => Ok(value as f64),
            Meaning::Number(value) => Ok(value),
            _ => scalar.text.parse().map_err(|_| Mistake::kind(WANTED)),
        }
    }

    fn list(&self) -> Result<&[Self], Mistake> {
        match &self.content {
            Content::Null => Ok(&[]),
            Content::List(items) => Ok(items),
            Content::Scalar(_) | Content::Map(_) => Err(Mistake::kind("a list")),
        }
    }

    fn map(&self) -> Result<&[Entry], Mistake> {
        match &self.content {
            Content::Null => Ok(&[]),
            Content::Map(entries) => Ok(entries),
            Content::Scalar(_) | Content::List(_) => Err(Mistake::kind("keys and values")),
        }
    }
}

impl<'de> IntoDeserializer<'de, Mistake> for &'de Node {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! whole {
    ($($method:ident $visit:ident $wanted:literal)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
            let value = self.whole($wanted)?.try_into().map_err(|_| Mistake::kind($wanted))?;
            visitor.$visit(value)
        }
    )*};
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Mistake;

    whole! {
        deserialize_i8 visit_i8 "a whole number"
        deserialize_i16 visit_i16 "a whole number"
        deserialize_i32 visit_i32 "a whole number"
        deserialize_i64 visit_i64 "a whole number"
        deserialize_u8 visit_u8 "a whole number, 0 or more"
        deserialize_u16 visit_u16 "a whole number, 0 or more"
        deserialize_u32 visit_u32 "a whole number, 0 or more"
        deserialize_u64 visit_u64 "a whole number, 0 or more"
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let Content::Scalar(scalar) = &self.content else {
            return match &self.content {
                Content::List(_) => self.deserialize_seq(visitor),
                Content::Map(_) => self.deserialize_map(visitor),
                _ => visitor.visit_unit(),
            };
        };
        match scalar.meaning {
            Meaning::Flag(value) => visitor.visit_bool(value),
            Meaning::Whole(value) => match i64::try_from(value) {
                Ok(value) => visitor.visit_i64(value),
                Err(_) => visitor.visit_i128(value),
            },
            Meaning::Number(value) => visitor.visit_f64(value),
            Meaning::Text => visitor.visit_borrowed_str(&scalar.text),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_bool(self.flag()?)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_f64(self.number()?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_borrowed_str(&self.scalar("text")?.text)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        if let Content::Null = self.content {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let items = Items {
            items: self.list()?,
            next: 0,
        };
        visitor.visit_seq(items)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let entries = Entries {
            entries: self.map()?,
            next: 0,
        };
        visitor.visit_map(entries)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let word = self.scalar("a word")?.text.as_str();
        visitor.visit_enum(word.into_deserializer())
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct tuple tuple_struct identifier
    }
}

struct Items<'de> {
    items: &'de [Node],
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Mistake;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Mistake> {
        let Some(item) = self.items.get(self.next) else {
            return Ok(None);
        };
        let read = seed
            .deserialize(item)
            .map_err(|error| error.or_at(item.at).inside(self.next));
        self.next += 1;
        read.map(Some)
    }
}

struct Entries<'de> {
    entries: &'de [Entry],
    /// The entry whose key is read next; its value is that of the one before.
    next: usize,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Mistake;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Mistake> {
        let Some(entry) = self.entries.get(self.next) else {
            return Ok(None);
        };
        let before = &self.entries[..self.next];
        self.next += 1;
        let read = if before.iter().any(|other| other.key == entry.key) {
            Err(Mistake::new(Wrong::RepeatedKey(entry.key.clone())))
        } else {
            seed.deserialize(entry.key.as_str().into_deserializer())
        };
        read.map(Some)
            .map_err(|error| error.or_at(entry.at).inside(&entry.key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Mistake> {
        let entry = &self.entries[self.next - 1];
        seed.deserialize(&entry.value)
            .map_err(|error| error.or_at(entry.value.at).inside(&entry.key))
    }
}
