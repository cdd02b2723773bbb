//! Texts with `${…}` in them.
//!
//! A path is `name`, `name.count`, `name.sum.field` for a list in the state, `item.field`,
//! `index` (from 0) and `n` (from 1) inside a list row, `permission.NAME`, `url` and `url.rest`
//! in a link's rules. Two operands may be joined by ` + `, ` - ` or ` * `. `|money` shows a
//! number with two decimals.

use serde::Deserialize;
use serde::de::Deserializer;

use crate::app::loose::{Loose, Nothing};
use crate::app::value::Value;
use crate::document::{At, Position};
use crate::shape::Platform;

/// A text with placeholders, taken apart once when the file is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    source: String,
    parts: Vec<Part>,
    /// Where it was written.
    pub place: Position,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Literal(String),
    Value {
        sum: Sum,
        money: bool,
    },
    /// Cannot be read; the check of the whole file reports it with its place.
    Broken(&'static str),
}

/// One operand, or two with a sign between them.
#[derive(Debug, Clone, PartialEq)]
struct Sum {
    left: Operand,
    right: Option<(&'static str, Operand)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Path(String),
    Number(f64),
}

impl Sum {
    fn parse(text: &str) -> Self {
        let joined = [" + ", " - ", " * "].into_iter().find_map(|sign| {
            let (left, right) = text.split_once(sign)?;
            Some((left, Some((sign, Operand::parse(right)))))
        });
        let (left, right) = joined.unwrap_or((text, None));
        Self {
            left: Operand::parse(left),
            right,
        }
    }

    fn value(&self, value_of: &dyn Fn(&str) -> Value) -> Value {
        let left = self.left.value(value_of);
        let Some((sign, right)) = &self.right else {
            return left;
        };
        let number = |value: Value| value.number().unwrap_or(0.0);
        let (a, b) = (number(left), number(right.value(value_of)));
        Value::Number(match *sign {
            " + " => a + b,
            " - " => a - b,
            _ => a * b,
        })
    }

    fn paths(&self) -> impl Iterator<Item = &str> {
        let right = self.right.as_ref().map(|(_, operand)| operand);
        let operands = std::iter::once(&self.left).chain(right);
        operands.filter_map(|operand| match operand {
            Operand::Path(path) => Some(path.as_str()),
            Operand::Number(_) => None,
        })
    }
}

impl Operand {
    fn parse(text: &str) -> Self {
        let text = text.trim();
        match text.parse() {
            Ok(number) => Self::Number(number),
            Err(_) => Self::Path(text.to_owned()),
        }
    }

    fn value(&self, value_of: &dyn Fn(&str) -> Value) -> Value {
        match self {
            Self::Path(path) => value_of(path),
            Self::Number(n) => Value::Number(*n),
        }
    }
}

impl Template {
    /// Takes `text` apart.
    pub fn new(text: &str, place: Position) -> Self {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            if start > 0 {
                parts.push(Part::Literal(rest[..start].to_owned()));
            }
            let Some(length) = rest[start..].find('}') else {
                parts.push(Part::Broken("`${` without its `}`"));
                rest = "";
                break;
            };
            parts.push(Part::value(rest[start + 2..start + length].trim()));
            rest = &rest[start + length + 1..];
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        Self {
            source: text.to_owned(),
            parts,
            place,
        }
    }

    /// The text as it was written, by which it is translated.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The text with every placeholder replaced by what `value_of` says of its path.
    pub fn fill(&self, value_of: &dyn Fn(&str) -> Value) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) => out.push_str(text),
                Part::Value { sum, money } => match (sum.value(value_of), money) {
                    (Value::Number(n), true) => out.push_str(&format!("{n:.2}")),
                    (value, _) => out.push_str(&value.to_string()),
                },
                Part::Broken(_) => {}
            }
        }
        out
    }

    /// The value itself when the text is one placeholder and nothing else, so that `${n}` stays
    /// a number; the filled text otherwise.
    pub fn value(&self, value_of: &dyn Fn(&str) -> Value) -> Value {
        match self.parts.as_slice() {
            [Part::Value { sum, money: false }] => sum.value(value_of),
            _ => Value::Text(self.fill(value_of)),
        }
    }

    /// The paths it names, and what is wrong with it.
    pub(super) fn paths(&self) -> Vec<Result<&str, &'static str>> {
        let mut paths = Vec::new();
        for part in &self.parts {
            match part {
                Part::Literal(_) => {}
                Part::Value { sum, .. } => paths.extend(sum.paths().map(Ok)),
                Part::Broken(why) => paths.push(Err(*why)),
            }
        }
        paths
    }
}

impl Part {
    fn value(inner: &str) -> Self {
        let (path, filter) = match inner.split_once('|') {
            Some((path, filter)) => (path.trim(), filter.trim()),
            None => (inner, ""),
        };
        if path.is_empty() {
            return Self::Broken("`${}` names nothing");
        }
        let money = match filter {
            "" => false,
            "money" => true,
            _ => return Self::Broken("the only filter is `|money`"),
        };
        Self::Value {
            sum: Sum::parse(path),
            money,
        }
    }
}

impl From<At<String>> for Template {
    fn from(text: At<String>) -> Self {
        Self::new(&text.value, text.place)
    }
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        At::<String>::deserialize(deserializer).map(Self::from)
    }
}

/// A text that may differ per platform.
pub type PlatformText = PerPlatform<Template>;

/// What may differ per platform. In a file, one text stands for both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerPlatform<T> {
    /// On Android.
    pub android: T,
    /// On iOS.
    pub ios: T,
}

impl<T> PerPlatform<T> {
    /// What it is on `platform`.
    pub const fn on(&self, platform: Platform) -> &T {
        match platform {
            Platform::Android => &self.android,
            Platform::Ios => &self.ios,
        }
    }
}

impl<T: Clone + From<At<String>>> From<At<String>> for PerPlatform<T> {
    fn from(text: At<String>) -> Self {
        let both = T::from(text);
        Self {
            android: both.clone(),
            ios: both,
        }
    }
}

impl<'de, T> Deserialize<'de> for PerPlatform<T>
where
    T: Deserialize<'de> + Clone + From<At<String>>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Both<T> {
            android: T,
            ios: T,
        }
        let At { value, place } = At::<Loose<Both<T>, Nothing>>::deserialize(deserializer)?;
        Ok(match value {
            Loose::Text(value) => Self::from(At { value, place }),
            Loose::Map(Both { android, ios }) => Self { android, ios },
            Loose::Seq(nothing) => match nothing {},
        })
    }
}

/// What is assigned to a variable: a constant, or a text with placeholders.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// Always the same.
    Constant(Value),
    /// Filled when it is used.
    Filled(Template),
}

impl Expression {
    /// What it comes to.
    pub fn value(&self, value_of: &dyn Fn(&str) -> Value) -> Value {
        match self {
            Self::Constant(value) => value.clone(),
            Self::Filled(template) => template.value(value_of),
        }
    }

    /// The template, when it is one.
    pub(crate) const fn template(&self) -> Option<&Template> {
        match self {
            Self::Constant(_) => None,
            Self::Filled(template) => Some(template),
        }
    }
}

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = At::<Value>::deserialize(deserializer)?;
        Ok(match value.value {
            Value::Text(text) => Self::Filled(Template::new(&text, value.place)),
            constant => Self::Constant(constant),
        })
    }
}
