//! The pipe to Playwright's driver, watched: which id a call has on the wire, so that it can be
//! taken back, and how far it got when it ended in an error.
//!
//! `__abort__`, `id` and `log` are those of playwright-core's protocol between its client and its
//! dispatcher. The Rust client knows none of the three.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use playwright_rs::Error;
use playwright_rs::protocol::Frame;
use playwright_rs::server::channel_owner::ChannelOwner;
use playwright_rs::server::transport::{TransportSender, send_message};
use serde_json::{Value, json};
use tokio::process::ChildStdin;
use tokio::sync::mpsc;

use crate::traffic::Traffic;

/// The parameter by which a call is known until its id is. It never leaves this process.
const MARK: &str = "packtrainCall";
/// Messages between the pipe and the client.
const WAITING: usize = 256;
/// Lines of a call's log that are passed on, and bytes of each.
const LOG_LINES: usize = 60;
const LOG_LINE: usize = 400;

static NEXT: AtomicU64 = AtomicU64::new(1);
/// The ids of the marked calls that are under way.
static IDS: Mutex<BTreeMap<u64, String>> = Mutex::new(BTreeMap::new());

/// The writing end.
pub(crate) struct Sender(pub(crate) ChildStdin);

impl TransportSender for Sender {
    fn send(
        &mut self,
        mut message: Value,
    ) -> Pin<Box<dyn Future<Output = Result<(), Error>> + Send + '_>> {
        let mark = message
            .get_mut("params")
            .and_then(Value::as_object_mut)
            .and_then(|params| params.remove(MARK))
            .and_then(|mark| mark.as_u64());
        if let (Some(mark), Some(id)) = (mark, message["id"].as_str()) {
            ids().insert(mark, id.to_owned());
        }
        Box::pin(async move { send_message(&mut self.0, message).await })
    }
}

/// A call that can be taken back.
pub(crate) struct Call {
    frame: Frame,
    number: u64,
}

impl Call {
    pub(crate) fn new(frame: &Frame) -> Self {
        Self {
            frame: frame.clone(),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Makes the call; `timeout` is among the parameters.
    pub(crate) async fn make(&self, method: &str, mut params: Value) -> Result<(), Error> {
        params[MARK] = self.number.into();
        self.frame.channel().send_no_result(method, params).await
    }

    /// Asks the driver to stop it. What [`Self::make`] returns then says how far it got.
    pub(crate) fn take_back(&self) {
        let Some(id) = ids().get(&self.number).cloned() else {
            return;
        };
        let connection = self.frame.connection();
        // There is no answer to it, so the task ends with the connection. On its own, because a
        // message that is only half written would break the pipe.
        tokio::spawn(async move {
            let params = json!({ "id": id, "reason": "taken back" });
            let _ = connection.send_message("", "__abort__", params).await;
        });
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        ids().remove(&self.number);
    }
}

fn ids() -> parking_lot::MutexGuard<'static, BTreeMap<u64, String>> {
    IDS.lock()
}

/// Passes messages on, with the log of a call that failed at the end of its error's text; `traffic` takes
/// note of each before anybody has it.
pub(crate) fn with_logs(
    mut messages: mpsc::Receiver<Value>,
    traffic: Arc<Traffic>,
) -> mpsc::Receiver<Value> {
    let (forward, out) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        while let Some(mut message) = messages.recv().await {
            add_log(&mut message);
            traffic.note(&message);
            if forward.send(message).await.is_err() {
                break;
            }
        }
    });
    out
}

fn add_log(message: &mut Value) {
    let log: Vec<String> = message["log"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .take(LOG_LINES)
        .map(|line| line.chars().take(LOG_LINE).collect())
        .collect();
    if log.is_empty() {
        return;
    }
    if let Some(Value::String(text)) = message.pointer_mut("/error/error/message")
        && !text.contains("Call log:")
    {
        text.push_str("\nCall log:\n");
        text.push_str(&log.join("\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_of_a_failed_call_is_part_of_its_error() {
        let mut message = json!({
            "id": "abcd@1",
            "error": { "error": { "message": "Timeout 5ms exceeded.", "name": "TimeoutError" } },
            "log": ["waiting for locator('a')", "  locator resolved to <a></a>"],
        });
        add_log(&mut message);
        assert_eq!(
            message["error"]["error"]["message"],
            "Timeout 5ms exceeded.\nCall log:\nwaiting for locator('a')\n  locator resolved to <a></a>"
        );
        let mut fine = json!({ "id": "abcd@2", "result": {}, "log": ["x"] });
        add_log(&mut fine);
        assert_eq!(fine, json!({ "id": "abcd@2", "result": {}, "log": ["x"] }));
    }
}
