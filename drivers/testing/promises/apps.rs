//! Apps and the dialogs over them.

use packtrain_drivers::{
    AppCommand, Command, DriverError, Fault, InputCommand, Key, LaunchMode, Reach, SessionOptions,
};
use packtrain_virtual::world::AppState;
use serde_json::Value;

use super::Phone;
use crate::SHOP;

fn launch(id: &str, mode: LaunchMode) -> Command {
    let id = id.to_owned();
    Command::App(AppCommand::Launch { id, mode })
}

fn open(url: &str) -> Command {
    Command::App(AppCommand::OpenUrl(url.to_owned()))
}

fn answer(accept: bool, button: Option<&str>) -> Command {
    let button = button.map(str::to_owned);
    Command::App(AppCommand::AnswerAlert { accept, button })
}

fn state(phone: &impl Phone) -> AppState {
    phone.world(|world| world.app_state(&SHOP.into()))
}

pub async fn a_session_begins_on_the_home_screen<P: Phone>(phone: &mut P) {
    phone.open_shop().await;
    let notes = phone.notes(Command::Begin(SessionOptions::default())).await;
    assert_eq!(notes, [""; 0]);
    assert_eq!(phone.front().await, P::HOME);
}

pub async fn launch_modes_differ_in_what_they_keep(phone: &mut impl Phone) {
    phone.open_shop().await;
    for (mode, kept) in [
        (LaunchMode::Resume, "ann"),
        (LaunchMode::ForceRestart, ""),
        (LaunchMode::Reinstall, ""),
    ] {
        phone.tap("email").await;
        phone.input(InputCommand::Erase(None)).await;
        phone.fill("email", "ann").await;
        phone.input(InputCommand::Key(Key::Home)).await;
        assert_eq!(phone.notes(launch(SHOP, mode)).await, [""; 0]);
        assert_eq!(phone.front().await, SHOP);
        assert_eq!(phone.variable("email"), kept, "{mode:?}");
        assert_eq!(state(phone), AppState::Foreground);
    }
}

pub async fn a_stopped_app_is_not_taken_for_a_crashed_one<P: Phone>(phone: &mut P) {
    phone.open_shop().await;
    for _ in 0..2 {
        phone.app(AppCommand::Stop(SHOP.into())).await;
        assert_eq!(state(phone), AppState::NotRunning);
        assert_eq!(phone.front().await, P::HOME);
        phone.snapshot().await;
        assert_eq!(phone.events(), []);
    }
}

pub async fn an_app_that_is_not_there_is_named<P: Phone>(phone: &mut P) {
    let none = launch("com.example.none", LaunchMode::Resume);
    let error = phone.err(none).await;
    assert_eq!(error.to_string(), P::NOT_INSTALLED);
    assert_eq!(error.fault(), Fault::App);
    phone.open_shop().await;
    for id in ["", "../x", "-rf", "a b", "com.a; reboot"] {
        let error = phone.err(launch(id, LaunchMode::Resume)).await;
        assert!(matches!(error, DriverError::Invalid(_)), "{error}");
        let error = phone.err(Command::App(AppCommand::Stop(id.into()))).await;
        assert!(matches!(error, DriverError::Invalid(_)), "{error}");
    }
}

pub async fn an_app_that_does_not_start_is_a_failed_step<P: Phone>(phone: &mut P) {
    phone.inject("{ match: { launch: shop }, do: ignore_launch }");
    for mode in [LaunchMode::Resume, LaunchMode::ForceRestart] {
        let error = phone.err(launch(SHOP, mode)).await;
        assert_eq!(error.fault(), Fault::App);
        assert!(error.to_string().starts_with(P::NOT_STARTED), "{error}");
    }
}

pub async fn an_address_opens_the_app_that_claims_it(phone: &mut impl Phone) {
    phone.ok(open("shop://cart")).await;
    assert!(phone.shows("Your cart is empty").await);
    let error = phone.err(open("nobody://x")).await;
    assert_eq!(error.fault(), Fault::App);
    let said = error.to_string();
    assert!(
        said.starts_with("open ") && said.contains("nobody://x"),
        "{said}"
    );
}

pub async fn a_session_that_is_confined_opens_pages_and_what_is_declared(phone: &mut impl Phone) {
    let reach = Reach {
        schemes: ["shop".to_owned()].into(),
        folder: "/nowhere".into(),
    };
    let begin = Command::Begin(SessionOptions {
        base_url: Some("intent://x".to_owned()),
        reach: Some(reach),
        ..SessionOptions::default()
    });
    phone.ok(begin).await;
    for url in [
        "intent:#Intent;component=com.android.settings/.Settings;end",
        "INTENT://x#Intent;end",
        "PREFS:root",
        "file:///sdcard/x",
        "content://x",
        "javascript:x",
        "java\nscript:x",
        "in\ntent:x",
        "tel:1",
        "cart",
    ] {
        let refused = phone.err(open(url)).await;
        assert!(matches!(refused, DriverError::Invalid(_)), "{refused:?}");
        let said = refused.to_string();
        assert!(said.contains("agents may not open"), "{said}");
    }
    assert!(!phone.shows("Your cart is empty").await);
    phone.ok(open("shop://cart")).await;
    assert!(phone.shows("Your cart is empty").await);
    phone.ok(open("https://example.com")).await;
    assert_ne!(phone.front().await, SHOP, "a browser has it");
    // The next session is bound by its own options.
    phone.begin().await;
    let tel = phone.execute(open("tel:1")).await;
    assert!(!matches!(tel, Err(DriverError::Invalid(_))), "{tel:?}");
}

pub async fn an_alert_is_answered_by_consent_or_by_name(phone: &mut impl Phone) {
    let alert = Command::App(AppCommand::Alert);
    phone.open_shop().await;
    phone.inject(
        "{ match: { touch: tap title }, do: { dialog: { title: Update, text: Install now?, \
         buttons: [Later, Now] } } }",
    );
    assert_eq!(phone.json(alert.clone()).await, Value::Null);
    let error = phone.err(answer(true, None)).await;
    assert_eq!(error.fault(), Fault::App);
    let said = error.to_string();
    assert!(said.starts_with("answer the alert: no alert"), "{said}");
    for (accept, button) in [(true, None), (false, None), (false, Some("Later"))] {
        phone.tap("title").await;
        let read = phone.json(alert.clone()).await;
        let text = read["text"].as_str().unwrap();
        assert!(text.contains("Install now?"), "{read}");
        assert_eq!(read["buttons"].as_array().unwrap().len(), 2, "{read}");
        let error = phone.err(answer(true, Some("Perhaps"))).await;
        assert!(!error.ends_driver(), "{error:?}");
        let told = format!("{error} {:?}", error.log());
        assert!(told.contains("Install now?"), "{told}");
        phone.ok(answer(accept, button)).await;
        assert!(phone.world(|world| world.dialog()).is_none());
        assert_eq!(phone.json(alert.clone()).await, Value::Null);
    }
    assert!(phone.shows("sign_in").await);
}

pub async fn a_permission_that_is_asked_for_can_be_refused(phone: &mut impl Phone) {
    phone.sign_in().await;
    let alert = phone.json(Command::App(AppCommand::Alert)).await;
    let text = alert["text"].as_str().unwrap().to_lowercase();
    assert!(text.contains("notifications"), "{text}");
    phone.ok(answer(false, None)).await;
    assert!(phone.world(|world| world.dialog()).is_none());
    assert_eq!(phone.variable("notice"), "off");
}

pub async fn a_permission_that_was_granted_stops_nobody<P: Phone>(phone: &mut P) {
    let grant = |name: &str| {
        let (id, permissions) = (SHOP.to_owned(), vec![name.to_owned()]);
        Command::App(AppCommand::Grant { id, permissions })
    };
    phone.ok(grant(P::NOTIFICATIONS)).await;
    phone.open_shop().await;
    phone.ok(open("https://shop.example.com/")).await;
    assert!(phone.shows("Cappuccino 2").await);
    let error = phone.err(grant("android.permission.NONE")).await;
    assert!(matches!(error, DriverError::Invalid(_)), "{error:?}");
    assert!(
        error.to_string().contains("android.permission.NONE"),
        "{error}"
    );
}
