//! What an agent is answered.

use packtrain_model::Outcome;
use packtrain_tools::Answer;
use packtrain_tools::toolsets::is_shown;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

/// The most of a text, in characters.
const LETTERS: usize = 200_000;

/// A text of somebody else's, without what would control a terminal, and not endless.
pub(super) fn plain(text: &str) -> String {
    let mut shown = text.chars().filter(|letter| is_shown(*letter));
    let mut plain: String = shown.by_ref().take(LETTERS).collect();
    let more = shown.count();
    if more > 0 {
        plain.push_str(&format!("\n[{more} more characters]"));
    }
    plain
}

/// A text, and the same as data.
pub(super) fn told(text: impl Into<String>, data: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(plain(&text.into()))]);
    result.structured_content = Some(data);
    result
}

/// That it did not work, in words that an agent can act on.
pub(super) fn failed(text: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(plain(&text.into()))])
}

/// What a tool of the registry has answered.
pub(super) fn answered(answer: Answer) -> CallToolResult {
    let mut lines: Vec<String> = answer
        .text
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect();
    if lines.is_empty() {
        lines.push("done".to_owned());
    }
    lines.extend(
        answer
            .report
            .notes
            .iter()
            .map(|note| format!("note: {note}")),
    );
    let mut result = CallToolResult::success(vec![ContentBlock::text(plain(&lines.join("\n")))]);
    // Clients want an object.
    result.structured_content = answer.data.filter(Value::is_object);
    result
}

/// How a call did not pass.
pub(super) fn not_passed(outcome: &Outcome) -> CallToolResult {
    let mut lines = Vec::new();
    match outcome {
        Outcome::Passed => lines.push("passed".to_owned()),
        Outcome::Failed(failure) => {
            lines.push(format!("failed: {}", failure.message));
            lines.extend(failure.log.iter().map(|line| format!("  {line}")));
        }
        Outcome::Infrastructure { cause, .. } => {
            lines.push(format!("it could not be found out: {cause}"));
        }
        Outcome::Cancelled { .. } => lines.push("cancelled".to_owned()),
        Outcome::NeedsAgent { why } | Outcome::Skipped { reason: why } => lines.push(why.clone()),
    }
    lines.extend(outcome.hint().map(|hint| format!("hint: {hint}")));
    failed(lines.join("\n"))
}
