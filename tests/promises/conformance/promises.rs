//! What every driver promises.

use std::time::{Duration, Instant};

use packtrain_drivers::{
    AndroidCommand, Command, CommandContext, DriverError, Fault, InputCommand, Observation,
    Platform, Point, Rect, SessionOptions, Size, Snapshot, SnapshotDetail, WebCommand,
};
use packtrain_testing::{TEST_TIMEOUT, TestDevice as _};

use super::rig::Hand;

/// How soon something must end that is told to end at once: generous to a busy computer, and far
/// below what it would take otherwise.
const SOON: Duration = Duration::from_secs(15);

/// Where an element of that name is.
fn place(snapshot: &Snapshot, name: &str) -> Rect {
    let found = snapshot.refs.iter().find(|shown| shown.label == name);
    found
        .and_then(|shown| shown.bounds)
        .unwrap_or_else(|| panic!("no place for {name:?} in\n{}", snapshot.text))
}

async fn tap(hand: &mut Hand, at: Point) {
    hand.ok(Command::Input(InputCommand::Tap { at })).await;
}

/// Width and height of a PNG, in pixels.
fn pixels(png: &[u8]) -> (f64, f64) {
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| f64::from(u32::from_be_bytes(png[at..at + 4].try_into().unwrap()));
    (number(16), number(20))
}

pub(super) async fn it_opens_a_session_and_says_what_it_is(hand: &mut Hand) {
    let connector = hand.rig.connector();
    let (known, id) = (connector.describe(), connector.id().clone());
    let info = hand.driver_mut().info().clone();
    assert_eq!((&info.id, &known.id), (&id, &id));
    assert_eq!(
        info.classifiers, known.classifiers,
        "plans were made from them"
    );
    assert_eq!(info.classifiers[0].0, id.platform().as_str());
    assert!(!info.driver.is_empty() && !info.model.is_empty() && !info.system.is_empty());
    assert!(!info.screen.to_rect().is_empty(), "{:?}", info.screen);
    hand.shop().await;
    let snapshot = hand.snapshot().await;
    assert!(snapshot.location.is_some(), "it says what is in front");
}

pub(super) async fn it_reads_the_screen_as_a_tree_with_bounds_in_the_units_it_declared(
    hand: &mut Hand,
) {
    hand.shop().await;
    let declared = hand.driver_mut().info().screen;
    let snapshot = hand.snapshot().await;
    assert_eq!(snapshot.screen, declared);
    assert!(!snapshot.tree.is_empty());
    let screen = declared.to_rect();
    for name in ["Email", "Password", "Sign in"] {
        let bounds = place(&snapshot, name);
        assert!(
            !bounds.is_empty() && bounds.intersection(&screen) == Some(bounds),
            "{name} at {bounds:?} of {screen:?}"
        );
        let of_a_node = snapshot
            .tree
            .nodes()
            .iter()
            .any(|node| node.bounds == Some(bounds));
        assert!(of_a_node, "{name} has the bounds of its node");
    }
    assert!(place(&snapshot, "Email").bottom <= place(&snapshot, "Password").top);
}

pub(super) async fn it_takes_a_png_of_the_size_it_declared(hand: &mut Hand) {
    hand.shop().await;
    let declared = hand.driver_mut().info().screen;
    let Observation::Screenshot(picture) = hand.ok(Command::Screenshot).await else {
        panic!("no screenshot");
    };
    assert_eq!(picture.screen, declared);
    let (width, height) = pixels(&picture.png);
    let Size {
        width: w,
        height: h,
    } = declared;
    let scale = (width / w).round();
    assert!(scale >= 1.0, "{width} pixels for {w}");
    assert!(
        (width - w * scale).abs() <= scale && (height - h * scale).abs() <= scale,
        "{width}x{height} pixels are not {scale} times {w}x{h}"
    );
}

pub(super) async fn a_tap_changes_the_screen_and_the_change_is_noticed(hand: &mut Hand) {
    hand.shop().await;
    let before = hand.snapshot().await;
    let soon = Duration::from_millis(200);
    assert_eq!(hand.change_since(before.mark, soon).await, None);
    tap(hand, place(&before, "Sign in").center()).await;
    let after = hand.change_since(before.mark, TEST_TIMEOUT).await.unwrap();
    assert_ne!(after.mark, before.mark);
    assert_eq!(after.location, before.location, "a whole snapshot");
    hand.showing("Enter your email").await;
}

pub(super) async fn each_caller_compares_with_the_snapshot_it_had(hand: &mut Hand) {
    hand.shop().await;
    let mine = hand.snapshot().await;
    tap(hand, place(&mine, "Sign in").center()).await;
    let another = hand.showing("Enter your email").await;
    let soon = Duration::from_millis(200);
    assert_eq!(hand.change_since(another.mark, soon).await, None);
    let changed = hand.change_since(mine.mark, soon).await;
    assert_eq!(changed.map(|changed| changed.mark), Some(another.mark));
}

pub(super) async fn the_mark_is_the_screens_however_it_is_read(hand: &mut Hand) {
    hand.shop().await;
    let whole = SnapshotDetail {
        bounds: true,
        css_selectors: true,
        offscreen: true,
        lasting: true,
    };
    for detail in [whole, SnapshotDetail::default()] {
        let Observation::Snapshot(snapshot) = hand.ok(Command::Snapshot(detail)).await else {
            panic!("no snapshot");
        };
        let now = Duration::ZERO;
        assert_eq!(
            hand.change_since(snapshot.mark, now).await,
            None,
            "{detail:?}"
        );
    }
}

pub(super) async fn typed_text_appears(hand: &mut Hand) {
    hand.shop().await;
    let snapshot = hand.snapshot().await;
    tap(hand, place(&snapshot, "Email").center()).await;
    hand.ok(Command::Input(InputCommand::Text("ada@example.com".into())))
        .await;
    hand.showing("ada@example.com").await;
}

pub(super) async fn a_command_it_cannot_carry_out_is_refused_clearly(hand: &mut Hand) {
    hand.shop().await;
    let foreign = match hand.platform() {
        Platform::Android | Platform::Ios => Command::Web(WebCommand::CurrentUrl),
        Platform::Web => Command::Android(AndroidCommand::Shell {
            argv: vec!["true".into()],
            run_as: None,
        }),
    };
    let name = foreign.name();
    let error = hand.err(foreign).await;
    let DriverError::Unsupported { command, device } = &error else {
        panic!("{error:?}");
    };
    assert_eq!(command, name);
    assert!(!device.is_empty());
    assert_eq!((error.fault(), error.ends_driver()), (Fault::Caller, false));
    hand.showing("Sign in").await;
}

pub(super) async fn a_deadline_ends_in_a_timeout_and_not_in_a_hang(hand: &mut Hand) {
    hand.shop().await;
    let hangs = hand.rig.hang();
    let (began, time) = (Instant::now(), Duration::from_millis(700));
    let answer = hand
        .driver_mut()
        .execute(hangs, &CommandContext::within(time))
        .await;
    let error = answer.expect_err("it hung");
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    let DriverError::Timeout { doing, .. } = &error else {
        panic!("{error:?}");
    };
    assert!(!doing.is_empty());
    assert_eq!((error.fault(), error.ends_driver()), (Fault::Device, false));
    hand.rig.heal();
    hand.shop().await;
}

pub(super) async fn cancelling_frees_the_device_at_once(hand: &mut Hand) {
    hand.shop().await;
    let hangs = hand.rig.hang();
    let ctx = CommandContext::within(Duration::from_secs(3600));
    let cancel = ctx.cancel.clone();
    let began = Instant::now();
    let cancelling = tokio::spawn(async move {
        // By now the command is under way, or about to be; both must end.
        tokio::task::yield_now().await;
        cancel.cancel();
    });
    let answer = hand.driver_mut().execute(hangs, &ctx).await;
    assert_eq!(answer, Err(DriverError::Cancelled));
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    cancelling.await.unwrap();
    hand.rig.heal();
    hand.shop().await;
}

pub(super) async fn ending_and_closing_again_and_again_does_no_harm(hand: &mut Hand) {
    for _ in 0..2 {
        hand.shop().await;
        hand.ok(Command::End).await;
        hand.ok(Command::End).await;
        hand.close().await;
        hand.connect().await;
        hand.close().await;
        hand.connect().await;
    }
    hand.ok(Command::Begin(SessionOptions::default())).await;
    hand.ok(Command::Begin(SessionOptions::default())).await;
    hand.shop().await;
}

pub(super) async fn closing_leaves_nothing_running(hand: &mut Hand) {
    hand.shop().await;
    assert_eq!(
        !hand.rig.running().await.is_empty(),
        hand.rig.keeps_something_running(),
        "the test sees what runs"
    );
    hand.close().await;
    // A phone hears of it a moment later.
    let end = Instant::now() + SOON;
    let mut running = hand.rig.running().await;
    while !running.is_empty() {
        assert!(Instant::now() < end, "left behind: {running:#?}");
        running = hand.rig.running().await;
    }
}

pub(super) async fn a_device_that_died_says_so(hand: &mut Hand) {
    hand.shop().await;
    hand.rig.kill().await;
    let error = hand.err(Command::Screenshot).await;
    let DriverError::Lost { cause, hint } = &error else {
        panic!("{error:?}");
    };
    assert!(!cause.is_empty());
    assert!(
        hint.as_ref().is_some_and(|hint| !hint.is_empty()),
        "{error:?}"
    );
    assert_eq!((error.fault(), error.ends_driver()), (Fault::Device, true));
}
