//! Calls to Playwright's driver that its Rust client does not offer in the form needed, and the
//! translation of its errors.
//!
//! Method names and parameters are those of playwright-core's protocol, `FrameExpectParams` and
//! the like; the protocol is private to Playwright, so both sides are pinned together.

use std::time::Duration;

use packtrain_drivers::DriverError;
use playwright_rs::Error;
use playwright_rs::protocol::{Frame, Page};
use playwright_rs::server::channel_owner::ChannelOwner;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Milliseconds as the protocol wants them; never 0, which would mean "for ever".
pub(crate) fn millis(limit: Duration) -> f64 {
    (limit.as_secs_f64() * 1e3).max(1.0)
}

/// The page's main frame.
pub(crate) async fn frame_of(page: &Page) -> Result<Frame, Error> {
    page.main_frame().await
}

/// How many elements a selector matches now.
pub(crate) async fn count(frame: &Frame, selector: &str) -> Result<u32, Error> {
    #[derive(serde::Deserialize)]
    struct Answer {
        value: u32,
    }
    let answer: Answer = frame
        .channel()
        .send("queryCount", json!({ "selector": selector }))
        .await?;
    Ok(answer.value)
}

/// Waits until a selector matches something.
pub(crate) async fn await_attached(
    frame: &Frame,
    selector: &str,
    limit: Duration,
) -> Result<(), Error> {
    call(
        frame,
        "waitForSelector",
        json!({ "selector": selector, "state": "attached", "omitReturnValue": true }),
        limit,
    )
    .await
}

/// Waits until an assertion holds; the driver looks again and again by itself.
pub(crate) async fn expect(
    frame: &Frame,
    selector: &str,
    expression: &str,
    mut params: Value,
    limit: Duration,
) -> Result<(), Error> {
    params["selector"] = selector.into();
    params["expression"] = expression.into();
    params["isNot"] = false.into();
    call(frame, "expect", params, limit).await
}

/// A call on a frame whose answer does not matter.
pub(crate) async fn call(
    frame: &Frame,
    method: &str,
    mut params: Value,
    limit: Duration,
) -> Result<(), Error> {
    params["timeout"] = millis(limit).into();
    frame.channel().send_no_result(method, params).await
}

/// A call on a frame with an answer.
pub(crate) async fn ask<T: DeserializeOwned>(
    frame: &Frame,
    method: &str,
    mut params: Value,
    limit: Duration,
) -> Result<T, Error> {
    params["timeout"] = millis(limit).into();
    frame.channel().send(method, params).await
}

/// The process that renders a page is the browser's, and the browser is the device.
pub(crate) fn page_died(doing: &str) -> DriverError {
    DriverError::Lost {
        cause: format!("{doing}: the browser's process for the page ended"),
        hint: Some("it was killed or crashed; too little memory is the usual cause".to_owned()),
    }
}

/// What Playwright's error means for the one who gave the command.
pub(crate) fn translate(error: &Error, doing: &str) -> DriverError {
    if is_crash(error) {
        return page_died(doing);
    }
    match error {
        Error::Timeout(text) | Error::AssertionTimeout(text) | Error::AssertionFailed(text) => {
            let (first, log) = split_log(text);
            DriverError::Unmet {
                what: format!("{doing}: {first}"),
                log,
            }
        }
        Error::NavigationTimeout { url, duration_ms } => DriverError::unmet(format!(
            "{doing}: {url} did not load within {duration_ms} ms"
        )),
        Error::ElementNotFound(selector) => {
            DriverError::unmet(format!("{doing}: nothing matches {selector}"))
        }
        Error::ChannelClosed | Error::ConnectionFailed(_) | Error::TransportError(_) => {
            DriverError::lost(format!("{doing}: the connection to Playwright broke"))
        }
        Error::InvalidArgument(text) => DriverError::Invalid(format!("{doing}: {text}")),
        Error::Context(_, inner) => translate(inner, doing),
        other if is_closed(other) => {
            DriverError::unmet(format!("{doing}: the page closed meanwhile"))
        }
        other => {
            let (first, log) = split_log(&other.to_string());
            DriverError::Unmet {
                what: format!("{doing}: {first}"),
                log,
            }
        }
    }
}

/// Whether a strict call found several elements; it touches none then.
pub(crate) fn is_ambiguous(error: &Error) -> bool {
    message(error).contains("strict mode violation")
}

/// Whether a call that does not wait found nothing.
pub(crate) fn is_missing(error: &Error) -> bool {
    message(error).contains("Failed to find element matching selector")
}

/// Whether an action found its element at all, by the driver's log of it.
pub(crate) fn was_found(error: &Error) -> bool {
    error.to_string().contains("resolved to ")
}

/// Whether an action that ended in an error may have touched the page, by the driver's log of it.
pub(crate) fn touched(error: &Error) -> bool {
    let text = error.to_string();
    let Some((_, log)) = text.split_once("Call log:") else {
        return true;
    };
    // A click that was caught by another element is retried.
    let last = log.rsplit("retrying ").next().unwrap_or(log);
    ["performing ", "fill(\"", "type(\"", "selected specified"]
        .iter()
        .any(|sign| last.contains(sign))
}

/// Whether the process that renders the page ended.
pub(crate) fn is_crash(error: &Error) -> bool {
    let message = message(error);
    message.starts_with("Target crashed") || message == "Page crashed"
}

/// Whether the error only says that page, context or browser is gone.
pub(crate) fn is_closed(error: &Error) -> bool {
    match error {
        Error::TargetClosed { .. } | Error::ChannelClosed | Error::ObjectNotFound(_) => true,
        Error::Context(_, inner) => is_closed(inner),
        other => message(other).starts_with("Target page, context or browser has been closed"),
    }
}

/// What went wrong, in a few words for readers of the page.
pub(crate) fn reason(error: &Error) -> String {
    match error {
        Error::Timeout(_) => "it does not answer".to_owned(),
        error => message(error),
    }
}

/// What Playwright says itself. What follows quotes the page, which may say anything.
fn message(error: &Error) -> String {
    split_log(&error.to_string()).0
}

/// Playwright appends a call log; people read the first line, the log goes to the details.
fn split_log(text: &str) -> (String, Vec<String>) {
    let mut lines = text
        .lines()
        .map(|line| strip_ansi(line.trim()))
        .filter(|line| !line.is_empty() && line != "Call log:");
    let first = lines.next().unwrap_or_default();
    let first = [
        "Protocol error: ",
        "Timeout: ",
        "Assertion failed: ",
        "Assertion timeout: ",
    ]
    .iter()
    .fold(first.as_str(), |text, prefix| {
        text.strip_prefix(prefix).unwrap_or(text)
    })
    .to_owned();
    let log = lines
        .filter(|line| !is_own_frame(line))
        // Said in the first line.
        .filter(|line| !first.ends_with(line.trim_start_matches("Error: ")))
        .map(|line| line.trim_start_matches("- ").to_owned())
        .take(40)
        .collect();
    (first, log)
}

/// Whether a line is a stack frame inside Playwright, which is of no use. Frames in the page's
/// own scripts stay.
fn is_own_frame(line: &str) -> bool {
    const OWN: [&str; 5] = [
        "playwright-core/",
        "node:internal/",
        "UtilityScript.",
        "eval at evaluate",
        "(<anonymous>)",
    ];
    line.starts_with("at ") && OWN.iter().any(|own| line.contains(own))
}

fn strip_ansi(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            for c in chars.by_ref() {
                if c.is_ascii_alphabetic() {
                    break;
                }
            }
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::split_log;

    #[test]
    fn the_log_of_a_failure_has_frames_of_the_page_and_none_of_playwright() {
        let (first, log) = split_log(
            "ReferenceError: nothing is not defined
    at pay (http://localhost/shop.js:12:3)
    at eval (eval at evaluate (:370:30), <anonymous>:1:1)
    at eval (<anonymous>)
    at UtilityScript.evaluate (<anonymous>:370:30)
    at _Frame.goto (/home/me/node_modules/playwright-core/lib/coreBundle.js:24897:21)
    at runNextTicks (node:internal/process/task_queues:60:5)
Error: ReferenceError: nothing is not defined
Call log:
  - waiting for the button",
        );
        assert_eq!(first, "ReferenceError: nothing is not defined");
        assert_eq!(
            log,
            [
                "at pay (http://localhost/shop.js:12:3)",
                "waiting for the button"
            ]
        );
    }
}
