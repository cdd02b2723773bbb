//! JSON-RPC 2.0 as u2.jar's server speaks it: calls by name and position.

use serde::Deserialize;
use serde_json::{Value, json};

/// The longest error text that is passed on.
const MAX_ERROR: usize = 300;

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    Result(Value),
    /// The method threw this.
    Threw(String),
    /// Android took its UI automation from the server, which is of no use any more.
    Disconnected(String),
}

/// The body of a call. All characters beyond ASCII are escaped.
pub(super) fn call(method: &str, params: &Value) -> String {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    ascii(&call.to_string())
}

/// Reads the answer to a call.
///
/// # Errors
/// Why it is none.
pub(super) fn answer(body: &[u8]) -> Result<Outcome, String> {
    #[derive(Deserialize)]
    struct Answer {
        /// Present and null is a result too.
        #[serde(default, deserialize_with = "present")]
        result: Option<Value>,
        error: Option<Fault>,
    }
    #[derive(Deserialize)]
    struct Fault {
        #[serde(default)]
        message: String,
        #[serde(default)]
        data: Value,
    }
    let answer: Answer =
        serde_json::from_slice(body).map_err(|error| format!("not JSON-RPC: {error}"))?;
    match (answer.error, answer.result) {
        (Some(fault), _) => {
            let stack = fault.data.as_str().unwrap_or("");
            let text = readable(&fault.message, stack);
            let whole = format!("{}\n{stack}", fault.message);
            let is_gone = [
                "UiAutomation not connected",
                "android.os.DeadObjectException",
                "android.os.DeadSystemRuntimeException",
            ]
            .iter()
            .any(|name| whole.contains(name));
            Ok(if is_gone {
                Outcome::Disconnected(text)
            } else {
                Outcome::Threw(text)
            })
        }
        (None, Some(result)) => Ok(Outcome::Result(result)),
        (None, None) => Err("neither result nor error".to_owned()),
    }
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// The exception and the first line that says more.
fn readable(message: &str, stack: &str) -> String {
    let first = stack.lines().next().unwrap_or("").trim();
    let text = if first.contains(message) {
        first.to_owned()
    } else if first.is_empty() {
        message.to_owned()
    } else {
        format!("{message}: {first}")
    };
    text.chars().take(MAX_ERROR).collect()
}

/// The same JSON in ASCII.
fn ascii(json: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                // Writing to a string does not fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_ascii_and_means_the_same() {
        let params = json!(["packtrain", "Grüße 👋 \"x\""]);
        let body = call("setClipboard", &params);
        assert!(body.is_ascii(), "{body}");
        let read: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(read["params"], params);
    }

    #[test]
    fn results_errors_and_nonsense_are_told_apart() {
        let read = |text: &str| answer(text.as_bytes());
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","id":1,"result":null}"#),
            Ok(Outcome::Result(Value::Null))
        );
        assert_eq!(
            read(
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"java.lang.SecurityException","data":"java.lang.SecurityException: Injecting needs a permission\n\tat a.b.c"}}"#
            ),
            Ok(Outcome::Threw(
                "java.lang.SecurityException: Injecting needs a permission".to_owned()
            ))
        );
        assert_eq!(
            read(
                r#"{"error":{"message":"java.lang.IllegalStateException","data":"UiAutomation not connected!"}}"#
            ),
            Ok(Outcome::Disconnected(
                "java.lang.IllegalStateException: UiAutomation not connected!".to_owned()
            ))
        );
        assert!(read("{}").is_err());
        assert!(read("Not Found!!!").is_err());
    }
}
