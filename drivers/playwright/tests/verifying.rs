//! Verifications: what passes, what fails, and what a failure says.

use std::time::Duration;

use packtrain_drivers::{
    Command, DriverError, Fault, SessionOptions, TextMatch, ValueKind, WebCommand, WebTarget,
};
use packtrain_testing::TestDevice as _;

use crate::browser::Device;
use crate::commands::{
    by_css, by_ref, by_role, click, expect_list, expect_list_as, expect_text, expect_text_as,
    expect_value, expect_value_as, expect_visible, located, unmet,
};
use crate::stories::stories;

stories! {
    chromium:
    a_verification_never_falls_back_to_its_reference
    a_text_is_a_part_in_any_case_or_the_whole_in_this_case
    a_text_with_a_digit_at_its_end_is_not_seen_in_a_longer_number
    what_nobody_can_see_is_no_text
    a_value_is_a_part_or_the_whole
    the_items_of_a_list_are_visible_as_parts_or_as_wholes
    the_text_of_a_field_is_what_it_holds_now
    an_empty_text_is_expected_to_be_empty
    a_blank_expectation_is_refused_because_everything_would_fulfil_it
    a_missing_text_fails_with_what_the_page_has_instead
    requests_are_remembered_with_their_bodies_and_for_their_session_only
    what_cannot_be_seen_is_said_to_be_there_and_why;
}

const CONTAINS: TextMatch = TextMatch::Contains;
const EXACT: TextMatch = TextMatch::Exact;
const TEXT: ValueKind = ValueKind::Text;

/// The words of a verification that fails on the app's account, soon.
async fn fails(device: &mut Device, mut command: Command) -> String {
    if let Command::Web(
        WebCommand::ExpectText { limit, .. } | WebCommand::ExpectVisible { limit, .. },
    ) = &mut command
    {
        *limit = Some(Duration::from_millis(50));
    }
    let told = format!("{command:?}");
    let error = device
        .err_within(Duration::from_millis(1500), command)
        .await;
    assert_eq!(error.fault(), Fault::App, "{told}: {error:?}");
    error.to_string()
}

async fn a_verification_never_falls_back_to_its_reference(device: &mut Device) {
    device.visit("oops").await;
    for reference in ["e1", "[e1]", "heading \"Oops\"", "css=h1", "Oops"] {
        let welcome = || WebTarget {
            reference: Some(reference.into()),
            ..by_role("heading", "Welcome")
        };
        for command in [
            expect_visible(welcome()),
            expect_value(welcome(), TEXT, "Oops"),
            expect_list(welcome(), &["Oops"]),
        ] {
            let what = fails(device, command).await;
            assert_eq!(
                what, "no element matches role heading \"Welcome\"",
                "{reference}"
            );
        }
    }
    let mut nameless = by_role("heading", "Oops");
    nameless.reference = Some("e1".into());
    let web = nameless.selector.as_mut().unwrap().web.as_mut().unwrap();
    web.aria_role = None;
    let what = fails(device, expect_visible(nameless)).await;
    assert!(what.contains("without a role"), "{what}");
}

async fn a_text_is_a_part_in_any_case_or_the_whole_in_this_case(device: &mut Device) {
    device.visit("oops").await;
    for part in ["TASKS left", "11 tasks  left", "went wrong"] {
        device.ok(expect_text_as(part, CONTAINS)).await;
    }
    let (by, matched) = located(
        device
            .ok(expect_text_as("11 tasks left\ntoday ", EXACT))
            .await,
    );
    assert_eq!(
        (by.as_str(), matched),
        ("exact text \"11 tasks left\\ntoday \"", 1)
    );
    for other in ["1 tasks left", "11 tasks left", "11 Tasks left today"] {
        fails(device, expect_text_as(other, EXACT)).await;
    }
}

async fn a_text_with_a_digit_at_its_end_is_not_seen_in_a_longer_number(device: &mut Device) {
    device.visit("oops").await;
    let list = |item: &str| expect_list(by_css("ul"), &[item]);
    for (html, part, is_there) in [
        ("11 tasks left", "1 tasks left", false),
        (
            "<b>11 tasks</b>, of which 1 tasks\n is it's > due",
            "1 tasks is it's >",
            true,
        ),
        ("Total: 1,<b>000</b>", "Total: 1", false),
        ("v1.5", "5", false),
        ("<i hidden>234</i> 1&#8239;234 €", "234", false),
        ("Page 1 (of 20)", "Page 1", true),
    ] {
        device.show(&format!("<ul><li id=x>{html}</li></ul>")).await;
        for command in [
            expect_text(part),
            list(part),
            expect_value(by_css("#x"), TEXT, part),
        ] {
            if is_there {
                device.ok(command).await;
            } else {
                fails(device, command).await;
            }
        }
    }
}

async fn what_nobody_can_see_is_no_text(device: &mut Device) {
    device.visit("oops").await;
    let text = |text| expect_text(text);
    let exact = |text| expect_text_as(text, EXACT);
    let value = |text| expect_value(by_css("#x"), TEXT, text);
    let list = |item| expect_list(by_css("#x"), &[item]);
    for (html, passes, verification) in [
        ("<p>Total: <span hidden>$5</span></p>", true, text("Total:")),
        (
            "<p>Total: <span hidden>$5</span></p>",
            false,
            text("Total: $5"),
        ),
        (
            "<p>Total: <i style='visibility: hidden'>$5</i></p>",
            false,
            text("Total: $5"),
        ),
        (
            "<p>Saved<i hidden> failed</i></p>",
            false,
            exact("Saved failed"),
        ),
        ("<p>Save<i>d it</i></p>", true, exact("Saved it")),
        (
            "<p style='text-transform: uppercase'>Saved</p>",
            true,
            exact("Saved"),
        ),
        (
            "<div>Errors: 1</div><div>0 warnings</div>",
            false,
            text("Errors: 10"),
        ),
        (
            "<table><tr><td>1</td><td>0</td></tr></table>",
            false,
            text("10"),
        ),
        (
            "<div>Note <textarea>old</textarea></div>",
            false,
            text("Note old"),
        ),
        ("<p id=x>Paid<i hidden> late</i></p>", true, value("Paid")),
        (
            "<p id=x>Paid<i hidden> late</i></p>",
            false,
            value("Paid late"),
        ),
        (
            "<p id=x style='display: none'>Paid</p>",
            false,
            value("Paid"),
        ),
        (
            "<ul id=x><li>Apple<i hidden> sold out</i></li></ul>",
            true,
            list("apple"),
        ),
        (
            "<ul id=x><li>Apple<i hidden> sold out</i></li></ul>",
            false,
            list("Apple sold out"),
        ),
    ] {
        device
            .script(&format!("document.body.innerHTML = {html:?}"))
            .await;
        if passes {
            device.ok(verification).await;
        } else {
            fails(device, verification).await;
        }
    }
    let parts = "document.body.innerHTML = '<div id=host></div>';
        const root = host.attachShadow({ mode: 'open' });
        root.innerHTML = '<p>Hello <slot></slot></p>'; host.append('Bob')";
    device.script(parts).await;
    device.ok(expect_text("Hello")).await;
}

async fn a_value_is_a_part_or_the_whole(device: &mut Device) {
    device.visit("oops").await;
    let tasks = || by_css("#tasks");
    device.ok(expect_value(tasks(), TEXT, "tasks l")).await;
    fails(device, expect_value_as(tasks(), TEXT, "1 tasks", EXACT)).await;
    fails(
        device,
        expect_value_as(tasks(), TEXT, "11 TASKS left today", EXACT),
    )
    .await;
    let whole = expect_value_as(tasks(), TEXT, "11 tasks left  today", EXACT);
    device.ok(whole).await;
}

async fn the_items_of_a_list_are_visible_as_parts_or_as_wholes(device: &mut Device) {
    device.visit("oops").await;
    let list = || by_role("list", "Errors");
    device.ok(expect_list(list(), &["fir"])).await;
    let what = fails(device, expect_list_as(list(), &["fir"], EXACT)).await;
    assert_eq!(what, "role list \"Errors\" lacks \"fir\"");
    device.ok(expect_list_as(list(), &["First"], EXACT)).await;
    // It is in the document, and nobody sees it.
    let what = fails(device, expect_list(list(), &["First", "Second"])).await;
    assert_eq!(what, "role list \"Errors\" lacks \"Second\"");
}

async fn the_text_of_a_field_is_what_it_holds_now(device: &mut Device) {
    device.visit("oops").await;
    device.script("note.value = 'Goes on with that'").await;
    let note = || by_css("#note");
    fails(device, expect_value(note(), TEXT, "Began with this")).await;
    fails(device, expect_text("Began with this")).await;
    device
        .ok(expect_value(note(), TEXT, "Goes on with that"))
        .await;
    // A list that is closed shows one of its options, and is called by its value too.
    let size = || by_css("#size");
    for (value, shown, hidden) in [("s", "Small", "Large"), ("l", "Large", "Small")] {
        device.script(&format!("size.value = '{value}'")).await;
        device.ok(expect_value(size(), TEXT, shown)).await;
        device.ok(expect_value_as(size(), TEXT, shown, EXACT)).await;
        device.ok(expect_value(size(), TEXT, value)).await;
        fails(device, expect_value(size(), TEXT, hidden)).await;
    }
}

async fn an_empty_text_is_expected_to_be_empty(device: &mut Device) {
    device.visit("oops").await;
    for kind in [TEXT, ValueKind::Value] {
        let what = fails(device, expect_value(by_css("#name"), kind, "")).await;
        assert!(what.contains("is \"Nobody\""), "{what}");
    }
    fails(device, expect_value(by_css("#tasks"), TEXT, " ")).await;
    device.ok(expect_value(by_css("#empty"), TEXT, "")).await;
    device
        .script("document.getElementById('name').value = ''")
        .await;
    device.ok(expect_value(by_css("#name"), TEXT, "")).await;
}

async fn a_blank_expectation_is_refused_because_everything_would_fulfil_it(device: &mut Device) {
    device.visit("oops").await;
    for command in [
        expect_text(" \n"),
        expect_text_as("", EXACT),
        expect_list(by_css("ul"), &["First", ""]),
        expect_list(by_css("ul"), &[]),
        Command::Web(WebCommand::AwaitUrl {
            pattern: String::new(),
            limit: Duration::from_secs(1),
        }),
        Command::Web(WebCommand::ExpectRequest {
            name: " ".into(),
            limit: Duration::from_secs(1),
        }),
    ] {
        let error = device.err(command).await;
        assert!(matches!(error, DriverError::Invalid(_)), "{error:?}");
    }
}

async fn a_missing_text_fails_with_what_the_page_has_instead(device: &mut Device) {
    let soon = Duration::from_millis(1500);
    let (what, log) = device.unmet(soon, expect_text("Current value: 7")).await;
    assert_eq!(what, "the text \"Current value: 7\" is not on the page");
    assert!(
        log.iter().any(|line| line.contains("Current value: 0")),
        "{log:?}"
    );
    let (what, _) = device.unmet(soon, expect_text("Secret text")).await;
    assert!(what.ends_with("is there, but hidden by CSS"), "{what}");
}

async fn requests_are_remembered_with_their_bodies_and_for_their_session_only(device: &mut Device) {
    let expect = |name: &str, ms| {
        Command::Web(WebCommand::ExpectRequest {
            name: name.into(),
            limit: Duration::from_millis(ms),
        })
    };
    device.err(expect("checkout-started", 0)).await;
    device.ok(click(by_ref("button \"Track\""))).await;
    device.ok(expect("checkout-started", 9000)).await;
    device.begin(SessionOptions::default()).await;
    device.visit("").await;
    device.err(expect("checkout-started", 300)).await;
}

async fn what_cannot_be_seen_is_said_to_be_there_and_why(device: &mut Device) {
    let hidden = "<button style='display: none'>Gone</button><button style='visibility: hidden'>Pale</button>
        <details><summary>More</summary><button>Folded</button></details>
        <dialog><button>Asked</button></dialog><div popover><button>Popped</button></div>
        <div role=menu style='display: none'><button>Listed</button></div>
        <div aria-hidden=true><button>Silent</button></div>";
    device.show(hidden).await;
    for (name, why) in [
        ("Gone", "is there, but hidden by CSS"),
        ("Pale", "is there, but hidden by CSS"),
        ("Folded", "is there, but in a closed menu"),
        ("Asked", "is there, but in a closed dialog"),
        ("Popped", "is there, but in a closed menu"),
        ("Listed", "is there, but in a closed menu"),
        (
            "Silent",
            "is there, but hidden from assistive technology by aria-hidden",
        ),
        ("Absent", "no element matches role button"),
    ] {
        let visible = Command::Web(WebCommand::ExpectVisible {
            target: by_role("button", name),
            limit: Some(Duration::from_millis(50)),
        });
        let (what, _) = unmet(device.err(visible).await);
        assert!(what.contains(why), "{name}: {what}");
    }
}
