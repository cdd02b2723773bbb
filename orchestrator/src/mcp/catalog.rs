//! The tools of the registry as agents see them: flat, each with the lease that it is for.

use std::sync::Arc;

use packtrain_drivers::Platform;
use packtrain_tools::{Access, Kind, Origin, Registry, ToolSpec};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::ours::LEASE;

/// A tool of the registry.
#[derive(Debug, Clone)]
pub(crate) struct CatalogTool {
    pub(crate) tool: Tool,
    /// Who contributes it: `packtrain`, a source's name, or a file's.
    pub(crate) source: String,
    /// Why agents do not get it.
    pub(crate) hidden: Option<String>,
}

/// All tools of a registry, by name.
pub(crate) fn of(
    registry: &Registry,
    is_own: impl Fn(&str) -> bool,
    platforms: &[Platform],
) -> Vec<CatalogTool> {
    let specs = registry.all().map(|tool| tool.spec());
    specs
        .filter(|spec| spec.shown)
        .filter(|spec| platforms.is_empty() || platforms.iter().any(|on| spec.works_on(*on)))
        .map(|spec| offered(spec, &is_own))
        .collect()
}

fn offered(spec: &ToolSpec, is_own: &impl Fn(&str) -> bool) -> CatalogTool {
    let source = match &spec.origin {
        Origin::BuiltIn => "packtrain".to_owned(),
        Origin::File(_) => "files".to_owned(),
        Origin::Source(name) => name.clone(),
    };
    let properties = spec.arguments["properties"].as_object();
    let hidden = if is_own(&spec.name) {
        Some(format!("`{}` is one of Packtrain's own names; rename it in its source", spec.name))
    } else if properties.is_some_and(|all| all.contains_key(LEASE)) {
        Some(format!("it has an argument `{LEASE}` of its own; rename that in its source"))
    } else if spec.access == Access::HostCommands {
        Some("it runs commands of this computer, which agents may not".to_owned())
    } else {
        None
    };
    let about = match spec.platforms.as_slice() {
        [] => spec.description.clone(),
        on => {
            let on: Vec<_> = on.iter().map(|platform| platform.as_str()).collect();
            format!("{} ({} only)", spec.description, on.join(", "))
        }
    };
    let reads = matches!(spec.kind, Kind::Query | Kind::Assertion);
    let annotations = ToolAnnotations::new().read_only(reads).open_world(false);
    let tool = Tool::new(spec.name.clone(), about, Arc::new(with_lease(&spec.arguments)));
    CatalogTool {
        tool: tool.with_annotations(annotations),
        source,
        hidden,
    }
}

/// A schema of arguments with the lease besides.
fn with_lease(schema: &Value) -> JsonObject {
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    schema.insert("type".to_owned(), json!("object"));
    // What a reader of a trail sees in an editor costs an agent tokens.
    schema.remove("$schema");
    schema.remove("title");
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        let lease = json!({ "type": "string", "description": "From device_acquire." });
        properties.insert(LEASE.to_owned(), lease);
    }
    let required = schema.entry("required").or_insert_with(|| json!([]));
    if let Some(required) = required.as_array_mut() {
        required.insert(0, json!(LEASE));
    }
    schema
}
