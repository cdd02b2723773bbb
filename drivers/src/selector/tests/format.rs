//! What a selector looks like in a trail, in a log, and when it is wrong.

use serde_json::json;

use super::screen::{compiled, found, says, selector};
use crate::selector::{CompiledSelector, NodeSelector, SelectorError, WebMatch};

#[test]
fn every_part_survives_being_written_and_read() {
    let written = json!({
        "androidAccessibility": {
            "classNameRegex": "a", "resourceIdRegex": "b", "uniqueId": "c",
            "composeTestTagRegex": "d", "textRegex": "e", "contentDescriptionRegex": "f",
            "hintTextRegex": "g", "labeledByTextRegex": "h", "stateDescriptionRegex": "i",
            "paneTitleRegex": "j", "roleDescriptionRegex": "k", "isEnabled": true,
            "isClickable": false, "isCheckable": true, "isChecked": false, "isSelected": true,
            "isFocused": false, "isEditable": true, "isScrollable": false, "isPassword": true,
            "isHeading": false, "isMultiLine": true, "inputType": 33,
            "collectionItemRowIndex": 1, "collectionItemColumnIndex": 2
        },
        "below": { "androidMaestro": {
            "textRegex": "a", "resourceIdRegex": "b", "accessibilityTextRegex": "c",
            "classNameRegex": "d", "hintTextRegex": "e", "clickable": true, "enabled": false,
            "focused": true, "checked": false, "selected": true
        } },
        "above": { "iosMaestro": {
            "textRegex": "a", "resourceIdRegex": "b", "accessibilityTextRegex": "c",
            "classNameRegex": "d", "hintTextRegex": "e", "focused": true, "selected": false
        } },
        "leftOf": { "iosAxe": {
            "roleRegex": "a", "subroleRegex": "b", "labelRegex": "c", "valueRegex": "d",
            "uniqueId": "e", "typeRegex": "f", "titleRegex": "g", "customAction": "h",
            "enabled": true
        } },
        "rightOf": { "web": {
            "ariaRole": "a", "ariaNameRegex": "b", "ariaDescriptorRegex": "c",
            "headingLevel": 2, "cssSelector": "d", "dataTestId": "e", "nthIndex": 3
        } },
        "childOf": { "compose": {
            "testTag": "a", "role": "b", "textRegex": "c", "editableTextRegex": "d",
            "contentDescriptionRegex": "e", "toggleableState": "f", "isEnabled": true,
            "isFocused": false, "isSelected": true, "isPassword": false
        } },
        "containsChild": { "index": 0 },
        "containsDescendants": [{ "index": 1 }, { "index": 2 }],
        "index": 4
    });
    assert_eq!(
        serde_json::to_value(selector(written.clone())).unwrap(),
        written
    );
}

#[test]
fn an_unknown_key_is_an_error_that_names_it() {
    for (json, key) in [
        (json!({ "androidAccessibilty": {} }), "androidAccessibilty"),
        (json!({ "web": { "ariaName": "Save" } }), "ariaName"),
        (json!({ "below": { "textRegex": "Save" } }), "textRegex"),
    ] {
        let error = serde_json::from_value::<NodeSelector>(json).unwrap_err();
        assert!(error.to_string().contains(&format!("`{key}`")), "{error}");
    }
}

#[test]
fn a_text_written_as_a_number_is_that_text() {
    let tree = says("Button", "5").tree();
    assert_eq!(
        found(&tree, json!({ "androidAccessibility": { "textRegex": 5 } })),
        [0]
    );
    let read = selector(json!({ "web": { "ariaNameRegex": 1.0, "dataTestId": true } }));
    let web = read.web.unwrap();
    assert_eq!(web.aria_name_regex.as_deref(), Some("1.0"));
    assert_eq!(web.data_test_id.as_deref(), Some("true"));
}

#[test]
fn null_asks_for_nothing() {
    let read = selector(json!({
        "web": { "ariaRole": null, "nthIndex": null },
        "below": null, "containsDescendants": null, "index": null
    }));
    assert_eq!(read, WebMatch::default().into());
}

#[test]
fn two_blocks_in_one_part_are_refused_by_name_and_place() {
    let twice = json!({ "web": {}, "iosMaestro": {} });
    assert_eq!(
        selector(twice.clone()).validate(),
        Err(SelectorError::SeveralBlocks {
            first: "iosMaestro",
            second: "web",
            at: String::new(),
        })
    );
    let nested = selector(json!({ "below": { "containsDescendants": [{}, twice] } }));
    assert_eq!(
        CompiledSelector::new(&nested).unwrap_err().to_string(),
        "`iosMaestro` and `web` are mutually exclusive in `below.containsDescendants`"
    );
}

#[test]
fn blocks_of_two_platforms_may_stand_in_different_parts() {
    let mixed = json!({ "web": {}, "below": { "iosMaestro": {} } });
    assert_eq!(selector(mixed).validate(), Ok(()));
}

#[test]
fn ten_levels_are_allowed_and_eleven_are_not() {
    let nested = |levels: usize| {
        (0..levels).fold(NodeSelector::default(), |inner, _| NodeSelector {
            child_of: Some(Box::new(inner)),
            ..NodeSelector::default()
        })
    };
    assert_eq!(nested(10).validate(), Ok(()));
    assert!(matches!(
        nested(11).validate(),
        Err(SelectorError::TooDeep { .. })
    ));
}

#[test]
fn a_selector_of_hundreds_of_parts_is_refused() {
    let wide = NodeSelector {
        contains_descendants: vec![NodeSelector::default(); 200],
        ..NodeSelector::default()
    };
    assert_eq!(wide.validate(), Err(SelectorError::TooLarge));
}

#[test]
fn one_line_says_what_is_looked_for() {
    let text = |json| selector(json).to_string();
    assert_eq!(text(json!({})), "any element");
    assert_eq!(text(json!({ "index": 2 })), "index 2");
    assert_eq!(
        text(json!({
            "androidAccessibility": { "textRegex": "Save", "isEnabled": true, "isChecked": false },
            "below": { "androidAccessibility": { "textRegex": "Total" } }
        })),
        "textRegex \"Save\" isEnabled not isChecked below textRegex \"Total\""
    );
    assert_eq!(
        text(json!({
            "web": { "ariaRole": "listitem", "nthIndex": 1 },
            "childOf": { "web": { "ariaRole": "list", "ariaNameRegex": "Cart" } },
            "containsDescendants": [{ "web": { "ariaNameRegex": "two\nlines" } }],
            "index": 0
        })),
        "ariaRole \"listitem\" nthIndex 1 \
         childOf (ariaRole \"list\" ariaNameRegex \"Cart\") \
         containsDescendants ariaNameRegex \"two\\nlines\" index 0"
    );
    assert_eq!(text(json!({ "compose": {} })), "any compose element");
}

#[test]
fn notes_tell_of_patterns_and_relations_without_effect() {
    let notes = compiled(json!({
        "androidAccessibility": { "textRegex": "Total (net" },
        "containsChild": { "index": 1 }
    }))
    .notes();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].starts_with("`Total (net` is compared as plain text"));
    assert!(notes[1].starts_with("`index` has no effect inside containsChild"));
    assert!(
        compiled(json!({ "web": { "ariaNameRegex": "ok" } }))
            .notes()
            .is_empty()
    );
}
