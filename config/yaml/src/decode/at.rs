//! A value that remembers where it was written.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::U64Deserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor,
};

use super::DecodeError;
use crate::source::Position;
use crate::value::Value;

/// The name under which [`At`] asks for a place and a value.
pub(super) const PLACED: &str = "a value and its place";

/// A value and where it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct At<T> {
    /// What was written.
    pub value: T,
    /// Where, without the offset.
    pub place: Position,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(PLACED, AtVisitor(PhantomData))
    }
}

struct AtVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for AtVisitor<T> {
    type Value = At<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PLACED)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<At<T>, A::Error> {
        let packed: u64 = map.next_key()?.ok_or_else(|| A::Error::custom(PLACED))?;
        let half = |half: u64| u32::try_from(half).unwrap_or_default();
        let place = Position {
            line: half(packed >> 32),
            column: half(packed & u64::from(u32::MAX)),
            offset: 0,
        };
        let value = map.next_value()?;
        Ok(At { value, place })
    }
}

/// A place as the key, the line times 2^32 and the column, and the value that stands there.
pub(super) struct Placed<'de>(pub(super) &'de Value);

impl<'de> MapAccess<'de> for Placed<'de> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DecodeError> {
        let Position { line, column, .. } = self.0.span.unwrap_or_default().start;
        let packed = u64::from(line) << 32 | u64::from(column);
        let place: U64Deserializer<DecodeError> = packed.into_deserializer();
        seed.deserialize(place).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, DecodeError> {
        seed.deserialize(self.0)
            .map_err(|error| error.or_at(self.0.span))
    }
}
