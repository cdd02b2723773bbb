//! JSON: nested objects, with flags as texts; and what a screen reader walks through.

use serde_json::{Map, Value, json};

use super::{braces, rect};
use crate::wda::attribute;
use crate::wda::tree::{Element, ElementTree};

/// The app as nested JSON objects, without the attributes named.
pub(crate) fn json(tree: &ElementTree, without: &[String]) -> Value {
    json_element(tree, 0, without)
}

fn json_element(tree: &ElementTree, at: usize, without: &[String]) -> Value {
    let Some(element) = tree.get(at) else {
        return Value::Null;
    };
    let mut info = identity(element);
    let flags = &element.flags;
    let flag = |on: bool| if on { "1" } else { "0" }.into();
    // With the names by which they are left out, if they can be.
    for (excluded_as, key) in [
        ("", "value"),
        ("", "label"),
        ("", "rect"),
        ("", "customActions"),
        ("frame", "frame"),
        ("nativeFrame", "nativeFrame"),
        ("enabled", "isEnabled"),
        ("visible", "isVisible"),
        ("accessible", "isAccessible"),
        ("nativeAccessibilityElement", "isNativeAccessibilityElement"),
        ("focused", "isFocused"),
        ("traits", "traits"),
        ("placeholderValue", "placeholderValue"),
    ] {
        if without.iter().any(|left| left == excluded_as) {
            continue;
        }
        let value = match key {
            "value" => text_or_null(attribute::value(element)),
            "label" => text_or_null(attribute::label(element)),
            "rect" => rect(attribute::whole(element.frame)),
            "frame" => braces(attribute::whole(element.frame)).into(),
            "nativeFrame" => braces(element.frame).into(),
            "isEnabled" => flag(flags.enabled),
            "isVisible" => flag(flags.visible),
            "isAccessible" => flag(attribute::accessible(tree, at)),
            "isNativeAccessibilityElement" => flag(flags.accessibility_element),
            "isFocused" => flag(false),
            "traits" => element.traits.join(", ").into(),
            "placeholderValue" if !element.kind.takes_text() => continue,
            "placeholderValue" => text_or_null(element.placeholder.clone()),
            _ => Value::Null,
        };
        info.insert(key.to_owned(), value);
    }
    let children: Vec<Value> = tree
        .children(at)
        .map(|child| json_element(tree, child, without))
        .collect();
    if !children.is_empty() {
        info.insert("children".to_owned(), Value::Array(children));
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
    info.extend(identity(element));
    Some(Value::Object(info))
}

fn identity(element: &Element) -> Map<String, Value> {
    let identifier = Some(element.identifier.clone()).filter(|id| !id.is_empty());
    let mut info = Map::new();
    info.insert("type".to_owned(), element.kind.short_name().into());
    info.insert("rawIdentifier".to_owned(), text_or_null(identifier));
    info.insert("name".to_owned(), text_or_null(attribute::name(element)));
    info
}

fn text_or_null(text: Option<String>) -> Value {
    text.map_or(Value::Null, Value::String)
}
