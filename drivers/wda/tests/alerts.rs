//! Alerts: seen, reported once, answered, and agreed to when that was granted.

use packtrain_drivers::{AppCommand, Command, DeviceEvent, DriverError, Snapshot};
use packtrain_testing::promises::Phone as _;
use packtrain_testing::{SHOP, TestDevice as _, VirtualPhone as _};
use serde_json::{Value, json};

use super::lab::{Device, both_ways};

both_ways! {
    an_alert_over_the_app_is_the_screen_and_is_reported_once
    an_alert_that_opens_again_is_reported_again
    an_alert_that_is_not_there_or_has_no_such_button_is_told
    a_granted_permission_is_agreed_to_when_the_app_asks
    a_permission_nobody_granted_is_left_to_the_trail
    a_permission_ios_does_not_have_is_the_callers_mistake
    alerts_of_the_session_before_are_refused
    an_alert_of_the_app_itself_is_reported_too
}

/// An update that is offered when somebody taps the title.
const UPDATE: &str = "{ match: { touch: tap title }, do: { dialog: { title: Update, \
                      text: iOS 17 is ready, buttons: [Later, Install] } } }";

fn opened(dialog: &str, message: &str, answer: &str) -> DeviceEvent {
    DeviceEvent::DialogOpened {
        dialog: dialog.to_owned(),
        message: message.to_owned(),
        answer: answer.to_owned(),
    }
}

fn answer(accept: bool, button: Option<&str>) -> Command {
    let button = button.map(str::to_owned);
    Command::App(AppCommand::AnswerAlert { accept, button })
}

async fn alert(device: &mut Device) -> Value {
    device.json(Command::App(AppCommand::Alert)).await
}

fn has(snapshot: &Snapshot, label: &str) -> bool {
    snapshot.refs.iter().any(|found| found.label == label)
}

async fn an_alert_over_the_app_is_the_screen_and_is_reported_once(device: &mut Device) {
    device.inject(UPDATE);
    device.open_shop().await;
    device.tap("title").await;
    let snapshot = device.snapshot().await;
    assert!(
        has(&snapshot, "Install") && !has(&snapshot, "Sign in"),
        "{}",
        snapshot.text
    );
    device.snapshot().await;
    let text = "Update\niOS 17 is ready";
    assert_eq!(device.events(), [opened("alert", text, "left open")]);
    assert_eq!(
        alert(device).await,
        json!({"text": text, "buttons": ["Later", "Install"]})
    );
    // By its place, as anything else on the screen.
    device.tap("Later").await;
    assert!(device.shows("sign_in").await);
    assert_eq!(alert(device).await, Value::Null);
}

async fn an_alert_that_opens_again_is_reported_again(device: &mut Device) {
    device.inject(UPDATE);
    device.open_shop().await;
    for _ in 0..2 {
        device.tap("title").await;
        device.snapshot().await;
        device.ok(answer(false, None)).await;
    }
    assert_eq!(device.events().len(), 2);
}

async fn an_alert_that_is_not_there_or_has_no_such_button_is_told(device: &mut Device) {
    device.inject(UPDATE);
    device.open_shop().await;
    let error = device.err(answer(true, None)).await;
    assert_eq!(error.to_string(), "answer the alert: no alert is open");
    device.tap("title").await;
    let error = device.err(answer(true, Some("Never"))).await;
    assert_eq!(
        error.log(),
        ["the alert \"Update iOS 17 is ready\" [Later] [Install]"]
    );
}

async fn a_granted_permission_is_agreed_to_when_the_app_asks(device: &mut Device) {
    device.open_shop().await;
    let permissions = vec!["notifications".to_owned()];
    let id = SHOP.to_owned();
    let grant = Command::App(AppCommand::Grant { id, permissions });
    let notes = device.notes(grant).await;
    assert_eq!(
        notes,
        ["notifications: granted when the app asks; it cannot be granted beforehand"]
    );
    device.sign_in().await;
    let snapshot = device.snapshot().await;
    assert!(has(&snapshot, "Products"), "{}", snapshot.text);
    assert_eq!(device.variable("notice"), "on");
    let asked = "“Shop” Would Like to Send You Notifications";
    assert_eq!(device.events(), [opened("permission", asked, "accepted")]);
}

async fn a_permission_nobody_granted_is_left_to_the_trail(device: &mut Device) {
    let permissions = vec!["camera".to_owned()];
    let id = SHOP.to_owned();
    device.app(AppCommand::Grant { id, permissions }).await;
    device.sign_in().await;
    device.snapshot().await;
    let asked = "“Shop” Would Like to Send You Notifications";
    assert_eq!(device.events(), [opened("permission", asked, "left open")]);
    assert_eq!(device.variable("notice"), "");
}

async fn a_permission_ios_does_not_have_is_the_callers_mistake(device: &mut Device) {
    let (id, permissions) = (
        SHOP.to_owned(),
        vec!["android.permission.CAMERA".to_owned()],
    );
    let error = device
        .err(Command::App(AppCommand::Grant { id, permissions }))
        .await;
    assert!(matches!(error, DriverError::Invalid(_)), "{error}");
    assert!(error.to_string().contains("camera"), "{error}");
}

async fn alerts_of_the_session_before_are_refused(device: &mut Device) {
    device.sign_in().await;
    device.ok(Command::End).await;
    device.begin().await;
    assert!(device.world(|world| world.dialog()).is_none());
    assert_eq!(device.variable("notice"), "off");
    let asked = "“Shop” Would Like to Send You Notifications";
    assert_eq!(device.events(), [opened("permission", asked, "dismissed")]);
}

async fn an_alert_of_the_app_itself_is_reported_too(device: &mut Device) {
    device.open_shop().await;
    device
        .app(AppCommand::OpenUrl("https://shop.example.com/".into()))
        .await;
    device.ok(answer(true, None)).await;
    device.tap("add").await;
    device.tap("open_cart").await;
    device.tap("checkout").await;
    device.fill("full_name", "Ann").await;
    device.fill("address", "Home").await;
    device.tap("place_order").await;
    device.snapshot().await;
    let text = "Place order?\nYou pay $2.50.";
    assert_eq!(device.events(), [opened("alert", text, "left open")]);
    device.ok(answer(true, None)).await;
    device.until(|world| world.dialog().is_none()).await;
}
