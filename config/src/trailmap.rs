//! The TypeScript and JavaScript tools of a trailmap: which it lists, and which files have them. Only
//! reads; what the files do when they are loaded is for their server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::document::Document;
use crate::trailblaze::Listed;

/// Most files that are looked into, how deep below `tools`, and their size in bytes.
const MAX_FILES: usize = 2_000;
const MAX_DEPTH: usize = 4;
const MAX_BYTES: u64 = 1 << 20;
/// How a program that is an MCP server by itself tells.
const SERVES_ITSELF: &str = "new StdioServerTransport(";

/// A tool and the file that exports it, as passed to its server.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScriptedTool {
    /// Its name, which is the export's.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// Why it cannot be called.
    pub unusable: Option<String>,
    /// What its descriptor says, if it has one.
    #[serde(flatten)]
    descriptor: Option<Value>,
}

/// What a trailmap has besides YAML.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scripts {
    /// The tools that it lists, or all when it lists none.
    pub tools: Vec<ScriptedTool>,
    /// Programs that are MCP servers by themselves.
    pub(crate) servers: Vec<PathBuf>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Trailmap {
    target: Option<Target>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Target {
    tools: Option<Vec<Listed>>,
    platforms: Option<BTreeMap<String, Option<Platform>>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Platform {
    tools: Option<Vec<Listed>>,
}

/// A tool's own file of YAML, beside its script.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    script: PathBuf,
    name: String,
    description: Option<String>,
    requires_host: Option<bool>,
    supported_platforms: Option<Vec<String>>,
    /// A schema of each argument, `required` among its keys.
    #[serde(default)]
    input_schema: BTreeMap<String, Map<String, Value>>,
}

/// The scripts of the trailmap in this file. What cannot be read has none.
pub fn scripts(trailmap: &Path) -> Scripts {
    let Some(folder) = trailmap.parent() else {
        return Scripts::default();
    };
    let mut files = Vec::new();
    walk(&folder.join("tools"), MAX_DEPTH, &mut files);
    let mut found = BTreeMap::new();
    let mut servers = Vec::new();
    for file in &files {
        match file.extension().and_then(|ending| ending.to_str()) {
            Some("yaml") => {
                let descriptor = Document::read(file).and_then(|document| document.whole());
                let tool = descriptor.map(|descriptor: Descriptor| descriptor.tool(file));
                if let Ok(Some(tool)) = tool {
                    // It says more than the script it is about.
                    found.insert(tool.name.clone(), tool);
                }
            }
            _ => {
                let text = format!("\n{}", std::fs::read_to_string(file).unwrap_or_default());
                if text.contains(SERVES_ITSELF) {
                    servers.push(file.clone());
                }
                for name in typed_tools(&text) {
                    found.entry(name.clone()).or_insert(ScriptedTool {
                        name,
                        file: file.clone(),
                        unusable: None,
                        descriptor: None,
                    });
                }
            }
        }
    }
    let listed = listed(trailmap);
    let is_listed = |tool: &ScriptedTool| listed.is_empty() || listed.contains(&tool.name);
    Scripts {
        tools: found.into_values().filter(is_listed).collect(),
        servers,
    }
}

/// The tools that a trailmap lists, for all platforms or for some.
fn listed(trailmap: &Path) -> BTreeSet<String> {
    let map: Trailmap = Document::read(trailmap)
        .and_then(|document| document.whole())
        .unwrap_or_default();
    let target = map.target.unwrap_or_default();
    let platforms = target.platforms.unwrap_or_default().into_values();
    let lists = platforms.flatten().map(|platform| platform.tools);
    lists
        .chain([target.tools])
        .flatten()
        .flatten()
        .filter_map(Listed::id)
        .collect()
}

/// Scripts and descriptors, in the order of their paths; links are not followed.
fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let Ok(about) = entry.metadata() else {
            continue;
        };
        if about.is_dir() && depth > 0 && !name.starts_with('.') && name != "node_modules" {
            walk(&entry.path(), depth - 1, files);
        }
        let is_meant = [".ts", ".mts", ".js", ".mjs", ".yaml"]
            .iter()
            .any(|ending| name.ends_with(ending))
            && ![".d.ts", ".test.ts", ".test.js"]
                .iter()
                .any(|ending| name.ends_with(ending));
        if about.is_file() && is_meant && about.len() <= MAX_BYTES && files.len() < MAX_FILES {
            files.push(entry.path());
        }
    }
}

/// The names in `export const NAME = trailblaze.tool(...)`.
fn typed_tools(text: &str) -> impl Iterator<Item = String> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    let begins_line = |before: &str| before.trim_end_matches([' ', '\t']).ends_with('\n');
    text.match_indices("export const ")
        .filter_map(move |(place, word)| {
            let before = &text[..place];
            let mut comments = before.rmatch_indices("/*");
            let comment = comments.find(|(at, _)| begins_line(&before[..*at]));
            let is_comment = comment.is_some_and(|(at, _)| !before[at..].contains("*/"));
            let (name, value) = text[place + word.len()..].split_once('=')?;
            let name = name.split(':').next().unwrap_or_default().trim();
            let value = value.trim_start();
            let callee = value.split(|letter| !is_word(letter) && letter != '.');
            let is_tool = callee.into_iter().next()?.ends_with(".tool");
            let is_named = !name.is_empty() && name.chars().all(is_word);
            (begins_line(before) && !is_comment && is_tool && is_named).then(|| name.to_owned())
        })
}

impl Descriptor {
    /// The tool, if its script is there.
    fn tool(self, file: &Path) -> Option<ScriptedTool> {
        let script = file.parent()?.join(&self.script);
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for (name, mut argument) in self.input_schema {
            if argument.remove("required") != Some(Value::Bool(false)) {
                required.push(name.clone());
            }
            properties.insert(name, Value::Object(argument));
        }
        let descriptor = json!({
            "description": self.description,
            "inputSchema": {
                "type": "object", "properties": properties, "required": required,
                "additionalProperties": false,
            },
            "meta": {
                "trailblaze/requiresHost": self.requires_host,
                "trailblaze/supportedPlatforms": self.supported_platforms,
            },
        });
        script.is_file().then_some(ScriptedTool {
            name: self.name,
            file: script,
            unusable: None,
            descriptor: Some(descriptor),
        })
    }
}
