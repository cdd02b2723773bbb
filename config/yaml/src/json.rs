//! To and from JSON, which callbacks and tool sources speak.

use serde_json::Number;

use super::value::{Meaning, Node, Value};

impl Value {
    /// The value as JSON, for tools that say nothing about the types they want. Quoted stays text;
    /// what is not quoted is taken for what [`Scalar::meaning`](super::Scalar::meaning) says.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.node {
            Node::Scalar(scalar) => match scalar.meaning() {
                Meaning::Null => serde_json::Value::Null,
                Meaning::Bool(value) => value.into(),
                Meaning::Integer(value) => value.into(),
                Meaning::Float(value) => Number::from_f64(value)
                    .map_or_else(|| scalar.text.clone().into(), serde_json::Value::Number),
                Meaning::Text => scalar.text.clone().into(),
            },
            Node::Sequence(sequence) => sequence.items.iter().map(Self::to_json).collect(),
            Node::Mapping(mapping) => mapping
                .entries
                .iter()
                .map(|entry| (entry.key.text.clone(), entry.value.to_json()))
                .collect(),
        }
    }
}

impl From<&serde_json::Value> for Value {
    fn from(json: &serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::null(),
            serde_json::Value::Bool(value) => Self::word(value.to_string()),
            serde_json::Value::Number(number) => Self::word(match number.as_f64() {
                // Written so that `meaning` takes it for the same number again.
                Some(float) if number.is_f64() => format!("{float:?}"),
                Some(_) | None => number.to_string(),
            }),
            serde_json::Value::String(text) => Self::text(text),
            serde_json::Value::Array(items) => {
                Self::sequence(items.iter().map(Self::from).collect())
            }
            serde_json::Value::Object(fields) => Self::mapping(
                fields
                    .iter()
                    .map(|(key, value)| (key.clone(), Self::from(value))),
            ),
        }
    }
}
