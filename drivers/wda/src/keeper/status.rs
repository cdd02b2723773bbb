//! Who answers on a port: WebDriverAgent tells no udid, but what it was given as
//! `UPGRADE_TIMESTAMP`. (`FBSessionCommands.m`, `handleGetStatus`)

use bytes::Bytes;
use hyper::Method;
use serde_json::Value;

use crate::answer;
use crate::http::{HttpRequest, WireError};
use crate::route::Route;
use crate::start::STATUS_TIMEOUT;

/// Longest answer to `/status`.
const MAX_STATUS: usize = 64 * 1024;

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A WebDriverAgent, and the mark that it was given, where it tells one.
    Agent(Option<String>),
    /// Somebody who has accepted the connection and says nothing: WebDriverAgent does one thing after
    /// the other.
    Busy,
    /// Another program, or none.
    Other,
}

/// Asks on a port of this computer.
pub(crate) async fn who_answers(port: u16) -> Answer {
    let request = HttpRequest {
        method: Method::GET,
        path: "/status",
        body: Bytes::new(),
        limit: STATUS_TIMEOUT,
        most: MAX_STATUS,
    };
    let answer = match Route::to_port(port).client().ask(request).await {
        Ok(answer) => answer,
        Err(WireError::Slow(_)) => return Answer::Busy,
        Err(
            WireError::Dial(_)
            | WireError::Broken(_)
            | WireError::Garbage(_)
            | WireError::TooLarge(_),
        ) => return Answer::Other,
    };
    let Ok(Ok(Some(value))) = answer::open(&answer) else {
        return Answer::Other;
    };
    let status: Value = serde_json::from_str(value).unwrap_or_default();
    if !status["os"].is_object() {
        return Answer::Other;
    }
    let mark = status.pointer("/build/upgradedAt").and_then(Value::as_str);
    Answer::Agent(mark.map(str::to_owned))
}
