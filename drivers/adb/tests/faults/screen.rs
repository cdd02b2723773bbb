//! What the phone shows, or says it shows.

use std::time::Duration;

use packtrain_drivers::{
    AppCommand, Command, CommandContext, DeviceEvent, DriverError, Fault, InputCommand, LaunchMode,
    SessionOptions,
};
use packtrain_testing::{NO_FAULTS, SHOP, SNAPSHOT, TestDevice as _, VirtualPhone as _};

use crate::lab::{Agent, Device, all_ways, both_wires};

fn tree(device: &Device) -> &'static str {
    match device.way.agent {
        Agent::U2 => "u2",
        Agent::Shell => "uiautomator",
    }
}

/// What the log of a screen that cannot be read holds.
async fn unreadable(device: &mut Device) -> Vec<String> {
    let time = Duration::from_millis(900);
    let error = device
        .execute_in(SNAPSHOT, &CommandContext::within(time))
        .await
        .unwrap_err();
    assert!(matches!(error, DriverError::Timeout { .. }), "{error:?}");
    assert_eq!(error.fault(), Fault::Device);
    error.log().to_vec()
}

#[tokio::test]
async fn a_screen_that_never_rests_names_the_agent_that_does_not_mind() {
    both_wires(Agent::Shell, NO_FAULTS, async |device| {
        device.open_shop().await;
        device.inject("{ match: { tree: '' }, do: not_idle }");
        let log = unreadable(device).await;
        // The last look may have been cut short by the deadline, which the log says too.
        assert_eq!(
            log[0],
            "the screen did not come to rest, which plain `uiautomator` insists on; u2.jar does not"
        );
    })
    .await;
}

#[tokio::test]
async fn trees_that_are_empty_or_break_off_are_read_again() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let tree = tree(device);
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
            device.phone().device().clear_faults();
        }
    })
    .await;
}

#[tokio::test]
async fn a_tree_that_is_told_late_is_waited_out() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let tree = tree(device);
        device.inject(&format!(
            "{{ match: {{ tree: {tree} }}, when: {{ times: 3 }}, do: {{ stale: 3 }} }}"
        ));
        let before = device.snapshot().await.mark;
        let at = packtrain_drivers::Point::new(540.0, 1040.0);
        device.input(InputCommand::Tap { at }).await;
        let soon = Duration::from_secs(20);
        assert!(device.change_since(before, soon).await.is_some());
        assert!(device.shows("Enter your email").await);
    })
    .await;
}

#[tokio::test]
async fn a_sudden_dialog_is_seen_and_can_be_answered() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.inject(
            "{ match: { touch: tap email }, when: { times: 1 }, do: { dialog: { title: Update, text: Install now?, buttons: [Later, Now] } } }",
        );
        device.tap("email").await;
        let alert = device.json(Command::App(AppCommand::Alert)).await;
        assert!(alert["text"].as_str().unwrap().contains("Install now?"), "{alert}");
        assert_eq!(alert["buttons"].as_array().unwrap().len(), 2, "{alert}");
        let later = AppCommand::AnswerAlert {
            accept: false,
            button: Some("Later".to_owned()),
        };
        device.app(later).await;
        assert!(device.world(|world| world.dialog()).is_none());
    })
    .await;
}

#[tokio::test]
async fn a_keyboard_that_came_up_unasked_is_sent_away() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.inject("{ match: { touch: tap email }, when: { times: 1 }, do: keyboard }");
        device.tap("email").await;
        assert!(device.world(|world| world.keyboard_shown()));
        device.input(InputCommand::HideKeyboard).await;
        assert!(!device.world(|world| world.keyboard_shown()));
    })
    .await;
}

#[tokio::test]
async fn an_app_that_crashes_or_hangs_shows_a_dialog_and_is_told() {
    for (fault, told, says) in [
        (
            "crash",
            "com.example.shop: java.lang.RuntimeException: the app crashed",
            "keeps stopping",
        ),
        (
            "anr",
            "com.example.shop does not respond",
            "isn't responding",
        ),
    ] {
        all_ways(NO_FAULTS, async |device| {
            let log = device.folder.path().join("device.log");
            let options = SessionOptions {
                device_log: Some(log),
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
            let what = told.to_owned();
            assert_eq!(event, DeviceEvent::Crashed { what });
            let alert = device.json(Command::App(AppCommand::Alert)).await;
            assert!(alert["text"].as_str().unwrap().contains(says), "{alert}");
        })
        .await;
    }
}

#[tokio::test]
async fn a_launch_that_does_nothing_is_a_failed_step() {
    both_wires(Agent::U2, NO_FAULTS, async |device| {
        device.inject("{ match: { launch: shop }, do: ignore_launch }");
        let (id, mode) = (SHOP.to_owned(), LaunchMode::Resume);
        let error = device
            .err(Command::App(AppCommand::Launch { id, mode }))
            .await;
        assert_eq!(error.fault(), Fault::App);
        assert_eq!(
            error.to_string(),
            "start com.example.shop: it did not come to the front; com.google.android.apps.nexuslauncher is in front"
        );
    })
    .await;
}

#[tokio::test]
async fn a_touch_without_effect_shows_in_what_is_seen_next() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.inject("{ match: { touch: tap sign_in }, when: { times: 1 }, do: swallow }");
        let at = device.center("sign_in").await;
        let before = device.snapshot().await.mark;
        device.input(InputCommand::Tap { at }).await;
        let soon = Duration::from_millis(100);
        assert_eq!(device.change_since(before, soon).await, None);
        device.input(InputCommand::Tap { at }).await;
        assert!(device.shows("Enter your email").await);
    })
    .await;
}

#[tokio::test]
async fn a_launch_is_recognised_though_no_window_has_the_focus_for_a_while() {
    all_ways(NO_FAULTS, async |device| {
        device.inject("{ match: { command: ^am start }, do: { no_focus: 600ms } }");
        device.open_shop().await;
        let front = device.json(Command::App(AppCommand::Foreground)).await;
        assert_eq!(front["id"], SHOP);
    })
    .await;
}
