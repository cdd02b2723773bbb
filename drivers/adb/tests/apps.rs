//! Apps: their life, their permissions, and what they ask.

use std::time::Duration;

use packtrain_drivers::{
    AndroidCommand, AppCommand, Command, DriverError, Fault, InputCommand, LaunchMode, Observation,
};
use packtrain_testing::promises::Phone as _;
use packtrain_testing::{SHOP, TestDevice as _, VirtualPhone as _};
use packtrain_virtual::world::AppState;

use super::lab::{Device, all_ways, shell};

all_ways! {
    an_app_is_in_front_with_its_activity_until_it_is_cleared
    a_stopped_app_may_take_a_moment_to_be_gone
    an_app_that_is_not_there_is_named_with_those_that_are
    apps_are_listed_with_or_without_the_systems_own
    nothing_in_an_argument_means_anything_to_the_devices_shell
    an_app_is_removed_and_what_is_no_app_is_refused
    a_shell_command_answers_with_both_outputs_and_its_exit_code
    a_file_arrives_whole_and_a_medium_lies_where_the_gallery_looks
}

fn state(device: &Device) -> AppState {
    device.world(|world| world.app_state(&SHOP.into()))
}

async fn an_app_is_in_front_with_its_activity_until_it_is_cleared(device: &mut Device) {
    device.open_shop().await;
    let front = device.json(Command::App(AppCommand::Foreground)).await;
    assert_eq!(front["activity"], "com.example.shop.MainActivity");
    device.app(AppCommand::Clear(SHOP.into())).await;
    assert_eq!(state(device), AppState::NotRunning);
}

async fn a_stopped_app_may_take_a_moment_to_be_gone(device: &mut Device) {
    device.open_shop().await;
    let there = "answer: { stdout: \"4711\\n\", exit: 0 }";
    device.inject(&format!(
        "{{ match: {{ command: ^pidof }}, when: {{ times: 2 }}, do: {{ {there} }} }}"
    ));
    device.app(AppCommand::Stop(SHOP.into())).await;
    assert_eq!(state(device), AppState::NotRunning);
    device.inject(&format!(
        "{{ match: {{ command: ^pidof }}, do: {{ {there} }} }}"
    ));
    let stop = Command::App(AppCommand::Stop(SHOP.into()));
    let error = device.err_within(Duration::from_secs(2), stop).await;
    assert_eq!(
        error.to_string(),
        "stop com.example.shop: process 4711 is still there"
    );
}

async fn an_app_that_is_not_there_is_named_with_those_that_are(device: &mut Device) {
    let id = "com.example.none".to_owned();
    for command in [AppCommand::Clear(id.clone()), AppCommand::Uninstall(id)] {
        let error = device.err(Command::App(command)).await;
        assert_eq!(error.fault(), Fault::App);
        assert_eq!(error.to_string(), Device::NOT_INSTALLED);
    }
}

async fn apps_are_listed_with_or_without_the_systems_own(device: &mut Device) {
    let ids = |apps: serde_json::Value| -> Vec<String> {
        let apps = apps.as_array().unwrap().clone();
        apps.iter()
            .map(|app| app["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let list = |system| Command::App(AppCommand::List { system });
    assert_eq!(ids(device.json(list(false)).await), [SHOP]);
    let all = ids(device.json(list(true)).await);
    assert!(all.contains(&SHOP.to_owned()) && all.len() > 3, "{all:?}");
}

async fn nothing_in_an_argument_means_anything_to_the_devices_shell(device: &mut Device) {
    let marker = "/sdcard/Download/was-run";
    for hostile in [
        format!("; echo 1 > {marker}"),
        format!("$(echo 1 > {marker})"),
        format!("`echo 1 > {marker}`"),
        format!("x\necho 1 > {marker}\n"),
        format!("&& echo 1 > {marker} #"),
        format!("| echo 1 > {marker}"),
        format!("' ; echo 1 > {marker}; '"),
        format!("\" ; echo 1 > {marker}; \""),
        format!("\\' ; echo 1 > {marker}; \\'"),
        format!("> {marker}"),
    ] {
        device.open_shop().await;
        device.tap("email").await;
        let said = device.json(shell(&["echo", &hostile])).await;
        assert_eq!(said["stdout"], format!("{hostile}\n"));
        let all = [
            Command::App(AppCommand::OpenUrl(format!("nobody://{hostile}"))),
            Command::App(AppCommand::Launch {
                id: hostile.clone(),
                mode: LaunchMode::Resume,
            }),
            Command::App(AppCommand::Stop(hostile.clone())),
            Command::App(AppCommand::Clear(hostile.clone())),
            Command::App(AppCommand::Uninstall(hostile.clone())),
            Command::App(AppCommand::Grant {
                id: SHOP.into(),
                permissions: vec![hostile.clone()],
            }),
            Command::Android(AndroidCommand::AppOp {
                id: hostile.clone(),
                operation: hostile.clone(),
            }),
            Command::Android(AndroidCommand::Broadcast {
                action: hostile.clone(),
                component: format!("{hostile}/{hostile}"),
                extras: vec![(hostile.clone(), "string".into(), hostile.clone())],
            }),
            Command::Input(InputCommand::Text(hostile.clone())),
            Command::Input(InputCommand::SetClipboard(hostile.clone())),
            Command::Android(AndroidCommand::AddMedia {
                name: hostile.replace('/', "_"),
                bytes: vec![1],
                mime: hostile.clone(),
            }),
        ];
        for command in all {
            // Whether it can be done does not matter.
            let _ = device.execute(command).await;
        }
        let found = device.json(shell(&["ls", marker])).await;
        assert_ne!(found["exit"], 0, "{hostile} was run: {found}");
    }
    // That a shell would have run it is seen when one is asked to.
    let run = format!("true; echo 1 > {marker}");
    device.json(shell(&["sh", "-c", &run])).await;
    assert_eq!(device.json(shell(&["ls", marker])).await["exit"], 0);
}

async fn an_app_is_removed_and_what_is_no_app_is_refused(device: &mut Device) {
    device.app(AppCommand::Uninstall(SHOP.into())).await;
    assert_eq!(state(device), AppState::NotInstalled);
    let path = device.folder.path().join("broken.apk");
    std::fs::write(&path, vec![7; 100_000]).unwrap();
    let error = device.err(Command::App(AppCommand::Install(path))).await;
    assert_eq!(error.fault(), Fault::App);
    assert!(error.to_string().contains("Failure ["), "{error}");
    let missing = device.folder.path().join("none.apk");
    let error = device.err(Command::App(AppCommand::Install(missing))).await;
    assert!(matches!(error, DriverError::Invalid(_)), "{error}");
}

async fn a_shell_command_answers_with_both_outputs_and_its_exit_code(device: &mut Device) {
    let answer = device
        .json(shell(&["sh", "-c", "echo \"it's\"; echo bad >&2; exit 3"]))
        .await;
    assert_eq!(
        answer,
        serde_json::json!({ "stdout": "it's\n", "stderr": "bad\n", "exit": 3 })
    );
}

async fn a_file_arrives_whole_and_a_medium_lies_where_the_gallery_looks(device: &mut Device) {
    let bytes: Vec<u8> = (0..200_000_u32).map(|n| (n % 251) as u8).collect();
    let path = "/sdcard/Download/data.bin".to_owned();
    let write = AndroidCommand::WriteFile { path, bytes };
    device.ok(Command::Android(write)).await;
    let said = device.json(shell(&["wc", "-c", "/sdcard/Download/data.bin"]));
    let said = said.await;
    assert!(
        said["stdout"].as_str().unwrap().contains("200000"),
        "{said}"
    );
    let media = AndroidCommand::AddMedia {
        name: "it's a cat.png".into(),
        bytes: b"png".to_vec(),
        mime: "image/png".into(),
    };
    let Observation::Text(path) = device.ok(Command::Android(media)).await else {
        panic!("no path");
    };
    assert_eq!(path, "/sdcard/Pictures/it's a cat.png");
}
