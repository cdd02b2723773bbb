//! Requests as they are written here, byte by byte: a client would not send what must be refused.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// How long an answer may take before a test fails.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// What was answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// Status line and headers, in lower case.
    pub(super) head: String,
    pub(super) body: String,
}

impl Answer {
    /// The value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(given, _)| *given == name).map(|(_, v)| v)
    }

    /// The JSON of the body, or of the last event of one that is a stream.
    pub(super) fn json(&self) -> Value {
        let events = self.body.lines();
        let data = events.filter_map(|line| line.strip_prefix("data:"));
        let last = data.map(str::trim).rfind(|data| !data.is_empty());
        serde_json::from_str(last.unwrap_or(&self.body)).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

/// `host:port` of a base URL.
pub(super) fn address(base: &str) -> &str {
    base.strip_prefix("http://").unwrap()
}

pub(super) fn connect(base: &str) -> TcpStream {
    let connection = TcpStream::connect(address(base)).unwrap();
    connection.set_read_timeout(Some(ANSWER_TIMEOUT)).unwrap();
    connection
}

/// Sends it, and reads what is answered until the connection ends.
pub(super) fn exchange(base: &str, request: &[u8]) -> Answer {
    let mut connection = connect(base);
    // A server that refuses does not have to read it all.
    let _ = connection.write_all(request);
    read(&mut connection)
}

/// Reads until the connection ends.
pub(super) fn read(connection: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    // What was read before it was torn down counts.
    let _ = connection.read_to_end(&mut bytes);
    parsed(&bytes)
}

pub(super) fn parsed(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("no answer: {text:?}"));
    let head = head.to_lowercase();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let is_chunked = head.contains("transfer-encoding: chunked");
    let body = if is_chunked {
        joined(body)
    } else {
        body.to_owned()
    };
    Answer { status, head, body }
}

/// Chunks without what says how long they are.
fn joined(mut chunked: &str) -> String {
    let mut body = String::new();
    while let Some((length, rest)) = chunked.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        let Some(chunk) = rest.get(..length) else {
            break;
        };
        body.push_str(chunk);
        chunked = rest[length..].trim_start_matches("\r\n");
    }
    body
}

/// A request whose parts can be changed one at a time.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) headers: Vec<(String, Vec<u8>)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    pub(super) fn new(base: &str, method: &str, path: &str) -> Self {
        let request = Self {
            method: method.to_owned(),
            target: path.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
        };
        request.with("host", address(base))
    }

    /// With one header more.
    pub(super) fn with(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers
            .push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// With one header only of this name.
    pub(super) fn only(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.without(name).with(name, value)
    }

    pub(super) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(given, _)| given != name);
        self
    }

    pub(super) fn bearer(self, token: &str) -> Self {
        self.only("authorization", format!("Bearer {token}"))
    }

    pub(super) fn json(mut self, body: impl AsRef<[u8]>) -> Self {
        self.body = body.as_ref().to_vec();
        self.only("content-type", "application/json")
            .only("accept", "application/json, text/event-stream")
    }

    fn head(&self) -> Vec<u8> {
        let mut bytes = format!("{} {} HTTP/1.1\r\n", self.method, self.target).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        bytes.extend(b"connection: close\r\n");
        bytes
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head();
        if !self.body.is_empty() || self.method == "POST" {
            bytes.extend(format!("content-length: {}\r\n", self.body.len()).bytes());
        }
        bytes.extend(b"\r\n");
        bytes.extend(&self.body);
        bytes
    }

    /// In one chunk, which says nothing of the length of the whole.
    pub(super) fn chunked(&self) -> Vec<u8> {
        let mut bytes = self.head();
        bytes.extend(b"transfer-encoding: chunked\r\n\r\n");
        bytes.extend(format!("{:x}\r\n", self.body.len()).bytes());
        bytes.extend(&self.body);
        bytes.extend(b"\r\n0\r\n\r\n");
        bytes
    }

    pub(super) fn send(&self, base: &str) -> Answer {
        exchange(base, &self.bytes())
    }
}
