//! JSON: nested objects, with flags as texts; and what a screen reader walks through.

use serde_json::{Map, Value, json};

use super::{braces, rect};
use crate::wda::attribute::{self, Attribute, AttributeValue};
use crate::wda::tree::ElementTree;

/// The app as nested JSON objects, without the attributes named.
pub(crate) fn json(tree: &ElementTree, without: &[String]) -> Value {
    json_element(tree, 0, without)
}

fn json_element(tree: &ElementTree, at: usize, without: &[String]) -> Value {
    let Some(element) = tree.get(at) else {
        return Value::Null;
    };
    let mut info = Map::new();
    let mut put = |key: &str, value: Value| {
        info.insert(key.to_owned(), value);
    };
    put("type", element.kind.short_name().into());
    put(
        "rawIdentifier",
        text_or_null(Some(element.identifier.clone()).filter(|id| !id.is_empty())),
    );
    put("name", text_or_null(attribute::name(element)));
    put("value", text_or_null(attribute::value(element)));
    put("label", text_or_null(attribute::label(element)));
    put("rect", rect(attribute::whole(element.frame)));
    put("customActions", Value::Null);
    let mut optional = |excluded_as: &str, key: &str, value: Value| {
        if !without.iter().any(|left| left == excluded_as) {
            put(key, value);
        }
    };
    optional(
        "frame",
        "frame",
        braces(attribute::whole(element.frame)).into(),
    );
    optional("nativeFrame", "nativeFrame", braces(element.frame).into());
    for (excluded_as, key, attribute) in [
        ("enabled", "isEnabled", Attribute::Enabled),
        ("visible", "isVisible", Attribute::Visible),
        ("accessible", "isAccessible", Attribute::Accessible),
        (
            "nativeAccessibilityElement",
            "isNativeAccessibilityElement",
            Attribute::NativeAccessibilityElement,
        ),
        ("focused", "isFocused", Attribute::Focused),
    ] {
        let on = attribute.of(tree, at) == AttributeValue::Flag(true);
        optional(excluded_as, key, if on { "1" } else { "0" }.into());
    }
    optional("traits", "traits", element.traits.join(", ").into());
    if element.kind.takes_text() {
        let placeholder = text_or_null(element.placeholder.clone());
        optional("placeholderValue", "placeholderValue", placeholder);
    }
    let children: Vec<Value> = tree
        .children(at)
        .map(|child| json_element(tree, child, without))
        .collect();
    if !children.is_empty() {
        put("children", Value::Array(children));
    }
    Value::Object(info)
}

/// The app as a screen reader walks it: what it stops at, nested in what holds several.
pub(crate) fn accessible(tree: &ElementTree) -> Value {
    accessible_element(tree, 0).unwrap_or_else(|| json!({}))
}

fn accessible_element(tree: &ElementTree, at: usize) -> Option<Value> {
    let element = tree.get(at)?;
    let mut info = Map::new();
    if attribute::accessible(tree, at) {
        if element.flags.visible {
            info.insert("value".to_owned(), text_or_null(attribute::value(element)));
            info.insert("label".to_owned(), text_or_null(attribute::label(element)));
        }
    } else {
        let children: Vec<Value> = tree
            .children(at)
            .filter_map(|child| accessible_element(tree, child))
            .collect();
        if !children.is_empty() {
            info.insert("children".to_owned(), Value::Array(children));
        }
    }
    if info.is_empty() {
        return None;
    }
    info.insert("type".to_owned(), element.kind.short_name().into());
    let identifier = Some(element.identifier.clone()).filter(|id| !id.is_empty());
    info.insert("rawIdentifier".to_owned(), text_or_null(identifier));
    info.insert("name".to_owned(), text_or_null(attribute::name(element)));
    Some(Value::Object(info))
}

fn text_or_null(text: Option<String>) -> Value {
    text.map_or(Value::Null, Value::String)
}
