//! A place in a file where a plain text, a mapping or a list may stand.
//!
//! serde's own `untagged` would lose every position below it and answer "did not match any
//! variant"; this visitor hands the parser through.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// What stood there.
#[derive(Debug)]
pub(super) enum Loose<M, S> {
    /// A scalar, as text.
    Text(String),
    /// A mapping.
    Map(M),
    /// A list.
    Seq(S),
}

/// Something that may not stand there.
#[derive(Debug)]
pub(super) enum Nothing {}

impl<'de> Deserialize<'de> for Nothing {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(de::Error::custom("this form is not possible here"))
    }
}

impl<'de, M: Deserialize<'de>, S: Deserialize<'de>> Deserialize<'de> for Loose<M, S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LooseVisitor(PhantomData))
    }
}

struct LooseVisitor<M, S>(PhantomData<(M, S)>);

impl<'de, M: Deserialize<'de>, S: Deserialize<'de>> Visitor<'de> for LooseVisitor<M, S> {
    type Value = Loose<M, S>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a mapping or a list")
    }

    fn visit_bool<E: de::Error>(self, v: bool) -> Result<Self::Value, E> {
        Ok(Loose::Text(v.to_string()))
    }

    fn visit_u64<E: de::Error>(self, v: u64) -> Result<Self::Value, E> {
        Ok(Loose::Text(v.to_string()))
    }

    fn visit_i64<E: de::Error>(self, v: i64) -> Result<Self::Value, E> {
        Ok(Loose::Text(v.to_string()))
    }

    fn visit_f64<E: de::Error>(self, v: f64) -> Result<Self::Value, E> {
        Ok(Loose::Text(format!("{v:?}")))
    }

    fn visit_str<E: de::Error>(self, v: &str) -> Result<Self::Value, E> {
        Ok(Loose::Text(v.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        M::deserialize(MapAccessDeserializer::new(map)).map(Loose::Map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        S::deserialize(SeqAccessDeserializer::new(seq)).map(Loose::Seq)
    }
}
