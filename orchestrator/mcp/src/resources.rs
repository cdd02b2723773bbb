//! What agents can fetch: pictures that they took, and what there is of their runs.

use std::path::PathBuf;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents};

use serde_json::json;

use super::agent_context::AgentContext;
use super::look;

/// The most of a file.
const FILE_BYTES: u64 = 16 * 1024 * 1024;

/// What there is of a run, by name.
const RUN_FILES: [(&str, &str); 4] = [
    ("report.html", "text/html"),
    ("report.json", "application/json"),
    ("comparison.json", "application/json"),
    ("junit.xml", "application/xml"),
];

impl AgentContext {
    pub(super) fn resources(&self) -> Vec<Resource> {
        let mut resources = Vec::new();
        for held in self.agent.all_held() {
            for (number, png) in held.pictures() {
                resources.push(look::picture(&held, number, png.len()));
            }
        }
        for run in self.agent.runs() {
            let mut status = Resource::new(run.uri(), format!("run {}", run.handle));
            status.mime_type = Some("application/json".to_owned());
            resources.push(status);
            for (name, media_type) in RUN_FILES {
                let Some(path) = run.file(name).filter(|path| path.is_file()) else {
                    continue;
                };
                let mut file = Resource::new(format!("{}/{name}", run.uri()), name);
                file.mime_type = Some(media_type.to_owned());
                file.size = std::fs::metadata(path).ok().map(|about| about.len());
                resources.push(file);
            }
        }
        resources
    }

    /// Whether there is such a resource.
    pub(super) fn known_resource(&self, uri: &str) -> Result<(), ErrorData> {
        let is_known = self.resources().iter().any(|resource| resource.uri == uri);
        if is_known { Ok(()) } else { Err(unknown(uri)) }
    }

    pub(super) async fn read_resource(&self, uri: String) -> Result<ReadResourceResult, ErrorData> {
        for held in self.agent.all_held() {
            for (number, png) in held.pictures() {
                if look::picture_uri(&held, number) == uri {
                    let content = ResourceContents::blob(BASE64_STANDARD.encode(&*png), uri);
                    let content = content.with_mime_type("image/png");
                    return Ok(ReadResourceResult::new(vec![content]));
                }
            }
        }
        for run in self.agent.runs() {
            let Some(rest) = uri.strip_prefix(&run.uri()) else {
                continue;
            };
            if rest.is_empty() {
                let content = ResourceContents::text(run.status().to_string(), uri);
                let content = content.with_mime_type("application/json");
                return Ok(ReadResourceResult::new(vec![content]));
            }
            let known = RUN_FILES
                .iter()
                .find(|(name, _)| rest.strip_prefix('/') == Some(name));
            if let Some((name, media_type)) = known
                && let Some(path) = run.file(name)
            {
                let text = tokio::task::spawn_blocking(move || text_of(path)).await;
                let text = text.ok().flatten().ok_or_else(|| unknown(&uri))?;
                let content = ResourceContents::text(text, uri).with_mime_type(*media_type);
                return Ok(ReadResourceResult::new(vec![content]));
            }
        }
        Err(unknown(&uri))
    }
}

fn text_of(path: PathBuf) -> Option<String> {
    let about = std::fs::symlink_metadata(&path).ok()?;
    if !about.is_file() || about.len() > FILE_BYTES {
        return None;
    }
    std::fs::read_to_string(path).ok()
}

fn unknown(uri: &str) -> ErrorData {
    let shown: String = uri.chars().take(200).collect();
    let message = format!("unknown resource {shown}");
    ErrorData::resource_not_found(message, Some(json!({ "uri": shown })))
}
