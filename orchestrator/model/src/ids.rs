//! Ids, each its own type.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// Names a run and its folder: `20261121-093015-k3f9`. Sorts by time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub String);

impl RunId {
    /// An id from the moment a run started and something that tells apart two in one second.
    pub fn new(started: DateTime<Utc>, salt: u32) -> Self {
        const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
        let tail: String = (0..4)
            .map(|place| char::from(DIGITS[(salt >> (5 * place)) as usize & 31]))
            .collect();
        Self(format!("{}-{tail}", started.format("%Y%m%d-%H%M%S")))
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names one attempt of one trail on one device within a run: `s1`, `s2` in planning order, and
/// `s2.2` for the second attempt of `s2`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub String);

impl SessionId {
    /// The id of an attempt of a planned session.
    pub fn new(index: SessionIndex, attempt: AttemptNumber) -> Self {
        let number = index.0 + 1;
        Self(match attempt.0 {
            0 | 1 => format!("s{number}"),
            later => format!("s{number}.{later}"),
        })
    }
}

/// A session's place in its plan, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionIndex(pub usize);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which try of a trail on a device this is, from 1.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct AttemptNumber(pub u32);

/// A step's place in its trail: 0 is the trailhead, steps count from 1.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct StepIndex(pub u32);

impl StepIndex {
    /// The trailhead's place.
    pub const TRAILHEAD: Self = Self(0);

    /// The only step of a session that somebody drives by hand.
    pub const BY_HAND: Self = Self(1);
}

impl fmt::Display for StepIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("trailhead"),
            place => write!(f, "{place}"),
        }
    }
}
