//! What WebDriverAgent tells of an element under which name.
//!
//! Source: `FBElement.h` and `XCUIElement+FBWebDriverAttributes.m` of
//! <https://github.com/appium/WebDriverAgent>.

use super::element_type::ElementType;
use super::error::WdaError;
use super::tree::{Element, ElementTree, RawValue};
use crate::geometry::Rect;

/// An attribute that a client can name, by its short name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attribute(pub(crate) &'static str);

/// Every attribute by its short name; the long one is `wd` and the same with a capital.
const NAMES: &str = "UID accessibilityContainer accessible customActions enabled focused frame hittable index label maxValue minValue name nativeAccessibilityElement nativeFrame placeholderValue rect selected traits type value visible";

/// The long name: `wd` and the short one with a capital.
fn long(short: &str) -> String {
    let (first, rest) = short.split_at(1);
    format!("wd{}{rest}", first.to_uppercase())
}

/// A name that is no attribute, with all that are, as Foundation prints a list.
fn unknown(name: &str) -> WdaError {
    let mut names: Vec<String> = NAMES.split(' ').map(long).collect();
    names.extend(NAMES.split(' ').map(str::to_owned));
    names.sort();
    let names = names.join(",\n    ");
    WdaError::unknown(format!(
        "The attribute '{name}' is unknown. Valid attribute names are: (\n    {names}\n)"
    ))
}

/// What an attribute holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum AttributeValue {
    Null,
    Flag(bool),
    Number(f64),
    Text(String),
    /// Whole numbers, as `rect`.
    Rect(Rect),
    /// An `NSValue`, as `frame`: predicates can look into it, JSON cannot hold it.
    Frame(Rect),
}

impl Attribute {
    /// The attribute of that name, short or long.
    pub(crate) fn named(name: &str) -> Result<Self, WdaError> {
        let found = NAMES
            .split(' ')
            .find(|short| *short == name || long(short) == name);
        found.map(Self).ok_or_else(|| unknown(name))
    }

    /// What the attribute of the element at `at` holds.
    pub(crate) fn of(self, tree: &ElementTree, at: usize) -> AttributeValue {
        let Some(element) = tree.get(at) else {
            return AttributeValue::Null;
        };
        let text = |text: Option<String>| text.map_or(AttributeValue::Null, AttributeValue::Text);
        let flag = AttributeValue::Flag;
        match self.0 {
            "accessible" => flag(accessible(tree, at)),
            "accessibilityContainer" => {
                let mut inner = tree.descendants(at).filter_map(|inner| tree.get(inner));
                flag(inner.any(|inner| inner.flags.accessibility_element))
            }
            "enabled" => flag(element.flags.enabled),
            // The focus of a hardware keyboard's arrow keys, which a phone does not show.
            "focused" => flag(false),
            "frame" => AttributeValue::Frame(whole(element.frame)),
            "hittable" => flag(element.flags.hittable),
            "index" => AttributeValue::Number(element.index as f64),
            "label" => text(label(element)),
            "name" => text(name(element)),
            "nativeAccessibilityElement" => flag(element.flags.accessibility_element),
            "nativeFrame" => AttributeValue::Frame(element.frame),
            "placeholderValue" => text(element.placeholder.clone()),
            "rect" => AttributeValue::Rect(whole(element.frame)),
            "selected" => flag(element.flags.selected),
            "traits" => AttributeValue::Text(element.traits.join(", ")),
            "type" => AttributeValue::Text(element.kind.name()),
            "UID" => AttributeValue::Text(uid(tree.pid, element)),
            "value" => text(value(element)),
            "visible" => flag(element.flags.visible),
            // None of the elements here offers actions, or has a least and a greatest value.
            _ => AttributeValue::Null,
        }
    }
}

/// The identifier, or else the label.
pub(crate) fn name(element: &Element) -> Option<String> {
    some_text(&element.identifier).or_else(|| some_text(&element.label))
}

/// The label; empty only for fields.
pub(crate) fn label(element: &Element) -> Option<String> {
    let fields = [ElementType::TEXT_FIELD, ElementType::SECURE_TEXT_FIELD];
    if fields.contains(&element.kind) {
        Some(element.label.clone())
    } else {
        some_text(&element.label)
    }
}

/// The value, or what stands in for it: a text's label, a button's selection, a field's hint.
pub(crate) fn value(element: &Element) -> Option<String> {
    let raw = match &element.value {
        RawValue::None => None,
        RawValue::Text(text) => some_text(text),
        RawValue::Flag(on) => Some(u8::from(*on).to_string()),
    };
    match element.kind {
        ElementType::STATIC_TEXT => raw.or_else(|| some_text(&element.label)),
        ElementType::BUTTON => raw.or_else(|| element.flags.selected.then(|| "1".to_owned())),
        ElementType::SWITCH => raw.or_else(|| Some("0".to_owned())),
        kind if kind.takes_text() => {
            raw.or_else(|| element.placeholder.as_deref().and_then(some_text))
        }
        _ => raw,
    }
}

/// Whether a test can address it: a screen reader stops at it and at nothing around it.
pub(crate) fn accessible(tree: &ElementTree, at: usize) -> bool {
    let stops = |at: usize| {
        tree.get(at)
            .is_some_and(|element| element.flags.accessibility_element)
    };
    let kind = tree.get(at).map(|element| element.kind);
    let itself = match kind {
        Some(ElementType::CELL) => stops(at) || tree.children(at).next().is_some_and(stops),
        Some(ElementType::TEXT_FIELD | ElementType::SECURE_TEXT_FIELD) => true,
        _ => stops(at),
    };
    let is_table = |at: usize| tree.get(at).is_some_and(|e| e.kind == ElementType::TABLE);
    itself
        && !tree
            .ancestors(at)
            .any(|above| !is_table(above) && stops(above))
}

/// The id under which WebDriverAgent hands an element out: its number and its app's process, as a
/// UUID. The same element has the same id as long as its app runs.
pub(crate) fn uid(pid: u32, element: &Element) -> String {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&element.key.0.to_le_bytes());
    bytes[8..12].copy_from_slice(&pid.to_le_bytes());
    let mut uid = String::with_capacity(36);
    for (at, byte) in bytes.into_iter().enumerate() {
        if [4, 6, 8, 10].contains(&at) {
            uid.push('-');
        }
        uid.push_str(&format!("{byte:02X}"));
    }
    uid
}

/// The smallest rectangle of whole points around `rect`. (`CGRectIntegral`)
pub(crate) fn whole(rect: Rect) -> Rect {
    let (x, y) = (rect.x.floor(), rect.y.floor());
    Rect::new(x, y, rect.right().ceil() - x, rect.bottom().ceil() - y)
}

fn some_text(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wda::tree::tests::form;

    fn of(name: &str, attribute: &str) -> AttributeValue {
        let tree = form();
        let at = (0..20).find(|&at| tree.names(&[at]) == [name]).unwrap();
        Attribute::named(attribute).unwrap().of(&tree, at)
    }

    fn text(text: &str) -> AttributeValue {
        AttributeValue::Text(text.to_owned())
    }

    #[test]
    fn an_empty_field_has_an_empty_label_and_its_hint_for_a_value() {
        assert_eq!(of("email", "label"), text(""));
        assert_eq!(of("email", "value"), text("Email"));
        assert_eq!(of("email", "placeholderValue"), text("Email"));
        assert_eq!(of("email", "accessible"), AttributeValue::Flag(true));
    }

    #[test]
    fn a_text_without_identifier_is_named_by_its_label() {
        assert_eq!(of("One", "name"), text("One"));
        assert_eq!(of("One", "value"), text("One"));
    }

    #[test]
    fn buttons_and_switches_tell_their_state_as_a_number() {
        assert_eq!(of("sign_in", "value"), text("1"));
        assert_eq!(of("buy", "value"), AttributeValue::Null);
        assert_eq!(of("notify", "wdValue"), text("1"));
    }

    #[test]
    fn frames_are_widened_to_whole_points() {
        let rect = Rect::new(24.0, 300.0, 312.0, 49.0);
        assert_eq!(of("sign_in", "rect"), AttributeValue::Rect(rect));
    }

    #[test]
    fn long_names_mean_the_same_and_others_nothing() {
        assert_eq!(Attribute::named("wdUID"), Ok(Attribute("UID")));
        assert_eq!(Attribute::named("wdName"), Ok(Attribute("name")));
        assert!(Attribute::named("wdname").is_err());
        assert!(Attribute::named("hasKeyboardFocus").is_err());
    }

    #[test]
    fn an_id_changes_with_the_process() {
        let tree = form();
        let of = |pid| uid(pid, tree.get(0).unwrap());
        assert_eq!(of(4200), "01000000-0000-0000-6810-000000000000");
        assert_ne!(of(4200), of(4201));
    }
}
