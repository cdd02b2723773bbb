//! What goes wrong on the way, and what is mended.

use std::time::{Duration, Instant};

use packtrain_drivers::{
    Command, CommandContext, DeviceEvent, DriverError, InputCommand, SessionOptions,
};
use packtrain_testing::{NO_FAULTS, SNAPSHOT, TestDevice as _, VirtualPhone as _};

use super::lab::{Device, Way, both_ways};

fn mended(events: &[DeviceEvent]) -> usize {
    let is = |event: &&DeviceEvent| matches!(event, DeviceEvent::Reconnected { .. });
    events.iter().filter(is).count()
}

fn lost(error: &DriverError) -> (&str, &str) {
    match error {
        DriverError::Lost { cause, hint } => (cause, hint.as_deref().unwrap_or_default()),
        other => panic!("{other:?}"),
    }
}

/// What a device says that cannot be reached any more.
fn gone(device: &Device) -> &'static str {
    match device.way {
        Way::Address => "nothing listens at 127.0.0.1:",
        Way::Cable => "nothing listens at port 8100 of",
    }
}

#[tokio::test]
async fn a_session_another_client_took_is_made_anew() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.fill("email", "ann").await;
        device.inject(
            "{ match: { route: 'GET .*/source' }, when: { times: 1 }, do: session_killed }",
        );
        assert!(device.shows("sign_in").await);
        assert_eq!(mended(&device.events()), 1);
        assert_eq!(
            device.variable("email"),
            "ann",
            "the app was not started again"
        );
    })
    .await;
}

#[tokio::test]
async fn a_tap_that_found_the_session_gone_is_done_once() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.fill("email", "ann").await;
        let at = device.center("sign_in").await;
        device.inject(
            "{ match: { route: 'POST .*/actions' }, when: { times: 1 }, do: session_killed }",
        );
        device.input(InputCommand::Tap { at }).await;
        assert_eq!(device.variable("error"), "Enter your password");
        assert_eq!(mended(&device.events()), 1);
    })
    .await;
}

#[tokio::test]
async fn a_client_that_keeps_taking_the_session_is_blamed() {
    both_ways(NO_FAULTS, async |device| {
        device.inject("{ match: { route: 'GET .*/source' }, do: session_killed }");
        let error = device.err(SNAPSHOT).await;
        let (cause, hint) = lost(&error);
        assert_eq!(cause, "read the screen: the session was taken away 3 times");
        assert!(hint.contains("another client"), "{hint}");
    })
    .await;
}

#[tokio::test]
async fn an_element_that_went_stale_is_found_again() {
    both_ways(NO_FAULTS, async |device| {
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
    })
    .await;
}

#[tokio::test]
async fn a_webdriveragent_that_crashed_means_the_device_is_lost() {
    both_ways(NO_FAULTS, async |device| {
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
        device.ok(Command::Begin(SessionOptions::default())).await;
        device.open_shop().await;
    })
    .await;
}

#[tokio::test]
async fn a_crash_in_the_middle_of_a_command_is_noticed_at_once() {
    for route in ["GET .*/source", "POST .*/actions"] {
        both_ways(NO_FAULTS, async |device| {
            device.open_shop().await;
            let at = device.center("sign_in").await;
            device.inject(&format!(
                "{{ match: {{ route: '{route}' }}, do: {{ wda_crash: 60m }} }}"
            ));
            let command = if route.starts_with("GET") {
                SNAPSHOT
            } else {
                Command::Input(InputCommand::Tap { at })
            };
            let error = device.err(command).await;
            let (cause, _) = lost(&error);
            assert!(cause.contains(gone(device)), "{cause}");
        })
        .await;
    }
}

#[tokio::test]
async fn a_pulled_cable_loses_the_device_until_it_is_plugged_in_again() {
    let mut device = Device::connect(Way::Cable, NO_FAULTS).await;
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
    device.ok(Command::Begin(SessionOptions::default())).await;
    device.open_shop().await;
    device.end().await;
}

#[tokio::test]
async fn a_cable_pulled_in_the_middle_of_a_command_is_noticed_at_once() {
    let mut device = Device::connect(Way::Cable, NO_FAULTS).await;
    device.open_shop().await;
    device.inject("{ match: { route: 'GET .*/source' }, do: { detach: 60m } }");
    let error = device.err(SNAPSHOT).await;
    assert!(lost(&error).0.contains("has no device"), "{error}");
    device.end().await;
}

#[tokio::test]
async fn questions_that_broke_off_are_asked_again() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        for fault in ["reset", "garbage", "{ drop_after: { bytes: 700 } }"] {
            device.inject(&format!(
                "{{ match: {{ route: 'GET .*/source' }}, when: {{ times: 2 }}, do: {fault} }}"
            ));
            assert!(device.shows("sign_in").await, "{fault}");
        }
        assert_eq!(device.events(), []);
    })
    .await;
}

#[tokio::test]
async fn rubbish_without_end_is_not_webdriveragent() {
    both_ways(NO_FAULTS, async |device| {
        device.inject("{ match: { route: 'GET .*/source' }, do: garbage }");
        let error = device.err(SNAPSHOT).await;
        let (_, hint) = lost(&error);
        assert!(!hint.is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_tap_whose_answer_is_lost_is_not_repeated() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let at = device.center("email").await;
        device.inject("{ match: { route: 'POST .*/actions' }, do: { drop_after: { bytes: 20 } } }");
        let error = device.err(Command::Input(InputCommand::Tap { at })).await;
        let DriverError::Timeout { doing, log, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(doing, "tap");
        assert!(log.iter().any(|line| line.contains("not known")), "{log:?}");
        assert_eq!(log.last().unwrap(), "WebDriverAgent answers again");
        assert!(
            device.world(|world| world.keyboard_shown()),
            "it was done, and once"
        );
        device.phone().device().clear_faults();
        assert!(device.shows("sign_in").await, "the driver goes on");
    })
    .await;
}

#[tokio::test]
async fn a_command_without_an_answer_ends_at_its_deadline() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.inject("{ match: { route: 'GET .*/source' }, when: { times: 1 }, do: no_answer }");
        let began = Instant::now();
        let error = device
            .execute_in(
                SNAPSHOT,
                &CommandContext::within(Duration::from_millis(200)),
            )
            .await;
        let error = error.unwrap_err();
        assert!(
            matches!(&error, DriverError::Timeout { doing, .. } if doing == "read the screen"),
            "{error:?}"
        );
        assert!(began.elapsed() < Duration::from_secs(20));
        assert!(
            device.shows("sign_in").await,
            "the next answer is that to the next question"
        );
    })
    .await;
}

#[tokio::test]
async fn a_tap_that_nobody_answers_is_the_devices_failure_long_before_the_sessions_end() {
    let mut device = Device::connect(Way::Cable, NO_FAULTS).await;
    device.open_shop().await;
    let at = device.center("sign_in").await;
    device.inject("{ match: { route: actions }, when: { times: 1 }, do: no_answer }");
    let tap = Command::Input(InputCommand::Tap { at });
    let ctx = CommandContext::within(Duration::from_secs(30));
    let error = device.execute_in(tap, &ctx).await.unwrap_err();
    let (cause, hint) = lost(&error);
    assert_eq!(cause, "tap: WebDriverAgent did not answer within 15 s");
    assert!(hint.contains("may have happened or not"), "{hint}");
    assert!(device.shows("sign_in").await, "the driver goes on");
}

#[tokio::test]
async fn a_cancelled_command_ends_at_once() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.inject("{ match: { route: 'GET .*/source' }, when: { times: 1 }, do: no_answer }");
        let ctx = CommandContext::within(Duration::from_secs(3600));
        let cancel = ctx.cancel.clone();
        let stopped = tokio::spawn(async move {
            tokio::task::yield_now().await;
            cancel.cancel();
        });
        let error = device.execute_in(SNAPSHOT, &ctx).await.unwrap_err();
        assert_eq!(error, DriverError::Cancelled);
        stopped.await.unwrap();
        assert!(device.shows("sign_in").await);
    })
    .await;
}

#[tokio::test]
async fn a_slow_phone_is_waited_for() {
    let slow = "rules: [{ match: { route: '.*' }, do: { delay: 30ms } }]";
    both_ways(slow, async |device| {
        device.open_shop().await;
        assert!(device.shows("sign_in").await);
        assert_eq!(device.events(), []);
    })
    .await;
}

#[tokio::test]
async fn a_refusal_is_told_in_webdriveragents_words() {
    both_ways(NO_FAULTS, async |device| {
        device.inject("{ match: { route: /screenshot$ }, do: { fail: the camera is wet } }");
        let error = device.err(Command::Screenshot).await;
        assert_eq!(
            error,
            DriverError::unmet("take a screenshot: the camera is wet")
        );
    })
    .await;
}

#[tokio::test]
async fn a_phone_that_restarts_is_lost() {
    for fault in ["{ reboot: 60m }", "{ boot_loop: 60m }"] {
        both_ways(NO_FAULTS, async |device| {
            device.open_shop().await;
            device.inject(&format!("{{ match: {{ route: source }}, do: {fault} }}"));
            let error = device.err(SNAPSHOT).await;
            assert!(error.ends_driver(), "{error}");
        })
        .await;
    }
}
