//! HTTP as a phone speaks it, which is less than a web server does: a client that needs more must
//! not get it here either.

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
        let count = answers.matches("HTTP/1.1 200 OK\r\n").count();
        assert_eq!(count, answered, "{head}");
    }
    bench.end().await;
}

#[tokio::test]
async fn nobody_is_told_to_go_on_with_a_body() {
    let bench = Bench::new().await;
    let head = "POST /wda/homescreen HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
    assert_eq!(exchange(&bench, head).await, "");
    let answer = exchange(&bench, &format!("{head}{{}}")).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    bench.end().await;
}

#[tokio::test]
async fn a_method_without_commands_gets_two_words_and_no_json() {
    let bench = Bench::new().await;
    let wanted = "HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nNot Found";
    for request in ["HEAD /status", "PATCH /status", "GET //status"] {
        let answer = exchange(&bench, &format!("{request} HTTP/1.1\r\n\r\n")).await;
        assert_eq!(answer, wanted, "{request}");
    }
    assert_eq!(
        bench.phone().unhandled().len(),
        3,
        "they are noted as unhandled"
    );
    bench.end().await;
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_before_it_is_sent() {
    let bench = Bench::new().await;
    let head = "POST /session HTTP/1.1\r\nContent-Length: 2000000000\r\n\r\n";
    let answer = exchange(&bench, head).await;
    assert!(answer.starts_with("HTTP/1.1 413 Request Entity Too Large\r\n"));
    bench.end().await;
}

#[tokio::test]
async fn an_unknown_path_is_told_with_its_parameters() {
    let bench = Bench::new().await;
    let answer = bench.client().await.get("/no%20pe?b=x+y&a=1").await;
    assert_eq!(
        answer.is_error(404, "unknown command"),
        "Unhandled endpoint: /no pe with parameters \
         {\n    a = 1;\n    b = \"x+y\";\n    wildcards = \"no pe\";\n}"
    );
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
async fn what_ios_16_cannot_do_is_refused_in_its_words() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    for (path, body, wanted) in [
        ("/wda/video/start", json!({}), "requires an iOS 17+ runtime"),
        (
            "/wda/voiceOver/enable",
            json!({}),
            "requires an iOS 27+ runtime",
        ),
        (
            "/wda/voiceOver/move",
            json!({"direction": "in"}),
            "requires an iOS 27+ runtime",
        ),
        (
            "/wda/performAccessibilityAudit",
            json!({}),
            "only supported since iOS 17",
        ),
    ] {
        let answer = client.post(path, body).await;
        let message = answer.is_error(500, "unknown error");
        assert!(
            message.starts_with("Error Domain=com.facebook.WebDriverAgent Code=1 \"")
                && message.contains(wanted),
            "{path}: {message}"
        );
    }
    let nowhere = client.post("/wda/voiceOver/move", json!({})).await;
    nowhere.is_error(400, "invalid argument");
    for path in ["/wda/video/stop", "/wda/touch_id"] {
        assert_eq!(client.did(path, json!({})).await, Value::Null);
    }
    assert_eq!(client.get("/wda/video").await.ok(), Value::Null);
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
