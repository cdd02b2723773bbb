//! What a Trailblaze workspace says that means something here: targets with their app ids, the
//! default target, the trails' folder and MCP servers. The files are another program's, so what
//! cannot be used is a warning, never an error.

use std::path::{Path, PathBuf};

use packtrain_yaml::Entry;
use packtrain_yaml::diagnostic::{Diagnostic, Severity};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use crate::document::Document;
use crate::error::ConfigError;
use crate::key::KeyPath;
use crate::layer::{Layer, to_json};
use crate::origin::{FileLayer, Origin};
use crate::settings::{Config, McpServer, sources};
use crate::trailmap::scripts;

/// Most trailmaps looked at.
const MAX_TRAILMAPS: usize = 1_000;
/// Keys of the workspace file that are used.
const USED: [&str; 5] = ["defaults", "target", "targets", "trailsDir", "mcpServers"];

/// What was read.
#[derive(Default)]
pub(crate) struct Workspace {
    pub layer: Layer,
    pub warnings: Vec<Diagnostic>,
    pub documents: Vec<Document>,
}

/// trailblaze.yaml, as far as it is of use.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct WorkspaceFile {
    defaults: Defaults,
    target: Option<String>,
    targets: Vec<Listed>,
    trails_dir: Option<PathBuf>,
}

/// Its tool sources, read apart: a mistake in them costs nothing else.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ToolSources {
    #[serde(deserialize_with = "sources::read")]
    mcp_servers: Vec<McpServer>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Defaults {
    target: Option<String>,
}

/// An id; other forms are not used.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Listed {
    Id(String),
    Other(IgnoredAny),
}

impl Listed {
    pub(crate) fn id(self) -> Option<String> {
        let Self::Id(id) = self else { return None };
        Some(id)
    }
}

/// trailmap.yaml, as far as it is of use.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Trailmap {
    target: TrailmapTarget,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TrailmapTarget {
    platforms: Platforms,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Platforms {
    android: Platform,
    ios: Platform,
    web: Platform,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Platform {
    app_ids: Vec<String>,
    base_url: Option<String>,
}

/// Reads a workspace file and the trailmaps beside it. What is found is added to the tool sources of
/// the workspace file, or else to `users`, those of the user's own.
pub(crate) fn read(path: &Path, root: &Path, users: Option<&Value>) -> Workspace {
    let mut workspace = Workspace::default();
    let Some((document, file)) = workspace.open::<WorkspaceFile>(path) else {
        return workspace;
    };
    if let Some(mapping) = document.root.as_mapping() {
        let is_unused = |entry: &&Entry| !USED.contains(&entry.key.text.as_str());
        for Entry { key, .. } in mapping.entries.iter().filter(is_unused) {
            let message = format!("`{}` is not used by Packtrain", key.text);
            let unused = Diagnostic::warning(&document.source, key.span, message);
            workspace.warnings.push(unused);
        }
    }
    let folder = path.parent().unwrap_or(root);
    if let Some(target) = file.target {
        workspace.set(&document, &["target"], &["target"], json!(target));
    } else if let Some(target) = file.defaults.target {
        workspace.set(
            &document,
            &["target"],
            &["defaults", "target"],
            json!(target),
        );
    }
    let trails = file
        .trails_dir
        .map(|trails| folder.join(trails))
        .or_else(|| {
            // trails/config/trailblaze.yaml lies inside the trails.
            Some(folder.parent()?.to_owned()).filter(|_| folder.ends_with("trails/config"))
        });
    if let Some(trails) = trails {
        workspace.set(&document, &["trailsDir"], &["trailsDir"], json!(trails));
    }
    let mut mcp_servers = match document.whole::<ToolSources>() {
        Ok(sources) => sources.mcp_servers,
        Err(error) => {
            workspace.ignored(error);
            Vec::new()
        }
    };
    for server in &mut mcp_servers {
        server.resolve_paths(folder);
    }
    let users = users.filter(|_| mcp_servers.is_empty());
    let configured = users.and_then(Value::as_array).cloned();
    let mut servers = configured.unwrap_or_else(|| written(mcp_servers));
    let mut ids: Vec<String> = file.targets.into_iter().filter_map(Listed::id).collect();
    if ids.is_empty() {
        ids = trailmaps(folder);
    }
    for id in ids.into_iter().take(MAX_TRAILMAPS) {
        workspace.set(&document, &["targets", &id], &["targets"], json!({}));
        let map = folder.join("trailmaps").join(&id).join("trailmap.yaml");
        workspace.trailmap(&map, &id);
        if is_plain(&id) {
            for found in written(sources_of(&map, &id)) {
                let is_same = |one: &Value, key| !one[key].is_null() && one[key] == found[key];
                // What is configured wins.
                if !(servers.iter()).any(|one| is_same(one, "name") || is_same(one, "trailmap")) {
                    servers.push(found);
                }
            }
        }
    }
    if users.is_some() {
        // The places of its entries are known already.
        (workspace.layer.values).insert("mcpServers".to_owned(), servers.into());
    } else if !servers.is_empty() {
        workspace.set(&document, &["mcpServers"], &["mcpServers"], servers.into());
    }
    workspace.documents.push(document);
    workspace
}

/// Tool sources as configurations have them.
fn written(mcp_servers: Vec<McpServer>) -> Vec<Value> {
    let config = Config {
        mcp_servers,
        ..Config::default()
    };
    let mut written = to_json(&config).unwrap_or_default();
    serde_json::from_value(written["mcpServers"].take()).unwrap_or_default()
}

/// What a trailmap has in TypeScript, as tool sources: its tools in one, each server that lies with
/// them in another.
fn sources_of(map: &Path, id: &str) -> Vec<McpServer> {
    let scripts = scripts(map);
    let source = (!scripts.tools.is_empty()).then(|| McpServer {
        name: format!("trailmap-{id}"),
        trailmap: Some(map.to_owned()),
        ..McpServer::default()
    });
    let servers = scripts.servers.into_iter().enumerate();
    let servers = servers.map(|(number, script)| McpServer {
        name: format!("trailmap-{id}-server-{}", number + 1),
        script: Some(script),
        ..McpServer::default()
    });
    source.into_iter().chain(servers).collect()
}

/// The trailmaps of a workspace that lists none.
fn trailmaps(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder.join("trailmaps")) else {
        return Vec::new();
    };
    let mut ids: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.path().join("trailmap.yaml").is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    ids.sort();
    ids
}

impl Workspace {
    fn trailmap(&mut self, path: &Path, id: &str) {
        // An id may also belong to a trailmap that is built into Trailblaze.
        if !is_plain(id) || !path.is_file() {
            return;
        }
        let Some((document, map)) = self.open::<Trailmap>(path) else {
            return;
        };
        let Platforms { android, ios, web } = map.target.platforms;
        for (name, ids) in [("android", android.app_ids), ("ios", ios.app_ids)] {
            if !ids.is_empty() {
                let there = ["target", "platforms", name, "app_ids"];
                self.set(
                    &document,
                    &["targets", id, "appIds", name],
                    &there,
                    json!(ids),
                );
            }
        }
        if let Some(url) = web.base_url {
            let there = ["target", "platforms", "web", "base_url"];
            self.set(&document, &["targets", id, "baseUrl"], &there, json!(url));
        }
        self.documents.push(document);
    }

    fn open<T: serde::de::DeserializeOwned>(&mut self, path: &Path) -> Option<(Document, T)> {
        let opened = Document::read(path).and_then(|document| {
            let parsed = document.whole()?;
            Ok((document, parsed))
        });
        match opened {
            Ok(opened) => Some(opened),
            Err(error) => {
                self.ignored(error);
                None
            }
        }
    }

    fn ignored(&mut self, error: ConfigError) {
        self.warnings.extend(
            error
                .into_diagnostics()
                .into_iter()
                .map(|mistake| Diagnostic {
                    severity: Severity::Warning,
                    message: format!("ignored: {}", mistake.message),
                    ..mistake
                }),
        );
    }

    /// Sets `key` to a value found at `there` of a document.
    fn set(&mut self, document: &Document, key: &[&str], there: &[&str], value: Value) {
        let key = KeyPath::new(key.iter().copied());
        if value.is_array() {
            self.layer.lists.push(key.clone());
        }
        let position = document.position(&KeyPath::new(there.iter().copied()));
        let mut values = &mut self.layer.values;
        if let Some((last, parents)) = key.parts().split_last() {
            for part in parents {
                let inner = values
                    .entry(part.as_str())
                    .or_insert_with(|| Value::Object(Map::new()));
                let Value::Object(inner) = inner else { return };
                values = inner;
            }
            values.insert(last.clone(), value);
        }
        let origin = Origin::File {
            layer: FileLayer::Trailblaze,
            path: document.path.clone(),
            position,
        };
        self.layer.origins.push((key, origin));
    }
}

/// Whether a name cannot lead out of its folder.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\'])
}
