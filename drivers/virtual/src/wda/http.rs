//! HTTP/1.1 as WebDriverAgent speaks it, which since version 16 is less than a web server does:
//! methods in any case, no `Host` needed, and the words `Expect` and `Transfer-Encoding` mean
//! nothing to it. Nor does `Connection` since 16; here it does as it did before, for clients that
//! read an answer to the end of the connection.
//!
//! Source: `FBHTTPServer.m` of <https://github.com/appium/WebDriverAgent>, 16.7.0. A phone takes
//! heads of any size and bodies up to a GiB; here both have a cap.

use std::io;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::request::decode;

/// The largest head a client may send; the connection ends after more.
const MAX_HEAD: usize = 64 * 1024;
/// The largest body a client may send: a picture for the pasteboard.
const MAX_BODY: u64 = 32 * 1024 * 1024;
/// How much is read at once, in bytes.
const PIECE: usize = 8 * 1024;
const HEAD_END: &[u8] = b"\r\n\r\n";

/// What a client sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Incoming {
    Request(Request),
    /// A body that is too large. It is on its way all the same, so the connection has to end.
    TooLarge,
}

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// In capital letters.
    pub(super) method: String,
    /// With percent signs taken apart.
    pub(super) path: String,
    /// Names and values of the query, in order.
    pub(super) query: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) framing: Framing,
    /// Whether the client wants the connection to end with the answer.
    pub(super) is_last: bool,
}

/// How the body is told from what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// By its length.
    Length,
    /// In chunks, of which WebDriverAgent knows nothing: it takes the body for empty and the first
    /// chunk for the next request, at which it hangs up.
    Chunked,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) kind: Kind,
    pub(super) body: Vec<u8>,
}

/// Which headers go with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The server's own words: none.
    Refusal,
    /// Those of every command.
    Page,
    /// Those of every command, and that it is JSON.
    Json,
}

/// One client.
pub(super) struct Connection<S> {
    stream: S,
    buffer: BytesMut,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(super) fn new(stream: S) -> Self {
        Self {
            stream,
            buffer: BytesMut::new(),
        }
    }

    /// What comes next; `None` when the client has left or says nothing one could understand.
    pub(super) async fn next(&mut self) -> io::Result<Option<Incoming>> {
        let Some(end) = self.head_end().await? else {
            return Ok(None);
        };
        let Some(head) = self.buffer.get(..end).and_then(Head::read) else {
            return Ok(None);
        };
        if head.length > MAX_BODY {
            return Ok(Some(Incoming::TooLarge));
        }
        let length = usize::try_from(head.length).unwrap_or_default();
        self.buffer.advance(end + HEAD_END.len());
        while self.buffer.len() < length {
            if self.hear().await? == 0 {
                return Ok(None);
            }
        }
        let body = self.buffer.split_to(length).to_vec();
        if self.buffer.is_empty() {
            // A client that waits holds no memory, whatever it sent.
            self.buffer = BytesMut::new();
        }
        Ok(Some(Incoming::Request(head.with(body))))
    }

    /// Where the head ends; `None` when it never does.
    async fn head_end(&mut self) -> io::Result<Option<usize>> {
        let mut searched = 0;
        loop {
            let unseen = self.buffer.get(searched..).unwrap_or_default();
            let found = unseen
                .windows(HEAD_END.len())
                .position(|part| part == HEAD_END);
            if let Some(at) = found {
                return Ok(Some(searched + at));
            }
            if self.buffer.len() > MAX_HEAD {
                return Ok(None);
            }
            searched = self.buffer.len().saturating_sub(HEAD_END.len() - 1);
            if self.hear().await? == 0 {
                return Ok(None);
            }
        }
    }

    /// Takes what has come, in pieces of a useful size; answers how much.
    async fn hear(&mut self) -> io::Result<usize> {
        self.buffer.reserve(PIECE);
        self.stream.read_buf(&mut self.buffer).await
    }

    /// Sends an answer, in one piece.
    pub(super) async fn answer(&mut self, response: &Response) -> io::Result<()> {
        self.stream.write_all(&response.bytes()).await?;
        self.stream.flush().await
    }
}

impl Response {
    fn bytes(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        if self.kind != Kind::Refusal {
            head.push_str(
                "Server: WebDriverAgent/1.0\r\n\
                 Access-Control-Allow-Origin: *\r\n\
                 Access-Control-Allow-Headers: Content-Type, X-Requested-With\r\n",
            );
        }
        if self.kind == Kind::Json {
            head.push_str("Content-Type: application/json;charset=UTF-8\r\n");
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", self.body.len()));
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Request Entity Too Large",
        500 => "Internal Server Error",
        _ => "Status",
    }
}

/// What stands before a body.
struct Head {
    method: String,
    target: String,
    length: u64,
    framing: Framing,
    is_last: bool,
}

impl Head {
    /// Reads a head without its end; `None` for one after which WebDriverAgent hangs up.
    fn read(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut lines = text.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let mut head = Self {
            method: words.next()?.to_uppercase(),
            target: words.next()?.to_owned(),
            length: 0,
            framing: Framing::Length,
            is_last: words.next() == Some("HTTP/1.0"),
        };
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            if name.eq_ignore_ascii_case("content-length") {
                head.length = length(value.trim());
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                head.framing = Framing::Chunked;
            } else if name.eq_ignore_ascii_case("connection") {
                head.is_last = value.trim().eq_ignore_ascii_case("close");
            }
        }
        Some(head)
    }

    fn with(self, body: Vec<u8>) -> Request {
        let (path, query) = target(&self.target);
        Request {
            method: self.method,
            path,
            query,
            body,
            framing: self.framing,
            is_last: self.is_last,
        }
    }
}

/// A number as Foundation reads one: the digits at the start, none are zero. A negative one becomes
/// far too large.
fn length(text: &str) -> u64 {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let (negative, digits) = match digits.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, digits),
    };
    let number = digits
        .bytes()
        .map_while(|digit| char::from(digit).to_digit(10))
        .fold(0_u64, |number, digit| {
            number.saturating_mul(10).saturating_add(u64::from(digit))
        });
    match (negative, number) {
        (true, 1..) => u64::MAX,
        (_, number) => number,
    }
}

/// Path and query of what stands behind the method, as `NSURLComponents` takes it apart; all of it
/// is the path when it cannot.
fn target(text: &str) -> (String, Vec<(String, String)>) {
    if !percent_signs_are_valid(text) {
        return (text.to_owned(), Vec::new());
    }
    let text = text.split_once('#').map_or(text, |(text, _)| text);
    let (path, query) = text.split_once('?').unwrap_or((text, ""));
    let query = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        })
        .collect();
    (decode(without_origin(path)), query)
}

/// A path without the `http://phone:8100` that may stand before it.
fn without_origin(text: &str) -> &str {
    let is_scheme = |scheme: &str| {
        let mut letters = scheme.chars();
        letters
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic())
            && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    };
    let text = match text.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => rest,
        Some(_) | None => text,
    };
    match text.strip_prefix("//") {
        Some(rest) => rest.find('/').and_then(|at| rest.get(at..)).unwrap_or(""),
        None => text,
    }
}

fn percent_signs_are_valid(text: &str) -> bool {
    text.split('%').skip(1).all(|after| {
        let digits = after.as_bytes().get(..2).unwrap_or_default();
        digits.len() == 2 && digits.iter().all(u8::is_ascii_hexdigit)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    async fn read(bytes: &[u8]) -> Vec<Incoming> {
        let (near, mut far) = tokio::io::duplex(1 << 20);
        far.write_all(bytes).await.unwrap();
        far.shutdown().await.unwrap();
        let mut connection = Connection::new(near);
        let mut all = Vec::new();
        while let Some(incoming) = connection.next().await.unwrap() {
            let over = incoming == Incoming::TooLarge;
            all.push(incoming);
            if over {
                break;
            }
        }
        all
    }

    fn paths(all: &[Incoming]) -> Vec<&str> {
        all.iter()
            .map(|incoming| match incoming {
                Incoming::Request(request) => request.path.as_str(),
                Incoming::TooLarge => "too large",
            })
            .collect()
    }

    #[tokio::test]
    async fn a_request_needs_no_more_than_a_method_and_a_path() {
        for bytes in [
            "get /status\r\n\r\n",
            "GET /status HTTP/1.0\r\nConnection: close\r\n\r\n",
            "GET http://phone:8100/status HTTP/1.1\r\nno colon\r\n\r\n",
            "GET /st%61tus#there HTTP/1.1\r\nContent-Length: none\r\n\r\n",
        ] {
            let all = read(bytes.as_bytes()).await;
            assert_eq!(paths(&all), ["/status"], "{bytes}");
            assert!(matches!(&all[0], Incoming::Request(r) if r.method == "GET"));
        }
    }

    #[tokio::test]
    async fn requests_behind_each_other_are_read_in_order() {
        let bytes = b"POST /a HTTP/1.1\r\ncontent-LENGTH:  4\r\n\r\n{\r\n}GET /b?x=1+2%20&y HTTP/1.1\r\n\r\n";
        let all = read(bytes).await;
        assert_eq!(paths(&all), ["/a", "/b"]);
        let [Incoming::Request(a), Incoming::Request(b)] = all.as_slice() else {
            panic!("two requests");
        };
        assert_eq!(a.body, b"{\r\n}");
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(b.query, [pair("x", "1+2 "), pair("y", "")]);
    }

    #[tokio::test]
    async fn what_is_no_request_ends_the_connection() {
        for bytes in [
            b"hello\r\n\r\nGET / HTTP/1.1\r\n\r\n".as_slice(),
            b"\r\nGET / HTTP/1.1\r\n\r\n",
            b"GET /\xff HTTP/1.1\r\n\r\n",
            b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nshort",
            &[b'x'; 2 * MAX_HEAD],
        ] {
            assert_eq!(read(bytes).await, []);
        }
    }

    #[tokio::test]
    async fn a_length_nobody_can_send_is_refused_before_the_body_comes() {
        for length in ["99999999999999999999", "-1", "33554433"] {
            let head = format!("POST /session HTTP/1.1\r\nContent-Length: {length}\r\n\r\n");
            assert_eq!(read(head.as_bytes()).await, [Incoming::TooLarge]);
        }
    }

    #[test]
    fn paths_are_taken_apart_as_foundation_does() {
        for (text, wanted) in [
            ("/a/b", "/a/b"),
            ("//host/a", "/a"),
            ("//status", ""),
            ("http://h", ""),
            ("/session/a:b", "/session/a:b"),
            ("/100%?x=1", "/100%?x=1"),
            ("/a%2Fb+c", "/a/b+c"),
            ("*", "*"),
        ] {
            assert_eq!(target(text).0, wanted, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in "\\PC{0,40}") {
            let _ = Head::read(&bytes).map(|head| head.with(Vec::new()));
            let _ = Head::read(text.as_bytes()).map(|head| head.with(Vec::new()));
            let _ = (target(&text), length(&text));
        }
    }
}
