//! Files that a page is given, and files that it gives.

use std::path::Path;
use std::time::Duration;

use packtrain_driver_playwright::{Engine, WebSlot};
use packtrain_drivers::{
    Command, DeviceEvent, DriverError, Observation, SessionOptions, WantedDownload, WebCommand,
};
use packtrain_testing::TestDevice as _;

use crate::browser::Device;
use crate::commands::{by_css, by_ref, click, expect_text, unmet};

/// Shows what it was given.
const PAGE: &str = "<label>Photos <input id=many type=file multiple></label><input id=one type=file hidden>
    <button onclick='one.click()'>Attach</button><p id=given></p>
    <script>for (const input of [many, one]) input.onchange = async () =>
        given.textContent = (await Promise.all([...input.files].map(async file => `${file.name}=${await file.text()}`))).join()</script>
    <a href='/file'>Download</a><a href='/slow'>Slow download</a>";

fn upload(css: &str, files: &[&str]) -> Command {
    Command::Web(WebCommand::Upload {
        target: by_css(css),
        files: files.iter().map(ToString::to_string).collect(),
    })
}

fn download(wanted: WantedDownload, limit: Duration) -> Command {
    Command::Web(WebCommand::ExpectDownload { wanted, limit })
}

fn is_download(event: &DeviceEvent) -> bool {
    matches!(event, DeviceEvent::Downloaded { .. })
}

async fn open(engine: Engine, folder: &Path) -> Device {
    let slot = WebSlot {
        engine,
        ..WebSlot::default()
    };
    let mut device = Device::connect(slot).await;
    device
        .begin(SessionOptions {
            folders: vec![folder.to_owned()],
            downloads: Some(folder.join("downloads")),
            ..SessionOptions::default()
        })
        .await;
    device.show(PAGE).await;
    device
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_given_to_a_page_and_what_it_gives_is_asserted_in_both_engines() {
    for engine in [Engine::Chromium, Engine::Firefox] {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in [("a.txt", "alpha"), ("b.txt", "beta"), (".env", "secret")] {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let mut device = open(engine, folder.path()).await;
        device.ok(upload("#many", &["a.txt", "b.txt"])).await;
        device.ok(expect_text("a.txt=alpha,b.txt=beta")).await;
        device.ok(upload("button", &["b.txt"])).await;
        device.ok(expect_text("b.txt=beta")).await;
        for (command, reason) in [
            (upload("#one", &["a.txt", "b.txt"]), "file"),
            (upload("#given", &["a.txt"]), "opens no file chooser"),
        ] {
            let (what, _) = unmet(device.err(command).await);
            assert!(what.contains(reason), "{what}");
        }
        for name in [".env", "/etc/passwd", "../a.txt", "c.txt"] {
            let error = device.err(upload("#many", &[name])).await;
            assert!(matches!(error, DriverError::Invalid(_)), "{name}: {error}");
        }

        let wanted = |name: &str, contains: &str| WantedDownload {
            name: Some(name.to_owned()),
            contains: Some(contains.to_owned()),
            ..WantedDownload::default()
        };
        let (soon, late) = (Duration::from_millis(300), Duration::from_secs(20));
        let none = device.err(download(WantedDownload::default(), soon)).await;
        assert!(unmet(none).0.starts_with("none of 0 downloads"));
        device.ok(click(by_ref("link \"Download\""))).await;
        device.event_where(is_download).await;
        for (unlike, reason) in [
            (wanted("other.txt", "content"), "another name"),
            (wanted("report.txt", "Content"), "does not contain"),
            (
                WantedDownload {
                    min_bytes: Some(8),
                    ..wanted("report.txt", "content")
                },
                "7 bytes, expected 8 or more",
            ),
        ] {
            let (what, _) = unmet(device.err(download(unlike, soon)).await);
            assert!(what.contains(reason), "{what}");
        }
        let report = wanted("report.txt", "content");
        let kept = device.ok(download(report.clone(), late)).await;
        assert_eq!(kept, Observation::Text("report.txt, 7 bytes".to_owned()));
        let (what, _) = unmet(device.err(download(report.clone(), soon)).await);
        assert!(what.contains("report.txt: asserted before"), "{what}");
        device.ok(click(by_ref("link \"Download\""))).await;
        // Firefox numbers what has the name of an earlier one.
        let again = WantedDownload {
            name: None,
            name_regex: Some("report.*".to_owned()),
            ..report
        };
        device.ok(download(again, late)).await;
        device.ok(click(by_ref("link \"Slow download\""))).await;
        device.site.release.notify_one();
        let slow = WantedDownload {
            name_regex: Some("slow.*[.]txt".to_owned()),
            ..WantedDownload::default()
        };
        device.ok(download(slow, late)).await;
        device.close().await;
    }
}
