//! Growing waits: `250ms..10s`, or `1s` for one that does not grow.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HumanDuration, ValueError};

const EXPECTED: &str = "a duration or a range of them such as 250ms..10s";

/// The first wait and the longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("examples" = ["250ms..10s", "1s"]))]
pub struct Backoff {
    first: HumanDuration,
    longest: HumanDuration,
}

impl Backoff {
    pub(crate) const fn new(first: HumanDuration, longest: HumanDuration) -> Self {
        Self { first, longest }
    }

    /// The wait before the first restart.
    pub const fn first(self) -> HumanDuration {
        self.first
    }

    /// What no wait exceeds; never less than the first.
    pub const fn longest(self) -> HumanDuration {
        self.longest
    }
}

impl FromStr for Backoff {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let error = |_| ValueError::new(text, EXPECTED);
        let (first, longest) = text.split_once("..").unwrap_or((text, text));
        let (first, longest) = (
            first.parse().map_err(error)?,
            longest.parse().map_err(error)?,
        );
        let range = Some(Self { first, longest }).filter(|_| first <= longest);
        range.ok_or_else(|| ValueError::new(text, EXPECTED))
    }
}

impl TryFrom<String> for Backoff {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        text.parse()
    }
}

impl From<Backoff> for String {
    fn from(backoff: Backoff) -> Self {
        backoff.to_string()
    }
}

impl fmt::Display for Backoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        if self.first < self.longest {
            write!(f, "..{}", self.longest)?;
        }
        Ok(())
    }
}
