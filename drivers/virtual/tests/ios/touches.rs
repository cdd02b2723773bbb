//! Touches and keys, and what they do to the app.

use packtrain_testing::SHOP;
use serde_json::json;

use super::bench::Bench;

fn touch(actions: serde_json::Value) -> serde_json::Value {
    json!({"actions": [{
        "type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}, "actions": actions,
    }]})
}

#[tokio::test]
async fn text_goes_to_the_field_it_is_sent_to() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    let button = client.find("id", "sign_in").await;
    let unheard = client
        .post(&format!("/element/{button}/value"), json!({"value": ["a"]}))
        .await;
    unheard.is_error(400, "invalid element state");
    let email = client.find("id", "email").await;
    let value = format!("/element/{email}/value");
    client
        .did(&value, json!({"value": ["ann", "@example.com"]}))
        .await;
    client
        .did(&value, json!({"text": "!\u{8}", "value": null}))
        .await;
    assert_eq!(client.text("email").await, "ann@example.com");
    client
        .did(&format!("/element/{email}/clear"), json!({}))
        .await;
    assert_eq!(
        client.text("email").await,
        "Email",
        "an empty field tells its hint"
    );
    client.did(&value, json!({"value": ["Zoë 你好"]})).await;
    assert_eq!(client.text("email").await, "Zoë 你好");
    let nothing = client.post(&value, json!({})).await;
    nothing.is_error(400, "invalid argument");
    bench.end().await;
}

#[tokio::test]
async fn keys_need_a_keyboard() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    let typed = json!({"value": ["hello"]});
    client
        .post("/wda/keys", typed.clone())
        .await
        .is_error(400, "invalid element state");
    client.tap("email").await;
    let focused = client.get("/element/active").await.ok();
    assert_eq!(focused["ELEMENT"], client.find("id", "email").await);
    client.did("/wda/keys", typed).await;
    assert_eq!(client.text("email").await, "hello");
    let text = client.post("/wda/keys", json!({"value": "hello"})).await;
    text.is_error(500, "unknown error");
    assert_eq!(
        client.count("class name", "XCUIElementTypeKeyboard").await,
        1
    );
    client.tap("password").await;
    let stuck = client.post("/wda/keyboard/dismiss", json!({})).await;
    stuck.is_error(400, "invalid element state");
    client
        .did("/wda/keyboard/dismiss", json!({"keyNames": ["return"]}))
        .await;
    assert_eq!(
        client.count("class name", "XCUIElementTypeKeyboard").await,
        0
    );
    bench.end().await;
}

#[tokio::test]
async fn w3c_pointers_tap_hold_and_swipe() {
    let bench = Bench::new().await;
    let mut client = bench.signed_in().await;
    let row = client
        .find("class chain", "**/XCUIElementTypeCell[1]")
        .await;
    let top = format!("/element/{row}/rect");
    let before = client.get(&top).await.ok()["y"].as_i64().unwrap();
    let swipe = touch(json!([
        {"type": "pointerMove", "x": 200, "y": 700},
        {"type": "pointerDown"},
        {"type": "pointerMove", "duration": 30, "origin": "pointer", "x": 0, "y": -300},
        {"type": "pointerUp"},
    ]));
    client.did("/actions", swipe).await;
    assert_eq!(client.get(&top).await.ok()["y"], before - 300);
    let row = client
        .find("class chain", "**/XCUIElementTypeCell[6]")
        .await;
    let origin = json!({"element-6066-11e4-a52e-4f735466cecf": row});
    let tap = touch(json!([
        {"type": "pointerMove", "origin": origin, "x": -100, "y": 0},
        {"type": "pointerDown"}, {"type": "pause", "duration": 20}, {"type": "pointerUp"},
    ]));
    client.did("/actions", tap).await;
    assert_eq!(client.text("product_name").await, "Blueberry muffin 6");
    bench.end().await;
}

#[tokio::test]
async fn w3c_pointers_that_move_apart_zoom() {
    let bench = Bench::new().await;
    let mut client = bench.signed_in().await;
    client.tap("product_name").await;
    let picture = client.find("id", "picture").await;
    let rect = client.get(&format!("/element/{picture}/rect")).await.ok();
    let middle = |start: &str, length: &str| {
        rect[start].as_f64().unwrap() + rect[length].as_f64().unwrap() / 2.0
    };
    let (x, y) = (middle("x", "width"), middle("y", "height"));
    let finger = |id: &str, from: f64, to: f64| {
        json!({"type": "pointer", "id": id, "parameters": {"pointerType": "touch"}, "actions": [
            {"type": "pointerMove", "x": x + from, "y": y},
            {"type": "pointerDown"},
            {"type": "pointerMove", "duration": 30, "x": x + to, "y": y},
            {"type": "pointerUp"},
        ]})
    };
    let mut pinch = async |fingers: &[serde_json::Value]| {
        client.did("/actions", json!({"actions": fingers})).await;
        client.text("zoomed").await
    };
    let apart = [finger("a", -20.0, -80.0), finger("b", 20.0, 80.0)];
    assert_eq!(pinch(&apart).await, "Zoomed 4.00");
    let together = [finger("a", -80.0, -60.0), finger("b", 80.0, 60.0)];
    assert_eq!(pinch(&together).await, "Zoomed 3.00");
    let three = [&apart[..], &[finger("c", 0.0, 0.0)]].concat();
    assert_eq!(pinch(&three).await, "Zoomed 3.00", "three are no pinch");
    bench.end().await;
}

#[tokio::test]
async fn w3c_keys_type_into_the_field_with_the_focus() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    let press = |key: &str| {
        [
            json!({"type": "keyDown", "value": key}),
            json!({"type": "keyUp", "value": key}),
        ]
    };
    let keys = ["a", "b", "\u{e003}", "ö"].map(press).concat();
    let keys = json!({"actions": [{"type": "key", "id": "keyboard", "actions": keys}]});
    client
        .post("/actions", keys.clone())
        .await
        .is_error(500, "unknown error");
    client.tap("email").await;
    client.did("/actions", keys).await;
    assert_eq!(client.text("email").await, "aö");
    bench.end().await;
}

#[tokio::test]
async fn w3c_actions_of_a_mouse_are_refused() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    let mouse = json!({"actions": [{"type": "pointer", "id": "m", "actions": [
        {"type": "pointerMove", "x": 1, "y": 1}, {"type": "pointerDown"}, {"type": "pointerUp"},
    ]}]});
    let answer = client.post("/actions", mouse).await;
    assert!(
        answer
            .is_error(500, "unknown error")
            .contains("Only pointer type 'touch'")
    );
    bench.end().await;
}

#[tokio::test]
async fn wda_gestures_do_what_fingers_do() {
    let bench = Bench::new().await;
    let mut client = bench.signed_in().await;
    let row = client
        .find("class chain", "**/XCUIElementTypeCell[1]")
        .await;
    let list = client.find("id", "products").await;
    let top = format!("/element/{row}/rect");
    let mut y = async |path: String, body: serde_json::Value| {
        client.did(&path, body).await;
        client.get(&top).await.ok()["y"].as_i64().unwrap()
    };
    let start = y("/timeouts".to_owned(), json!({})).await;
    let drag = json!({"fromX": 200, "fromY": 600, "toX": 200, "toY": 500, "duration": 0});
    assert_eq!(
        y("/wda/dragfromtoforduration".to_owned(), drag).await,
        start - 100
    );
    let swiped = y(
        format!("/wda/element/{list}/swipe"),
        json!({"direction": "up"}),
    )
    .await;
    assert!(swiped < start - 200, "{swiped}");
    let down = json!({"direction": "down", "distance": "0.5"});
    let scrolled = y(format!("/wda/element/{list}/scroll"), down).await;
    assert!(
        scrolled < swiped,
        "a scroll down shows what is further down"
    );
    let back = y(
        format!("/wda/element/{row}/scroll"),
        json!({"toVisible": true}),
    )
    .await;
    assert_eq!(back, start, "the first row is in view again");
    let named = client
        .post(
            &format!("/wda/element/{list}/scroll"),
            json!({"name": "none"}),
        )
        .await;
    named.is_error(404, "no such element");
    client
        .did("/wda/tap", json!({"x": 200, "y": back + 20}))
        .await;
    assert_eq!(client.text("product_name").await, "Espresso 1");
    let half = client.post("/wda/tap", json!({"x": 200})).await;
    half.is_error(400, "invalid argument");
    let sideways = client
        .post("/wda/swipe", json!({"direction": "sideways"}))
        .await;
    sideways.is_error(400, "invalid argument");
    bench.end().await;
}

#[tokio::test]
async fn apps_are_started_left_and_come_back() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    let state = json!({"bundleId": SHOP});
    assert_eq!(client.did("/wda/apps/state", state.clone()).await, 4);
    client
        .send("POST", "/wda/homescreen", json!({}))
        .await
        .unwrap()
        .ok();
    assert_eq!(client.did("/wda/apps/state", state.clone()).await, 3);
    assert_eq!(client.count("class name", "XCUIElementTypeIcon").await, 3);
    client.tap("Shop").await;
    assert_eq!(client.did("/wda/apps/state", state).await, 4);
    let unknown = json!({"bundleId": "com.example.none"});
    assert_eq!(client.did("/wda/apps/state", unknown.clone()).await, 0);
    client
        .post("/wda/apps/launch", unknown)
        .await
        .is_error(500, "unknown error");
    client
        .did("/wda/pressButton", json!({"name": "HOME"}))
        .await;
    client
        .post("/wda/pressButton", json!({"name": "camera"}))
        .await
        .is_error(500, "unknown error");
    let front = client.get("/wda/activeAppInfo").await.ok();
    assert_eq!(front["bundleId"], "com.apple.springboard");
    bench.end().await;
}

#[tokio::test]
async fn the_phone_is_locked_turned_and_copied_from() {
    let bench = Bench::new().await;
    let mut client = bench.in_shop().await;
    assert_eq!(client.get("/wda/locked").await.ok(), false);
    client.did("/wda/lock", json!({})).await;
    assert_eq!(client.get("/wda/locked").await.ok(), true);
    client.did("/wda/unlock", json!({})).await;
    assert_eq!(client.get("/wda/locked").await.ok(), false);
    client
        .did(
            "/orientation",
            json!({"orientation": "UIA_DEVICE_ORIENTATION_LANDSCAPERIGHT"}),
        )
        .await;
    let held = client.get("/wda/deviceOrientation").await.ok();
    assert_eq!(held, "UIDeviceOrientationLandscapeRight");
    assert_eq!(client.get("/orientation").await.ok(), "LANDSCAPE");
    let standing = client
        .post("/orientation", json!({"orientation": "SIDEWAYS"}))
        .await;
    standing.is_error(500, "unknown error");
    client
        .did("/wda/setPasteboard", json!({"content": "aMO2aA"}))
        .await;
    assert_eq!(
        client.did("/wda/getPasteboard", json!({})).await,
        "aMO2aA=="
    );
    let screen = client.get("/wda/screen").await.ok();
    assert_eq!(
        (&screen["scale"], &screen["statusBarSize"]["height"]),
        (&json!(3), &json!(59))
    );
    bench.end().await;
}

#[tokio::test]
async fn what_lies_below_the_keyboard_is_not_touched_through_it() {
    let app = "
app: { id: com.example.cover, name: Cover, start: one, keyboard: cover }
state: { name: '', done: 0 }
screens:
  one:
    elements:
      - { id: name, role: input, bind: name, frame: [16, 16, 328, 48] }
      - { id: done, role: button, text: '${done}', frame: [16, -80, 328, 48], tap: { add: { done: 1 } } }
";
    let bench = Bench::of(app, 1, "rules: []").await;
    let mut client = bench.client().await;
    client.start("com.example.cover").await;
    client.tap("done").await;
    client.tap("name").await;
    let done = client.find("id", "done").await;
    let displayed = format!("/element/{done}/displayed");
    assert_eq!(client.get(&displayed).await.ok(), false);
    client.tap("done").await;
    let label = client
        .get(&format!("/element/{done}/attribute/label"))
        .await
        .ok();
    assert_eq!(label, "1", "the button was pressed before, not now");
    let name = client.find("id", "name").await;
    let value = client
        .get(&format!("/element/{name}/attribute/value"))
        .await
        .ok();
    assert_eq!(
        value,
        serde_json::Value::Null,
        "nor was a key of the keyboard"
    );
    bench.end().await;
}
