//! What agents see of tools and toolsets, and what listing them costs.

use std::collections::BTreeMap;
use std::sync::Arc;

use packtrain_tools::toolsets::{ListedTool, ToolState, ref_id, resolve};
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::{CallOutcome, EquippedToolset, Refusal, Request, ToolsetTools};
use crate::catalog::with_lease;
use crate::store::Listing;

/// How costs are counted.
const ESTIMATE: &str = "characters of JSON / 4; a model counts otherwise";

impl ToolsetTools {
    /// `list-available-tools`.
    pub(super) async fn available(&self, request: &Request<'_>) -> Result<CallOutcome, Refusal> {
        let listing = self.listing().await?;
        let mut sources: BTreeMap<&str, Vec<(&ListedTool, usize)>> = BTreeMap::new();
        for tool in request.listed {
            let tools = sources.entry(&tool.source).or_default();
            // What is not offered costs nothing.
            let is_offered = tool.hidden.is_none();
            tools.push((tool, if is_offered { tool.tokens() } else { 0 }));
        }
        let sum = |tools: &[(&ListedTool, usize)]| tools.iter().map(|(_, tokens)| tokens).sum();
        let total: usize = sources.values().map(|tools| sum(tools)).sum();
        let servers = sources.iter().map(|(source, tools)| {
            let described = tools.iter().map(|(tool, tokens)| {
                let mut told = described(tool);
                told["context"] = cost(*tokens, total);
                told
            });
            json!({
                "serverName": source,
                "toolCount": tools.len(),
                "context": cost(sum(tools), total),
                "tools": described.collect::<Vec<_>>(),
            })
        });
        let toolsets = listing.toolsets.iter().map(|stored| {
            let offered = stored.toolset.offered(request.listed);
            json!({
                "name": stored.toolset.name,
                "toolCount": offered.len(),
                "context": cost(offered.iter().map(ListedTool::tokens).sum(), total),
            })
        });
        Ok(CallOutcome::answer(json!({
            "summary": {
                "totalTools": request.listed.len(),
                "totalServers": sources.len(),
                "context": cost(total, total),
                "estimate": ESTIMATE,
            },
            "toolsByServer": servers.collect::<Vec<_>>(),
            "toolsets": toolsets.collect::<Vec<_>>(),
            "problems": listing.problems,
        })))
    }

    /// `list-saved-toolsets`.
    pub(super) async fn saved(&self, request: &Request<'_>) -> Result<CallOutcome, Refusal> {
        let listing = self.listing().await?;
        let toolsets = listing.toolsets.iter().map(|stored| {
            let toolset = &stored.toolset;
            let names = toolset.tools.iter().map(ToString::to_string);
            json!({
                "name": toolset.name,
                "description": toolset.description,
                "place": stored.place,
                "toolCount": toolset.tools.len(),
                "tools": names.collect::<Vec<_>>(),
                "noteCount": toolset.note_count(),
                "createdAt": toolset.created_at,
                "lastModified": toolset.last_modified,
                "equipped": request.equipped.name() == Some(&toolset.name),
            })
        });
        Ok(CallOutcome::answer(json!({
            "toolsets": toolsets.collect::<Vec<_>>(),
            "problems": listing.problems,
        })))
    }

    /// All toolsets, read off the async workers.
    async fn listing(&self) -> Result<Listing, Refusal> {
        let store = Arc::clone(&self.store);
        let listing = tokio::task::spawn_blocking(move || store.list()).await;
        listing.map_err(|error| Refusal::Said(format!("cannot read toolsets: {error}")))
    }
}

/// A tool as reported.
fn described(tool: &ListedTool) -> Value {
    let mut told = json!({
        "name": tool.name,
        "description": tool.description,
        "namespacedName": tool.namespaced_name(),
        "serverName": tool.source,
        "refId": ref_id(tool),
    });
    if let Some(why) = &tool.hidden {
        told["notOffered"] = json!(why);
    }
    told
}

/// `list-available-tools` of one tool: all that a list would say of it.
pub(super) fn one(name: &str, request: &Request<'_>) -> Result<CallOutcome, Refusal> {
    let mut tools = request.listed.iter();
    let exact = tools.clone().find(|tool| tool.name == name);
    let tool = exact.or_else(|| tools.find(|tool| tool.goes_by(name)));
    let shown: String = name.chars().take(80).collect();
    let tool = tool.ok_or_else(|| Refusal::Said(format!("unknown tool `{shown}`")))?;
    let mut told = described(tool);
    told["inputSchema"] = json!(with_lease(&tool.input_schema));
    told["annotations"] = json!(tool.annotations);
    Ok(CallOutcome::answer(told))
}

/// `get-active-toolset`.
pub(super) fn active(request: &Request<'_>) -> CallOutcome {
    let Some(toolset) = request.equipped.toolset() else {
        let message = "no toolset is equipped: all tools are offered";
        return CallOutcome::answer(json!({ "equipped": false, "message": message }));
    };
    let tools = toolset.tools.iter().map(|reference| {
        let standing = ToolState::of(reference, request.listed);
        let mut told = json!({ "tool": reference.to_string(), "status": standing.state });
        if let Ok(tool) = resolve(reference, request.listed) {
            told["name"] = json!(tool.name);
            told["context"] = json!({ "tokens": tool.tokens() });
            told["notes"] = json!(toolset.notes_on(tool));
        }
        told
    });
    let mut told = summary(request.equipped, request.listed);
    told.insert("equipped".to_owned(), json!(true));
    told.insert("description".to_owned(), json!(toolset.description));
    told.insert("tools".to_owned(), json!(tools.collect::<Vec<_>>()));
    CallOutcome::answer(Value::Object(told))
}

/// A toolset in short: how many tools it offers, and which it does not.
pub(super) fn summary(equipped: &EquippedToolset, listed: &[ListedTool]) -> JsonObject {
    let Some(toolset) = equipped.toolset() else {
        return JsonObject::new();
    };
    let offered = toolset.offered(listed);
    let tokens: usize = offered.iter().map(ListedTool::tokens).sum();
    let not_offered = toolset.tools.iter().filter_map(|reference| {
        let why = ToolState::of(reference, listed).why?;
        Some(json!({ "tool": reference.to_string(), "reason": why }))
    });
    let mut told = JsonObject::new();
    told.insert("toolset".to_owned(), json!(toolset.name));
    told.insert("toolCount".to_owned(), json!(offered.len()));
    told.insert(
        "context".to_owned(),
        json!({ "tokens": tokens, "estimate": ESTIMATE }),
    );
    told.insert(
        "notOffered".to_owned(),
        json!(not_offered.collect::<Vec<_>>()),
    );
    told
}

fn cost(tokens: usize, total: usize) -> Value {
    let percent = (tokens * 1000).checked_div(total).unwrap_or_default();
    json!({ "tokens": tokens, "percentTotal": percent as f64 / 10.0 })
}
