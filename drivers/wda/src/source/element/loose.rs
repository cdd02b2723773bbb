//! Values that versions of WebDriverAgent write differently. What means nothing counts as not
//! told; it is never an error, for one odd attribute must not hide a screen.

use std::fmt;

use packtrain_drivers::Rect;
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A text; numbers and flags count as theirs.
pub(super) struct Text(pub(super) Option<String>);

/// Whether something is so.
pub(super) struct Flag(pub(super) Option<bool>);

/// Names with commas between them.
pub(super) struct Words(pub(super) Vec<String>);

/// `{x, y, width, height}`, all of them finite.
pub(super) struct Edges(pub(super) Option<Rect>);

/// A value of JSON without what is in it, but for a rectangle's four numbers.
enum Scalar {
    Nothing,
    Bool(bool),
    Number(f64),
    Text(String),
    Sides([Option<f64>; 4]),
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Scalar, E> {
        Ok(Scalar::Nothing)
    }

    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Scalar, E> {
        Ok(Scalar::Bool(flag))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Scalar, E> {
        Ok(Scalar::Number(number as f64))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Scalar, E> {
        Ok(Scalar::Number(number as f64))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Scalar, E> {
        Ok(Scalar::Number(number))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Scalar, E> {
        Ok(Scalar::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Scalar, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Nothing)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
        let mut sides = [None; 4];
        while let Some(side) = map.next_key::<Side>()? {
            let at = match side {
                Side::X => 0,
                Side::Y => 1,
                Side::Width => 2,
                Side::Height => 3,
                Side::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            sides[at] = map.next_value::<Scalar>()?.number();
        }
        Ok(Scalar::Sides(sides))
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Side {
    X,
    Y,
    Width,
    Height,
    #[serde(other)]
    Other,
}

impl Scalar {
    fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.parse().ok(),
            Self::Nothing | Self::Bool(_) | Self::Sides(_) => None,
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Scalar::deserialize(deserializer)? {
            Scalar::Text(text) => Some(text),
            Scalar::Bool(flag) => Some(u8::from(flag).to_string()),
            Scalar::Number(number) => Some(number.to_string()),
            Scalar::Nothing | Scalar::Sides(_) => None,
        }))
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Scalar::deserialize(deserializer)? {
            Scalar::Bool(flag) => Some(flag),
            Scalar::Number(number) => Some(number != 0.0),
            Scalar::Text(text) => match text.as_str() {
                "1" | "true" => Some(true),
                "0" | "false" => Some(false),
                _ => None,
            },
            Scalar::Nothing | Scalar::Sides(_) => None,
        }))
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?.0.unwrap_or_default();
        let words = text.split(',').map(str::trim);
        let words = words.filter(|word| !word.is_empty()).map(str::to_owned);
        Ok(Self(words.collect()))
    }
}

impl<'de> Deserialize<'de> for Edges {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Scalar::Sides([Some(x), Some(y), Some(width), Some(height)]) =
            Scalar::deserialize(deserializer)?
        else {
            return Ok(Self(None));
        };
        let rect = Rect::new(x, y, x + width, y + height);
        let edges = [rect.left, rect.top, rect.right, rect.bottom];
        let finite = edges.into_iter().all(f64::is_finite);
        Ok(Self(finite.then_some(rect)))
    }
}
