//! A tool as agents are shown it, by what it goes by, and what it costs them to be shown it.

use std::sync::Arc;

use rmcp::model::{JsonObject, ToolAnnotations};
use serde_json::json;

use crate::tool::{Kind, Origin, ToolSpec};

/// The source of tools that are built in.
pub const BUILT_IN: &str = "packtrain";
/// The source of tools that files define.
pub const FILES: &str = "files";
/// How many characters of JSON are taken for a token, which no two models count alike.
const CHARACTERS_PER_TOKEN: usize = 4;

/// A tool as agents are shown it.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedTool {
    /// Its name in `tools/list`.
    pub name: String,
    /// Who contributes it: a tool source, [`BUILT_IN`] or [`FILES`].
    pub source: String,
    /// What it does, without anybody's notes.
    pub description: String,
    /// JSON Schema of its own arguments.
    pub input_schema: Arc<JsonObject>,
    /// JSON Schema of what it answers, as its source says.
    pub output_schema: Option<Arc<JsonObject>>,
    /// What it says about its effects.
    pub annotations: Option<ToolAnnotations>,
    /// Why it is not offered; `None` when it is.
    pub hidden: Option<String>,
}

impl ListedTool {
    /// A tool of the registry.
    pub fn of(spec: &ToolSpec) -> Self {
        let only_looks = matches!(spec.kind, Kind::Assertion | Kind::Query);
        let own = || only_looks.then(|| ToolAnnotations::new().read_only(true));
        Self {
            name: spec.name.clone(),
            source: match &spec.origin {
                Origin::BuiltIn => BUILT_IN.to_owned(),
                Origin::File(_) => FILES.to_owned(),
                Origin::Source(name) => name.clone(),
            },
            description: spec.description.clone(),
            input_schema: Arc::new(spec.arguments.as_object().cloned().unwrap_or_default()),
            output_schema: spec.output.clone(),
            annotations: spec.annotations.clone().or_else(own),
            hidden: (!spec.shown).then(|| "it is for other tools, not for agents".to_owned()),
        }
    }

    /// `source.tool`, which is how toolsets refer to it.
    pub fn namespaced_name(&self) -> String {
        format!("{}.{}", self.source, self.name)
    }

    /// Whether this is its name, or its name with its source's before it: `source.tool`,
    /// `source__tool`, or `source_tool` with every `.` written as `_`.
    pub fn goes_by(&self, spelled: &str) -> bool {
        let after = |separator: &str| {
            let rest = spelled.strip_prefix(self.source.as_str());
            rest.and_then(|rest| rest.strip_prefix(separator)) == Some(self.name.as_str())
        };
        let flat = |c: char| if c == '.' { '_' } else { c };
        let flattened = || {
            let parts = self.source.chars().chain(['_']).chain(self.name.chars());
            spelled.chars().eq(parts.map(flat))
        };
        spelled == self.name || after(".") || after("__") || flattened()
    }

    /// About how many tokens it takes to show it: the characters of its JSON, a token for four.
    pub fn tokens(&self) -> usize {
        let shown = json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": *self.input_schema,
        });
        let characters = shown.to_string().chars().count();
        characters.div_ceil(CHARACTERS_PER_TOKEN)
    }
}
