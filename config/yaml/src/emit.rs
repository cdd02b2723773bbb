//! From tree to text, as trail recordings are written: two spaces, plain where that is safe.
//!
//! Whatever is written reads back as an equal value.

mod scalar;
#[cfg(test)]
mod tests;

use std::fmt;

use super::value::{Mapping, Node, Sequence, Value};

pub use scalar::key as key_text;

/// On one line, between brackets and braces.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&flow(self))
    }
}

impl Value {
    /// The value as trail files write it, ending with a line break.
    pub fn to_yaml(&self) -> String {
        let mut text = block(self).join("\n");
        text.push('\n');
        text
    }
}

/// The lines of a list or mapping by indentation, the outermost level not indented. A scalar or an
/// empty collection is one line.
pub fn block(value: &Value) -> Vec<String> {
    match &value.node {
        Node::Mapping(mapping) if !mapping.entries.is_empty() => block_mapping(mapping),
        Node::Sequence(sequence) if !sequence.items.is_empty() => block_sequence(sequence),
        Node::Scalar(scalar) => scalar::block(scalar),
        Node::Mapping(_) | Node::Sequence(_) => vec![flow(value)],
    }
}

fn block_mapping(mapping: &Mapping) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in &mapping.entries {
        let key = key_text(&entry.key.text);
        let mut value = block(&entry.value).into_iter();
        match &entry.value.node {
            // A list stands below its key without further indentation, a mapping with.
            Node::Sequence(sequence) if !sequence.items.is_empty() => {
                lines.push(format!("{key}:"));
                lines.extend(value);
            }
            Node::Mapping(mapping) if !mapping.entries.is_empty() => {
                lines.push(format!("{key}:"));
                lines.extend(value.map(indented));
            }
            // Anything else begins on the key's line; only a `|` block goes on below.
            Node::Scalar(_) | Node::Sequence(_) | Node::Mapping(_) => {
                lines.push(format!("{key}: {}", value.next().unwrap_or_default()));
                lines.extend(value.map(indented));
            }
        }
    }
    lines
}

fn block_sequence(sequence: &Sequence) -> Vec<String> {
    let mut lines = Vec::new();
    for item in &sequence.items {
        let mut item = block(item).into_iter();
        lines.push(format!("- {}", item.next().unwrap_or_default()));
        lines.extend(item.map(indented));
    }
    lines
}

/// Empty lines stay empty.
fn indented(line: String) -> String {
    if line.is_empty() {
        line
    } else {
        format!("  {line}")
    }
}

/// The value on one line, between brackets and braces.
pub(crate) fn flow(value: &Value) -> String {
    match &value.node {
        Node::Scalar(scalar) => scalar::flow(scalar),
        Node::Sequence(sequence) => {
            let items: Vec<String> = sequence.items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Node::Mapping(mapping) => {
            let entries: Vec<String> = mapping
                .entries
                .iter()
                .map(|entry| {
                    format!(
                        "{}: {}",
                        scalar::flow_key(&entry.key.text),
                        flow(&entry.value)
                    )
                })
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}
