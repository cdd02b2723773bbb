//! Spans of time: `30s`, `5m`, `1h30m`, `250ms`, `1.5s`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ValueError;

/// Units and their milliseconds, the largest first.
const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
/// The longest span, a year: more is a slip of the pen.
const MAX_MILLIS: f64 = 365.0 * 24.0 * 3_600_000.0;
const EXPECTED: &str = "a duration such as 250ms, 30s, 5m or 1h30m";

/// A span of time as people write it, to the millisecond.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend(
    "pattern" = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$",
    "examples" = ["30s", "5m", "1h30m"]
))]
pub struct HumanDuration(Duration);

impl HumanDuration {
    /// A span of time; what is finer than a millisecond is cut off.
    pub const fn new(duration: Duration) -> Self {
        Self(Duration::from_millis(
            duration.as_secs() * 1_000 + duration.subsec_millis() as u64,
        ))
    }

    /// The span.
    pub const fn get(self) -> Duration {
        self.0
    }
}

impl FromStr for HumanDuration {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let error = || ValueError::new(text, EXPECTED);
        let mut rest = text.trim();
        let mut millis = 0.0;
        if rest.is_empty() {
            return Err(error());
        }
        while !rest.is_empty() {
            let digits = rest
                .find(|c: char| !c.is_ascii_digit() && c != '.')
                .ok_or_else(error)?;
            let (number, tail) = rest.split_at(digits);
            let letters = tail
                .find(|c: char| !c.is_ascii_lowercase())
                .unwrap_or(tail.len());
            let (unit, tail) = tail.split_at(letters);
            let (_, factor) = UNITS
                .iter()
                .find(|(name, _)| *name == unit)
                .ok_or_else(error)?;
            let number: f64 = number.parse().map_err(|_| error())?;
            millis += number * *factor as f64;
            rest = tail.trim_start();
        }
        if millis > MAX_MILLIS {
            return Err(error());
        }
        // Below the limit a millisecond count is exact in both types.
        Ok(Self(Duration::from_millis(millis.round() as u64)))
    }
}

impl TryFrom<String> for HumanDuration {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        text.parse()
    }
}

impl From<HumanDuration> for String {
    fn from(duration: HumanDuration) -> Self {
        duration.to_string()
    }
}

impl fmt::Display for HumanDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut millis = self.0.as_millis();
        if millis == 0 {
            return f.write_str("0s");
        }
        for (unit, factor) in UNITS {
            let factor = u128::from(factor);
            if millis >= factor {
                write!(f, "{}{unit}", millis / factor)?;
                millis %= factor;
            }
        }
        Ok(())
    }
}
