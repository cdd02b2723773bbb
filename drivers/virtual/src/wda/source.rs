//! An app's elements as text: the XML, JSON and description that `/source` answers.
//!
//! Source: `FBXPath.m` and `XCUIApplication+FBHelpers.m` of
//! <https://github.com/appium/WebDriverAgent>.

mod tree;

use std::fmt::Write as _;

use serde_json::{Value, json};

pub(crate) use self::tree::{accessible, json};
use super::attribute::{self, Attribute, AttributeValue};
use super::tree::ElementTree;
use crate::geometry::Rect;

/// The attributes an XML element may have, in the order they are written.
const XML_ATTRIBUTES: &str = "type value name label enabled visible accessible nativeAccessibilityElement x y width height index hittable placeholderValue traits nativeFrame minValue maxValue customActions";

/// The attributes that are left out of `/source` until a setting asks for them, with the setting.
pub(crate) const OPTIONAL: [(&str, &str); 6] = [
    ("hittable", "includeHittableInPageSource"),
    ("nativeFrame", "includeNativeFrameInPageSource"),
    (
        "nativeAccessibilityElement",
        "includeNativeAccessibilityElementInPageSource",
    ),
    ("minValue", "includeMinMaxValueInPageSource"),
    ("maxValue", "includeMinMaxValueInPageSource"),
    ("customActions", "includeCustomActionsInPageSource"),
];

/// Which attributes to write.
#[derive(Debug, Clone, Default)]
pub(crate) struct XmlOptions {
    /// Left out, in any case of letters.
    pub(crate) without: Vec<String>,
    /// An element to wrap around the whole.
    pub(crate) scope: Option<String>,
}

impl XmlOptions {
    fn writes(&self, name: &str) -> bool {
        !self
            .without
            .iter()
            .any(|left| left.eq_ignore_ascii_case(name))
    }
}

/// The attributes of one element that have a value, in their order.
pub(crate) fn xml_attributes(
    tree: &ElementTree,
    at: usize,
    options: &XmlOptions,
) -> Vec<(&'static str, String)> {
    let takes_text = tree
        .get(at)
        .is_some_and(|element| element.kind.takes_text());
    XML_ATTRIBUTES
        .split(' ')
        .filter(|name| options.writes(name))
        .filter(|name| *name != "placeholderValue" || takes_text)
        .filter_map(|name| {
            let side = ["x", "y", "width", "height"].contains(&name);
            let attribute = Attribute(if side { "rect" } else { name });
            let value = match attribute.of(tree, at) {
                AttributeValue::Null => return None,
                AttributeValue::Flag(flag) => flag.to_string(),
                AttributeValue::Number(number) => number.to_string(),
                AttributeValue::Text(text) => text,
                AttributeValue::Rect(rect) => side_of(rect, name).to_string(),
                AttributeValue::Frame(rect) => braces(rect),
            };
            Some((name, value))
        })
        .collect()
}

/// The app as XML, indented by two spaces.
pub(crate) fn xml(tree: &ElementTree, options: &XmlOptions) -> String {
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let scope = options.scope.as_deref().filter(|scope| !scope.is_empty());
    if let Some(scope) = scope {
        let _ = writeln!(out, "<{scope}>");
    }
    write_element(&mut out, tree, 0, usize::from(scope.is_some()), options);
    if let Some(scope) = scope {
        let _ = writeln!(out, "</{scope}>");
    }
    out
}

fn write_element(
    out: &mut String,
    tree: &ElementTree,
    at: usize,
    depth: usize,
    options: &XmlOptions,
) {
    let Some(element) = tree.get(at) else {
        return;
    };
    let tag = element.kind.name();
    let indent = "  ".repeat(depth);
    let _ = write!(out, "{indent}<{tag}");
    for (name, value) in xml_attributes(tree, at, options) {
        write_attribute(out, name, &value);
    }
    if at == 0 {
        write_attribute(out, "processId", &tree.pid.to_string());
        write_attribute(out, "bundleId", &tree.bundle_id);
    }
    let mut children = tree.children(at).peekable();
    if children.peek().is_none() {
        out.push_str("/>\n");
        return;
    }
    out.push_str(">\n");
    for child in children {
        write_element(out, tree, child, depth + 1, options);
    }
    let _ = writeln!(out, "{indent}</{tag}>");
}

fn write_attribute(out: &mut String, name: &str, value: &str) {
    let _ = write!(out, " {name}=\"");
    for letter in value.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            // Not allowed in XML; left out, as WebDriverAgent does.
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => {}
            _ => out.push(letter),
        }
    }
    out.push('"');
}

/// The app as XCTest prints it for people.
pub(crate) fn description(tree: &ElementTree) -> String {
    let mut out = String::new();
    for (at, element) in tree.iter().skip(1) {
        let indent = "  ".repeat(tree.ancestors(at).count());
        let kind = element.kind.short_name();
        let key = 0x6000_0000_0000_u64 | (element.key.0 & 0xffff_ffff);
        let Rect { x, y, w, h } = element.frame;
        let frame = format!("{{{{{x:.1}, {y:.1}}}, {{{w:.1}, {h:.1}}}}}");
        let _ = write!(out, "{indent}{kind}, 0x{key:012x}, {frame}");
        for (name, text) in [
            ("identifier", Some(element.identifier.clone())),
            ("label", Some(element.label.clone())),
            ("placeholderValue", element.placeholder.clone()),
            ("value", attribute::value(element)),
        ] {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                let _ = write!(out, ", {name}: '{text}'");
            }
        }
        let flags = &element.flags;
        for (on, word) in [
            (!flags.enabled, ", Disabled"),
            (flags.selected, ", Selected"),
            (flags.keyboard_focus, ", Keyboard Focused"),
        ] {
            out.push_str(if on { word } else { "" });
        }
        out.push('\n');
    }
    out
}

/// A rectangle of whole points as JSON.
pub(crate) fn rect(rect: Rect) -> Value {
    json!({
        "x": number(rect.x),
        "y": number(rect.y),
        "width": number(rect.w),
        "height": number(rect.h),
    })
}

/// A number as `NSNumber` writes it: without a fraction where there is none.
pub(crate) fn number(number: f64) -> Value {
    let whole = number.fract() == 0.0 && number.abs() < 9e15;
    if whole {
        json!(number as i64)
    } else {
        json!(number)
    }
}

fn side_of(rect: Rect, name: &str) -> f64 {
    match name {
        "x" => rect.x,
        "y" => rect.y,
        "width" => rect.w,
        _ => rect.h,
    }
}

/// `{{24, 160}, {312, 48}}`, as `NSStringFromCGRect` writes it.
fn braces(rect: Rect) -> String {
    format!("{{{{{}, {}}}, {{{}, {}}}}}", rect.x, rect.y, rect.w, rect.h)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wda::tree::tests::form;

    fn as_on_a_phone() -> XmlOptions {
        XmlOptions {
            without: OPTIONAL.map(|(name, _)| name.to_owned()).to_vec(),
            scope: None,
        }
    }

    #[test]
    fn xml_has_the_attributes_in_their_order() {
        let xml = xml(&form(), &as_on_a_phone());
        let lines: Vec<_> = xml.lines().collect();
        assert_eq!(lines[0], r#"<?xml version="1.0" encoding="UTF-8"?>"#);
        assert_eq!(
            lines[1],
            r#"<XCUIElementTypeApplication type="XCUIElementTypeApplication" name="Shop" label="Shop" enabled="true" visible="true" accessible="false" x="0" y="0" width="390" height="844" index="0" traits="" processId="4200" bundleId="com.example.shop">"#
        );
        assert_eq!(
            lines[4],
            r#"      <XCUIElementTypeTextField type="XCUIElementTypeTextField" value="Email" name="email" label="" enabled="true" visible="true" accessible="true" x="24" y="160" width="312" height="48" index="0" placeholderValue="Email" traits=""/>"#
        );
        assert_eq!(lines.last(), Some(&"</XCUIElementTypeApplication>"));
    }

    #[test]
    fn a_scope_is_wrapped_around_the_app() {
        let mut options = as_on_a_phone();
        options.scope = Some("AppiumAUT".to_owned());
        options.without.push("VISIBLE".to_owned());
        let xml = xml(&form(), &options);
        assert!(xml.contains("?>\n<AppiumAUT>\n  <XCUIElementTypeApplication "));
        assert!(xml.ends_with("\n  </XCUIElementTypeApplication>\n</AppiumAUT>\n"));
        assert!(!xml.contains("visible="));
    }

    #[test]
    fn attributes_are_escaped() {
        let mut out = String::new();
        write_attribute(&mut out, "label", "<\"a\" & 'b'>\n\u{1}");
        assert_eq!(out, " label=\"&lt;&quot;a&quot; &amp; 'b'&gt;&#10;\"");
    }

    #[test]
    fn json_tells_flags_as_texts() {
        let tree = json(&form(), &[]);
        let button = &tree["children"][0]["children"][0]["children"][1];
        assert_eq!(
            *button,
            json!({
                "type": "Button", "rawIdentifier": "sign_in", "name": "sign_in", "value": "1",
                "label": "Sign in", "rect": {"x": 24, "y": 300, "width": 312, "height": 49},
                "frame": "{{24, 300}, {312, 49}}", "nativeFrame": "{{24, 300.5}, {312, 48}}",
                "isEnabled": "1", "isVisible": "1", "isAccessible": "1", "isFocused": "0",
                "isNativeAccessibilityElement": "1", "traits": "Button, Selected",
                "customActions": null,
            })
        );
        let field = &tree["children"][0]["children"][0]["children"][0];
        assert_eq!(field["placeholderValue"], "Email");
        assert!(tree.get("placeholderValue").is_none());
        let short = json(&form(), &["visible".to_owned(), "frame".to_owned()]);
        assert!(short.get("isVisible").is_none() && short.get("frame").is_none());
    }

    #[test]
    fn the_accessible_tree_has_only_what_a_screen_reader_stops_at() {
        let tree = accessible(&form());
        let inner = &tree["children"][0]["children"][0]["children"];
        assert_eq!(inner[0]["type"], "TextField");
        assert_eq!(inner[1]["label"], "Sign in");
        assert!(inner[1].get("rect").is_none());
    }
}
