//! Touches by coordinates or element: taps, holds, swipes, and scrolling.

use std::time::Duration;

use super::{Done, Handler};
use crate::geometry::{Point, Rect};
use crate::wda::error::{ErrorKind, WdaError};
use crate::wda::find::find;
use crate::wda::tree::ElementTree;
use crate::world::Gesture;

/// How long a finger rests on the glass in a tap.
const TAP_TIME: Duration = Duration::from_millis(50);
/// How long XCTest's own swipe takes.
const SWIPE_TIME: Duration = Duration::from_millis(350);
/// How far XCTest's own swipe goes to either side of its middle, as a part of the element.
const SWIPE_PART: f64 = 0.25;

impl Handler<'_> {
    pub(super) async fn click(&mut self) -> Done {
        let (tree, at) = self.element().await?;
        self.tap_element(&tree, at).await;
        Ok(())
    }

    pub(super) async fn tap_element(&self, tree: &ElementTree, at: usize) {
        if let Some(point) = self.touch_point(tree, at) {
            self.touch(Gesture::Tap(point), TAP_TIME).await;
        }
    }

    pub(super) async fn tap(&mut self, times: u32) -> Done {
        if let Some(point) = self.point().await? {
            for _ in 0..times {
                self.touch(Gesture::Tap(point), TAP_TIME).await;
            }
        }
        Ok(())
    }

    pub(super) async fn tap_with_number_of_taps(&mut self) -> Done {
        let number = |name| self.arguments.number(name);
        match (number("numberOfTaps"), number("numberOfTouches")) {
            (Some(_), Some(touches)) if touches > 1.0 => self.many_fingers().await,
            (Some(taps), Some(_)) => self.tap(taps.clamp(0.0, 20.0) as u32).await,
            _ => Err(WdaError::invalid_argument(
                "Both 'numberOfTaps' and 'numberOfTouches' arguments must be provided",
            )),
        }
    }

    /// Several fingers at once: it takes its time, and no app here answers to it.
    pub(super) async fn many_fingers(&mut self) -> Done {
        self.target().await?;
        self.act().await;
        self.spend(SWIPE_TIME).await;
        Ok(())
    }

    pub(super) async fn touch_and_hold(&mut self) -> Done {
        let hold = self.seconds("duration");
        if let Some(point) = self.point().await? {
            self.touch(Gesture::of(point, point, hold), hold).await;
        }
        Ok(())
    }

    pub(super) async fn pinch(&mut self) -> Done {
        let at = self.target_frame().await?.centre();
        let scale = self.arguments.number("scale").unwrap_or(0.0);
        self.touch(Gesture::Pinch { at, scale }, SWIPE_TIME).await;
        Ok(())
    }

    pub(super) async fn drag(&mut self) -> Done {
        let frame = self.target_frame().await?;
        let number = |name| self.arguments.number(name).unwrap_or(0.0);
        let offset = |x, y| Point::new(frame.x + number(x), frame.y + number(y));
        let (mut from, mut to) = (offset("fromX", "fromY"), offset("toX", "toY"));
        let pressed = ["duration", "pressDuration", "holdDuration"];
        let pressed: Duration = pressed.map(|name| self.seconds(name)).iter().sum();
        if self.found.command == "press_and_drag" && self.found.uuid.is_some() {
            let there = self
                .arguments
                .text("toElement")
                .unwrap_or_default()
                .to_owned();
            let (tree, at) = self.element_of(&there).await?;
            (from, to) = (frame.centre(), tree.frame(at).centre());
        }
        let swipe = Gesture::Swipe { from, to };
        self.touch(swipe, pressed + SWIPE_TIME).await;
        Ok(())
    }

    pub(super) async fn swipe(&mut self) -> Done {
        let Some(direction) = self.arguments.text("direction") else {
            return Err(WdaError::invalid_argument("Missing 'direction' parameter"));
        };
        // A finger moves against what it shows: up shows what is further down.
        let Some((x, y)) = direction_of(&direction.to_lowercase()) else {
            return Err(WdaError::invalid_argument(format!(
                "Unsupported swipe direction '{direction}'. Only the following directions are supported: (up, down, left, right)"
            )));
        };
        let from_point = ["x", "y"]
            .iter()
            .any(|name| self.arguments.get(name).is_some());
        let (middle, w, h) = if from_point {
            let (w, h) = self.world(|world| (world.width(), world.height()));
            (self.point().await?, w, h)
        } else {
            let (tree, at) = self.target().await?;
            let frame = tree.frame(at);
            (self.touch_point(&tree, at), frame.w, frame.h)
        };
        if let Some(middle) = middle {
            let (dx, dy) = (x * w * SWIPE_PART, y * h * SWIPE_PART);
            let from = Point::new(middle.x - dx, middle.y - dy);
            let to = Point::new(middle.x + dx, middle.y + dy);
            self.touch(Gesture::Swipe { from, to }, SWIPE_TIME).await;
        }
        Ok(())
    }

    pub(super) async fn scroll(&mut self) -> Done {
        let (tree, at) = self.target().await?;
        for (argument, using, what) in [
            ("name", "name", "identifier"),
            ("predicateString", "predicate string", "predicate"),
        ] {
            let Some(wanted) = self.arguments.text(argument) else {
                continue;
            };
            let Some(&last) = find(&tree, at, using, wanted)?.last() else {
                let message = format!("'{wanted}' {what} didn't match any elements");
                return Err(WdaError::new(ErrorKind::NO_SUCH_ELEMENT, message));
            };
            return self.bring_into_view(&tree, last).await;
        }
        if let Some(direction) = self.arguments.text("direction") {
            let distance = self.arguments.number("distance").unwrap_or(1.0);
            let frame = tree.frame(at);
            // A scroll shows what is in that direction, so the finger goes the other way. Words
            // WebDriverAgent does not know do nothing.
            if let Some((x, y)) = direction_of(direction)
                && let Some(from) = self.touch_point(&tree, at)
            {
                let (dx, dy) = (x * frame.w * distance, y * frame.h * distance);
                let to = Point::new(from.x - dx, from.y - dy);
                self.touch(Gesture::Swipe { from, to }, SWIPE_TIME).await;
            }
            return Ok(());
        }
        if self.arguments.get("toVisible").is_some() {
            return self.bring_into_view(&tree, at).await;
        }
        Err(WdaError::invalid_argument("Unsupported scroll type"))
    }

    pub(super) async fn scroll_to(&mut self) -> Done {
        let (tree, at) = self.element().await?;
        self.bring_into_view(&tree, at).await
    }

    async fn bring_into_view(&self, tree: &ElementTree, at: usize) -> Done {
        self.act().await;
        let element = tree.get(at);
        let shown = element.is_some_and(|element| element.flags.visible);
        let scrolled = || {
            let node = element.and_then(|element| element.node)?;
            self.world(|world| world.scroll_into_view(node));
            let snapshot = self.device().snapshot();
            snapshot.find(node).map(|(_, node)| node.is_visible())
        };
        if shown || scrolled() == Some(true) {
            return Ok(());
        }
        Err(WdaError::invalid_state(
            "Failed to find scrollable visible parent with 2 visible children",
        ))
    }

    /// Where `x` and `y` point, from the corner of the target. Without them where it can be
    /// touched, if anywhere.
    async fn point(&mut self) -> Result<Option<Point>, WdaError> {
        let number = |name| self.arguments.number(name);
        match (number("x"), number("y")) {
            // Nobody looks at the tree to touch the app at a point.
            (Some(x), Some(y)) if self.found.uuid.is_none() => {
                self.active_app()?;
                Ok(Some(Point::new(x, y)))
            }
            (Some(x), Some(y)) => {
                let corner = self.target_frame().await?;
                Ok(Some(Point::new(corner.x + x, corner.y + y)))
            }
            (None, None) => {
                let (tree, at) = self.target().await?;
                Ok(self.touch_point(&tree, at))
            }
            (Some(_), None) | (None, Some(_)) => Err(WdaError::invalid_argument(
                "Both x and y coordinates must be provided",
            )),
        }
    }

    async fn target_frame(&mut self) -> Result<Rect, WdaError> {
        let (tree, at) = self.target().await?;
        Ok(tree.frame(at))
    }

    /// Touches the screen.
    pub(super) async fn touch(&self, gesture: Gesture, lasting: Duration) {
        self.act().await;
        self.spend(lasting).await;
        self.device().touch(gesture).await;
    }

    /// Seconds a client named; what is no time is none.
    fn seconds(&self, name: &str) -> Duration {
        let seconds = self.arguments.number(name).unwrap_or(0.0);
        Duration::from_secs_f64(seconds.clamp(0.0, super::MAX_WAIT_TIME.as_secs_f64()))
    }
}

/// One of the four ways, as a vector.
fn direction_of(name: &str) -> Option<(f64, f64)> {
    Some(match name {
        "up" => (0.0, -1.0),
        "down" => (0.0, 1.0),
        "left" => (-1.0, 0.0),
        "right" => (1.0, 0.0),
        _ => return None,
    })
}
