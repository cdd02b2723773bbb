//! JSON: nested objects, with flags as texts; and what a screen reader walks through.

use serde_json::{Map, Value, json};

use super::{braces, rect};
use crate::wda::attribute::{self, Attribute, AttributeValue};
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
    let placeholder = text_or_null(element.placeholder.clone());
    let flag = |attribute: Attribute| {
        let on = attribute.of(tree, at) == AttributeValue::Flag(true);
        if on { "1" } else { "0" }.into()
    };
    let whole = attribute::whole(element.frame);
    for (excluded_as, key, value) in [
        ("", "value", text_or_null(attribute::value(element))),
        ("", "label", text_or_null(attribute::label(element))),
        ("", "rect", rect(whole)),
        ("", "customActions", Value::Null),
        ("frame", "frame", braces(whole).into()),
        ("nativeFrame", "nativeFrame", braces(element.frame).into()),
        ("enabled", "isEnabled", flag(Attribute::Enabled)),
        ("visible", "isVisible", flag(Attribute::Visible)),
        ("accessible", "isAccessible", flag(Attribute::Accessible)),
        (
            "nativeAccessibilityElement",
            "isNativeAccessibilityElement",
            flag(Attribute::NativeAccessibilityElement),
        ),
        ("focused", "isFocused", flag(Attribute::Focused)),
        ("traits", "traits", element.traits.join(", ").into()),
        ("placeholderValue", "placeholderValue", placeholder),
    ] {
        let has = key != "placeholderValue" || element.kind.takes_text();
        if has && !without.iter().any(|left| left == excluded_as) {
            info.insert(key.to_owned(), value);
        }
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
