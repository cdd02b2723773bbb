//! When something is visible, enabled or done.
//!
//! `name` holds when the value is not empty, `"!name"` when it is; `{name: value}` when they are
//! equal, for all names; `{name: {over: 3}}`, `under`, `contains`; `{any: [...]}` when one of
//! several holds; a list when all do.

use std::collections::BTreeMap;

use serde::de::{Deserialize, Deserializer};

use crate::app::loose::Loose;
use crate::app::template::{Expression, Template};
use crate::app::value::Value;
use crate::document::{At, Position};

/// Something that holds or does not.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// The value at the path is not empty, 0 or false.
    Holds(String),
    /// It is.
    Lacks(String),
    /// The value at the path compares so.
    Compares(String, Comparison),
    /// All of them hold.
    All(Vec<Condition>),
    /// One of them holds.
    Any(Vec<Condition>),
}

/// How a value must compare.
#[derive(Debug, Clone, PartialEq)]
pub enum Comparison {
    /// Equal, as texts.
    Is(Expression),
    /// Greater than.
    Over(f64),
    /// Less than.
    Under(f64),
    /// Contains this text, whatever the case.
    Contains(Template),
}

impl Condition {
    /// Whether it holds, given what the paths hold.
    pub fn holds(&self, value_of: &dyn Fn(&str) -> Value) -> bool {
        match self {
            Self::Holds(path) => value_of(path).is_truthy(),
            Self::Lacks(path) => !value_of(path).is_truthy(),
            Self::Compares(path, comparison) => comparison.holds(&value_of(path), value_of),
            Self::All(all) => all.iter().all(|c| c.holds(value_of)),
            Self::Any(any) => any.iter().any(|c| c.holds(value_of)),
        }
    }

    /// Every path in it, and every template.
    pub(super) fn names(&self) -> (Vec<&str>, Vec<&Template>) {
        match self {
            Self::Holds(path) | Self::Lacks(path) => (vec![path], Vec::new()),
            Self::Compares(path, comparison) => {
                let template = match comparison {
                    Comparison::Is(expression) => expression.template(),
                    Comparison::Contains(template) => Some(template),
                    Comparison::Over(_) | Comparison::Under(_) => None,
                };
                (vec![path], template.into_iter().collect())
            }
            Self::All(list) | Self::Any(list) => {
                let (paths, templates): (Vec<_>, Vec<_>) = list.iter().map(Self::names).unzip();
                (paths.concat(), templates.concat())
            }
        }
    }
}

impl Comparison {
    fn holds(&self, value: &Value, value_of: &dyn Fn(&str) -> Value) -> bool {
        match self {
            Self::Is(other) => value.to_string() == other.value(value_of).to_string(),
            Self::Over(limit) => value.number().is_some_and(|n| n > *limit),
            Self::Under(limit) => value.number().is_some_and(|n| n < *limit),
            Self::Contains(text) => {
                let (all, part) = (value.to_string(), text.fill(value_of));
                all.to_lowercase().contains(&part.to_lowercase())
            }
        }
    }
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Loose::<BTreeMap<String, At<Side>>, Vec<Self>>::deserialize(deserializer)?;
        Ok(match read {
            Loose::Text(text) => match text.trim().strip_prefix('!') {
                Some(path) => Self::Lacks(path.trim().to_owned()),
                None => Self::Holds(text.trim().to_owned()),
            },
            Loose::Seq(all) => Self::All(all),
            Loose::Map(entries) => {
                let mut all = Vec::new();
                for (path, At { value, place }) in entries {
                    all.extend(value.against(path, place));
                }
                if all.len() == 1 {
                    all.remove(0)
                } else {
                    Self::All(all)
                }
            }
        })
    }
}

/// What stands right of a name in a condition.
struct Side(Loose<Long, Vec<Condition>>);

impl<'de> Deserialize<'de> for Side {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Loose::deserialize(deserializer).map(Self)
    }
}

/// The long form of a comparison.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Long {
    is: Option<Expression>,
    over: Option<f64>,
    under: Option<f64>,
    contains: Option<Template>,
}

impl Side {
    fn against(self, path: String, place: Position) -> Vec<Condition> {
        match self.0 {
            Loose::Text(text) => {
                let is = Comparison::Is(Expression::Filled(Template::new(&text, place)));
                vec![Condition::Compares(path, is)]
            }
            // Only `any` has a list at its right; another name is reported as unknown.
            Loose::Seq(list) if path == "any" => vec![Condition::Any(list)],
            Loose::Seq(list) => vec![Condition::Holds(path), Condition::All(list)],
            Loose::Map(long) => [
                long.is.map(Comparison::Is),
                long.over.map(Comparison::Over),
                long.under.map(Comparison::Under),
                long.contains.map(Comparison::Contains),
            ]
            .into_iter()
            .flatten()
            .map(|c| Condition::Compares(path.clone(), c))
            .collect(),
        }
    }
}
