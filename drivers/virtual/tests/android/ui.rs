//! The screen: trees, pictures, touches.

use crate::lab::{Adb, Lab, one_phone};

/// The middle of the first node whose attributes contain `mark`.
pub fn centre_of(xml: &str, mark: &str) -> (i64, i64) {
    let node = xml.split("<node").find(|node| node.contains(mark));
    let node = node.unwrap_or_else(|| panic!("no {mark} in {xml}"));
    let bounds = node
        .split("bounds=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .expect("bounds");
    let numbers: Vec<i64> = bounds
        .split(['[', ']', ','])
        .filter_map(|part| part.parse().ok())
        .collect();
    ((numbers[0] + numbers[2]) / 2, (numbers[1] + numbers[3]) / 2)
}

async fn tree(lab: &Lab) -> String {
    lab.exec_out("uiautomator dump /dev/tty").await.ok()
}

async fn tap(lab: &Lab, mark: &str) {
    let (x, y) = centre_of(&tree(lab).await, mark);
    lab.shell(&format!("input tap {x} {y}")).await.ok();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tree_on_the_terminal_comes_through_exec_out_and_not_through_shell() {
    for adb in Adb::BOTH {
        let lab = Lab::connected(adb, one_phone()).await;
        lab.shell("monkey -p com.example.shop 1").await.ok();
        assert_eq!(
            lab.shell("uiautomator dump /dev/tty").await.ok(),
            "UI hierchary dumped to: /dev/tty\n"
        );
        let out = tree(&lab).await;
        assert!(out.starts_with("<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\"><node index=\"0\" text=\"\" resource-id=\"\" class=\"android.widget.FrameLayout\" package=\"com.example.shop\""), "{out}");
        assert!(
            out.ends_with("</node></hierarchy>UI hierchary dumped to: /dev/tty\n"),
            "{out}"
        );
        assert_eq!(
            lab.shell("uiautomator dump").await.ok(),
            "UI hierchary dumped to: /sdcard/window_dump.xml\n"
        );
        let file = lab.shell("cat /sdcard/window_dump.xml").await.ok();
        assert_eq!(
            Some(file.as_str()),
            out.strip_suffix("UI hierchary dumped to: /dev/tty\n")
        );
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_has_the_attributes_of_the_platform_in_their_order() {
    let lab = Lab::connected(Adb::New, one_phone()).await;
    lab.shell("monkey -p com.example.shop 1").await.ok();
    let xml = tree(&lab).await;
    let field = xml
        .split("<node")
        .find(|node| node.contains("id/email"))
        .expect("the field");
    assert_eq!(
        field,
        " index=\"2\" text=\"Email\" resource-id=\"com.example.shop:id/email\" class=\"android.widget.EditText\" package=\"com.example.shop\" content-desc=\"\" checkable=\"false\" checked=\"false\" clickable=\"true\" enabled=\"true\" focusable=\"true\" focused=\"false\" scrollable=\"false\" long-clickable=\"true\" password=\"false\" selected=\"false\" bounds=\"[72,609][1008,756]\" />"
    );
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_signs_in_over_plain_adb() {
    for adb in Adb::BOTH {
        let lab = Lab::connected(adb, one_phone()).await;
        lab.shell("am start -W -n com.example.shop/.MainActivity")
            .await
            .ok();
        tap(&lab, "id/email").await;
        lab.shell("input text ann@example.com").await.ok();
        let shown = lab
            .shell("dumpsys input_method | grep -o mInputShown=true")
            .await
            .ok();
        assert_eq!(shown, "mInputShown=true\n");
        tap(&lab, "id/password").await;
        lab.shell("input text secret; input keyevent KEYCODE_BACK")
            .await
            .ok();
        tap(&lab, "text=\"Sign in\"").await;
        // The app takes its time; the dialog that follows has a window of its own.
        lab.shell("until dumpsys window | grep -q GrantPermissionsActivity; do :; done")
            .await
            .ok();
        let dialog = tree(&lab).await;
        assert!(
            !dialog.contains("com.example.shop"),
            "only the dialog is seen: {dialog}"
        );
        tap(&lab, "id/permission_allow_button").await;
        let products = tree(&lab).await;
        assert!(products.contains("text=\"Espresso 1\"") && !products.contains("Lemonade 40"));
        let swipes = ["input swipe 540 2000 540 300 100"; 6].join("; ");
        lab.shell(&swipes).await.ok();
        assert!(tree(&lab).await.contains("text=\"Lemonade 40\""));
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pictures_are_those_of_the_screen() {
    for adb in Adb::BOTH {
        let lab = Lab::connected(adb, one_phone()).await;
        let png = lab.exec_out("screencap -p").await.bytes;
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(
            (&png[16..20], &png[20..24]),
            (&1080_u32.to_be_bytes()[..], &2424_u32.to_be_bytes()[..])
        );
        assert_eq!(
            png,
            lab.exec_out("screencap -p").await.bytes,
            "the same screen, the same bytes"
        );
        lab.shell("content insert --uri content://settings/system --bind name:s:user_rotation --bind value:i:1").await.ok();
        let turned = lab.exec_out("screencap -p").await.bytes;
        assert_eq!(&turned[16..20], &2424_u32.to_be_bytes());
        lab.shell("screencap -p /sdcard/s.png").await.ok();
        let file = lab.dir().join("s.png");
        lab.on_phone(["pull", "/sdcard/s.png", &file.display().to_string()])
            .await
            .ok();
        assert_eq!(std::fs::read(&file).expect("pulled"), turned);
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_agent_runs_nobody_else_sees_the_tree() {
    let lab = Lab::connected(Adb::New, one_phone()).await;
    lab.shell("echo agent > /data/local/tmp/u2.jar").await.ok();
    let line = "CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main";
    let mut agent = lab.follow(["-s", &lab.serial(), "shell", line]);
    lab.shell("until nc -z 127.0.0.1 9008; do :; done")
        .await
        .ok();
    let killed = lab.shell("uiautomator dump").await;
    assert_eq!((killed.code, killed.stderr.as_str()), (137, "Killed \n"));
    agent.kill().await.expect("killed");
    lab.shell("while pgrep -f '[w]etest.uia2'; do :; done; uiautomator dump")
        .await
        .ok();
    lab.end().await;
}
