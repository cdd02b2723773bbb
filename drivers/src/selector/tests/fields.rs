//! Every field reads its own property.

use serde_json::json;

use super::screen::{android, found, ios};
use crate::tree::{AndroidNode, IosNode};

type Change<N> = fn(&mut N);

/// For each field, an element that has just this and one that has not.
fn android_fields() -> Vec<(&'static str, serde_json::Value, Change<AndroidNode>)> {
    vec![
        ("classNameRegex", json!("v"), |n| {
            n.class_name = Some("v".into())
        }),
        ("resourceIdRegex", json!("v"), |n| {
            n.resource_id = Some("v".into())
        }),
        ("uniqueId", json!("v"), |n| n.unique_id = Some("v".into())),
        ("composeTestTagRegex", json!("v"), |n| {
            n.compose_test_tag = Some("v".into())
        }),
        ("textRegex", json!("v"), |n| n.text = Some("v".into())),
        ("labeledByTextRegex", json!("v"), |n| {
            n.labeled_by_text = Some("v".into())
        }),
        ("stateDescriptionRegex", json!("v"), |n| {
            n.state_description = Some("v".into())
        }),
        ("paneTitleRegex", json!("v"), |n| {
            n.pane_title = Some("v".into())
        }),
        ("roleDescriptionRegex", json!("v"), |n| {
            n.role_description = Some("v".into())
        }),
        ("isEnabled", json!(true), |n| n.is_enabled = true),
        ("isClickable", json!(true), |n| n.is_clickable = true),
        ("isCheckable", json!(true), |n| n.is_checkable = true),
        ("isChecked", json!(true), |n| n.is_checked = true),
        ("isSelected", json!(true), |n| n.is_selected = true),
        ("isFocused", json!(true), |n| n.is_focused = true),
        ("isEditable", json!(true), |n| n.is_editable = true),
        ("isScrollable", json!(true), |n| n.is_scrollable = true),
        ("isPassword", json!(true), |n| n.is_password = true),
        ("isHeading", json!(true), |n| n.is_heading = true),
        ("isMultiLine", json!(true), |n| n.is_multi_line = true),
        ("inputType", json!(33), |n| n.input_type = Some(33)),
        ("collectionItemRowIndex", json!(2), |n| {
            n.collection_item_row_index = Some(2)
        }),
        ("collectionItemColumnIndex", json!(2), |n| {
            n.collection_item_column_index = Some(2)
        }),
    ]
}

#[test]
fn each_android_field_finds_the_one_element_that_has_it() {
    let blank = || android("View", |node| *node = AndroidNode::default());
    let fields = android_fields();
    let elements = fields.iter().map(|(.., change)| {
        android("View", |node| {
            *node = AndroidNode::default();
            change(node);
        })
    });
    let tree = blank().holding(elements).tree();
    for (place, (field, value, _)) in (1..).zip(&fields) {
        let selector = json!({ "androidAccessibility": { (*field): value } });
        assert_eq!(found(&tree, selector), [place], "{field}");
    }
}

#[test]
fn the_text_of_an_android_element_is_its_text_else_its_hint_else_its_description() {
    let all = |node: &mut AndroidNode| {
        node.hint_text = Some("hint".into());
        node.content_description = Some("description".into());
    };
    let tree = android("View", |_| {})
        .holding([
            android("View", |node| {
                all(node);
                node.text = Some("text".into());
            }),
            android("View", all),
            android("View", |node| {
                node.content_description = Some("description".into())
            }),
        ])
        .tree();
    for block in ["androidAccessibility", "androidMaestro"] {
        let text = |text: &str| found(&tree, json!({ block: { "textRegex": text } }));
        assert_eq!(text("text"), [1], "{block}");
        assert_eq!(text("hint"), [2], "{block}");
        assert_eq!(text("description"), [3], "{block}");
    }
    let described = json!({ "androidAccessibility": { "contentDescriptionRegex": "description" } });
    assert_eq!(found(&tree, described), [1, 2, 3]);
    let maestro = json!({ "androidMaestro": { "accessibilityTextRegex": "DESCRIPTION" } });
    assert_eq!(found(&tree, maestro), [1, 2, 3]);
}

#[test]
fn an_android_element_without_an_input_type_has_type_zero() {
    let tree = android("View", |_| {}).tree();
    let typed = |kind: i64| json!({ "androidAccessibility": { "inputType": kind } });
    assert_eq!(found(&tree, typed(0)), [0]);
    assert!(found(&tree, typed(1)).is_empty());
}

#[test]
fn a_false_flag_wants_the_flag_to_be_off() {
    let tree = android("View", |_| {})
        .holding([android("View", |node| node.is_checked = true)])
        .tree();
    assert_eq!(
        found(&tree, json!({ "androidMaestro": { "checked": false } })),
        [0]
    );
    assert_eq!(
        found(&tree, json!({ "androidMaestro": { "checked": true } })),
        [1]
    );
}

fn phone_book(change: impl FnOnce(&mut IosNode)) -> crate::Tree {
    ios("Application", |_| {})
        .holding([ios("Cell", change)])
        .tree()
}

#[test]
fn maestro_reads_a_label_of_ios_as_accessibility_text_and_as_text_of_last_resort() {
    let tree = phone_book(|n| n.label = Some("John Appleseed".into()));
    for field in ["accessibilityTextRegex", "textRegex"] {
        let selector = json!({ "iosMaestro": { field: "john appleseed" } });
        assert_eq!(found(&tree, selector), [1], "{field}");
    }
}

#[test]
fn maestro_prefers_title_then_value_then_placeholder_as_the_text_on_ios() {
    let text = |tree: &crate::Tree, text: &str| {
        found(tree, json!({ "iosMaestro": { "textRegex": text } }))
    };
    let mut full = IosNode {
        label: Some("label".into()),
        placeholder: Some("placeholder".into()),
        value: Some("value".into()),
        title: Some("title".into()),
        ..IosNode::default()
    };
    assert_eq!(text(&phone_book(|n| *n = full.clone()), "title"), [1]);
    full.title = Some(" ".into());
    assert_eq!(text(&phone_book(|n| *n = full.clone()), "value"), [1]);
    full.value = None;
    assert_eq!(text(&phone_book(|n| *n = full.clone()), "placeholder"), [1]);
    assert!(text(&phone_book(|n| *n = full.clone()), "label").is_empty());
}

#[test]
fn values_that_webdriveragent_makes_up_are_no_text() {
    let tree = ios("Application", |_| {})
        .holding([
            ios("Button", |n| {
                n.label = Some("Add".into());
                n.value = Some("1".into());
                n.is_selected = true;
            }),
            ios("TextField", |n| {
                n.label = Some("Mail".into());
                n.placeholder = Some("you@example.com".into());
                n.value = Some("you@example.com".into());
            }),
            ios("Switch", |n| {
                n.label = Some("Wi-Fi".into());
                n.value = Some("1".into());
            }),
        ])
        .tree();
    assert_eq!(
        found(&tree, json!({ "iosMaestro": { "textRegex": "Add" } })),
        [1]
    );
    assert_eq!(
        found(&tree, json!({ "iosAxe": { "valueRegex": ".+" } })),
        [3]
    );
    assert_eq!(
        found(&tree, json!({ "iosMaestro": { "textRegex": "1" } })),
        [3]
    );
}

#[test]
fn the_identifier_on_ios_is_told_from_a_name_that_is_the_label() {
    let tree = ios("Application", |_| {})
        .holding([
            ios("Button", |n| n.identifier = Some("save".into())),
            ios("Button", |n| {
                n.name = Some("save".into());
                n.label = Some("Save it".into());
            }),
            ios("Button", |n| {
                n.name = Some("save".into());
                n.label = Some("save".into());
            }),
        ])
        .tree();
    assert_eq!(
        found(
            &tree,
            json!({ "iosMaestro": { "resourceIdRegex": "save" } })
        ),
        [1, 2]
    );
    assert_eq!(
        found(&tree, json!({ "iosAxe": { "uniqueId": "save" } })),
        [1, 2]
    );
    assert!(found(&tree, json!({ "iosAxe": { "uniqueId": "SAVE" } })).is_empty());
}

#[test]
fn apples_roles_follow_from_the_element_type_when_not_delivered() {
    let tree = ios("Application", |_| {})
        .holding([
            ios("Button", |_| {}),
            ios("SecureTextField", |_| {}),
            ios("Other", |n| n.role = Some("AXToolbar".into())),
        ])
        .tree();
    let role = |role: &str| found(&tree, json!({ "iosAxe": { "roleRegex": role } }));
    assert_eq!(role("AXButton"), [1]);
    assert_eq!(role("AXTextField"), [2]);
    assert_eq!(role("AXToolbar"), [3]);
    assert_eq!(
        found(
            &tree,
            json!({ "iosAxe": { "subroleRegex": "AXSecureTextField" } })
        ),
        [2]
    );
    assert_eq!(
        found(&tree, json!({ "iosAxe": { "typeRegex": "Button" } })),
        [1]
    );
}

#[test]
fn a_custom_action_is_one_of_the_elements_list() {
    let tree = phone_book(|n| n.custom_actions = vec!["Edit".into(), "Delete".into()]);
    assert_eq!(
        found(&tree, json!({ "iosAxe": { "customAction": "Delete" } })),
        [1]
    );
    assert!(found(&tree, json!({ "iosAxe": { "customAction": "Del" } })).is_empty());
}
