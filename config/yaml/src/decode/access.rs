//! What serde asks of lists, mappings, keys and enums.

use serde::Deserializer;
use serde::de::{
    self, DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};

use super::{DecodeError, number};
use crate::diagnostic::quoted;
use crate::{Entry, Span, Value};

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
    entries: std::slice::Iter<'de, Entry>,
    value: Option<&'de Entry>,
}

impl<'de> Entries<'de> {
    pub(super) fn of(entries: &'de [Entry]) -> Self {
        Self {
            entries: entries.iter(),
            value: None,
        }
    }
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
        seed.deserialize(KeyOf(&entry.key.text))
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
        seed.deserialize(&entry.value).map_err(|error| {
            error
                .or_at(entry.value.span)
                .in_key(entry.key.text.as_str())
        })
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// Keys are words, but a map may have numbers for keys.
struct KeyOf<'de>(&'de str);

impl KeyOf<'_> {
    fn integer<T: number::WholeNumber>(&self) -> Result<T, DecodeError> {
        let wrong = || format!("expected a whole number, found {}", quoted(self.0));
        number::whole(self.0).ok_or_else(|| DecodeError::new(wrong()))
    }
}

impl<'de> Deserializer<'de> for KeyOf<'de> {
    type Error = DecodeError;

    integers! {}

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_borrowed_str(self.0)
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
        visitor.visit_enum(self.0.into_deserializer())
    }

    serde::forward_to_deserialize_any! {
        bool f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// `{ variant: content }`, or a word alone.
pub(super) struct Variant<'de> {
    pub(super) name: &'de str,
    pub(super) span: Option<Span>,
    pub(super) value: Option<&'de Value>,
}

impl<'de> Variant<'de> {
    /// What `read` makes of the content.
    fn content<T>(
        self,
        read: impl FnOnce(&'de Value) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        let Some(value) = self.value else {
            let mut error = DecodeError::new(format!("{} needs a value", quoted(self.name)));
            error.hint = Some(format!("write it as a key: {}: ...", self.name));
            return Err(error);
        };
        read(value).map_err(|error| error.or_at(value.span).in_key(self.name))
    }
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self), DecodeError> {
        let name = seed.deserialize(KeyOf(self.name));
        let name = name.map_err(|error| error.or_at(self.span))?;
        Ok((name, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        match self.value {
            None => Ok(()),
            Some(_) => self.content(de::Deserialize::deserialize),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, DecodeError> {
        self.content(|value| seed.deserialize(value))
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.content(|value| value.deserialize_seq(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.content(|value| value.deserialize_map(visitor))
    }
}
