//! Touches by coordinates or element: taps, holds, swipes.

use std::time::Duration;

use serde_json::Value;

use super::Handler;
use super::scrolling::Direction;
use crate::faults::{Event, Fault};
use crate::geometry::Point;
use crate::wda::element_type::ElementType;
use crate::wda::error::WdaError;
use crate::wda::request::unrecognized;
use crate::wda::tree::ElementTree;
use crate::world::{Gesture, NodeRole, Snapshot};

/// How long a finger rests on the glass in a tap.
const TAP_TIME: Duration = Duration::from_millis(50);
/// How long XCTest's own swipe takes.
pub(super) const SWIPE_TIME: Duration = Duration::from_millis(350);
/// How far XCTest's own swipe goes, as a part of the element.
const SWIPE_PART: f64 = 0.5;

impl Handler<'_> {
    pub(super) async fn click(&mut self) -> Result<Value, WdaError> {
        let (tree, at) = self.element().await?;
        self.tap_element(&tree, at).await;
        Ok(Value::Null)
    }

    pub(super) async fn tap_element(&self, tree: &ElementTree, at: usize) {
        if let Some(point) = tree.get(at).and_then(|element| self.touch_point(element)) {
            self.touch(Gesture::Tap(point), TAP_TIME).await;
        }
    }

    pub(super) async fn tap(&mut self) -> Result<Value, WdaError> {
        if let Some(point) = self.point().await? {
            self.touch(Gesture::Tap(point), TAP_TIME).await;
        }
        Ok(Value::Null)
    }

    pub(super) async fn double_tap(&mut self) -> Result<Value, WdaError> {
        if let Some(point) = self.point().await? {
            for _ in 0..2 {
                self.touch(Gesture::Tap(point), TAP_TIME).await;
            }
        }
        Ok(Value::Null)
    }

    pub(super) async fn tap_with_number_of_taps(&mut self) -> Result<Value, WdaError> {
        let number = |name| self.arguments.number(name);
        let (Some(taps), Some(touches)) = (number("numberOfTaps"), number("numberOfTouches"))
        else {
            return Err(WdaError::invalid_argument(
                "Both 'numberOfTaps' and 'numberOfTouches' arguments must be provided",
            ));
        };
        let (tree, at) = self.target().await?;
        let point = tree.get(at).and_then(|element| self.touch_point(element));
        let Some(point) = point else {
            return Ok(Value::Null);
        };
        for _ in 0..taps.clamp(0.0, 20.0) as u32 {
            if touches > 1.0 {
                self.many_fingers(TAP_TIME).await
            } else {
                self.touch(Gesture::Tap(point), TAP_TIME).await
            }
        }
        Ok(Value::Null)
    }

    pub(super) async fn touch_and_hold(&mut self) -> Result<Value, WdaError> {
        let hold = seconds(self.arguments.number("duration"));
        if let Some(point) = self.point().await? {
            self.touch(Gesture::of(point, point, hold), hold).await;
        }
        Ok(Value::Null)
    }

    pub(super) async fn force_touch(&mut self) -> Result<Value, WdaError> {
        self.target().await?;
        Err(WdaError::invalid_state(
            "Force press is not supported on this device",
        ))
    }

    pub(super) async fn two_finger_tap(&mut self) -> Result<Value, WdaError> {
        self.target().await?;
        self.many_fingers(TAP_TIME).await;
        Ok(Value::Null)
    }

    pub(super) async fn pinch(&mut self) -> Result<Value, WdaError> {
        let (tree, at) = self.target().await?;
        let scale = self.arguments.number("scale").unwrap_or(0.0);
        let at = centre(&tree, at);
        self.touch(Gesture::Pinch { at, scale }, SWIPE_TIME).await;
        Ok(Value::Null)
    }

    pub(super) async fn rotate(&mut self) -> Result<Value, WdaError> {
        self.target().await?;
        self.many_fingers(SWIPE_TIME).await;
        Ok(Value::Null)
    }

    pub(super) async fn drag(&mut self) -> Result<Value, WdaError> {
        let (tree, at) = self.target().await?;
        let origin = corner(&tree, at);
        let from = self.offset(origin, "fromX", "fromY");
        let to = self.offset(origin, "toX", "toY");
        let press = seconds(self.arguments.number("duration"));
        self.touch(Gesture::Swipe { from, to }, press + SWIPE_TIME)
            .await;
        Ok(Value::Null)
    }

    pub(super) async fn press_and_drag(&mut self) -> Result<Value, WdaError> {
        let (tree, at) = self.target().await?;
        let press = seconds(self.arguments.number("pressDuration"))
            + seconds(self.arguments.number("holdDuration"));
        let (from, to) = match self.found.uuid {
            Some(_) => {
                let to = self
                    .arguments
                    .text("toElement")
                    .unwrap_or_default()
                    .to_owned();
                let (there, place) = self.element_of(&to).await?;
                (centre(&tree, at), centre(&there, place))
            }
            None => {
                let origin = corner(&tree, at);
                (
                    self.offset(origin, "fromX", "fromY"),
                    self.offset(origin, "toX", "toY"),
                )
            }
        };
        self.touch(Gesture::Swipe { from, to }, press + SWIPE_TIME)
            .await;
        Ok(Value::Null)
    }

    pub(super) async fn swipe(&mut self) -> Result<Value, WdaError> {
        let Some(direction) = self.arguments.text("direction") else {
            return Err(WdaError::invalid_argument("Missing 'direction' parameter"));
        };
        let Some(direction) = Direction::named(&direction.to_lowercase()) else {
            return Err(WdaError::invalid_argument(format!(
                "Unsupported swipe direction '{direction}'. Only the following directions are supported: (up, down, left, right)"
            )));
        };
        let from_point = self.arguments.get("x").is_some() || self.arguments.get("y").is_some();
        let (middle, w, h) = if from_point {
            let point = self.point().await?;
            let (width, height) = self.world(|world, _| (world.width(), world.height()));
            (point, width, height)
        } else {
            let (tree, at) = self.target().await?;
            let frame = tree
                .get(at)
                .map(|element| element.frame)
                .unwrap_or_default();
            let middle = tree.get(at).and_then(|element| self.touch_point(element));
            (middle, frame.w, frame.h)
        };
        let Some(middle) = middle else {
            return Ok(Value::Null);
        };
        // A finger moves against what it shows: up shows what is further down.
        let (dx, dy) = direction.of(w * SWIPE_PART / 2.0, h * SWIPE_PART / 2.0);
        let from = Point::new(middle.x - dx, middle.y - dy);
        let to = Point::new(middle.x + dx, middle.y + dy);
        self.touch(Gesture::Swipe { from, to }, SWIPE_TIME).await;
        Ok(Value::Null)
    }

    pub(super) async fn wheel_select(&mut self) -> Result<Value, WdaError> {
        let (tree, at) = self.element().await?;
        let kind = tree.get(at).map(|element| element.kind);
        let name = kind.map(ElementType::name).unwrap_or_default();
        // No element of an app file is a wheel.
        Err(WdaError::invalid_argument(format!(
            "The element is expected to be a valid Picker Wheel control. '{name}' was given instead"
        )))
    }

    /// Where `x` and `y` point, from the corner of the target. Without them where it can be
    /// touched, if anywhere.
    async fn point(&mut self) -> Result<Option<Point>, WdaError> {
        let coordinate = |name| match self.arguments.get(name) {
            None => Ok(None),
            Some(_) => match self.arguments.number(name) {
                Some(number) => Ok(Some(number)),
                None => Err(unrecognized("doubleValue")),
            },
        };
        let (x, y) = (coordinate("x")?, coordinate("y")?);
        let (tree, at) = match (x, y, &self.found.uuid) {
            // Nobody looks at the tree to touch the app at a point.
            (Some(x), Some(y), None) => {
                self.active_app()?;
                return Ok(Some(Point::new(x, y)));
            }
            _ => self.target().await?,
        };
        match (x, y) {
            (Some(x), Some(y)) => {
                let corner = corner(&tree, at);
                Ok(Some(Point::new(corner.x + x, corner.y + y)))
            }
            (None, None) => Ok(tree.get(at).and_then(|element| self.touch_point(element))),
            (Some(_), None) | (None, Some(_)) => Err(WdaError::invalid_argument(
                "Both x and y coordinates must be provided",
            )),
        }
    }

    fn offset(&self, origin: Point, x: &str, y: &str) -> Point {
        let number = |name| self.arguments.number(name).unwrap_or(0.0);
        Point::new(origin.x + number(x), origin.y + number(y))
    }

    /// Touches the screen.
    pub(super) async fn touch(&self, gesture: Gesture, lasting: Duration) {
        self.act().await;
        self.spend(lasting).await;
        let what = self.describe(gesture);
        let faults = self.device().fire_faults(Event::Touch(&what));
        for fault in &faults {
            if let Fault::Delay(time) = fault {
                self.device().sleep(time.0).await;
            }
        }
        if !faults.contains(&Fault::Swallow) {
            self.world(|world, now| world.gesture(gesture, now));
        }
    }

    /// Several fingers at once: it takes its time, and nothing here answers to it.
    async fn many_fingers(&self, lasting: Duration) {
        self.act().await;
        self.spend(lasting).await;
    }

    /// A touch in the words fault rules match: `tap sign_in`, `swipe`, `pinch picture`.
    fn describe(&self, gesture: Gesture) -> String {
        let (word, at) = match gesture {
            Gesture::Tap(at) => ("tap", at),
            Gesture::LongPress(at) => ("long_press", at),
            Gesture::Swipe { .. } => return "swipe".to_owned(),
            Gesture::Pinch { at, .. } => ("pinch", at),
        };
        match name_at(&self.device().snapshot(), at) {
            Some(name) => format!("{word} {name}"),
            None => word.to_owned(),
        }
    }
}

/// The id of what lies at a point, or else what it says.
fn name_at(snapshot: &Snapshot, at: Point) -> Option<String> {
    let window = snapshot.windows.iter().rev();
    let window = window.clone().find(|window| window.bounds.contains(at))?;
    let nodes = window.nodes.iter().rev();
    nodes
        .filter(|node| node.role != NodeRole::Root && node.visible.contains(at))
        .flat_map(|node| [&node.id, &node.text, &node.desc])
        .find(|name| !name.is_empty())
        .cloned()
}

fn corner(tree: &ElementTree, at: usize) -> Point {
    let frame = tree
        .get(at)
        .map(|element| element.frame)
        .unwrap_or_default();
    Point::new(frame.x, frame.y)
}

fn centre(tree: &ElementTree, at: usize) -> Point {
    let frame = tree
        .get(at)
        .map(|element| element.frame)
        .unwrap_or_default();
    frame.centre()
}

/// Seconds a client named; what is no time is none.
fn seconds(number: Option<f64>) -> Duration {
    Duration::from_secs_f64(
        number
            .unwrap_or(0.0)
            .clamp(0.0, super::MAX_WAIT_TIME.as_secs_f64()),
    )
}
