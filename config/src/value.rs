//! Values that people write in a form of their own: `30s`, `1280x800`, `host:port`.

mod backoff;
mod duration;
mod endpoint;
mod port;
mod viewport;

use std::fmt;

use schemars::JsonSchema;
use serde::de::{
    Deserialize, Deserializer, Error, SeqAccess, Visitor, value::SeqAccessDeserializer,
};

pub use backoff::Backoff;
pub use duration::HumanDuration;
pub use endpoint::Endpoint;
pub use port::Port;
pub(crate) use port::capture_groups;
pub use viewport::Viewport;

/// A text that is not in the form it should have; the message says which form that is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct ValueError {
    text: String,
    expected: &'static str,
}

impl ValueError {
    fn new(text: &str, expected: &'static str) -> Self {
        Self {
            text: text.to_owned(),
            expected,
        }
    }
}

/// A text, or a list of texts.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum OneOrMany {
    /// Just one.
    One(String),
    /// Several, the first being the one that counts.
    Many(Vec<String>),
}

/// Reads a text or a list of texts as a list.
pub(crate) fn one_or_many<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<String>, D::Error> {
    struct OneOrManyVisitor;
    impl<'de> Visitor<'de> for OneOrManyVisitor {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("text or a list of texts")
        }

        fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
            Ok(vec![value.to_owned()])
        }

        fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
            self.visit_str(&value.to_string())
        }

        fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
            self.visit_str(&value.to_string())
        }

        fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
            self.visit_str(&value.to_string())
        }

        fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
            self.visit_str(&format!("{value:?}"))
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Vec::new())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(seq))
        }
    }
    deserializer.deserialize_any(OneOrManyVisitor)
}
