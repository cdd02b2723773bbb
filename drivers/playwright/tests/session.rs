//! A session: its dialogs, tabs, downloads, reports, and what the page sees of the slot.

use std::sync::Arc;

use packtrain_driver_playwright::{ColorScheme, DialogAnswer, Engine, WebSlot, install};
use packtrain_drivers::{
    Command, DeviceEvent, DriverError, NavigateTo, Observation, SessionOptions, WebCommand,
    event_channel,
};
use packtrain_testing::{TestDevice as _, context};
use tokio::time::Instant;

use crate::browser::{Device, pool};
use crate::commands::{by_ref, click, expect_text, open};
use crate::stories::stories;

stories! {
    chromium:
    a_new_tab_becomes_the_current_one_until_it_closes
    downloads_of_one_name_are_all_kept_and_reported
    what_the_last_click_downloads_is_complete_when_the_session_has_ended
    a_download_that_never_ends_has_failed_when_the_session_has_ended
    console_errors_exceptions_and_failed_requests_are_reported
    a_page_that_is_left_while_its_picture_is_taken_costs_no_ten_seconds
    sessions_on_one_device_do_not_see_each_other
    a_trace_is_written_where_it_is_wanted_when_the_session_ends;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dialogs_are_answered_and_reported() {
    let slot = WebSlot {
        dialogs: DialogAnswer::Accept,
        ..WebSlot::default()
    };
    let mut device = open(slot).await;
    device.ok(click(by_ref("button \"Ask\""))).await;
    device
        .event_where(|event| {
            matches!(event, DeviceEvent::DialogOpened { dialog, message, answer }
        if dialog == "confirm" && message == "Really?" && answer == "accepted")
        })
        .await;
    device
        .web(WebCommand::AnswerDialogs {
            accept: false,
            text: None,
        })
        .await;
    device.ok(click(by_ref("button \"Ask\""))).await;
    device.event_where(|event| matches!(event, DeviceEvent::DialogOpened { answer, .. } if answer == "dismissed")).await;
    let title = device.script("document.title").await;
    assert_eq!(title, "no");
    device.close().await;
}

async fn a_new_tab_becomes_the_current_one_until_it_closes(device: &mut Device) {
    device.ok(click(by_ref("link \"Popup\""))).await;
    device.ok(expect_text("In the popup")).await;
    device.script("window.close()").await;
    device.ok(expect_text("Shop")).await;
    device
        .event_where(|event| matches!(event, DeviceEvent::PageOpened { .. }))
        .await;
    device
        .event_where(
            |event| matches!(event, DeviceEvent::PageClosed { url } if url.ends_with("/popup")),
        )
        .await;
}

/// A session that keeps its downloads in a folder, on the site's first page.
async fn downloading(device: &mut Device) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    device
        .begin(SessionOptions {
            downloads: Some(folder.path().to_owned()),
            ..SessionOptions::default()
        })
        .await;
    device.visit("").await;
    folder
}

async fn downloads_of_one_name_are_all_kept_and_reported(device: &mut Device) {
    let folder = downloading(device).await;
    for expected in ["report.txt", "report (2).txt", "report (3).txt"] {
        device.ok(click(by_ref("link \"Download\""))).await;
        device.event_where(|event| matches!(event, DeviceEvent::Downloaded { file, path: Some(path), .. } if file == "report.txt" && path.ends_with(expected))).await;
        let kept = std::fs::read_to_string(folder.path().join(expected)).unwrap();
        assert_eq!(kept, "content");
    }
}

async fn what_the_last_click_downloads_is_complete_when_the_session_has_ended(device: &mut Device) {
    let folder = downloading(device).await;
    let release = Arc::clone(&device.site.release);
    device.ok(click(by_ref("link \"Slow download\""))).await;
    tokio::join!(device.ok(Command::End), async { release.notify_one() });
    let kept = std::fs::read_to_string(folder.path().join("slow.txt")).unwrap();
    assert_eq!(kept, "slow ".repeat(20_000) + "content");
}

async fn a_download_that_never_ends_has_failed_when_the_session_has_ended(device: &mut Device) {
    let _folder = downloading(device).await;
    device.ok(click(by_ref("link \"Slow download\""))).await;
    device.ok(Command::End).await;
    let failed = |event: &DeviceEvent| matches!(event, DeviceEvent::Downloaded { file, path: None, error: Some(_) } if file == "slow.txt");
    assert!(device.events().iter().any(failed));
}

async fn console_errors_exceptions_and_failed_requests_are_reported(device: &mut Device) {
    device.ok(click(by_ref("button \"Break\""))).await;
    device.event_where(|event| matches!(event, DeviceEvent::Logged { level, text, .. } if level == "error" && text == "it broke")).await;
    device.event_where(|event| matches!(event, DeviceEvent::RequestFailed { method, url, status: Some(500), .. } if method == "GET" && url.ends_with("/broken"))).await;
    device.ok(click(by_ref("button \"Throw\""))).await;
    device.event_where(|event| matches!(event, DeviceEvent::PageFailed { error } if error.contains("nobody caught me"))).await;
}

async fn a_page_that_is_left_while_its_picture_is_taken_costs_no_ten_seconds(device: &mut Device) {
    let begun = Instant::now();
    for _ in 0..4 {
        let to = NavigateTo::Url(device.site.url() + "restless");
        device.web(WebCommand::Navigate(to)).await;
        let Observation::Screenshot(picture) = device.ok(Command::Screenshot).await else {
            panic!()
        };
        assert!(!picture.png.is_empty());
        let second = WebCommand::AwaitUrl {
            pattern: "/second$".into(),
            limit: std::time::Duration::from_secs(9),
        };
        device.ok(Command::Web(second)).await;
    }
    assert!(
        begun.elapsed() < std::time::Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_is_what_the_page_sees() {
    let slot = WebSlot {
        emulate: Some("iPhone 15".into()),
        locale: Some("de-DE".into()),
        timezone: Some("Asia/Tokyo".into()),
        color_scheme: Some(ColorScheme::Dark),
        ..WebSlot::default()
    };
    let mut device = open(slot).await;
    let script = "[navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone, matchMedia('(prefers-color-scheme: dark)').matches, innerWidth < 500, /iPhone/.test(navigator.userAgent)]";
    let seen = device.script(script).await;
    assert_eq!(
        seen,
        serde_json::json!(["de-DE", "Asia/Tokyo", true, true, true])
    );
    let Observation::Screenshot(picture) = device.ok(Command::Screenshot).await else {
        panic!()
    };
    assert!(picture.png.starts_with(b"\x89PNG"));
    device.close().await;
}

async fn sessions_on_one_device_do_not_see_each_other(device: &mut Device) {
    device.script("localStorage.setItem('a', '1')").await;
    device
        .begin(SessionOptions {
            base_url: Some(device.site.url()),
            ..SessionOptions::default()
        })
        .await;
    device.go("second").await;
    let left = device.script("localStorage.getItem('a')").await;
    assert_eq!(left, serde_json::Value::Null);
}

async fn a_trace_is_written_where_it_is_wanted_when_the_session_ends(device: &mut Device) {
    let folder = tempfile::tempdir().unwrap();
    for engine in ["chromium", "firefox"] {
        let path = folder.path().join(engine).join("trace.zip");
        device
            .begin(SessionOptions {
                axes: [("engine".to_owned(), engine.to_owned())].into(),
                trace: Some(path.clone()),
                ..SessionOptions::default()
            })
            .await;
        device.visit("").await;
        device.ok(click(by_ref("button \"More\""))).await;
        assert!(!path.exists());
        device.ok(Command::End).await;
        assert!(std::fs::read(&path).unwrap().starts_with(b"PK"), "{engine}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn firefox_is_a_device_and_a_matrix_may_still_ask_for_chromium() {
    let slot = WebSlot {
        engine: Engine::Firefox,
        ..WebSlot::default()
    };
    let mut device = open(slot).await;
    let system = device.driver().info().system.clone();
    assert!(system.starts_with("Firefox "), "{system}");
    let agent = Command::Web(WebCommand::Evaluate("navigator.userAgent".into()));
    let told = format!("{:?}", device.ok(agent.clone()).await);
    assert!(told.contains("Firefox/"), "{told}");
    device.ok(click(by_ref("button \"More\""))).await;
    device.ok(expect_text("current value: 1")).await;
    let axes = [("engine".to_owned(), "chromium".to_owned())];
    device
        .ok(Command::Begin(SessionOptions {
            axes: axes.into(),
            ..SessionOptions::default()
        }))
        .await;
    let told = format!("{:?}", device.ok(agent).await);
    assert!(told.contains("Chrome/"), "{told}");
    device.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_is_not_the_browser_of_its_engine_is_refused_before_it_is_started() {
    let found = install::find(&install::SearchPaths::from_environment(|name| {
        std::env::var_os(name)
    }));
    let (chromium, firefox) = (found.browser.unwrap(), found.firefox.unwrap());
    for (program, engine, reason) in [
        ("/nowhere/chromium".into(), Engine::Chromium, "No such file"),
        ("/bin/cat".into(), Engine::Chromium, "not a browser"),
        (
            firefox,
            Engine::Chromium,
            "it is Firefox, and the device has `engine: chromium`",
        ),
        (
            chromium,
            Engine::Firefox,
            "it is Chromium, and the device has `engine: firefox`",
        ),
    ] {
        let slot = WebSlot {
            executable: Some(program),
            engine,
            ..WebSlot::default()
        };
        let (sink, _events) = event_channel();
        let connecting = pool().connector(slot).connect(sink, &context()).await;
        let Err(DriverError::Lost { cause, .. }) = connecting else {
            panic!("{reason}: connected");
        };
        assert!(cause.contains(reason) && cause.len() < 200, "{cause}");
    }
}
