//! The phone itself.

use std::time::Duration;

use packtrain_driver_adb::{AdbOptions, AgentChoice};
use packtrain_drivers::{
    AndroidCommand, AppCommand, Command, CommandContext, Fault, LaunchMode, SessionOptions,
};
use packtrain_testing::promises::Bench as _;
use packtrain_testing::{
    NO_FAULTS, SHOP, SNAPSHOT, TestDevice as _, VirtualPhone as _, lost, mended,
};

use crate::lab::{Device, Way, all_ways, by_shell, options, shell};

by_shell! {
    a_phone_that_reboots_within_a_command_is_lost_for_that_command
    a_phone_that_boots_for_ever_is_lost
}

all_ways! {
    a_phone_that_rebooted_between_two_commands_is_found_again_with_its_agent
    a_full_phone_says_so_when_files_or_apps_are_put_on_it
    commands_that_fail_and_say_they_did_not_are_not_believed
    a_command_that_fails_is_told_in_the_phones_words
}

const SHORT_TIMEOUT: Duration = Duration::from_secs(2);

async fn a_phone_that_reboots_within_a_command_is_lost_for_that_command(device: &mut Device) {
    device.open_shop().await;
    device.inject("{ match: { command: ^id }, when: { times: 1 }, do: { reboot: 500ms } }");
    let error = device.err(shell(&["id"])).await;
    let (cause, _) = lost(&error);
    assert!(cause.starts_with("the connection ended during"), "{cause}");
    device.disconnect().await;
    device.reconnect().await.unwrap();
    device.begin().await;
    device.open_shop().await;
    assert!(device.shows("sign_in").await);
}

async fn a_phone_that_rebooted_between_two_commands_is_found_again_with_its_agent(
    device: &mut Device,
) {
    device.phone().device().reboot(Duration::from_millis(400));
    device.open_shop().await;
    assert!(device.shows("sign_in").await);
    assert!(mended(&device.events()) >= 1, "{:?}", device.way);
}

async fn a_phone_that_boots_for_ever_is_lost(device: &mut Device) {
    device.inject("{ match: { command: ^id }, do: { boot_loop: 60s } }");
    let _ = device
        .execute_in(shell(&["id"]), &CommandContext::within(SHORT_TIMEOUT))
        .await;
    let error = device.err_within(SHORT_TIMEOUT, SNAPSHOT).await;
    let (cause, _) = lost(&error);
    // An adb server that has tried for a while forgets an address that does not answer.
    let is_gone = cause.contains("offline") || cause == "the device is not found";
    assert!(is_gone, "{cause}");
}

async fn a_full_phone_says_so_when_files_or_apps_are_put_on_it(device: &mut Device) {
    device.inject("{ match: { push: sdcard }, do: storage_full }");
    let write = AndroidCommand::WriteFile {
        path: "/sdcard/big".to_owned(),
        bytes: vec![1; 3_000_000],
    };
    let error = device.err(Command::Android(write)).await;
    assert_eq!(error.fault(), Fault::App);
    assert_eq!(
        error.to_string(),
        "write /sdcard/big on the device: write failed: No space left on device"
    );
    device.snapshot().await;
}

#[tokio::test]
async fn an_agent_that_has_no_room_on_the_phone_gives_way_to_the_shell_unless_it_was_asked_for() {
    for way in [Way::SERVER_AGENT, Way::DIRECT_AGENT] {
        let mut device = Device::found(way, options(NO_FAULTS)).await;
        device.inject("{ match: { push: u2.jar }, do: storage_full }");
        device.reconnect().await.unwrap();
        let error = device.err(Command::Begin(SessionOptions::default())).await;
        let (cause, hint) = lost(&error);
        assert!(
            cause.ends_with(
                "/data/local/tmp/u2.jar on the device: write failed: No space left on device"
            ),
            "{cause}"
        );
        assert_eq!(hint, "free some of the device's storage");
        device.disconnect().await;
        let auto = |options: &mut AdbOptions| options.agent = AgentChoice::Auto;
        device.altered(auto).await;
        device.reconnect().await.unwrap();
        let notes = device
            .notes(Command::Begin(SessionOptions::default()))
            .await;
        assert!(
            notes[0].starts_with("driven by plain shell commands")
                && notes[0].ends_with("No space left on device"),
            "{notes:?}"
        );
        device.end().await;
    }
}

async fn commands_that_fail_and_say_they_did_not_are_not_believed(device: &mut Device) {
    device.open_shop().await;
    for (rule, command, told) in [
        (
            "pm clear",
            AppCommand::Clear(SHOP.into()),
            "clear the data of com.example.shop: ",
        ),
        (
            "am start",
            AppCommand::Launch {
                id: SHOP.into(),
                mode: LaunchMode::Resume,
            },
            "start com.example.shop: ",
        ),
    ] {
        let lie = "{ answer: { stdout: \"Error: it went wrong\\n\", exit: 0 } }";
        device.inject(&format!("{{ match: {{ command: ^{rule} }}, do: {lie} }}"));
        let error = device.err(Command::App(command)).await;
        assert_eq!(error.to_string(), format!("{told}Error: it went wrong"));
        assert_eq!(error.fault(), Fault::App);
        device.heal();
    }
}

async fn a_command_that_fails_is_told_in_the_phones_words(device: &mut Device) {
    device.open_shop().await;
    device.inject("{ match: { command: ^am force-stop }, do: { fail: 'Error: system is busy' } }");
    let error = device
        .err(Command::App(AppCommand::Stop(SHOP.into())))
        .await;
    assert_eq!(
        error.to_string(),
        "stop com.example.shop: Error: system is busy"
    );
    device.inject("{ match: { command: ^screencap }, do: { answer: { exit: 0 } } }");
    let error = device.err(Command::Screenshot).await;
    assert_eq!(
        error.to_string(),
        "take a screenshot: no screenshot was returned, exit code 0"
    );
}
