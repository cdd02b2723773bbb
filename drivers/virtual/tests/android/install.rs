//! Installing and removing apps.

use std::io::Write as _;
use std::path::PathBuf;

use packtrain_testing::SHOP;

use crate::lab::{Adb, Lab, one_phone};

/// An APK whose manifest is plain XML, as simple tools write it.
fn apk(lab: &Lab, name: &str, package: &str, version: u32) -> PathBuf {
    let path = lab.dir().join(name);
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).expect("made"));
    let options = zip::write::SimpleFileOptions::default();
    zip.start_file("AndroidManifest.xml", options)
        .expect("begun");
    let manifest = format!(
        "<manifest package=\"{package}\" android:versionName=\"{version}.0\" android:versionCode=\"{version}\"/>"
    );
    zip.write_all(manifest.as_bytes()).expect("written");
    zip.start_file("classes.dex", options).expect("begun");
    zip.write_all(&vec![7; 200_000]).expect("written");
    zip.finish().expect("finished");
    path
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_is_installed_started_replaced_and_removed() {
    for adb in Adb::BOTH {
        let lab = Lab::connected(adb, one_phone()).await;
        let first = apk(&lab, "one.apk", "org.other.app", 1)
            .display()
            .to_string();
        let second = apk(&lab, "two.apk", "org.other.app", 2)
            .display()
            .to_string();
        let said = lab.on_phone(["install", &first]).await;
        assert!(
            said.code == 0 && said.stdout.ends_with("Success\n"),
            "{said:?}"
        );
        let path = lab.shell("pm path org.other.app").await.ok();
        assert!(
            path.starts_with("package:/data/app/") && path.ends_with("/base.apk\n"),
            "{path}"
        );
        lab.shell("monkey -p org.other.app 1").await.ok();
        assert!(
            lab.shell("dumpsys window | grep mCurrentFocus")
                .await
                .ok()
                .contains("org.other.app")
        );
        lab.on_phone(["install", "-r", &second]).await.ok();
        let version = lab
            .shell("dumpsys package org.other.app | grep versionName")
            .await
            .ok();
        assert_eq!(version.trim(), "versionName=2.0");
        let older = lab.on_phone(["install", "-r", &first]).await;
        assert!(
            older.all().contains("INSTALL_FAILED_VERSION_DOWNGRADE"),
            "{older:?}"
        );
        assert_eq!(
            lab.on_phone(["uninstall", "org.other.app"]).await.ok(),
            "Success\n"
        );
        assert_eq!(lab.shell("pm path org.other.app").await.code, 1);
        let gone = lab.on_phone(["uninstall", "org.other.app"]).await;
        assert!(
            gone.code == 1
                && gone
                    .all()
                    .contains("Failure [DELETE_FAILED_INTERNAL_ERROR]"),
            "{gone:?}"
        );
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_binary_manifest_as_build_tools_make_it_is_understood() {
    let lab = Lab::connected(Adb::New, one_phone()).await;
    // The agent of uiautomator2 is built by Android's own tools, manifest included.
    let script = "import uiautomator2, pathlib; print(pathlib.Path(uiautomator2.__file__).parent / 'assets' / 'u2.jar')";
    let found = std::process::Command::new(crate::lab::python())
        .args(["-c", script])
        .output();
    let jar = String::from_utf8(found.expect("Python runs").stdout).expect("a path");
    let apk = lab.dir().join("u2.apk");
    std::fs::copy(jar.trim(), &apk).expect("PACKTRAIN_TEST_PYTHON has uiautomator2");
    let said = lab.on_phone(["install", &apk.display().to_string()]).await;
    assert!(said.stdout.ends_with("Success\n"), "{said:?}");
    let listed = lab.shell("pm list packages -3").await.ok();
    assert!(
        listed.contains("package:com.github.uiautomator"),
        "{listed}"
    );
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_apk_is_refused() {
    for adb in Adb::BOTH {
        let lab = Lab::connected(adb, one_phone()).await;
        let path = lab.dir().join("junk.apk");
        std::fs::write(&path, vec![1; 100_000]).expect("written");
        let said = lab.on_phone(["install", &path.display().to_string()]).await;
        assert_eq!(said.code, 1);
        assert!(
            said.all().contains("INSTALL_PARSE_FAILED_NOT_APK"),
            "{said:?}"
        );
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_apks_are_installed_as_one() {
    let lab = Lab::connected(Adb::New, one_phone()).await;
    let base = apk(&lab, "base.apk", "org.other.app", 1)
        .display()
        .to_string();
    let more = apk(&lab, "more.apk", "org.other.app", 1)
        .display()
        .to_string();
    let said = lab.on_phone(["install-multiple", &base, &more]).await;
    assert!(said.stdout.ends_with("Success\n"), "{said:?}");
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_package_of_an_app_can_be_pulled_and_installed_again() {
    let lab = Lab::connected(Adb::New, one_phone()).await;
    let path = lab.shell(&format!("pm path {SHOP}")).await.ok();
    let path = path.trim().trim_start_matches("package:");
    let local = lab.dir().join("shop.apk").display().to_string();
    lab.on_phone(["pull", path, &local]).await.ok();
    lab.on_phone(["uninstall", SHOP]).await.ok();
    assert_eq!(lab.shell("monkey -p com.example.shop 1").await.code, 252);
    lab.on_phone(["install", "-g", &local]).await.ok();
    let granted = lab
        .shell("dumpsys package com.example.shop | grep POST_NOTIFICATIONS:")
        .await
        .ok();
    assert!(granted.contains("granted=true"), "{granted}");
    lab.end().await;
}
