//! What can go wrong with an iPhone, and how a client sees it.

use std::time::Duration;

use packtrain_testing::SHOP;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::bench::Bench;
use super::http::Client;

async fn status(client: &mut Client) -> bool {
    client.send("GET", "/status", Value::Null).await.is_some()
}

#[tokio::test]
async fn an_element_can_be_stale_once() {
    let stale =
        "rules: [{ match: { route: 'POST .*/click$' }, when: { nth: 1 }, do: stale_element }]";
    let bench = Bench::with(1, stale).await;
    let mut client = bench.in_shop().await;
    let button = client.find("id", "sign_in").await;
    let click = format!("/element/{button}/click");
    client
        .post(&click, json!({}))
        .await
        .is_error(404, "stale element reference");
    client.did(&click, json!({})).await;
    bench.end().await;
}

#[tokio::test]
async fn another_client_can_take_the_session() {
    let taken =
        "rules: [{ match: { route: 'GET .*/source' }, when: { nth: 2 }, do: session_killed }]";
    let bench = Bench::with(1, taken).await;
    let mut client = bench.in_shop().await;
    client.get("/source").await.ok();
    let answer = client.get("/source").await;
    answer.is_error(404, "invalid session id");
    assert_ne!(answer.body["sessionId"], client.session());
    client.start(SHOP).await;
    client.get("/source").await.ok();
    bench.end().await;
}

#[tokio::test]
async fn a_crashed_webdriveragent_refuses_connections_and_comes_back_without_its_session() {
    let crash = "rules: [{ match: { route: '/wda/locked$' }, do: { wda_crash: 300ms } }]";
    let bench = Bench::with(1, crash).await;
    let mut client = bench.in_shop().await;
    let session = client.session().to_owned();
    let address = bench.phone().wda_address();
    let path = format!("/session/{session}/wda/locked");
    assert!(
        client.send("GET", &path, Value::Null).await.is_none(),
        "no answer comes"
    );
    bench.phone().start_wda().await;
    let mut client = Client::connect(address).await;
    let source = format!("/session/{session}/source");
    let answer = client.send("GET", &source, Value::Null).await.unwrap();
    answer.is_error(404, "invalid session id");
    bench.end().await;
}

#[tokio::test]
async fn a_stopped_webdriveragent_is_refused_on_both_ways() {
    let bench = Bench::new().await;
    let mut client = bench.client().await;
    bench.phone().stop_wda().await;
    assert!(!status(&mut client).await);
    let refused = TcpStream::connect(bench.phone().wda_address())
        .await
        .unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    let name = bench.run("ideviceinfo", &["-k", "DeviceName"]).await;
    assert_eq!(name, "iPhone 14 Pro 1\n", "the phone itself is well");
    bench.phone().start_wda().await;
    assert!(status(&mut bench.client().await).await);
    bench.end().await;
}

#[tokio::test]
async fn a_client_can_ask_webdriveragent_to_end() {
    let bench = Bench::new().await;
    let mut client = bench.client().await;
    let last = client.get("/wda/shutdown").await;
    assert_eq!(last.body, json!("Shutting down"));
    assert!(!status(&mut client).await);
    bench.end().await;
}

#[tokio::test]
async fn a_pulled_cable_is_plugged_in_again() {
    let pulled = "rules: [{ match: { route: '/wda/screen$' }, do: { detach: 100ms } }]";
    let bench = Bench::with(1, pulled).await;
    let mut listener = TcpStream::connect(bench.usbmuxd_address()).await.unwrap();
    let events = super::usbmux::listen(&mut listener).await;
    assert_eq!(events, "Attached");
    let mut client = bench.client().await;
    assert!(
        client
            .send("GET", "/wda/screen", Value::Null)
            .await
            .is_none()
    );
    for event in ["Detached", "Attached"] {
        assert_eq!(super::usbmux::next_event(&mut listener).await, event);
    }
    bench.end().await;
}

#[tokio::test]
async fn an_answer_can_break_off_in_the_middle() {
    let broken = "rules: [{ match: { route: '/source$' }, when: { nth: 1 }, do: { drop_after: { bytes: 700 } } }]";
    let bench = Bench::with(1, broken).await;
    let mut client = bench.client().await;
    assert!(client.send("GET", "/source", Value::Null).await.is_none());
    let mut client = bench.client().await;
    assert!(client.send("GET", "/source", Value::Null).await.is_some());
    bench.end().await;
}

#[tokio::test]
async fn an_answer_can_be_rubbish() {
    let rubbish = "rules: [{ match: { route: '/status$' }, when: { nth: 1 }, do: garbage }]";
    let bench = Bench::with(1, rubbish).await;
    assert!(!status(&mut bench.client().await).await);
    assert!(status(&mut bench.client().await).await);
    bench.end().await;
}

#[tokio::test]
async fn a_route_can_be_slow_fail_or_never_answer() {
    let rules = "
rules:
  - { match: { route: /wda/locked$ }, do: { delay: 200ms } }
  - { match: { route: /screenshot$ }, do: { fail: the camera is wet } }
  - { match: { route: /orientation$ }, do: no_answer }
";
    let bench = Bench::with(1, rules).await;
    let mut client = bench.client().await;
    let asked = Instant::now();
    client.get("/wda/locked").await.ok();
    assert!(asked.elapsed() >= Duration::from_millis(200));
    let failed = client.get("/screenshot").await;
    assert_eq!(failed.is_error(500, "unknown error"), "the camera is wet");
    let mut waiting = bench.client().await;
    let never = waiting.send("GET", "/orientation", Value::Null);
    assert!(
        tokio::time::timeout(Duration::from_millis(200), never)
            .await
            .is_err()
    );
    assert!(status(&mut client).await, "others are answered meanwhile");
    bench.end().await;
}

#[tokio::test]
async fn trees_can_be_late_empty_or_cut_off() {
    let rules = "
rules:
  - { match: { tree: wda }, when: { nth: 3 }, do: { stale: 1 } }
  - { match: { tree: wda }, when: { nth: 4 }, do: empty_tree }
  - { match: { tree: wda }, when: { nth: 5 }, do: { truncate: 100 } }
";
    let bench = Bench::with(1, rules).await;
    let mut client = bench.in_shop().await;
    client.get("/source").await.ok();
    client.tap("sign_in").await;
    // The click looked at the tree once to find the button, once to press it.
    let late = client.get("/source").await.ok();
    assert!(
        !late.as_str().unwrap().contains("XCUIElementTypeButton"),
        "{late}"
    );
    let cut = client.get("/source").await.ok();
    assert_eq!(cut.as_str().unwrap().len(), 100);
    bench.end().await;
}

#[tokio::test]
async fn what_a_fault_fails_is_not_told_as_a_request_that_is_lacking() {
    let rules = "rules: [{ match: { tree: wda }, do: { fail: XCTest broke } }]";
    let bench = Bench::with(1, rules).await;
    let mut client = bench.in_shop().await;
    let asked = json!({"using": "accessibility id", "value": "sign_in"});
    let answer = client.post("/element", asked).await;
    assert_eq!(answer.body["value"]["message"], "XCTest broke");
    assert_eq!(bench.phone().device().unhandled(), []);
    bench.end().await;
}

#[tokio::test]
async fn a_touch_or_a_launch_can_be_in_vain() {
    let rules = "
rules:
  - { match: { touch: tap sign_in }, when: { nth: 1 }, do: swallow }
  - { match: { launch: com.apple.Preferences }, do: ignore_launch }
";
    let bench = Bench::with(1, rules).await;
    let mut client = bench.in_shop().await;
    client.tap("sign_in").await;
    assert_eq!(client.count("id", "error").await, 0);
    client.tap("sign_in").await;
    assert_eq!(client.count("id", "error").await, 1);
    let settings = json!({"bundleId": "com.apple.Preferences"});
    client.did("/wda/apps/activate", settings.clone()).await;
    assert_eq!(client.did("/wda/apps/state", settings).await, 1);
    bench.end().await;
}

#[tokio::test]
async fn a_phone_that_restarts_is_gone_and_comes_back() {
    let restart = "rules: [{ match: { route: '/wda/healthcheck$' }, do: { reboot: 100ms } }]";
    let bench = Bench::with(1, restart).await;
    let mut listener = TcpStream::connect(bench.usbmuxd_address()).await.unwrap();
    super::usbmux::listen(&mut listener).await;
    let mut client = bench.in_shop().await;
    client.send("GET", "/wda/healthcheck", Value::Null).await;
    for event in ["Detached", "Attached"] {
        assert_eq!(super::usbmux::next_event(&mut listener).await, event);
    }
    bench.phone().start_wda().await;
    let front = bench.client().await.get("/wda/activeAppInfo").await.ok();
    assert_eq!(front["bundleId"], "com.apple.springboard");
    bench.end().await;
}
