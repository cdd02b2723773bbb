//! Alerts, over the app and everything else.

use packtrain_testing::VirtualPhone as _;
use serde_json::{Value, json};

use super::bench::Bench;

/// Puts an alert of the system on top, as somebody calling or an update does.
const UPDATE: &str = "
rules:
  - match: { touch: tap title }
    do: { dialog: { title: Update, text: iOS 17 is ready, buttons: [Later, Install] } }
";

#[tokio::test]
async fn without_an_alert_there_is_nothing_to_answer() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    client
        .get("/alert/text")
        .await
        .is_error(404, "no such alert");
    client
        .get("/wda/alert/buttons")
        .await
        .is_error(404, "no such alert");
    client
        .post("/alert/accept", json!({}))
        .await
        .is_error(404, "no such alert");
    bench.end().await;
}

#[tokio::test]
async fn an_alert_of_the_system_is_answered_by_name_or_place() {
    let bench = Bench::with(1, UPDATE).await;
    let mut client = bench.in_shop().await;
    for (path, body) in [
        ("/alert/dismiss", json!({})),
        ("/alert/accept", json!({})),
        ("/alert/accept", json!({"name": "Later"})),
    ] {
        client.tap("title").await;
        assert_eq!(
            client.get("/alert/text").await.ok(),
            "Update\niOS 17 is ready"
        );
        assert_eq!(
            client.get("/wda/alert/buttons").await.ok(),
            json!(["Later", "Install"])
        );
        let unknown = client.post("/alert/accept", json!({"name": "Never"})).await;
        unknown.is_error(400, "invalid element state");
        client.did(path, body).await;
        client
            .get("/alert/text")
            .await
            .is_error(404, "no such alert");
    }
    bench.end().await;
}

#[tokio::test]
async fn a_touch_below_an_alert_does_nothing_and_is_no_error() {
    let bench = Bench::with(1, UPDATE).await;
    let mut client = bench.in_shop().await;
    client.tap("title").await;
    client.tap("sign_in").await;
    client.did("/alert/dismiss", json!({})).await;
    assert_eq!(
        client.count("id", "error").await,
        0,
        "the button below was not pressed"
    );
    client.tap("sign_in").await;
    assert_eq!(client.text("error").await, "Enter your email");
    bench.end().await;
}

#[tokio::test]
async fn the_source_shows_an_alert_of_the_system_only_when_asked_to() {
    let bench = Bench::with(1, UPDATE).await;
    let mut client = bench.in_shop().await;
    client.tap("title").await;
    assert_eq!(client.count("class name", "XCUIElementTypeAlert").await, 0);
    let respect = json!({"settings": {"respectSystemAlerts": true}});
    client.did("/appium/settings", respect).await;
    assert_eq!(client.count("class name", "XCUIElementTypeAlert").await, 1);
    client.tap("Install").await;
    assert_eq!(client.count("id", "email").await, 1, "the app is back");
    bench.end().await;
}

#[tokio::test]
async fn a_session_can_answer_every_alert_by_itself() {
    let bench = Bench::with(1, UPDATE).await;
    let mut client = bench.in_shop().await;
    let settings = json!({"settings": {"defaultAlertAction": "dismiss"}});
    client.did("/appium/settings", settings).await;
    client.tap("title").await;
    client
        .get("/alert/text")
        .await
        .is_error(404, "no such alert");
    let settings = json!({"settings": {
        "defaultAlertAction": "",
        "acceptAlertButtonSelector": "**/XCUIElementTypeButton[`label == 'Later'`]",
    }});
    client.did("/appium/settings", settings).await;
    client.tap("title").await;
    client
        .send("POST", "/alert/accept", json!({}))
        .await
        .unwrap()
        .ok();
    let gone = client
        .send("GET", "/alert/text", Value::Null)
        .await
        .unwrap();
    gone.is_error(404, "no such alert");
    bench.end().await;
}

#[tokio::test]
async fn an_alert_of_the_app_is_in_its_source() {
    let bench = Bench::new().await;
    let mut client = bench.signed_in().await;
    client.tap("add").await;
    client.did("/url", json!({"url": "shop://cart"})).await;
    client.tap("checkout").await;
    for field in ["full_name", "address"] {
        let field = client.find("id", field).await;
        client
            .did(&format!("/element/{field}/value"), json!({"value": ["x"]}))
            .await;
    }
    client.tap("place_order").await;
    assert_eq!(
        client.get("/alert/text").await.ok(),
        "Place order?\nYou pay $2.50."
    );
    let chain = "**/XCUIElementTypeAlert/**/XCUIElementTypeButton";
    assert_eq!(client.count("class chain", chain).await, 2);
    client.did("/alert/accept", json!({})).await;
    bench
        .until(|world| {
            world.dialog().is_none() && world.variable(&"com.example.shop".into(), "cart").is_some()
        })
        .await;
    bench.end().await;
}
