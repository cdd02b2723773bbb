//! Who answers on a port: WebDriverAgent tells no udid, but what it was given as
//! `UPGRADE_TIMESTAMP`. (`FBSessionCommands.m`, `handleGetStatus`)

use std::time::Duration;

use bytes::Bytes;
use hyper::Method;
use serde_json::Value;

use crate::answer;
use crate::http::{HttpRequest, WireError};
use crate::route::Route;

/// Longest answer to `/status`.
const MAX_STATUS: usize = 64 * 1024;

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The WebDriverAgent that was meant, and whether it told its mark.
    Agent {
        tells_mark: bool,
    },
    /// Somebody who has accepted the connection and says nothing: WebDriverAgent does one thing after
    /// the other.
    Busy,
    /// Another program, or another WebDriverAgent.
    Stranger,
    Nobody,
}

/// Asks on a port of this computer for the WebDriverAgent of a mark.
pub(crate) async fn who_answers(port: u16, mark: &str, limit: Duration) -> Answer {
    let request = HttpRequest {
        method: Method::GET,
        path: "/status",
        body: Bytes::new(),
        limit,
        most: MAX_STATUS,
    };
    let answer = match Route::to_port(port).client().ask(request).await {
        Ok(answer) => answer,
        Err(WireError::Dial(_)) => return Answer::Nobody,
        Err(WireError::Slow(_)) => return Answer::Busy,
        Err(WireError::Broken(_) | WireError::Garbage(_) | WireError::TooLarge(_)) => {
            return Answer::Stranger;
        }
    };
    let Ok(Ok(Some(value))) = answer::open(&answer) else {
        return Answer::Stranger;
    };
    let status: Value = serde_json::from_str(value).unwrap_or_default();
    let told = status.pointer("/build/upgradedAt").and_then(Value::as_str);
    match told {
        Some(told) if told == mark => Answer::Agent { tells_mark: true },
        None if status["os"].is_object() => Answer::Agent { tells_mark: false },
        Some(_) | None => Answer::Stranger,
    }
}
