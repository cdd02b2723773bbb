//! What each page still waits for, read off the pipe to Playwright's driver, where events come before any
//! answer that was given after them.
//!
//! `request`, `requestFinished`, `requestFailed`, `webSocket`, `worker` and `__dispose__` are those of
//! playwright-core's protocol.

use std::collections::{HashMap, HashSet};

use parking_lot::Mutex;
use serde_json::Value;

/// Requests of a page beyond these are not counted: it counts as busy.
const MAX_REQUESTS: usize = 10_000;

/// What the pages of one driver process are loading.
#[derive(Debug, Default)]
pub(crate) struct Traffic(Mutex<HashMap<String, PageTraffic>>);

#[derive(Debug, Default)]
struct PageTraffic {
    requests: HashSet<String>,
    /// It has had a worker or a socket, from which something may come unasked.
    has_others: bool,
}

impl Traffic {
    /// Whether nothing is on its way to a page, as far as the driver has told.
    pub(crate) fn is_quiet(&self, page: &str) -> bool {
        let pages = self.0.lock();
        pages
            .get(page)
            .is_none_or(|page| page.requests.is_empty() && !page.has_others)
    }

    /// Takes note of a message from the driver.
    pub(crate) fn note(&self, message: &Value) {
        let Some(method) = message["method"].as_str() else {
            return;
        };
        let guid = |value: &Value| value["guid"].as_str().map(str::to_owned);
        let params = &message["params"];
        let (page, request) = match method {
            "request" | "requestFinished" | "requestFailed" => {
                (guid(&params["page"]), guid(&params["request"]))
            }
            "webSocket" | "worker" | "__dispose__" => (guid(message), None),
            _ => return,
        };
        let Some(page) = page else { return };
        let mut pages = self.0.lock();
        match (method, request) {
            ("request", Some(request)) => {
                let page = pages.entry(page).or_default();
                if page.requests.len() < MAX_REQUESTS {
                    page.requests.insert(request);
                }
            }
            ("requestFinished" | "requestFailed", Some(request)) => {
                if let Some(page) = pages.get_mut(&page) {
                    page.requests.remove(&request);
                }
            }
            ("__dispose__", _) => drop(pages.remove(&page)),
            ("webSocket" | "worker", _) => pages.entry(page).or_default().has_others = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(method: &str, request: &str) -> Value {
        json!({ "guid": "context@1", "method": method,
            "params": { "page": { "guid": "page@1" }, "request": { "guid": request } } })
    }

    #[test]
    fn a_page_is_quiet_once_each_of_its_requests_has_ended() {
        let traffic = Traffic::default();
        assert!(traffic.is_quiet("page@1"));
        traffic.note(&event("request", "request@1"));
        traffic.note(&event("request", "request@2"));
        traffic.note(&event("requestFinished", "request@1"));
        assert!(!traffic.is_quiet("page@1") && traffic.is_quiet("page@2"));
        traffic.note(&event("requestFailed", "request@2"));
        assert!(traffic.is_quiet("page@1"));
    }

    #[test]
    fn a_page_with_a_socket_or_a_worker_is_never_quiet_until_it_is_gone() {
        for method in ["webSocket", "worker"] {
            let traffic = Traffic::default();
            traffic.note(&json!({ "guid": "page@1", "method": method, "params": {} }));
            assert!(!traffic.is_quiet("page@1"), "{method}");
            traffic.note(&json!({ "guid": "page@1", "method": "__dispose__", "params": {} }));
            assert!(traffic.is_quiet("page@1"), "{method}");
        }
    }
}
