//! Conditions on a value: `firefox`, `!=firefox`, `>1`, `<=390`.

use std::fmt;
use std::str::FromStr;

use crate::order::rank;

/// What a value has to be like.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// This value.
    Is(String),
    /// Any other value.
    IsNot(String),
    /// Less than.
    Below(f64),
    /// At most.
    AtMost(f64),
    /// More than.
    Above(f64),
    /// At least.
    AtLeast(f64),
}

/// Why a text is not a condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// Nothing, or nothing behind `!=`.
    #[error("a value is missing")]
    Empty,
    /// `<tall`.
    #[error("`{0}` needs a number or a size behind its sign, such as 390 or 390x844")]
    NoNumber(String),
}

impl Condition {
    /// Whether a value is like that. Numbers are compared as numbers, sizes by their width.
    pub fn holds(&self, value: &str) -> bool {
        let compare = |holds: fn(&f64, &f64) -> bool, than: f64| {
            rank(value).is_some_and(|rank| holds(&rank, &than))
        };
        match self {
            Self::Is(other) => value == other,
            Self::IsNot(other) => value != other,
            Self::Below(than) => compare(f64::lt, *than),
            Self::AtMost(than) => compare(f64::le, *than),
            Self::Above(than) => compare(f64::gt, *than),
            Self::AtLeast(than) => compare(f64::ge, *than),
        }
    }
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let text = text.trim();
        let number =
            |rest: &str| rank(rest.trim()).ok_or_else(|| ConditionError::NoNumber(text.to_owned()));
        if let Some(rest) = text.strip_prefix("!=") {
            return match rest.trim() {
                "" => Err(ConditionError::Empty),
                value => Ok(Self::IsNot(value.to_owned())),
            };
        }
        // The longer signs first: `<=` begins with `<`.
        type Limit = fn(f64) -> Condition;
        let signs: [(&str, Limit); 4] = [
            ("<=", Self::AtMost),
            (">=", Self::AtLeast),
            ("<", Self::Below),
            (">", Self::Above),
        ];
        for (sign, condition) in signs {
            if let Some(rest) = text.strip_prefix(sign) {
                return number(rest).map(condition);
            }
        }
        match text {
            "" => Err(ConditionError::Empty),
            value => Ok(Self::Is(value.to_owned())),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(value) => f.write_str(value),
            Self::IsNot(value) => write!(f, "!={value}"),
            Self::Below(than) => write!(f, "<{than}"),
            Self::AtMost(than) => write!(f, "<={than}"),
            Self::Above(than) => write!(f, ">{than}"),
            Self::AtLeast(than) => write!(f, ">={than}"),
        }
    }
}
