//! Why nothing matched.

use proptest::prelude::*;
use serde_json::json;

use super::reference;
use super::screen::{android, compiled, ios, says};
use crate::selector::{CompiledSelector, NodeSelector, explain};
use crate::tree::Tree;

fn cart() -> Tree {
    android("FrameLayout", |_| {})
        .at(0.0, 0.0, 400.0, 800.0)
        .holding([
            says("TextView", "Your cart").at(0.0, 0.0, 400.0, 50.0),
            android("Button", |n| {
                n.text = Some("Checkout".into());
                n.is_enabled = false;
            })
            .at(0.0, 700.0, 400.0, 750.0),
            android("ImageButton", |n| {
                n.content_description = Some("Settings".into())
            }),
            android("EditText", |n| {
                n.text = Some("3".into());
                n.content_description = Some("Amount".into());
            }),
        ])
        .tree()
}

fn why(selector: serde_json::Value) -> String {
    explain(&cart(), &compiled(selector)).join("\n")
}

fn text(text: &str) -> serde_json::Value {
    json!({ "androidAccessibility": { "textRegex": text } })
}

#[test]
fn a_selector_that_matches_needs_no_explanation() {
    assert_eq!(why(text("Checkout")), "");
}

#[test]
fn a_near_miss_is_suggested() {
    assert_eq!(
        why(text("Chekout")),
        "none of 5 elements has textRegex \"Chekout\"\ndid you mean \"Checkout\"?"
    );
}

#[test]
fn case_white_space_and_parts_are_recognised() {
    assert!(why(text("checkout")).contains("\"Checkout\" differs in case only; (?i)"));
    assert!(why(text("Your  cart")).contains("\"Your cart\" differs in white space only"));
    assert!(why(text("cart")).contains("must match the whole text: \".*cart.*\""));
}

#[test]
fn a_text_found_in_another_property_is_pointed_out() {
    assert!(
        why(text("Amount")).contains("but contentDescriptionRegex would match: EditText"),
        "{}",
        why(text("Amount"))
    );
}

#[test]
fn without_anything_alike_the_texts_on_the_screen_are_listed() {
    assert!(
        why(text("Zebra"))
            .contains("on the screen: \"3\", \"Checkout\", \"Settings\", \"Your cart\"")
    );
    let described = json!({ "androidAccessibility": { "paneTitleRegex": "Zebra" } });
    assert!(why(described).contains("no element here has any paneTitle"));
}

#[test]
fn the_one_condition_in_the_way_is_named_with_what_was_there_instead() {
    let selector =
        json!({ "androidAccessibility": { "textRegex": "Checkout", "isEnabled": true } });
    assert_eq!(
        why(selector),
        "without isEnabled, one element would match: Button \"Checkout\"; its isEnabled is false\n\
         without textRegex \"Checkout\", 4 elements would match: FrameLayout; it has no text"
    );
}

#[test]
fn a_missing_anchor_is_explained_like_a_selector() {
    let mut selector = text("Checkout");
    selector["below"] = text("Your carte");
    assert_eq!(
        why(selector.clone()),
        "below: nothing matches textRegex \"Your carte\"\n\
         none of 5 elements has textRegex \"Your carte\"\n\
         did you mean \"Your cart\"?"
    );
    selector["below"] = text("Settings");
    assert!(why(selector).contains("below: ImageButton \"Settings\" has no bounds"));
}

#[test]
fn a_side_on_which_nothing_lies_is_named() {
    let mut selector = text("Your cart");
    selector["below"] = text("Checkout");
    assert!(
        why(selector.clone()).contains("none of 5 elements has `below`"),
        "{}",
        why(selector)
    );
    let mut selector = text("Checkout");
    selector["above"] = text("Checkout");
    assert!(
        why(selector.clone()).contains("without `above`, one element would match"),
        "{}",
        why(selector)
    );
}

#[test]
fn missing_contents_are_explained() {
    let frame = |contents: serde_json::Value| {
        let mut selector = json!({ "androidAccessibility": { "classNameRegex": ".*FrameLayout" } });
        for (key, value) in contents.as_object().unwrap() {
            selector[key] = value.clone();
        }
        why(selector)
    };
    assert!(
        frame(json!({ "containsChild": text("Chekout") })).contains("did you mean \"Checkout\"?")
    );
    let nested = json!({ "containsDescendants": [text("Checkout"), text("Setings")] });
    assert!(frame(nested).contains("did you mean \"Settings\"?"));
}

#[test]
fn an_index_past_the_end_says_how_many_there_are() {
    let mut selector = json!({ "androidAccessibility": { "classNameRegex": ".*Button" } });
    selector["index"] = json!(2);
    let told = "2 elements match without the index; index 2 is out of range";
    assert!(why(selector).starts_with(told));
}

#[test]
fn a_selector_for_another_platform_says_so() {
    let other = json!({ "iosMaestro": { "textRegex": "Checkout" } });
    assert_eq!(
        why(other),
        "iosMaestro selectors match elements of iOS, and this screen has none"
    );
    assert!(why(json!({ "compose": {} })).contains("no device supports them here"));
    let empty = explain(&Tree::default(), &compiled(text("x")));
    assert_eq!(empty, ["the screen has no elements"]);
}

#[test]
fn a_pattern_that_is_no_regular_expression_is_mentioned() {
    assert!(why(text("Checkout (now")).contains("is compared as plain text"));
}

#[test]
fn an_explanation_stays_short_however_large_the_screen() {
    let texts = (0..500).map(|n| says("TextView", &format!("{n} {}", "long ".repeat(100))));
    let tree = android("FrameLayout", |_| {}).holding(texts).tree();
    let wanted: Vec<_> = (0..50).map(|n| text(&format!("missing {n}"))).collect();
    let lines = explain(&tree, &compiled(json!({ "containsDescendants": wanted })));
    assert!(!lines.is_empty() && lines.len() <= 12, "{lines:?}");
    assert!(lines.iter().all(|line| line.chars().count() <= 303));
}

#[test]
fn an_ios_screen_is_explained_in_its_own_words() {
    let tree = ios("Application", |_| {})
        .holding([ios("Button", |n| n.label = Some("Add contact".into()))])
        .tree();
    let selector = compiled(json!({ "iosMaestro": { "resourceIdRegex": "Add contact" } }));
    assert!(
        explain(&tree, &selector)[1].starts_with("but "),
        "{:?}",
        explain(&tree, &selector)
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_matches_nothing_is_explained(tree in reference::tree(20), selector in reference::selector()) {
        let selector: NodeSelector = selector;
        let compiled = CompiledSelector::new(&selector).unwrap();
        let found = !crate::selector::resolve(&tree, &compiled).matches.is_empty();
        prop_assert_eq!(explain(&tree, &compiled).is_empty(), found, "{}", selector);
    }
}
