//! Sessions: beginning, ending, deadlines, giving up, and the device's log.

use std::time::{Duration, Instant};

use packtrain_drivers::{
    AndroidCommand, AppCommand, Command, CommandContext, DeviceEvent, DriverError, Fault,
    InputCommand, SessionOptions,
};
use packtrain_testing::{NO_FAULTS, SNAPSHOT, TestDevice as _, VirtualPhone as _};

use super::lab::{Agent, Device, Way, Wire, all_ways, both_wires, options};

fn sleep(seconds: u32) -> Command {
    Command::Android(AndroidCommand::Shell {
        argv: vec!["sleep".to_owned(), seconds.to_string()],
        run_as: None,
    })
}

#[tokio::test]
async fn a_session_begins_on_the_home_screen() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let notes = device
            .notes(Command::Begin(SessionOptions::default()))
            .await;
        assert_eq!(notes, [""; 0]);
        let front = device.json(Command::App(AppCommand::Foreground)).await;
        assert_eq!(front["id"], "com.google.android.apps.nexuslauncher");
    })
    .await;
}

#[tokio::test]
async fn without_a_session_there_is_nothing_to_do() {
    all_ways(NO_FAULTS, async |device| {
        device.ok(Command::End).await;
        let error = device.err(SNAPSHOT).await;
        assert_eq!(error.to_string(), "no session was begun on this device");
        device.ok(Command::Begin(SessionOptions::default())).await;
        device.snapshot().await;
    })
    .await;
}

#[tokio::test]
async fn a_command_that_does_not_end_is_given_up_at_its_deadline() {
    all_ways(NO_FAULTS, async |device| {
        let time = Duration::from_millis(300);
        let start = Instant::now();
        let error = device
            .execute_in(sleep(1000), &CommandContext::within(time))
            .await
            .unwrap_err();
        assert!(start.elapsed() < Duration::from_secs(10));
        assert!(matches!(error, DriverError::Timeout { .. }), "{error:?}");
        assert_eq!(error.fault(), Fault::Device);
        assert!(!error.ends_driver());
        device.snapshot().await;
        let ends = Command::Android(AndroidCommand::Shell {
            argv: ["sh", "-c", "while pidof sleep >/dev/null; do :; done"]
                .map(String::from)
                .into(),
            run_as: None,
        });
        device.ok(ends).await;
    })
    .await;
}

#[tokio::test]
async fn a_cancelled_command_answers_at_once_and_leaves_the_device_well() {
    all_ways(NO_FAULTS, async |device| {
        let ctx = packtrain_testing::context();
        let cancel = ctx.cancel.clone();
        let phone = device.phone().clone();
        let device_time = phone.device().now();
        let started = async {
            // Something the device does when the command has reached it.
            let reached = phone
                .device()
                .wait_for(device_time + packtrain_testing::TEST_TIMEOUT, |world, _| {
                    world.dialog()
                })
                .await;
            assert!(reached.is_some());
            cancel.cancel();
        };
        device.inject("{ match: { command: sleep }, do: { dialog: { text: Reached } } }");
        device.open_shop().await;
        let (answer, ()) = tokio::join!(device.execute_in(sleep(1000), &ctx), started);
        assert_eq!(answer.unwrap_err(), DriverError::Cancelled);
        device.phone().device().clear_faults();
        device.snapshot().await;
    })
    .await;
}

#[tokio::test]
async fn a_phone_without_u2_jar_is_driven_by_shell_and_the_reader_is_told() {
    let mut device = Device::found(Way::new(Wire::Direct, Agent::U2), options(NO_FAULTS)).await;
    let settings = packtrain_driver_adb::AdbOptions {
        server: None,
        ..packtrain_driver_adb::AdbOptions::default()
    };
    device.pool = packtrain_driver_adb::AdbPool::new(settings);
    device.connector = device
        .pool
        .direct("bench", super::lab::address(device.phone()))
        .await
        .unwrap();
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

#[tokio::test]
async fn the_devices_log_of_a_session_is_kept_and_crashes_in_it_are_told() {
    all_ways(NO_FAULTS, async |device| {
        let path = device.folder.path().join("logs/device.log");
        let options = SessionOptions {
            device_log: Some(path.clone()),
            ..SessionOptions::default()
        };
        device.ok(Command::Begin(options)).await;
        device.open_shop().await;
        device.events();
        device.inject("{ match: { command: ^id }, do: crash }");
        let crash = Command::Android(AndroidCommand::Shell {
            argv: vec!["id".to_owned()],
            run_as: None,
        });
        device.ok(crash).await;
        let crashed = device
            .event_where(|event| matches!(event, DeviceEvent::Crashed { .. }))
            .await;
        let what = "com.example.shop: java.lang.RuntimeException: the app crashed".to_owned();
        assert_eq!(crashed, DeviceEvent::Crashed { what });
        device.ok(Command::End).await;
        let log = std::fs::read_to_string(&path).unwrap();
        assert!(log.contains("FATAL EXCEPTION"), "{log}");
    })
    .await;
}

#[tokio::test]
async fn many_commands_leave_nothing_behind_on_the_device() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        for _ in 0..20 {
            let at = device.center("email").await;
            device.input(InputCommand::Tap { at }).await;
        }
        device.disconnect().await;
        device.reconnect().await.unwrap();
        device.ok(Command::Begin(SessionOptions::default())).await;
        device.snapshot().await;
    })
    .await;
}

#[tokio::test]
async fn u2_jar_is_read_once_for_all_devices() {
    let mut both = options(NO_FAULTS);
    both.android = 2;
    let mut device = Device::found(Way::new(Wire::Direct, Agent::U2), both).await;
    let other = super::lab::address(&device.fleet.android()[1]);
    let other = device.pool.direct("other", other).await.unwrap();
    for connector in [device.connector.clone(), other] {
        device.connector = connector;
        device.reconnect().await.unwrap();
        device.ok(Command::Begin(SessionOptions::default())).await;
        // The second device is sent what was read for the first.
        let _ = std::fs::remove_file(device.folder.path().join("u2.jar"));
    }
    device.end().await;
}

/// The settings that trails change: flight mode, then whether and how the screen is turned.
async fn settings(device: &mut Device) -> String {
    let line = "settings get global airplane_mode_on; settings get system accelerometer_rotation; \
                settings get system user_rotation";
    let get = Command::Android(AndroidCommand::Shell {
        argv: ["sh", "-c", line].map(str::to_owned).into(),
        run_as: None,
    });
    device.ok(Command::Begin(SessionOptions::default())).await;
    let said = device.json(get).await;
    said["stdout"].as_str().unwrap().replace('\n', " ")
}

async fn change_settings(device: &mut Device) {
    device.ok(Command::Begin(SessionOptions::default())).await;
    device.app(AppCommand::Network { connected: false }).await;
    device.app(AppCommand::Rotate { landscape: true }).await;
}

#[tokio::test]
async fn a_session_that_was_cancelled_ends_and_undoes_what_it_changed() {
    both_wires(Agent::Shell, NO_FAULTS, async |device| {
        let before = settings(device).await;
        change_settings(device).await;
        let ctx = packtrain_testing::context();
        ctx.cancel.cancel();
        device.execute_in(Command::End, &ctx).await.unwrap();
        assert_eq!(settings(device).await, before);
    })
    .await;
}

#[tokio::test]
async fn what_an_end_had_no_time_to_undo_is_undone_before_the_next_session() {
    both_wires(Agent::Shell, NO_FAULTS, async |device| {
        let before = settings(device).await;
        change_settings(device).await;
        // The first of what is undone takes longer than there is.
        device.inject(
            "{ match: { command: '^(cmd connectivity|svc)' }, when: { times: 1 }, do: { delay: 60m } }",
        );
        let short = CommandContext::within(Duration::from_millis(500));
        let error = device.execute_in(Command::End, &short).await.unwrap_err();
        assert!(matches!(error, DriverError::Timeout { .. }), "{error:?}");
        assert_eq!(settings(device).await, before);
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_undone_is_told_and_keeps_nothing_else_from_being_undone() {
    both_wires(Agent::Shell, NO_FAULTS, async |device| {
        let before = settings(device).await;
        change_settings(device).await;
        device.inject("{ match: { command: '^(cmd connectivity|svc)' }, do: { fail: no } }");
        let notes = device.notes(Command::End).await;
        assert_eq!(
            notes,
            ["the network is still disconnected: set the network: no"]
        );
        assert_eq!(settings(device).await, before.replacen('0', "1", 1));
    })
    .await;
}
