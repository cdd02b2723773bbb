//! Points, rectangles and sizes, in the device's own units: Android pixels, iOS points,
//! CSS pixels.

use serde::{Deserialize, Serialize};

/// A place on the screen, from its top left corner.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Distance from the left edge.
    pub x: f64,
    /// Distance from the top edge.
    pub y: f64,
}

/// A width and a height.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Size {
    /// Horizontal extent.
    pub width: f64,
    /// Vertical extent.
    pub height: f64,
}

/// A rectangle by its edges; `right` and `bottom` are exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rect {
    /// Left edge.
    pub left: f64,
    /// Top edge.
    pub top: f64,
    /// Right edge, exclusive.
    pub right: f64,
    /// Bottom edge, exclusive.
    pub bottom: f64,
}

impl Point {
    /// A point from its coordinates.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }
}

impl Size {
    /// A size from its extents.
    pub const fn new(width: f64, height: f64) -> Self {
        Self { width, height }
    }

    /// The rectangle of this size at the origin.
    pub const fn to_rect(self) -> Rect {
        Rect::new(0.0, 0.0, self.width, self.height)
    }
}

impl Rect {
    /// A rectangle from its edges.
    pub const fn new(left: f64, top: f64, right: f64, bottom: f64) -> Self {
        Self {
            left,
            top,
            right,
            bottom,
        }
    }

    /// Horizontal extent, never negative.
    pub fn width(&self) -> f64 {
        (self.right - self.left).max(0.0)
    }

    /// Vertical extent, never negative.
    pub fn height(&self) -> f64 {
        (self.bottom - self.top).max(0.0)
    }

    /// Whether nothing lies inside.
    pub fn is_empty(&self) -> bool {
        self.width() == 0.0 || self.height() == 0.0
    }

    /// The middle.
    pub fn center(&self) -> Point {
        Point::new(
            f64::midpoint(self.left, self.right),
            f64::midpoint(self.top, self.bottom),
        )
    }

    /// Whether `point` lies inside.
    pub fn contains(&self, point: Point) -> bool {
        point.x >= self.left && point.x < self.right && point.y >= self.top && point.y < self.bottom
    }

    /// What both rectangles cover; `None` when they do not overlap.
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let both = Self::new(
            self.left.max(other.left),
            self.top.max(other.top),
            self.right.min(other.right),
            self.bottom.min(other.bottom),
        );
        (!both.is_empty()).then_some(both)
    }
}
