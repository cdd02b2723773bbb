//! The requests of a session, kept for assertions about them.

use std::collections::VecDeque;

use tokio::sync::watch;

/// Requests kept; older ones are forgotten, so that an endless page costs no endless memory.
const KEPT: usize = 4096;
/// Bytes of a request's body that are kept.
const BODY: usize = 16 * 1024;

/// What was asked for so far.
#[derive(Default)]
pub(crate) struct RequestLog(watch::Sender<Requests>);

#[derive(Default)]
pub(crate) struct Requests {
    kept: VecDeque<String>,
    /// How many were noted.
    pub(crate) count: u64,
}

impl RequestLog {
    /// Notes a request: its address and what it sends, lower-cased for searching.
    pub(crate) fn note(&self, url: &str, body: Option<&[u8]>) {
        let mut text = url.to_lowercase();
        if let Some(body) = body {
            text.push('\n');
            let body = &body[..body.len().min(BODY)];
            text.push_str(&String::from_utf8_lossy(body).to_lowercase());
        }
        self.0.send_modify(|requests| {
            if requests.kept.len() == KEPT {
                requests.kept.pop_front();
            }
            requests.kept.push_back(text);
            requests.count += 1;
        });
    }

    /// Whether a request mentions `name`, in any case.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let requests = self.0.borrow();
        requests.kept.iter().any(|request| request.contains(&name))
    }

    /// Changes with each request.
    pub(crate) fn watch(&self) -> watch::Receiver<Requests> {
        self.0.subscribe()
    }
}
