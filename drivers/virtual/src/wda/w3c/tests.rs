use proptest::prelude::*;
use serde_json::json;

use super::*;

/// What the refusal of each says.
const REFUSED: &str = r#"
cannot be empty: null
cannot be empty: []
Only pointer type 'touch': [{"type": "pointer", "id": "f", "actions": [{"type": "pointerMove", "x": 1, "y": 1}]}]
must be preceded: [{"type": "pointerDown"}]
Both 'x' and 'y': [{"type": "pointerMove", "x": 1}]
Both 'x' and 'y': [{"type": "pointerMove"}]
no previous item: [{"type": "pointerMove", "origin": "pointer"}]
cannot be located: [{"type": "pointerMove", "origin": "xxx"}]
Unsupported origin: [{"type": "pointerMove", "origin": 5}]
positive number: [{"type": "pointerMove", "x": 1, "y": 1, "duration": -1}]
is not supported: [{"type": "scroll"}]
must be a dictionary: ["x"]
Only actions of: [{"type": "wheel", "id": "w", "actions": [{}]}]
id field is missing: [{"type": "key", "id": "", "actions": [{}]}]
at least one item: [{"type": "key", "id": "k"}]
not balanced: [{"type": "key", "id": "k", "actions": [{"type": "keyUp", "value": "a"}]}]
closing Key Up: [{"type": "key", "id": "k", "actions": [{"type": "keyDown", "value": "a"}]}]
non-empty string: [{"type": "key", "id": "k", "actions": [{"type": "keyDown"}]}]
Duration must be present: [{"type": "key", "id": "k", "actions": [{"type": "pause"}]}]
"#;

fn one_element() -> Origins {
    let places = (Point::new(100.0, 200.0), Point::new(110.0, 210.0));
    Origins::from([("E1".to_owned(), places)])
}

fn touch(items: Value) -> Value {
    json!([{"type": "pointer", "id": "f", "parameters": {"pointerType": "touch"}, "actions": items}])
}

fn plan_of(actions: Value) -> Result<Timeline, String> {
    plan(Some(&actions), &one_element())
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn a_tap_is_a_finger_that_comes_and_goes() {
    let plan = plan_of(touch(json!([
        {"type": "pointerMove", "duration": 0, "x": 10, "y": 20},
        {"type": "pointerDown", "button": 0},
        {"type": "pause", "duration": 100},
        {"type": "pointerUp", "button": 0},
    ])))
    .unwrap();
    assert_eq!(
        plan.actions,
        [
            (
                ms(0),
                InputAction::Finger(0, Pointer::Down(Point::new(10.0, 20.0)))
            ),
            (ms(100), InputAction::Finger(0, Pointer::Up)),
        ]
    );
    assert_eq!(plan.ends, ms(100));
}

#[test]
fn a_swipe_arrives_when_its_move_has_taken_its_time() {
    let plan = plan_of(touch(json!([
        {"type": "pointerMove", "x": 10, "y": 20},
        {"type": "pointerDown"},
        {"type": "pointerMove", "duration": 300, "origin": "pointer", "x": 0, "y": -15.5},
        {"type": "pointerUp"},
    ])))
    .unwrap();
    assert_eq!(
        plan.actions[1],
        (
            ms(300),
            InputAction::Finger(0, Pointer::Move(Point::new(10.0, 4.5)))
        )
    );
    assert_eq!(
        plan.actions[2],
        (ms(300), InputAction::Finger(0, Pointer::Up))
    );
}

#[test]
fn an_element_is_touched_where_it_can_be_or_from_its_middle() {
    let to = |item: Value| {
        let plan = plan_of(touch(
            json!([item, {"type": "pointerDown"}, {"type": "pointerUp"}]),
        ))
        .unwrap();
        plan.actions[0].1.clone()
    };
    let w3c = json!({"element-6066-11e4-a52e-4f735466cecf": "E1"});
    let down = |x, y| InputAction::Finger(0, Pointer::Down(Point::new(x, y)));
    assert_eq!(
        to(json!({"type": "pointerMove", "origin": w3c})),
        down(100.0, 200.0)
    );
    assert_eq!(
        to(json!({"type": "pointerMove", "origin": "E1", "x": 5, "y": 0})),
        down(115.0, 210.0)
    );
    assert_eq!(
        origins(&touch(
            json!([{"origin": w3c}, {"origin": "viewport"}, {"origin": "E2"}])
        )),
        ["E1", "E2"]
    );
}

#[test]
fn a_finger_left_on_the_glass_is_lifted_at_the_end() {
    let plan = plan_of(touch(json!([
        {"type": "pointerMove", "x": 1, "y": 1}, {"type": "pointerDown"}, {"type": "pause", "duration": 50},
    ])))
    .unwrap();
    assert_eq!(
        plan.actions.last(),
        Some(&(ms(50), InputAction::Finger(0, Pointer::Up)))
    );
}

#[test]
fn keys_type_when_they_are_released() {
    let press = |key: &str| {
        [
            json!({"type": "keyDown", "value": key}),
            json!({"type": "keyUp", "value": key}),
        ]
    };
    let mut items = Vec::new();
    items.extend(press("a"));
    items.extend(press("ß"));
    items.push(json!({"type": "pause", "duration": 20}));
    items.extend(press("\u{e007}"));
    let plan = plan_of(json!([{"type": "key", "id": "k", "actions": items}])).unwrap();
    assert_eq!(
        plan.actions,
        [
            (ms(0), InputAction::Type("aß".to_owned())),
            (ms(20), InputAction::Type("\n".to_owned()))
        ]
    );
}

#[test]
fn two_fingers_share_one_time() {
    let finger = |id: &str, x: u32| {
        json!({
            "type": "pointer", "id": id, "parameters": {"pointerType": "touch"}, "actions": [
                {"type": "pointerMove", "x": x, "y": 0}, {"type": "pointerDown"},
                {"type": "pause", "duration": x}, {"type": "pointerUp"},
            ],
        })
    };
    let plan = plan_of(json!([finger("a", 20), finger("b", 10)])).unwrap();
    let order: Vec<_> = plan
        .actions
        .iter()
        .map(|(at, action)| (at.as_millis(), action.clone()))
        .collect();
    assert!(matches!(
        order.as_slice(),
        [
            (0, InputAction::Finger(0, Pointer::Down(_))),
            (0, InputAction::Finger(1, Pointer::Down(_))),
            (10, InputAction::Finger(1, Pointer::Up)),
            (20, InputAction::Finger(0, Pointer::Up)),
        ]
    ));
}

#[test]
fn a_cancelled_item_did_not_happen() {
    let plan = plan_of(touch(json!([
        {"type": "pointerMove", "x": 1, "y": 1}, {"type": "pointerDown"}, {"type": "pointerCancel"},
        {"type": "pause", "duration": 1},
    ])))
    .unwrap();
    assert_eq!(plan.actions, []);
}

#[test]
fn what_webdriveragent_refuses_is_refused() {
    for row in REFUSED.trim().lines() {
        let (words, actions) = row.split_once(": ").unwrap();
        let actions: Value = serde_json::from_str(actions).unwrap();
        // A list without an id is what one finger does.
        let is_items = actions
            .get(0)
            .is_some_and(|first| first.get("id").is_none());
        let actions = if is_items { touch(actions) } else { actions };
        let error = plan_of(actions).unwrap_err();
        assert!(error.contains(words), "{row}: {error}");
    }
}

proptest! {
    #[test]
    fn any_items_are_answered_without_panic(
        items in proptest::collection::vec(
            prop_oneof![
                Just(json!({"type": "pointerMove", "x": 1, "y": 1})), Just(json!({"type": "pointerMove", "origin": "pointer"})),
                Just(json!({"type": "pointerDown"})), Just(json!({"type": "pointerUp"})), Just(json!({"type": "pointerCancel"})),
                Just(json!({"type": "pause", "duration": 1e9})), Just(json!({"type": "pause", "duration": "5"})), Just(json!(null)),
                Just(json!({"type": "keyDown", "value": "a"})), Just(json!({"type": "keyUp", "value": "a"})), Just(json!({})),
            ],
            0..8,
        ),
        kind in prop_oneof![Just("pointer"), Just("key"), Just("none")],
    ) {
        let _ = plan_of(json!([{"type": kind, "id": "x", "parameters": {"pointerType": "touch"}, "actions": items}]));
    }
}
