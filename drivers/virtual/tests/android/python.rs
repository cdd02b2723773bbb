//! `adbutils`, `uiautomator2` and `adb-shell`, unmodified.

use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;

use packtrain_testing::{secluded, start_adb_server};
use packtrain_virtual::fleet::Fleet;
use tokio::process::Command;

use crate::judges;
use crate::lab::{adb_of_adbutils, one_phone, python};

/// Runs a script against one phone, with an adb server of its own on a port, which is the only
/// thing these clients can talk to.
async fn run(name: &str, script: &str) {
    let fleet = Fleet::start(one_phone()).await.expect("started");
    let dir = tempfile::tempdir().expect("a directory");
    let port = {
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        free.local_addr().expect("an address").port().to_string()
    };
    let mut command = secluded(Path::new("sh"), dir.path());
    let adb = adb_of_adbutils();
    let (mut server, group) = start_adb_server(&mut command, &adb, &["-P", &port]).await;
    let output = Command::new(python())
        .args(["-c", script, &fleet.android()[0].address().to_string()])
        .env("HOME", dir.path())
        .env("TMPDIR", dir.path())
        .env("ANDROID_ADB_SERVER_PORT", &port)
        .env("ANDROID_ADB_SERVER_HOST", "127.0.0.1")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .expect("Python can be run");
    drop(group);
    // Reaped, so that nothing is left of it.
    server.wait().await.expect("ended");
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{name}: {text}");
    let unhandled = fleet.android()[0].device().unhandled();
    assert!(unhandled.is_empty(), "{name}: {unhandled:?}");
    fleet.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn adbutils_takes_the_phone_for_real() {
    run("adbutils", include_str!("python/adbutils_device.py")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uiautomator2_shops_from_the_login_to_the_order() {
    run("uiautomator2", include_str!("python/u2_shop.py")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn adb_shell_talks_to_the_phone_without_a_server() {
    run("adb-shell", include_str!("python/adb_shell_device.py")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_uiautomator2_asks_its_server_is_understood() {
    for (judge, requests) in judges::requests(&["u2"]) {
        let asked: Vec<String> = requests.into_iter().map(|request| request.what).collect();
        let script = include_str!("python/u2_judge.py");
        let script = format!("asked = {}\n{script}", serde_json::json!(asked));
        run(&judge, &script).await;
    }
}
