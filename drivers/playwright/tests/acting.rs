//! Actions on a page, and what happens when it is not ready for them.

use packtrain_driver_playwright::WebSlot;
use packtrain_drivers::{
    Command, Direction, DriverError, InputCommand, NavigateTo, Observation, Point, ValueKind,
    WebCommand,
};
use packtrain_testing::{TestDevice as _, context_within};

use crate::browser::run;
use crate::commands::{by_css, by_ref, click, expect_text, expect_value, located, open, unmet};

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
            .ok(expect_value(target, ValueKind::Value, &text))
            .await;
        let target = by_ref("combobox \"Size\"");
        device
            .ok(Command::Web(WebCommand::Select {
                target: target.clone(),
                values: vec!["Large".into()],
            }))
            .await;
        device.ok(expect_value(target, ValueKind::Value, "l")).await;
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
fn an_element_that_never_becomes_ready_fails_with_what_it_lacked() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        let disable = "document.querySelectorAll('button').forEach((b) => b.disabled = true)";
        device
            .ok(Command::Web(WebCommand::Evaluate(disable.into())))
            .await;
        let limit = std::time::Duration::from_secs(2);
        let command = click(by_ref("button \"More\""));
        let (_, log) = unmet(
            device
                .execute_in(command, &context_within(limit))
                .await
                .unwrap_err(),
        );
        assert!(
            log.iter().any(|line| line.contains("not enabled")),
            "{log:?}"
        );
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
fn navigation_that_fails_says_where_to() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        let to = NavigateTo::Url("http://127.0.0.1:1/".into());
        let (what, _) = unmet(device.err(Command::Web(WebCommand::Navigate(to))).await);
        assert!(what.contains("open http://127.0.0.1:1/"), "{what}");
        device.close().await;
    });
}

#[test]
fn two_fingers_are_not_for_pages() {
    run(async {
        let (_site, mut device) = open(WebSlot::default()).await;
        let pinch = InputCommand::Pinch {
            from: [Point::new(100.0, 300.0), Point::new(300.0, 100.0)],
            to: [Point::new(150.0, 250.0), Point::new(250.0, 150.0)],
            duration: std::time::Duration::from_millis(400),
        };
        let error = device.err(Command::Input(pinch)).await;
        assert!(
            matches!(&error, DriverError::Unsupported { command, .. } if command == "pinch"),
            "{error}"
        );
        device.close().await;
    });
}
