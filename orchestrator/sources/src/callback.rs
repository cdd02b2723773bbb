//! `POST /scripting/callback`: a tool calls back into the session that called it.
//!
//! Wire: the scripting callback of Trailblaze, version 1; docs/tool-sources.md has every answer. An
//! answer that says that an id is unknown is a JSON-RPC error too, for clients of either kind.

use std::time::Duration;

use packtrain_tools::{Answer, Origin, SharedRegistry, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::invocation::{
    Callback, CallbackEffect, CallbackError, Entry, Invocations, NoInvocation,
};

/// The version of the wire.
const VERSION: i64 = 1;
/// JSON-RPC: invalid parameters.
const INVALID_PARAMS: i32 = -32602;

/// What is answered to a callback.
#[derive(Debug, Clone, PartialEq)]
pub enum CallbackReply {
    /// With status 200.
    Json(Value),
    /// With status 400, as text.
    Malformed(String),
}

/// Serves callbacks. Cheap to clone.
#[derive(Clone)]
pub struct Callbacks {
    invocations: Invocations,
    registry: SharedRegistry,
    limits: CallbackLimits,
}

/// The bounds of callbacks.
#[derive(Debug, Clone, Copy)]
pub struct CallbackLimits {
    /// How long one may take.
    pub timeout: Duration,
    /// How deep calls and callbacks may nest.
    pub max_depth: u32,
}

impl Default for CallbackLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(120),
            max_depth: 16,
        }
    }
}

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    version: Option<i64>,
    session_id: String,
    #[serde(default)]
    invocation_id: Option<String>,
    action: Action,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Action {
    CallTool {
        tool_name: String,
        arguments_json: String,
    },
}

impl Callbacks {
    /// Serves the callbacks of these invocations.
    pub const fn new(
        invocations: Invocations,
        registry: SharedRegistry,
        limits: CallbackLimits,
    ) -> Self {
        Self {
            invocations,
            registry,
            limits,
        }
    }

    /// Answers one, in time for its client: whatever the call that it belongs to is doing, it is
    /// answered when [`CallbackLimits::timeout`] is over.
    pub async fn answer(&self, body: &[u8]) -> CallbackReply {
        let arrived = Instant::now();
        let request: Request = match serde_json::from_slice(body) {
            Ok(request) => request,
            Err(error) => {
                return CallbackReply::Malformed(format!(
                    "Malformed JsScriptingCallbackRequest JSON: {error}"
                ));
            }
        };
        let version = request.version.unwrap_or(VERSION);
        if version != VERSION {
            return error(&format!(
                "Unsupported callback version {version}; this runtime speaks v{VERSION}"
            ));
        }
        let id = request.invocation_id.as_deref().filter(|id| !id.is_empty());
        let entry = match self.invocations.find(id) {
            Ok(entry) => entry,
            Err(missing) => return unknown_invocation(id.unwrap_or_default(), &missing),
        };
        let given = &request.session_id;
        if *given != entry.session {
            return error(&format!(
                "Session mismatch: invocation {} belongs to a different session than '{given}'",
                id.unwrap_or("(none given)"),
            ));
        }
        if entry.depth >= self.limits.max_depth {
            let (depth, max) = (entry.depth, self.limits.max_depth);
            return failure(&format!(
                "Callback reentrance depth {depth} reached max {max}; refusing further dispatch."
            ));
        }
        let Action::CallTool {
            tool_name,
            arguments_json,
        } = request.action;
        let registry = self.registry.with(&tool_name).await;
        let spec = registry.get(&tool_name).map(|tool| tool.spec());
        let arguments = match arguments(spec, &tool_name, &arguments_json) {
            Ok(arguments) => arguments,
            Err(message) => return failure(&message),
        };
        let name = tool_name.clone();
        let left = self.limits.timeout.saturating_sub(arrived.elapsed());
        let dispatched = self.dispatched(&entry, tool_name, spec, arguments, Some(left));
        match dispatched.await {
            // The call ended first.
            None => unknown_invocation(id.unwrap_or_default(), &NoInvocation::Unknown),
            Some(Ok(answer)) => success(answer),
            Some(Err(CallbackError::Late(_))) => failure(&format!(
                "Tool '{name}' callback dispatch timed out after {}ms",
                self.limits.timeout.as_millis()
            )),
            Some(Err(CallbackError::Tool(error))) if spec.is_some() => failure(&error.to_string()),
            Some(Err(CallbackError::Tool(error))) => failure(&format!(
                "Failed to deserialize tool call '{name}': {error}"
            )),
        }
    }

    /// The registry.
    pub(crate) const fn registry(&self) -> &SharedRegistry {
        &self.registry
    }

    /// The bounds.
    pub(crate) const fn limits(&self) -> CallbackLimits {
        self.limits
    }

    /// The calls under way.
    pub(crate) const fn invocations(&self) -> &Invocations {
        &self.invocations
    }

    /// Has the call of the invocation make it; `None` when that ends first.
    pub(crate) async fn dispatched(
        &self,
        entry: &Entry,
        tool: String,
        spec: Option<&ToolSpec>,
        arguments: Value,
        timeout: Option<Duration>,
    ) -> Option<Result<Answer, CallbackError>> {
        let (answer, answered) = oneshot::channel();
        let callback = Callback {
            tool,
            arguments,
            arrived: Instant::now(),
            does: spec.map_or(CallbackEffect::Call, CallbackEffect::of),
            answer,
        };
        let answer = async {
            entry.callbacks.send(callback).await.ok()?;
            answered.await.ok()
        };
        let Some(timeout) = timeout else {
            return answer.await;
        };
        let answer = tokio::time::timeout(timeout, answer).await;
        answer.unwrap_or(Some(Err(CallbackError::Late(timeout))))
    }
}

/// The arguments of a callback, when the tool is there and takes them.
fn arguments(spec: Option<&ToolSpec>, name: &str, text: &str) -> Result<Value, String> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    let arguments: Value = serde_json::from_str(text)
        .map_err(|error| format!("Failed to deserialize tool call '{name}': {error}"))?;
    let Some(given) = arguments.as_object() else {
        return Err(format!(
            "Failed to deserialize tool call '{name}': the arguments are not a JSON object"
        ));
    };
    let Some(spec) = spec else {
        // The invoker says what it means that there is no such tool: it may be of a source that is
        // not there.
        return Ok(arguments);
    };
    let properties = spec.arguments["properties"].as_object();
    let is_dynamic = matches!(spec.origin, Origin::Source(_));
    let known: Vec<&str> = properties
        .into_iter()
        .flatten()
        .map(|(key, _)| key.as_str())
        .collect();
    if is_dynamic && known.is_empty() {
        return Ok(arguments);
    }
    let unknown: Vec<_> = given
        .keys()
        .filter(|key| !known.contains(&key.as_str()))
        .collect();
    if !unknown.is_empty() {
        let expected = match known.as_slice() {
            [] => "This tool accepts no arguments.".to_owned(),
            known => format!(
                "Expected one of: {}. (See client.tools.{name} for the canonical typed shape.)",
                known.join(", ")
            ),
        };
        return Err(format!(
            "Tool '{name}' was called with unknown argument keys: {}. {expected}",
            quoted(&unknown)
        ));
    }
    let required: Vec<_> = spec.arguments["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let missing: Vec<_> = required
        .iter()
        .filter(|key| !given.contains_key(**key))
        .collect();
    if !missing.is_empty() {
        return Err(format!(
            "Tool '{name}' was called without required argument keys: {}. Required: {}. (See \
             client.tools.{name} for the canonical typed shape.)",
            quoted(&missing),
            required.join(", ")
        ));
    }
    Ok(arguments)
}

fn quoted(keys: &[impl AsRef<str>]) -> Value {
    keys.iter().map(AsRef::as_ref).collect::<Vec<_>>().into()
}

fn success(answer: Answer) -> CallbackReply {
    let mut result = json!({ "type": "call_tool_result", "success": true });
    if let Some(text) = answer.text.filter(|text| !text.is_empty()) {
        result["text_content"] = json!(text);
    }
    if let Some(data) = answer.data.filter(|data| !data.is_null()) {
        result["structured_content"] = data;
    }
    CallbackReply::Json(json!({ "result": result }))
}

fn failure(message: &str) -> CallbackReply {
    let mut result = json!({ "type": "call_tool_result", "success": false });
    if !message.is_empty() {
        result["error_message"] = json!(message);
    }
    CallbackReply::Json(json!({ "result": result }))
}

fn error(message: &str) -> CallbackReply {
    CallbackReply::Json(json!({ "result": { "type": "error", "message": message } }))
}

fn unknown_invocation(id: &str, why: &NoInvocation) -> CallbackReply {
    let (message, rpc) = match why {
        NoInvocation::Unknown => (
            format!("Invocation {id} not found or no longer in flight"),
            format!("Unknown invocation ID: {id}. The tool call may have completed or timed out."),
        ),
        NoInvocation::Ambiguous { devices, calls } => {
            let message = format!(
                "An invocation ID is required: it may be left out only with one device and one tool \
                 call in flight (devices: {devices}, calls: {calls}). Send \
                 `invocation_id` as it came in `_meta.trailblaze.invocationId`."
            );
            (message.clone(), message)
        }
    };
    CallbackReply::Json(json!({
        "result": { "type": "error", "message": message },
        "error": { "code": INVALID_PARAMS, "message": rpc },
    }))
}

#[cfg(test)]
mod tests {
    use packtrain_drivers::Platform;
    use packtrain_tools::Registry;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_callback_that_its_call_never_answers_is_answered_before_its_client_gives_up() {
        let invocations = Invocations::default();
        let mut call = invocations.open("s", Platform::Android, 0);
        let registry = SharedRegistry::new(Registry::builtin());
        let limits = CallbackLimits::default();
        let callbacks = Callbacks::new(invocations, registry, limits);
        let body = json!({
            "session_id": "s",
            "invocation_id": call.id.as_str(),
            "action": { "type": "call_tool", "tool_name": "reloadTools", "arguments_json": "{}" },
        });
        let begun = Instant::now();
        let body = body.to_string();
        let (reply, taken) = tokio::join!(callbacks.answer(body.as_bytes()), call.callbacks.recv());
        assert!(taken.is_some());
        assert!(begun.elapsed() <= limits.timeout + Duration::from_millis(10));
        let late = "Tool 'reloadTools' callback dispatch timed out after 120000ms";
        assert_eq!(reply, failure(late));
    }
}
