//! The hash by which a toolset knows a tool again. One that has changed is another tool.

use serde_json::json;
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
    // JSON without blanks, keys sorted: the same for every list with the same tool.
    definition.sort_all_objects();
    let digest = Sha256::digest(definition.to_string());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
