//! The arguments of a call, as a source's schema wants them: YAML writes `5` for a number and for a
//! text, and templates fill in texts.

use packtrain_model::yaml::{DecodeError, Value};
use packtrain_tools::is_template;
use serde_json::{Map, Value as Json};

/// The arguments as JSON, each of the type that the schema names where it can be read as one.
pub(super) fn as_json(arguments: &Value, schema: &Json) -> Map<String, Json> {
    let Some(mapping) = arguments.as_mapping() else {
        return Map::new();
    };
    let typed = mapping.entries.iter().map(|entry| {
        let name = entry.key.text.clone();
        let wanted = schema["properties"][&name]["type"].as_str();
        let value = match (entry.value.as_scalar(), wanted) {
            (Some(scalar), Some(wanted)) if !entry.value.is_null() => {
                read_as(wanted, &scalar.text).unwrap_or_else(|| entry.value.to_json())
            }
            _ => entry.value.to_json(),
        };
        (name, value)
    });
    typed.collect()
}

fn read_as(wanted: &str, text: &str) -> Option<Json> {
    match wanted {
        "string" => Some(Json::String(text.to_owned())),
        "integer" => text.parse::<i64>().ok().map(Json::from),
        "number" => {
            let number: f64 = text.parse().ok()?;
            let whole = text.parse::<i64>().ok().map(Json::from);
            whole.or_else(|| serde_json::Number::from_f64(number).map(Json::Number))
        }
        "boolean" => text.parse::<bool>().ok().map(Json::Bool),
        _ => None,
    }
}

/// Looks at arguments with nothing but the schema.
///
/// # Errors
/// What is missing, of the wrong type, or none of the words that the schema lists.
pub(super) fn check(arguments: &Value, schema: &Json) -> Result<(), DecodeError> {
    let mapping = arguments.as_mapping();
    for name in schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
    {
        if mapping.is_none_or(|mapping| mapping.get(name).is_none()) {
            return Err(DecodeError::at(
                arguments.span,
                format!("`{name}` is missing"),
            ));
        }
    }
    for entry in mapping.into_iter().flat_map(|mapping| &mapping.entries) {
        let about = &schema["properties"][&entry.key.text];
        let (name, value) = (&entry.key.text, &entry.value);
        if is_template(value) || value.is_null() {
            continue;
        }
        if let Some(wanted) = about["type"].as_str() {
            let json = value
                .as_scalar()
                .and_then(|scalar| read_as(wanted, &scalar.text));
            let json = json.unwrap_or_else(|| value.to_json());
            let fits = match wanted {
                "string" => json.is_string(),
                "integer" => json.is_i64() || json.is_u64(),
                "number" => json.is_number(),
                "boolean" => json.is_boolean(),
                "array" => json.is_array(),
                "object" => json.is_object(),
                _ => true,
            };
            if !fits {
                let span = value.span.or(arguments.span);
                return Err(DecodeError::at(
                    span,
                    format!("`{name}` is not of type {wanted}"),
                ));
            }
        }
        let words: Vec<_> = about["enum"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
            .collect();
        let given = value.as_scalar().map(|scalar| scalar.text.as_str());
        if let Some(given) = given.filter(|given| !words.is_empty() && !words.contains(given)) {
            let span = value.span.or(arguments.span);
            let message = format!("`{name}` is `{given}`, not one of {}", words.join(", "));
            return Err(DecodeError::at(span, message));
        }
    }
    Ok(())
}
