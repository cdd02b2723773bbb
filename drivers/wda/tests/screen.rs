//! Reading the screen, and waiting for it.

use std::time::Duration;

use packtrain_drivers::{
    AppCommand, Classifier, Command, InputCommand, Observation, Size, SnapshotDetail,
};

use super::lab::{Device, Hand as _, SHOP, WELL, both_ways};

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
    both_ways(WELL, async |device| {
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
    both_ways(WELL, async |device| {
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
    both_ways(WELL, async |device| {
        let pixels = Size::new(1179.0, 2556.0);
        assert_eq!(screenshot(device).await, (pixels, UPRIGHT));
    })
    .await;
}

#[tokio::test]
async fn a_turned_device_has_a_wide_screen() {
    both_ways(WELL, async |device| {
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
async fn settling_lasts_until_nothing_changes_any_more() {
    both_ways(WELL, async |device| {
        device.open_shop().await;
        device.fill("email", "ann@example.com").await;
        device.fill("password", "guess").await;
        device.tap("sign_in").await;
        // The answer comes 150 to 200 ms later.
        let settle = Command::Settle {
            quiet: Duration::from_millis(400),
            limit: Duration::from_secs(30),
        };
        assert_eq!(device.notes(settle).await, Vec::<String>::new());
        assert_eq!(device.variable("error"), "Wrong email or password");
    })
    .await;
}

#[tokio::test]
async fn a_screen_that_is_not_still_in_time_is_a_note_and_no_error() {
    both_ways(WELL, async |device| {
        let settle = Command::Settle {
            quiet: Duration::from_secs(3600),
            limit: Duration::from_millis(120),
        };
        let notes = device.notes(settle).await;
        assert_eq!(notes, ["the screen was still changing after 0.1 s"]);
    })
    .await;
}

#[tokio::test]
async fn a_change_since_the_last_snapshot_is_noticed() {
    both_ways(WELL, async |device| {
        device.open_shop().await;
        let soon = |ms| Command::AwaitChange {
            limit: Duration::from_millis(ms),
        };
        assert_eq!(device.json(soon(0)).await, false, "nothing to compare with");
        let email = device.place("email").await;
        assert_eq!(device.json(soon(50)).await, false);
        device.input(InputCommand::Tap { at: email }).await;
        assert_eq!(
            device.json(soon(30_000)).await,
            true,
            "the keyboard came up"
        );
        device.snapshot().await;
        assert_eq!(device.json(soon(50)).await, false);
    })
    .await;
}

#[tokio::test]
async fn what_was_seen_while_waiting_is_not_shown_after_a_touch() {
    both_ways(WELL, async |device| {
        device.open_shop().await;
        let email = device.place("email").await;
        device.inject("{ match: { route: 'GET .*/source' }, do: { delay: 120ms } }");
        let settle = Command::Settle {
            quiet: Duration::from_millis(1),
            limit: Duration::from_secs(30),
        };
        assert_eq!(device.notes(settle).await, Vec::<String>::new());
        device.input(InputCommand::Tap { at: email }).await;
        assert!(device.shows("return").await, "the keyboard is up");
    })
    .await;
}

#[tokio::test]
async fn a_screen_that_cannot_be_read_at_once_is_read_again() {
    both_ways(WELL, async |device| {
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
