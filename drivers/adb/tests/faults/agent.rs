//! The agent on the phone.

use std::time::Duration;

use packtrain_drivers::{Command, CommandContext, DriverError, InputCommand, SessionOptions};
use packtrain_testing::{NO_FAULTS, SNAPSHOT, TestDevice as _, VirtualPhone as _};

use super::{lost, mended};
use crate::lab::{Agent, Device, Way, Wire, both_wires, options};

/// A phone whose driver is connected but has begun no session.
async fn before_a_session(wire: Wire, rule: &str) -> Device {
    let mut device = Device::found(Way::new(wire, Agent::U2), options(NO_FAULTS)).await;
    device.inject(rule);
    device.reconnect().await.unwrap();
    device
}

#[tokio::test]
async fn an_agent_that_dies_while_reading_is_started_again() {
    both_wires(Agent::U2, NO_FAULTS, async |device| {
        device.open_shop().await;
        device.events();
        device.inject("{ match: { route: dumpWindow }, when: { times: 1 }, do: agent_dies }");
        assert!(device.shows("sign_in").await);
        assert_eq!(mended(&device.events()), 1);
    })
    .await;
}

#[tokio::test]
async fn an_agent_that_keeps_dying_is_told() {
    both_wires(Agent::U2, NO_FAULTS, async |device| {
        device.inject("{ match: { route: dumpWindow }, do: agent_dies }");
        let error = device.err(SNAPSHOT).await;
        let (cause, _) = lost(&error);
        assert_eq!(
            cause,
            "the agent on the device ended during `dumpWindowHierarchy`"
        );
    })
    .await;
}

#[tokio::test]
async fn a_connection_that_drops_is_not_told_as_an_agent_that_ended() {
    both_wires(Agent::U2, NO_FAULTS, async |device| {
        device.open_shop().await;
        device.inject("{ match: { route: dumpWindow }, do: drop }");
        let error = device.err(SNAPSHOT).await;
        let (cause, _) = lost(&error);
        assert!(cause.starts_with("the connection ended during"), "{cause}");
    })
    .await;
}

#[tokio::test]
async fn a_taken_port_is_no_obstacle() {
    for wire in [Wire::Server, Wire::Direct] {
        let mut device = before_a_session(
            wire,
            "{ match: { command: 'uia2.Main' }, when: { times: 2 }, do: port_busy }",
        )
        .await;
        device.ok(Command::Begin(SessionOptions::default())).await;
        device.snapshot().await;
        device.end().await;
    }
}

#[tokio::test]
async fn ports_that_are_all_taken_are_told() {
    for wire in [Wire::Server, Wire::Direct] {
        let mut device =
            before_a_session(wire, "{ match: { command: 'uia2.Main' }, do: port_busy }").await;
        let error = device.err(Command::Begin(SessionOptions::default())).await;
        let (cause, hint) = lost(&error);
        assert_eq!(
            (cause, hint),
            (
                "the agent does not start: its ports on the device are taken",
                "reboot the device"
            )
        );
        device.end().await;
    }
}

#[tokio::test]
async fn another_client_that_has_the_automation_is_named() {
    for wire in [Wire::Server, Wire::Direct] {
        let rule = "{ match: { command: 'uia2.Main' }, do: ui_automation_taken }";
        let mut device = before_a_session(wire, rule).await;
        let error = device.err(Command::Begin(SessionOptions::default())).await;
        let (cause, hint) = lost(&error);
        assert_eq!(
            cause,
            "the agent does not start: another client uses the device's UI automation"
        );
        assert!(hint.contains("stop Appium"), "{hint}");
        device.end().await;
    }
}

#[tokio::test]
async fn a_plain_dump_that_is_killed_names_the_other_client() {
    both_wires(Agent::Shell, NO_FAULTS, async |device| {
        device.inject("{ match: { tree: uiautomator }, do: ui_automation_taken }");
        let time = Duration::from_millis(700);
        let error = device
            .execute_in(SNAPSHOT, &CommandContext::within(time))
            .await
            .unwrap_err();
        assert_eq!(
            error.log(),
            ["`uiautomator` was killed: another client uses the device's UI automation"]
        );
    })
    .await;
}

#[tokio::test]
async fn an_agent_that_does_not_answer_is_given_up_and_the_next_call_finds_another() {
    both_wires(Agent::U2, NO_FAULTS, async |device| {
        device.open_shop().await;
        let at = device.center("sign_in").await;
        device.inject("{ match: { route: click }, when: { times: 1 }, do: no_answer }");
        let tap = Command::Input(InputCommand::Tap { at });
        let time = Duration::from_millis(500);
        let error = device
            .execute_in(tap, &CommandContext::within(time))
            .await
            .unwrap_err();
        assert!(matches!(error, DriverError::Timeout { .. }), "{error:?}");
        assert!(error.to_string().contains("`click`"), "{error}");
        assert!(device.shows("sign_in").await);
    })
    .await;
}

#[tokio::test]
async fn a_call_that_throws_is_told_in_its_words() {
    both_wires(Agent::U2, NO_FAULTS, async |device| {
        device.open_shop().await;
        let at = device.center("sign_in").await;
        device.inject("{ match: { route: click }, do: { fail: 'java.lang.SecurityException: not allowed to inject' } }");
        let error = device.err(Command::Input(InputCommand::Tap { at })).await;
        assert_eq!(
            error.to_string(),
            "tap: java.lang.SecurityException: not allowed to inject"
        );
    })
    .await;
}

#[tokio::test]
async fn an_agent_whose_client_is_gone_is_not_relied_on() {
    for wire in [Wire::Server, Wire::Direct] {
        let mut device = Device::connect(Way::new(wire, Agent::U2), NO_FAULTS).await;
        let before = device.agent_processes().await;
        // Cut off without a word, as by a power failure: it ends when it notices.
        device.phone().device().cut();
        device.reconnect().await.unwrap();
        device.ok(Command::Begin(SessionOptions::default())).await;
        let now = device.agent_processes().await;
        assert_eq!(
            now.len(),
            2,
            "{wire:?}: a shell and what it runs, once: {now:?}"
        );
        assert!(now.iter().all(|pid| !before.contains(pid)), "{wire:?}");
        device.end().await;
    }
}
