//! What serde asks of lists, mappings, keys and enums.

use serde::Deserializer;
use serde::de::{
    self, DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};

use super::{DecodeError, number};
use crate::diagnostic::quoted;
use crate::yaml::{Entry, Value};

/// The items of a list, one after the other.
pub(super) struct Items<'de> {
    pub(super) items: std::slice::Iter<'de, Value>,
    pub(super) place: usize,
}

impl<'de> SeqAccess<'de> for &mut Items<'de> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        let Some(item) = self.items.next() else {
            return Ok(None);
        };
        let place = self.place;
        self.place += 1;
        seed.deserialize(item)
            .map(Some)
            .map_err(|error| error.or_at(item.span).in_item(place))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// The entries of a mapping, one after the other.
pub(super) struct Entries<'de> {
    pub(super) entries: std::slice::Iter<'de, Entry>,
    pub(super) value: Option<&'de Entry>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DecodeError> {
        let Some(entry) = self.entries.next() else {
            return Ok(None);
        };
        self.value = Some(entry);
        seed.deserialize(KeyOf(entry))
            .map(Some)
            .map_err(|error| error.or_at(entry.key.span))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, DecodeError> {
        let Some(entry) = self.value.take() else {
            return Err(de::Error::custom("a value was asked for before its key"));
        };
        seed.deserialize(&entry.value)
            .map_err(|error| error.or_at(entry.value.span).in_key(&entry.key.text))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// Keys are words, but a map may have numbers for keys.
struct KeyOf<'de>(&'de Entry);

macro_rules! number_keys {
    ($($method:ident => $visit:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            let key = &self.0.key;
            let number = number::whole(&key.text).ok_or_else(|| {
                DecodeError::new(format!("expected a whole number, found {}", quoted(&key.text)))
            })?;
            visitor.$visit(number)
        }
    )*};
}

impl<'de> Deserializer<'de> for KeyOf<'de> {
    type Error = DecodeError;

    number_keys! {
        deserialize_i8 => visit_i8,
        deserialize_i16 => visit_i16,
        deserialize_i32 => visit_i32,
        deserialize_i64 => visit_i64,
        deserialize_u8 => visit_u8,
        deserialize_u16 => visit_u16,
        deserialize_u32 => visit_u32,
        deserialize_u64 => visit_u64,
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_borrowed_str(&self.0.key.text)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_enum(self.0.key.text.as_str().into_deserializer())
    }

    serde::forward_to_deserialize_any! {
        bool i128 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// `{ variant: content }`.
pub(super) struct Variant<'de> {
    pub(super) entry: &'de Entry,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self), DecodeError> {
        let name = seed
            .deserialize(KeyOf(self.entry))
            .map_err(|error| error.or_at(self.entry.key.span))?;
        Ok((name, self))
    }
}

impl Variant<'_> {
    fn inside(&self, error: DecodeError) -> DecodeError {
        error
            .or_at(self.entry.value.span)
            .in_key(&self.entry.key.text)
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        de::Deserialize::deserialize(&self.entry.value).map_err(|error| self.inside(error))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, DecodeError> {
        seed.deserialize(&self.entry.value)
            .map_err(|error| self.inside(error))
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.entry
            .value
            .deserialize_seq(visitor)
            .map_err(|error| self.inside(error))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.entry
            .value
            .deserialize_map(visitor)
            .map_err(|error| self.inside(error))
    }
}
