//! What scripts put into `adb shell`, and what a phone answers: toybox' and mksh's words, and
//! those of the system's own commands.

use crate::lab::{Adb, Lab, one_phone};

/// Runs each line and compares what it prints, on both outputs, and its exit code.
async fn answers(lines: &[(&str, &str, i32)]) {
    let lab = Lab::connected(Adb::New, one_phone()).await;
    for (line, expected, code) in lines {
        let said = lab.shell(line).await;
        let all = format!("{}{}", said.stdout, said.stderr);
        assert_eq!((all.as_str(), said.code), (*expected, *code), "{line}");
    }
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_is_said_in_a_phones_own_words() {
    answers(&[
        (
            "echo x > /nope/y",
            "/system/bin/sh: can't create /nope/y: No such file or directory\n",
            1,
        ),
        (
            "echo x > /y",
            "/system/bin/sh: can't create /y: Read-only file system\n",
            1,
        ),
        (
            "mkdir /sdcard/Music",
            "mkdir: '/sdcard/Music': File exists\n",
            1,
        ),
        ("rm", "rm: Needs 1 argument (see \"rm --help\")\n", 1),
        (
            "toybox nope",
            "toybox: Unknown command nope (see \"toybox --help\")\n",
            127,
        ),
        (
            "ls --all",
            "ls: Unknown option '--all' (see \"ls --help\")\n",
            1,
        ),
        ("cat /sys/devices/system/cpu/online", "0-7\n", 0),
        ("getprop no.such fallback; getprop no.such", "fallback\n\n", 0),
        ("echo nothing-here* b?c", "nothing-here* b?c\n", 0),
        (
            "A=aaaaaaaaaaaaaaaa; while true; do A=$A$A$A$A; echo $A$A$A$A$A >/dev/null; done; echo never",
            "/system/bin/sh: Argument list too long\n",
            1,
        ),
        ("grep -c '^cpu[0-7] ' /proc/stat", "8\n", 0),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_phone_has_and_this_one_does_not_is_refused_and_told() {
    let lab = Lab::connected(Adb::New, one_phone()).await;
    let lines = [
        ("for i in 1 2; do touch /sdcard/x; done", 1),
        ("echo $((6*7))x", 1),
        ("cat <<END", 1),
        ("sleep 1 & echo", 1),
        ("echo `id`", 1),
        ("sh -c 'echo $1' a b", 1),
        ("pm list packages -f", 1),
        ("wc -w /system/etc/hosts", 1),
        ("[ -e /sdcard ]", 2),
        ("[[ a == a ]]", 127),
        ("sed -n 1p", 127),
        ("pm disable com.example.shop", 255),
        ("ls /sdcard/Mu*", 1),
        ("cd /sdcard; ls Mu?ic", 1),
        ("dumpsys battery unplug", 1),
        ("appops get com.example.shop", 1),
        ("ip route", 1),
        ("content query --uri content://settings/system", 1),
        ("svc wifi on", 255),
        ("wm user-rotation sideways", 255),
        ("am start --nope -n com.example.shop/.MainActivity", 255),
        ("ls -R /sdcard", 1),
        ("logcat -G 5M", 1),
        ("logcat -d -v wide", 1),
    ];
    for (line, code) in lines {
        let said = lab.shell(line).await;
        assert_eq!(said.code, code, "{line}: {said:?}");
        assert!(
            said.stderr.contains(':') || said.stdout.contains(':'),
            "{said:?}"
        );
    }
    let told: Vec<String> = (lab.phone().device().unhandled().into_iter())
        .map(|(line, _)| line)
        .collect();
    for expected in [
        "for i in 1 2; do touch /sdcard/x; done",
        "echo $((6*7))x",
        "cat <<END",
        "sleep 1 & echo",
        "echo `id`",
        "sh -c echo $1 a b",
        "pm list packages -f",
        "wc -w /system/etc/hosts",
        "[ -e /sdcard",
        "[[ a == a ]]",
        "sed -n 1p",
        "pm disable com.example.shop",
        "/sdcard/Mu*",
        "Mu?ic",
        "dumpsys battery unplug",
        "appops get com.example.shop",
        "ip route",
        "content query --uri content://settings/system",
        "svc wifi on",
        "wm user-rotation sideways",
        "am start --nope -n com.example.shop/.MainActivity",
        "ls -R /sdcard",
        "logcat -G 5M",
        "logcat -d -v wide",
    ] {
        assert!(
            told.iter().any(|line| line == expected),
            "{expected}: {told:?}"
        );
    }
    assert_eq!(lab.shell("ls /sdcard/x").await.code, 1);
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_of_the_system_that_is_not_there_is_named_on_the_output() {
    answers(&[
        ("am fly", "Unknown command: fly\n", 255),
        ("pm fly", "Unknown command: fly\n", 255),
        ("cmd statusbar fly", "Unknown command: fly\n", 255),
        ("cmd nope", "cmd: Can't find service: nope\n", 20),
        ("dumpsys nope", "Can't find service: nope\n", 0),
        ("pm list fly", "Error: unknown list type 'fly'\n", 255),
        (
            "pm list",
            "Error: didn't specify type of data to list\n",
            255,
        ),
        (
            "screenrecord",
            "Must specify output file (see --help).\n",
            2,
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arguments_that_are_missing_or_wrong_are_told_as_android_tells_them() {
    let thrown = |command: &str, what: &str| {
        format!(
            "\nException occurred while executing '{command}':\njava.lang.IllegalArgumentException: {what}\n"
        )
    };
    answers(&[
        ("am start", &thrown("start", "No intent supplied"), 255),
        ("am force-stop", &thrown("force-stop", "Argument expected after \"force-stop\""), 255),
        ("input tap 10", &thrown("tap", "Argument expected after \"10\""), 255),
        ("input swipe 1 2 3", &thrown("swipe", "Argument expected after \"3\""), 255),
        ("input text", &thrown("text", "Argument expected after \"text\""), 255),
        ("pm grant com.nope android.permission.CAMERA", &thrown("grant", "Unknown package: com.nope"), 255),
        (
            "pm install /sdcard/nope.apk",
            &format!(
                "Error: Unable to open file: /sdcard/nope.apk\nConsider using a file under /data/local/tmp/\nError: Can't open file: /sdcard/nope.apk\n{}",
                thrown("install", "Error: Can't open file: /sdcard/nope.apk")
            ),
            255,
        ),
        ("monkey -p com.example.shop 1 >/dev/null 2>&1; am crash com.example.shop; logcat -d | grep -c FATAL", "1\n", 0),
        ("pm uninstall com.nope", "Failure [DELETE_FAILED_INTERNAL_ERROR]\n", 1),
        ("pm uninstall --user 0 com.nope", "Failure [not installed for 0]\n", 1),
        (
            "am start -a android.intent.action.VIEW -d https://a.example/b?c=d",
            "Starting: Intent { act=android.intent.action.VIEW dat=https://a.example/... }\n",
            0,
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_ends_where_the_options_say_so() {
    let lab = Lab::connected(Adb::New, one_phone()).await;
    lab.shell("log -t mine one; log -t mine two; log -t mine three")
        .await
        .ok();
    let said = lab
        .shell("logcat -d -v time -T 2 -s mine | grep -o ': t.*'")
        .await
        .ok();
    assert_eq!(said, ": two\n: three\n");
    lab.shell("logcat -c").await.ok();
    let said = lab.shell("logcat -d").await.ok();
    assert_eq!(said, "--------- beginning of main\n");
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn monkey_prints_its_arguments_before_it_begins() {
    let lab = Lab::connected(Adb::New, one_phone()).await;
    let said = lab
        .shell("monkey -p com.example.shop -c android.intent.category.LAUNCHER 1")
        .await;
    assert!(
        said.stdout
            .starts_with("  bash arg: -p\n  bash arg: com.example.shop\n"),
        "{said:?}"
    );
    assert!(said.stdout.contains("Events injected: 1\n"), "{said:?}");
    assert!(
        said.stderr.starts_with(
            "args: [-p, com.example.shop, -c, android.intent.category.LAUNCHER, 1]\n arg: \"-p\"\n"
        ),
        "{said:?}"
    );
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_debugger_sees_the_apps_that_run() {
    let lab = Lab::connected(Adb::New, one_phone()).await;
    lab.shell("am start -W -n com.example.shop/.MainActivity")
        .await
        .ok();
    let pid = lab.shell("pidof com.example.shop").await.ok();
    let said = lab.on_phone(["jdwp"]).await.ok();
    assert!(said.lines().any(|line| line == pid.trim()), "{said}");
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_set_of_the_screen_and_of_apps_is_told_as_a_phone_tells_it() {
    let shop = "com.example.shop";
    let set = |what: &str| format!("cmd locale {what} {shop} --user current");
    let locales = |list: &str| format!("Locales for {shop} for user 0 are [{list}]\n");
    let (get, put) = (set("get-app-locales"), set("set-app-locales"));
    let (german, none) = (
        format!("{put} --locales de-DE"),
        format!("{put} --locales \"\""),
    );
    answers(&[
        ("wm size", "Physical size: 1080x2424\n", 0),
        ("wm size 720x1280", "", 0),
        (
            "wm size",
            "Physical size: 1080x2424\nOverride size: 720x1280\n",
            0,
        ),
        (
            "wm size 1080x2424; wm size",
            "Physical size: 1080x2424\n",
            0,
        ),
        ("wm size 1x1", "Error: bad size 1x1\n", 255),
        (
            "wm density 320; wm density",
            "Physical density: 420\nOverride density: 320\n",
            0,
        ),
        ("wm density reset; wm density", "Physical density: 420\n", 0),
        ("wm density many", "Error: bad number many\n", 255),
        ("wm user-rotation", "lock 0\n", 0),
        (
            "settings put system user_rotation 1; wm user-rotation",
            "lock 1\n",
            0,
        ),
        (
            "settings put system accelerometer_rotation 1; wm user-rotation",
            "free\n",
            0,
        ),
        ("cmd uimode night", "Night mode: no\n", 0),
        ("cmd uimode night yes", "Night mode: yes\n", 0),
        (
            "cmd uimode night never",
            "Error: mode must be 'yes' or 'no'\n",
            255,
        ),
        (
            "settings put system font_scale 1.3; settings get system font_scale",
            "1.3\n",
            0,
        ),
        (&get, &locales(""), 0),
        (&german, "", 0),
        (&get, &locales("de-DE"), 0),
        (&none, "", 0),
        (&get, &locales(""), 0),
        (
            "cmd locale get-app-locales com.a",
            "Unknown package com.a for userId 0\n",
            255,
        ),
    ])
    .await;
}
