//! Sessions: beginning, ending, deadlines, giving up, and the device's log.

use std::time::Duration;

use packtrain_driver_adb::{AdbOptions, AgentChoice, AgentFiles};
use packtrain_drivers::{
    AppCommand, Command, DeviceEvent, DriverError, Fault, InputCommand, SessionOptions,
};
use packtrain_testing::promises::Bench as _;
use packtrain_testing::{
    NO_FAULTS, SNAPSHOT, TEST_TIMEOUT, TestDevice as _, VirtualPhone as _, context,
};
use tokio::time::Instant;

use super::lab::{Device, Way, address, all_ways, by_shell, options, shell};

all_ways! {
    without_a_session_there_is_nothing_to_do
    a_command_that_does_not_end_is_given_up_at_its_deadline
    a_cancelled_command_answers_at_once_and_leaves_the_device_well
    the_devices_log_of_a_session_is_kept_and_crashes_in_it_are_told
    many_commands_leave_nothing_behind_on_the_device
}

by_shell! {
    a_session_that_was_cancelled_ends_and_undoes_what_it_changed
    what_an_end_had_no_time_to_undo_is_undone_before_the_next_session
    what_cannot_be_undone_is_told_and_keeps_nothing_else_from_being_undone
}

fn sleep() -> Command {
    shell(&["sleep", "1000"])
}

async fn without_a_session_there_is_nothing_to_do(device: &mut Device) {
    device.ok(Command::End).await;
    let error = device.err(SNAPSHOT).await;
    assert_eq!(error.to_string(), "no session was begun on this device");
    device.begin().await;
    device.snapshot().await;
}

async fn a_command_that_does_not_end_is_given_up_at_its_deadline(device: &mut Device) {
    let time = Duration::from_millis(300);
    let start = Instant::now();
    let error = device.err_within(time, sleep()).await;
    assert!(start.elapsed() < Duration::from_secs(10));
    assert!(matches!(error, DriverError::Timeout { .. }), "{error:?}");
    assert_eq!(error.fault(), Fault::Device);
    assert!(!error.ends_driver());
    device.snapshot().await;
    let ends = "while pidof sleep >/dev/null; do :; done";
    device.ok(shell(&["sh", "-c", ends])).await;
}

async fn a_cancelled_command_answers_at_once_and_leaves_the_device_well(device: &mut Device) {
    let ctx = context();
    let cancel = ctx.cancel.clone();
    let phone = device.phone().clone();
    let device_time = phone.device().now();
    let started = async {
        // Something the device does when the command has reached it.
        let reached = phone
            .device()
            .wait_for(device_time + TEST_TIMEOUT, |world| world.dialog())
            .await;
        assert!(reached.is_some());
        cancel.cancel();
    };
    device.inject("{ match: { command: sleep }, do: { dialog: { text: Reached } } }");
    device.open_shop().await;
    let (answer, ()) = tokio::join!(device.execute_in(sleep(), &ctx), started);
    assert_eq!(answer.unwrap_err(), DriverError::Cancelled);
    device.heal();
    device.snapshot().await;
}

#[tokio::test]
async fn a_phone_without_u2_jar_is_driven_by_shell_and_the_reader_is_told() {
    let mut device = Device::found(Way::DIRECT_AGENT, options(NO_FAULTS)).await;
    let without = |options: &mut AdbOptions| {
        options.agent = AgentChoice::Auto;
        options.files = AgentFiles::default();
    };
    device.altered(without).await;
    device.reconnect().await.unwrap();
    let notes = device
        .notes(Command::Begin(SessionOptions::default()))
        .await;
    assert_eq!(
        notes,
        [
            "driven by plain shell commands, which are slow and type ASCII only: u2.jar is not installed; `packtrain doctor --fix` does it"
        ]
    );
    device.end().await;
}

async fn the_devices_log_of_a_session_is_kept_and_crashes_in_it_are_told(device: &mut Device) {
    let path = device.folder.path().join("logs/device.log");
    let options = SessionOptions {
        device_log: Some(path.clone()),
        ..SessionOptions::default()
    };
    device.ok(Command::Begin(options)).await;
    device.open_shop().await;
    device.events();
    device.inject("{ match: { command: ^id }, do: crash }");
    device.ok(shell(&["id"])).await;
    let crashed = device
        .event_where(|event| matches!(event, DeviceEvent::Crashed { .. }))
        .await;
    let what = "com.example.shop: java.lang.RuntimeException: the app crashed".to_owned();
    assert_eq!(crashed, DeviceEvent::Crashed { what });
    device.ok(Command::End).await;
    let log = std::fs::read_to_string(&path).unwrap();
    assert!(log.contains("FATAL EXCEPTION"), "{log}");
}

async fn many_commands_leave_nothing_behind_on_the_device(device: &mut Device) {
    device.open_shop().await;
    for _ in 0..20 {
        let at = device.center("email").await;
        device.input(InputCommand::Tap { at }).await;
    }
    device.disconnect().await;
    device.reconnect().await.unwrap();
    device.begin().await;
    device.snapshot().await;
}

#[tokio::test]
async fn u2_jar_is_read_once_for_all_devices() {
    let mut both = options(NO_FAULTS);
    both.android = 2;
    let mut device = Device::found(Way::DIRECT_AGENT, both).await;
    let other = address(&device.fleet.android()[1]);
    let other = device.pool.direct("other", other).await.unwrap();
    for connector in [device.hand.connector.clone(), other] {
        device.hand.connector = connector;
        device.reconnect().await.unwrap();
        device.begin().await;
        // The second device is sent what was read for the first.
        let _ = std::fs::remove_file(device.folder.path().join("u2.jar"));
    }
    device.end().await;
}

/// The settings that trails change: flight mode, then whether and how the screen is turned.
async fn settings(device: &mut Device) -> String {
    let line = "settings get global airplane_mode_on; settings get system accelerometer_rotation; \
                settings get system user_rotation";
    device.begin().await;
    let said = device.json(shell(&["sh", "-c", line])).await;
    said["stdout"].as_str().unwrap().replace('\n', " ")
}

async fn change_settings(device: &mut Device) {
    device.begin().await;
    device.app(AppCommand::Network { connected: false }).await;
    device.app(AppCommand::Rotate { landscape: true }).await;
}

async fn a_session_that_was_cancelled_ends_and_undoes_what_it_changed(device: &mut Device) {
    let before = settings(device).await;
    change_settings(device).await;
    let ctx = context();
    ctx.cancel.cancel();
    device.execute_in(Command::End, &ctx).await.unwrap();
    assert_eq!(settings(device).await, before);
}

async fn what_an_end_had_no_time_to_undo_is_undone_before_the_next_session(device: &mut Device) {
    let before = settings(device).await;
    change_settings(device).await;
    // The first of what is undone takes longer than there is.
    device.inject(
        "{ match: { command: '^(cmd connectivity|svc)' }, when: { times: 1 }, do: { delay: 60m } }",
    );
    let error = device
        .err_within(Duration::from_millis(500), Command::End)
        .await;
    assert!(matches!(error, DriverError::Timeout { .. }), "{error:?}");
    assert_eq!(settings(device).await, before);
}

async fn what_cannot_be_undone_is_told_and_keeps_nothing_else_from_being_undone(
    device: &mut Device,
) {
    let before = settings(device).await;
    change_settings(device).await;
    device.inject("{ match: { command: '^(cmd connectivity|svc)' }, do: { fail: no } }");
    let notes = device.notes(Command::End).await;
    assert_eq!(
        notes,
        ["the network is still disconnected: set the network: no"]
    );
    assert_eq!(settings(device).await, before.replacen('0', "1", 1));
}
