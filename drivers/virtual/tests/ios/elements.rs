//! Elements: finding them, asking them, and that they go stale.

use packtrain_testing::SHOP;
use serde_json::{Value, json};

use super::bench::Bench;

#[tokio::test]
async fn every_strategy_finds_the_same_element() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    let id = client.find("accessibility id", "sign_in").await;
    for (using, value) in [
        ("id", "sign_in"),
        ("name", "sign_in"),
        ("class name", "XCUIElementTypeButton"),
        (
            "predicate string",
            "label BEGINSWITH[c] 'sign' AND enabled == 1",
        ),
        (
            "class chain",
            "**/XCUIElementTypeButton[`name == 'sign_in'`]",
        ),
        (
            "class chain",
            "**/XCUIElementTypeAny[`name == 'sign_in'`][-1]",
        ),
        ("xpath", "//XCUIElementTypeButton[@label='Sign in']"),
        ("xpath", "(//*[@visible='true'])[last() - 1]"),
    ] {
        assert_eq!(client.find(using, value).await, id, "{using} {value}");
    }
    bench.end().await;
}

#[tokio::test]
async fn what_is_not_there_and_what_means_nothing_are_told_apart() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    for (using, value, status, error) in [
        ("id", "nothing", 404, "no such element"),
        ("xpath", "//XCUIElementTypeSlider", 404, "no such element"),
        ("xpath", "//*[@name=", 400, "invalid selector"),
        ("class chain", "Button", 400, "invalid selector"),
        ("class name", "Button", 400, "invalid argument"),
        ("css selector", "#email", 400, "invalid argument"),
        ("predicate string", "name ==", 500, "unknown error"),
        ("predicate string", "colour == 'red'", 500, "unknown error"),
    ] {
        let answer = client
            .post("/element", json!({"using": using, "value": value}))
            .await;
        answer.is_error(status, error);
    }
    assert_eq!(client.count("id", "nothing").await, 0);
    bench.end().await;
}

#[tokio::test]
async fn an_element_tells_its_attributes() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    let email = client.find("id", "email").await;
    for (path, value) in [
        ("name", json!("XCUIElementTypeTextField")),
        ("text", json!("Email")),
        ("enabled", json!(true)),
        ("displayed", json!(true)),
        ("selected", json!(false)),
        (
            "rect",
            json!({"x": 26, "y": 267, "width": 341, "height": 56}),
        ),
        ("attribute/label", json!("")),
        ("attribute/placeholderValue", json!("Email")),
        ("attribute/wdVisible", json!(true)),
        ("attribute/index", json!(2)),
    ] {
        let told = client.get(&format!("/element/{email}/{path}")).await.ok();
        assert_eq!(told, value, "{path}");
    }
    let unknown = client
        .get(&format!("/element/{email}/attribute/colour"))
        .await;
    assert!(
        unknown
            .is_error(500, "unknown error")
            .contains("'colour' is unknown")
    );
    bench.end().await;
}

#[tokio::test]
async fn an_element_is_stale_once_its_screen_is_gone() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    let email = client.find("id", "email").await;
    client.did("/url", json!({"url": "shop://cart"})).await;
    let gone = client.get(&format!("/element/{email}/text")).await;
    gone.is_error(404, "stale element reference");
    let gone = client
        .post(&format!("/element/{email}/click"), json!({}))
        .await;
    gone.is_error(404, "stale element reference");
    let never = client
        .get("/element/26000000-0000-0000-AB00-000000000000/text")
        .await;
    never.is_error(404, "stale element reference");
    bench.end().await;
}

#[tokio::test]
async fn an_element_of_another_session_or_process_is_stale() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    let before = client.find("id", "email").await;
    assert_eq!(
        client.find("id", "email").await,
        before,
        "the same element has the same id"
    );
    client.start(SHOP).await;
    let stale = client.get(&format!("/element/{before}/text")).await;
    stale.is_error(404, "stale element reference");
    assert_ne!(client.find("id", "email").await, before);
    bench.end().await;
}

#[tokio::test]
async fn searches_in_an_element_stay_in_it() {
    let bench = Bench::new().await;
    let mut client = bench.signed_in().await;
    let second = client
        .find("class chain", "**/XCUIElementTypeCell[2]")
        .await;
    let within = format!("/element/{second}/elements");
    let mut count = async |using: &str, value: &str| {
        let found = client
            .post(&within, json!({"using": using, "value": value}))
            .await;
        found.ok().as_array().unwrap().len()
    };
    assert_eq!(count("class name", "XCUIElementTypeStaticText").await, 2);
    assert_eq!(count("xpath", "//XCUIElementTypeButton").await, 1);
    assert_eq!(count("xpath", "//XCUIElementTypeTable").await, 0);
    assert_eq!(count("id", "add").await, 1);
    bench.end().await;
}

#[tokio::test]
async fn rows_below_the_screen_are_there_but_not_visible_until_they_are_tapped() {
    let bench = Bench::new().await;
    let mut client = bench.signed_in().await;
    assert_eq!(client.count("class name", "XCUIElementTypeCell").await, 40);
    let last = client
        .find(
            "class chain",
            "**/XCUIElementTypeCell[-1]/XCUIElementTypeButton",
        )
        .await;
    let displayed = format!("/element/{last}/displayed");
    assert_eq!(client.get(&displayed).await.ok(), false);
    client
        .did(&format!("/element/{last}/click"), json!({}))
        .await;
    assert_eq!(client.get(&displayed).await.ok(), true);
    let cart = client.find("id", "open_cart").await;
    let label = client
        .get(&format!("/element/{cart}/attribute/label"))
        .await
        .ok();
    assert_eq!(label, "Cart, 1 items");
    bench.end().await;
}

#[tokio::test]
async fn the_source_comes_as_xml_or_json() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    let xml = client.get("/source").await.ok();
    let xml = xml.as_str().unwrap();
    assert!(
        xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<XCUIElementTypeApplication ")
    );
    assert!(xml.contains(" bundleId=\"com.example.shop\""));
    let scoped = client
        .get("/source?format=xml&scope=AppiumAUT&excluded_attributes=visible,x")
        .await
        .ok();
    let scoped = scoped.as_str().unwrap();
    assert!(scoped.contains("\n<AppiumAUT>\n  <XCUI") && !scoped.contains(" visible="));
    let json = client.get("/source?format=json").await.ok();
    assert_eq!(
        (&json["type"], &json["isVisible"]),
        (&json!("Application"), &json!("1"))
    );
    assert_eq!(json["frame"], "{{0, 0}, {393, 852}}");
    let unknown = client.get("/source?format=yaml").await;
    unknown.is_error(400, "invalid argument");
    let outside = client
        .send("GET", "/source", Value::Null)
        .await
        .unwrap()
        .ok();
    assert_eq!(outside, xml, "the source needs no session");
    bench.end().await;
}

#[tokio::test]
async fn a_screenshot_has_the_pixels_of_the_screen_however_it_is_held() {
    use base64::Engine as _;
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    let size = |picture: Value| {
        let picture = picture.as_str().unwrap();
        let png = base64::engine::general_purpose::STANDARD
            .decode(picture)
            .unwrap();
        let reader = png::Decoder::new(std::io::Cursor::new(png))
            .read_info()
            .unwrap();
        (reader.info().width, reader.info().height)
    };
    assert_eq!(size(client.get("/screenshot").await.ok()), (1179, 2556));
    let button = client.find("id", "sign_in").await;
    let part = client
        .get(&format!("/element/{button}/screenshot"))
        .await
        .ok();
    assert_eq!(
        size(part),
        (1021, 144),
        "as large as the element: 340.6 by 48"
    );
    client
        .did("/orientation", json!({"orientation": "LANDSCAPE"}))
        .await;
    assert_eq!(size(client.get("/screenshot").await.ok()), (2556, 1179));
    assert_eq!(
        client.get("/window/size").await.ok(),
        json!({"width": 852, "height": 393})
    );
    bench.end().await;
}
