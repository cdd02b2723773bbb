//! Promises about reading elements.

use packtrain_drivers::{NodeId, Rect};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// A screen as WebDriverAgent tells it.
fn screen() -> Value {
    json!({
        "isEnabled": "1", "isVisible": "1", "isAccessible": "0", "isFocused": "0",
        "type": "Application", "rawIdentifier": null, "name": "Shop", "label": "Shop",
        "value": null, "traits": "", "customActions": null, "frame": "{{0, 0}, {390, 844}}",
        "rect": {"x": 0, "y": 0, "width": 390, "height": 844},
        "children": [{
            "children": [
                {
                    "type": "TextField", "rawIdentifier": "email", "name": "email", "label": "",
                    "value": "Email", "placeholderValue": "Email", "isEnabled": "1",
                    "isVisible": "1", "isAccessible": "1", "isFocused": "1",
                    "rect": {"y": 160, "x": 24, "height": 48, "width": 312},
                },
                {
                    "type": "Button", "rawIdentifier": "sign_in", "name": "sign_in",
                    "label": "Sign in", "value": "1", "isEnabled": "0", "isVisible": "0",
                    "isAccessible": "1", "traits": "Button, Selected",
                    "customActions": "Delete,Move up",
                    "rect": {"x": 24.5, "y": 300, "width": 312, "height": 48},
                },
            ],
            "type": "Window",
            "rect": {"x": 0, "y": 0, "width": 390, "height": 844},
        }],
    })
}

fn read_value(value: &Value) -> Result<Tree, SourceError> {
    read(&value.to_string())
}

fn node(tree: &Tree, at: u32) -> &IosNode {
    ios(&tree.get(NodeId(at)).unwrap().detail).unwrap()
}

#[test]
fn a_screen_is_read_whatever_the_order_of_its_keys() {
    let tree = read_value(&screen()).unwrap();
    assert_eq!(tree.len(), 4);
    assert_eq!(root(&tree), (Some("Shop"), Some(Size::new(390.0, 844.0))));
    let email = node(&tree, 2);
    assert_eq!(email.element_type.as_deref(), Some("TextField"));
    assert_eq!(email.identifier.as_deref(), Some("email"));
    assert_eq!(email.label.as_deref(), Some(""));
    assert_eq!(email.placeholder.as_deref(), Some("Email"));
    assert!(email.is_focused && email.is_visible && !email.is_selected);
    let button = node(&tree, 3);
    assert!(button.is_selected && !button.is_enabled && !button.is_visible);
    assert_eq!(button.custom_actions, ["Delete", "Move up"]);
    let button = tree.get(NodeId(3)).unwrap();
    let bounds = Rect::new(24.5, 300.0, 336.5, 348.0);
    assert_eq!(
        (button.bounds, button.parent),
        (Some(bounds), Some(NodeId(1)))
    );
}

#[test]
fn values_of_other_kinds_than_expected_do_no_harm() {
    let odd = json!({
        "type": "XCUIElementTypeSwitch", "value": 1, "name": true, "label": {"a": [1]},
        "isEnabled": false, "isVisible": 0, "isFocused": "maybe", "isAccessible": [],
        "traits": null, "customActions": 3, "children": null, "unheardOf": [{}],
        "rect": {"x": "1", "y": 2, "width": null, "height": 4},
    });
    let tree = read_value(&odd).unwrap();
    let switch = node(&tree, 0);
    assert_eq!(switch.element_type.as_deref(), Some("Switch"));
    assert_eq!(switch.value.as_deref(), Some("1"));
    assert_eq!(switch.name.as_deref(), Some("1"));
    assert_eq!(switch.label, None);
    assert!(!switch.is_enabled && !switch.is_visible && !switch.is_focused);
    assert_eq!(tree.get(NodeId(0)).unwrap().bounds, None);
}

#[test]
fn what_is_no_element_is_refused() {
    let nested = ["{\"children\": 3}", "{\"children\": [3]}"];
    for text in ["", "null", "[]", "3", "{} {}", "{"]
        .into_iter()
        .chain(nested)
    {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn a_screen_that_nests_deeper_than_any_app_is_refused_without_overflow() {
    let nested = |levels: usize| {
        let (open, close) = ("{\"children\":[".repeat(levels), "]}".repeat(levels));
        format!("{open}{{}}{close}")
    };
    assert_eq!(read(&nested(62)).unwrap().len(), 63);
    let error = read(&nested(100_000)).unwrap_err();
    assert!(error.to_string().contains("recursion limit"), "{error}");
}

#[test]
fn a_screen_of_too_many_elements_is_refused() {
    let many = |count: usize| format!("{{\"children\":[{{}}{}]}}", ",{}".repeat(count - 2));
    assert_eq!(read(&many(MAX_ELEMENTS)).unwrap().len(), MAX_ELEMENTS);
    let error = read(&many(MAX_ELEMENTS + 1)).unwrap_err();
    assert!(error.to_string().contains("more than 50000"), "{error}");
}

/// Keys that mean something.
const KEYS: [&str; 9] = [
    "type",
    "children",
    "rect",
    "x",
    "y",
    "width",
    "height",
    "isVisible",
    "traits",
];

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        proptest::sample::select(&KEYS[..]).prop_map(str::to_owned),
        "\\PC{0,8}",
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        let list = proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from);
        let object = proptest::collection::vec((key.clone(), inner), 0..5);
        let object = object.prop_map(|entries| Value::Object(entries.into_iter().collect()));
        prop_oneof![list, object]
    })
}

fn count(value: &Value) -> usize {
    let children = value.get("children").and_then(Value::as_array);
    1 + children.map_or(0, |children| children.iter().map(count).sum())
}

proptest! {
    #[test]
    fn any_json_is_a_tree_or_an_error(value in any_json()) {
        if let Ok(tree) = read_value(&value) {
            prop_assert_eq!(tree.len(), count(&value));
            for bounds in tree.nodes().iter().filter_map(|node| node.bounds) {
                let edges = [bounds.left, bounds.top, bounds.right, bounds.bottom];
                prop_assert!(edges.into_iter().all(f64::is_finite));
            }
        }
    }

    #[test]
    fn any_text_is_a_tree_or_an_error(text in "[\\[\\]{}:,\" a-z0-9\\\\.e-]{0,80}") {
        let _ = read(&text);
    }
}
