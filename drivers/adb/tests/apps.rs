//! Apps: their life, their permissions, and what they ask.

use std::time::Duration;

use packtrain_drivers::{
    AndroidCommand, AppCommand, Command, CommandContext, DriverError, Fault, InputCommand,
    LaunchMode, Observation, Reach, SessionOptions,
};
use packtrain_testing::{NO_FAULTS, SHOP, TestDevice as _, VirtualPhone as _};
use packtrain_virtual::world::AppState;

use super::lab::{Device, all_ways};

fn shell(argv: &[&str]) -> Command {
    Command::Android(AndroidCommand::Shell {
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        run_as: None,
    })
}

async fn launch(device: &mut Device, mode: LaunchMode) -> Vec<String> {
    let id = SHOP.to_owned();
    device
        .notes(Command::App(AppCommand::Launch { id, mode }))
        .await
}

fn state(device: &Device) -> AppState {
    device.world(|world| world.app_state(&SHOP.into()))
}

#[tokio::test]
async fn launch_modes_differ_in_what_they_keep() {
    all_ways(NO_FAULTS, async |device| {
        assert_eq!(launch(device, LaunchMode::Reinstall).await, [""; 0]);
        device.fill("email", "ann").await;
        device
            .input(InputCommand::Key(packtrain_drivers::Key::Home))
            .await;
        launch(device, LaunchMode::Resume).await;
        assert_eq!(device.variable("email"), "ann", "resumed as it was");
        launch(device, LaunchMode::ForceRestart).await;
        assert_eq!(device.variable("email"), "", "started anew");
        assert_eq!(state(device), AppState::Foreground);
    })
    .await;
}

#[tokio::test]
async fn an_app_is_stopped_cleared_and_in_front_or_not() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let front = device.json(Command::App(AppCommand::Foreground)).await;
        assert_eq!(front["id"], SHOP);
        assert_eq!(front["activity"], "com.example.shop.MainActivity");
        device.app(AppCommand::Stop(SHOP.into())).await;
        assert_eq!(state(device), AppState::NotRunning);
        device.app(AppCommand::Stop(SHOP.into())).await;
        device.open_shop().await;
        device.app(AppCommand::Clear(SHOP.into())).await;
        assert_eq!(state(device), AppState::NotRunning);
    })
    .await;
}

#[tokio::test]
async fn a_stopped_app_may_take_a_moment_to_be_gone() {
    all_ways(NO_FAULTS, async |device| {
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
        let short = CommandContext::within(Duration::from_secs(2));
        let error = device.execute_in(stop, &short).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "stop com.example.shop: process 4711 is still there"
        );
    })
    .await;
}

#[tokio::test]
async fn an_app_that_is_not_there_is_named_with_those_that_are() {
    all_ways(NO_FAULTS, async |device| {
        let id = "com.example.store".to_owned();
        let mode = LaunchMode::Resume;
        for command in [
            AppCommand::Launch {
                id: id.clone(),
                mode,
            },
            AppCommand::Clear(id.clone()),
            AppCommand::Uninstall(id.clone()),
        ] {
            let error = device.err(Command::App(command)).await;
            assert_eq!(error.fault(), Fault::App);
            assert_eq!(
                error.to_string(),
                "com.example.store is not installed; installed are com.example.shop"
            );
        }
        let odd = AppCommand::Stop("com.a; reboot".into());
        let error = device.err(Command::App(odd)).await;
        assert!(matches!(error, DriverError::Invalid(_)), "{error}");
    })
    .await;
}

#[tokio::test]
async fn apps_are_listed_with_or_without_the_systems_own() {
    all_ways(NO_FAULTS, async |device| {
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
    })
    .await;
}

#[tokio::test]
async fn a_granted_permission_is_not_asked_for() {
    all_ways(NO_FAULTS, async |device| {
        let grant = |name: &str| AppCommand::Grant {
            id: SHOP.into(),
            permissions: vec![name.into()],
        };
        device.app(grant("post_notifications")).await;
        device.open_shop().await;
        let url = "https://shop.example.com/".to_owned();
        device.app(AppCommand::OpenUrl(url)).await;
        assert!(device.shows("Cappuccino 2").await);
        let error = device
            .err(Command::App(grant("android.permission.NONE")))
            .await;
        assert!(matches!(error, DriverError::Invalid(_)), "{error:?}");
        assert!(
            error.to_string().contains("android.permission.NONE"),
            "{error}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_dialog_of_the_system_is_read_and_answered() {
    all_ways(NO_FAULTS, async |device| {
        assert_eq!(
            device.json(Command::App(AppCommand::Alert)).await,
            serde_json::Value::Null
        );
        let answer = |accept, button: Option<&str>| AppCommand::AnswerAlert {
            accept,
            button: button.map(str::to_owned),
        };
        let error = device.err(Command::App(answer(true, None))).await;
        assert_eq!(
            error.to_string(),
            "answer the alert: there is none on the screen"
        );
        device.sign_in().await;
        let alert = device.json(Command::App(AppCommand::Alert)).await;
        let text = alert["text"].as_str().unwrap();
        assert!(text.contains("notifications"), "{text}");
        let error = device
            .err(Command::App(answer(true, Some("Perhaps"))))
            .await;
        assert!(error.to_string().contains("no such button"), "{error}");
        device.app(answer(false, None)).await;
        assert!(device.world(|world| world.dialog()).is_none());
        assert_eq!(device.variable("notice"), "off");
    })
    .await;
}

#[tokio::test]
async fn an_address_opens_the_app_that_claims_it() {
    all_ways(NO_FAULTS, async |device| {
        device.app(AppCommand::OpenUrl("shop://cart".into())).await;
        assert!(device.shows("Your cart is empty").await);
        let nobodys = Command::App(AppCommand::OpenUrl("nobody://x".into()));
        let error = device.err(nobodys).await;
        assert_eq!(error.fault(), Fault::App);
        assert!(
            error.to_string().starts_with("open nobody://x: "),
            "{error}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_session_that_is_confined_opens_pages_and_what_is_declared() {
    all_ways(NO_FAULTS, async |device| {
        let begin = |base: &str| {
            Command::Begin(SessionOptions {
                base_url: Some(base.to_owned()),
                reach: Some(Reach {
                    schemes: ["shop".to_owned()].into(),
                    folder: "/nowhere".into(),
                }),
                ..SessionOptions::default()
            })
        };
        device.ok(begin("intent://x")).await;
        for url in [
            "intent:#Intent;component=com.android.settings/.Settings;end",
            "INTENT://x#Intent;end",
            "file:///sdcard/x",
            "content://x",
            "javascript:x",
            "in\ntent:x",
            "tel:1",
            "cart",
        ] {
            let refused = device
                .err(Command::App(AppCommand::OpenUrl(url.into())))
                .await;
            assert!(matches!(refused, DriverError::Invalid(_)), "{refused:?}");
            assert!(
                refused.to_string().contains("agents may not open"),
                "{refused}"
            );
        }
        assert!(!device.shows("Your cart is empty").await);
        device.app(AppCommand::OpenUrl("shop://cart".into())).await;
        assert!(device.shows("Your cart is empty").await);
        // The next session is bound by its own options.
        device.ok(Command::Begin(SessionOptions::default())).await;
        let tel = device
            .err(Command::App(AppCommand::OpenUrl("tel:1".into())))
            .await;
        assert!(!matches!(tel, DriverError::Invalid(_)), "{tel:?}");
    })
    .await;
}

#[tokio::test]
async fn nothing_in_an_argument_means_anything_to_the_devices_shell() {
    all_ways(NO_FAULTS, async |device| {
        let marker = "/sdcard/Download/was-run";
        for hostile in [
            format!("; touch {marker}"),
            format!("$(touch {marker})"),
            format!("`touch {marker}`"),
            format!("x\ntouch {marker}\n"),
            format!("&& touch {marker} #"),
            format!("| touch {marker}"),
            format!("' ; touch {marker}; '"),
            format!("\" ; touch {marker}; \""),
            format!("\\' ; touch {marker}; \\'"),
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
        let run = format!("true; touch {marker}");
        device.json(shell(&["sh", "-c", &run])).await;
        assert_eq!(device.json(shell(&["ls", marker])).await["exit"], 0);
    })
    .await;
}

#[tokio::test]
async fn an_app_is_removed_and_what_is_no_app_is_refused() {
    all_ways(NO_FAULTS, async |device| {
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
    })
    .await;
}

#[tokio::test]
async fn a_shell_command_answers_with_both_outputs_and_its_exit_code() {
    all_ways(NO_FAULTS, async |device| {
        let answer = device
            .json(shell(&["sh", "-c", "echo \"it's\"; echo bad >&2; exit 3"]))
            .await;
        assert_eq!(
            answer,
            serde_json::json!({ "stdout": "it's\n", "stderr": "bad\n", "exit": 3 })
        );
    })
    .await;
}

#[tokio::test]
async fn a_file_arrives_whole_and_a_medium_lies_where_the_gallery_looks() {
    all_ways(NO_FAULTS, async |device| {
        let bytes: Vec<u8> = (0..200_000_u32).map(|n| (n % 251) as u8).collect();
        let path = "/sdcard/Download/data.bin".to_owned();
        let write = AndroidCommand::WriteFile { path, bytes };
        device.ok(Command::Android(write)).await;
        let shell = Command::Android(AndroidCommand::Shell {
            argv: ["wc", "-c", "/sdcard/Download/data.bin"]
                .map(String::from)
                .into(),
            run_as: None,
        });
        let said = device.json(shell).await;
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
    })
    .await;
}
