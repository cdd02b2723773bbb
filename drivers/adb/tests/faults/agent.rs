//! The agent on the phone.

use std::time::Duration;

use packtrain_drivers::{Command, DriverError, InputCommand, SessionOptions};
use packtrain_testing::{SNAPSHOT, TestDevice as _, VirtualPhone as _, lost, mended};

use crate::lab::{Device, agent_processes, by_agent, by_shell};

by_agent! {
    an_agent_that_dies_while_reading_is_started_again
    an_agent_that_keeps_dying_is_told
    a_connection_that_drops_is_not_told_as_an_agent_that_ended
    an_agent_that_does_not_answer_is_given_up_and_the_next_call_finds_another
    a_call_that_throws_is_told_in_its_words
    a_taken_port_is_no_obstacle
    ports_that_are_all_taken_are_told
    another_client_that_has_the_automation_is_named
    an_agent_whose_client_is_gone_is_not_relied_on
}

by_shell! {
    a_plain_dump_that_is_killed_names_the_other_client
}

/// The driver is connected to a phone that is so, and has begun no session.
async fn before_a_session(device: &mut Device, rule: &str) {
    device.disconnect().await;
    device.inject(rule);
    device.reconnect().await.unwrap();
}

async fn an_agent_that_dies_while_reading_is_started_again(device: &mut Device) {
    device.open_shop().await;
    device.events();
    device.inject("{ match: { route: dumpWindow }, when: { times: 1 }, do: agent_dies }");
    assert!(device.shows("sign_in").await);
    assert_eq!(mended(&device.events()), 1);
}

async fn an_agent_that_keeps_dying_is_told(device: &mut Device) {
    device.inject("{ match: { route: dumpWindow }, do: agent_dies }");
    let error = device.err(SNAPSHOT).await;
    let (cause, _) = lost(&error);
    assert_eq!(
        cause,
        "the agent on the device ended during `dumpWindowHierarchy`"
    );
}

async fn a_connection_that_drops_is_not_told_as_an_agent_that_ended(device: &mut Device) {
    device.open_shop().await;
    device.inject("{ match: { route: dumpWindow }, do: drop }");
    let error = device.err(SNAPSHOT).await;
    let (cause, _) = lost(&error);
    assert!(cause.starts_with("the connection ended during"), "{cause}");
}

async fn a_plain_dump_that_is_killed_names_the_other_client(device: &mut Device) {
    device.inject("{ match: { tree: uiautomator }, do: ui_automation_taken }");
    let time = Duration::from_millis(700);
    let error = device.err_within(time, SNAPSHOT).await;
    assert_eq!(
        error.log(),
        ["`uiautomator` was killed: another client uses the device's UI automation"]
    );
}

async fn an_agent_that_does_not_answer_is_given_up_and_the_next_call_finds_another(
    device: &mut Device,
) {
    device.open_shop().await;
    let at = device.center("sign_in").await;
    device.inject("{ match: { route: click }, when: { times: 1 }, do: no_answer }");
    let tap = Command::Input(InputCommand::Tap { at });
    let time = Duration::from_millis(500);
    let error = device.err_within(time, tap).await;
    assert!(matches!(error, DriverError::Timeout { .. }), "{error:?}");
    assert!(error.to_string().contains("`click`"), "{error}");
    assert!(device.shows("sign_in").await);
}

async fn a_call_that_throws_is_told_in_its_words(device: &mut Device) {
    device.open_shop().await;
    let at = device.center("sign_in").await;
    device.inject("{ match: { route: click }, do: { fail: 'java.lang.SecurityException: not allowed to inject' } }");
    let error = device.err(Command::Input(InputCommand::Tap { at })).await;
    assert_eq!(
        error.to_string(),
        "tap: java.lang.SecurityException: not allowed to inject"
    );
}

async fn a_taken_port_is_no_obstacle(device: &mut Device) {
    let rule = "{ match: { command: 'uia2.Main' }, when: { times: 2 }, do: port_busy }";
    before_a_session(device, rule).await;
    device.begin().await;
    device.snapshot().await;
}

async fn ports_that_are_all_taken_are_told(device: &mut Device) {
    before_a_session(device, "{ match: { command: 'uia2.Main' }, do: port_busy }").await;
    let error = device.err(Command::Begin(SessionOptions::default())).await;
    let (cause, hint) = lost(&error);
    let taken = "the agent did not start: its ports on the device are taken";
    assert_eq!((cause, hint), (taken, "reboot the device"));
}

async fn another_client_that_has_the_automation_is_named(device: &mut Device) {
    let rule = "{ match: { command: 'uia2.Main' }, do: ui_automation_taken }";
    before_a_session(device, rule).await;
    let error = device.err(Command::Begin(SessionOptions::default())).await;
    let (cause, hint) = lost(&error);
    assert_eq!(
        cause,
        "the agent did not start: another client uses the device's UI automation"
    );
    assert!(hint.contains("stop Appium"), "{hint}");
}

async fn an_agent_whose_client_is_gone_is_not_relied_on(device: &mut Device) {
    let before = agent_processes(device).await;
    // Cut off without a word, as by a power failure: it ends when it notices.
    device.phone().device().cut();
    device.reconnect().await.unwrap();
    device.begin().await;
    let now = agent_processes(device).await;
    assert_eq!(now.len(), 2, "a shell and what it runs, once: {now:?}");
    assert!(now.iter().all(|pid| !before.contains(pid)), "{now:?}");
}
