//! Versions of nats-server.

use std::fmt;
use std::str::FromStr;

/// A version of nats-server; what follows the third number is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second.
    pub minor: u32,
    /// The third.
    pub patch: u32,
}

/// The oldest version whose streams do what a farm needs: keys that expire one by one, and markers
/// where they were.
pub const OLDEST: Version = Version {
    major: 2,
    minor: 12,
    patch: 0,
};

impl FromStr for Version {
    type Err = ();

    /// Of `2.15.1`, `v2.15.1` or `2.12.0-RC.1`.
    fn from_str(text: &str) -> Result<Self, ()> {
        let numbers = text.trim().trim_start_matches('v');
        let numbers = numbers.split(['-', '+']).next().unwrap_or_default();
        let mut numbers = numbers.split('.').map(str::parse);
        let mut next = || numbers.next().ok_or(())?.map_err(drop);
        Ok(Self {
            major: next()?,
            minor: next()?,
            patch: next()?,
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared_by_number() {
        let version = |text: &str| text.parse::<Version>();
        assert_eq!(version("v2.15.1").unwrap().to_string(), "2.15.1");
        for old in ["2.9.10", "2.11.99"] {
            assert!(version(old).unwrap() < OLDEST, "{old}");
        }
        for new in ["2.12.0", "2.12.0-RC.1", "v3.0.0"] {
            assert!(version(new).unwrap() >= OLDEST, "{new}");
        }
        for none in ["", "2", "2.12", "x.y"] {
            assert!(version(none).is_err(), "{none}");
        }
    }
}
