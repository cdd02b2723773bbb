//! What every driver promises of every device.

use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::{
    AndroidCommand, Command, CommandContext, DriverError, Fault, InputCommand, Observation,
    Platform, Point, Rect, Size, Snapshot, SnapshotDetail, WebCommand,
};
use tokio::time::Instant;

use super::Bench;
use crate::TEST_TIMEOUT;

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

async fn tap(device: &mut impl Bench, at: Point) {
    device.input(InputCommand::Tap { at }).await;
}

pub async fn it_opens_a_session_and_says_what_it_is(device: &mut impl Bench) {
    let connector = Arc::clone(&device.hand().connector);
    let (known, id) = (connector.describe(), connector.id().clone());
    let info = device.driver().info().clone();
    assert_eq!((&info.id, &known.id), (&id, &id));
    assert_eq!(
        info.classifiers, known.classifiers,
        "plans were made from them"
    );
    assert_eq!(info.classifiers[0].0, id.platform().as_str());
    assert!(!info.driver.is_empty() && !info.model.is_empty() && !info.system.is_empty());
    assert!(!info.screen.to_rect().is_empty(), "{:?}", info.screen);
    device.shop().await;
    let snapshot = device.in_detail().await;
    assert!(snapshot.location.is_some(), "it says what is in front");
}

pub async fn it_reads_the_screen_as_a_tree_with_bounds_in_the_units_it_declared(
    device: &mut impl Bench,
) {
    device.shop().await;
    let declared = device.driver().info().screen;
    let snapshot = device.in_detail().await;
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

pub async fn it_takes_a_png_of_the_size_it_declared(device: &mut impl Bench) {
    device.shop().await;
    let declared = device.driver().info().screen;
    let (Size { width, height }, screen) = device.screenshot().await;
    assert_eq!(screen, declared);
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

pub async fn a_tap_changes_the_screen_and_the_change_is_noticed(device: &mut impl Bench) {
    device.shop().await;
    let before = device.in_detail().await;
    let soon = Duration::from_millis(200);
    assert_eq!(device.change_since(before.mark, soon).await, None);
    tap(device, place(&before, "Sign in").center()).await;
    let after = device
        .change_since(before.mark, TEST_TIMEOUT)
        .await
        .unwrap();
    assert_ne!(after.mark, before.mark);
    assert_eq!(after.location, before.location, "a whole snapshot");
    let shown = device.showing("Enter your email").await;
    assert_eq!(device.change_since(shown.mark, soon).await, None);
}

pub async fn each_caller_compares_with_the_snapshot_it_had(device: &mut impl Bench) {
    device.shop().await;
    let mine = device.in_detail().await;
    tap(device, place(&mine, "Sign in").center()).await;
    let another = device.showing("Enter your email").await;
    let soon = Duration::from_millis(200);
    assert_eq!(device.change_since(another.mark, soon).await, None);
    let changed = device.change_since(mine.mark, soon).await;
    assert_eq!(changed.map(|changed| changed.mark), Some(another.mark));
}

pub async fn the_mark_is_the_screens_however_it_is_read(device: &mut impl Bench) {
    device.shop().await;
    let whole = SnapshotDetail {
        bounds: true,
        css_selectors: true,
        offscreen: true,
        lasting: true,
    };
    for detail in [whole, SnapshotDetail::default()] {
        let Observation::Snapshot(snapshot) = device.ok(Command::Snapshot(detail)).await else {
            panic!("no snapshot");
        };
        let now = Duration::ZERO;
        assert_eq!(
            device.change_since(snapshot.mark, now).await,
            None,
            "{detail:?}"
        );
    }
}

pub async fn typed_text_appears(device: &mut impl Bench) {
    device.shop().await;
    let snapshot = device.in_detail().await;
    tap(device, place(&snapshot, "Email").center()).await;
    device
        .ok(Command::Input(InputCommand::Text("ada@example.com".into())))
        .await;
    device.showing("ada@example.com").await;
}

pub async fn a_command_it_cannot_carry_out_is_refused_clearly(device: &mut impl Bench) {
    device.shop().await;
    let foreign = match device.driver().info().id.platform() {
        Platform::Android | Platform::Ios => Command::Web(WebCommand::CurrentUrl),
        Platform::Web => Command::Android(AndroidCommand::Shell {
            argv: vec!["true".into()],
            run_as: None,
        }),
    };
    let name = foreign.name();
    let error = device.err(foreign).await;
    let DriverError::Unsupported {
        command,
        device: of,
    } = &error
    else {
        panic!("{error:?}");
    };
    assert_eq!(command, name);
    assert!(!of.is_empty());
    assert_eq!((error.fault(), error.ends_driver()), (Fault::Caller, false));
    device.showing("Sign in").await;
}

pub async fn a_deadline_ends_in_a_timeout_and_not_in_a_hang(device: &mut impl Bench) {
    device.shop().await;
    let hangs = device.hang();
    let (began, time) = (Instant::now(), Duration::from_millis(700));
    let answer = device
        .driver()
        .execute(hangs, &CommandContext::within(time))
        .await;
    let error = answer.expect_err("it hung");
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    let DriverError::Timeout { doing, .. } = &error else {
        panic!("{error:?}");
    };
    assert!(!doing.is_empty());
    assert_eq!((error.fault(), error.ends_driver()), (Fault::Device, false));
    device.heal();
    device.shop().await;
}

pub async fn cancelling_frees_the_device_at_once(device: &mut impl Bench) {
    device.shop().await;
    let hangs = device.hang();
    let ctx = CommandContext::within(Duration::from_secs(3600));
    let cancel = ctx.cancel.clone();
    let began = Instant::now();
    let cancelling = tokio::spawn(async move {
        // By now the command is under way, or about to be; both must end.
        tokio::task::yield_now().await;
        cancel.cancel();
    });
    let answer = device.driver().execute(hangs, &ctx).await;
    assert_eq!(answer, Err(DriverError::Cancelled));
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    cancelling.await.unwrap();
    device.heal();
    device.shop().await;
}

pub async fn ending_and_closing_again_and_again_does_no_harm(device: &mut impl Bench) {
    for _ in 0..2 {
        device.shop().await;
        device.ok(Command::End).await;
        device.ok(Command::End).await;
        device.disconnect().await;
        device.reconnect().await.unwrap();
        device.disconnect().await;
        device.reconnect().await.unwrap();
    }
    device.begin().await;
    device.begin().await;
    device.shop().await;
}

pub async fn closing_leaves_nothing_running(device: &mut impl Bench) {
    device.shop().await;
    assert_eq!(
        !device.running().await.is_empty(),
        device.keeps_something_running(),
        "the test sees what runs"
    );
    device.disconnect().await;
    // A phone hears of it a moment later.
    let end = Instant::now() + SOON;
    let mut running = device.running().await;
    while !running.is_empty() {
        assert!(Instant::now() < end, "left behind: {running:#?}");
        running = device.running().await;
    }
}

pub async fn a_device_that_died_says_so(device: &mut impl Bench) {
    device.shop().await;
    device.kill().await;
    let error = device.err(Command::Screenshot).await;
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
