//! Actions on a page, and what happens when it is not ready for them.

use std::time::Duration;

use packtrain_drivers::{
    Command, Direction, DriverError, InputCommand, NavigateTo, Point, ValueKind, WebCommand,
    WebTarget,
};
use packtrain_testing::TestDevice as _;

use crate::browser::Device;
use crate::commands::{by_css, by_ref, click, expect_text, expect_value, located, unmet};
use crate::stories::stories;

stories! {
    chromium:
    a_flow_of_typing_choosing_and_clicking_passes
    text_that_nothing_takes_is_a_failed_step_and_what_has_the_focus_takes_it
    text_goes_behind_what_the_named_field_holds_and_into_no_other
    what_arrives_late_is_waited_for
    what_arrives_late_is_clicked_once_and_on_the_tab_it_arrives_on
    an_element_that_never_becomes_ready_fails_with_what_it_lacked
    an_element_that_cannot_be_seen_is_told_with_the_cause_however_it_is_named
    a_scroll_container_scrolls_and_the_page_does_not
    navigation_that_fails_says_where_to
    two_fingers_are_not_for_pages;
}

async fn a_flow_of_typing_choosing_and_clicking_passes(device: &mut Device) {
    let target = by_ref("textbox \"Email\"");
    let text = "jörg@example.com";
    device.fill(target.clone(), text).await;
    device
        .ok(expect_value(target, ValueKind::Value, text))
        .await;
    let target = by_ref("combobox \"Size\"");
    device
        .web(WebCommand::Select {
            target: target.clone(),
            values: vec!["Large".into()],
        })
        .await;
    device.ok(expect_value(target, ValueKind::Value, "l")).await;
    device.ok(click(by_ref("button \"More\""))).await;
    device.ok(expect_text("current VALUE: 1")).await;
    device.ok(click(by_css("a[href='/second']"))).await;
    device
        .web(WebCommand::AwaitUrl {
            pattern: "/second$".into(),
            limit: Duration::from_secs(9),
        })
        .await;
    device.web(WebCommand::Navigate(NavigateTo::Back)).await;
    device.ok(expect_text("Shop")).await;
}

async fn text_that_nothing_takes_is_a_failed_step_and_what_has_the_focus_takes_it(
    device: &mut Device,
) {
    let framed = device.site.page("<label>Inner <input id=inner></label>");
    let page = device.site.page(&format!(
        "<button onclick='pressed = true'>Press</button><input id=box type=checkbox>
         <input id=fixed readonly><div id=rich contenteditable></div><div id=host></div>
         <iframe src='{framed}'></iframe>
         <script>host.attachShadow({{ mode: 'open' }}).innerHTML = '<input>';</script>"
    ));
    let typing = Command::Web(WebCommand::Type {
        target: WebTarget::default(),
        text: "a".into(),
        clear_first: true,
    });
    device.go(page).await;
    for nothing in [
        "0",
        "box.focus()",
        "fixed.focus()",
        "document.querySelector('button').focus()",
        "document.querySelector('iframe').focus()",
    ] {
        device.script(nothing).await;
        let (what, _) = unmet(device.err(typing.clone()).await);
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
        device.script(field).await;
        // The second takes the place of the first.
        device.ok(typing.clone()).await;
        device.ok(typing.clone()).await;
        let typed = device.script(held).await;
        assert_eq!(typed, "a", "{field}");
    }
    let key = Command::Web(WebCommand::PressKey("g".into()));
    device.script("document.activeElement.blur(); onkeydown = (event) => { document.title = event.key }; 0").await;
    device.ok(key).await;
    assert_eq!(device.script("document.title").await, "g");
}

async fn text_goes_behind_what_the_named_field_holds_and_into_no_other(device: &mut Device) {
    let page = device.site.page(
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
}

async fn what_arrives_late_is_waited_for(device: &mut Device) {
    device.ok(click(by_ref("button \"Later\""))).await;
    device.ok(expect_text("Arrived late")).await;
}

async fn what_arrives_late_is_clicked_once_and_on_the_tab_it_arrives_on(device: &mut Device) {
    let later = "setTimeout(() => { main2.innerHTML = '<button id=new onclick=\"this.textContent += 1\">Clicks: </button>' }, 900)";
    device.script(later).await;
    let clicked = device.ok(click(by_css("#new"))).await;
    assert_eq!(located(clicked).1, 1);
    device.ok(expect_text("Clicks: 1")).await;

    let popup = "setTimeout(() => open('/popup'), 900)";
    device.script(popup).await;
    device.ok(click(by_css("body > p"))).await;
    device.ok(expect_text("In the popup")).await;
}

async fn an_element_that_never_becomes_ready_fails_with_what_it_lacked(device: &mut Device) {
    let disable = "document.querySelectorAll('button').forEach((b) => b.disabled = true)";
    device.script(disable).await;
    let command = click(by_ref("button \"More\""));
    let (_, log) = device.unmet(Duration::from_secs(2), command).await;
    assert!(
        log.iter().any(|line| line.contains("not enabled")),
        "{log:?}"
    );
}

async fn an_element_that_cannot_be_seen_is_told_with_the_cause_however_it_is_named(
    device: &mut Device,
) {
    let hide = "document.querySelector('button:not(li *)').style.display = 'none'";
    device.script(hide).await;
    for target in [by_css("main > button"), by_ref("button \"More\"")] {
        let (what, _) = device.unmet(Duration::from_secs(2), click(target)).await;
        assert!(what.contains("is there, but hidden by CSS"), "{what}");
        assert!(!what.contains("Timeout"), "{what}");
    }
}

async fn a_scroll_container_scrolls_and_the_page_does_not(device: &mut Device) {
    device
        .web(WebCommand::Scroll {
            target: by_css("#box"),
            direction: Direction::Down,
            amount: 400,
        })
        .await;
    let script = "new Promise(done => { const look = () => box.scrollTop ? done([box.scrollTop > 0, window.scrollY]) : requestAnimationFrame(look); look(); })";
    let scrolled = device.script(script).await;
    assert_eq!(scrolled, serde_json::json!([true, 0]));
}

async fn navigation_that_fails_says_where_to(device: &mut Device) {
    let to = NavigateTo::Url("http://127.0.0.1:1/".into());
    let (what, _) = unmet(device.err(Command::Web(WebCommand::Navigate(to))).await);
    assert!(what.contains("open http://127.0.0.1:1/"), "{what}");
}

async fn two_fingers_are_not_for_pages(device: &mut Device) {
    let pinch = InputCommand::Pinch {
        from: [Point::new(100.0, 300.0), Point::new(300.0, 100.0)],
        to: [Point::new(150.0, 250.0), Point::new(250.0, 150.0)],
        duration: Duration::from_millis(400),
    };
    let error = device.err(Command::Input(pinch)).await;
    assert!(
        matches!(&error, DriverError::Unsupported { command, .. } if command == "pinch"),
        "{error}"
    );
}
