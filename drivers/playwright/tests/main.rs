//! Promises of the web driver, on a real Chromium.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod browser;
mod site;

use packtrain_driver_playwright::{ColorScheme, DialogAnswer, Isolation, WebSlot};
use packtrain_drivers::selector::{NodeSelector, WebMatch};
use packtrain_drivers::{
    Command, DeviceEvent, Direction, DriverError, NavigateTo, Observation, SessionOptions,
    SnapshotDetail, ValueKind, WebCommand, WebTarget,
};

use browser::{Device, reported, run};
use site::Site;

fn by_ref(reference: &str) -> WebTarget {
    WebTarget {
        selector: None,
        reference: Some(reference.to_owned()),
    }
}

fn by_css(css: &str) -> WebTarget {
    WebTarget {
        selector: Some(NodeSelector {
            web: Some(WebMatch {
                css_selector: Some(css.to_owned()),
                ..WebMatch::default()
            }),
            ..NodeSelector::default()
        }),
        reference: None,
    }
}

fn click(target: WebTarget) -> Command {
    Command::Web(WebCommand::Click { target })
}

fn expect_text(text: &str) -> Command {
    Command::Web(WebCommand::ExpectText(text.to_owned()))
}

async fn open(slot: WebSlot) -> (Site, Device) {
    let site = Site::start().await;
    let mut device = Device::connect(slot).await;
    device.begin(SessionOptions::default()).await;
    let to = WebCommand::Navigate(NavigateTo::Url(site.url()));
    device.ok(Command::Web(to)).await;
    (site, device)
}

fn located(observation: Observation) -> (String, u32) {
    match observation {
        Observation::Done(report) => report.located.map(|l| (l.by, l.matched)).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn unmet(error: DriverError) -> (String, Vec<String>) {
    match error {
        DriverError::Unmet { what, log } => (what, log),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_flow_of_typing_choosing_and_clicking_passes() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        let target = by_ref("textbox \"Email\"");
        let text = "jörg@example.com".to_owned();
        device
            .ok(Command::Web(WebCommand::Type {
                target: target.clone(),
                text: text.clone(),
                clear_first: true,
            }))
            .await;
        device
            .ok(Command::Web(WebCommand::ExpectValue {
                target,
                kind: ValueKind::Value,
                expected: text,
            }))
            .await;
        let target = by_ref("combobox \"Size\"");
        device
            .ok(Command::Web(WebCommand::Select {
                target: target.clone(),
                values: vec!["Large".into()],
            }))
            .await;
        device
            .ok(Command::Web(WebCommand::ExpectValue {
                target,
                kind: ValueKind::Value,
                expected: "l".into(),
            }))
            .await;
        device.ok(click(by_ref("button \"More\""))).await;
        device.ok(expect_text("current VALUE: 1")).await;
        device.ok(click(by_css("a[href='/second']"))).await;
        device
            .ok(Command::Web(WebCommand::AwaitUrl {
                pattern: "/second$".into(),
                limit: std::time::Duration::from_secs(9),
            }))
            .await;
        device
            .ok(Command::Web(WebCommand::Navigate(NavigateTo::Back)))
            .await;
        device.ok(expect_text("Shop")).await;
        device.close().await;
    });
}

#[test]
fn an_ambiguous_click_takes_the_first_and_says_how_many_matched() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        let (by, matched) = located(device.ok(click(by_ref("button \"Add\""))).await);
        assert_eq!((by.as_str(), matched), ("role button \"Add\"", 2));
        device.close().await;
    });
}

#[test]
fn a_stale_reference_loses_against_the_selector() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        // e3 is the first field of the list by now; the selector knows better.
        let target = WebTarget {
            reference: Some("e3".into()),
            ..by_css("#count")
        };
        let (by, _) = located(
            device
                .ok(Command::Web(WebCommand::ExpectVisible { target }))
                .await,
        );
        assert_eq!(by, "css #count");
        device.close().await;
    });
}

#[test]
fn a_selector_without_web_block_leaves_the_word_to_the_reference() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        let snapshot = device
            .ok(Command::Snapshot(SnapshotDetail::default()))
            .await;
        let Observation::Snapshot(snapshot) = snapshot else {
            panic!()
        };
        let second_add = snapshot
            .refs
            .iter()
            .filter(|r| r.label == "Add")
            .nth(1)
            .unwrap();
        let target = WebTarget {
            selector: Some(NodeSelector {
                index: Some(2),
                ..NodeSelector::default()
            }),
            reference: Some(second_add.name.clone()),
        };
        let (by, matched) = located(device.ok(click(target)).await);
        assert_eq!(
            (by, matched),
            (format!("ref {}, button \"Add\"", second_add.name), 1)
        );
        device.close().await;
    });
}

#[test]
fn an_element_can_be_named_by_what_it_lies_in() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        let role = |role: &str, name: &str| WebMatch {
            aria_role: Some(role.into()),
            aria_name_regex: (!name.is_empty()).then(|| name.into()),
            ..WebMatch::default()
        };
        let pear = NodeSelector {
            web: Some(role("listitem", "")),
            contains_descendants: vec![NodeSelector {
                web: Some(role("text", "Pear")),
                ..NodeSelector::default()
            }],
            ..NodeSelector::default()
        };
        let target = WebTarget {
            selector: Some(NodeSelector {
                web: Some(role("button", "Add")),
                child_of: Some(Box::new(pear)),
                ..NodeSelector::default()
            }),
            reference: None,
        };
        let Observation::Snapshot(snapshot) = device
            .ok(Command::Snapshot(SnapshotDetail::default()))
            .await
        else {
            panic!()
        };
        println!("{}", snapshot.text);
        let (_, matched) = located(device.ok(click(target)).await);
        assert_eq!(matched, 1);
        device.close().await;
    });
}

#[test]
fn css_paths_are_listed_on_request_and_lead_back() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        let detail = SnapshotDetail {
            css_selectors: true,
            ..SnapshotDetail::default()
        };
        let Observation::Snapshot(snapshot) = device.ok(Command::Snapshot(detail)).await else {
            panic!()
        };
        let line = snapshot
            .text
            .lines()
            .find(|line| line.contains("textbox \"Email\""))
            .unwrap();
        let css = line.split("css=").nth(1).unwrap();
        assert_eq!(css, "#email");
        device.ok(click(by_css(css))).await;
        device.close().await;
    });
}

#[test]
fn what_arrives_late_is_waited_for() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        device.ok(click(by_ref("button \"Later\""))).await;
        device.ok(expect_text("Arrived late")).await;
        device.close().await;
    });
}

#[test]
fn what_arrives_late_is_clicked_once_and_on_the_tab_it_arrives_on() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        let later = "setTimeout(() => { main2.innerHTML = '<button id=new onclick=\"this.textContent += 1\">Clicks: </button>' }, 900)";
        device
            .ok(Command::Web(WebCommand::Evaluate(later.into())))
            .await;
        let clicked = device.ok(click(by_css("#new"))).await;
        assert_eq!(located(clicked).1, 1);
        device.ok(expect_text("Clicks: 1")).await;

        let popup = "setTimeout(() => open('/popup'), 900)";
        device
            .ok(Command::Web(WebCommand::Evaluate(popup.into())))
            .await;
        device.ok(click(by_css("body > p"))).await;
        device.ok(expect_text("In the popup")).await;
        device.close().await;
    });
}

#[test]
fn an_element_that_never_comes_fails_with_how_long_and_what_came_near() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        let limit = std::time::Duration::from_secs(3);
        let command = click(by_ref("button \"More or less\""));
        let (what, log) = unmet(device.execute_within(command, limit).await.unwrap_err());
        assert!(what.starts_with("no element matches"), "{what}");
        assert!(
            log[0].starts_with("waited ") && log[0] != "waited 0.0 s",
            "{log:?}"
        );
        assert!(
            log.iter()
                .any(|line| line.starts_with("similar: ") && line.contains("button \"More\"")),
            "{log:?}"
        );
        device.close().await;
    });
}

#[test]
fn an_element_that_never_becomes_ready_fails_with_what_it_lacked() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        let disable = "document.querySelectorAll('button').forEach((b) => b.disabled = true)";
        device
            .ok(Command::Web(WebCommand::Evaluate(disable.into())))
            .await;
        let limit = std::time::Duration::from_secs(2);
        let command = click(by_ref("button \"More\""));
        let (_, log) = unmet(device.execute_within(command, limit).await.unwrap_err());
        assert!(
            log.iter().any(|line| line.contains("not enabled")),
            "{log:?}"
        );
        device.close().await;
    });
}

#[test]
fn a_missing_text_fails_with_what_the_page_has_instead() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        let (what, log) = unmet(device.err(expect_text("Current value: 7")).await);
        assert_eq!(what, "the text \"Current value: 7\" is not on the page");
        assert!(
            log.iter().any(|line| line.contains("Current value: 0")),
            "{log:?}"
        );
        let (what, _) = unmet(device.err(expect_text("Secret text")).await);
        assert!(what.ends_with("is there, but hidden"), "{what}");
        device.close().await;
    });
}

#[test]
fn dialogs_are_answered_and_reported() {
    run(async {
        let slot = WebSlot {
            dialogs: DialogAnswer::Accept,
            ..WebSlot::default()
        };
        let (_site, mut device) = open(slot).await;
        device.ok(click(by_ref("button \"Ask\""))).await;
        reported(&mut device, |event| {
            matches!(event, DeviceEvent::DialogOpened { dialog, message, answer }
            if dialog == "confirm" && message == "Really?" && answer == "accepted")
        })
        .await;
        device
            .ok(Command::Web(WebCommand::AnswerDialogs {
                accept: false,
                text: None,
            }))
            .await;
        device.ok(click(by_ref("button \"Ask\""))).await;
        reported(&mut device, |event| matches!(event, DeviceEvent::DialogOpened { answer, .. } if answer == "dismissed")).await;
        let title = device
            .ok(Command::Web(WebCommand::Evaluate("document.title".into())))
            .await;
        assert_eq!(title, Observation::Json("no".into()));
        device.close().await;
    });
}

#[test]
fn a_new_tab_becomes_the_current_one_until_it_closes() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        device.ok(click(by_ref("link \"Popup\""))).await;
        device.ok(expect_text("In the popup")).await;
        device
            .ok(Command::Web(WebCommand::Evaluate("window.close()".into())))
            .await;
        device.ok(expect_text("Shop")).await;
        reported(&mut device, |event| {
            matches!(event, DeviceEvent::PageOpened { .. })
        })
        .await;
        reported(
            &mut device,
            |event| matches!(event, DeviceEvent::PageClosed { url } if url.ends_with("/popup")),
        )
        .await;
        device.close().await;
    });
}

#[test]
fn downloads_are_saved_under_their_bare_name() {
    run(async {
        let site = Site::start().await;
        let folder = tempfile::tempdir().unwrap();
        let mut device = Device::connect(WebSlot::default()).await;
        device
            .begin(SessionOptions {
                downloads: Some(folder.path().to_owned()),
                ..SessionOptions::default()
            })
            .await;
        device
            .ok(Command::Web(WebCommand::Navigate(NavigateTo::Url(
                site.url(),
            ))))
            .await;
        device.ok(click(by_ref("link \"Download\""))).await;
        reported(&mut device, |event| matches!(event, DeviceEvent::Downloaded { file, path: Some(_), .. } if file == "report.txt")).await;
        assert_eq!(
            std::fs::read_to_string(folder.path().join("report.txt")).unwrap(),
            "content"
        );
        device.close().await;
    });
}

#[test]
fn console_errors_exceptions_and_failed_requests_are_reported() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        device.ok(click(by_ref("button \"Break\""))).await;
        reported(&mut device, |event| matches!(event, DeviceEvent::Logged { level, text, .. } if level == "error" && text == "it broke")).await;
        reported(&mut device, |event| matches!(event, DeviceEvent::RequestFailed { method, url, status: Some(500), .. } if method == "GET" && url.ends_with("/broken"))).await;
        device.ok(click(by_ref("button \"Throw\""))).await;
        reported(&mut device, |event| matches!(event, DeviceEvent::PageFailed { error } if error.contains("nobody caught me"))).await;
        device.close().await;
    });
}

#[test]
fn requests_are_remembered_with_their_bodies() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        let expect = |name: &str, ms| {
            Command::Web(WebCommand::ExpectRequest {
                name: name.into(),
                limit: std::time::Duration::from_millis(ms),
            })
        };
        device.err(expect("checkout-started", 0)).await;
        device.ok(click(by_ref("button \"Track\""))).await;
        device.ok(expect("checkout-started", 9000)).await;
        device.close().await;
    });
}

#[test]
fn a_scroll_container_scrolls_and_the_page_does_not() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        device
            .ok(Command::Web(WebCommand::Scroll {
                target: by_css("#box"),
                direction: Direction::Down,
                amount: 400,
            }))
            .await;
        let script = "new Promise(done => { const look = () => box.scrollTop ? done([box.scrollTop > 0, window.scrollY]) : requestAnimationFrame(look); look(); })";
        let scrolled = device
            .ok(Command::Web(WebCommand::Evaluate(script.into())))
            .await;
        assert_eq!(scrolled, Observation::Json(serde_json::json!([true, 0])));
        device.close().await;
    });
}

#[test]
fn a_page_that_is_left_while_its_picture_is_taken_costs_no_ten_seconds() {
    run(async {
        let (site, mut device) = open(WebSlot::default()).await;
        let begun = std::time::Instant::now();
        for _ in 0..4 {
            let to = NavigateTo::Url(site.url() + "restless");
            device.ok(Command::Web(WebCommand::Navigate(to))).await;
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
        device.close().await;
    });
}

#[test]
fn a_slot_is_what_the_page_sees() {
    run(async {
        let slot = WebSlot {
            emulate: Some("iPhone 15".into()),
            locale: Some("de-DE".into()),
            timezone: Some("Asia/Tokyo".into()),
            color_scheme: Some(ColorScheme::Dark),
            ..WebSlot::default()
        };
        let (_site, mut device) = open(slot).await;
        let script = "[navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone, matchMedia('(prefers-color-scheme: dark)').matches, innerWidth < 500, /iPhone/.test(navigator.userAgent)]";
        let seen = device
            .ok(Command::Web(WebCommand::Evaluate(script.into())))
            .await;
        assert_eq!(
            seen,
            Observation::Json(serde_json::json!(["de-DE", "Asia/Tokyo", true, true, true]))
        );
        let Observation::Screenshot(picture) = device.ok(Command::Screenshot).await else {
            panic!()
        };
        assert!(picture.png.starts_with(b"\x89PNG"));
        device.close().await;
    });
}

#[test]
fn sessions_on_one_device_do_not_see_each_other() {
    run(async {
        let (site, mut device) = open(WebSlot::default()).await;
        device
            .ok(Command::Web(WebCommand::Evaluate(
                "localStorage.setItem('a', '1')".into(),
            )))
            .await;
        device
            .begin(SessionOptions {
                base_url: Some(site.url()),
                ..SessionOptions::default()
            })
            .await;
        device
            .ok(Command::Web(WebCommand::Navigate(NavigateTo::Url(
                "second".into(),
            ))))
            .await;
        let left = device
            .ok(Command::Web(WebCommand::Evaluate(
                "localStorage.getItem('a')".into(),
            )))
            .await;
        assert_eq!(left, Observation::Json(serde_json::Value::Null));
        device.close().await;
    });
}

#[test]
fn a_killed_browser_is_a_lost_device_within_the_command() {
    run(async {
        let slot = WebSlot {
            isolation: Isolation::Process,
            args: vec!["--user-agent=packtrain-kill-me".into()],
            ..WebSlot::default()
        };
        let (_site, mut device) = open(slot).await;
        let never = Command::Web(WebCommand::Evaluate("new Promise(() => {})".into()));
        let kill = async {
            let found = std::process::Command::new("pkill")
                .args(["-KILL", "-f", "packtrain-kill-me"])
                .status()
                .unwrap();
            assert!(found.success());
        };
        let (lost, ()) = tokio::join!(device.execute(never), kill);
        let error = lost.unwrap_err();
        assert!(
            matches!(&error, DriverError::Lost { cause, hint: Some(_) } if cause.contains("browser")),
            "{error:?}"
        );
        device.close().await;
    });
}

#[test]
fn a_cancelled_command_stops_acting_on_the_page() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        let error = device
            .cancelled(click(by_ref("button \"Not there\"")))
            .await;
        assert_eq!(error, DriverError::Cancelled);
        // The context is gone with it: nothing can act on any more.
        assert!(matches!(
            device.err(expect_text("Shop")).await,
            DriverError::Invalid(_)
        ));
        device.close().await;
    });
}

#[test]
fn navigation_that_fails_says_where_to() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        let to = NavigateTo::Url("http://127.0.0.1:1/".into());
        let (what, _) = unmet(device.err(Command::Web(WebCommand::Navigate(to))).await);
        assert!(what.contains("open http://127.0.0.1:1/"), "{what}");
        device.close().await;
    });
}
