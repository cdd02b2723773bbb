//! What happens when the browser dies, a page goes away, or nobody waits any more.

use std::process::Command as Process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use packtrain_driver_playwright::{Isolation, WebPool, WebSlot, install};
use packtrain_drivers::{
    Command, DriverError, Fault, SessionOptions, SnapshotDetail, ValueKind, WebCommand, WebElement,
};
use packtrain_testing::{Running, TestDevice as _, processes};
use tokio::io::AsyncWriteExt as _;

use crate::browser::{Device, pool};
use crate::commands::{
    by_css, by_ref, click, expect_list, expect_text, expect_value, expect_visible,
};
use crate::stories::stories;

stories! {
    chromium:
    a_page_that_closes_itself_is_the_apps_doing
    what_a_page_says_makes_no_lost_device
    a_cancelled_command_stops_acting_on_the_page
    a_cancelled_look_leaves_the_page_as_it_is;
}

/// A device with a browser process of its own, and the mark that its command line carries.
async fn open_marked(pool: &Arc<WebPool>) -> (Device, String) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mark = format!("--packtrain-losing={}-{number}-", std::process::id());
    let slot = WebSlot {
        isolation: Isolation::Process,
        args: vec![mark.clone()],
        ..WebSlot::default()
    };
    let mut device = Device::connect_in(pool, slot).await;
    device.begin(SessionOptions::default()).await;
    device.visit("").await;
    (device, mark)
}

/// Which of a browser's processes are killed.
#[derive(Clone, Copy)]
enum Part {
    Browser,
    Renderers,
    /// Its whole group, in whatever order the system likes.
    All,
}

/// A browser's processes.
fn group_of(mark: &str) -> Vec<Running> {
    let mut all = processes();
    let is_browser = |one: &&Running| one.line.contains(mark) && !one.line.contains("--type=");
    let group = all.iter().find(is_browser).expect("the browser runs").group;
    all.retain(|one| one.group == group);
    all
}

fn kill(mark: &str, part: Part) {
    for Running { pid, line, .. } in group_of(mark) {
        let is_part = match part {
            Part::Browser => !line.contains("--type="),
            Part::Renderers => line.contains("--type=renderer"),
            Part::All => true,
        };
        if is_part {
            // It may be gone with another one by now.
            let _ = Process::new("kill")
                .args(["-KILL", &pid.to_string()])
                .output();
        }
    }
}

/// Commands that would wait for long.
fn waiting() -> Vec<Command> {
    let nowhere = || by_css("#nowhere");
    let limit = Duration::from_secs(20);
    vec![
        Command::Web(WebCommand::Evaluate("new Promise(() => {})".into())),
        click(nowhere()),
        click(by_ref("Not there")),
        expect_text("Not there"),
        expect_visible(nowhere()),
        expect_value(by_css("#count"), ValueKind::Text, "many"),
        expect_list(by_css("ul"), &["Apple", "Plum"]),
        Command::Web(WebCommand::AwaitUrl {
            pattern: "/nowhere$".into(),
            limit,
        }),
        Command::Web(WebCommand::ExpectRequest {
            name: "nothing".into(),
            limit,
        }),
    ]
}

/// The device is to blame for whatever a command says whose browser is killed meanwhile.
async fn kill_during_each(part: Part) {
    let pool = pool();
    for command in waiting() {
        let (mut device, mark) = open_marked(&pool).await;
        let said = command.name();
        let killing = tokio::task::spawn_blocking(move || kill(&mark, part));
        let mut answer = device.execute(command).await;
        killing.await.unwrap();
        // What did not need the page any more has found out nothing wrong: the next one does.
        if answer.is_ok() {
            let read = Command::Snapshot(SnapshotDetail::default());
            answer = device.execute(read).await;
        }
        let error = answer.unwrap_err();
        assert_eq!(error.fault(), Fault::Device, "{said}: {error:?}");
        assert!(
            matches!(error, DriverError::Lost { hint: Some(_), .. }),
            "{said}: {error:?}"
        );
        device.leave().await;
    }
    pool.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_browser_is_a_lost_device_whatever_was_going_on() {
    kill_during_each(Part::Browser).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_page_process_is_a_lost_device_whatever_was_going_on() {
    kill_during_each(Part::Renderers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_killed_with_all_its_processes_is_a_lost_device() {
    kill_during_each(Part::All).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_died_between_commands_is_a_lost_device() {
    let pool = pool();
    for part in [Part::Browser, Part::Renderers] {
        let (mut device, mark) = open_marked(&pool).await;
        kill(&mark, part);
        let error = device.err(click(by_ref("button \"More\""))).await;
        assert!(matches!(error, DriverError::Lost { .. }), "{error:?}");
        device.leave().await;
    }
    pool.shutdown().await;
}

async fn a_page_that_closes_itself_is_the_apps_doing(device: &mut Device) {
    device.ok(click(by_ref("link \"Popup\""))).await;
    device.ok(expect_text("In the popup")).await;
    let close = "setTimeout(() => window.close(), 100); new Promise(() => {})";
    let closed = device
        .err(Command::Web(WebCommand::Evaluate(close.into())))
        .await;
    assert_eq!(closed.fault(), Fault::App, "{closed:?}");
    assert!(
        closed.to_string().ends_with("the page closed meanwhile"),
        "{closed}"
    );
    // The tab it came from is still there.
    device.ok(expect_text("Shop")).await;
}

async fn what_a_page_says_makes_no_lost_device(device: &mut Device) {
    let script = "document.body.innerHTML = '<p id=a>Target crashed</p><p id=b>Page crashed</p>\
                  <p id=c>Target page, context or browser has been closed</p>'";
    device.script(script).await;
    for id in ["#a", "#b", "#c"] {
        let expected = expect_value(by_css(id), ValueKind::Text, "fine");
        let error = device
            .err_within(Duration::from_millis(700), expected)
            .await;
        assert_eq!(error.fault(), Fault::App, "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_does_not_answer_is_no_failure_of_the_app() {
    let pool = pool();
    let (mut device, mark) = open_marked(&pool).await;
    let signal = |name: &str| {
        for Running { pid, .. } in group_of(&mark) {
            let _ = Process::new("kill").args([name, &pid.to_string()]).output();
        }
    };
    signal("-STOP");
    let error = device
        .err_within(Duration::from_secs(1), expect_text("Shop"))
        .await;
    assert_eq!(error.fault(), Fault::Device, "{error:?}");
    signal("-CONT");
    device.close().await;
}

async fn a_cancelled_command_stops_acting_on_the_page(device: &mut Device) {
    let error = device
        .cancelled(click(by_ref("button \"Not there\"")))
        .await;
    assert_eq!(error, DriverError::Cancelled);
    // The context is gone with it: nothing can act on any more, and that is not the app's failure.
    let error = device.err(expect_text("Shop")).await;
    assert_eq!(error.fault(), Fault::Device, "{error:?}");
    assert!(
        error.to_string().contains("`click` was cancelled"),
        "{error}"
    );
}

async fn a_cancelled_look_leaves_the_page_as_it_is(device: &mut Device) {
    for look in [
        expect_text("Nowhere"),
        Command::Web(WebCommand::Look {
            element: WebElement {
                id: Some("nowhere".into()),
                ..WebElement::default()
            },
            limit: Duration::from_secs(60),
        }),
    ] {
        assert_eq!(device.cancelled(look).await, DriverError::Cancelled);
    }
    device.web(WebCommand::CurrentUrl).await;
}

/// Stands between the program and Playwright's driver, and holds the end of a trace until somebody
/// who listens there says so.
const SLOW_TRACE: &str = r#"
const { spawn } = require('child_process'), net = require('net');
const real = spawn(process.execPath, [CLI, ...process.argv.slice(2)], { stdio: ['pipe', 'inherit', 'inherit'] });
real.on('exit', code => process.exit(code ?? 1));
let bytes = Buffer.alloc(0);
process.stdin.on('end', () => real.stdin.end());
process.stdin.on('data', chunk => {
  bytes = Buffer.concat([bytes, chunk]);
  while (bytes.length >= 4 && bytes.length >= 4 + bytes.readUInt32LE(0)) {
    const frame = bytes.subarray(0, 4 + bytes.readUInt32LE(0));
    bytes = bytes.subarray(frame.length);
    if (!frame.includes('"tracingStopChunk"')) real.stdin.write(frame);
    else net.connect(PORT, '127.0.0.1').on('data', () => real.stdin.write(frame));
  }
});
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_trace_is_kept_by_the_end_of_its_session_and_holds_up_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let traces = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut found = install::find(&install::SearchPaths::from_environment(|name| {
        std::env::var_os(name)
    }));
    let cli = folder.path().join("cli.js");
    let code = SLOW_TRACE
        .replace("CLI", &format!("{:?}", found.cli.unwrap()))
        .replace("PORT", &traces.local_addr().unwrap().port().to_string());
    std::fs::write(&cli, code).unwrap();
    found.cli = Some(cli);
    let mut device = Device::connect_in(&WebPool::new(&found), WebSlot::default()).await;
    let traced = |name: &str| SessionOptions {
        trace: Some(folder.path().join(name)),
        ..SessionOptions::default()
    };
    device.begin(traced("first.zip")).await;
    device.go("data:text/html,<h1>Traced</h1>").await;
    assert!(device.driver().end_grace() > Duration::from_secs(60));
    let forever = Command::Web(WebCommand::Evaluate("new Promise(() => {})".into()));
    // It is answered before its trace is.
    assert_eq!(device.cancelled(forever).await, DriverError::Cancelled);
    let released = async {
        let (mut trace, _) = traces.accept().await.unwrap();
        assert!(!folder.path().join("first.zip").exists());
        trace.write_all(b"go").await.unwrap();
        trace
    };
    let (_, _trace) = tokio::join!(device.ok(Command::End), released);
    assert!(folder.path().join("first.zip").is_file());
    device.begin(SessionOptions::default()).await;
    device.go("data:text/html,<h1>Next</h1>").await;
    device.close().await;
}
