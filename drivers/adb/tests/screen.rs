//! Reading the screen, and waiting for it.

use std::time::Duration;

use packtrain_drivers::{
    AppCommand, Classifier, Command, CommandContext, InputCommand, NodeDetail, Observation, Size,
    Snapshot, SnapshotDetail,
};
use packtrain_testing::{NO_FAULTS, SHOP, TestDevice as _, VirtualPhone as _};

use super::lab::{Agent, Device, Way, all_ways};

const UPRIGHT: Size = Size::new(1080.0, 2424.0);
const TURNED: Size = Size::new(2424.0, 1080.0);

async fn screenshot(device: &mut Device) -> (Size, Size) {
    let Observation::Screenshot(shot) = device.ok(Command::Screenshot).await else {
        panic!("no screenshot");
    };
    let side = |at: usize| {
        let bytes: [u8; 4] = shot.png[at..at + 4].try_into().unwrap();
        f64::from(u32::from_be_bytes(bytes))
    };
    (Size::new(side(16), side(20)), shot.screen)
}

async fn in_detail(device: &mut Device) -> Box<Snapshot> {
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

#[tokio::test]
async fn a_connected_device_says_what_it_is() {
    all_ways(NO_FAULTS, async |device| {
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
        assert_eq!(info.screen, UPRIGHT);
    })
    .await;
}

#[tokio::test]
async fn a_snapshot_shows_the_app_in_pixels_with_its_id() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let snapshot = in_detail(device).await;
        assert_eq!(snapshot.location.as_deref(), Some(SHOP));
        assert_eq!(snapshot.screen, UPRIGHT);
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
        let scale = UPRIGHT.width / screen.width;
        let near = |ours: f64, theirs: f64| (ours - theirs * scale).abs() <= 1.0;
        assert!(near(bounds.center().x, node.centre().x), "{bounds:?}");
        assert!(near(bounds.center().y, node.centre().y), "{bounds:?}");
    })
    .await;
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
    let mut screens = vec![("home", told(&*in_detail(device).await))];
    device.open_shop().await;
    screens.push(("login", told(&*in_detail(device).await)));
    device.fill("email", "ann@example.com").await;
    screens.push(("keyboard", told(&*in_detail(device).await)));
    device.fill("password", "secret").await;
    device.input(InputCommand::HideKeyboard).await;
    screens.push(("filled", told(&*in_detail(device).await)));
    device.tap("sign_in").await;
    device.until(|world| world.dialog().is_some()).await;
    screens.push(("dialog", told(&*in_detail(device).await)));
    let (accept, button) = (true, None);
    device.app(AppCommand::AnswerAlert { accept, button }).await;
    screens.push(("list", told(&*in_detail(device).await)));
    device.app(AppCommand::Rotate { landscape: true }).await;
    screens.push(("turned", told(&*in_detail(device).await)));
    screens
}

#[tokio::test]
async fn the_same_screen_reads_the_same_whatever_the_way() {
    let mut all = Vec::new();
    for way in Way::ALL {
        let mut device = Device::connect(way, NO_FAULTS).await;
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

#[tokio::test]
async fn the_keyboard_is_no_part_of_a_snapshot() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.tap("email").await;
        device.until(|world| world.keyboard_shown()).await;
        let snapshot = in_detail(device).await;
        let is_foreign = snapshot.tree.nodes().iter().any(|node| {
            matches!(&node.detail, NodeDetail::Android(node)
                if node.package.as_deref().is_some_and(|package| package.contains("inputmethod")))
        });
        assert!(!is_foreign, "{}", snapshot.text);
    })
    .await;
}

#[tokio::test]
async fn a_screenshot_has_pixels_and_knows_the_screen() {
    all_ways(NO_FAULTS, async |device| {
        assert_eq!(screenshot(device).await, (UPRIGHT, UPRIGHT));
    })
    .await;
}

#[tokio::test]
async fn a_turned_device_has_a_wide_screen_and_stands_again_when_the_session_ends() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.app(AppCommand::Rotate { landscape: true }).await;
        assert_eq!(device.snapshot().await.screen, TURNED);
        assert_eq!(screenshot(device).await, (TURNED, TURNED));
        device.tap("email").await;
        device.until(|world| world.keyboard_shown()).await;
        device.app(AppCommand::Rotate { landscape: false }).await;
        assert_eq!(device.snapshot().await.screen, UPRIGHT);
        device.app(AppCommand::Rotate { landscape: true }).await;
        device.ok(Command::End).await;
        assert_eq!(screenshot(device).await, (UPRIGHT, UPRIGHT));
    })
    .await;
}

#[tokio::test]
async fn a_change_since_a_snapshot_is_noticed() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let (now, soon) = (Duration::from_millis(50), packtrain_testing::TEST_TIMEOUT);
        let before = device.snapshot().await.mark;
        assert_eq!(device.change_since(before, now).await, None);
        device.tap("sign_in").await;
        let after = device.change_since(before, soon).await.unwrap();
        assert!(after.text.contains("Enter your email"), "{}", after.text);
        assert_eq!(device.change_since(after.mark, now).await, None);
    })
    .await;
}

#[tokio::test]
async fn a_screen_that_cannot_be_read_at_once_is_read_again() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let (tree, said) = match device.way.agent {
            Agent::U2 => ("u2", "null root node"),
            Agent::Shell => ("uiautomator", "no window was active"),
        };
        device.inject(&format!(
            "{{ match: {{ tree: {tree} }}, when: {{ times: 2 }}, do: null_root }}"
        ));
        assert!(device.shows("sign_in").await);
        device.inject(&format!("{{ match: {{ tree: {tree} }}, do: null_root }}"));
        let ctx = CommandContext::within(Duration::from_secs(2));
        let error = device
            .execute_in(packtrain_testing::SNAPSHOT, &ctx)
            .await
            .unwrap_err();
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
        device.phone().device().clear_faults();
        assert!(device.shows("sign_in").await, "the device is well");
    })
    .await;
}
