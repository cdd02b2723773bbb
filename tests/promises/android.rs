//! What only Android can do, told by the phone itself.

use serde_json::Value;

use crate::lab;

const SHOP: &str = "com.example.shop";

/// Calls, and what the phone answers of what they did.
const CALLS: [(&str, Option<&str>); 13] = [
    (
        "android_adbShell: { command: [echo, 'a; b  c'] }",
        Some("a; b  c"),
    ),
    (
        "android_adbShell: { command: [pwd], runAs: SHOP }",
        Some("/data/data/com.example.shop"),
    ),
    (
        "android_grantPermissions: { appId: SHOP, permissions: [android.permission.CAMERA] }",
        None,
    ),
    (
        "android_adbShell: { command: [dumpsys, package, SHOP] }",
        Some("android.permission.CAMERA: granted=true"),
    ),
    (
        "android_grantAppOpsPermission: { appId: SHOP, permission: SYSTEM_ALERT_WINDOW }",
        None,
    ),
    ("android_systemUiDemoMode: {}", None),
    (
        "android_adbShell: { command: [settings, get, global, sysui_demo_allowed] }",
        Some("1"),
    ),
    (
        "android_writeBytesToFile: { devicePath: /sdcard/a.bin, base64Content: \"AP+A\\n\" }",
        Some("wrote 3 bytes to /sdcard/a.bin"),
    ),
    (
        "android_adbShell: { command: [md5sum, /sdcard/a.bin] }",
        Some("4fd64cb80c3f86e1e9d0f559af8b370f"),
    ),
    (
        "android_writeFileToDownloads: { fileName: setup.json, content: '{}' }",
        Some("wrote 2 bytes"),
    ),
    (
        "android_adbShell: { command: [cat, /storage/emulated/0/Download/setup.json] }",
        Some("{}"),
    ),
    (
        "android_writeImageToMediaStore: { fileName: a.png, base64Content: AAAA }",
        Some("wrote 3 bytes to Pictures/a.png"),
    ),
    (
        "android_adbShell: { command: [sh, -c, 'seq 30; echo denied >&2; exit 13'] }",
        None,
    ),
];

#[test]
fn a_phone_has_what_was_put_on_it_and_a_command_that_fails_tells_its_last_lines() {
    let lab = lab();
    let calls: String = CALLS
        .iter()
        .map(|(call, _)| format!("        - {}\n", call.replace("SHOP", SHOP)))
        .collect();
    lab.write(
        "a.trail.yaml",
        &format!("trail:\n  - step: \"All of it\"\n    recording:\n      android:\n{calls}"),
    );
    lab.run(&["run", "a.trail.yaml", "-d", "virtual:android"])
        .expect(1);
    let events = lab.events();
    let ended = |event: &&Value| event["event"] == "tool_finished";
    let answers: Vec<_> = events.iter().filter(ended).collect();
    assert_eq!(answers.len(), CALLS.len());
    for ((call, wanted), ended) in CALLS.iter().zip(&answers) {
        let answer = ended["answer"].as_str().unwrap_or_default();
        assert!(
            answer.contains(wanted.unwrap_or_default()),
            "{call}\n{answer}"
        );
    }
    let failed = answers[CALLS.len() - 1];
    assert_eq!(failed["message"], "sh ended with exit code 13");
    let log = failed["log"].as_array().unwrap();
    assert_eq!((log.len(), &log[19]), (20, &Value::from("denied")));
}
