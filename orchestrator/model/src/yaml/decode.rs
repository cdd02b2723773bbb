//! From tree to types: a scalar is read as what the field wants, quoted or not.

mod access;
mod error;
mod number;
#[cfg(test)]
mod tests;

use serde::Deserializer;
use serde::de::{DeserializeOwned, IntoDeserializer, Visitor};

use access::{Entries, Items, Variant};
pub use error::DecodeError;

use super::value::{Meaning, Node, Scalar, Value};
use crate::diagnostic::quoted;

impl Value {
    /// The value as a `T`. Where `T` wants a text, a plain `5` is one; where it wants a number, a
    /// quoted `"5"` is one. Where `T` takes anything, [`Scalar::meaning`] decides.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        T::deserialize(self)
    }

    fn scalar_for(&self, wanted: &str) -> Result<&Scalar, DecodeError> {
        match &self.node {
            Node::Scalar(scalar) if scalar.meaning() != Meaning::Null => Ok(scalar),
            Node::Scalar(_) | Node::Sequence(_) | Node::Mapping(_) => {
                Err(self.mismatch(wanted, &format!("found {}", self.kind())))
            }
        }
    }

    fn mismatch(&self, wanted: &str, found: &str) -> DecodeError {
        DecodeError::new(format!("expected {wanted}, {found}")).or_at(self.span)
    }

    fn boolean(&self) -> Result<bool, DecodeError> {
        let scalar = self.scalar_for("true or false")?;
        if scalar.text.eq_ignore_ascii_case("true") {
            return Ok(true);
        }
        if scalar.text.eq_ignore_ascii_case("false") {
            return Ok(false);
        }
        let mut error = self.mismatch("true or false", &format!("found {}", quoted(&scalar.text)));
        error.hint = match scalar.text.to_ascii_lowercase().as_str() {
            "yes" | "y" | "on" | "1" => Some("write `true`".to_owned()),
            "no" | "n" | "off" | "0" => Some("write `false`".to_owned()),
            _ => None,
        };
        Err(error)
    }

    fn integer<T: number::Whole>(&self) -> Result<T, DecodeError> {
        let scalar = self.scalar_for("a whole number")?;
        number::whole(&scalar.text).ok_or_else(|| {
            self.mismatch(
                &format!("a whole number from {} to {}", T::MIN, T::MAX),
                &format!("found {}", quoted(&scalar.text)),
            )
        })
    }

    fn float(&self) -> Result<f64, DecodeError> {
        let scalar = self.scalar_for("a number")?;
        number::float(&scalar.text)
            .ok_or_else(|| self.mismatch("a number", &format!("found {}", quoted(&scalar.text))))
    }
}

macro_rules! integers {
    ($($method:ident => $visit:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            visitor.$visit(self.integer()?).map_err(|error: DecodeError| error.or_at(self.span))
        }
    )*};
}

impl<'de> Deserializer<'de> for &'de Value {
    type Error = DecodeError;

    integers! {
        deserialize_i8 => visit_i8,
        deserialize_i16 => visit_i16,
        deserialize_i32 => visit_i32,
        deserialize_i64 => visit_i64,
        deserialize_i128 => visit_i128,
        deserialize_u8 => visit_u8,
        deserialize_u16 => visit_u16,
        deserialize_u32 => visit_u32,
        deserialize_u64 => visit_u64,
        deserialize_u128 => visit_u128,
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let Node::Scalar(scalar) = &self.node else {
            return self.collection(visitor);
        };
        match scalar.meaning() {
            Meaning::Null => visitor.visit_unit(),
            Meaning::Bool(value) => visitor.visit_bool(value),
            Meaning::Integer(value) => visitor.visit_i64(value),
            Meaning::Float(value) => visitor.visit_f64(value),
            Meaning::Text => visitor.visit_borrowed_str(&scalar.text),
        }
        .map_err(|error: DecodeError| error.or_at(self.span))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor
            .visit_bool(self.boolean()?)
            .map_err(|error: DecodeError| error.or_at(self.span))
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor
            .visit_f64(self.float()?)
            .map_err(|error: DecodeError| error.or_at(self.span))
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor
            .visit_borrowed_str(&self.scalar_for("text")?.text)
            .map_err(|error: DecodeError| error.or_at(self.span))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.is_null() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.is_null() {
            visitor.visit_unit()
        } else {
            Err(self.mismatch("nothing", &format!("found {}", self.kind())))
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node {
            Node::Sequence(_) => self.collection(visitor),
            Node::Mapping(_) => Err(self.mismatch("a list", &format!("found {}", self.kind()))),
            Node::Scalar(scalar) => {
                let mut error = self.mismatch("a list", &format!("found {}", self.kind()));
                if scalar.meaning() != Meaning::Null {
                    error.hint = Some(format!("write it as a list of one: [{}]", scalar.text));
                }
                Err(error)
            }
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node {
            Node::Mapping(_) => self.collection(visitor),
            Node::Sequence(_) | Node::Scalar(_) => {
                Err(self.mismatch("a mapping", &format!("found {}", self.kind())))
            }
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let entry = match &self.node {
            Node::Scalar(_) => {
                let word = self.scalar_for("a word")?;
                return visitor
                    .visit_enum(word.text.as_str().into_deserializer())
                    .map_err(|error: DecodeError| error.or_at(self.span));
            }
            Node::Mapping(mapping) => match mapping.entries.as_slice() {
                [entry] => entry,
                entries => {
                    let found = format!("found {} keys", entries.len());
                    return Err(self.mismatch("a mapping with one key", &found));
                }
            },
            Node::Sequence(_) => {
                let found = format!("found {}", self.kind());
                return Err(self.mismatch("a word or a mapping with one key", &found));
            }
        };
        visitor
            .visit_enum(Variant { entry })
            .map_err(|error: DecodeError| error.or_at(self.span))
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }
}

impl Value {
    fn collection<'de, V: Visitor<'de>>(&'de self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node {
            Node::Sequence(sequence) => {
                let mut items = Items {
                    items: sequence.items.iter(),
                    place: 0,
                };
                let value = visitor
                    .visit_seq(&mut items)
                    .map_err(|error: DecodeError| error.or_at(self.span))?;
                match items.items.next() {
                    None => Ok(value),
                    Some(surplus) => Err(DecodeError::new(format!(
                        "expected a list of {}, found {} items",
                        items.place,
                        sequence.items.len()
                    ))
                    .or_at(surplus.span)),
                }
            }
            Node::Mapping(mapping) => visitor
                .visit_map(Entries {
                    entries: mapping.entries.iter(),
                    value: None,
                })
                .map_err(|error: DecodeError| error.or_at(self.span)),
            Node::Scalar(_) => Err(self.mismatch("a list or a mapping", self.kind())),
        }
    }
}
