//! Which elements a selector finds, and in which order.

use serde_json::json;

use super::screen::{android, compiled, found, says, web, web_with};
use crate::selector::{Match, resolve};
use crate::tree::{NodeId, Tree};

/// Two rows of a shop, the second drawn above the first.
fn shop() -> Tree {
    android("FrameLayout", |_| {})
        .at(0.0, 0.0, 400.0, 800.0)
        .holding([
            android("LinearLayout", |n| n.resource_id = Some("row".into()))
                .at(0.0, 200.0, 400.0, 300.0)
                .holding([
                    says("TextView", "Coffee").at(0.0, 200.0, 300.0, 300.0),
                    says("Button", "Add").at(300.0, 200.0, 400.0, 300.0),
                ]),
            android("LinearLayout", |n| n.resource_id = Some("row".into()))
                .at(0.0, 100.0, 400.0, 200.0)
                .holding([
                    says("TextView", "Tea").at(0.0, 100.0, 300.0, 200.0),
                    says("Button", "Add").at(300.0, 100.0, 400.0, 200.0),
                ]),
            says("TextView", "Total").at(0.0, 300.0, 400.0, 350.0),
            says("Button", "Add"),
        ])
        .tree()
}

fn text(text: &str) -> serde_json::Value {
    json!({ "androidAccessibility": { "textRegex": text } })
}

fn with(mut selector: serde_json::Value, key: &str, value: serde_json::Value) -> serde_json::Value {
    selector[key] = value;
    selector
}

#[test]
fn matches_come_from_top_to_bottom_then_left_to_right_and_boundless_last() {
    assert_eq!(found(&shop(), text("Add")), [6, 3, 8]);
    let row = json!({ "androidAccessibility": { "classNameRegex": ".*(TextView|Button)" } });
    assert_eq!(found(&shop(), row), [5, 6, 2, 3, 7, 8]);
}

#[test]
fn equal_places_keep_document_order() {
    let pile = (0..4).map(|_| says("TextView", "x").at(0.0, 0.0, 1.0, 1.0));
    let tree = android("FrameLayout", |_| {}).holding(pile).tree();
    assert_eq!(found(&tree, text("x")), [1, 2, 3, 4]);
}

#[test]
fn index_counts_in_that_order_and_past_the_end_there_is_nothing() {
    assert_eq!(found(&shop(), with(text("Add"), "index", json!(0))), [6]);
    assert_eq!(found(&shop(), with(text("Add"), "index", json!(2))), [8]);
    assert!(found(&shop(), with(text("Add"), "index", json!(3))).is_empty());
    assert_eq!(found(&shop(), json!({ "index": 1 })), [4]);
}

#[test]
fn sides_are_seen_from_the_first_match_of_the_anchor() {
    let add = |side: &str, anchor: &str| found(&shop(), with(text("Add"), side, text(anchor)));
    assert_eq!(add("below", "Tea"), [3]);
    assert_eq!(add("above", "Coffee"), [6]);
    assert_eq!(add("rightOf", "Tea"), [6, 3]);
    assert_eq!(add("above", "Total"), [6, 3]);
    // "Add" is anchored at the upper row's, not at every one.
    let below_add = found(&shop(), with(text("Coffee|Tea"), "below", text("Add")));
    assert_eq!(below_add, [2]);
    assert_eq!(
        found(&shop(), with(text("Coffee|Tea"), "leftOf", text("Add"))),
        [5, 2]
    );
}

#[test]
fn without_an_anchor_or_bounds_nothing_lies_on_any_side() {
    assert!(found(&shop(), with(text("Add"), "below", text("Gone"))).is_empty());
    let boundless = with(text("Add"), "index", json!(2));
    assert!(found(&shop(), with(text("Tea"), "above", boundless)).is_empty());
}

#[test]
fn child_of_searches_below_every_match_of_the_parent() {
    let row = json!({ "androidAccessibility": { "resourceIdRegex": "row" } });
    assert_eq!(
        found(&shop(), with(text("Add"), "childOf", row.clone())),
        [6, 3]
    );
    let upper = with(row.clone(), "index", json!(0));
    assert_eq!(found(&shop(), with(text("Add"), "childOf", upper)), [6]);
    assert!(found(&shop(), with(row.clone(), "childOf", row)).is_empty());
}

#[test]
fn child_of_nested_parents_finds_each_element_once() {
    let tree = says("View", "box")
        .at(0.0, 50.0, 9.0, 60.0)
        .holding([says("View", "box")
            .at(0.0, 0.0, 9.0, 9.0)
            .holding([says("View", "item"), says("View", "item")])])
        .tree();
    assert_eq!(
        found(&tree, with(text("item"), "childOf", text("box"))),
        [2, 3]
    );
}

#[test]
fn contains_child_looks_at_direct_children_only() {
    let class = |name: &str| json!({ "androidAccessibility": { "classNameRegex": name } });
    let row = with(class(".*LinearLayout"), "containsChild", text("Coffee"));
    assert_eq!(found(&shop(), row), [1]);
    let frame = with(class(".*FrameLayout"), "containsChild", text("Coffee"));
    assert!(found(&shop(), frame).is_empty());
}

#[test]
fn contains_descendants_wants_every_one_at_any_depth() {
    let having = |texts: &[&str]| {
        let wanted: Vec<_> = texts.iter().map(|wanted| text(wanted)).collect();
        found(&shop(), json!({ "containsDescendants": wanted }))
    };
    assert_eq!(having(&["Coffee"]), [0, 1]);
    assert_eq!(having(&["Coffee", "Add"]), [0, 1]);
    assert_eq!(having(&["Coffee", "Tea"]), [0]);
    assert!(having(&["Coffee", "Milk"]).is_empty());
}

#[test]
fn a_block_matches_elements_of_its_platform_only() {
    let tree = android("View", |_| {})
        .holding([web("button", Some("Add"))])
        .tree();
    assert_eq!(found(&tree, json!({ "web": {} })), [1]);
    assert_eq!(found(&tree, json!({ "androidMaestro": {} })), [0]);
    assert!(found(&tree, json!({ "iosAxe": {} })).is_empty());
    assert!(found(&tree, json!({ "compose": {} })).is_empty());
    assert_eq!(found(&tree, json!({})), [0, 1]);
}

#[test]
fn nth_index_counts_equal_role_and_name_in_document_order() {
    let tree = web("main", None)
        .holding([
            web("button", Some("View")).at(0.0, 9.0, 1.0, 10.0),
            web("link", Some("View")),
            web_with("button", |node| {
                node.name = Some("View".into());
                node.test_id = Some("second".into());
            })
            .at(0.0, 0.0, 1.0, 1.0),
        ])
        .tree();
    let view = |nth: u32| json!({ "web": { "ariaNameRegex": "View", "nthIndex": nth } });
    assert_eq!(found(&tree, view(1)), [3]);
    assert_eq!(found(&tree, view(0)), [1, 2]);
    assert_eq!(
        found(
            &tree,
            json!({ "web": { "ariaDescriptorRegex": "link \"View\"" } })
        ),
        [2]
    );
    assert_eq!(
        found(&tree, json!({ "web": { "dataTestId": "second" } })),
        [3]
    );
}

#[test]
fn one_several_and_none_are_told_apart() {
    let outcome = |json| resolve(&shop(), &compiled(json)).outcome();
    assert_eq!(outcome(text("Tea")), Match::Single(NodeId(5)));
    assert_eq!(outcome(text("Milk")), Match::None);
    let several = Match::Multiple {
        first: NodeId(6),
        count: 3,
    };
    assert_eq!(outcome(text("Add")), several);
}

#[test]
fn a_report_reads_how_the_element_was_found() {
    let selector = compiled(text("Add"));
    let located = resolve(&shop(), &selector).located(&selector).unwrap();
    assert_eq!(located.by, "textRegex \"Add\"");
    assert_eq!(located.matched, 3);
    let missing = compiled(text("Milk"));
    assert_eq!(resolve(&shop(), &missing).located(&missing), None);
}

#[test]
fn an_empty_tree_matches_nothing() {
    assert!(found(&Tree::default(), json!({})).is_empty());
    assert!(found(&Tree::default(), json!({ "childOf": {}, "below": {} })).is_empty());
}
