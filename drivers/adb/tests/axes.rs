//! Axes: applied, read back, and put back whatever happens.

use std::path::PathBuf;

use packtrain_drivers::Command;
use packtrain_testing::promises::axes::{begin, begun, files, got, restored, theme};
use packtrain_testing::{TestDevice as _, VirtualPhone as _};
use packtrain_virtual::world::Theme;

use super::lab::{Device, Way, by_shell};

by_shell! {
    every_axis_changes_what_the_phone_shows_and_is_put_back
    every_axis_that_a_killed_program_left_changed_is_put_back
}

const NO_FILES: [PathBuf; 0] = [];
/// Every axis a phone has, with what it has by itself.
const EVERY: [(&str, &str); 8] = [
    ("animation", "false"),
    ("colorScheme", "dark"),
    ("density", "320"),
    ("fontScale", "1.3"),
    ("locale", "de-DE"),
    ("offline", "true"),
    ("orientation", "landscape"),
    ("size", "720x1280"),
];

async fn every_axis_changes_what_the_phone_shows_and_is_put_back(device: &mut Device) {
    device.open_shop().await;
    let before = device.snapshot().await;
    let mut applied = begun(device, &EVERY).await;
    applied.sort_by(|a, b| a.axis.cmp(&b.axis));
    assert_eq!(got(&applied), EVERY);
    assert_eq!(applied[1].how, "cmd uimode night yes");
    device.open_shop().await;
    let after = device.snapshot().await;
    assert_eq!((after.screen.width, after.screen.height), (1280.0, 720.0));
    assert!(after.text.contains("E-Mail"), "{}", after.text);
    device.ok(Command::End).await;
    assert_eq!(files(device), NO_FILES);
    let [axes] = &restored(device)[..] else {
        panic!("restored once");
    };
    assert_eq!(axes.len(), EVERY.len());
    device.ok(begin(&[])).await;
    device.open_shop().await;
    let restored = device.snapshot().await;
    assert_eq!(restored.text, before.text);
    assert_eq!(restored.screen, before.screen);
}

async fn every_axis_that_a_killed_program_left_changed_is_put_back(device: &mut Device) {
    begun(device, &EVERY).await;
    device.forget();
    assert_eq!(theme(device), Theme::Dark);
    device.reconnect().await.unwrap();
    assert_eq!(theme(device), Theme::Light);
    assert_eq!(device.world(|world| world.size_override()), None);
    assert_eq!(device.driver().info().screen.width, 1080.0);
    assert_eq!(restored(device)[0].len(), EVERY.len());
    assert_eq!(files(device), NO_FILES);
}

#[tokio::test]
async fn what_a_program_that_still_runs_has_changed_is_left_to_it() {
    let mut device = Device::connect(Way::DIRECT_SHELL).await;
    begun(&mut device, &[("colorScheme", "dark")]).await;
    device.forget();
    let file = files(&device).remove(0);
    let text = std::fs::read_to_string(&file).unwrap();
    // The process that started this one lives as long as it.
    let parent = std::os::unix::process::parent_id();
    let of = |pid: u32| {
        let started = packtrain_program::started(pid).unwrap();
        (format!("\"pid\": {pid}"), started)
    };
    let (own, other) = (of(std::process::id()), of(parent));
    let text = text.replace(&own.0, &other.0).replace(&own.1, &other.1);
    std::fs::write(&file, text).unwrap();
    let error = device.reconnect().await.unwrap_err();
    let expected =
        format!("lost the device: in use by process {parent}, which has changed its settings");
    assert_eq!(error.to_string(), expected);
    assert_eq!(theme(&device), Theme::Dark);
    std::fs::remove_file(&file).unwrap();
    device.reconnect().await.unwrap();
    device.end().await;
}

#[tokio::test]
async fn without_a_folder_nothing_that_lasts_is_changed() {
    let mut device = Device::connect(Way::DIRECT_SHELL).await;
    device.disconnect().await;
    device.altered(|options| options.restore = None).await;
    device.reconnect().await.unwrap();
    assert_eq!(begun(&mut device, &[("colorScheme", "dark")]).await, []);
    assert_eq!(theme(&device), Theme::Light);
    device.end().await;
}
