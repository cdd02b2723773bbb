//! From what a server answered to what the call is.

use packtrain_drivers::ActionReport;
use packtrain_model::memory::Memory;
use packtrain_tools::{Answer, ToolError};
use serde_json::{Map, Value, json};

use super::mcp::CallResult;
use super::metadata::SUCCESS_IS_DATA;

/// The key that names calls which stand for a tool's own.
const DELEGATES: &str = "_trailblaze_delegates";

/// A call that a tool wants made in its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Delegate {
    pub(super) tool: String,
    pub(super) arguments: Value,
}

/// What `success: false` in an answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Success {
    /// The tool has failed.
    OfTool,
    /// It is the app's own answer, which the tool hands on.
    Data,
}

/// What an answer means.
///
/// # Errors
/// [`ToolError::Failed`] for one that says so, [`ToolError::Fatal`] for one that ends the trail.
pub(super) fn answer(
    tool: &str,
    result: &CallResult,
    success: Success,
) -> Result<Answer, ToolError> {
    let text = result.texts.first().cloned();
    let unsuccessful = match success {
        Success::OfTool => unsuccessful(result),
        Success::Data => None,
    };
    if !result.is_error && unsuccessful.is_none() {
        return Ok(Answer {
            text,
            data: result.structured.clone(),
            report: ActionReport {
                notes: result.notes.clone(),
                ..ActionReport::default()
            },
            ..Answer::default()
        });
    }
    let says_so = !result.is_error;
    let message = match unsuccessful {
        Some(reason) if says_so || reason.is_some() => {
            reason.unwrap_or_else(|| format!("`{tool}` returned `success: false` without a reason"))
        }
        _ => text.unwrap_or_else(|| format!("`{tool}` failed without a message")),
    };
    let about = &result.meta.get("trailblaze").cloned().unwrap_or_default();
    let log = result.texts.iter().skip(1).chain(&result.notes);
    let log = log.cloned().collect();
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
            hint: says_so.then(|| {
                format!(
                    "`{tool}` returned `success: false`; where that is the app's own answer, \
                     `trailblaze/{SUCCESS_IS_DATA}: true` in the tool's `_meta` says so"
                )
            }),
        },
    })
}

/// What the answer is as an object: its data, or its first text.
fn objects(result: &CallResult) -> impl Iterator<Item = Value> {
    let in_text = || {
        let mut texts = result
            .texts
            .iter()
            .map(|text| text.trim_start_matches('\u{feff}').trim());
        let text = texts.find(|text| !text.is_empty())?;
        if !text.starts_with('{') {
            return None;
        }
        let object = serde_json::from_str(text).ok();
        // Python writes `NaN` and halves of characters, which are not JSON: it is accepted anyway.
        object
            .or_else(|| says_unsuccessful(text).then(|| json!({ "success": false, "error": text })))
    };
    result.structured.clone().into_iter().chain(in_text())
}

/// The reason that stands beside `success: false`, as far as there is one; `None` when the answer
/// does not say that.
fn unsuccessful(result: &CallResult) -> Option<Option<String>> {
    let told = objects(result).find(|object| object["success"] == Value::Bool(false))?;
    let texts = ["error", "message"].iter().filter_map(|key| {
        let value = &told[key];
        let text = match value {
            Value::Null | Value::Bool(_) => return None,
            Value::String(text) => text.clone(),
            Value::Object(error) if error.get("message").is_some_and(Value::is_string) => {
                error["message"].as_str()?.to_owned()
            }
            other => other.to_string(),
        };
        (!text.trim().is_empty()).then_some(text)
    });
    let texts: Vec<_> = texts.collect();
    Some((!texts.is_empty()).then(|| texts.join(": ")))
}

/// Whether a text has `"success": false` in it.
fn says_unsuccessful(text: &str) -> bool {
    text.split("\"success\"").skip(1).any(|rest| {
        let value = rest.trim_start().strip_prefix(':');
        value.is_some_and(|value| value.trim_start().starts_with("false"))
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
    let mut told = objects(result).filter_map(|object| object.get(DELEGATES).cloned());
    let Some(list) = told.next().or_else(|| result.meta.get(DELEGATES).cloned()) else {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(texts: &[&str], structured: Option<Value>, success: Success) -> Result<(), String> {
        let result = CallResult {
            texts: texts.iter().map(|text| (*text).to_owned()).collect(),
            structured,
            ..CallResult::default()
        };
        match answer("acme_x", &result, success) {
            Ok(_) => Ok(()),
            Err(ToolError::Failed { message, hint, .. }) => {
                assert!(hint.is_some_and(|hint| hint.contains("successIsData")));
                Err(message)
            }
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_tool_that_answers_success_false_has_failed() {
        let failed = |texts: &[&str], data| meaning(texts, data, Success::OfTool).unwrap_err();
        let login = json!({ "success": false, "error": "invalid_credentials" });
        assert_eq!(failed(&[], Some(login.clone())), "invalid_credentials");
        let text = login.to_string();
        assert_eq!(failed(&[&text], None), "invalid_credentials");
        // As a server answers whose tool returns JSON as a text.
        assert_eq!(
            failed(&[&text], Some(json!({ "result": text }))),
            "invalid_credentials"
        );
        let both = json!({ "success": false, "error": { "code": 3, "message": "locked" }, "message": "ask IT" });
        assert_eq!(failed(&["see the data"], Some(both)), "locked: ask IT");
        assert_eq!(
            failed(&[" { \"success\" : false } "], None),
            "`acme_x` returned `success: false` without a reason"
        );
        assert_eq!(
            failed(&["", &format!("\u{feff}{text}")], None),
            "invalid_credentials"
        );
        // As Python writes what JSON has no words for.
        for text in [
            r#"{"success": false, "score": NaN}"#,
            r#"{"half": "\ud800", "success" :false}"#,
        ] {
            assert_eq!(failed(&[text], None), text);
        }
    }

    #[test]
    fn what_is_no_success_false_of_the_tool_passes() {
        let login = json!({ "success": false, "error": "invalid_credentials" });
        let passes = |texts: &[&str], data| meaning(texts, data, Success::OfTool).unwrap();
        passes(&["success: false"], None);
        passes(&[], Some(json!({ "success": "false" })));
        passes(&[], Some(json!({ "success": null, "error": "x" })));
        passes(&[], Some(json!({ "login": login })));
        passes(&[], Some(json!([login])));
        meaning(&[&login.to_string()], Some(login), Success::Data).unwrap();
    }
}
