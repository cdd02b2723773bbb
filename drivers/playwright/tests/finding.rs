//! How elements are found: by selector, by reference, and which one when several match.

use packtrain_drivers::selector::{NodeSelector, WebMatch};
use packtrain_drivers::{Command, Observation, SnapshotDetail, WebTarget};
use packtrain_testing::TestDevice as _;

use crate::browser::Device;
use crate::commands::{by_css, by_ref, by_role, click, expect_visible, located};
use crate::stories::stories;

stories! {
    chromium:
    an_ambiguous_click_takes_the_first_and_says_how_many_matched
    a_stale_reference_loses_against_the_selector
    a_selector_without_web_block_leaves_the_word_to_the_reference
    an_element_can_be_named_by_what_it_lies_in
    css_paths_are_listed_on_request_and_lead_back
    an_element_that_never_comes_fails_with_how_long_and_what_came_near
    an_action_whose_selector_matches_nothing_uses_the_reference_and_says_so;
}

async fn an_ambiguous_click_takes_the_first_and_says_how_many_matched(device: &mut Device) {
    let (by, matched) = located(device.ok(click(by_ref("button \"Add\""))).await);
    assert_eq!((by.as_str(), matched), ("role button \"Add\"", 2));
}

async fn a_stale_reference_loses_against_the_selector(device: &mut Device) {
    // e3 is the first field of the list by now; the selector knows better.
    let target = WebTarget {
        reference: Some("e3".into()),
        ..by_css("#count")
    };
    let (by, _) = located(device.ok(expect_visible(target)).await);
    assert_eq!(by, "css #count");
}

async fn a_selector_without_web_block_leaves_the_word_to_the_reference(device: &mut Device) {
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
}

async fn an_element_can_be_named_by_what_it_lies_in(device: &mut Device) {
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
    let (_, matched) = located(device.ok(click(target)).await);
    assert_eq!(matched, 1);
}

async fn css_paths_are_listed_on_request_and_lead_back(device: &mut Device) {
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
}

async fn an_element_that_never_comes_fails_with_how_long_and_what_came_near(device: &mut Device) {
    let limit = std::time::Duration::from_secs(3);
    let command = click(by_ref("button \"More or less\""));
    let (what, log) = device.unmet(limit, command).await;
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
}

async fn an_action_whose_selector_matches_nothing_uses_the_reference_and_says_so(
    device: &mut Device,
) {
    let target = WebTarget {
        reference: Some("button \"Add\"".into()),
        ..by_role("button", "Put in")
    };
    let report = match device.ok(click(target)).await {
        Observation::Done(report) => report,
        other => panic!("{other:?}"),
    };
    let located = report.located.unwrap();
    assert_eq!(
        (located.by.as_str(), located.matched),
        ("role button \"Add\"", 2)
    );
    assert_eq!(
        report.notes,
        [
            "the selector (role button \"Put in\") matched nothing, so the reference was used: role button \"Add\""
        ]
    );
}
