//! Everything that an endpoint must refuse, tried on one endpoint after the other.

use packtrain_door::door::Tokens;

use super::wire::{Answer, Request, address, exchange};

/// A body that no endpoint takes amiss, and none does anything for.
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// An endpoint of a listener.
#[derive(Clone, Copy)]
pub(crate) struct Endpoint<'a> {
    /// `http://127.0.0.1:PORT`.
    pub(crate) base: &'a str,
    pub(crate) token: Token<'a>,
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) pages: Pages,
    /// Bytes of a body.
    pub(crate) most: usize,
}

/// What lets one in.
#[derive(Clone, Copy)]
pub(crate) enum Token<'a> {
    /// In `Authorization`.
    Bearer(&'a str),
    /// As the first segment of the path.
    InPath(&'a str),
    /// The endpoint asks for something of its own, or for nothing.
    None,
}

/// Whose pages it is for.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Pages {
    Loopback,
    Own,
    Nobody,
}

/// Tries everything; tells what went wrong, so nothing is what there has to be.
#[must_use]
pub(crate) fn matrix(endpoint: &Endpoint) -> Vec<String> {
    let mut tried = Tried {
        endpoint,
        wrong: Vec::new(),
    };
    tried.lets_in("what is fine", &endpoint.fine());
    hosts(&mut tried);
    origins(&mut tried);
    tokens(&mut tried);
    methods(&mut tried);
    if endpoint.method == "POST" {
        bodies(&mut tried);
    }
    tried.lets_in("what is fine after all that", &endpoint.fine());
    tried.wrong
}

impl Endpoint<'_> {
    fn port(&self) -> u16 {
        address(self.base)
            .rsplit(':')
            .next()
            .unwrap()
            .parse()
            .unwrap()
    }

    fn fine(&self) -> Request {
        let request = Request::new(self.base, self.method, self.path);
        let request = match self.token {
            Token::Bearer(token) => request.bearer(token),
            Token::InPath(_) | Token::None => request,
        };
        match self.method {
            "POST" => request.json(PING),
            _ => request.with("accept", "application/json, text/event-stream"),
        }
    }
}

struct Tried<'a> {
    endpoint: &'a Endpoint<'a>,
    wrong: Vec<String>,
}

impl Tried<'_> {
    fn ends(&mut self, what: &str, bytes: &[u8], is_right: impl Fn(&Answer) -> bool) {
        let Endpoint {
            base,
            method,
            path,
            token,
            ..
        } = self.endpoint;
        let answer = exchange(base, bytes);
        let (Token::Bearer(secret) | Token::InPath(secret)) = token else {
            return self.judge(what, &answer, is_right(&answer));
        };
        let is_told = format!("{}{}", answer.head, answer.body).contains(secret);
        let is_page = matches!(token, Token::InPath(_)) && answer.status == 200;
        if is_told && !is_page {
            self.wrong
                .push(format!("{method} {path}: {what}: the token is told"));
        }
        self.judge(what, &answer, is_right(&answer));
    }

    fn judge(&mut self, what: &str, answer: &Answer, is_right: bool) {
        let Endpoint { method, path, .. } = self.endpoint;
        if !is_right {
            let (status, body) = (answer.status, &answer.body);
            self.wrong
                .push(format!("{method} {path}: {what}: {status} {body}"));
        }
        if answer.head.contains("access-control-") {
            self.wrong
                .push(format!("{method} {path}: {what}: pages may read it"));
        }
    }

    fn refuses(&mut self, status: u16, what: &str, request: &Request) {
        self.ends(what, &request.bytes(), |answer| answer.status == status);
    }

    fn lets_in(&mut self, what: &str, request: &Request) {
        self.ends(what, &request.bytes(), |answer| {
            // Some are answered 401 by what is behind, which is by another name than the door's.
            let by_guard = [403, 405, 413, 415].contains(&answer.status);
            let is_unauthorized = answer.header("www-authenticate").is_some();
            !by_guard && !is_unauthorized
        });
    }
}

fn hosts(tried: &mut Tried) {
    let (fine, port) = (tried.endpoint.fine(), tried.endpoint.port());
    for bad in [
        format!("evil.test:{port}"),
        "evil.test".to_owned(),
        "127.0.0.1".to_owned(),
        "localhost".to_owned(),
        "[::1]".to_owned(),
        format!("127.0.0.1:{}", port ^ 1),
        format!("127.0.0.1:0{port}"),
        format!("localhost.:{port}"),
        format!("127.0.0.1.:{port}"),
        format!("localhost.evil.test:{port}"),
        format!("127.0.0.1.evil.test:{port}"),
        format!("localhost:{port}.evil.test"),
        format!("user@127.0.0.1:{port}"),
        format!("127.0.0.1:{port}@evil.test"),
        format!("evil.test, 127.0.0.1:{port}"),
        format!("0.0.0.0:{port}"),
        format!("127.1:{port}"),
        format!("127.0.0.2:{port}"),
        format!("2130706433:{port}"),
        format!("[::ffff:127.0.0.1]:{port}"),
        format!("[::]:{port}"),
        format!("http://127.0.0.1:{port}"),
        String::new(),
    ] {
        tried.refuses(
            403,
            &format!("host {bad:?}"),
            &fine.clone().only("host", &bad),
        );
    }
    tried.refuses(403, "no host", &fine.clone().without("host"));
    tried.refuses(
        403,
        "host in bytes",
        &fine.clone().only("host", [0xff, 0xfe]),
    );
    let own = format!("127.0.0.1:{port}");
    tried.refuses(403, "the host twice", &fine.clone().with("host", &own));
    tried.refuses(403, "two hosts", &fine.clone().with("host", "evil.test"));
    for target in [tried.endpoint.base, "http://evil.test"] {
        let absolute = Request {
            target: format!("{target}{}", tried.endpoint.path),
            ..fine.clone()
        };
        tried.refuses(403, &format!("absolute form of {target}"), &absolute);
    }
    for name in ["localhost", "[::1]", "LOCALHOST"] {
        let named = fine.clone().only("host", format!("{name}:{port}"));
        match tried.endpoint.pages {
            Pages::Own => tried.refuses(403, &format!("host {name}"), &named),
            Pages::Loopback | Pages::Nobody => tried.lets_in(&format!("host {name}"), &named),
        }
    }
}

fn origins(tried: &mut Tried) {
    let (fine, port) = (tried.endpoint.fine(), tried.endpoint.port());
    for bad in [
        "null".to_owned(),
        "http://evil.test".to_owned(),
        format!("http://evil.test:{port}"),
        format!("https://127.0.0.1:{port}"),
        format!("https://localhost:{port}"),
        format!("http://localhost.:{port}"),
        format!("http://localhost.evil.test:{port}"),
        format!("http://127.0.0.1.evil.test:{port}"),
        format!("http://localhost:{port}.evil.test"),
        format!("http://localhost:{port}@evil.test"),
        format!("http://evil.test@localhost:{port}"),
        format!("http://localhost:{port}/"),
        format!("http://localhost:{port}, http://evil.test"),
        "http://0.0.0.0:80".to_owned(),
        "http://[::1]evil.test".to_owned(),
        "file://".to_owned(),
        "chrome-extension://abcdefghijklmnop".to_owned(),
        format!("127.0.0.1:{port}"),
        String::new(),
    ] {
        tried.refuses(
            403,
            &format!("origin {bad:?}"),
            &fine.clone().with("origin", &bad),
        );
    }
    tried.refuses(
        403,
        "origin in bytes",
        &fine.clone().with("origin", [0xff, 0xfe]),
    );
    let own = tried.endpoint.base;
    let twice = fine.clone().with("origin", own).with("origin", own);
    tried.refuses(403, "the origin twice", &twice);
    let two = fine
        .clone()
        .with("origin", own)
        .with("origin", "http://evil.test");
    tried.refuses(403, "two origins", &two);
    let pages = tried.endpoint.pages;
    for (origin, is_fine) in [
        (own.to_owned(), pages != Pages::Nobody),
        ("http://localhost".to_owned(), pages == Pages::Loopback),
        ("http://localhost:6274".to_owned(), pages == Pages::Loopback),
        ("http://[::1]:5173".to_owned(), pages == Pages::Loopback),
    ] {
        let request = fine.clone().with("origin", &origin);
        match is_fine {
            true => tried.lets_in(&format!("origin {origin}"), &request),
            false => tried.refuses(403, &format!("origin {origin}"), &request),
        }
    }
    // As a page loads a picture: with no origin.
    for site in ["cross-site", "same-site"] {
        let request = fine.clone().with("sec-fetch-site", site);
        match pages {
            // A follower of a link to it comes from another page.
            Pages::Own => tried.lets_in(site, &request),
            Pages::Loopback | Pages::Nobody => tried.refuses(403, site, &request),
        }
    }
}

fn tokens(tried: &mut Tried) {
    let fine = tried.endpoint.fine();
    let without = fine.clone().without("authorization");
    match tried.endpoint.token {
        Token::None => {}
        Token::InPath(token) => {
            let other = "0".repeat(token.len());
            for bad in [&token[1..], &other, &token.to_uppercase(), ""] {
                let path = tried.endpoint.path.replace(token, bad);
                let request = Request {
                    target: path,
                    ..fine.clone()
                };
                tried.refuses(404, &format!("path of {bad:?}"), &request);
            }
            for bad in ["/", "/data.json", &format!("/{token}"), "//"] {
                let request = Request {
                    target: bad.to_owned(),
                    ..fine.clone()
                };
                tried.refuses(404, bad, &request);
            }
        }
        Token::Bearer(token) => {
            let foreign = Tokens::generate().unwrap();
            let signed = foreign.of("a").unwrap();
            let unauthorized = |answer: &Answer| {
                answer.status == 401 && answer.header("www-authenticate") == Some("bearer")
            };
            for bad in [
                String::new(),
                "Bearer".to_owned(),
                "Bearer ".to_owned(),
                format!("Basic {token}"),
                token.to_owned(),
                format!("Bearer {}", &token[1..]),
                format!("Bearer {token}0"),
                format!("Bearer {}", "0".repeat(token.len())),
                format!("Bearer {}", foreign.owner()),
                format!("Bearer {signed}"),
                format!("Bearer owner.{}", signed.split_once('.').unwrap().1),
                format!("Bearer a.{token}"),
                format!("Bearer a.{}", "é".repeat(32)),
                format!("Bearer {}", "a.".repeat(1000)),
                format!("Bearer {token} {token}"),
            ] {
                let what = format!("authorization {:.20?}", bad);
                let request = without.clone().with("authorization", &bad);
                tried.ends(&what, &request.bytes(), unauthorized);
            }
            tried.ends("no token", &without.bytes(), unauthorized);
            let twice = fine
                .clone()
                .with("authorization", format!("Bearer {token}"));
            tried.ends("the token twice", &twice.bytes(), unauthorized);
            for parameter in ["token", "access_token"] {
                let request = Request {
                    target: format!("{}?{parameter}={token}", tried.endpoint.path),
                    ..without.clone()
                };
                tried.ends("a token in the query", &request.bytes(), unauthorized);
            }
            let cookie = without.clone().with("cookie", format!("token={token}"));
            tried.ends("a token in a cookie", &cookie.bytes(), unauthorized);
        }
    }
}

fn methods(tried: &mut Tried) {
    let fine = tried.endpoint.fine();
    let of = |method: &str| Request {
        method: method.to_owned(),
        ..fine.clone()
    };
    for method in ["OPTIONS", "TRACE", "PUT", "PATCH", "HEAD", "BREW"] {
        tried.refuses(405, method, &of(method));
    }
    // What a page's browser asks before it sends a token: it has none to show.
    let asking = of("OPTIONS")
        .without("authorization")
        .with("access-control-request-method", "POST")
        .with(
            "access-control-request-headers",
            "authorization,content-type",
        )
        .with("access-control-request-private-network", "true");
    tried.refuses(405, "preflight", &asking);
    let evil = asking.with("origin", "http://evil.test");
    tried.refuses(403, "preflight of a page", &evil);
}

fn bodies(tried: &mut Tried) {
    let fine = tried.endpoint.fine();
    for bad in [
        "text/plain",
        "text/plain;charset=UTF-8",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "text/json",
        "text/plain; application/json",
        "",
    ] {
        let request = fine.clone().only("content-type", bad);
        tried.refuses(415, &format!("content type {bad:?}"), &request);
    }
    tried.refuses(
        415,
        "no content type",
        &fine.clone().without("content-type"),
    );
    let two = fine.clone().with("content-type", "text/plain");
    tried.refuses(415, "two content types", &two);
    for encoding in ["gzip", "deflate", "br", "identity, gzip"] {
        let packed = fine.clone().with("content-encoding", encoding);
        tried.refuses(415, encoding, &packed);
    }
    let over = fine.clone().json(vec![b' '; tried.endpoint.most + 1]);
    let too_large = |answer: &Answer| [413, 429].contains(&answer.status);
    tried.ends("a byte too many", &over.bytes(), too_large);
    tried.ends("a byte too many in chunks", &over.chunked(), too_large);
    let huge = fine.clone().with("content-length", "18446744073709551615");
    let mut said = huge.bytes();
    let own = format!("content-length: {}\r\n", PING.len());
    let own = own.as_bytes();
    let place = said
        .windows(own.len())
        .position(|part| part == own)
        .unwrap();
    said.drain(place..place + own.len());
    tried.ends("said to be huge", &said, |answer| {
        [400, 413, 429, 431].contains(&answer.status)
    });
    let deep = fine.clone().json("[".repeat(100_000));
    tried.ends("nested deep", &deep.bytes(), |answer| {
        (400..500).contains(&answer.status)
    });
    let cookies = fine.with("cookie", "a".repeat(1024 * 1024));
    tried.ends("a mebibyte of head", &cookies.bytes(), |answer| {
        answer.status == 431
    });
}
