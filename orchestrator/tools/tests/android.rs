//! What only Android can do.

use packtrain_drivers::{AndroidCommand, AppCommand, Command, Platform};
use serde_json::json;

use crate::lab::{Lab, on};

#[test]
fn a_shell_command_answers_its_output() {
    on(Platform::Android, async |platform| {
        let lab = Lab::new(platform).await;
        lab.phone.world().shell = json!({"stdout": "a\nb\n", "stderr": "", "exit": 0});
        let arguments =
            json!({"command": ["ls", "my file; rm -rf /"], "runAs": "com.example.shop"});
        let answer = lab.call("android_adbShell", arguments).await.unwrap();
        assert_eq!(answer.text.unwrap(), "a\nb");
        let wanted = Command::Android(AndroidCommand::Shell {
            argv: vec!["ls".into(), "my file; rm -rf /".into()],
            run_as: Some("com.example.shop".into()),
        });
        assert_eq!(lab.phone.told(), [wanted]);
    });
}

#[test]
fn a_shell_command_that_fails_fails_the_step_with_its_last_lines() {
    on(Platform::Android, async |platform| {
        let lab = Lab::new(platform).await;
        let many: String = (1..=30).map(|line| format!("line {line}\n")).collect();
        lab.phone.world().shell = json!({"stdout": many, "stderr": "denied\n", "exit": 13});
        let (message, log, _) = lab
            .failure("android_adbShell", json!({"command": ["pm"]}))
            .await;
        assert_eq!(message, "pm ended with exit code 13");
        assert_eq!((log.len(), log[19].as_str()), (20, "denied"));
    });
}

#[test]
fn a_shell_command_without_a_program_or_with_an_odd_app_is_refused() {
    on(Platform::Android, async |platform| {
        let lab = Lab::new(platform).await;
        lab.failure("android_adbShell", json!({"command": []}))
            .await;
        lab.failure(
            "android_adbShell",
            json!({"command": ["ls"], "runAs": "a; b"}),
        )
        .await;
        assert_eq!(lab.phone.told(), []);
    });
}

#[test]
fn permissions_and_operations_are_granted() {
    on(Platform::Android, async |platform| {
        let lab = Lab::new(platform).await;
        let camera =
            json!({"appId": "com.example.shop", "permissions": ["android.permission.CAMERA"]});
        lab.call("android_grantPermissions", camera).await.unwrap();
        let none = json!({"appId": "com.example.shop", "permissions": []});
        lab.call("android_grantPermissions", none).await.unwrap();
        let windows = |name: &str| json!({"appId": "com.example.shop", "permission": name});
        lab.call(
            "android_grantAppOpsPermission",
            windows("SYSTEM_ALERT_WINDOW"),
        )
        .await
        .unwrap();
        let (_, _, hint) = lab
            .failure(
                "android_grantAppOpsPermission",
                windows("android.permission.CAMERA"),
            )
            .await;
        assert!(hint.unwrap().contains("android_grantPermissions"));
        let wanted = [
            Command::App(AppCommand::Grant {
                id: "com.example.shop".into(),
                permissions: vec!["android.permission.CAMERA".into()],
            }),
            Command::Android(AndroidCommand::AppOp {
                id: "com.example.shop".into(),
                operation: "SYSTEM_ALERT_WINDOW".into(),
            }),
        ];
        assert_eq!(lab.phone.told(), wanted);
    });
}

fn broadcast(extras: serde_json::Value) -> serde_json::Value {
    json!({
        "action": "com.example.SIGN_IN",
        "componentPackage": "com.example.shop",
        "componentClass": ".Receiver",
        "extras": extras,
    })
}

#[test]
fn a_broadcast_carries_typed_extras() {
    on(Platform::Android, async |platform| {
        let lab = Lab::new(platform).await;
        let extras = json!([
            {"key": "user", "value": "ada"},
            {"key": "count", "value": "42", "type": "int"},
            {"key": "fast", "value": "true", "type": "ez"},
            {"key": "ratio", "value": "0.5", "type": "Float"},
        ]);
        lab.call("android_sendBroadcast", broadcast(extras))
            .await
            .unwrap();
        let extra = |name: &str, kind: &str, value: &str| {
            (name.to_owned(), kind.to_owned(), value.to_owned())
        };
        let wanted = Command::Android(AndroidCommand::Broadcast {
            action: "com.example.SIGN_IN".into(),
            component: "com.example.shop/.Receiver".into(),
            extras: vec![
                extra("user", "string", "ada"),
                extra("count", "int", "42"),
                extra("fast", "bool", "true"),
                extra("ratio", "float", "0.5"),
            ],
        });
        assert_eq!(lab.phone.told(), [wanted]);
    });
}

#[test]
fn broken_extras_are_refused_without_showing_their_values() {
    on(Platform::Android, async |platform| {
        let lab = Lab::new(platform).await;
        for extras in [
            json!([{"key": " ", "value": "hunter2"}]),
            json!([{"key": "a", "value": "hunter2"}, {"key": "a", "value": "hunter2"}]),
            json!([{"key": "a", "value": "hunter2", "type": "long"}]),
            json!([{"key": "a", "value": "hunter2", "type": "uri"}]),
        ] {
            let (message, ..) = lab
                .failure("android_sendBroadcast", broadcast(extras))
                .await;
            assert!(!message.contains("hunter2"), "{message}");
        }
        assert_eq!(lab.phone.told(), []);
    });
}

#[test]
fn the_status_bar_is_frozen_and_let_go() {
    on(Platform::Android, async |platform| {
        let lab = Lab::new(platform).await;
        lab.call("android_systemUiDemoMode", json!({}))
            .await
            .unwrap();
        lab.call("android_systemUiDemoMode", json!({"enable": false}))
            .await
            .unwrap();
        let wanted =
            [true, false].map(|enable| Command::Android(AndroidCommand::DemoMode { enable }));
        assert_eq!(lab.phone.told(), wanted);
    });
}

#[test]
fn files_are_written_where_they_belong() {
    on(Platform::Android, async |platform| {
        let lab = Lab::new(platform).await;
        let bytes = json!({"devicePath": "/sdcard/a.bin", "base64Content": "AP+A\n"});
        let answer = lab.call("android_writeBytesToFile", bytes).await.unwrap();
        assert_eq!(answer.text.unwrap(), "wrote 3 bytes to /sdcard/a.bin");
        let text = json!({"fileName": "setup.json", "content": "{}"});
        lab.call("android_writeFileToDownloads", text)
            .await
            .unwrap();
        let image = json!({"fileName": "a.png", "base64Content": "AAAA"});
        lab.call("android_writeImageToMediaStore", image)
            .await
            .unwrap();
        let wanted = [
            AndroidCommand::WriteFile {
                path: "/sdcard/a.bin".into(),
                bytes: vec![0, 255, 128],
            },
            AndroidCommand::WriteFile {
                path: "/storage/emulated/0/Download/setup.json".into(),
                bytes: b"{}".to_vec(),
            },
            AndroidCommand::AddMedia {
                name: "a.png".into(),
                bytes: vec![0; 3],
                mime: "image/png".into(),
            },
        ];
        assert_eq!(lab.phone.told(), wanted.map(Command::Android));
    });
}

#[test]
fn paths_that_lead_elsewhere_are_refused() {
    on(Platform::Android, async |platform| {
        let lab = Lab::new(platform).await;
        for path in ["a.bin", "/sdcard/../data/x", "/sdcard/", "/a\nb"] {
            let arguments = json!({"devicePath": path, "base64Content": ""});
            let (message, ..) = lab.failure("android_writeBytesToFile", arguments).await;
            assert!(message.contains("devicePath"), "{message}");
        }
        for name in ["", "..", "a/b", "a;b", "$x"] {
            for tool in [
                "android_writeFileToDownloads",
                "android_writeImageToMediaStore",
            ] {
                let content = if tool.contains("Image") {
                    "base64Content"
                } else {
                    "content"
                };
                let (message, ..) = lab
                    .failure(tool, json!({"fileName": name, content: ""}))
                    .await;
                assert!(message.contains("fileName"), "{message}");
            }
        }
        let broken = json!({"fileName": "a.png", "base64Content": "%%%"});
        let (message, ..) = lab.failure("android_writeImageToMediaStore", broken).await;
        assert!(message.contains("no base64"), "{message}");
        assert_eq!(lab.phone.told(), []);
    });
}
