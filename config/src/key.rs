//! Names of settings: `devices.web.phone.viewport`.

use std::fmt;

use serde::{Serialize, Serializer};

/// The way from the top of the configuration to a value. List items are numbers from 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyPath(Vec<String>);

impl KeyPath {
    /// A path from its parts; none is the whole configuration.
    pub fn new<S: Into<String>>(parts: impl IntoIterator<Item = S>) -> Self {
        Self(parts.into_iter().map(Into::into).collect())
    }

    /// A path written with dots. Parts that contain dots cannot be written so.
    pub fn from_dotted(text: &str) -> Self {
        Self::new(text.split('.').filter(|part| !part.is_empty()))
    }

    /// Its parts, outermost first.
    pub fn parts(&self) -> &[String] {
        &self.0
    }

    /// This path and one part more.
    #[must_use]
    pub fn child(&self, part: impl Into<String>) -> Self {
        let mut parts = self.0.clone();
        parts.push(part.into());
        Self(parts)
    }

    /// This path without its last part; `None` for the whole configuration.
    pub fn parent(&self) -> Option<Self> {
        let (_, parts) = self.0.split_last()?;
        Some(Self(parts.to_vec()))
    }

    /// Whether `other` is this or lies inside.
    pub fn contains(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, part) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str(".")?;
            }
            if part.is_empty() || part.contains(['.', ' ', '"']) {
                write!(f, "{part:?}")?;
            } else {
                f.write_str(part)?;
            }
        }
        Ok(())
    }
}

impl Serialize for KeyPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
