//! Apps: started, stopped, listed, crashed.

use packtrain_drivers::{
    AndroidCommand, AppCommand, Command, DeviceEvent, DriverError, LaunchMode, WebCommand,
};
use packtrain_testing::promises::Phone as _;
use packtrain_testing::{SHOP, TestDevice as _, VirtualPhone as _};
use serde_json::json;

use super::lab::{Device, Way, both_ways};

both_ways! {
    an_app_of_the_system_is_told_that_it_cannot_be_cleared
    a_reinstalled_app_asks_again_for_what_it_was_refused
    a_crash_is_reported_and_the_home_screen_is_what_is_left
    an_app_that_another_one_opened_is_followed
    installed_apps_are_listed_through_the_cable
    what_no_iphone_can_do_is_refused_by_name
}

fn launch(id: &str, mode: LaunchMode) -> Command {
    let id = id.to_owned();
    Command::App(AppCommand::Launch { id, mode })
}

async fn an_app_of_the_system_is_told_that_it_cannot_be_cleared(device: &mut Device) {
    let preferences = "com.apple.Preferences";
    let notes = device.notes(launch(preferences, LaunchMode::Reinstall));
    assert_eq!(
        notes.await,
        ["a system app keeps its data: it was only restarted"]
    );
    assert_eq!(device.front().await, preferences);
}

async fn a_reinstalled_app_asks_again_for_what_it_was_refused(device: &mut Device) {
    for _ in 0..2 {
        device.begin().await;
        device.ok(launch(SHOP, LaunchMode::Reinstall)).await;
        device.sign_in().await;
        device.tap("Don’t Allow").await;
        device.until(|world| world.dialog().is_none()).await;
        device.ok(Command::End).await;
    }
}

async fn a_crash_is_reported_and_the_home_screen_is_what_is_left(device: &mut Device) {
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
}

async fn an_app_that_another_one_opened_is_followed(device: &mut Device) {
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
}

async fn installed_apps_are_listed_through_the_cable(device: &mut Device) {
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
}

async fn what_no_iphone_can_do_is_refused_by_name(device: &mut Device) {
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
}
