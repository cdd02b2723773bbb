//! Reading the screen, and waiting for it.

use std::time::Duration;

use packtrain_drivers::{AppCommand, Classifier, Command};
use packtrain_testing::promises::{Bench as _, Phone as _};
use packtrain_testing::{SHOP, SNAPSHOT, TestDevice as _, VirtualPhone as _};

use packtrain_virtual::world::Rotation;

use super::lab::{Device, both_ways};

both_ways! {
    a_connected_device_says_what_it_is
    a_snapshot_shows_the_app_in_points_with_its_id
    a_screen_that_cannot_be_read_at_once_is_read_again
    a_device_is_held_as_before_once_its_lost_session_ends
    a_device_is_held_as_before_once_it_is_let_go
    a_device_is_held_as_before_though_turning_it_was_given_up
}

async fn a_connected_device_says_what_it_is(device: &mut Device) {
    let info = device.driver().info().clone();
    assert_eq!(info.id.to_string(), "ios/bench");
    assert_eq!(info.driver, "ios-host");
    assert_eq!(info.classifiers, ["ios", "iphone"].map(Classifier::from));
    assert_eq!(info.system, "iOS 16.7.8");
    assert_eq!(info.screen, Device::UPRIGHT);
}

async fn a_snapshot_shows_the_app_in_points_with_its_id(device: &mut Device) {
    device.open_shop().await;
    let snapshot = device.in_detail().await;
    assert_eq!(snapshot.location.as_deref(), Some(SHOP));
    assert_eq!(snapshot.screen, Device::UPRIGHT);
    let lines: Vec<&str> = snapshot.text.lines().map(str::trim).collect();
    let line = |of: &str| *lines.iter().find(|line| line.contains(of)).unwrap();
    assert!(
        line("Email").contains("TextField \"Email\" [id email]"),
        "{}",
        snapshot.text
    );
    // The app file draws 360 wide and below the status bar; the phone has 393 points.
    assert!(
        line("Sign in").ends_with("{26,407,341,48}"),
        "{}",
        line("Sign in")
    );
    let button = snapshot.refs.iter().find(|r| r.label == "Sign in").unwrap();
    assert_eq!(button.role, "Button");
    assert!(button.node.is_some());
}

async fn a_screen_that_cannot_be_read_at_once_is_read_again(device: &mut Device) {
    device.open_shop().await;
    device.inject("{ match: { tree: wda }, when: { times: 2 }, do: null_root }");
    assert!(device.shows("sign_in").await);
    device.inject("{ match: { tree: wda }, do: null_root }");
    let error = device.err(SNAPSHOT).await;
    assert_eq!(
        error.to_string(),
        "read the screen: Error getting main window kAXErrorServerNotFound"
    );
    assert!(!error.ends_driver());
}

/// Ends the session somehow, and the device is held as before.
async fn ended(device: &mut Device, end: impl AsyncFnOnce(&mut Device)) {
    device.open_shop().await;
    device.app(AppCommand::Rotate { landscape: true }).await;
    assert_ne!(device.world(|world| world.rotation()), Rotation::Upright);
    end(device).await;
    assert_eq!(device.world(|world| world.rotation()), Rotation::Upright);
}

async fn a_device_is_held_as_before_once_its_lost_session_ends(device: &mut Device) {
    ended(device, async |device| {
        let lost = "when: { times: 1 }, do: session_killed";
        device.inject(&format!("{{ match: {{ route: .*/source }}, {lost} }}"));
        device.snapshot().await;
        device.ok(Command::End).await;
    })
    .await;
}

async fn a_device_is_held_as_before_once_it_is_let_go(device: &mut Device) {
    ended(device, async |device| device.disconnect().await).await;
}

async fn a_device_is_held_as_before_though_turning_it_was_given_up(device: &mut Device) {
    let turn = Command::App(AppCommand::Rotate { landscape: true });
    let late = "when: { times: 1 }, do: { delay: 200ms }";
    device.open_shop().await;
    device.inject(&format!(
        "{{ match: {{ route: 'POST .*/orientation' }}, {late} }}"
    ));
    device.err_within(Duration::from_millis(100), turn).await;
    device
        .until(|world| world.rotation() != Rotation::Upright)
        .await;
    device.ok(Command::End).await;
    assert_eq!(device.world(|world| world.rotation()), Rotation::Upright);
}
