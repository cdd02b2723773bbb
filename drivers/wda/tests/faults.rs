//! What goes wrong on the way, and what is mended.

use std::time::Duration;

use packtrain_drivers::{Command, DriverError, InputCommand};
use packtrain_testing::promises::Bench as _;
use packtrain_testing::{SNAPSHOT, TestDevice as _, VirtualPhone as _, lost, mended};

use super::lab::{Device, Way, both_ways, by_cable};

both_ways! {
    a_session_another_client_took_is_made_anew
    a_tap_that_found_the_session_gone_is_done_once
    a_client_that_keeps_taking_the_session_is_blamed
    an_element_that_went_stale_is_found_again
    a_webdriveragent_that_crashed_means_the_device_is_lost
    questions_that_broke_off_are_asked_again
    rubbish_without_end_is_not_webdriveragent
    a_tap_whose_answer_is_lost_is_not_repeated
    a_refusal_is_told_in_webdriveragents_words
    a_crash_in_the_middle_of_a_question_is_noticed_at_once
    a_crash_in_the_middle_of_a_tap_is_noticed_at_once
    a_phone_that_takes_its_time_is_waited_for
    a_phone_that_restarts_is_lost
    a_phone_that_boots_for_ever_is_lost
}

by_cable! {
    a_pulled_cable_loses_the_device_until_it_is_plugged_in_again
    a_cable_pulled_in_the_middle_of_a_command_is_noticed_at_once
    a_tap_that_nobody_answers_is_the_devices_failure_long_before_the_sessions_end
}

/// What a device says that cannot be reached any more.
fn gone(device: &Device) -> &'static str {
    match device.way {
        Way::Address => "nothing listens at 127.0.0.1:",
        Way::Cable => "nothing listens at port 8100 of",
    }
}

async fn a_session_another_client_took_is_made_anew(device: &mut Device) {
    device.open_shop().await;
    device.fill("email", "ann").await;
    device.inject("{ match: { route: 'GET .*/source' }, when: { times: 1 }, do: session_killed }");
    assert!(device.shows("sign_in").await);
    assert_eq!(mended(&device.events()), 1);
    assert_eq!(
        device.variable("email"),
        "ann",
        "the app was not started again"
    );
}

async fn a_tap_that_found_the_session_gone_is_done_once(device: &mut Device) {
    device.open_shop().await;
    device.fill("email", "ann").await;
    let at = device.center("sign_in").await;
    device
        .inject("{ match: { route: 'POST .*/actions' }, when: { times: 1 }, do: session_killed }");
    device.input(InputCommand::Tap { at }).await;
    assert_eq!(device.variable("error"), "Enter your password");
    assert_eq!(mended(&device.events()), 1);
}

async fn a_client_that_keeps_taking_the_session_is_blamed(device: &mut Device) {
    device.inject("{ match: { route: 'GET .*/source' }, do: session_killed }");
    let error = device.err(SNAPSHOT).await;
    let (cause, hint) = lost(&error);
    assert_eq!(
        cause,
        "read the screen: another client took the session 3 times"
    );
    assert!(hint.contains("another client"), "{hint}");
}

async fn an_element_that_went_stale_is_found_again(device: &mut Device) {
    device.open_shop().await;
    device.fill("email", "ann").await;
    device.inject("{ match: { route: /clear$ }, when: { times: 2 }, do: stale_element }");
    device.input(InputCommand::Erase(None)).await;
    assert_eq!(device.variable("email"), "");
    device.inject("{ match: { route: /clear$ }, do: stale_element }");
    let error = device.err(Command::Input(InputCommand::Erase(None))).await;
    assert!(
        error.to_string().contains("replaced by another each time"),
        "{error}"
    );
}

async fn a_webdriveragent_that_crashed_means_the_device_is_lost(device: &mut Device) {
    device.open_shop().await;
    device.phone().stop_wda().await;
    let error = device.err(SNAPSHOT).await;
    let (cause, hint) = lost(&error);
    assert!(
        cause.starts_with("read the screen: ") && cause.contains(gone(device)),
        "{cause}"
    );
    assert!(hint.contains("`start`"), "{hint}");
    device.disconnect().await;
    device.phone().start_wda().await;
    device.reconnect().await.unwrap();
    device.begin().await;
    device.open_shop().await;
}

/// WebDriverAgent crashes when it is asked so, and that is noticed at once.
async fn crashes(device: &mut Device, route: &str, command: Command) {
    let crash = "do: { wda_crash: 60m }";
    device.inject(&format!("{{ match: {{ route: '{route}' }}, {crash} }}"));
    let error = device.err(command).await;
    let (cause, _) = lost(&error);
    assert!(cause.contains(gone(device)), "{cause}");
}

async fn a_crash_in_the_middle_of_a_question_is_noticed_at_once(device: &mut Device) {
    device.open_shop().await;
    crashes(device, "GET .*/source", SNAPSHOT).await;
}

async fn a_crash_in_the_middle_of_a_tap_is_noticed_at_once(device: &mut Device) {
    device.open_shop().await;
    let at = device.center("sign_in").await;
    let tap = Command::Input(InputCommand::Tap { at });
    crashes(device, "POST .*/actions", tap).await;
}

async fn a_pulled_cable_loses_the_device_until_it_is_plugged_in_again(device: &mut Device) {
    device.open_shop().await;
    device.phone().unplug();
    let error = device.err(SNAPSHOT).await;
    let (cause, hint) = lost(&error);
    let udid = device.phone().udid().to_string();
    assert!(cause.contains(&format!("has no device {udid}")), "{cause}");
    assert_eq!(
        hint,
        format!("plug {udid} in, unlock it and trust this computer")
    );
    device.disconnect().await;
    let error = device.reconnect().await.unwrap_err();
    assert!(lost(&error).0.contains("has no device"), "{error}");
    device.phone().plug_in();
    device.reconnect().await.unwrap();
    device.begin().await;
    device.open_shop().await;
}

async fn a_cable_pulled_in_the_middle_of_a_command_is_noticed_at_once(device: &mut Device) {
    device.open_shop().await;
    device.inject("{ match: { route: 'GET .*/source' }, do: { detach: 60m } }");
    let error = device.err(SNAPSHOT).await;
    assert!(lost(&error).0.contains("has no device"), "{error}");
}

async fn questions_that_broke_off_are_asked_again(device: &mut Device) {
    device.open_shop().await;
    for fault in ["reset", "garbage", "{ drop_after: { bytes: 700 } }"] {
        device.inject(&format!(
            "{{ match: {{ route: 'GET .*/source' }}, when: {{ times: 2 }}, do: {fault} }}"
        ));
        assert!(device.shows("sign_in").await, "{fault}");
    }
    assert_eq!(device.events(), []);
}

async fn rubbish_without_end_is_not_webdriveragent(device: &mut Device) {
    device.inject("{ match: { route: 'GET .*/source' }, do: garbage }");
    let error = device.err(SNAPSHOT).await;
    let (_, hint) = lost(&error);
    assert!(!hint.is_empty());
}

async fn a_tap_whose_answer_is_lost_is_not_repeated(device: &mut Device) {
    device.open_shop().await;
    let at = device.center("email").await;
    device.inject("{ match: { route: 'POST .*/actions' }, do: { drop_after: { bytes: 20 } } }");
    let error = device.err(Command::Input(InputCommand::Tap { at })).await;
    let DriverError::Timeout { doing, log, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(doing, "tap");
    assert!(
        log.iter().any(|line| line.contains("taken effect")),
        "{log:?}"
    );
    assert_eq!(log.last().unwrap(), "WebDriverAgent answers again");
    assert!(
        device.world(|world| world.keyboard_shown()),
        "it was done, and once"
    );
    device.heal();
    assert!(device.shows("sign_in").await, "the driver goes on");
}

async fn a_tap_that_nobody_answers_is_the_devices_failure_long_before_the_sessions_end(
    device: &mut Device,
) {
    device.open_shop().await;
    let at = device.center("sign_in").await;
    device.inject("{ match: { route: actions }, when: { times: 1 }, do: no_answer }");
    let tap = Command::Input(InputCommand::Tap { at });
    let error = device.err_within(Duration::from_secs(30), tap).await;
    let (cause, hint) = lost(&error);
    assert_eq!(cause, "tap: WebDriverAgent did not answer within 15 s");
    assert!(hint.contains("may have taken effect"), "{hint}");
    assert!(device.shows("sign_in").await, "the driver goes on");
}

async fn a_phone_that_takes_its_time_is_waited_for(device: &mut Device) {
    device.inject("{ match: { route: '.*' }, do: { delay: 30ms } }");
    device.open_shop().await;
    assert!(device.shows("sign_in").await);
    assert_eq!(device.events(), []);
}

async fn a_refusal_is_told_in_webdriveragents_words(device: &mut Device) {
    device.inject("{ match: { route: /screenshot$ }, do: { fail: the camera is wet } }");
    let error = device.err(Command::Screenshot).await;
    assert_eq!(
        error,
        DriverError::unmet("take a screenshot: the camera is wet")
    );
}

async fn restarts(device: &mut Device, fault: &str) {
    device.open_shop().await;
    device.inject(&format!("{{ match: {{ route: source }}, do: {fault} }}"));
    let error = device.err(SNAPSHOT).await;
    assert!(error.ends_driver(), "{error}");
}

async fn a_phone_that_restarts_is_lost(device: &mut Device) {
    restarts(device, "{ reboot: 60m }").await;
}

async fn a_phone_that_boots_for_ever_is_lost(device: &mut Device) {
    restarts(device, "{ boot_loop: 60m }").await;
}
