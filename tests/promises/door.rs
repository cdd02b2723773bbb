//! The one guarded door: what comes in by no listener of ours, whatever it says and however it comes.
//! docs/security.md names these tests.

mod browser;
pub(crate) mod matrix;
mod rig;
mod sessions;
mod wire;

use std::io::{ErrorKind, Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use packtrain_door::door::{Admits, Door, Limits, Policy, Tokens};
use packtrain_door::front::SessionLimits;
use packtrain_tests::{ended, until};

use self::matrix::{Endpoint, Pages, Token, matrix};
use self::rig::{Rig, runtime};
use self::wire::{Request, address, connect, exchange, parsed, read};
use crate::live::{Gate, standing};

const MEBIBYTE: usize = 1024 * 1024;

#[track_caller]
fn refuses(endpoints: &[Endpoint]) {
    let wrong: Vec<_> = endpoints.iter().flat_map(matrix).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_for_agents_refuses_other_hosts_pages_tokens_methods_and_bodies() {
    let rig = Rig::new();
    let agent = rig.token("a");
    let of = |method, path| Endpoint {
        base: &rig.base,
        token: Token::Bearer(&agent),
        method,
        path,
        pages: Pages::Loopback,
        most: 4 * MEBIBYTE,
    };
    refuses(&[
        of("POST", "/mcp"),
        of("DELETE", "/mcp"),
        of("GET", "/mcp?x=y"),
        of("POST", "/mcp/smoke"),
        Endpoint {
            token: Token::Bearer(rig.tokens.owner()),
            ..of("GET", "/mcp/smoke")
        },
        of("POST", "/nothing/here"),
    ]);
    // What is refused makes no handler, and no session.
    assert_eq!(rig.sessions.count(), 0);
}

#[test]
fn health_needs_no_token_and_tells_nothing() {
    let rig = Rig::new();
    let endpoint = Endpoint {
        base: &rig.base,
        token: Token::None,
        method: "GET",
        path: "/health",
        pages: Pages::Loopback,
        most: 0,
    };
    refuses(&[endpoint]);
    let answer = Request::new(&rig.base, "GET", "/health").send(&rig.base);
    assert_eq!((answer.status, &*answer.body), (200, "ok"));
    assert_eq!(answer.header("server"), None);
    for path in ["/health/", "/health/x", "//health", "/Health", "/health%2f"] {
        let answer = Request::new(&rig.base, "GET", path).send(&rig.base);
        assert_eq!(answer.status, 401, "{path}");
    }
}

#[test]
fn callbacks_and_commands_refuse_other_hosts_pages_methods_and_bodies() {
    let runtime = runtime();
    let (base, serving) = rig::callbacks(&runtime);
    let of = |method, path| Endpoint {
        base: &base,
        token: Token::None,
        method,
        path,
        pages: Pages::Nobody,
        most: MEBIBYTE,
    };
    refuses(&[
        of("POST", "/scripting/callback"),
        of("POST", "/packtrain.v1.Commands/Tap"),
        of("GET", "/packtrain.v1.Screens/1.png"),
    ]);
    runtime.block_on(serving.close());
}

#[test]
fn the_live_page_refuses_other_hosts_pages_addresses_and_methods() {
    let gate = Gate::closed();
    let (_lab, child, url) = standing(&gate);
    let (base, token) = url.trim_end_matches('/').rsplit_once('/').unwrap();
    let paths = ["", "data.json"].map(|path| format!("/{token}/{path}"));
    for path in &paths {
        refuses(&[Endpoint {
            base,
            token: Token::InPath(token),
            method: "GET",
            path,
            pages: Pages::Own,
            most: 0,
        }]);
    }
    gate.open();
    ended(child).expect(1);
}

#[test]
fn a_token_is_of_one_name_and_one_secret() {
    let (tokens, other) = (Tokens::generate().unwrap(), Tokens::generate().unwrap());
    assert_eq!(tokens.owner().len(), 64);
    assert_ne!(tokens.owner(), other.owner());
    assert_ne!(tokens.of("a"), other.of("a"));
    assert_ne!(tokens.of("a"), tokens.of("b"));
    let again = Tokens::of_secret(tokens.owner().to_owned());
    assert_eq!(tokens.of("a"), again.of("a"), "nothing has to be kept");
    let long = "a".repeat(65);
    for name in ["", "owner", "a.b", "a b", "ä", "a\n", "../a", &long] {
        assert_eq!(tokens.of(name), None, "{name:?}");
    }
    assert!(!format!("{tokens:?}").contains(tokens.owner()));
}

/// A door with nothing behind it but what answers how long a body is.
fn echo(runtime: &tokio::runtime::Runtime, policy: Policy) -> (String, impl Sized + use<>) {
    let door = runtime.block_on(Door::bind(policy)).unwrap();
    let base = door.base_url();
    let answer = |body: Bytes| async move { Body::from(body.len().to_string()) };
    let entered = runtime.enter();
    let serving = door.serve(Router::new().fallback(answer));
    drop(entered);
    (base, serving)
}

fn limited(limits: impl FnOnce(&mut Limits)) -> Policy {
    let mut policy = Policy::callbacks();
    limits(&mut policy.limits);
    policy
}

#[test]
fn slow_heads_and_endless_bodies_are_given_up() {
    const SHORT: Duration = Duration::from_millis(200);
    let runtime = runtime();
    let policy = limited(|limits| {
        limits.head_timeout = SHORT;
        limits.body_timeout = SHORT;
        limits.connections = 16;
    });
    let (base, _serving) = echo(&runtime, policy);
    let head = "POST / HTTP/1.1\r\nContent-Type: application/json\r\n";
    let host = address(&base);
    // As many as there is room for, in several ways.
    let mut slow: Vec<_> = (0..16)
        .map(|place| {
            let mut connection = connect(&base);
            let said = match place % 4 {
                0 => String::new(),
                1 => head.to_owned(),
                2 => format!("{head}Host: {host}\r\nContent-Length: 10\r\n\r\nx"),
                _ => format!("{head}Host: {host}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"),
            };
            connection.write_all(said.as_bytes()).unwrap();
            (place % 4, connection)
        })
        .collect();
    for (kind, connection) in &mut slow {
        let mut bytes = Vec::new();
        let ended = connection.read_to_end(&mut bytes);
        let was_held = ended.is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        assert!(!was_held, "nobody gave it up: {kind}");
        match kind {
            0 | 1 => assert!(bytes.is_empty() || parsed(&bytes).status == 408, "{kind}"),
            _ => assert_eq!(parsed(&bytes).status, 408, "{kind}"),
        }
    }
    let fine = Request::new(&base, "POST", "/").json("1234");
    assert_eq!(fine.send(&base).body, "4");
}

#[test]
fn a_body_may_come_in_pieces_but_not_for_ever() {
    let runtime = runtime();
    let (base, _serving) = echo(&runtime, limited(|limits| limits.body = 1000));
    let request = Request::new(&base, "POST", "/").json(vec![b'x'; 1000]);
    assert_eq!(exchange(&base, &request.chunked()).body, "1000");
    let mut connection = connect(&base);
    for piece in request.bytes().chunks(7) {
        connection.write_all(piece).unwrap();
    }
    assert_eq!(read(&mut connection).body, "1000");
    // A client that goes on and on is told, and then cut off.
    let mut endless = connect(&base);
    let head = request.without("x").chunked();
    endless.write_all(&head[..head.len() - 5]).unwrap();
    let chunk = [b"10000\r\n", &[b'x'; 65536][..], b"\r\n"].concat();
    let mut sent = 0;
    while endless.write_all(&chunk).is_ok() {
        sent += chunk.len();
        assert!(sent < 64 * MEBIBYTE, "it reads for ever");
    }
}

#[test]
fn connections_have_a_cap_and_places_become_free_again() {
    let runtime = runtime();
    let (base, _serving) = echo(&runtime, limited(|limits| limits.connections = 8));
    let fine = Request::new(&base, "POST", "/").json("1234");
    let stays = format!(
        "POST / HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 1\r\n\r\n1",
        address(&base)
    );
    let crowd: Vec<_> = (0..8)
        .map(|_| {
            let mut connection = connect(&base);
            connection.write_all(stays.as_bytes()).unwrap();
            assert!(connection.read(&mut [0; 1024]).unwrap() > 0);
            connection
        })
        .collect();
    for _ in 0..20 {
        let mut connection = connect(&base);
        assert_eq!(
            connection.read(&mut [0]).unwrap_or(0),
            0,
            "there is no room"
        );
    }
    drop(crowd);
    until(|| {
        let mut connection = connect(&base);
        let mut bytes = Vec::new();
        let _ = connection.write_all(&fine.bytes());
        let _ = connection.read_to_end(&mut bytes);
        !bytes.is_empty() && parsed(&bytes).status == 200
    });
}

#[test]
fn who_connects_and_says_nothing_makes_room_for_who_comes_next() {
    let rig = Rig::with(SessionLimits::default(), |mut policy| {
        policy.limits.connections = 16;
        policy
    });
    let silent: Vec<_> = (0..200).map(|_| connect(&rig.base)).collect();
    // Nor does it help to be refused.
    let refused = Request::new(&rig.base, "GET", "/mcp").bearer("guessed");
    for token in [rig.tokens.owner(), &rig.token("a")] {
        assert_eq!(refused.send(&rig.base).status, 401);
        rig.session(token, "/mcp");
    }
    drop(silent);
}

#[test]
fn requests_have_a_cap_for_each_principal() {
    let rig = Rig::with(SessionLimits::default(), |mut policy| {
        policy.limits.rate = 5;
        policy
    });
    let (a, b) = (rig.token("a"), rig.token("b"));
    let ask = |token: &str| {
        Request::new(&rig.base, "GET", "/x")
            .bearer(token)
            .send(&rig.base)
    };
    let refused = (0..200)
        .map(|_| ask(&a))
        .find(|answer| answer.status != 404);
    let refused = refused.expect("there is no cap");
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(ask(&b).status, 404, "the cap is each one's own");
    // A client without a token spends no other client's budget.
    let nobody = (0..50).all(|_| ask("x").status == 401);
    assert!(nobody && ask(&b).status == 404);
}

#[test]
fn a_door_closes_though_somebody_holds_it() {
    let mut rig = Rig::new();
    let token = rig.token("a");
    let session = rig.session(&token, "/mcp");
    // A call that does not end, a listener, half a request, and nothing at all.
    let asking = rig.asking(&token, "/mcp", &session, &rig::call(2, "wait"));
    let mut called = connect(&rig.base);
    called.write_all(&asking.bytes()).unwrap();
    let mut idle = connect(&rig.base);
    let mut half = connect(&rig.base);
    half.write_all(b"GET /hea").unwrap();
    let handlers = Arc::clone(&rig.handlers);
    until(|| handlers.waiting.load(std::sync::atomic::Ordering::SeqCst) == 1);
    rig.close();
    let mut bytes = Vec::new();
    for connection in [&mut called, &mut idle, &mut half] {
        let _ = connection.read_to_end(&mut bytes);
    }
    until(|| rig.sessions.count() == 0);
    assert!(std::net::TcpStream::connect(address(&rig.base)).is_err());
}

#[test]
fn a_policy_lets_nobody_in_by_mistake() {
    let tokens = Tokens::generate().unwrap();
    let open = match Policy::agents(tokens).admits {
        Admits::Bearer { open, .. } => open,
        Admits::Path(_) | Admits::Proven => panic!("agents have tokens"),
    };
    assert_eq!(open, ["/health"]);
}

#[test]
fn every_threat_names_a_test_that_exists() {
    let page = std::fs::read_to_string(packtrain_tests::repository().join("docs/security.md"));
    let page = page.unwrap();
    let (_, threats) = page.split_once("\n## Threats\n").unwrap();
    let rows: Vec<_> = threats
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| threat"))
        .collect();
    assert!(rows.len() >= 12, "{rows:#?}");
    let mut tests = String::new();
    for folder in ["tests/promises", "orchestrator", "drivers"] {
        collect(&packtrain_tests::repository().join(folder), &mut tests);
    }
    for row in rows {
        let last = row.trim_end_matches('|').rsplit('|').next().unwrap();
        let names: Vec<_> = last.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test: {row}");
        for name in names {
            assert!(tests.contains(&format!("fn {name}(")), "{name}: {row}");
        }
    }
}

fn collect(folder: &std::path::Path, tests: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, tests);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            tests.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}
