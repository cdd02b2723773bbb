//! From what a server answered to what the call is.

use packtrain_model::memory::Memory;
use serde_json::{Map, Value};

use super::mcp::CallResult;
use crate::tool::{Answer, ToolError};

/// The key that names calls which stand for a tool's own.
const DELEGATES: &str = "_trailblaze_delegates";

/// A call that a tool wants made in its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Delegate {
    pub(super) tool: String,
    pub(super) arguments: Value,
}

/// What an answer means.
///
/// # Errors
/// [`ToolError::Failed`] for one that says so, [`ToolError::Fatal`] for one that ends the trail.
pub(super) fn answer(tool: &str, result: &CallResult) -> Result<Answer, ToolError> {
    let text = result.texts.first().cloned();
    if !result.is_error {
        return Ok(Answer {
            text,
            data: result.structured.clone(),
            ..Answer::default()
        });
    }
    let message = text.unwrap_or_else(|| format!("`{tool}` failed and says nothing of it"));
    let about = &result.meta.get("trailblaze").cloned().unwrap_or_default();
    let log = result.texts.iter().skip(1).cloned().collect();
    Err(match about["variant"].as_str() {
        Some("FatalError") => ToolError::Fatal { message, log },
        Some("MissingRequiredArgs") => ToolError::Failed {
            message,
            log,
            hint: Some(match missing(about) {
                names if names.is_empty() => {
                    format!("`packtrain tools {tool}` shows its arguments")
                }
                names => format!("arguments that are missing: {}", names.join(", ")),
            }),
        },
        _ => ToolError::Failed {
            message,
            log,
            hint: None,
        },
    })
}

/// The names of missing arguments, wherever they stand beside the variant.
fn missing(about: &Value) -> Vec<String> {
    [
        "missing",
        "missingArgs",
        "missingRequiredArgs",
        "requiredArgs",
    ]
    .iter()
    .find_map(|key| about[key].as_array())
    .into_iter()
    .flatten()
    .filter_map(|name| name.as_str().map(str::to_owned))
    .collect()
}

/// Writes what a call that succeeded remembers: what it sets, then what it takes away.
pub(super) fn remember(memory: &mut Memory, meta: &Map<String, Value>) {
    let about = meta.get("trailblaze");
    let delta = about.and_then(|about| about["memoryDelta"].as_object());
    for (name, value) in delta.into_iter().flatten() {
        if let Some(value) = value.as_str() {
            memory.remember(name, value);
        }
    }
    let deletions = about.and_then(|about| about["memoryDeletions"].as_array());
    for name in deletions.into_iter().flatten().filter_map(Value::as_str) {
        memory.forget(name);
    }
}

/// The calls that stand for this one: in the data, in the first text when that is an object, or in
/// the metadata. `None` when there is no list.
///
/// # Errors
/// A list that is none of calls.
pub(super) fn delegates(result: &CallResult) -> Result<Option<Vec<Delegate>>, ToolError> {
    let in_text = || {
        let text = result.texts.first()?.trim_start();
        let parsed: Value = text
            .starts_with('{')
            .then(|| serde_json::from_str(text).ok())??;
        parsed.get(DELEGATES).cloned()
    };
    let in_data = result
        .structured
        .as_ref()
        .and_then(|data| data.get(DELEGATES).cloned());
    let Some(list) = in_data
        .or_else(in_text)
        .or_else(|| result.meta.get(DELEGATES).cloned())
    else {
        return Ok(None);
    };
    let items = list.as_array().ok_or_else(|| wrong(&list))?;
    let delegates = items.iter().map(|item| {
        let tool = item["tool"].as_str().ok_or_else(|| wrong(item))?.to_owned();
        let arguments = match item.get("args").or_else(|| item.get("arguments")) {
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(arguments @ Value::Object(_)) => arguments.clone(),
            Some(_) => return Err(wrong(item)),
        };
        Ok(Delegate { tool, arguments })
    });
    delegates.collect::<Result<Vec<_>, _>>().map(Some)
}

fn wrong(what: &Value) -> ToolError {
    let mut shown = what.to_string();
    shown.truncate(shown.floor_char_boundary(200));
    ToolError::failed(format!(
        "`{DELEGATES}` is a list of {{\"tool\": .., \"args\": {{..}}}}, not {shown}"
    ))
}
