//! What only Android can do.

use packtrain_drivers::{AndroidCommand, Command, Platform};
use serde_json::json;

use crate::lab::{Lab, on_android};

on_android! {
    a_shell_command_without_a_program_or_with_an_odd_app_is_refused
    a_permission_is_granted_by_the_tool_for_its_kind_and_none_is_nothing_to_do
    a_broadcast_carries_typed_extras
    broken_extras_are_refused_without_showing_their_values
    paths_that_lead_elsewhere_are_refused
}

async fn a_shell_command_without_a_program_or_with_an_odd_app_is_refused(platform: Platform) {
    let lab = Lab::new(platform).await;
    lab.failure("android_adbShell", json!({"command": []}))
        .await;
    lab.failure(
        "android_adbShell",
        json!({"command": ["ls"], "runAs": "a; b"}),
    )
    .await;
    assert_eq!(lab.phone.told(), []);
}

async fn a_permission_is_granted_by_the_tool_for_its_kind_and_none_is_nothing_to_do(
    platform: Platform,
) {
    let lab = Lab::new(platform).await;
    let tool = "android_grantAppOpsPermission";
    let grant = |name: &str| json!({"appId": "com.example.shop", "permission": name});
    lab.call(tool, grant("SYSTEM_ALERT_WINDOW")).await.unwrap();
    let none = json!({"appId": "com.example.shop", "permissions": []});
    lab.call("android_grantPermissions", none).await.unwrap();
    let (_, _, hint) = lab.failure(tool, grant("android.permission.CAMERA")).await;
    assert!(hint.unwrap().contains("android_grantPermissions"));
    let operation = Command::Android(AndroidCommand::AppOp {
        id: "com.example.shop".into(),
        operation: "SYSTEM_ALERT_WINDOW".into(),
    });
    assert_eq!(lab.phone.told(), [operation]);
}

fn broadcast(extras: serde_json::Value) -> serde_json::Value {
    json!({
        "action": "com.example.SIGN_IN",
        "componentPackage": "com.example.shop",
        "componentClass": ".Receiver",
        "extras": extras,
    })
}

async fn a_broadcast_carries_typed_extras(platform: Platform) {
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
    let extra =
        |name: &str, kind: &str, value: &str| (name.to_owned(), kind.to_owned(), value.to_owned());
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
}

async fn broken_extras_are_refused_without_showing_their_values(platform: Platform) {
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
}

async fn paths_that_lead_elsewhere_are_refused(platform: Platform) {
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
    assert!(message.contains("invalid `base64Content`"), "{message}");
    assert_eq!(lab.phone.told(), []);
}
