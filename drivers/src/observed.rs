//! What a step left on the screen, looked at once it is still: tree, picture, layout defects.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::geometry::Rect;
use crate::observation::{Screenshot, Snapshot};

/// How a screen is observed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ObserveOptions {
    /// Whether a picture is taken.
    pub picture: bool,
    /// How long the screen may take to be still; it is looked at whether it is or not.
    pub still_within: Duration,
    /// CSS selectors of what is left out of pictures, on the web.
    pub masks: Vec<String>,
}

/// A screen that was observed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// The screen as a tree, with bounds.
    pub snapshot: Snapshot,
    /// The screen as a picture, when one was wanted and could be taken.
    pub picture: Option<Screenshot>,
    /// Where elements that match the masks are; `None` for a mask that matched nothing.
    pub masked: Vec<Option<Vec<Rect>>>,
    /// Layout defects that only the platform can see. Those that show in bounds are found elsewhere.
    pub defects: Vec<Defect>,
    /// How long it took to be still.
    pub settled: Duration,
    /// Whether it became still.
    pub is_still: bool,
    /// What is there and cannot be seen, in document order; [`Hidden::MAX`] of it at most.
    #[serde(default)]
    pub hidden: Vec<Hidden>,
}

/// Something that is in the document or the platform's tree and cannot be seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hidden {
    /// Role and name of the element: `link "Basket"`.
    pub element: String,
    /// What hides it.
    pub why: HiddenBecause,
    /// Role and name of the control that opens what it is in, where that is known: `button "Menu"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<String>,
}

impl Hidden {
    /// At most so many are reported per screen.
    pub const MAX: usize = 200;
}

/// What hides an element, or what it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HiddenBecause {
    /// It is not laid out: `display: none`.
    Display,
    /// It is laid out and not drawn: `visibility: hidden`.
    Visibility,
    /// It has no width or no height.
    Size,
    /// It is wholly transparent.
    Opacity,
    /// It lies outside of what cuts it off, and nothing scrolls there.
    Clipped,
    /// It is in something closed that a control opens: a menu, a dialog, details.
    Closed,
    /// The platform says that it cannot be seen and not why, or a later Packtrain says something else.
    #[serde(other)]
    Other,
}

/// Something wrong with a layout that no other screen is needed for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Defect {
    /// What is wrong.
    pub kind: DefectKind,
    /// Role and name of the element: `button "Buy"`.
    pub element: String,
    /// The other element, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// Where it is, in the units of snapshots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Rect>,
    /// By how much, in the same units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<f64>,
}

/// What can be wrong with a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefectKind {
    /// The page scrolls sideways.
    ScrollsSideways,
    /// A text does not fit and its rest is cut off.
    TextCut,
    /// A text spills out of its box.
    TextSpills,
    /// An element crosses the edge of the screen, and nothing scrolls there.
    CrossesEdge,
    /// Two actionable elements overlap.
    Overlaps,
    /// A stranger covers the centre of an actionable element.
    Covered,
}

impl DefectKind {
    /// The words reports use behind the element: `button "Buy" crosses the edge of the screen`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::ScrollsSideways => "scrolls sideways",
            Self::TextCut => "has its text cut off",
            Self::TextSpills => "has text that spills out",
            Self::CrossesEdge => "crosses the edge of the screen",
            Self::Overlaps => "overlaps",
            Self::Covered => "is covered",
        }
    }
}
