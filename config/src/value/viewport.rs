//! Sizes of pages: `1280x800`.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ValueError;

/// Largest edge browsers draw.
const MAX_EDGE: u32 = 16_384;
const EXPECTED: &str = "a size in pixels such as 1280x800";

/// The size of a page in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^[0-9]+x[0-9]+$", "examples" = ["1280x800"]))]
pub struct Viewport {
    /// From left to right, in CSS pixels.
    pub width: u32,
    /// From top to bottom, in CSS pixels.
    pub height: u32,
}

impl FromStr for Viewport {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let edge = |text: &str| {
            text.trim()
                .parse()
                .ok()
                .filter(|edge| (1..=MAX_EDGE).contains(edge))
        };
        text.split_once(['x', '×'])
            .and_then(|(width, height)| {
                Some(Self {
                    width: edge(width)?,
                    height: edge(height)?,
                })
            })
            .ok_or_else(|| ValueError::new(text, EXPECTED))
    }
}

impl TryFrom<String> for Viewport {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        text.parse()
    }
}

impl From<Viewport> for String {
    fn from(viewport: Viewport) -> Self {
        viewport.to_string()
    }
}

impl fmt::Display for Viewport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}
