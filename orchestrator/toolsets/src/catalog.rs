//! The tools of the registry as agents see them: flat, each with the lease that it is for.

use std::collections::BTreeMap;
use std::sync::Arc;

use packtrain_tools::toolsets::{BUILT_IN, ListedTool, is_shown};
use packtrain_tools::{Caller, Registry, ToolSpec};
use parking_lot::Mutex;
use rmcp::model::{JsonObject, Tool};
use serde_json::json;

use crate::schema::lean;
use crate::tools;

/// The argument that says which device a call is for.
pub const LEASE: &str = "lease";
/// Packtrain's own tools, but those about toolsets.
pub const OWN_TOOLS: [&str; 11] = [
    "device_list",
    "device_acquire",
    "device_release",
    "snapshot",
    "act",
    "screenshot",
    "trail_check",
    "run_start",
    "run_wait",
    "run_status",
    "run_cancel",
];
/// The most characters of JSON of a new agent's list: about 5,000 tokens.
const MAX_LIST: usize = 20_000;
/// The built-in tools that a new agent is shown: what begins a session on a device. For the rest there is
/// `act`.
const USUAL: [&str; 4] = [
    "launchApp",
    "openUrl",
    "mobile_listInstalledApps",
    "web_navigate",
];

/// Whether a name is one of Packtrain's own.
pub fn is_own(name: &str) -> bool {
    OWN_TOOLS.contains(&name) || tools::is_one(name)
}

/// The most of a text, in characters.
const LETTERS: usize = 200_000;

/// A text of somebody else's, without what would control a terminal, and not endless.
pub fn plain(text: &str) -> String {
    let mut shown = text.chars().filter(|letter| is_shown(*letter));
    let mut plain: String = shown.by_ref().take(LETTERS).collect();
    let more = shown.count();
    if more > 0 {
        plain.push_str(&format!("\n[{more} more characters]"));
    }
    plain
}

/// The tools of one state of a registry; rebuilt when that changes.
#[derive(Default)]
pub struct Catalog(Mutex<Option<Made>>);

struct Made {
    of: Arc<Registry>,
    listing: Arc<Listing>,
}

/// All tools, those that agents do not get with the reason.
pub struct Listing {
    /// All tools.
    pub tools: Vec<ListedTool>,
    /// The arguments of each as agents are shown them, by its name.
    schemas: BTreeMap<String, Arc<JsonObject>>,
}

impl Catalog {
    /// The tools of a registry.
    pub fn of(&self, registry: &Arc<Registry>, agent: &Caller) -> Arc<Listing> {
        let mut made = self.0.lock();
        if let Some(made) = made.as_ref().filter(|made| Arc::ptr_eq(&made.of, registry)) {
            return Arc::clone(&made.listing);
        }
        let specs = registry.all().map(|tool| tool.spec());
        let tools: Vec<_> = specs.map(|spec| listed(spec, agent)).collect();
        let schemas = tools
            .iter()
            .map(|tool| (tool.name.clone(), Arc::new(with_lease(&tool.input_schema))));
        let listing = Arc::new(Listing {
            schemas: schemas.collect(),
            tools,
        });
        *made = Some(Made {
            of: Arc::clone(registry),
            listing: Arc::clone(&listing),
        });
        listing
    }
}

impl Listing {
    /// A list for who has not chosen its tools: Packtrain's own, the usual ones, and of the project's as many
    /// as there is room for. All others can be called as well.
    pub fn short(&self, own: Vec<Tool>, offered: Vec<ListedTool>) -> Vec<Tool> {
        let length = |tool: &Tool| serde_json::to_string(tool).map_or(0, |json| json.len() + 1);
        let mut list = own;
        let mut left = MAX_LIST.saturating_sub(list.iter().map(length).sum());
        let (built_in, of_project): (Vec<_>, Vec<_>) = offered
            .into_iter()
            .partition(|tool| tool.source == BUILT_IN);
        let usual = built_in
            .into_iter()
            .filter(|tool| USUAL.contains(&tool.name.as_str()));
        for tool in usual.chain(of_project) {
            let shown = self.shown(tool);
            if let Some(rest) = left.checked_sub(length(&shown)) {
                left = rest;
                list.push(shown);
            }
        }
        list
    }

    /// Whether there is such a tool, offered or not.
    pub fn has(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// One of its tools, with whatever notes, as it stands in the list.
    pub fn shown(&self, tool: ListedTool) -> Tool {
        let made = self.schemas.get(&tool.name).cloned();
        let schema = made.unwrap_or_else(|| Arc::new(with_lease(&tool.input_schema)));
        let mut shown = Tool::new(tool.name, tool.description, schema);
        shown.annotations = tool.annotations;
        shown
    }
}

fn listed(spec: &ToolSpec, agent: &Caller) -> ListedTool {
    let mut listed = ListedTool::of(spec);
    listed.description = plain(&listed.description);
    let properties = spec.arguments["properties"].as_object();
    if is_own(&spec.name) {
        listed.hidden =
            Some("the name is one of Packtrain's own; rename it in its source".to_owned());
    } else if properties.is_some_and(|all| all.contains_key(LEASE)) {
        let why = format!("it already has an argument `{LEASE}`; rename that in its source");
        listed.hidden = Some(why);
    } else if let Some(refusal) = agent.refusal(spec) {
        listed.hidden = Some(refusal.to_string());
    }
    if !spec.platforms.is_empty() {
        let on: Vec<_> = spec
            .platforms
            .iter()
            .map(|platform| platform.as_str())
            .collect();
        listed
            .description
            .push_str(&format!(" ({} only)", on.join(", ")));
    }
    listed
}

/// A schema of arguments with the lease besides.
pub fn with_lease(schema: &JsonObject) -> JsonObject {
    let mut schema = lean(schema);
    schema.insert("type".to_owned(), json!("object"));
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
