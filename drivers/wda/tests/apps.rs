//! Apps: started, stopped, listed, crashed.

use packtrain_drivers::{
    AndroidCommand, AppCommand, Command, DeviceEvent, DriverError, Fault, LaunchMode, Reach,
    SessionOptions, WebCommand,
};
use packtrain_testing::{NO_FAULTS, SHOP, TestDevice as _, VirtualPhone as _};
use packtrain_virtual::world::AppState;
use serde_json::json;

use super::lab::{Device, Way, both_ways};

fn launch(id: &str, mode: LaunchMode) -> Command {
    let id = id.to_owned();
    Command::App(AppCommand::Launch { id, mode })
}

async fn front(device: &mut Device) -> serde_json::Value {
    device.json(Command::App(AppCommand::Foreground)).await
}

fn state(device: &Device) -> AppState {
    device.world(|world| world.app_state(&SHOP.into()))
}

#[tokio::test]
async fn a_session_that_is_confined_opens_pages_and_what_is_declared() {
    both_ways(NO_FAULTS, async |device| {
        let reach = Reach {
            schemes: ["shop".to_owned()].into(),
            folder: "/nowhere".into(),
        };
        let begin = Command::Begin(SessionOptions {
            reach: Some(reach),
            ..SessionOptions::default()
        });
        device.ok(begin).await;
        for url in ["tel:1", "PREFS:root", "file:///x", "java\nscript:x", "cart"] {
            let refused = device
                .err(Command::App(AppCommand::OpenUrl(url.into())))
                .await;
            assert!(matches!(refused, DriverError::Invalid(_)), "{refused:?}");
            assert!(
                refused.to_string().contains("agents may not open"),
                "{refused}"
            );
        }
        for url in ["shop://cart", "https://example.com"] {
            device.app(AppCommand::OpenUrl(url.into())).await;
        }
        assert_eq!(front(device).await, json!({"id": "com.apple.mobilesafari"}));
    })
    .await;
}

#[tokio::test]
async fn an_app_is_resumed_restarted_or_told_that_it_cannot_be_cleared() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.fill("email", "ann").await;
        let none = Vec::<String>::new();
        device
            .app(AppCommand::OpenUrl("https://example.com".into()))
            .await;
        assert_eq!(front(device).await, json!({"id": "com.apple.mobilesafari"}));
        assert_eq!(device.notes(launch(SHOP, LaunchMode::Resume)).await, none);
        assert_eq!(
            (front(device).await, device.variable("email")),
            (json!({"id": SHOP}), "ann".into())
        );
        assert_eq!(
            device.notes(launch(SHOP, LaunchMode::ForceRestart)).await,
            none
        );
        assert_eq!(device.variable("email"), "");
        device.fill("email", "ann").await;
        assert_eq!(
            device.notes(launch(SHOP, LaunchMode::Reinstall)).await,
            none
        );
        assert_eq!(device.variable("email"), "");
        let notes = device
            .notes(launch("com.apple.Preferences", LaunchMode::Reinstall))
            .await;
        assert_eq!(
            notes,
            ["an app of the system keeps its data: it was only restarted"]
        );
        assert_eq!(front(device).await, json!({"id": "com.apple.Preferences"}));
    })
    .await;
}

#[tokio::test]
async fn a_reinstalled_app_asks_again_for_what_it_was_refused() {
    both_ways(NO_FAULTS, async |device| {
        for _ in 0..2 {
            device.ok(Command::Begin(SessionOptions::default())).await;
            device.ok(launch(SHOP, LaunchMode::Reinstall)).await;
            device.sign_in().await;
            device.tap("Don’t Allow").await;
            device.until(|world| world.dialog().is_none()).await;
            device.ok(Command::End).await;
        }
    })
    .await;
}

#[tokio::test]
async fn an_app_that_is_not_there_is_named() {
    both_ways(NO_FAULTS, async |device| {
        let error = device
            .err(launch("com.example.none", LaunchMode::Resume))
            .await;
        assert_eq!(
            error.to_string(),
            "launch com.example.none: no such app is installed"
        );
        assert_eq!(error.fault(), Fault::App);
        device.open_shop().await;
        for id in ["", "../x", "-rf", "a b"] {
            let error = device.err(launch(id, LaunchMode::Resume)).await;
            assert!(matches!(error, DriverError::Invalid(_)), "{error}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_app_that_does_not_start_is_a_failed_step() {
    let ignored = "rules: [{ match: { launch: com.example.shop }, do: ignore_launch }]";
    both_ways(ignored, async |device| {
        let error = device.err(launch(SHOP, LaunchMode::ForceRestart)).await;
        assert_eq!(error.fault(), Fault::App);
        assert!(
            error.to_string().starts_with("launch com.example.shop: "),
            "{error}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_stopped_app_is_not_taken_for_a_crashed_one() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.app(AppCommand::Stop(SHOP.into())).await;
        assert_eq!(state(device), AppState::NotRunning);
        assert_eq!(front(device).await, json!({"id": "com.apple.springboard"}));
        device.snapshot().await;
        assert_eq!(device.events(), []);
        device.app(AppCommand::Stop(SHOP.into())).await;
    })
    .await;
}

#[tokio::test]
async fn a_crash_is_reported_and_the_home_screen_is_what_is_left() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.inject("{ match: { touch: tap sign_in }, do: crash }");
        device.tap("sign_in").await;
        let snapshot = device.snapshot().await;
        assert_eq!(snapshot.location.as_deref(), Some("com.apple.springboard"));
        let events = device.events();
        let [DeviceEvent::Crashed { what }] = events.as_slice() else {
            panic!("{events:?}");
        };
        assert!(what.contains(SHOP), "{what}");
        device.open_shop().await;
        assert!(device.shows("sign_in").await);
    })
    .await;
}

#[tokio::test]
async fn an_app_that_another_one_opened_is_followed() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device
            .app(AppCommand::OpenUrl("https://example.com".into()))
            .await;
        let snapshot = device.snapshot().await;
        assert_eq!(snapshot.location.as_deref(), Some("com.apple.mobilesafari"));
        device.inject("{ match: { touch: tap }, when: { nth: 1 }, do: crash }");
        device.tap("url_bar").await;
        device.snapshot().await;
        assert!(matches!(
            &device.events()[..],
            [DeviceEvent::Crashed { .. }]
        ));
    })
    .await;
}

#[tokio::test]
async fn installed_apps_are_listed_through_the_cable() {
    both_ways(NO_FAULTS, async |device| {
        let list = |system| Command::App(AppCommand::List { system });
        if device.way == Way::Address {
            let error = device.err(list(false)).await;
            assert!(matches!(error, DriverError::Unsupported { .. }), "{error}");
            return;
        }
        let shop = json!({"id": SHOP, "name": "Shop", "version": "2.4.1", "system": false});
        let own = device.json(list(false)).await;
        let own = own.as_array().unwrap().clone();
        assert!(
            own.contains(&shop) && own.iter().all(|app| app["system"] == false),
            "{own:?}"
        );
        let all = device.json(list(true)).await;
        assert!(all.as_array().unwrap().len() > own.len(), "{all}");
    })
    .await;
}

#[tokio::test]
async fn a_phone_that_does_not_trust_this_computer_says_so() {
    let device = Device::connect(Way::Cable, NO_FAULTS).await;
    let mut device = device;
    device.inject("{ match: { connect: lockdown }, do: invalid_host_id }");
    let error = device
        .err(Command::App(AppCommand::List { system: false }))
        .await;
    assert_eq!(
        error.to_string(),
        "list apps: the device refuses StartSession: InvalidHostID"
    );
    assert!(error.log()[0].contains("tap Trust"), "{:?}", error.log());
    device.end().await;
}

#[tokio::test]
async fn what_no_iphone_can_do_is_refused_by_name() {
    both_ways(NO_FAULTS, async |device| {
        let missing = std::path::PathBuf::from("shop.ipa");
        for (command, name) in [
            (
                Command::Android(AndroidCommand::DemoMode { enable: true }),
                "demo mode",
            ),
            (Command::Web(WebCommand::CurrentUrl), "current url"),
            (
                Command::App(AppCommand::Network { connected: false }),
                "set network",
            ),
            (
                Command::App(AppCommand::Clear(SHOP.into())),
                "clear app data",
            ),
            (Command::App(AppCommand::Install(missing)), "install app"),
            (
                Command::App(AppCommand::Uninstall(SHOP.into())),
                "uninstall app",
            ),
        ] {
            let error = device.err(command).await;
            let DriverError::Unsupported { command, device } = error else {
                panic!("{error}");
            };
            assert_eq!(command, name);
            assert!(device.starts_with("an iOS device"), "{device}");
        }
    })
    .await;
}
