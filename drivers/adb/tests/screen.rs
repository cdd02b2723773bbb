//! Reading the screen, and waiting for it.

use std::time::Duration;

use packtrain_drivers::{
    AppCommand, Classifier, Command, InputCommand, NodeDetail, Observation, Snapshot,
    SnapshotDetail,
};
use packtrain_testing::promises::{Bench as _, Phone as _};
use packtrain_testing::{SHOP, SNAPSHOT, TestDevice as _, VirtualPhone as _};

use super::lab::{Agent, Device, Way, all_ways};

all_ways! {
    a_connected_device_says_what_it_is
    a_snapshot_shows_the_app_in_pixels_with_its_id
    the_keyboard_is_no_part_of_a_snapshot
    a_screen_that_cannot_be_read_at_once_is_read_again
}

async fn in_whole(device: &mut Device) -> Box<Snapshot> {
    let detail = SnapshotDetail {
        bounds: true,
        offscreen: true,
        ..SnapshotDetail::default()
    };
    match device.ok(Command::Snapshot(detail)).await {
        Observation::Snapshot(snapshot) => snapshot,
        other => panic!("{other:?}"),
    }
}

async fn a_connected_device_says_what_it_is(device: &mut Device) {
    let info = device.driver().info().clone();
    let name = match device.way.wire {
        super::lab::Wire::Server => device.phone().address().to_string(),
        super::lab::Wire::Direct => "bench".to_owned(),
    };
    assert_eq!(info.id.to_string(), format!("android/{name}"));
    assert_eq!(info.driver, "android-ondevice-accessibility");
    assert_eq!(info.classifiers, ["android", "phone"].map(Classifier::from));
    assert_eq!(info.model, "Pixel 9");
    assert_eq!(info.system, "Android 15");
    assert_eq!(info.screen, Device::UPRIGHT);
}

async fn a_snapshot_shows_the_app_in_pixels_with_its_id(device: &mut Device) {
    device.open_shop().await;
    let snapshot = in_whole(device).await;
    assert_eq!(snapshot.location.as_deref(), Some(SHOP));
    assert_eq!(snapshot.screen, Device::UPRIGHT);
    let button = snapshot.refs.iter().find(|r| r.label == "Sign in").unwrap();
    assert_eq!(button.role, "Button");
    let bounds = button.bounds.unwrap();
    let screen = device.phone().device().snapshot();
    let node = screen
        .windows
        .iter()
        .flat_map(|window| &window.nodes)
        .find(|node| node.id == "sign_in")
        .unwrap();
    let scale = Device::UPRIGHT.width / screen.width;
    let near = |ours: f64, theirs: f64| (ours - theirs * scale).abs() <= 1.0;
    assert!(near(bounds.center().x, node.centre().x), "{bounds:?}");
    assert!(near(bounds.center().y, node.centre().y), "{bounds:?}");
}

/// All that a snapshot says, a line each. A plain dump shows the hint of an empty field as its
/// text and does not say so.
fn told(snapshot: &Snapshot) -> Vec<String> {
    let mut told = vec![format!("{:?} {:?}", snapshot.location, snapshot.screen)];
    for reference in &snapshot.refs {
        told.push(format!("{} {:?}", reference.role, reference.bounds));
    }
    for node in snapshot.tree.nodes() {
        let NodeDetail::Android(mut android) = node.detail.clone() else {
            panic!("{node:?}");
        };
        let hint = android.hint_text.take();
        android.text = android.text.or(hint);
        told.push(format!("{:?} {android:?}", node.bounds));
    }
    told
}

/// A screen by name, and what was told of it.
type Screens = Vec<(&'static str, Vec<String>)>;

async fn screens(device: &mut Device) -> Screens {
    let mut screens = vec![("home", told(&*in_whole(device).await))];
    device.open_shop().await;
    screens.push(("login", told(&*in_whole(device).await)));
    device.fill("email", "ann@example.com").await;
    screens.push(("keyboard", told(&*in_whole(device).await)));
    device.fill("password", "secret").await;
    device.input(InputCommand::HideKeyboard).await;
    screens.push(("filled", told(&*in_whole(device).await)));
    device.tap("sign_in").await;
    device.until(|world| world.dialog().is_some()).await;
    screens.push(("dialog", told(&*in_whole(device).await)));
    let (accept, button) = (true, None);
    device.app(AppCommand::AnswerAlert { accept, button }).await;
    screens.push(("list", told(&*in_whole(device).await)));
    device.app(AppCommand::Rotate { landscape: true }).await;
    screens.push(("turned", told(&*in_whole(device).await)));
    screens
}

#[tokio::test]
async fn the_same_screen_reads_the_same_whatever_the_way() {
    let mut all = Vec::new();
    for way in Way::ALL {
        let mut device = Device::connect(way).await;
        all.push((way, screens(&mut device).await));
        device.end().await;
    }
    let (_, first) = &all[0];
    for (way, screens) in &all[1..] {
        for ((name, one), (_, other)) in first.iter().zip(screens) {
            // A plain dump holds the window in front only, u2.jar's what lies below it too.
            let below = *name == "dialog" && way.agent == Agent::Shell;
            let missing = one.iter().filter(|line| !other.contains(line));
            let more = other.iter().filter(|line| !one.contains(line));
            let missing: Vec<_> = missing.filter(|_| !below).collect();
            let more: Vec<_> = more.collect();
            assert!(
                missing.is_empty() && more.is_empty(),
                "{name}, {way:?}: without {missing:#?}, with {more:#?}"
            );
            assert!(below || one == other, "{name}, {way:?}: another order");
        }
    }
}

async fn the_keyboard_is_no_part_of_a_snapshot(device: &mut Device) {
    device.open_shop().await;
    device.tap("email").await;
    device.until(|world| world.keyboard_shown()).await;
    let snapshot = in_whole(device).await;
    let is_foreign = snapshot.tree.nodes().iter().any(|node| {
        matches!(&node.detail, NodeDetail::Android(node)
            if node.package.as_deref().is_some_and(|package| package.contains("inputmethod")))
    });
    assert!(!is_foreign, "{}", snapshot.text);
}

async fn a_screen_that_cannot_be_read_at_once_is_read_again(device: &mut Device) {
    device.open_shop().await;
    let tree = device.tree();
    let said = match device.has_agent() {
        true => "null root node",
        false => "no window was active",
    };
    device.inject(&format!(
        "{{ match: {{ tree: {tree} }}, when: {{ times: 2 }}, do: null_root }}"
    ));
    assert!(device.shows("sign_in").await);
    device.inject(&format!("{{ match: {{ tree: {tree} }}, do: null_root }}"));
    let error = device.err_within(Duration::from_secs(2), SNAPSHOT).await;
    assert!(
        error
            .to_string()
            .starts_with("reading the screen took longer than"),
        "{error}"
    );
    assert!(
        error.log().iter().any(|line| line.contains(said)),
        "{:?}",
        error.log()
    );
    assert!(!error.ends_driver());
    device.heal();
    assert!(device.shows("sign_in").await, "the device is well");
}
