//! Fingers on the glass, first of all one: from single movements to the gesture they make.

use std::time::Duration;

use crate::geometry::Point;

/// A movement shorter than this many dp is none. (Android's touch slop)
pub(super) const SLOP: f64 = 8.0;
/// A touch at least this long is a long press.
pub(super) const LONG_PRESS_TIME: Duration = Duration::from_millis(500);

/// One movement of a finger.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pointer {
    /// It touches the glass.
    Down(Point),
    /// It moves.
    Move(Point),
    /// It leaves the glass, where it last was.
    Up,
    /// The touch does not count.
    Cancel,
}

/// What a finger did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Gesture {
    /// A short touch.
    Tap(Point),
    /// A long one.
    LongPress(Point),
    /// A movement over the glass.
    Swipe {
        /// Where it began.
        from: Point,
        /// Where it ended.
        to: Point,
    },
    /// Two fingers that move apart or towards each other.
    Pinch {
        /// The middle between them as they start.
        at: Point,
        /// How far apart they end, as a multiple of how far apart they start.
        scale: f64,
    },
}

/// A finger that may be on the glass.
#[derive(Debug, Clone, Default)]
pub struct Finger {
    down: Option<PressedPointer>,
}

#[derive(Debug, Clone, Copy)]
struct PressedPointer {
    at: Point,
    since: Duration,
    last: Point,
    farthest: f64,
}

impl Gesture {
    /// What a touch from `from` to `to` is that takes so long.
    pub fn of(from: Point, to: Point, lasting: Duration) -> Self {
        if from.distance(to) >= SLOP {
            Self::Swipe { from, to }
        } else if lasting >= LONG_PRESS_TIME {
            Self::LongPress(from)
        } else {
            Self::Tap(from)
        }
    }
}

impl Finger {
    /// Follows one movement; the gesture when it ended one.
    pub fn follow(&mut self, movement: Pointer, now: Duration) -> Option<Gesture> {
        match movement {
            Pointer::Down(at) => {
                self.down = Some(PressedPointer {
                    at,
                    since: now,
                    last: at,
                    farthest: 0.0,
                });
                None
            }
            Pointer::Move(to) => {
                let down = self.down.as_mut()?;
                down.last = to;
                down.farthest = down.farthest.max(down.at.distance(to));
                None
            }
            Pointer::Up => {
                let down = self.down.take()?;
                let lasting = now.saturating_sub(down.since);
                // A finger that went away and came back has swiped, not tapped.
                if down.farthest >= SLOP {
                    let (from, to) = (down.at, down.last);
                    return Some(Gesture::Swipe { from, to });
                }
                Some(Gesture::of(down.at, down.last, lasting))
            }
            Pointer::Cancel => {
                self.down = None;
                None
            }
        }
    }
}
