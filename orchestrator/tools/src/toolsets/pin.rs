//! The hash by which a toolset knows a tool again. One that has changed is another tool.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::listed::{BUILT_IN, ListedTool};

/// SHA-256, in lower-case hex, over a tool's name, source, description, schemas and annotations.
/// Packtrain's own descriptions do not count: a new version may reword them, and what a source
/// tells agents to do cannot come in by them.
pub fn ref_id(tool: &ListedTool) -> String {
    let mut definition = json!({
        "annotations": tool.annotations,
        "inputSchema": *tool.input_schema,
        "name": tool.name,
        "source": tool.source,
    });
    if let Some(output) = &tool.output_schema {
        definition["outputSchema"] = json!(**output);
    }
    if tool.source != BUILT_IN {
        definition["description"] = json!(tool.description);
    }
    let mut canonical = String::new();
    write_canonical(&definition, &mut canonical);
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(canonical) {
        // Writing to a string does not fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// JSON without blanks, keys sorted: the same for every list with the same tool.
fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                write_canonical(item, text);
            }
            text.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (index, (key, value)) in entries.into_iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                let _ = write!(text, "{}:", Value::from(key.as_str()));
                write_canonical(value, text);
            }
            text.push('}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let _ = write!(text, "{value}");
        }
    }
}

#[cfg(test)]
mod tests;
