//! Reading the screen, and waiting for it.

use std::time::Duration;

use packtrain_drivers::{
    AppCommand, Classifier, Command, CommandContext, Observation, Size, SnapshotDetail,
};
use packtrain_testing::{NO_FAULTS, SHOP, TEST_TIMEOUT, TestDevice as _, VirtualPhone as _};

use packtrain_virtual::world::Rotation;

use super::lab::{Device, both_ways};

const UPRIGHT: Size = Size::new(393.0, 852.0);
const TURNED: Size = Size::new(852.0, 393.0);

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

#[tokio::test]
async fn a_connected_device_says_what_it_is() {
    both_ways(NO_FAULTS, async |device| {
        let info = device.driver().info().clone();
        assert_eq!(info.id.to_string(), "ios/bench");
        assert_eq!(info.driver, "ios-host");
        assert_eq!(info.classifiers, ["ios", "iphone"].map(Classifier::from));
        assert_eq!(info.system, "iOS 16.7.8");
        assert_eq!(info.screen, UPRIGHT);
    })
    .await;
}

#[tokio::test]
async fn a_snapshot_shows_the_app_in_points_with_its_id() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let detail = SnapshotDetail {
            bounds: true,
            ..SnapshotDetail::default()
        };
        let Observation::Snapshot(snapshot) = device.ok(Command::Snapshot(detail)).await else {
            panic!("no snapshot");
        };
        assert_eq!(snapshot.location.as_deref(), Some(SHOP));
        assert_eq!(snapshot.screen, UPRIGHT);
        let lines: Vec<&str> = snapshot.text.lines().map(str::trim).collect();
        let line = |of: &str| *lines.iter().find(|line| line.contains(of)).unwrap();
        assert!(
            line("Email").contains("TextField \"Email\" [id email]"),
            "{}",
            snapshot.text
        );
        // The app file draws 360 wide and below the status bar; the phone has 393 points.
        assert!(
            line("Sign in").ends_with("{26,407,341,48}"),
            "{}",
            line("Sign in")
        );
        let button = snapshot.refs.iter().find(|r| r.label == "Sign in").unwrap();
        assert_eq!(button.role, "Button");
        assert!(button.node.is_some());
    })
    .await;
}

#[tokio::test]
async fn a_screenshot_has_pixels_and_knows_the_screen_in_points() {
    both_ways(NO_FAULTS, async |device| {
        let pixels = Size::new(1179.0, 2556.0);
        assert_eq!(screenshot(device).await, (pixels, UPRIGHT));
    })
    .await;
}

#[tokio::test]
async fn a_turned_device_has_a_wide_screen() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.app(AppCommand::Rotate { landscape: true }).await;
        assert_eq!(device.snapshot().await.screen, TURNED);
        let pixels = Size::new(2556.0, 1179.0);
        assert_eq!(screenshot(device).await, (pixels, TURNED));
        device.tap("email").await;
        assert!(
            device.world(|world| world.keyboard_shown()),
            "taps go where they should"
        );
        device.app(AppCommand::Rotate { landscape: false }).await;
        assert_eq!(device.snapshot().await.screen, UPRIGHT);
    })
    .await;
}

#[tokio::test]
async fn a_change_since_a_snapshot_is_noticed() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let (now, soon) = (Duration::from_millis(50), TEST_TIMEOUT);
        let before = device.snapshot().await.mark;
        assert_eq!(device.change_since(before, now).await, None);
        device.tap("email").await;
        let after = device.change_since(before, soon).await.unwrap();
        assert!(after.text.contains("(keyboard, "), "the keyboard came up");
        assert_eq!(device.change_since(after.mark, now).await, None);
    })
    .await;
}

#[tokio::test]
async fn a_screen_that_cannot_be_read_at_once_is_read_again() {
    both_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.inject("{ match: { tree: wda }, when: { times: 2 }, do: null_root }");
        assert!(device.shows("sign_in").await);
        device.inject("{ match: { tree: wda }, do: null_root }");
        let error = device
            .err(Command::Snapshot(SnapshotDetail::default()))
            .await;
        assert_eq!(
            error.to_string(),
            "read the screen: Error getting main window kAXErrorServerNotFound"
        );
        assert!(!error.ends_driver());
    })
    .await;
}

#[tokio::test]
async fn a_device_is_held_as_before_once_its_session_ends_whatever_happened() {
    for ending in ["end", "a lost session", "a cancelled turn", "close"] {
        both_ways(NO_FAULTS, async |device| {
            device.open_shop().await;
            let turn = AppCommand::Rotate { landscape: true };
            if ending == "a cancelled turn" {
                device.inject("{ match: { route: 'POST .*/orientation' }, when: { times: 1 }, do: { delay: 200ms } }");
                let ctx = CommandContext::within(Duration::from_millis(100));
                let late = device.execute_in(Command::App(turn), &ctx).await;
                assert!(late.is_err(), "{late:?}");
                device.until(|world| world.rotation() != Rotation::Upright).await;
            } else {
                device.app(turn).await;
            }
            if ending == "a lost session" {
                device.inject("{ match: { route: '.*/source' }, when: { times: 1 }, do: session_killed }");
                device.snapshot().await;
            }
            assert_ne!(device.world(|world| world.rotation()), Rotation::Upright);
            if ending == "close" {
                device.disconnect().await;
            } else {
                device.ok(Command::End).await;
            }
            let held = device.world(|world| world.rotation());
            assert_eq!(held, Rotation::Upright, "{ending}");
        })
        .await;
    }
}
