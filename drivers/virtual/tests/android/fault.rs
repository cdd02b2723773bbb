//! What goes wrong looks as it does on phones.

use packtrain_virtual::faults::Faults;

use crate::lab::{Adb, Lab, one_phone, with_faults};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_lost_within_a_command_looks_like_success_to_the_old_client_only() {
    for (adb, code) in [(Adb::Old, 0), (Adb::New, 255)] {
        let rules = "rules: [{match: {command: ^getprop}, when: {times: 1}, do: drop}]";
        let lab = Lab::connected(adb, with_faults(rules)).await;
        let said = lab.shell("getprop ro.product.model").await;
        assert_eq!((said.stdout.as_str(), said.code), ("", code), "{said:?}");
        // The server may not have heard yet that the link is gone.
        let again = loop {
            lab.on_phone(["wait-for-device"]).await.ok();
            let again = lab.shell("getprop ro.product.model").await;
            if !again.stderr.contains("offline") {
                break again;
            }
        };
        assert_eq!(again.ok(), "Pixel 9\n");
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_link_takes_the_forwards_with_it() {
    for adb in Adb::BOTH {
        let lab = Lab::connected(adb, one_phone()).await;
        lab.on_phone(["forward", "tcp:0", "tcp:9008"]).await.ok();
        lab.phone().device().cut();
        lab.on_phone(["wait-for-disconnect"]).await;
        lab.on_phone(["wait-for-device"]).await.ok();
        assert_eq!(lab.adb(["forward", "--list"]).await.ok().trim(), "");
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_phone_that_never_greets_is_offline() {
    let lab = Lab::new(
        Adb::New,
        with_faults("rules: [{match: {connect: ''}, do: never_cnxn}]"),
    )
    .await;
    let said = lab.adb(["connect", &lab.serial()]).await;
    assert!(said.stdout.starts_with("failed to connect to"), "{said:?}");
    let listed = lab.adb(["devices"]).await.ok();
    assert!(
        listed.contains(&format!("{}\toffline", lab.serial())),
        "{listed}"
    );
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_phone_refuses_files_and_apps() {
    let rules =
        "rules: [{match: {push: big}, do: storage_full}, {match: {install: ''}, do: storage_full}]";
    for adb in Adb::BOTH {
        let lab = Lab::connected(adb, with_faults(rules)).await;
        let file = lab.dir().join("big");
        std::fs::write(&file, vec![1; 3_000_000]).expect("written");
        let said = lab
            .on_phone(["push", &file.display().to_string(), "/sdcard/big"])
            .await;
        assert!(
            said.code == 1 && said.all().contains("No space left on device"),
            "{said:?}"
        );
        let path = lab.shell("pm path com.example.shop").await.ok();
        let said = lab
            .shell(&format!(
                "pm install {}",
                path.trim().trim_start_matches("package:")
            ))
            .await;
        assert_eq!(
            said.stdout,
            "Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE]\n"
        );
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trees_fail_in_every_way_they_fail_on_phones() {
    let rules = "rules:
  - {match: {tree: uiautomator}, when: {nth: 1}, do: not_idle}
  - {match: {tree: uiautomator}, when: {nth: 2}, do: null_root}
  - {match: {tree: uiautomator}, when: {nth: 3}, do: empty_tree}
  - {match: {tree: uiautomator}, when: {nth: 4}, do: {truncate: 100}}
  - {match: {tree: uiautomator}, when: {nth: 5}, do: ui_automation_taken}
";
    let lab = Lab::connected(Adb::New, with_faults(rules)).await;
    let dump = || lab.shell("uiautomator dump");
    let said = dump().await;
    assert_eq!(
        (said.stderr.as_str(), said.code),
        ("ERROR: could not get idle state.\n", 0)
    );
    let said = dump().await;
    assert_eq!(
        said.stderr,
        "ERROR: null root node returned by UiTestAutomationBridge.\n"
    );
    dump().await.ok();
    let file = lab.shell("cat /sdcard/window_dump.xml").await.ok();
    assert_eq!(
        file,
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\" />"
    );
    dump().await.ok();
    assert_eq!(
        lab.shell("wc -c < /sdcard/window_dump.xml").await.ok(),
        "100\n"
    );
    assert_eq!(dump().await.code, 137);
    dump().await.ok();
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stale_tree_shows_what_was_before() {
    let rules = "rules: [{match: {tree: ''}, when: {nth: 2}, do: {stale: 1}}]";
    let lab = Lab::connected(Adb::New, with_faults(rules)).await;
    let tree = || lab.exec_out("uiautomator dump /dev/tty");
    let before = tree().await.ok();
    lab.shell("monkey -p com.example.shop 1").await.ok();
    assert_eq!(tree().await.ok(), before);
    assert!(tree().await.ok().contains("com.example.shop"));
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn touches_are_swallowed_launches_ignored_and_dialogs_appear() {
    let rules = "rules:
  - {match: {launch: shop}, when: {nth: 1}, do: ignore_launch}
  - {match: {touch: tap email}, when: {nth: 1}, do: swallow}
  - {match: {touch: tap sign_in}, do: {dialog: {title: Update, text: Install now?, buttons: [Later, Now]}}}
";
    let lab = Lab::connected(Adb::New, with_faults(rules)).await;
    let focus = || lab.shell("dumpsys window | grep mCurrentFocus");
    lab.shell("monkey -p com.example.shop 1").await.ok();
    assert!(focus().await.ok().contains("nexuslauncher"));
    lab.shell("monkey -p com.example.shop 1").await.ok();
    assert!(focus().await.ok().contains("com.example.shop"));
    let shown = || lab.shell("dumpsys input_method | grep -c mInputShown=true");
    lab.shell("input tap 540 680").await.ok();
    assert_eq!(shown().await.stdout, "0\n");
    lab.shell("input tap 540 680").await.ok();
    assert_eq!(shown().await.stdout, "1\n");
    lab.shell("input keyevent BACK; input tap 540 1040")
        .await
        .ok();
    let tree = lab.exec_out("uiautomator dump /dev/tty").await.ok();
    assert!(
        tree.contains("Install now?") && tree.contains("android:id/button1"),
        "{tree}"
    );
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_crashes_or_hangs_says_so() {
    let rules = "rules:
  - {match: {command: input keyevent 24}, do: crash}
  - {match: {command: input keyevent 25}, do: anr}
";
    let lab = Lab::connected(Adb::New, with_faults(rules)).await;
    lab.shell("monkey -p com.example.shop 1; input keyevent 24")
        .await
        .ok();
    let tree = lab.exec_out("uiautomator dump /dev/tty").await.ok();
    assert!(
        tree.contains("Shop keeps stopping") && tree.contains("android:id/aerr_close"),
        "{tree}"
    );
    assert_eq!(lab.shell("pidof com.example.shop").await.code, 1);
    let (x, y) = super::ui::centre_of(&tree, "aerr_close");
    lab.shell(&format!(
        "input tap {x} {y}; monkey -p com.example.shop 1; input keyevent 25"
    ))
    .await
    .ok();
    let tree = lab.exec_out("uiautomator dump /dev/tty").await.ok();
    assert!(
        tree.contains("Shop isn't responding") && tree.contains("android:id/aerr_wait"),
        "{tree}"
    );
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_focus_is_null_for_a_while() {
    let rules = "rules: [{match: {command: ^am start}, do: {no_focus: 1h}}]";
    let faults = Faults::parse(&rules.replace("1h", "60m"), "faults").expect("valid");
    let lab = Lab::connected(
        Adb::New,
        packtrain_virtual::fleet::FleetOptions {
            faults,
            ..one_phone()
        },
    )
    .await;
    lab.shell("am start -n com.example.shop/.MainActivity")
        .await
        .ok();
    let focus = lab.shell("dumpsys window | grep mCurrentFocus").await.ok();
    assert_eq!(focus.trim(), "mCurrentFocus=null");
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_answer_as_told_and_devices_differ_as_told() {
    let rules = "rules:
  - {match: {command: ^getprop}, do: {answer: {stdout: \"odd\\n\", exit: 9}}}
  - {match: {command: ^date}, do: {clock_skew: -3600000}}
  - {match: {command: ^dumpsys battery}, do: {battery: 3}}
";
    let lab = Lab::connected(Adb::New, with_faults(rules)).await;
    let said = lab.shell("getprop x").await;
    assert_eq!((said.stdout.as_str(), said.code), ("odd\n", 9));
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("after 1970");
    let theirs: u64 = lab
        .shell("date +%s")
        .await
        .ok()
        .trim()
        .parse()
        .expect("a number");
    assert!(now.as_secs().abs_diff(theirs + 3600) < 120);
    assert!(
        lab.shell("dumpsys battery")
            .await
            .ok()
            .contains("level: 3\n")
    );
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crashes_and_hangs_are_in_the_log() {
    let rules = "rules:
  - {match: {command: input keyevent 24}, do: crash}
  - {match: {command: input keyevent 25}, do: anr}
";
    let lab = Lab::connected(Adb::New, with_faults(rules)).await;
    lab.shell("monkey -p com.example.shop 1; input keyevent 24; input keyevent 25")
        .await
        .ok();
    let log = lab
        .shell("logcat -d -v time AndroidRuntime:E *:S")
        .await
        .ok();
    let process = log.split("Process: ").nth(1).expect("a crash");
    assert!(process.starts_with("com.example.shop, PID: "), "{log}");
    let log = lab
        .shell("logcat -d -v time ActivityManager:E *:S")
        .await
        .ok();
    assert!(log.contains("ANR in "), "{log}");
    lab.end().await;
}
