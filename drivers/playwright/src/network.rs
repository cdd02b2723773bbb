//! The requests of a session, kept for assertions about them.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::watch;

/// Requests kept; older ones are forgotten, so that an endless page costs no endless memory.
const KEPT: usize = 4096;
/// Bytes of a request's body that are kept.
const BODY: usize = 16 * 1024;

/// What was asked for so far.
pub(crate) struct RequestLog {
    requests: Mutex<VecDeque<String>>,
    count: watch::Sender<u64>,
}

impl RequestLog {
    pub(crate) fn new() -> Self {
        Self {
            requests: Mutex::new(VecDeque::new()),
            count: watch::Sender::new(0),
        }
    }

    /// Notes a request: its address and what it sends, lower-cased for searching.
    pub(crate) fn note(&self, url: &str, body: Option<&[u8]>) {
        let mut text = url.to_lowercase();
        if let Some(body) = body {
            text.push('\n');
            let body = &body[..body.len().min(BODY)];
            text.push_str(&String::from_utf8_lossy(body).to_lowercase());
        }
        {
            let mut requests = self.lock();
            if requests.len() == KEPT {
                requests.pop_front();
            }
            requests.push_back(text);
        }
        self.count.send_modify(|count| *count += 1);
    }

    /// Whether a request mentions `name`, in any case.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.lock().iter().any(|request| request.contains(&name))
    }

    /// How many requests were noted so far; changes with each.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.count.subscribe()
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, VecDeque<String>> {
        self.requests.lock()
    }
}
