//! Named selections of tools: defined ones, and those that tools put themselves into. Those that
//! agents build for themselves are saved ones.

mod listed;
mod notes;
mod pin;
mod resolve;
mod saved;

use std::collections::BTreeMap;

use packtrain_drivers::Platform;
use packtrain_model::diagnostic::Diagnostic;
use packtrain_model::source::{Source, Span};
use packtrain_model::suggest::did_you_mean;
use packtrain_model::yaml::Value;
use serde::Deserialize;

use crate::document::Document;
use crate::registry::Registry;

pub use listed::{BUILT_IN, FILES, ListedTool};
pub use notes::{
    Annotated, InvalidNote, MAX_NOTE, MAX_NOTES_PER_CALL, MAX_NOTES_PER_TOOL, ToolNote, ToolNotes,
    hydrate, is_shown,
};
pub use pin::ref_id;
pub use resolve::{ToolState, Unresolved, named, resolve};
pub use saved::{
    InvalidName, MAX_DESCRIPTION, MAX_NAME, MAX_TOOLS, MIN_NAME, Membership, NAME_PATTERN,
    SavedToolset, ToolRef, ToolsetName,
};

/// What a toolset file can have.
const KEYS: [&str; 7] = [
    "id",
    "description",
    "platforms",
    "drivers",
    "always_enabled",
    "alwaysEnabled",
    "tools",
];

/// A named selection of tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Toolset {
    /// Its name.
    pub id: String,
    /// What it is for.
    pub description: Option<String>,
    /// Where it is for; empty for everywhere.
    pub platforms: Vec<Platform>,
    /// The drivers it is for; empty for all.
    pub drivers: Vec<String>,
    /// Whether it is used without being asked for.
    pub always_enabled: bool,
    /// Its tools, by name.
    pub tools: Vec<String>,
}

/// A toolset as a file defines it.
#[derive(Debug)]
pub struct ToolsetFile {
    /// The toolset; `None` when it is only for platforms that Packtrain does not drive.
    pub toolset: Option<Toolset>,
    /// Worth a look; never errors.
    pub warnings: Vec<Diagnostic>,
    /// The file.
    pub source: Source,
    /// Where the names of its tools stand.
    pub places: BTreeMap<String, Option<Span>>,
}

/// All but the platforms.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Written {
    id: String,
    description: Option<String>,
    drivers: Vec<String>,
    #[serde(alias = "alwaysEnabled")]
    always_enabled: bool,
    tools: Vec<String>,
}

impl Toolset {
    /// Reads a toolset file. `source` is the name messages show, usually the path.
    ///
    /// # Errors
    /// All mistakes that can be told, each with its place.
    pub fn parse(text: &str, source: &str) -> Result<ToolsetFile, Vec<Diagnostic>> {
        let source = Source::new(source, text);
        let (mut document, root) = Document::read(&source, "a toolset")?;
        document.unknown_keys(&root, "a toolset", &KEYS);
        let on = document.platforms(root.get("platforms"));
        let written: Option<Written> = document.decoded(&root);
        if root.get("id").is_none() {
            document.tell(Diagnostic::error(&source, None, "`id` is missing"));
        }
        let warnings = document.finish()?;
        let names = root.get("tools").and_then(Value::as_sequence);
        let places = names.unwrap_or_default().iter();
        let places = places
            .filter_map(|name| Some((name.as_scalar()?.text.clone(), name.span)))
            .collect();
        let toolset = written.zip(on).map(|(written, platforms)| Self {
            id: written.id,
            description: written.description,
            platforms,
            drivers: written.drivers,
            always_enabled: written.always_enabled,
            tools: written.tools,
        });
        Ok(ToolsetFile {
            toolset,
            warnings,
            source,
            places,
        })
    }
}

/// Something odd about toolsets that does not keep them from being used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolsetProblem {
    /// It names an unknown tool.
    #[error("toolset `{toolset}` names the unknown tool `{tool}`")]
    UnknownTool {
        /// The toolset.
        toolset: String,
        /// The tool.
        tool: String,
        /// Which one was probably meant.
        hint: Option<String>,
    },
    /// It is defined more than once; the first definition is used.
    #[error("toolset `{toolset}` is defined more than once; the first definition is used")]
    Repeated {
        /// The toolset.
        toolset: String,
    },
}

/// All toolsets, by id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Toolsets(BTreeMap<String, Toolset>);

impl Toolsets {
    /// The toolsets that are defined, and those that tools put themselves into: one that is not
    /// defined is made for them. Names of unknown tools are left out.
    pub fn of(
        registry: &Registry,
        defined: impl IntoIterator<Item = Toolset>,
    ) -> (Self, Vec<ToolsetProblem>) {
        let mut sets: BTreeMap<String, Toolset> = BTreeMap::new();
        let mut problems = Vec::new();
        for mut defined in defined {
            let toolset = defined.id.clone();
            if sets.contains_key(&toolset) {
                problems.push(ToolsetProblem::Repeated { toolset });
                continue;
            }
            for tool in defined
                .tools
                .extract_if(.., |name| registry.get(name).is_none())
            {
                problems.push(ToolsetProblem::UnknownTool {
                    toolset: toolset.clone(),
                    hint: did_you_mean(&tool, registry.names()),
                    tool,
                });
            }
            sets.insert(toolset, defined);
        }
        for spec in registry.all().map(|tool| tool.spec()) {
            let Some(id) = &spec.toolset else {
                continue;
            };
            let set = sets.entry(id.clone()).or_insert_with(|| Toolset {
                id: id.clone(),
                ..Toolset::default()
            });
            if !set.tools.contains(&spec.name) {
                set.tools.push(spec.name.clone());
            }
        }
        (Self(sets), problems)
    }

    /// A toolset by its id.
    pub fn get(&self, id: &str) -> Option<&Toolset> {
        self.0.get(id)
    }

    /// All toolsets, by id.
    pub fn all(&self) -> impl Iterator<Item = &Toolset> {
        self.0.values()
    }

    /// The toolsets that a tool is in, by id.
    pub fn containing(&self, tool: &str) -> impl Iterator<Item = &Toolset> {
        self.all()
            .filter(move |set| set.tools.iter().any(|name| name == tool))
    }
}

#[cfg(test)]
mod tests;
