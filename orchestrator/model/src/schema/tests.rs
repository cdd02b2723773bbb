use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::trail_schema;
use crate::source::Source;
use crate::trail::Trail;
use crate::trail::tests::FULL;
use crate::trail::tests::mutations::wrong_kinds;
use crate::yaml::read;

/// Whether a value fits a schema. Knows just the words our schema uses and panics at any other, so
/// that nothing in the schema goes untried.
fn fits(value: &Value, schema: &Value, root: &Value) -> bool {
    let Value::Object(words) = schema else {
        return schema.as_bool().unwrap();
    };
    words
        .iter()
        .all(|(word, want)| fits_word(value, word, want, words, root))
}

fn fits_word(
    value: &Value,
    word: &str,
    want: &Value,
    words: &serde_json::Map<String, Value>,
    root: &Value,
) -> bool {
    let fits = |value: &Value, schema: &Value| fits(value, schema, root);
    let all = || want.as_array().unwrap().iter();
    let size = || want.as_u64().unwrap() as usize;
    let object = value.as_object();
    match word {
        "$schema" | "title" | "description" | "default" | "$defs" | "then" => true,
        "$ref" => {
            let pointer = want.as_str().unwrap().strip_prefix('#').unwrap();
            fits(value, root.pointer(pointer).unwrap())
        }
        "type" => match want {
            Value::String(name) => is_a(value, name),
            names => names
                .as_array()
                .unwrap()
                .iter()
                .any(|name| is_a(value, name.as_str().unwrap())),
        },
        "enum" => all().any(|one| one == value),
        "const" => want == value,
        "anyOf" => all().any(|schema| fits(value, schema)),
        "oneOf" => all().filter(|schema| fits(value, schema)).count() == 1,
        "allOf" => all().all(|schema| fits(value, schema)),
        "not" => !fits(value, want),
        "if" => !fits(value, want) || fits(value, &words["then"]),
        "required" => {
            object.is_none_or(|object| all().all(|key| object.contains_key(key.as_str().unwrap())))
        }
        "properties" => object.is_none_or(|object| {
            want.as_object()
                .unwrap()
                .iter()
                .all(|(key, schema)| object.get(key).is_none_or(|value| fits(value, schema)))
        }),
        "additionalProperties" => object.is_none_or(|object| {
            let known = words.get("properties").and_then(Value::as_object);
            object
                .iter()
                .filter(|(key, _)| !known.is_some_and(|known| known.contains_key(*key)))
                .all(|(_, value)| fits(value, want))
        }),
        "propertyNames" => {
            object.is_none_or(|object| object.keys().all(|key| fits(&json!(key), want)))
        }
        "minProperties" => object.is_none_or(|object| object.len() >= size()),
        "maxProperties" => object.is_none_or(|object| object.len() <= size()),
        "items" => value
            .as_array()
            .is_none_or(|items| items.iter().all(|item| fits(item, want))),
        "minItems" => value.as_array().is_none_or(|items| items.len() >= size()),
        "maxItems" => value.as_array().is_none_or(|items| items.len() <= size()),
        "minimum" => value
            .as_f64()
            .is_none_or(|number| number >= want.as_f64().unwrap()),
        "pattern" => value
            .as_str()
            .is_none_or(|text| matches(text, want.as_str().unwrap())),
        other => panic!("the schema says `{other}`, which this test does not know"),
    }
}

fn is_a(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type is called `{other}`"),
    }
}

fn matches(text: &str, pattern: &str) -> bool {
    match pattern {
        r"^\S+$" => !text.is_empty() && !text.contains(char::is_whitespace),
        r"\S" => text.contains(|c: char| !c.is_whitespace()),
        "^[A-Za-z_][A-Za-z0-9_]*$" => {
            !text.starts_with(|c: char| c.is_ascii_digit())
                && !text.is_empty()
                && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        }
        other => panic!("the schema has the pattern `{other}`, which this test does not know"),
    }
}

fn json(yaml: &str) -> Value {
    let source = Source::new("f", yaml);
    let read = read(&source);
    assert_eq!(read.problems, [], "{yaml}");
    read.value.unwrap().to_json()
}

fn accepts(yaml: &str) -> bool {
    let schema = trail_schema(&BTreeMap::new());
    fits(&json(yaml), &schema, &schema)
}

#[test]
fn good_trails_fit() {
    for good in [
        FULL,
        "config: {}\n",
        "config:\n",
        "trail:\n- step: 5\n",
        "config: {title: 2024, args: {a: string}}\ntrail:\n- verify: a\n  recording: {web: []}\n",
        "trail:\n- step: a\n  recording:\n    lab-x:\n    - anyTool: {with: [anything, {x: y}]}\n    - pressBack:\n",
        "trailhead: {step: a, recording: {web: {}, ios: {launchApp: {appId: b}}}}\ntrail:\n- step: a\n",
        "trail:\n- step: a\n  recordable: false\n  recording: {web: []}\n",
    ] {
        assert!(Trail::parse(good, "f").is_ok(), "{good}");
        assert!(accepts(good), "{good}");
    }
}

#[test]
fn bad_trails_do_not_fit() {
    for bad in [
        "tral: []\n",
        "trail: []\n",
        "config: {}\ntrailhead: {step: a}\n",
        "trailhead: {step: a}\ntrail: []\n",
        "trail:\n  step: a\n",
        "trail:\n- {step: a, verify: b}\n",
        "trail:\n- {recordable: true}\n",
        "trail:\n- step: a\n  android: []\n",
        "trail:\n- step: a\n  recording: []\n",
        "trail:\n- step: a\n  recording: {web: {}}\n",
        "trail:\n- step: a\n  recording: {web: [{}]}\n",
        "trail:\n- step: a\n  recording: {web: [{a: {}, b: {}}]}\n",
        "trail:\n- step: a\n  recording: {web: [{a: b}]}\n",
        "trail:\n- step: a\n  recording: {web: [tap]}\n",
        "trail:\n- step: a\n  recording: {'a b': []}\n",
        "trail:\n- step: a\n  recordable: maybe\n",
        "trail:\n- step: a\n  recordable: false\n  recording: {web: [{a: {}}]}\n",
        "trail:\n- step: a\n  maxRetries: -1\n",
        "trail:\n- step: a\n  maxRetries: 1.5\n",
        "trailhead: {verify: a}\ntrail:\n- step: a\n",
        "trailhead: {step: a, recording: {web: []}}\ntrail:\n- step: a\n",
        "trailhead: {step: a, recording: {web: {a: {}, b: {}}}}\ntrail:\n- step: a\n",
        "trailhead: {step: a, recordable: false, recording: {web: {a: {}}}}\ntrail:\n- step: a\n",
        "config: {args: {a-b: string}}\n",
        "config: {args: {a: text}}\n",
        "config: {args: {a: {default: ~}}}\n",
        "config: {args: {a: {required: false}}}\n",
        "config: {args: {a: {required: true, default: x}}}\n",
        "config: {tags: smoke}\n",
        "config: {skip: broken}\n",
        "just words\n",
    ] {
        assert!(Trail::parse(bad, "f").is_err(), "{bad}");
        assert!(!accepts(bad), "{bad}");
    }
}

#[test]
fn a_value_of_the_wrong_kind_fits_nowhere() {
    for (how, broken) in wrong_kinds() {
        assert!(!accepts(&broken.to_yaml()), "{how}");
    }
}

#[test]
fn a_known_tool_is_completed_and_checked_and_others_stay_allowed() {
    let arguments = json!({ "type": "object", "properties": { "ref": { "type": "string" } }, "additionalProperties": false });
    let schema = trail_schema(&BTreeMap::from([("web_click".to_owned(), arguments)]));
    let fits_call = |call: &str| {
        let yaml = format!("trail:\n- step: a\n  recording:\n    web:\n    - {call}\n");
        fits(&json(&yaml), &schema, &schema)
    };
    assert!(fits_call("web_click: {ref: e4}"));
    assert!(!fits_call("web_click: {reff: e4}"));
    assert!(fits_call("web_clack: {reff: e4}"));
}

#[test]
fn every_key_people_write_is_described() {
    let schema = trail_schema(&BTreeMap::new());
    for (name, definition) in [
        ("config", &schema["$defs"]["config"]),
        ("step", &schema["$defs"]["step"]),
        ("trailhead", &schema["$defs"]["trailhead"]),
    ] {
        for (key, property) in definition["properties"].as_object().unwrap() {
            let target = property["$ref"]
                .as_str()
                .and_then(|at| schema.pointer(&at[1..]));
            let described = !property["description"].is_null()
                || target.is_some_and(|target| !target["description"].is_null());
            assert!(described, "{name}.{key}");
        }
    }
}
