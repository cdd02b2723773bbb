//! What the phone shows, or says it shows.

use std::time::Duration;

use packtrain_drivers::{
    AppCommand, Command, DeviceEvent, DriverError, Fault, InputCommand, SessionOptions,
};
use packtrain_testing::promises::{Bench as _, Phone as _};
use packtrain_testing::{SHOP, SNAPSHOT, TestDevice as _, VirtualPhone as _};

use crate::lab::{Device, all_ways, by_shell};

by_shell! {
    a_screen_that_never_rests_names_the_agent_that_does_not_mind
}

all_ways! {
    trees_that_are_empty_or_break_off_are_read_again
    a_keyboard_that_came_up_unasked_is_sent_away
    an_app_that_crashes_shows_a_dialog_and_is_told
    an_app_that_hangs_shows_a_dialog_and_is_told
    a_launch_is_recognised_though_no_window_has_the_focus_for_a_while
}

/// What the log of a screen that cannot be read holds.
async fn unreadable(device: &mut Device) -> Vec<String> {
    let time = Duration::from_millis(900);
    let error = device.err_within(time, SNAPSHOT).await;
    assert!(matches!(error, DriverError::Timeout { .. }), "{error:?}");
    assert_eq!(error.fault(), Fault::Device);
    error.log().to_vec()
}

async fn a_screen_that_never_rests_names_the_agent_that_does_not_mind(device: &mut Device) {
    device.open_shop().await;
    device.inject("{ match: { tree: '' }, do: not_idle }");
    let log = unreadable(device).await;
    // The last look may have been cut short by the deadline, which the log says too.
    assert_eq!(
        log[0],
        "the screen did not come to rest, which plain `uiautomator` insists on; u2.jar does not"
    );
}

async fn trees_that_are_empty_or_break_off_are_read_again(device: &mut Device) {
    device.open_shop().await;
    let tree = device.tree();
    for fault in ["empty_tree", "{ truncate: 300 }", "null_root"] {
        device.inject(&format!(
            "{{ match: {{ tree: {tree} }}, when: {{ times: 2 }}, do: {fault} }}"
        ));
        assert!(device.shows("sign_in").await, "{fault}");
    }
    for (fault, said) in [("empty_tree", "empty"), ("{ truncate: 300 }", "cut short")] {
        device.inject(&format!("{{ match: {{ tree: {tree} }}, do: {fault} }}"));
        let log = unreadable(device).await;
        assert!(
            log.iter().any(|line| line.contains(said)),
            "{fault}: {log:?}"
        );
        device.heal();
    }
}

async fn a_keyboard_that_came_up_unasked_is_sent_away(device: &mut Device) {
    device.open_shop().await;
    device.inject("{ match: { touch: tap email }, when: { times: 1 }, do: keyboard }");
    device.tap("email").await;
    assert!(device.world(|world| world.keyboard_shown()));
    device.input(InputCommand::HideKeyboard).await;
    assert!(!device.world(|world| world.keyboard_shown()));
}

/// The shop breaks so under a tap: a dialog shows it, and it is told.
async fn breaks(device: &mut Device, fault: &str, told: &str, says: &str) {
    let options = SessionOptions {
        device_log: Some(device.folder.path().join("device.log")),
        ..SessionOptions::default()
    };
    device.ok(Command::Begin(options)).await;
    device.open_shop().await;
    device.inject(&format!(
        "{{ match: {{ touch: tap email }}, when: {{ times: 1 }}, do: {fault} }}"
    ));
    device.tap("email").await;
    let event = device
        .event_where(|event| matches!(event, DeviceEvent::Crashed { .. }))
        .await;
    let what = format!("com.example.shop{told}");
    assert_eq!(event, DeviceEvent::Crashed { what });
    let alert = device.json(Command::App(AppCommand::Alert)).await;
    assert!(alert["text"].as_str().unwrap().contains(says), "{alert}");
}

async fn an_app_that_crashes_shows_a_dialog_and_is_told(device: &mut Device) {
    let told = ": java.lang.RuntimeException: the app crashed";
    breaks(device, "crash", told, "keeps stopping").await;
}

async fn an_app_that_hangs_shows_a_dialog_and_is_told(device: &mut Device) {
    breaks(device, "anr", " does not respond", "isn't responding").await;
}

async fn a_launch_is_recognised_though_no_window_has_the_focus_for_a_while(device: &mut Device) {
    device.inject("{ match: { command: ^am start }, do: { no_focus: 600ms } }");
    device.open_shop().await;
    let front = device.json(Command::App(AppCommand::Foreground)).await;
    assert_eq!(front["id"], SHOP);
}
