//! The protocol over HTTP: a connection for each request, whose answer comes as JSON or as a stream of
//! events.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::agent::{Era, REQUESTS, SESSIONS};

/// An agent's way to a server.
pub(super) struct Http {
    shared: Arc<Shared>,
}

struct Shared {
    /// `127.0.0.1:40123`.
    address: String,
    path: String,
    token: String,
    name: String,
    era: Era,
    session: OnceLock<String>,
    tell: Sender<Value>,
    /// What is open, to be broken off.
    open: Mutex<HashMap<u64, TcpStream>>,
    next: AtomicU64,
}

/// An answer's head, and what its body is read from.
struct Answer {
    status: u16,
    head: String,
    body: Box<dyn BufRead + Send>,
    _open: Open,
}

/// A connection that is open.
struct Open(Arc<Shared>, u64);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.lock().remove(&self.1);
    }
}

impl Http {
    pub(super) fn new(url: &str, token: &str, name: &str, era: Era, tell: Sender<Value>) -> Self {
        let rest = url.strip_prefix("http://").unwrap();
        let (address, path) = rest.split_once('/').unwrap();
        Self {
            shared: Arc::new(Shared {
                address: address.to_owned(),
                path: format!("/{path}"),
                token: token.to_owned(),
                name: name.to_owned(),
                era,
                session: OnceLock::new(),
                tell,
                open: Mutex::default(),
                next: AtomicU64::new(0),
            }),
        }
    }

    /// Opens the session.
    #[track_caller]
    pub(super) fn open(&self, hello: Value) {
        let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello });
        let answer = self.shared.post(&message).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.head);
        let session = answer.header("mcp-session-id").unwrap().to_owned();
        answer.messages(|message| assert!(message.get("result").is_some(), "{message}"));
        self.shared.session.set(session).unwrap();
    }

    pub(super) fn say(&self, mut message: Value, to: Option<Sender<Value>>) {
        let shared = Arc::clone(&self.shared);
        if shared.era == Era::Requests {
            let meta = &mut message["params"]["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!(REQUESTS);
            meta["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": shared.name, "version": "1" });
            let declared = &mut meta["io.modelcontextprotocol/clientCapabilities"];
            if declared.is_null() {
                *declared = json!({});
            }
        }
        let Some(to) = to else {
            let answer = shared.post(&message).unwrap();
            assert_eq!(answer.status, 202, "{}", answer.head);
            return;
        };
        std::thread::spawn(move || {
            // One that broke off answers nobody.
            let Ok(answer) = shared.post(&message) else {
                return;
            };
            let (status, id) = (answer.status, message["id"].clone());
            let mut answered = None;
            answer.messages(|told| {
                if told.get("method").is_none() {
                    answered = Some(told);
                    return;
                }
                let is_own = told["params"]["progressToken"] == id;
                let to = if is_own { &to } else { &shared.tell };
                // A listener that has stopped does not mind.
                let _ = to.send(told);
            });
            if answered.is_none() && status != 200 {
                let error = json!({ "code": status, "message": format!("status {status}") });
                answered = Some(json!({ "id": id, "error": error }));
            }
            // Not before the connection's end: an agent that goes earlier may not have read its answer,
            // and the server gives it the benefit of the doubt.
            if let Some(answered) = answered {
                let _ = to.send(answered);
            }
        });
    }

    /// Listens for what is told unasked; it is heard when this returns.
    pub(super) fn listen(&self) {
        let shared = Arc::clone(&self.shared);
        let answer = shared.ask("GET", "", "").unwrap();
        assert_eq!(answer.status, 200, "{}", answer.head);
        // A body that breaks off ends the listening.
        std::thread::spawn(move || answer.messages(|told| drop(shared.tell.send(told))));
    }

    #[track_caller]
    pub(super) fn end(&self) {
        let answer = self.shared.ask("DELETE", "", "").unwrap();
        assert!((200..300).contains(&answer.status), "{}", answer.head);
    }

    /// Breaks off all that is open.
    pub(super) fn break_off(&self) {
        for open in self.shared.open.lock().values() {
            // It may have ended.
            let _ = open.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.break_off();
    }
}

impl Shared {
    fn post(self: &Arc<Self>, message: &Value) -> std::io::Result<Answer> {
        let mut more = String::from("Content-Type: application/json\r\n");
        if self.era == Era::Requests {
            let (method, params) = (message["method"].as_str().unwrap(), &message["params"]);
            more += &format!("Mcp-Method: {method}\r\n");
            let name = match method {
                "resources/read" => &params["uri"],
                _ if method.starts_with("tasks/") => &params["taskId"],
                _ => &params["name"],
            };
            if let Some(name) = name.as_str() {
                more += &format!("Mcp-Name: {name}\r\n");
            }
        }
        self.ask("POST", &more, &message.to_string())
    }

    fn ask(self: &Arc<Self>, method: &str, more: &str, body: &str) -> std::io::Result<Answer> {
        let mut stream = TcpStream::connect(&self.address)?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let open = Open(Arc::clone(self), number);
        self.open.lock().insert(number, stream.try_clone()?);
        let mut head = format!(
            "{method} {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n{more}",
            self.path,
            self.address,
            self.token,
            body.len()
        );
        let version = match self.era {
            Era::Sessions => SESSIONS,
            Era::Requests => REQUESTS,
        };
        match self.session.get() {
            Some(session) => {
                head +=
                    &format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: {version}\r\n");
            }
            None if self.era == Era::Requests => {
                head += &format!("MCP-Protocol-Version: {version}\r\n");
            }
            None => {}
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes())?;
        Answer::read(BufReader::new(stream), open)
    }
}

impl Answer {
    fn read(mut from: BufReader<TcpStream>, open: Open) -> std::io::Result<Self> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if from.read_line(&mut head)? == 0 {
                return Err(std::io::Error::other("it hung up"));
            }
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let is_chunked = head
            .to_ascii_lowercase()
            .contains("transfer-encoding: chunked");
        let body: Box<dyn BufRead + Send> = match is_chunked {
            true => Box::new(BufReader::new(Chunks { from, left: 0 })),
            false => Box::new(from),
        };
        Ok(Self {
            status,
            head,
            body,
            _open: open,
        })
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    }

    /// Its messages as they come, to its end.
    fn messages(mut self, mut on_message: impl FnMut(Value)) {
        if self.header("content-type") == Some("application/json") {
            let mut text = String::new();
            // What broke off is not an answer.
            let _ = self.body.read_to_string(&mut text);
            if let Ok(message) = serde_json::from_str(&text) {
                on_message(message);
            }
            return;
        }
        for line in self.body.lines().map_while(Result::ok) {
            let data = line.strip_prefix("data:").map(str::trim);
            if let Some(message) = data.and_then(|data| serde_json::from_str(data).ok()) {
                on_message(message);
            }
        }
    }
}

/// A body that comes in chunks.
struct Chunks {
    from: BufReader<TcpStream>,
    left: usize,
}

impl Read for Chunks {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        while self.left == 0 {
            let mut size = String::new();
            if self.from.read_line(&mut size)? == 0 {
                return Ok(0);
            }
            let size = size.trim();
            if size.is_empty() {
                // The end of the chunk before.
                continue;
            }
            self.left = usize::from_str_radix(size, 16).unwrap_or(0);
            if self.left == 0 {
                return Ok(0);
            }
        }
        let wanted = to.len().min(self.left);
        let read = self.from.read(&mut to[..wanted])?;
        self.left -= read;
        Ok(read)
    }
}
