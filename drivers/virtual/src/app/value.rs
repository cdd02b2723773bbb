//! The values of an app's state.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use packtrain_yaml::ANY;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A row of a list: named values.
pub type Record = BTreeMap<String, Value>;

/// One value of an app's state.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A number; whole ones are shown without a point.
    Number(f64),
    /// A text.
    Text(String),
    /// A list of records.
    List(Vec<Arc<Record>>),
}

impl Value {
    /// Whether a condition that only names this value holds: not empty, not 0, not false.
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(yes) => *yes,
            Self::Number(n) => *n != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(list) => !list.is_empty(),
        }
    }

    /// The value as a number, when it is one or reads like one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(n) => Some(*n),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Bool(yes) => Some(f64::from(u8::from(*yes))),
            Self::Null | Self::List(_) => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => Ok(()),
            Self::Bool(yes) => write!(f, "{yes}"),
            Self::Number(n) => write!(f, "{n}"),
            Self::Text(text) => f.write_str(text),
            Self::List(list) => write!(f, "{}", list.len()),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyValue;

        impl<'de> Visitor<'de> for AnyValue {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, a number, true, false or a list of records")
            }

            fn visit_bool<E: de::Error>(self, v: bool) -> Result<Value, E> {
                Ok(Value::Bool(v))
            }

            fn visit_f64<E: de::Error>(self, v: f64) -> Result<Value, E> {
                Ok(Value::Number(v))
            }

            fn visit_str<E: de::Error>(self, v: &str) -> Result<Value, E> {
                Ok(Value::Text(v.to_owned()))
            }

            fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
                let mut list = Vec::new();
                while let Some(record) = seq.next_element::<Arc<Record>>()? {
                    list.push(record);
                }
                Ok(Value::List(list))
            }

            fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Value, A::Error> {
                Err(de::Error::custom(
                    "a record stands only inside a list; give each field its own name",
                ))
            }
        }

        deserializer.deserialize_newtype_struct(ANY, AnyValue)
    }
}
