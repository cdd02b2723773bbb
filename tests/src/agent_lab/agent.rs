//! An agent: what it asks for and what it is told, whichever way it is connected.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::http::Http;
use super::stdio::Stdio;

/// How long an answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);
/// The newest revision that has sessions.
pub(super) const SESSIONS: &str = "2025-11-25";
/// The revision that has none.
pub(super) const REQUESTS: &str = "2026-07-28";

/// An era of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// Up to 2025-11-25: every connection has a session.
    Sessions,
    /// 2026-07-28: each request says who asks.
    Requests,
}

/// An agent. Dropped, it hangs up.
pub struct Agent {
    name: String,
    link: Link,
    next: AtomicU64,
    told: Mutex<Receiver<Value>>,
}

enum Link {
    Stdio(Stdio),
    Http(Http),
}

/// What was asked for and is not over.
pub struct Pending {
    id: Value,
    told: Receiver<Value>,
}

/// What a tool has answered.
#[derive(Debug)]
pub struct Called {
    /// Its texts, a line each.
    pub text: String,
    /// Its structured content.
    pub data: Value,
    /// Whether it says that it did not work.
    pub is_error: bool,
    /// All of it.
    pub result: Value,
}

impl Agent {
    #[track_caller]
    pub(super) fn stdio(command: Command, name: &str) -> Self {
        let (tell, told) = mpsc::channel();
        let agent = Self::with(name, Link::Stdio(Stdio::start(command, tell)), told);
        agent.initialize();
        agent
    }

    /// An agent over HTTP.
    #[track_caller]
    pub fn http(url: &str, token: &str, name: &str, era: Era) -> Self {
        let (tell, told) = mpsc::channel();
        let http = Http::new(url, token, name, era, tell);
        if era == Era::Sessions {
            http.open(hello(name));
        }
        let agent = Self::with(name, Link::Http(http), told);
        if era == Era::Sessions {
            agent.notify("notifications/initialized");
        }
        agent
    }

    fn with(name: &str, link: Link, told: Receiver<Value>) -> Self {
        Self {
            name: name.to_owned(),
            link,
            next: AtomicU64::new(1),
            told: Mutex::new(told),
        }
    }

    #[track_caller]
    fn initialize(&self) {
        self.request("initialize", hello(&self.name)).unwrap();
        self.notify("notifications/initialized");
    }

    fn notify(&self, method: &str) {
        self.say(json!({ "jsonrpc": "2.0", "method": method }), None);
    }

    fn say(&self, message: Value, to: Option<Sender<Value>>) {
        match &self.link {
            Link::Stdio(stdio) => stdio.say(&message, to),
            Link::Http(http) => http.say(message, to),
        }
    }

    /// Asks for something under an id of the test's choice.
    pub fn send_as(&self, id: Value, method: &str, mut params: Value) -> Pending {
        params["_meta"]["progressToken"] = id.clone();
        let (tell, told) = mpsc::channel();
        let message =
            json!({ "jsonrpc": "2.0", "id": id.clone(), "method": method, "params": params });
        self.say(message, Some(tell));
        Pending { id, told }
    }

    /// Asks for something.
    pub fn send(&self, method: &str, params: Value) -> Pending {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.send_as(json!(id), method, params)
    }

    /// Asks for something and waits for the answer; an error of the protocol is the error.
    #[track_caller]
    pub fn request(&self, method: &str, params: Value) -> Result<Value, Value> {
        self.send(method, params).answer()
    }

    /// Begins to call a tool.
    pub fn start(&self, tool: &str, arguments: Value) -> Pending {
        self.send(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// Calls a tool.
    #[track_caller]
    pub fn call(&self, tool: &str, arguments: Value) -> Called {
        self.start(tool, arguments).called()
    }

    /// Calls a tool, which has to work.
    #[track_caller]
    pub fn does(&self, tool: &str, arguments: Value) -> Called {
        let called = self.call(tool, arguments);
        assert!(!called.is_error, "{tool}: {called:?}");
        called
    }

    /// Takes a device; answers its lease.
    #[track_caller]
    pub fn acquires(&self, device: &str) -> String {
        let taken = self.does("device_acquire", json!({ "device": device }));
        taken.data["lease"].as_str().unwrap().to_owned()
    }

    /// The names of the tools that it is offered.
    #[track_caller]
    pub fn tools(&self) -> Vec<String> {
        let listed = self.request("tools/list", json!({})).unwrap();
        let tools = listed["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Waits for a notification, whatever else it is told before.
    #[track_caller]
    pub fn is_told(&self, method: &str) -> Value {
        self.is_told_within(method, ANSWER_TIMEOUT)
            .unwrap_or_else(|| panic!("{} was not told of {method}", self.name))
    }

    /// Waits for a notification for so long.
    pub fn is_told_within(&self, method: &str, limit: Duration) -> Option<Value> {
        let (told, until) = (self.told.lock(), Instant::now() + limit);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = told.recv_timeout(left).ok()?;
            if message["method"] == method {
                return Some(message["params"].clone());
            }
        }
    }

    /// Listens for what is told unasked, over HTTP in a session.
    pub fn listen(&self) {
        if let Link::Http(http) = &self.link {
            http.listen();
        }
    }

    /// Ends its session over HTTP as the protocol says.
    #[track_caller]
    pub fn end_session(&self) {
        if let Link::Http(http) = &self.link {
            http.end();
        }
    }

    /// Its process is killed, or all its connections break off.
    pub fn kill(&self) {
        match &self.link {
            Link::Stdio(stdio) => stdio.kill(),
            Link::Http(http) => http.break_off(),
        }
    }

    /// What its process said on standard error, once it has ended; nothing over HTTP.
    pub fn ended(self) -> String {
        match self.link {
            Link::Stdio(stdio) => stdio.ended(),
            Link::Http(_) => String::new(),
        }
    }
}

fn hello(name: &str) -> Value {
    json!({
        "protocolVersion": SESSIONS,
        "capabilities": {},
        "clientInfo": { "name": name, "version": "1" },
    })
}

impl Pending {
    /// What it is told next on the way.
    #[track_caller]
    pub fn progress(&self) -> String {
        let told = self.told.recv_timeout(ANSWER_TIMEOUT).unwrap();
        assert_eq!(told["method"], "notifications/progress", "{told}");
        assert_eq!(told["params"]["progressToken"], self.id, "{told}");
        told["params"]["message"].as_str().unwrap().to_owned()
    }

    /// Waits until what it is told on the way has these words.
    #[track_caller]
    pub fn until_told(&self, words: &str) -> String {
        loop {
            let told = self.progress();
            if told.contains(words) {
                return told;
            }
        }
    }

    /// The answer, or `None` when nobody answers any more.
    #[track_caller]
    pub fn end(self) -> Option<Result<Value, Value>> {
        loop {
            let told = match self.told.recv_timeout(ANSWER_TIMEOUT) {
                Ok(told) => told,
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => panic!("{} is not answered", self.id),
            };
            if told.get("method").is_some() {
                continue;
            }
            assert_eq!(told["id"], self.id, "{told}");
            return Some(match told.get("error") {
                Some(error) => Err(error.clone()),
                None => Ok(told["result"].clone()),
            });
        }
    }

    /// The answer.
    #[track_caller]
    pub fn answer(self) -> Result<Value, Value> {
        self.end().expect("it hung up")
    }

    /// What the tool answered.
    #[track_caller]
    pub fn called(self) -> Called {
        let result = self.answer().unwrap_or_else(|error| panic!("{error}"));
        let texts = result["content"].as_array().into_iter().flatten();
        let texts: Vec<_> = texts.filter_map(|part| part["text"].as_str()).collect();
        Called {
            text: texts.join("\n"),
            data: result["structuredContent"].clone(),
            is_error: result["isError"] == true,
            result,
        }
    }
}
