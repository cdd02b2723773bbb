//! From tree to types: a scalar is read as what the field wants, quoted or not.

/// The methods for whole numbers of something that has an `integer`.
macro_rules! integers {
    () => {
        integers! {
            deserialize_i8 visit_i8, deserialize_i16 visit_i16, deserialize_i32 visit_i32,
            deserialize_i64 visit_i64, deserialize_i128 visit_i128, deserialize_u8 visit_u8,
            deserialize_u16 visit_u16, deserialize_u32 visit_u32, deserialize_u64 visit_u64,
            deserialize_u128 visit_u128,
        }
    };
    ($($method:ident $visit:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            visitor.$visit(self.integer()?)
        }
    )*};
}

mod access;
mod at;
mod error;
mod number;
#[cfg(test)]
mod tests;

use serde::Deserializer;
use serde::de::{DeserializeOwned, Visitor};

use access::{Entries, Items, Variant};
pub use at::At;
pub use error::{DecodeError, Step};

use super::value::{Meaning, Node, Scalar, Style, Value};
use crate::diagnostic::quoted;

/// The name of a newtype struct that asks for what a scalar can be at most: a plain `yes` is true, a
/// plain `1.50` a number.
pub const ANY: &str = "a text, a number, true or false";

impl Value {
    /// The value as a `T`. Where `T` wants a text, a plain `5` is one; where it wants a number, a
    /// quoted `"5"` is one. Where `T` takes anything, [`Scalar::meaning`] decides.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        T::deserialize(self).map_err(|error| error.or_at(self.span))
    }

    fn scalar_for(&self, wanted: &str) -> Result<&Scalar, DecodeError> {
        match &self.node {
            Node::Scalar(scalar) if scalar.meaning() != Meaning::Null => Ok(scalar),
            Node::Scalar(_) | Node::Sequence(_) | Node::Mapping(_) => Err(self.mismatch(wanted)),
        }
    }

    fn mismatch(&self, wanted: &str) -> DecodeError {
        self.instead(wanted, self.kind())
    }

    fn instead(&self, wanted: &str, found: &str) -> DecodeError {
        DecodeError::new(format!("expected {wanted}, found {found}")).or_at(self.span)
    }

    fn boolean(&self) -> Result<bool, DecodeError> {
        let scalar = self.scalar_for("true or false")?;
        let wrong = || self.instead("true or false", &quoted(&scalar.text));
        scalar.flag().ok_or_else(wrong)
    }

    fn integer<T: number::WholeNumber>(&self) -> Result<T, DecodeError> {
        let text = &self.scalar_for("a whole number")?.text;
        number::whole(text).ok_or_else(|| {
            let wanted = match number::whole::<i128>(text) {
                None => "a whole number".to_owned(),
                Some(..0) => format!("a whole number of at least {}", T::MIN),
                Some(0..) => format!("a whole number of at most {}", T::MAX),
            };
            self.instead(&wanted, &quoted(text))
        })
    }

    fn float(&self) -> Result<f64, DecodeError> {
        let text = &self.scalar_for("a number")?.text;
        number::float(text).ok_or_else(|| self.instead("a number", &quoted(text)))
    }
}

/// What is read in the same way as something else.
macro_rules! forward {
    ($($method:ident($($unused:ty),*) => $other:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, $(_: $unused,)* visitor: V) -> Result<V::Value, DecodeError> {
            self.$other(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for &'de Value {
    type Error = DecodeError;

    integers! {}

    forward! {
        deserialize_f32() => deserialize_f64,
        deserialize_char() => deserialize_str,
        deserialize_string() => deserialize_str,
        deserialize_bytes() => deserialize_str,
        deserialize_byte_buf() => deserialize_str,
        deserialize_identifier() => deserialize_str,
        deserialize_unit_struct(&'static str) => deserialize_unit,
        deserialize_tuple(usize) => deserialize_seq,
        deserialize_tuple_struct(&'static str, usize) => deserialize_seq,
        deserialize_struct(&'static str, &'static [&'static str]) => deserialize_map,
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let Node::Scalar(scalar) = &self.node else {
            return self.collection(visitor);
        };
        match scalar.meaning() {
            Meaning::Null => visitor.visit_unit(),
            Meaning::Bool(value) => visitor.visit_bool(value),
            Meaning::Integer(value) => match u64::try_from(value) {
                Ok(value) => visitor.visit_u64(value),
                Err(_) => visitor.visit_i64(value),
            },
            Meaning::Float(value) => visitor.visit_f64(value),
            Meaning::Text => visitor.visit_borrowed_str(&scalar.text),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_bool(self.boolean()?)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_f64(self.float()?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_borrowed_str(&self.scalar_for("text")?.text)
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
            Err(self.mismatch("nothing"))
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match name {
            at::PLACED => visitor.visit_map(at::Placed(self)),
            ANY => self.anything(visitor),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node {
            Node::Sequence(_) => self.collection(visitor),
            Node::Scalar(_) if self.is_empty() => visitor.visit_seq(&mut Items {
                items: [].iter(),
                place: 0,
            }),
            Node::Mapping(_) => Err(self.mismatch("a list")),
            Node::Scalar(scalar) => {
                let mut error = self.mismatch("a list");
                if scalar.meaning() != Meaning::Null {
                    error.hint = Some(format!("write it as a list of one: [{}]", scalar.text));
                }
                Err(error)
            }
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node {
            Node::Mapping(_) => self.collection(visitor),
            Node::Scalar(_) if self.is_empty() => visitor.visit_map(Entries::of(&[])),
            Node::Sequence(_) | Node::Scalar(_) => Err(self.mismatch("a mapping")),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match &self.node {
            Node::Scalar(_) => visitor.visit_enum(Variant {
                name: &self.scalar_for("a word")?.text,
                span: self.span,
                value: None,
            }),
            Node::Mapping(mapping) => match mapping.entries.as_slice() {
                [entry] => visitor.visit_enum(Variant {
                    name: &entry.key.text,
                    span: entry.key.span,
                    value: Some(&entry.value),
                }),
                entries => {
                    let found = format!("{} keys", entries.len());
                    Err(self.instead("a mapping with one key", &found))
                }
            },
            Node::Sequence(_) => Err(self.mismatch("a word or a mapping with one key")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }
}

impl Value {
    /// A scalar as [`ANY`] has it.
    fn anything<'de, V: Visitor<'de>>(&'de self, visitor: V) -> Result<V::Value, DecodeError> {
        let plain = self
            .as_scalar()
            .filter(|scalar| scalar.style == Style::Plain);
        let read = plain.map(|scalar| (scalar.flag(), number::written(&scalar.text)));
        match read {
            Some((Some(value), _)) => visitor.visit_bool(value),
            Some((None, Some(value))) => visitor.visit_f64(value),
            Some((None, None)) | None => self.deserialize_any(visitor),
        }
    }

    fn collection<'de, V: Visitor<'de>>(&'de self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node {
            Node::Sequence(sequence) => {
                let mut items = Items {
                    items: sequence.items.iter(),
                    place: 0,
                };
                let value = visitor.visit_seq(&mut items)?;
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
            Node::Mapping(mapping) => visitor.visit_map(Entries::of(&mapping.entries)),
            Node::Scalar(_) => Err(self.mismatch("a list or a mapping")),
        }
    }
}
