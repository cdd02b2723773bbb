//! Types from the tree, and where each value stood.

use std::fmt;
use std::str::FromStr;

use serde::de::value::{MapAccessDeserializer, StrDeserializer, U64Deserializer};
use serde::de::{
    DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::tree::{Content, Entry, Node};
use super::{SourcePosition, nearest};

/// The name under which [`super::At`] asks for a place and a value.
pub(super) const AT: &str = "a value and its place";
/// The name under which a type asks for what a scalar is: a plain `1` is a number.
pub(crate) const ANY: &str = "a text, a number, true or false";

/// What is wrong with a value, and where.
#[derive(Debug)]
pub(super) struct ValueError {
    pub message: String,
    pub hint: Option<String>,
    /// Where it stands.
    pub place: Option<SourcePosition>,
}

impl ValueError {
    fn or_at(mut self, place: SourcePosition) -> Self {
        self.place.get_or_insert(place);
        self
    }
}

impl std::error::Error for ValueError {}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ValueError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self {
            message: message.to_string(),
            hint: None,
            place: None,
        }
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Self {
            hint: nearest(key, known.iter().copied())
                .or_else(|| Some(format!("known keys here: {}", known.join(", ")))),
            ..Self::custom(format!("unknown key `{key}`"))
        }
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        Self {
            hint: nearest(word, known.iter().copied()),
            ..Self::custom(format!("`{word}` is not one of {}", known.join(", ")))
        }
    }
}

impl Node {
    fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Plain(text) | Content::Quoted(text) => Some(text),
            Content::Null | Content::List(_) | Content::Map(_) => None,
        }
    }

    fn number<T: FromStr>(&self, wanted: &str) -> Result<T, ValueError> {
        let number = self.text().and_then(|text| text.parse().ok());
        number.ok_or_else(|| ValueError::custom(format!("expected {wanted}")))
    }
}

fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "y" | "on" => Some(true),
        "false" | "no" | "n" | "off" => Some(false),
        _ => None,
    }
}

/// A number, when it is written as one: `007` is a text, and so is `nan`.
fn number(text: &str) -> Option<f64> {
    let digits = text.trim_start_matches(['+', '-']);
    let padded = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    let begins = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    text.parse().ok().filter(|_| begins && !padded)
}

macro_rules! numbers {
    ($($method:ident $visit:ident $wanted:literal)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
            visitor.$visit(self.number($wanted)?)
        }
    )*};
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = ValueError;

    numbers! {
        deserialize_i8 visit_i8 "a whole number"
        deserialize_i16 visit_i16 "a whole number"
        deserialize_i32 visit_i32 "a whole number"
        deserialize_i64 visit_i64 "a whole number"
        deserialize_u8 visit_u8 "a whole number from 0 to 255"
        deserialize_u16 visit_u16 "a whole number, 0 or more"
        deserialize_u32 visit_u32 "a whole number, 0 or more"
        deserialize_u64 visit_u64 "a whole number, 0 or more"
        deserialize_f32 visit_f32 "a number"
        deserialize_f64 visit_f64 "a number"
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match &self.content {
            Content::Null => visitor.visit_unit(),
            Content::Plain(text) | Content::Quoted(text) => visitor.visit_borrowed_str(text),
            Content::List(items) => {
                let mut rest = Items(items.iter());
                let value = visitor.visit_seq(&mut rest)?;
                if rest.0.len() == 0 {
                    return Ok(value);
                }
                let (wanted, found) = (items.len() - rest.0.len(), items.len());
                let message = format!("expected a list of {wanted}, found {found} items");
                Err(ValueError::custom(message))
            }
            Content::Map(entries) => visitor.visit_map(Entries(entries, 0)),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        let value = self.text().and_then(flag);
        visitor.visit_bool(value.ok_or_else(|| ValueError::custom("expected true or false"))?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        if let Content::Null = self.content {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        match (name, &self.content) {
            (AT, _) => visitor.visit_map(Placed(self)),
            (ANY, Content::Plain(text)) => match (flag(text), number(text)) {
                (Some(value), _) => visitor.visit_bool(value),
                (None, Some(value)) => visitor.visit_f64(value),
                (None, None) => visitor.visit_borrowed_str(text),
            },
            (ANY, _) => self.deserialize_any(visitor),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match self.content {
            Content::Null => visitor.visit_seq(Items([].iter())),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match self.content {
            Content::Null => visitor.visit_map(Entries(&[], 0)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        match (&self.content, self.text()) {
            (_, Some(word)) => visitor.visit_enum(word.into_deserializer()),
            (Content::Map(entries), _) if entries.len() == 1 => {
                visitor.visit_enum(MapAccessDeserializer::new(Entries(entries, 0)))
            }
            _ => Err(ValueError::custom(
                "expected a word, or one key with its value",
            )),
        }
    }

    forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct tuple tuple_struct identifier
        ignored_any
    }
}

struct Items<'de>(std::slice::Iter<'de, Node>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = ValueError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ValueError> {
        let Some(item) = self.0.next() else {
            return Ok(None);
        };
        let read = seed.deserialize(item).map(Some);
        read.map_err(|error| error.or_at(item.place))
    }
}

/// Entries, and which is next: the value is that of the one before.
struct Entries<'de>(&'de [Entry], usize);

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = ValueError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ValueError> {
        let Some(entry) = self.0.get(self.1) else {
            return Ok(None);
        };
        self.1 += 1;
        let key: StrDeserializer<'_, ValueError> = entry.key.as_str().into_deserializer();
        let read = seed.deserialize(key).map(Some);
        read.map_err(|error| error.or_at(entry.place))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, ValueError> {
        let node = &self.0[self.1 - 1].value;
        seed.deserialize(node)
            .map_err(|error| error.or_at(node.place))
    }
}

/// A place as the key, and the value that stands there.
struct Placed<'de>(&'de Node);

impl<'de> MapAccess<'de> for Placed<'de> {
    type Error = ValueError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ValueError> {
        let SourcePosition { line, column } = self.0.place;
        let place: U64Deserializer<ValueError> =
            (u64::from(line) << 32 | u64::from(column)).into_deserializer();
        seed.deserialize(place).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, ValueError> {
        seed.deserialize(self.0)
    }
}
