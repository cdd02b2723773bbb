//! Actions on a page, and what happens when it is not ready for them.

use packtrain_driver_playwright::WebSlot;
use packtrain_drivers::{
    Command, CommandContext, Direction, DriverError, InputCommand, NavigateTo, Observation, Point,
    ValueKind, WebCommand, WebTarget,
};
use packtrain_testing::TestDevice as _;

use crate::commands::{by_css, by_ref, click, expect_text, expect_value, located, open, unmet};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flow_of_typing_choosing_and_clicking_passes() {
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
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_that_nothing_takes_is_a_failed_step_and_what_has_the_focus_takes_it() {
    let (site, mut device) = open(WebSlot::default()).await;
    let framed = site.page("<label>Inner <input id=inner></label>");
    let page = site.page(&format!(
        "<button onclick='pressed = true'>Press</button><input id=box type=checkbox>
         <input id=fixed readonly><div id=rich contenteditable></div><div id=host></div>
         <iframe src='{framed}'></iframe>
         <script>host.attachShadow({{ mode: 'open' }}).innerHTML = '<input>';</script>"
    ));
    let evaluate = |script: &str| Command::Web(WebCommand::Evaluate(script.into()));
    let text = || {
        Command::Web(WebCommand::Type {
            target: WebTarget::default(),
            text: "a".into(),
            clear_first: true,
        })
    };
    device
        .ok(Command::Web(WebCommand::Navigate(NavigateTo::Url(page))))
        .await;
    for nothing in [
        "0",
        "box.focus()",
        "fixed.focus()",
        "document.querySelector('button').focus()",
        "document.querySelector('iframe').focus()",
    ] {
        device.ok(evaluate(nothing)).await;
        let (what, _) = unmet(device.err(text()).await);
        assert!(
            what.starts_with("type: no field has the focus; click one first"),
            "{nothing}: {what}"
        );
    }
    for (field, held) in [
        ("rich.focus()", "rich.textContent"),
        (
            "host.shadowRoot.firstChild.focus()",
            "host.shadowRoot.firstChild.value",
        ),
        (
            "document.querySelector('iframe').contentDocument.querySelector('input').focus()",
            "document.querySelector('iframe').contentDocument.querySelector('input').value",
        ),
    ] {
        device.ok(evaluate(field)).await;
        // The second takes the place of the first.
        device.ok(text()).await;
        device.ok(text()).await;
        let typed = device.ok(evaluate(held)).await;
        assert_eq!(typed, Observation::Json("a".into()), "{field}");
    }
    let key = Command::Web(WebCommand::PressKey("g".into()));
    device.ok(evaluate("document.activeElement.blur(); onkeydown = (event) => { document.title = event.key }; 0")).await;
    device.ok(key).await;
    assert_eq!(
        device.ok(evaluate("document.title")).await,
        Observation::Json("g".into())
    );
    device.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_goes_behind_what_the_named_field_holds_and_into_no_other() {
    let (site, mut device) = open(WebSlot::default()).await;
    let page = site.page(
        "<p id=total>Total</p><input id=box type=checkbox><input id=off disabled><input id=other>
         <input id=field value=ab><div id=rich contenteditable>ab</div>
         <input id=mail type=email value=ab><input id=late value=ab style='display: none'>",
    );
    device.go(page).await;
    let add = |css: &str| {
        Command::Web(WebCommand::Type {
            target: by_css(css),
            text: "c".into(),
            clear_first: false,
        })
    };
    for (css, is) in [
        ("#total", "<p>"),
        ("#box", "<input checkbox>"),
        ("#off", "<input text disabled>"),
    ] {
        device.script("other.focus()").await;
        let (what, _) = unmet(device.err(add(css)).await);
        assert!(
            what.contains(&format!("{css} is {is}, which takes no text")),
            "{what}"
        );
    }
    device
        .script("setTimeout(() => late.style.display = '', 300), 1")
        .await;
    for css in ["#late", "#field", "#rich", "#mail"] {
        device.ok(add(css)).await;
    }
    let held = device
        .script("[other.value, late.value, field.value, rich.textContent, mail.value]")
        .await;
    assert_eq!(held, serde_json::json!(["", "abc", "abc", "abc", "abc"]));
    device.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_arrives_late_is_waited_for() {
    let (_site, mut device) = open(WebSlot::default()).await;
    device.ok(click(by_ref("button \"Later\""))).await;
    device.ok(expect_text("Arrived late")).await;
    device.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_arrives_late_is_clicked_once_and_on_the_tab_it_arrives_on() {
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
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_element_that_never_becomes_ready_fails_with_what_it_lacked() {
    let (_site, mut device) = open(WebSlot::default()).await;
    let disable = "document.querySelectorAll('button').forEach((b) => b.disabled = true)";
    device
        .ok(Command::Web(WebCommand::Evaluate(disable.into())))
        .await;
    let limit = std::time::Duration::from_secs(2);
    let command = click(by_ref("button \"More\""));
    let (_, log) = unmet(
        device
            .execute_in(command, &CommandContext::within(limit))
            .await
            .unwrap_err(),
    );
    assert!(
        log.iter().any(|line| line.contains("not enabled")),
        "{log:?}"
    );
    device.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_element_that_cannot_be_seen_is_told_with_the_cause_however_it_is_named() {
    let (_site, mut device) = open(WebSlot::default()).await;
    let hide = "document.querySelector('button:not(li *)').style.display = 'none'";
    device
        .ok(Command::Web(WebCommand::Evaluate(hide.into())))
        .await;
    for target in [by_css("main > button"), by_ref("button \"More\"")] {
        let limit = std::time::Duration::from_secs(2);
        let hidden = device
            .execute_in(click(target), &CommandContext::within(limit))
            .await;
        let (what, _) = unmet(hidden.unwrap_err());
        assert!(what.contains("is there, but hidden by CSS"), "{what}");
        assert!(!what.contains("Timeout"), "{what}");
    }
    device.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scroll_container_scrolls_and_the_page_does_not() {
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
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn navigation_that_fails_says_where_to() {
    let (_site, mut device) = open(WebSlot::default()).await;
    let to = NavigateTo::Url("http://127.0.0.1:1/".into());
    let (what, _) = unmet(device.err(Command::Web(WebCommand::Navigate(to))).await);
    assert!(what.contains("open http://127.0.0.1:1/"), "{what}");
    device.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_fingers_are_not_for_pages() {
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
}
