//! Schemas of arguments as agents get them: without what costs tokens, or makes their clients complain,
//! and says nothing.

use rmcp::model::JsonObject;
use serde_json::Value;

/// Keywords of editors and of Rust's types.
const SAID_IN_VAIN: [&str; 3] = ["$schema", "title", "format"];

/// The same in fewer words.
pub fn lean(schema: &JsonObject) -> JsonObject {
    let mut schema = schema.clone();
    trim(&mut schema);
    schema
}

fn trim(schema: &mut JsonObject) {
    for keyword in SAID_IN_VAIN {
        // An argument of that name is not a keyword, and stands one level deeper.
        schema.remove(keyword);
    }
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
    // That it may be left out is said by `required`.
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    for (keyword, value) in schema.iter_mut() {
        match (keyword.as_str(), value) {
            (
                "properties" | "$defs" | "definitions" | "patternProperties",
                Value::Object(named),
            ) => {
                for value in named.values_mut() {
                    below(value);
                }
            }
            // These hold values, not schemas.
            ("default" | "enum" | "const" | "examples" | "required", _) => {}
            (_, value) => below(value),
        }
    }
}

fn below(value: &mut Value) {
    match value {
        Value::Object(schema) => trim(schema),
        Value::Array(schemas) => schemas.iter_mut().for_each(below),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_says_nothing_is_left_out_and_what_says_something_stays() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Arguments",
            "type": "object",
            "properties": {
                "title": { "type": ["string", "null"], "default": null, "description": "Its title." },
                "format": { "type": "integer", "format": "uint64", "minimum": 0, "default": 5 },
                "kind": { "enum": [null, "a"], "default": "a" },
                "many": { "type": "array", "items": { "type": ["number", "null"], "format": "double" } },
            },
            "required": ["format"],
        });
        let lean = lean(schema.as_object().unwrap());
        assert_eq!(
            Value::Object(lean),
            json!({
                "type": "object",
                "properties": {
                    "title": { "type": "string", "description": "Its title." },
                    "format": { "type": "integer", "minimum": 0, "default": 5 },
                    "kind": { "enum": [null, "a"], "default": "a" },
                    "many": { "type": "array", "items": { "type": "number" } },
                },
                "required": ["format"],
            })
        );
    }
}
