//! Types from the tree: a scalar is read as what the field wants. Knows nothing of files.

use std::fmt;
use std::iter::Enumerate;
use std::slice::Iter;
use std::str::FromStr;

use serde::Deserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Error, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use super::{Content, Entry, Node};
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

    fn text(&self, wanted: &str) -> Result<&str, Mistake> {
        match &self.content {
            Content::Scalar(text) => Ok(text),
            Content::Null | Content::List(_) | Content::Map(_) => Err(Mistake::kind(wanted)),
        }
    }

    fn number<T: FromStr>(&self, wanted: &str) -> Result<T, Mistake> {
        self.text(wanted)?
            .parse()
            .map_err(|_| Mistake::kind(wanted))
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

macro_rules! numbers {
    ($($method:ident $visit:ident $wanted:literal)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
            visitor.$visit(self.number($wanted)?)
        }
    )*};
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Mistake;

    numbers! {
        deserialize_i8 visit_i8 "a whole number"
        deserialize_i16 visit_i16 "a whole number"
        deserialize_i32 visit_i32 "a whole number"
        deserialize_i64 visit_i64 "a whole number"
        deserialize_u8 visit_u8 "a whole number, 0 or more"
        deserialize_u16 visit_u16 "a whole number, 0 or more"
        deserialize_u32 visit_u32 "a whole number, 0 or more"
        deserialize_u64 visit_u64 "a whole number, 0 or more"
        deserialize_f32 visit_f32 "a number"
        deserialize_f64 visit_f64 "a number"
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match &self.content {
            Content::Null => visitor.visit_unit(),
            Content::Scalar(text) => visitor.visit_borrowed_str(text),
            Content::List(_) => self.deserialize_seq(visitor),
            Content::Map(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        const WANTED: &str = "true or false";
        match self.text(WANTED)?.to_ascii_lowercase().as_str() {
            "true" | "yes" | "y" | "on" => visitor.visit_bool(true),
            "false" | "no" | "n" | "off" => visitor.visit_bool(false),
            _ => Err(Mistake::kind(WANTED)),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_borrowed_str(self.text("text")?)
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
        visitor.visit_seq(Items(self.list()?.iter().enumerate()))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let (entries, next) = (self.map()?, 0);
        visitor.visit_map(Entries { entries, next })
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
        visitor.visit_enum(self.text("a word")?.into_deserializer())
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct tuple tuple_struct identifier
    }
}

struct Items<'de>(Enumerate<Iter<'de, Node>>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Mistake;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Mistake> {
        let Some((index, item)) = self.0.next() else {
            return Ok(None);
        };
        let read = seed.deserialize(item).map(Some);
        read.map_err(|error| error.or_at(item.at).inside(index))
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
