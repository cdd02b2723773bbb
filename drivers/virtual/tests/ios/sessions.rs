//! Sessions, the envelope around every answer, and what is no command.

use hyper::StatusCode;
use packtrain_testing::{SHOP, VirtualPhone as _};
use packtrain_virtual::app::{AppId, Permission};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::bench::Bench;

#[tokio::test]
async fn an_answer_is_a_value_in_an_envelope_with_the_session() {
    let bench = Bench::new().await;
    let mut client = bench.client().await;
    let answer = client.get("/status").await;
    assert_eq!(
        answer.headers["content-type"],
        "application/json;charset=UTF-8"
    );
    assert_eq!(answer.headers["server"], "WebDriverAgent/1.0");
    assert_eq!(answer.body["sessionId"], Value::Null);
    let status = answer.ok();
    assert_eq!(status["state"], "success");
    assert_eq!(status["os"]["version"], "16.7.8");
    client.start(SHOP).await;
    let answer = client.send("GET", "/status", Value::Null).await.unwrap();
    assert_eq!(answer.body["sessionId"], client.session());
    bench.end().await;
}

#[tokio::test]
async fn an_unknown_command_is_a_404_and_noted() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    let answer = client
        .post("/execute/sync", json!({"script": "mobile: queryAppState"}))
        .await;
    let message = answer.is_error(404, "unknown command");
    assert!(
        message.starts_with("Unhandled endpoint: /session/"),
        "{message}"
    );
    assert_eq!(answer.body["value"]["traceback"], "");
    let noted = bench.phone().device().unhandled();
    assert_eq!(noted.len(), 1);
    assert!(
        noted[0].0.ends_with("/execute/sync") && noted[0].1 == 1,
        "{noted:?}"
    );
    bench.end().await;
}

#[tokio::test]
async fn a_new_session_ends_the_old_one_and_its_app() {
    let bench = Bench::new().await;
    let (mut first, mut second) = (bench.in_shop().await, bench.client().await);
    let pid = first.get("/wda/activeAppInfo").await.ok()["pid"].clone();
    second.start(SHOP).await;
    let late = first.get("/source").await;
    late.is_error(404, "invalid session id");
    assert_eq!(late.body["sessionId"], second.session());
    let app = second.get("/wda/activeAppInfo").await.ok();
    assert_eq!(app["bundleId"], SHOP);
    assert_ne!(app["pid"], pid, "the app was started afresh");
    bench.end().await;
}

#[tokio::test]
async fn an_app_begins_as_after_its_installation_where_a_session_asks_for_that() {
    let bench = Bench::new().await;
    let mut client = bench.client().await;
    let clear = "packtrain:clearAppData";
    for (capabilities, told) in [
        (json!({"bundleId": SHOP}), Value::Null),
        (json!({"bundleId": SHOP, clear: false}), Value::Null),
        (json!({"bundleId": SHOP, clear: true}), Value::Bool(true)),
        (json!({clear: true}), Value::Null),
    ] {
        let device = bench.phone().device();
        let shop = AppId::from(SHOP);
        device.world(|world| world.set_permission(&shop, Permission::Notifications, true));
        let body = json!({"capabilities": {"alwaysMatch": capabilities}});
        let made = client.send("POST", "/session", body).await.unwrap().ok();
        assert_eq!(made["capabilities"][clear], told, "{capabilities}");
        let installed = device.world(|world| world.installed_app(&shop)).unwrap();
        assert_eq!(installed.granted.is_empty(), told == true, "{capabilities}");
    }
    bench.end().await;
}

#[tokio::test]
async fn a_deleted_session_takes_its_app_along() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    let session = format!("/session/{}", client.session());
    let answer = client.send("DELETE", &session, Value::Null).await.unwrap();
    assert_eq!(answer.body["sessionId"], Value::Null);
    let app = client
        .send("GET", "/wda/activeAppInfo", Value::Null)
        .await
        .unwrap()
        .ok();
    assert_eq!(app["bundleId"], "com.apple.springboard");
    bench.end().await;
}

#[tokio::test]
async fn capabilities_that_make_no_session_say_why() {
    let bench = Bench::new().await;
    let mut client = bench.client().await;
    let none = client
        .post("/session", json!({"desiredCapabilities": {}}))
        .await;
    none.is_error(500, "session not created");
    let unknown =
        json!({"capabilities": {"firstMatch": [{"appium:bundleId": "com.example.none"}]}});
    let missing = client.post("/session", unknown).await;
    assert!(
        missing
            .is_error(500, "session not created")
            .contains("com.example.none")
    );
    assert_eq!(client.get("/status").await.body["sessionId"], Value::Null);
    bench.end().await;
}

#[tokio::test]
async fn a_crashed_app_is_told_from_one_that_was_stopped() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    bench
        .phone()
        .device()
        .world(|world| world.crash(&SHOP.into()));
    let crashed = client.get("/source").await;
    assert!(
        crashed
            .is_error(400, "invalid element state")
            .contains("possibly crashed")
    );
    client
        .did("/wda/apps/launch", json!({"bundleId": SHOP}))
        .await;
    let stopped = client
        .did("/wda/apps/terminate", json!({"bundleId": SHOP}))
        .await;
    assert_eq!(stopped, true);
    client.get("/source").await.ok();
    let state = client
        .did("/wda/apps/state", json!({"bundleId": SHOP}))
        .await;
    assert_eq!(state, 1);
    bench.end().await;
}

/// The dialog shows that the launch of the shop has begun, the delay that it has not ended.
const SLOW_LAUNCH: &str = "
rules:
  - { match: { launch: shop }, do: { dialog: { text: launching } } }
  - { match: { launch: shop }, do: { delay: 200ms } }
";

/// A client that launches the shop, which takes its time; it has begun when this returns.
async fn launching(bench: &Bench) -> tokio::task::JoinHandle<()> {
    let mut client = bench.client().await;
    let any = client.post("/session", json!({"capabilities": {}})).await;
    let session = any.body["sessionId"].as_str().unwrap();
    let path = format!("/session/{session}/wda/apps/launch");
    let launching = tokio::spawn(async move {
        client.send("POST", &path, json!({"bundleId": SHOP})).await;
    });
    bench.until(|world| world.dialog().is_some()).await;
    launching
}

#[tokio::test]
async fn requests_are_served_one_at_a_time() {
    let bench = Bench::with(1, SLOW_LAUNCH).await;
    let launching = launching(&bench).await;
    let mut other = bench.client().await;
    let app = other.get("/wda/activeAppInfo").await.ok();
    assert_eq!(app["bundleId"], SHOP, "the answer waited for the launch");
    launching.await.unwrap();
    bench.end().await;
}

#[tokio::test]
async fn a_command_that_was_begun_is_finished_when_its_client_leaves() {
    let bench = Bench::with(1, SLOW_LAUNCH).await;
    launching(&bench).await.abort();
    bench.until(|world| world.front().as_str() == SHOP).await;
    bench.end().await;
}

#[tokio::test]
async fn a_body_that_is_no_json_counts_as_none() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    let answer = client.post("/wda/tap", json!("{\"x\": 1, ")).await;
    assert_eq!(
        answer.status,
        StatusCode::OK,
        "without a point the app itself is tapped"
    );
    let answer = client.post("/url", json!("[1]")).await;
    answer.is_error(500, "unknown error");
    bench.end().await;
}

#[tokio::test]
async fn settings_are_told_and_changed() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    let before = client.get("/appium/settings").await.ok();
    assert_eq!(
        (&before["snapshotMaxDepth"], &before["waitForIdleTimeout"]),
        (&json!(50), &json!(10))
    );
    let changes = json!({"settings": {"snapshotMaxDepth": 3, "unheardOf": 1}});
    let after = client.did("/appium/settings", changes).await;
    assert_eq!(
        (&after["snapshotMaxDepth"], after.get("unheardOf")),
        (&json!(3), None)
    );
    assert_eq!(
        client.count("class name", "XCUIElementTypeAny").await,
        3,
        "trees end at that depth"
    );
    let wrong = client
        .post("/appium/settings", json!({"settings": 5}))
        .await;
    wrong.is_error(400, "invalid argument");
    client.start(SHOP).await;
    let fresh = client.get("/appium/settings").await.ok();
    assert_eq!(fresh, before, "a new session starts with the defaults");
    bench.end().await;
}

#[tokio::test]
async fn bytes_nobody_should_send_cost_only_the_connection_they_came_on() {
    let bench = Bench::new().await;
    let deep = "[".repeat(100_000);
    let deep = format!(
        "POST /session HTTP/1.1\r\nContent-Length: {}\r\n\r\n{deep}",
        deep.len()
    );
    for bytes in [
        "\0\u{1}\u{2}\r\n\r\n".to_owned(),
        "POST /session HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n".to_owned(),
        "POST /session HTTP/1.1\r\nContent-Length: -1\r\n\r\n".to_owned(),
        format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(2_000_000)),
        format!("GET / HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(10_000)),
        deep,
    ] {
        let mut stream = TcpStream::connect(bench.phone().wda_address())
            .await
            .unwrap();
        // The phone may hang up before it has heard everything.
        let _ = stream.write_all(bytes.as_bytes()).await;
        let mut answer = [0; 12];
        let read = stream.read_exact(&mut answer).await;
        let refused = matches!(
            &answer[9..],
            b"400" | b"404" | b"413" | b"414" | b"431" | b"500"
        );
        assert!(
            read.is_err() || refused,
            "{:?}",
            String::from_utf8_lossy(&answer)
        );
    }
    assert_eq!(
        bench.client().await.get("/status").await.ok()["ready"],
        true
    );
    bench.end().await;
}

#[tokio::test]
async fn phones_that_end_leave_nothing_behind() {
    let bench = Bench::with(
        2,
        "rules: [{ match: { route: /orientation$ }, do: no_answer }]",
    )
    .await;
    let device = bench.phone().device().clone();
    let address = bench.phone().wda_address();
    let mut client = bench.in_shop().await;
    let mut waiting = bench.client().await;
    let waiting =
        tokio::spawn(async move { waiting.send("GET", "/orientation", Value::Null).await });
    client.get("/source").await.ok();
    bench.end().await;
    assert!(waiting.await.unwrap().is_none(), "who still waited is told");
    assert!(TcpStream::connect(address).await.is_err());
    assert_eq!(
        std::sync::Arc::strong_count(&device),
        1,
        "somebody still holds the phone"
    );
}
