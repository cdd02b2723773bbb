//! What WebDriverAgent answers: a value, or an error in WebDriver's words.
//!
//! Wire: `FBResponsePayload.m`, `FBCommandStatus.m` and `FBExceptionHandler.m` of
//! <https://github.com/appium/WebDriverAgent>.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::http::HttpAnswer;

/// Most of an error's message that is shown to people, in characters.
const MAX_MESSAGE: usize = 400;

/// What kind of refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Another client has made a session since, or WebDriverAgent was restarted.
    NoSession,
    NoAlert,
    StaleElement,
    NoElement,
    /// An alert is in the way.
    AlertOpen,
    /// The app the session is bound to does not run any more.
    AppGone,
    /// Nothing takes text: no field has the focus, or its keyboard is not up yet.
    NoKeyboard,
    /// This version or this device does not know the command.
    Unknown,
    SessionNotCreated,
    /// Whatever else; the message says what.
    Other,
}

/// A refusal with WebDriverAgent's explanation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct WdaRefusal {
    pub(crate) kind: Refusal,
    pub(crate) message: String,
}

/// Why an answer is neither a value nor a refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("what answered is not WebDriverAgent: {0}")]
pub(crate) struct NotWda(pub(crate) String);

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    value: Option<&'a RawValue>,
    #[serde(default, rename = "sessionId")]
    session: Value,
}

#[derive(Deserialize)]
struct ErrorValue {
    error: String,
    #[serde(default)]
    message: Option<String>,
}

/// The JSON of the value, `None` when there is none; or why it was refused.
pub(crate) fn open(answer: &HttpAnswer) -> Result<Result<Option<&str>, WdaRefusal>, NotWda> {
    let body = std::str::from_utf8(&answer.body).map_err(|error| NotWda(error.to_string()))?;
    let not_wda = |why: &str| {
        NotWda(format!(
            "HTTP {} with {}: {why}",
            answer.status,
            begin(body)
        ))
    };
    if !body.trim_start().starts_with('{') {
        return Err(not_wda("an object was expected"));
    }
    let envelope: Envelope<'_> =
        serde_json::from_str(body).map_err(|error| not_wda(&error.to_string()))?;
    let value = envelope.value.map(RawValue::get);
    if answer.status < 400 {
        return Ok(Ok(value));
    }
    let value = value.unwrap_or("nothing");
    let (kind, message) = match serde_json::from_str::<ErrorValue>(value) {
        Ok(ErrorValue { error, message }) => {
            let message = message.unwrap_or_default();
            (kind(&error, &message), shown(&error, &message))
        }
        Err(_) => {
            let message = format!("HTTP {} with {}", answer.status, begin(value));
            (Refusal::Other, message)
        }
    };
    Ok(Err(WdaRefusal { kind, message }))
}

/// The session that there is, which every answer tells.
pub(crate) fn session(answer: &HttpAnswer) -> Option<String> {
    let envelope: Envelope<'_> = serde_json::from_slice(&answer.body).ok()?;
    envelope.session.as_str().map(str::to_owned)
}

fn kind(word: &str, message: &str) -> Refusal {
    match word {
        "invalid session id" => Refusal::NoSession,
        "no such alert" => Refusal::NoAlert,
        "stale element reference" => Refusal::StaleElement,
        "no such element" => Refusal::NoElement,
        "unexpected alert open" => Refusal::AlertOpen,
        "unknown command" | "unknown method" | "unsupported operation" => Refusal::Unknown,
        "session not created" => Refusal::SessionNotCreated,
        // What these mean is in the message only. (`FBSession.m`, `FBKeyboard.m`, XCTest)
        _ if message.contains("is not running, possibly crashed") => Refusal::AppGone,
        _ if message.contains("keyboard must be present")
            || message.contains("has keyboard focus") =>
        {
            Refusal::NoKeyboard
        }
        _ => Refusal::Other,
    }
}

/// The message without the domain and code Foundation wraps it in.
fn shown(word: &str, message: &str) -> String {
    let mut text = message.trim();
    if let Some((before, quoted)) = text.split_once('"')
        && before.contains("Error Domain=")
        && let Some((inner, _)) = quoted.split_once('"')
    {
        text = inner;
    }
    let line = text.lines().next().unwrap_or_default();
    if line.is_empty() {
        word.to_owned()
    } else {
        begin(line)
    }
}

fn begin(text: &str) -> String {
    match text.char_indices().nth(MAX_MESSAGE) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn answer(status: u16, body: &str) -> HttpAnswer {
        HttpAnswer {
            status,
            body: body.to_owned().into(),
        }
    }

    fn refusal(status: u16, body: &str) -> WdaRefusal {
        open(&answer(status, body)).unwrap().unwrap_err()
    }

    #[test]
    fn a_value_is_handed_over_as_it_came() {
        let body = r#"{"value" : {"a": [1, 2]}, "sessionId" : null}"#;
        assert_eq!(open(&answer(200, body)), Ok(Ok(Some(r#"{"a": [1, 2]}"#))));
        for nothing in ["{\"sessionId\": \"x\"}", "{\"value\": null}"] {
            assert_eq!(open(&answer(200, nothing)), Ok(Ok(None)));
        }
    }

    #[test]
    fn refusals_are_told_apart_by_word_or_message() {
        for (word, message, wanted) in [
            (
                "invalid session id",
                "Session does not exist",
                Refusal::NoSession,
            ),
            ("stale element reference", "gone", Refusal::StaleElement),
            ("unsupported operation", "no", Refusal::Unknown),
            (
                "invalid element state",
                "The application under test with bundle id 'a' is not running, possibly crashed",
                Refusal::AppGone,
            ),
            (
                "invalid element state",
                "Error Domain=com.facebook.WebDriverAgent Code=1 \"The on-screen keyboard must be present to send keys\" UserInfo={}",
                Refusal::NoKeyboard,
            ),
            ("unknown error", "something else", Refusal::Other),
        ] {
            let value = serde_json::json!({"error": word, "message": message, "traceback": ""});
            let body = serde_json::json!({"value": value, "sessionId": null}).to_string();
            assert_eq!(refusal(404, &body).kind, wanted, "{message}");
        }
    }

    #[test]
    fn a_message_is_shown_without_what_foundation_wraps_around_it() {
        let message = "Error Domain=com.facebook.WebDriverAgent Code=1 \"No way\" UserInfo={a=b}";
        assert_eq!(shown("unknown error", message), "No way");
        assert_eq!(shown("unknown error", "first\nsecond"), "first");
        assert_eq!(shown("unknown error", ""), "unknown error");
        assert_eq!(shown("x", &"é".repeat(500)).chars().count(), 403);
    }

    #[test]
    fn what_is_not_webdriveragents_is_told_apart() {
        for body in ["", "<html>", "{\"value\": ", "[1]", "\"text\""] {
            assert!(open(&answer(200, body)).is_err(), "{body}");
        }
        let nginx = refusal(502, "{\"value\": \"Bad Gateway\"}");
        assert_eq!(nginx.message, "HTTP 502 with \"Bad Gateway\"");
    }

    proptest! {
        #[test]
        fn any_body_is_opened_or_refused(status in any::<u16>(), body in proptest::collection::vec(any::<u8>(), 0..200), text in "\\PC{0,60}") {
            let _ = open(&HttpAnswer { status, body: body.into() });
            let value = serde_json::json!({"value": {"error": text, "message": text}}).to_string();
            let _ = open(&answer(status, &value));
        }
    }
}
