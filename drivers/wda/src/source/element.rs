//! One element and what is in it, as it comes.

mod loose;

use std::cell::Cell;
use std::fmt;

use packtrain_drivers::Rect;
use packtrain_drivers::tree::IosNode;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny};
use serde::de::{MapAccess, SeqAccess, Visitor};

use self::loose::{Edges, Flag, Text, Words};

/// An element and what is in it.
pub(super) struct Element {
    pub(super) node: IosNode,
    pub(super) bounds: Option<Rect>,
    pub(super) children: Vec<Element>,
}

/// Reads an element, given how many more there may be.
pub(super) struct ElementSeed<'c>(pub(super) &'c Cell<usize>);

impl<'de> DeserializeSeed<'de> for ElementSeed<'_> {
    type Value = Element;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Element, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ElementSeed<'_> {
    type Value = Element;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an element")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Element, A::Error> {
        let Some(left) = self.0.get().checked_sub(1) else {
            let most = super::MAX_ELEMENTS;
            return Err(A::Error::custom(format!("there are more than {most}")));
        };
        self.0.set(left);
        // What is not told is as it is for nearly every element.
        let mut node = IosNode {
            is_enabled: true,
            is_visible: true,
            ..IosNode::default()
        };
        let mut bounds = None;
        let mut children = Vec::new();
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Type => node.element_type = map.next_value::<Text>()?.0.map(short_type),
                Key::RawIdentifier => node.identifier = map.next_value::<Text>()?.0,
                Key::Name => node.name = map.next_value::<Text>()?.0,
                Key::Label => node.label = map.next_value::<Text>()?.0,
                Key::Value => node.value = map.next_value::<Text>()?.0,
                Key::PlaceholderValue => node.placeholder = map.next_value::<Text>()?.0,
                Key::Traits => node.traits = map.next_value::<Words>()?.0,
                Key::CustomActions => node.custom_actions = map.next_value::<Words>()?.0,
                Key::Rect => bounds = map.next_value::<Edges>()?.0,
                Key::IsEnabled => set(&mut node.is_enabled, map.next_value()?),
                Key::IsVisible => set(&mut node.is_visible, map.next_value()?),
                Key::IsAccessible => set(&mut node.is_accessible, map.next_value()?),
                Key::IsFocused => set(&mut node.is_focused, map.next_value()?),
                Key::Children => children = map.next_value_seed(ChildrenSeed(self.0))?,
                Key::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        // The one place where it is reported.
        node.is_selected = node.traits.iter().any(|name| name == "Selected");
        Ok(Element {
            node,
            bounds,
            children,
        })
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Key {
    Type,
    RawIdentifier,
    Name,
    Label,
    Value,
    PlaceholderValue,
    Traits,
    CustomActions,
    Rect,
    IsEnabled,
    IsVisible,
    IsAccessible,
    IsFocused,
    Children,
    #[serde(other)]
    Other,
}

fn set(flag: &mut bool, told: Flag) {
    if let Some(told) = told.0 {
        *flag = told;
    }
}

fn short_type(name: String) -> String {
    match name.strip_prefix("XCUIElementType") {
        Some(short) => short.to_owned(),
        None => name,
    }
}

struct ChildrenSeed<'c>(&'c Cell<usize>);

impl<'de> DeserializeSeed<'de> for ChildrenSeed<'_> {
    type Value = Vec<Element>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Element>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ChildrenSeed<'_> {
    type Value = Vec<Element>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<Element>, A::Error> {
        let mut children = Vec::new();
        while let Some(child) = seq.next_element_seed(ElementSeed(self.0))? {
            children.push(child);
        }
        Ok(children)
    }

    fn visit_unit<E: Error>(self) -> Result<Vec<Element>, E> {
        Ok(Vec::new())
    }
}
