//! A farm judged by what it left behind: the journals of its runs, and what its devices say has reached
//! them. Pure functions, for tests and for `packtrain farm rehearse`.
//!
//! It knows neither brokers nor hosts: what they promise has to be visible from outside.

mod attempts;
mod devices;
mod journal;
mod sharing;

use std::fmt;

use chrono::{DateTime, Utc};
use packtrain_drivers::DeviceId;
use packtrain_model::{SessionId, StepIndex};

pub use self::attempts::{Attempt, attempts};
pub use self::devices::{Arrival, MARK, devices, marked};
pub use self::journal::journal;
pub use self::sharing::{Freed, late, unfair};

/// Something that a farm must not do, and did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What sort of thing.
    pub kind: FindingKind,
    /// What happened, in one sentence.
    pub what: String,
}

/// What a farm can do wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// A verdict, an attempt or an event is missing.
    Lost,
    /// There are two of what there must be one of, holders of a device included.
    Doubled,
    /// Events are in an order in which they cannot have happened.
    Disordered,
    /// Something took longer than was promised.
    Late,
    /// A run waited longer than its share explains.
    Unfair,
    /// A device was given a command by somebody who did not hold it any more.
    Stale,
}

impl FindingKind {
    /// All of them, in the order in which they are reported.
    pub const ALL: [Self; 6] = [
        Self::Lost,
        Self::Doubled,
        Self::Disordered,
        Self::Late,
        Self::Unfair,
        Self::Stale,
    ];
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lost => "lost",
            Self::Doubled => "doubled",
            Self::Disordered => "disordered",
            Self::Late => "late",
            Self::Unfair => "unfair",
            Self::Stale => "stale",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.what)
    }
}

impl Finding {
    /// One of that sort.
    pub fn new(kind: FindingKind, what: impl Into<String>) -> Self {
        Self {
            kind,
            what: what.into(),
        }
    }
}

/// `s12.2` as the number of the planned session, from 0, and of the attempt, from 1; `None` when it is no
/// session's name.
pub fn parse_session(session: &SessionId) -> Option<(usize, u32)> {
    let rest = session.0.strip_prefix('s')?;
    let (number, attempt) = match rest.split_once('.') {
        Some((number, attempt)) => (number, attempt.parse().ok()?),
        None => (rest, 1),
    };
    let number: usize = number.parse().ok()?;
    Some((number.checked_sub(1)?, attempt))
}

#[cfg(test)]
mod tests;
