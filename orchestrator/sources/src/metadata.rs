//! What a source says of its tools: `_meta["trailblaze/*"]` of each, the `trailblaze://registry`
//! resource, and what the settings add for what neither says.

use std::collections::BTreeMap;

use packtrain_config::McpServer;
use packtrain_drivers::Platform;
use packtrain_tools::{Kind, Origin, ToolSpec};
use serde_json::{Map, Value};

use super::mcp::ListedTool;
use super::results::Success;

/// The resource that some sources describe all their tools in.
pub(super) const REGISTRY: &str = "trailblaze://registry";
/// The argument that sources of before are given the session in.
pub(super) const CONTEXT_ARGUMENT: &str = "_trailblazeContext";

/// The key that says that `success: false` is data of the tool's answer.
pub(super) const SUCCESS_IS_DATA: &str = "successIsData";

/// What is known of a source's tool besides its spec.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolTraits {
    /// Whether it takes the session as an argument.
    pub(super) context: ContextArgument,
    /// Whether it needs a model on every call.
    pub(super) needs_model: bool,
    /// What `success: false` in its answers means.
    pub(super) success: Success,
    /// Why it cannot be called, when only its name is there.
    pub(super) unusable: Option<String>,
}

/// Whether a tool takes [`CONTEXT_ARGUMENT`], as its schema has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContextArgument {
    /// The schema names it.
    Declared,
    /// The schema says nothing of arguments that it does not name. Some servers refuse them anyway.
    Undeclared,
    /// The schema allows no such argument.
    Forbidden,
}

/// The `trailblaze://registry` resource; what is not a registry is none.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RegistryResource(BTreeMap<String, Map<String, Value>>);

impl RegistryResource {
    pub(super) fn read(text: &str) -> Self {
        let document: Value = serde_json::from_str(text).unwrap_or_default();
        let tools = document["tools"].as_object().into_iter().flatten();
        Self(
            tools
                .filter_map(|(name, about)| Some((name.clone(), about.as_object()?.clone())))
                .collect(),
        )
    }
}

/// Looks a key up where it may stand; who says nothing, or something of the wrong type, is passed
/// over.
struct DeclaredMeta<'a> {
    meta: &'a Map<String, Value>,
    registry: Option<&'a Map<String, Value>>,
    given: Option<&'a Map<String, Value>>,
    default: &'a Map<String, Value>,
}

impl DeclaredMeta<'_> {
    fn find<T>(
        &self,
        key: &str,
        registry_key: Option<&str>,
        take: impl Fn(&Value) -> Option<T>,
    ) -> Option<T> {
        let own = self.meta.get(&format!("trailblaze/{key}"));
        let registered = registry_key.and_then(|key| self.registry?.get(key));
        let given = self.given.and_then(|given| given.get(key));
        [own, registered, given, self.default.get(key)]
            .into_iter()
            .flatten()
            .find_map(take)
    }

    fn flag(&self, key: &str, registry_key: Option<&str>) -> Option<bool> {
        self.find(key, registry_key, Value::as_bool)
    }

    fn words(&self, key: &str, registry_key: Option<&str>) -> Vec<String> {
        let words = self.find(key, registry_key, |value| {
            let words = value.as_array()?.iter();
            words
                .map(|word| word.as_str().map(str::to_owned))
                .collect::<Option<Vec<_>>>()
        });
        words.unwrap_or_default()
    }
}

/// A listed tool as the registry has it.
pub(super) fn describe(
    settings: &McpServer,
    tool: &ListedTool,
    registry: &RegistryResource,
) -> (ToolSpec, ToolTraits) {
    let said = DeclaredMeta {
        meta: &tool.meta,
        registry: registry.0.get(&tool.name),
        given: settings.tool_meta.get(&tool.name),
        default: &settings.default_meta,
    };
    let hints = tool.annotations.as_ref();
    let kind = match hints.and_then(|hints| hints.read_only_hint) {
        Some(true) => Kind::Query,
        Some(false) | None => Kind::Action,
    };
    let mut spec = ToolSpec::new(&tool.name, &tool.description, kind);
    spec.origin = Origin::Source(settings.name.clone());
    spec.annotations.clone_from(&tool.annotations);
    spec.output.clone_from(&tool.output);
    let for_llm = said.flag("isForLlm", Some("exposedToLlm"));
    let surfaced = said.flag("surfaceToLlm", None);
    spec.shown = for_llm != Some(false) && surfaced != Some(false);
    spec.recordable = said.flag("isRecordable", Some("isRecordable")) != Some(false);
    spec.drivers = said.words("supportedDrivers", None);
    let platforms = said.words("supportedPlatforms", Some("platforms"));
    spec.platforms = platforms
        .iter()
        .filter_map(|word| word.to_lowercase().parse().ok())
        .collect::<Vec<Platform>>();
    if spec.platforms.is_empty() && !platforms.is_empty() {
        // For platforms only that there are no devices of.
        spec.drivers = platforms.iter().map(|word| word.to_lowercase()).collect();
    }
    spec.toolset = said.find("toolset", None, |value| value.as_str().map(str::to_owned));
    spec.groups = said.registry.map(groups).unwrap_or_default();
    let delegates = said
        .registry
        .and_then(|about| about.get("isDelegating")?.as_bool());
    let needs_model = spec.shown && !spec.recordable && delegates == Some(false);
    let success = match said.flag(SUCCESS_IS_DATA, None) {
        Some(true) => Success::Data,
        Some(false) | None => Success::OfTool,
    };
    let (arguments, context) = without_context(&tool.arguments);
    spec.arguments = arguments;
    (
        spec,
        ToolTraits {
            context,
            needs_model,
            success,
            unusable: said.find("unusable", None, |value| value.as_str().map(str::to_owned)),
        },
    )
}

fn groups(about: &Map<String, Value>) -> Vec<String> {
    let groups = about
        .get("groups")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    groups
        .filter_map(|group| group.as_str().map(str::to_owned))
        .collect()
}

/// A schema without the session, and whether it lets the session in.
fn without_context(schema: &Value) -> (Value, ContextArgument) {
    let mut schema = schema.clone();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    let declared = properties.is_some_and(|all| all.remove(CONTEXT_ARGUMENT).is_some());
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name != CONTEXT_ARGUMENT);
    }
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    let context = if declared {
        ContextArgument::Declared
    } else if is_closed {
        ContextArgument::Forbidden
    } else {
        ContextArgument::Undeclared
    };
    (schema, context)
}
