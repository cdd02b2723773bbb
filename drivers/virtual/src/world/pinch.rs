//! Two fingers on the glass, and the one thing they do: to zoom what can be zoomed.

use std::time::Duration;

use crate::app::Value;
use crate::geometry::Point;
use crate::world::World;
use crate::world::finger::{Gesture, Pointer, SLOP};
use crate::world::layout::Target;

/// Two fingers that may be on the glass.
#[derive(Debug, Clone, Default)]
pub struct TwoFingers {
    /// Where each is, or was when it left.
    at: [Option<Point>; 2],
    /// Where they were when the second came down.
    start: Option<[Point; 2]>,
    /// When the first left. What the other did at that very moment still counts.
    ended: Option<Duration>,
}

impl Gesture {
    /// What two fingers do that go from `from` to `to`, if they move apart or together at all.
    pub fn of_two(from: [Point; 2], to: [Point; 2]) -> Option<Self> {
        let apart = |[one, other]: [Point; 2]| one.distance(other);
        let (before, after) = (apart(from), apart(to));
        let at = Point::new((from[0].x + from[1].x) / 2.0, (from[0].y + from[1].y) / 2.0);
        ((after - before).abs() >= SLOP).then(|| Self::Pinch {
            at,
            scale: after / before.max(1.0),
        })
    }
}

impl TwoFingers {
    /// Follows a movement of one of them; the gesture when it ended one.
    pub fn follow(&mut self, finger: usize, movement: Pointer, now: Duration) -> Option<Gesture> {
        let at = self.at.get_mut(finger)?;
        match movement {
            Pointer::Down(down) => {
                *at = Some(down);
                if let [Some(one), Some(other)] = self.at {
                    self.start = Some([one, other]);
                }
            }
            Pointer::Move(to) if at.is_some() && self.ended.is_none_or(|ended| ended == now) => {
                *at = Some(to);
            }
            Pointer::Move(_) => {}
            Pointer::Up if self.start.is_none() => *at = None,
            Pointer::Up if self.ended.is_none() => self.ended = Some(now),
            Pointer::Up | Pointer::Cancel => {
                let ended = std::mem::take(self);
                if let (Pointer::Up, Some(from), [Some(one), Some(other)]) =
                    (movement, ended.start, ended.at)
                {
                    return Gesture::of_two(from, [one, other]);
                }
            }
        }
        None
    }
}

impl World {
    /// Zooms what lies at `at`, when it can be zoomed.
    pub(super) fn pinch(&mut self, at: Point, scale: f64) {
        let mut nodes = self.window_at(at).into_iter().flat_map(|layout| {
            let nodes = layout.window.nodes.into_iter().zip(layout.targets);
            nodes.rev()
        });
        let found = nodes.find_map(|(node, target)| match target {
            Target::Element(element, row) if node.flags.enabled && node.visible.contains(at) => {
                let zoom = element.zoom.as_ref()?.value.clone();
                Some((zoom, element, row))
            }
            _ => None,
        });
        let (Some((zoom, element, row)), Some(app)) = (found, self.front.clone()) else {
            return;
        };
        if let Some(run) = self.running.get_mut(&app) {
            let before = run.variable(&zoom).and_then(Value::number);
            run.assign(&zoom, Value::Number(before.unwrap_or(1.0) * scale));
        }
        self.changed();
        self.carry_out(&app, &element.change, row.as_ref());
    }
}
