//! Selectors written for an element.

use proptest::prelude::*;
use serde_json::json;

use super::reference;
use super::screen::{android, ios, says, web};
use crate::selector::{CompiledSelector, Match, resolve, selector_for};
use crate::tree::{NodeId, Tree};

fn written(tree: &Tree, node: u32) -> serde_json::Value {
    serde_json::to_value(selector_for(tree, NodeId(node))).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_written_selector_names_exactly_its_element(tree in reference::tree(25)) {
        for (id, _) in tree.iter() {
            let selector = selector_for(&tree, id);
            let compiled = CompiledSelector::new(&selector).unwrap();
            prop_assert_eq!(resolve(&tree, &compiled).outcome(), Match::Single(id), "{}", selector);
        }
    }
}

#[test]
fn an_identifier_comes_before_a_text_and_a_text_before_a_class() {
    let tree = android("FrameLayout", |_| {})
        .holding([
            android("Button", |n| {
                n.resource_id = Some("com.example:id/save".into());
                n.text = Some("Save".into());
            }),
            says("Button", "Price: $5"),
            android("CheckBox", |_| {}),
        ])
        .tree();
    let block = |block| json!({ "androidAccessibility": block });
    assert_eq!(
        written(&tree, 1),
        block(json!({ "resourceIdRegex": "com.example:id/save" }))
    );
    assert_eq!(
        written(&tree, 2),
        block(json!({ "textRegex": r"\QPrice: $5\E" }))
    );
    assert_eq!(
        written(&tree, 3),
        block(json!({ "classNameRegex": "android.widget.CheckBox" }))
    );
}

#[test]
fn what_was_typed_into_a_field_is_not_what_it_is_called() {
    let tree = android("FrameLayout", |_| {})
        .holding([android("EditText", |n| {
            n.text = Some("me@example.com".into());
            n.hint_text = Some("Email".into());
            n.is_editable = true;
        })])
        .tree();
    assert_eq!(
        written(&tree, 1),
        json!({ "androidAccessibility": { "hintTextRegex": "Email" } })
    );
}

#[test]
fn a_row_is_named_by_what_it_holds_and_a_button_by_the_row_it_is_in() {
    let row = |title: &str, id: &str| {
        android("LinearLayout", |n| {
            n.unique_id = (!id.is_empty()).then(|| id.into());
        })
        .holding([says("TextView", title), says("Button", "Delete")])
    };
    let tree = android("FrameLayout", |_| {})
        .holding([row("Tea", ""), row("Coffee", "c")])
        .tree();
    assert_eq!(
        written(&tree, 1),
        json!({
            "androidAccessibility": { "classNameRegex": "android.widget.LinearLayout" },
            "containsChild": { "androidAccessibility": { "textRegex": "Tea" } }
        })
    );
    assert_eq!(
        written(&tree, 6),
        json!({
            "androidAccessibility": { "textRegex": "Delete" },
            "childOf": { "androidAccessibility": { "uniqueId": "c" } }
        })
    );
}

#[test]
fn equals_are_told_apart_by_their_place() {
    let tree = android("FrameLayout", |_| {})
        .holding([
            says("Button", "Next").at(0.0, 50.0, 10.0, 60.0),
            says("Button", "Next").at(0.0, 10.0, 10.0, 20.0),
        ])
        .tree();
    assert_eq!(
        written(&tree, 1),
        json!({ "androidAccessibility": { "textRegex": "Next" }, "index": 1 })
    );
}

#[test]
fn other_platforms_get_blocks_of_their_own() {
    let tree = ios("Application", |_| {})
        .holding([ios("Button", |n| n.label = Some("Add".into()))])
        .tree();
    assert_eq!(
        written(&tree, 1),
        json!({ "iosMaestro": { "accessibilityTextRegex": "Add" } })
    );
    let tree = web("main", None)
        .holding([web("button", Some("Add (1)"))])
        .tree();
    assert_eq!(
        written(&tree, 1),
        json!({ "web": { "ariaRole": "button", "ariaNameRegex": r"\QAdd (1)\E" } })
    );
}

#[test]
fn prose_quotes_and_odd_characters_are_no_obstacle() {
    let long = "word ".repeat(1_000);
    let odd = [
        "",
        " ",
        r"a\Eb",
        r"\Q",
        "line\nline",
        "(?i)x",
        "$5",
        "\u{1F600}",
        &long,
        &long,
    ];
    let tree = android("FrameLayout", |_| {})
        .holding(odd.map(|text| says("TextView", text)))
        .tree();
    for (id, _) in tree.iter() {
        let selector = selector_for(&tree, id);
        let compiled = CompiledSelector::new(&selector).unwrap();
        assert_eq!(
            resolve(&tree, &compiled).outcome(),
            Match::Single(id),
            "{selector}"
        );
        assert!(selector.to_string().len() < 500);
    }
}

#[test]
fn an_element_of_another_tree_gets_a_selector_that_matches_nothing() {
    let tree = says("View", "x").tree();
    let selector = CompiledSelector::new(&selector_for(&tree, NodeId(7))).unwrap();
    assert_eq!(resolve(&tree, &selector).outcome(), Match::None);
}
