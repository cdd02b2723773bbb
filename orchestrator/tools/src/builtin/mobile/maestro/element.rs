//! How Maestro's flows name an element: a text, or a mapping.

use std::fmt;
use std::marker::PhantomData;

use packtrain_drivers::Platform;
use packtrain_drivers::selector::NodeSelector;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::mobile::element_query::{ElementQuery, TextCriterion, Words};
use crate::tool::ToolError;

/// Written in short as a text, or as a mapping.
pub(super) trait Short: DeserializeOwned {
    /// What the short form stands for.
    fn short(text: String) -> Self;
    /// What may be written.
    const EXPECTED: &'static str;
}

/// Something with a [`Short`] form.
#[derive(Default)]
pub(super) struct Shortened<T>(pub(super) T);

impl<'de, T: Short> Deserialize<'de> for Shortened<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(ShortVisitor(PhantomData))
            .map(Self)
    }
}

struct ShortVisitor<T>(PhantomData<fn() -> T>);

impl<'de, T: Short> Visitor<'de> for ShortVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        Ok(T::short(text.to_owned()))
    }

    // A plain number or truth value is a text here; it reads as it was written.
    fn visit_bool<E: Error>(self, value: bool) -> Result<T, E> {
        Ok(T::short(value.to_string()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        Ok(T::short(value.to_string()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        Ok(T::short(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        Ok(T::short(format!("{value:?}")))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

/// An element and how it is used. Trailblaze's `selector`, which came before `nodeSelector`, has
/// these words too: some by another name, and some that it drops itself.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(in crate::builtin::mobile) struct Element {
    #[serde(alias = "textRegex")]
    text: Option<String>,
    #[serde(alias = "idRegex")]
    id: Option<String>,
    #[serde(deserialize_with = "whole")]
    index: u32,
    enabled: Option<bool>,
    checked: Option<bool>,
    focused: Option<bool>,
    selected: Option<bool>,
    below: Option<Box<Shortened<Element>>>,
    above: Option<Box<Shortened<Element>>>,
    left_of: Option<Box<Shortened<Element>>>,
    right_of: Option<Box<Shortened<Element>>>,
    child_of: Option<Box<Shortened<Element>>>,
    contains_child: Option<Box<Shortened<Element>>>,
    contains_descendants: Option<Vec<Shortened<Element>>>,
    /// A place in the element, or on the screen when nothing else is said.
    pub(super) point: Option<String>,
    /// Go on when it is not there.
    pub(super) optional: Option<bool>,
    // For readers, and for what is done anyway.
    label: Option<String>,
    size: Option<IgnoredAny>,
    traits: Option<IgnoredAny>,
    css: Option<IgnoredAny>,
    retry_tap_if_no_change: Option<bool>,
    wait_until_visible: Option<bool>,
    wait_to_settle_timeout_ms: Option<u64>,
}

impl Short for Element {
    fn short(text: String) -> Self {
        Self {
            text: Some(text),
            ..Self::default()
        }
    }

    const EXPECTED: &'static str = "a text, or a mapping that names an element";
}

impl Element {
    /// Whether only a point is said.
    pub(super) fn is_point(&self) -> bool {
        self.point.is_some()
            && self.text.is_none()
            && self.id.is_none()
            && self.relations().next().is_none()
    }

    /// The element on a platform.
    ///
    /// # Errors
    /// A failure when it names nothing.
    pub(in crate::builtin::mobile) fn wanted(
        &self,
        on: Platform,
    ) -> Result<ElementQuery, ToolError> {
        ElementQuery::words(self.words(on)?, on)
    }

    fn relations(&self) -> impl Iterator<Item = &Self> {
        [
            &self.below,
            &self.above,
            &self.left_of,
            &self.right_of,
            &self.child_of,
            &self.contains_child,
        ]
        .into_iter()
        .flatten()
        .map(|element| &element.0)
        .chain(
            self.contains_descendants
                .iter()
                .flatten()
                .map(|element| &element.0),
        )
    }

    fn words(&self, on: Platform) -> Result<Words, ToolError> {
        let one = |element: &Option<Box<Shortened<Self>>>| {
            element
                .as_ref()
                .map(|element| element.0.words(on)?.plain_selector(on).map(Box::new))
                .transpose()
        };
        let descendants = self.contains_descendants.iter().flatten();
        Ok(Words {
            says: self.text.clone().map(TextCriterion::Matching),
            id: self.id.clone(),
            index: self.index,
            enabled: self.enabled,
            checked: self.checked,
            focused: self.focused,
            selected: self.selected,
            relations: NodeSelector {
                below: one(&self.below)?,
                above: one(&self.above)?,
                left_of: one(&self.left_of)?,
                right_of: one(&self.right_of)?,
                child_of: one(&self.child_of)?,
                contains_child: one(&self.contains_child)?,
                contains_descendants: descendants
                    .map(|element| element.0.words(on)?.plain_selector(on))
                    .collect::<Result<_, _>>()?,
                ..NodeSelector::default()
            },
        })
    }
}

/// A whole number, which older recordings write as `"2"` or `"2.0"`.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else {
        return Ok(0);
    };
    let digits = text.strip_suffix(".0").unwrap_or(&text);
    digits
        .parse()
        .map_err(|_| Error::custom(format!("expected a whole number, found `{text}`")))
}
