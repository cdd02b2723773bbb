//! What a composed tool can be given.

use packtrain_model::diagnostic::quoted;
use packtrain_model::yaml::{DecodeError, Value};
use serde::Deserialize;
use serde_json::json;

use crate::builtin::is_template;

/// A parameter of a composed tool.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) kind: ParameterType,
    pub(super) description: Option<String>,
    pub(super) is_required: bool,
    /// What it is when it is not given; its templates are filled in then.
    pub(super) default: Option<serde_json::Value>,
    /// What it can be; empty for anything of its type.
    pub(super) choices: Vec<serde_json::Value>,
}

/// What a parameter must be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ParameterType {
    /// Any scalar, as written.
    #[default]
    #[serde(alias = "str")]
    String,
    #[serde(alias = "int", alias = "long")]
    Integer,
    #[serde(alias = "float", alias = "double")]
    Number,
    #[serde(alias = "bool")]
    Boolean,
    #[serde(alias = "list")]
    Array,
    #[serde(alias = "map")]
    Object,
}

impl ParameterType {
    /// The word of JSON Schema.
    const fn word(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// The value as one of this type: `5` is `"5"` where a text is wanted.
    pub(super) fn read(self, value: &Value) -> Result<serde_json::Value, DecodeError> {
        let is_shape = match self {
            Self::String => return value.decode::<String>().map(|text| json!(text)),
            Self::Integer => return value.decode::<i64>().map(|number| json!(number)),
            Self::Number => return value.decode::<f64>().map(|number| json!(number)),
            Self::Boolean => return value.decode::<bool>().map(|truth| json!(truth)),
            Self::Array => value.as_sequence().is_some(),
            Self::Object => value.as_mapping().is_some(),
        };
        if is_shape {
            return Ok(value.to_json());
        }
        let wanted = if self == Self::Array {
            "a list"
        } else {
            "a mapping"
        };
        let message = format!("expected {wanted}, found {}", value.kind());
        Err(DecodeError::at(value.span, message))
    }

    /// A value that stands for a parameter of this type while its own is not known; a text stays
    /// a template. `None` where no single value can stand for the others.
    pub(super) fn sample(self, parameter: &Parameter) -> Option<serde_json::Value> {
        if let Some(choice) = parameter.choices.first() {
            return Some(choice.clone());
        }
        match self {
            Self::String => Some(json!(format!("{{{{params.{}}}}}", parameter.name))),
            Self::Integer | Self::Number => Some(json!(1)),
            Self::Boolean => Some(json!(true)),
            Self::Array | Self::Object => None,
        }
    }
}

impl Parameter {
    /// Its value in a call; nothing counts as not given.
    pub(super) fn given<'v>(&self, arguments: &'v Value) -> Option<&'v Value> {
        let value = arguments.as_mapping()?.get(&self.name)?;
        (!value.is_null()).then_some(value)
    }

    /// A value as it is passed on.
    ///
    /// # Errors
    /// When it is of another type or none of the choices.
    pub(super) fn read(&self, value: &Value) -> Result<serde_json::Value, DecodeError> {
        let read = self.kind.read(value).map_err(|mut error| {
            error.span = error.span.or(value.span);
            error.in_key(&self.name)
        })?;
        if self.choices.is_empty() || self.choices.contains(&read) || is_template(value) {
            return Ok(read);
        }
        let words: Vec<String> = self.choices.iter().map(shown).collect();
        let message = format!("`{}` cannot be {}", self.name, quoted(&shown(&read)));
        let mut error = DecodeError::at(value.span, message);
        error.hint = Some(format!("expected one of: {}", words.join(", ")));
        Err(error)
    }

    /// As JSON Schema.
    pub(super) fn schema(&self) -> serde_json::Value {
        let mut schema = json!({ "type": self.kind.word() });
        let optional = [
            (
                "description",
                self.description.as_ref().map(|text| json!(text)),
            ),
            ("default", self.default.clone()),
            (
                "enum",
                (!self.choices.is_empty()).then(|| json!(self.choices)),
            ),
        ];
        for (key, value) in optional {
            if let Some(value) = value {
                schema[key] = value;
            }
        }
        schema
    }
}

/// A value as a person writes it.
fn shown(value: &serde_json::Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
