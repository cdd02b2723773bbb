//! What an agent is answered.

use packtrain_model::Outcome;
use packtrain_tools::Answer;
use packtrain_toolsets::catalog::plain;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

/// A text, and the same as data.
pub(super) fn told(text: impl Into<String>, data: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(plain(&text.into()))]);
    result.structured_content = Some(data);
    result
}

/// The same answer, its data with what its texts say: some clients show a model the data alone.
pub(super) fn with_text_in_data(mut answer: CallToolResult) -> CallToolResult {
    let texts = answer.content.iter().filter_map(ContentBlock::as_text);
    let texts: Vec<_> = texts.map(|block| block.text.as_str()).collect();
    let text = texts.join("\n");
    answer.structured_content = answer.structured_content.map(|data| {
        let is_said = |data: &Value| {
            let mut fields = data.as_object().into_iter().flat_map(|all| all.values());
            fields.any(|field| field.as_str() == Some(&text))
                || serde_json::from_str::<Value>(&text).is_ok_and(|said| said == *data)
        };
        match data {
            data if text.is_empty() || is_said(&data) => data,
            Value::Object(mut fields) if !fields.contains_key("text") => {
                fields.insert("text".to_owned(), Value::String(text));
                Value::Object(fields)
            }
            data => json!({ "text": text, "data": data }),
        }
    });
    answer
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
        // Most clients show the texts alone.
        let data = answer.data.as_ref().map(Value::to_string);
        lines.push(data.unwrap_or_else(|| "done".to_owned()));
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
    let prefix = if matches!(outcome, Outcome::Failed(_)) {
        "failed: "
    } else {
        ""
    };
    failed(format!("{prefix}{}", why(outcome)))
}

/// Why a call did not pass.
pub(super) fn why(outcome: &Outcome) -> String {
    let mut lines = Vec::new();
    match outcome {
        Outcome::Passed => lines.push("passed".to_owned()),
        Outcome::Failed(failure) => {
            lines.push(failure.message.clone());
            lines.extend(failure.log.iter().map(|line| format!("  {line}")));
        }
        Outcome::Infrastructure { cause, .. } => {
            lines.push(format!("internal error: {cause}"));
        }
        Outcome::Cancelled { .. } => lines.push("cancelled".to_owned()),
        Outcome::NeedsAgent { why } | Outcome::Skipped { reason: why } => lines.push(why.clone()),
    }
    lines.extend(outcome.hint().map(|hint| format!("hint: {hint}")));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data_of(text: &str, data: Value) -> Value {
        let answer = with_text_in_data(told(text, data));
        assert_eq!(with_text_in_data(answer.clone()), answer);
        answer.structured_content.unwrap()
    }

    #[test]
    fn data_carries_the_text_once() {
        let both = json!({ "mark": 1, "text": "the screen" });
        assert_eq!(data_of("the screen", json!({ "mark": 1 })), both);
        assert_eq!(data_of("the screen", both.clone()), both);
        assert_eq!(
            data_of(r#"{ "n": 4 }"#, json!({ "n": 4 })),
            json!({ "n": 4 })
        );
        let result = json!({ "result": "x" });
        assert_eq!(data_of("x", result.clone()), result);
        let own = json!({ "text": "own" });
        let kept = json!({ "text": "x", "data": own });
        assert_eq!(data_of("x", own), kept);
        let none = with_text_in_data(failed("no"));
        assert_eq!(none.structured_content, None);
    }

    #[test]
    fn data_without_a_text_is_the_text() {
        let answer = answered(Answer::data(json!({ "count": 3 })));
        assert_eq!(answer.content[0].as_text().unwrap().text, r#"{"count":3}"#);
        assert_eq!(answer.structured_content, Some(json!({ "count": 3 })));
        let answer = answered(Answer::default());
        assert_eq!(answer.content[0].as_text().unwrap().text, "done");
    }
}
