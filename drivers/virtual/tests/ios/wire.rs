//! HTTP as a phone speaks it, which is less than a web server does: a client that needs more must
//! not get it here either. One thing it gets: `100 Continue`, which hyper sends to who waits for it.

use packtrain_testing::SHOP;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::bench::Bench;

/// Sends bytes on a connection of their own; answers what comes back until the phone hangs up.
async fn exchange(bench: &Bench, bytes: &str) -> String {
    let mut stream = TcpStream::connect(bench.phone().wda_address())
        .await
        .unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = Vec::new();
    // A phone that hangs up early resets the connection.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).expect("text")
}

#[tokio::test]
async fn a_body_in_chunks_counts_as_none_and_ends_the_connection() {
    let bench = Bench::new().await;
    let body = json!({"capabilities": {"alwaysMatch": {"bundleId": SHOP}}}).to_string();
    let request = format!(
        "POST /session HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    );
    assert_eq!(exchange(&bench, &request).await, "");
    let status = bench.client().await.get("/status").await;
    assert_eq!(
        status.body["sessionId"],
        Value::Null,
        "no session was made of it"
    );
    bench.end().await;
}

#[tokio::test]
async fn a_connection_ends_with_an_answer_only_when_the_client_asks_for_it() {
    let bench = Bench::new().await;
    for (head, answered) in [
        ("HTTP/1.1\r\n\r\n", 3),
        ("HTTP/1.1\r\nConnection: keep-alive\r\n\r\n", 3),
        ("HTTP/1.1\r\nConnection: close\r\n\r\n", 1),
        ("HTTP/1.0\r\n\r\n", 1),
    ] {
        let requests = format!("GET /wda/locked {head}").repeat(3);
        let answers = exchange(&bench, &requests).await;
        let count = answers.matches(" 200 OK\r\n").count();
        assert_eq!(count, answered, "{head}");
    }
    bench.end().await;
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_before_it_is_sent() {
    let bench = Bench::new().await;
    let head = "POST /session HTTP/1.1\r\nContent-Length: 2000000000\r\n\r\n";
    let answer = exchange(&bench, head).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    bench.end().await;
}

#[tokio::test]
async fn every_route_is_a_command_and_every_other_path_is_noted() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    for route in include_str!("../../src/wda/routes.txt").lines() {
        let words: Vec<_> = route.split_whitespace().collect();
        let &[scope, method, path, command] = words.as_slice() else {
            panic!("{route}");
        };
        if ["delete_session", "create_session", "shutdown"].contains(&command) {
            continue;
        }
        let path = match scope {
            "session" => format!("/session/{}{path}", client.session()),
            _ => path.to_owned(),
        };
        let answer = client.send(method, &path, json!({})).await.unwrap();
        assert_ne!(answer.body["value"]["message"], "", "{route}");
    }
    assert_eq!(bench.phone().device().unhandled(), []);
    let asked = json!({"using": "predicate string", "value": "label.length == 5"});
    client.post("/element", asked).await;
    for (method, path) in [
        ("HEAD", "/status"),
        ("PATCH", "/status"),
        ("GET", "/no%20pe"),
        (
            "POST",
            "/session/A7D034EA-828F-4867-A843-9D625BFB215E/element/00000000-0000-0000-7710-000000000000/nope",
        ),
    ] {
        client.send(method, path, Value::Null).await;
    }
    let noted = bench.phone().device().unhandled();
    let noted: Vec<_> = noted.iter().map(|(request, _)| request.as_str()).collect();
    assert_eq!(
        noted,
        [
            "GET /no pe",
            "HEAD /status",
            "PATCH /status",
            "POST /session/:session/element/:element/nope",
            "POST /session/:session/element: an element is not key value coding-compliant for the key length"
        ]
    );
    bench.end().await;
}

#[tokio::test]
async fn a_method_in_small_letters_and_a_whole_address_will_do() {
    let bench = Bench::new().await;
    for asked in ["get /wda/locked", "GET http://phone:8100/wda/locked"] {
        let answer = exchange(&bench, &format!("{asked} HTTP/1.0\r\n\r\n")).await;
        assert!(answer.contains(" 200 OK\r\n"), "{asked}: {answer}");
    }
    bench.end().await;
}

#[tokio::test]
async fn what_this_system_cannot_do_is_refused_in_its_words() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    for (path, wanted) in [
        ("/wda/video/start", "requires an iOS 17+ runtime"),
        ("/wda/voiceOver/enable", "requires an iOS 27+ runtime"),
        ("/wda/voiceOver/move", "requires an iOS 27+ runtime"),
        (
            "/wda/performAccessibilityAudit",
            "only supported since iOS 17",
        ),
    ] {
        let answer = client.post(path, json!({"direction": "in"})).await;
        let message = answer.is_error(500, "unknown error");
        assert!(message.contains(wanted), "{path}: {message}");
    }
    bench.end().await;
}

#[tokio::test]
async fn headers_are_those_of_a_phone() {
    let bench = Bench::new().await;
    let headers = bench.client().await.get("/status").await.headers;
    let names: Vec<_> = headers.keys().map(|name| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "server",
            "access-control-allow-origin",
            "access-control-allow-headers",
            "content-type",
            "content-length",
        ]
    );
    bench.end().await;
}

#[tokio::test]
async fn an_unknown_attribute_is_told_with_all_that_are_known() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    let email = client.find("id", "email").await;
    let answer = client.get(&format!("/element/{email}/attribute/x")).await;
    let message = answer.is_error(500, "unknown error");
    assert!(
        message.starts_with(
            "The attribute 'x' is unknown. Valid attribute names are: (\n    UID,\n    acc"
        ) && message.ends_with(",\n    wdUID,\n    wdValue,\n    wdVisible\n)"),
        "{message}"
    );
    bench.end().await;
}
