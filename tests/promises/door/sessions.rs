//! Sessions on the front: whose they are, how many there may be, and when they end.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Barrier;
use std::sync::atomic::Ordering;
use std::time::Duration;

use packtrain_door::front::SessionLimits;
use packtrain_tests::until;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::rig::{Rig, call, initialize, said};
use super::wire::{Request, connect, read};

fn limits(changed: impl FnOnce(&mut SessionLimits)) -> SessionLimits {
    let mut limits = SessionLimits::default();
    changed(&mut limits);
    limits
}

fn deleting(rig: &Rig, token: &str, path: &str, session: &str) -> u16 {
    let request = Request::new(&rig.base, "DELETE", path).bearer(token);
    request
        .with("mcp-session-id", session)
        .send(&rig.base)
        .status
}

fn listening(rig: &Rig, token: &str, session: &str) -> Request {
    Request::new(&rig.base, "GET", "/mcp")
        .bearer(token)
        .with("accept", "text/event-stream")
        .with("mcp-session-id", session)
}

/// A listener, once it is heard.
fn listens(rig: &Rig, token: &str, session: &str) -> TcpStream {
    let mut connection = connect(&rig.base);
    let request = listening(rig, token, session);
    connection.write_all(&request.bytes()).unwrap();
    assert!(connection.read(&mut [0; 1024]).unwrap() > 0);
    connection
}

#[test]
fn a_session_is_there_for_whoever_opened_it_and_for_nobody_else() {
    let rig = Rig::new();
    let (a, b, owner) = (rig.token("a"), rig.token("b"), rig.tokens.owner());
    let session = rig.session(&a, "/mcp");
    for (token, path, session) in [
        (&*b, "/mcp", &*session),
        (owner, "/mcp", &session),
        (&a, "/mcp/smoke", &session),
        (&a, "/mcp", "00000000-0000-4000-8000-000000000000"),
        (&a, "/mcp", &session.to_uppercase()),
        (&a, "/mcp", "../../etc"),
    ] {
        let answer = rig.ask(token, path, session, &call(2, "tap"));
        assert_eq!(answer.status, 404, "{session}: {answer:?}");
        assert_eq!(deleting(&rig, token, path, session), 404, "{session}");
        let mut request = listening(&rig, token, session);
        request.target = path.to_owned();
        assert_eq!(request.send(&rig.base).status, 404, "{session}");
    }
    let other = rig.session(&b, "/mcp");
    let both = rig.asking(&a, "/mcp", &session, &call(2, "tap"));
    let both = both.with("mcp-session-id", &other).send(&rig.base);
    assert_eq!(both.status, 400, "{both:?}");
    let none = rig.ask(&a, "/mcp", "", &call(2, "tap"));
    assert_eq!(none.status, 400, "{none:?}");

    let told = said(&rig.ask(&a, "/mcp", &session, &call(2, "tap")));
    assert_eq!(told["principal"], "a");
    assert_eq!(told["session"], session);
    assert_eq!(told["toolset"], Value::Null);
    assert_eq!(deleting(&rig, &a, "/mcp", &session), 204);
    assert_eq!(rig.ended(), session);
    assert_eq!(deleting(&rig, &a, "/mcp", &session), 404);
    assert_eq!(rig.ask(&a, "/mcp", &session, &call(3, "tap")).status, 404);
    let told = said(&rig.ask(&b, "/mcp", &other, &call(2, "tap")));
    assert_eq!(told["principal"], "b");
    assert!(!rig.has_another_ended(), "each end is told once");
}

#[test]
fn answers_of_calls_with_the_same_ids_never_cross() {
    let rig = Rig::new();
    let tokens: Vec<_> = (0..8)
        .map(|place| rig.token(&format!("agent-{}", place % 4)))
        .collect();
    let together = Barrier::new(tokens.len());
    std::thread::scope(|scope| {
        for (place, token) in tokens.iter().enumerate() {
            let (rig, together) = (&rig, &together);
            scope.spawn(move || {
                let session = rig.session(token, "/mcp");
                together.wait();
                for id in 0..25 {
                    let tool = format!("tool-{place}-{id}");
                    let answer = rig.ask(token, "/mcp", &session, &call(id, &tool));
                    let told = said(&answer);
                    assert_eq!(answer.json()["id"], id);
                    assert_eq!(told["name"], tool);
                    assert_eq!(told["session"], session);
                    assert_eq!(told["principal"], format!("agent-{}", place % 4));
                }
            });
        }
    });
}

#[test]
fn a_flood_of_sessions_stays_within_its_caps() {
    let rig = Rig::with(
        limits(|limits| {
            limits.of_one = 6;
            limits.total = 12;
            limits.kept = 2;
        }),
        |policy| policy,
    );
    let (a, b) = (rig.token("a"), rig.token("b"));
    let flood = |token: &str| {
        let all = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        let asked = (0..40).map(|_| rig.ask(token, "/mcp", "", &initialize()));
                        asked.collect::<Vec<_>>()
                    })
                })
                .collect();
            let answers = threads.into_iter().map(|thread| thread.join().unwrap());
            answers.flatten().collect::<Vec<_>>()
        });
        for answer in all.iter().filter(|answer| answer.status != 200) {
            assert_eq!(answer.status, 429, "{answer:?}");
            assert!(answer.header("retry-after").is_some());
        }
        let opened = all
            .iter()
            .filter_map(|answer| answer.header("mcp-session-id"));
        opened.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let opened = flood(&a);
    assert_eq!(opened.len(), 6);
    assert_eq!(flood(&b).len(), 4);
    assert_eq!(rig.sessions.count(), 10);
    // What is refused leaves nothing behind.
    until(|| rig.handlers.alive.load(Ordering::SeqCst) == 10);
    for session in &opened {
        assert_eq!(deleting(&rig, &a, "/mcp", session), 204);
    }
    assert_eq!(flood(&b).len(), 2, "one's own cap holds");
    until(|| rig.handlers.alive.load(Ordering::SeqCst) == 6);
    rig.session(&a, "/mcp");
    assert_eq!(
        flood(&a).len(),
        3,
        "what is kept for the owner is not theirs"
    );
    assert_eq!(flood(rig.tokens.owner()).len(), 2);
}

#[test]
fn a_session_listens_often_enough_and_others_are_not_shut_out() {
    let rig = Rig::with(limits(|limits| limits.listeners = 2), |policy| policy);
    let token = rig.token("a");
    let (session, other) = (rig.session(&token, "/mcp"), rig.session(&token, "/mcp"));
    let first = listens(&rig, &token, &session);
    let second = listens(&rig, &token, &session);
    let third = listening(&rig, &token, &session).send(&rig.base);
    assert_eq!(third.status, 429, "{third:?}");
    let elsewhere = listens(&rig, &token, &other);
    drop((first, second, elsewhere));
}

#[test]
fn who_is_answered_after_it_stopped_listening_is_not_given_up_at_once() {
    let rig = Rig::with(
        limits(|limits| {
            limits.lost = Duration::ZERO;
            limits.doubtful = Duration::from_secs(3600);
        }),
        |policy| policy,
    );
    let token = rig.token("a");
    let session = rig.session(&token, "/mcp");
    let listener = listens(&rig, &token, &session);
    let mut waiting = connect(&rig.base);
    let request = rig.asking(&token, "/mcp", &session, &call(2, "wait"));
    waiting.write_all(&request.bytes()).unwrap();
    until(|| rig.handlers.waiting.load(Ordering::SeqCst) == 1);
    drop(listener);
    // Another one that stops listening is given up: so this one was noticed to have stopped.
    let gone = |rig: &Rig| {
        let other = rig.session(&token, "/mcp");
        drop(listens(rig, &token, &other));
        assert_eq!(rig.ended(), other);
    };
    gone(&rig);
    rig.handlers.go_on.as_ref().unwrap().add_permits(1);
    assert_eq!(said(&read(&mut waiting))["session"], session);
    gone(&rig);
    let answer = rig.ask(&token, "/mcp", &session, &call(3, "tap"));
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
fn the_session_of_a_killed_listener_ends_within_five_seconds() {
    let rig = Rig::new();
    let token = rig.token("a");
    let (session, other) = (rig.session(&token, "/mcp"), rig.session(&token, "/mcp"));
    for session in [&session, &other] {
        assert_eq!(
            rig.ask(&token, "/mcp", session, &call(2, "tap")).status,
            200
        );
    }
    let listen = |session: &str| listens(&rig, &token, session);
    let (killed, lives) = (listen(&session), listen(&other));
    drop(killed);
    let since = Instant::now();
    assert_eq!(rig.ended(), session);
    assert!(since.elapsed() < Duration::from_secs(5));
    assert_eq!(rig.ask(&token, "/mcp", &other, &call(3, "tap")).status, 200);
    drop(lives);
}

#[test]
fn a_long_silent_call_keeps_its_session_and_a_silent_client_loses_it() {
    let rig = Rig::with(
        limits(|limits| {
            limits.idle = Duration::from_millis(100);
            limits.unused = Duration::from_millis(100);
        }),
        |policy| policy,
    );
    let token = rig.token("a");
    let session = rig.session(&token, "/mcp");
    let mut waiting = connect(&rig.base);
    let request = rig.asking(&token, "/mcp", &session, &call(2, "wait"));
    waiting.write_all(&request.bytes()).unwrap();
    until(|| rig.handlers.waiting.load(Ordering::SeqCst) == 1);
    // Three others come and go by their silence meanwhile.
    for _ in 0..3 {
        let unused = rig.ask(&token, "/mcp", "", &initialize());
        let unused = unused.header("mcp-session-id").unwrap();
        assert_eq!(rig.ended(), unused);
    }
    rig.handlers.go_on.as_ref().unwrap().add_permits(1);
    assert_eq!(said(&read(&mut waiting))["session"], session);
    assert_eq!(rig.ended(), session);
}

#[test]
fn a_session_can_be_ended_from_here_and_its_call_hears_of_it() {
    let rig = Rig::new();
    let token = rig.token("a");
    let session = rig.session(&token, "/mcp");
    let mut waiting = connect(&rig.base);
    let request = rig.asking(&token, "/mcp", &session, &call(2, "wait"));
    waiting.write_all(&request.bytes()).unwrap();
    until(|| rig.handlers.waiting.load(Ordering::SeqCst) == 1);
    assert!(rig.runtime.block_on(rig.sessions.close(&session)));
    assert!(!rig.runtime.block_on(rig.sessions.close(&session)));
    assert_eq!(rig.ended(), session);
    let answer = read(&mut waiting);
    assert!(!answer.body.contains("\"result\""), "{answer:?}");
    assert_eq!(
        rig.ask(&token, "/mcp", &session, &call(3, "tap")).status,
        404
    );
}

/// A request of the revision 2026-07-28.
fn modern(rig: &Rig, token: &str, path: &str, tool: &str) -> Request {
    let mut message = call(1, tool);
    message["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    });
    rig.asking(token, path, "", &message)
        .with("mcp-protocol-version", "2026-07-28")
        .with("mcp-method", "tools/call")
        .with("mcp-name", tool)
}

#[test]
fn without_sessions_each_request_has_its_principal_and_headers_that_say_what_is_in_it() {
    let rig = Rig::new();
    let (a, b) = (rig.token("a"), rig.token("b"));
    let told = said(&modern(&rig, &a, "/mcp", "tap").send(&rig.base));
    assert_eq!(told["principal"], "a");
    assert_eq!(told["session"], Value::Null);
    let told = said(&modern(&rig, &b, "/mcp/smoke", "tap").send(&rig.base));
    assert_eq!(
        (&told["principal"], &told["toolset"]),
        (&json!("b"), &json!("smoke"))
    );
    // Another's session is nothing to it.
    let session = rig.session(&b, "/mcp");
    let told = modern(&rig, &a, "/mcp", "tap").with("mcp-session-id", &session);
    assert_eq!(said(&told.send(&rig.base))["principal"], "a");
    for (header, value) in [
        ("mcp-name", "reset"),
        ("mcp-method", "tools/list"),
        ("mcp-protocol-version", "2025-11-25"),
    ] {
        let smuggled = modern(&rig, &a, "/mcp", "tap").only(header, value);
        let answer = smuggled.send(&rig.base);
        assert_eq!(answer.status, 400, "{header}: {answer:?}");
        assert_eq!(answer.json()["error"]["code"], -32020, "{answer:?}");
    }
    assert_eq!(rig.sessions.count(), 1);
}

#[test]
fn a_toolsets_endpoint_is_a_name_and_no_path() {
    let rig = Rig::new();
    let owner = rig.tokens.owner();
    for path in [
        "/mcp/none",
        "/mcp/../mcp",
        "/mcp/..",
        "/mcp/%2e%2e",
        "/mcp/..%2f..%2fetc%2fpasswd",
        "/mcp/smoke%00",
        "/mcp/smoke/",
        "/mcp/smoke/more",
        "/mcp/SMOKE",
        "/mcp/s",
        "/mcp/%ff",
        "/mcp//",
        "/mcp/",
        &format!("/mcp/{}", "a".repeat(51)),
    ] {
        let answer = rig.ask(owner, path, "", &initialize());
        assert!([400, 404].contains(&answer.status), "{path}: {answer:?}");
        assert!(!answer.body.contains("etc"), "{answer:?}");
    }
    assert_eq!(rig.sessions.count(), 0);
    let session = rig.session(owner, "/mcp/smoke");
    let told = said(&rig.ask(owner, "/mcp/smoke", &session, &call(2, "tap")));
    assert_eq!(
        (&told["principal"], &told["toolset"]),
        (&json!("owner"), &json!("smoke"))
    );
}
