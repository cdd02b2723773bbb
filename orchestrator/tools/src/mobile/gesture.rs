//! Where gestures start and end. Pure.
//!
//! The proportions of swipes are Maestro's, so that a recorded swipe goes as far here as it went there.

use packtrain_drivers::{Direction, Point, Size};

use super::words::quoted;
use crate::tool::ToolError;

/// A straight movement of one finger.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) from: Point,
    pub(crate) to: Point,
}

/// Which part of the screen is scrolled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ScrollStart {
    /// From the middle to near the edge.
    #[default]
    Center,
    /// A short way in the upper part, or along it.
    Top,
    /// A short way in the lower part, or along it.
    Bottom,
}

/// Where a swipe ends, as a share of the screen.
const NEAR: f64 = 0.1;
const FAR: f64 = 0.9;

/// A swipe of the finger in a direction: up and down from the middle, sideways across the whole
/// screen; or from a given point to near the edge.
pub(crate) fn swipe(screen: Size, finger: Direction, start: Option<Point>) -> Stroke {
    let Size { width, height } = screen;
    let from = start.unwrap_or_else(|| match finger {
        Direction::Up | Direction::Down => at(screen, 0.5, 0.5),
        Direction::Left => at(screen, FAR, 0.5),
        Direction::Right => at(screen, NEAR, 0.5),
    });
    let to = match finger {
        Direction::Up => Point::new(from.x, towards_start(from.y, height)),
        Direction::Down => Point::new(from.x, towards_end(from.y, height)),
        Direction::Left => Point::new(towards_start(from.x, width), from.y),
        Direction::Right => Point::new(towards_end(from.x, width), from.y),
    };
    Stroke { from, to }
}

/// To near the edge; what is near it already goes half of what is left.
fn towards_start(from: f64, extent: f64) -> f64 {
    if from > 2.0 * NEAR * extent {
        NEAR * extent
    } else {
        from / 2.0
    }
}

fn towards_end(from: f64, extent: f64) -> f64 {
    extent - towards_start(extent - from, extent)
}

/// The swipe that shows what lies in a direction: the finger goes the other way.
pub(crate) fn scroll(screen: Size, towards: Direction, start: ScrollStart) -> Stroke {
    let finger = opposite(towards);
    let (short, along) = match start {
        ScrollStart::Center => return swipe(screen, finger, None),
        ScrollStart::Top => ((0.15, 0.4), 0.25),
        ScrollStart::Bottom => ((0.6, 0.85), 0.75),
    };
    let (from, to) = match finger {
        Direction::Up => ((0.5, short.1), (0.5, short.0)),
        Direction::Down => ((0.5, short.0), (0.5, short.1)),
        Direction::Left => ((0.85, along), (0.15, along)),
        Direction::Right => ((0.15, along), (0.85, along)),
    };
    Stroke {
        from: at(screen, from.0, from.1),
        to: at(screen, to.0, to.1),
    }
}

/// The swipe that brings what is at `place` to the middle, as far as one swipe can.
pub(crate) fn to_center(screen: Size, towards: Direction, place: Point) -> Stroke {
    let middle = at(screen, 0.5, 0.5);
    let most = |extent: f64| (FAR - 0.5) * extent;
    let step = |from: f64, to: f64, extent: f64| (to - from).clamp(-most(extent), most(extent));
    let to = match towards {
        Direction::Up | Direction::Down => {
            Point::new(middle.x, middle.y + step(place.y, middle.y, screen.height))
        }
        Direction::Left | Direction::Right => {
            Point::new(middle.x + step(place.x, middle.x, screen.width), middle.y)
        }
    };
    Stroke { from: middle, to }
}

/// Whether a place is near the middle, along the way that is scrolled.
pub(crate) fn is_near_center(screen: Size, towards: Direction, place: Point) -> bool {
    let near = |place: f64, extent: f64| (place - extent / 2.0).abs() <= extent / 5.0;
    match towards {
        Direction::Up | Direction::Down => near(place.y, screen.height),
        Direction::Left | Direction::Right => near(place.x, screen.width),
    }
}

/// How far from the middle two fingers are when they are far apart, along either side of the
/// screen, as a share of the shorter side.
const PINCH_REACH: f64 = 0.4;

/// Where two fingers start and end around the middle of the screen to be `scale` times as far
/// apart as they were. They go as far sideways as up and down, so that what is zoomed along one
/// axis only is zoomed as much.
pub(crate) fn pinch(screen: Size, scale: f64) -> ([Point; 2], [Point; 2]) {
    let Size { width, height } = screen;
    let far = PINCH_REACH * width.min(height);
    let corners = |reach: f64| {
        let corner = |reach: f64| Point::new(width / 2.0 + reach, height / 2.0 - reach);
        [corner(-reach), corner(reach)]
    };
    if scale > 1.0 {
        (corners(far / scale), corners(far))
    } else {
        (corners(far), corners(far * scale))
    }
}

/// The swipe from the left edge that goes back on iOS.
pub(crate) fn back(screen: Size) -> Stroke {
    Stroke {
        from: Point::new(1.0, screen.height / 2.0),
        to: at(screen, FAR, 0.5),
    }
}

/// The other way.
pub(crate) const fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::Up => Direction::Down,
        Direction::Down => Direction::Up,
        Direction::Left => Direction::Right,
        Direction::Right => Direction::Left,
    }
}

/// A place on the screen by its shares of width and height.
pub(crate) fn at(screen: Size, x: f64, y: f64) -> Point {
    let last = |extent: f64| (extent - 1.0).max(0.0);
    Point::new(
        (screen.width * x).min(last(screen.width)),
        (screen.height * y).min(last(screen.height)),
    )
}

/// `90%,50%` as shares from 0 to 1; the percent signs may be missing, what lies outside is moved
/// to the edge.
///
/// # Errors
/// A failure that shows what was written.
pub(crate) fn shares(text: &str) -> Result<(f64, f64), ToolError> {
    let share = |text: &str| {
        let number = text.trim().trim_end_matches('%').trim_end();
        let number: f64 = number.parse().ok()?;
        number.is_finite().then(|| (number / 100.0).clamp(0.0, 1.0))
    };
    text.split_once(',')
        .and_then(|(x, y)| Some((share(x)?, share(y)?)))
        .ok_or_else(|| {
            ToolError::failed(format!(
                "invalid point {}: expected one like \"90%,50%\"",
                quoted(text)
            ))
        })
}

#[cfg(test)]
mod tests;
