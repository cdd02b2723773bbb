//! The methods that touch the screen.

use std::time::Duration;

use serde_json::Value;

use crate::android::u2::Server;
use crate::android::u2::rpc::{CallError, CallResult};
use crate::geometry::Point;
use crate::world::{Gesture, NodeKey, Pointer};

/// What one step of a swipe takes.
const SWIPE_STEP_TIME: Duration = Duration::from_millis(5);
/// The most steps of a swipe.
const MAX_STEPS: u32 = 12_000;
/// The share of a list that one scroll moves.
const SHARE: f64 = 0.8;
/// Half the width of a finger in pixels.
const FINGER_HALF_WIDTH: i64 = 20;

/// A place in pixels.
type Pixels = (i64, i64);

impl Server {
    /// Does a method that touches the screen; `None` when it is another.
    pub(super) async fn touch(&self, method: &str, params: &[Value]) -> Option<CallResult> {
        Some(match (method, params) {
            ("click", [x, y, rest @ ..]) if x.is_number() && y.is_number() && rest.len() < 2 => {
                let ms = rest.first().and_then(Value::as_u64).unwrap_or(0);
                let time = Duration::from_millis(ms.min(60_000));
                self.tap(self.point(x, y), time).await
            }
            ("click", [selector, ..]) => self.tap(self.centre(selector), Duration::ZERO).await,
            ("swipe" | "drag", [x1, y1, x2, y2, steps]) => {
                self.stroke(self.point(x1, y1), self.point(x2, y2), steps_of(steps))
                    .await
            }
            ("swipe", [selector, Value::String(direction), rest @ ..]) => {
                let steps = rest.last().map_or(10, steps_of);
                self.swipe_on(selector, direction, steps).await
            }
            ("swipePoints", [Value::Array(points), steps]) => match points.as_slice() {
                [x1, y1, .., x2, y2] => {
                    let (from, to) = (self.point(x1, y1), self.point(x2, y2));
                    let strokes = u32::try_from(points.len() / 2 - 1).unwrap_or(1);
                    let steps = steps_of(steps).saturating_mul(strokes).min(MAX_STEPS);
                    self.stroke(from, to, steps).await
                }
                _ => Err(CallError::NoMethod),
            },
            ("dragTo", [selector, x, y, steps]) => {
                let (from, to) = (self.centre(selector), self.point(x, y));
                self.stroke(from, to, steps_of(steps)).await
            }
            ("dragTo", [selector, target, steps]) => {
                let (from, to) = (self.centre(selector), self.centre(target));
                self.stroke(from, to, steps_of(steps)).await
            }
            ("injectInputEvent", [action, x, y, _]) => self.inject(action, x, y).await,
            ("scrollForward" | "flingForward", [selector, ..]) => self.scroll(selector, 1.0).await,
            ("scrollBackward" | "flingBackward", [selector, ..]) => {
                self.scroll(selector, -1.0).await
            }
            ("scrollToEnd" | "flingToEnd", [selector, ..]) => self.scroll_all(selector, 1.0).await,
            ("scrollToBeginning" | "flingToBeginning", [selector, ..]) => {
                self.scroll_all(selector, -1.0).await
            }
            ("scrollTo", [selector, target, ..]) => self.scroll_to(selector, target).await,
            // The object is never looked for.
            ("gesture", [_, from @ .., end1, end2, steps]) => {
                let pixels = |at: &Value| Some((at["x"].as_i64()?, at["y"].as_i64()?));
                let all: Option<Vec<_>> = from.iter().chain([end1, end2]).map(pixels).collect();
                match all.as_deref() {
                    Some(&[start1, start2, end1, end2]) => {
                        let fingers = [(start1, end1), (start2, end2)];
                        self.two_fingers(fingers, steps_of(steps)).await
                    }
                    Some(_) | None => Err(CallError::NoMethod),
                }
            }
            ("pinchIn" | "pinchOut", [selector, percent, steps]) => {
                let share = percent.as_f64().unwrap_or(0.0) / 100.0;
                let spread = method == "pinchOut";
                let steps = steps_of(steps);
                self.pinch(selector, share, spread, steps).await
            }
            _ => return None,
        })
    }

    /// Pixels as the device is held, in dp.
    fn dp(&self, x: f64, y: f64) -> Point {
        let scale = self.android.device().screen().scale;
        Point::new(x / scale, y / scale)
    }

    fn point(&self, x: &Value, y: &Value) -> Result<Point, CallError> {
        let (x, y) = x.as_f64().zip(y.as_f64()).ok_or(CallError::NoMethod)?;
        Ok(self.dp(x, y))
    }

    /// The middle of an object.
    fn centre(&self, selector: &Value) -> Result<Point, CallError> {
        let (all, index) = self.one(selector)?;
        let (x, y) = index.of(&all).bounds.centre();
        Ok(self.dp(x as f64, y as f64))
    }

    async fn tap(&self, at: Result<Point, CallError>, time: Duration) -> CallResult {
        let at = at?;
        self.move_finger(at, at, time).await
    }

    async fn stroke(
        &self,
        from: Result<Point, CallError>,
        to: Result<Point, CallError>,
        steps: u32,
    ) -> CallResult {
        // What is wrong with the target is told first.
        let to = to?;
        self.move_finger(from?, to, SWIPE_STEP_TIME * steps).await
    }

    async fn move_finger(&self, from: Point, to: Point, time: Duration) -> CallResult {
        let device = self.android.device();
        device.sleep(time).await;
        device.touch(Gesture::of(from, to, time)).await;
        Ok(true.into())
    }

    async fn swipe_on(&self, selector: &Value, direction: &str, steps: u32) -> CallResult {
        let (all, index) = self.one(selector)?;
        let bounds = index.of(&all).bounds;
        let (x, y) = bounds.centre();
        let (to_x, to_y) = match direction {
            "up" => (x, bounds.top + 1),
            "down" => (x, bounds.bottom - 1),
            "left" => (bounds.left + 1, y),
            _ => (bounds.right - 1, y),
        };
        let from = self.dp(x as f64, y as f64);
        let to = self.dp(to_x as f64, to_y as f64);
        self.stroke(Ok(from), Ok(to), steps).await
    }

    /// Both fingers go by whole pixels a step, and leave where that leads, as
    /// `UiObject.performTwoPointerGesture` has them.
    async fn two_fingers(&self, fingers: [(Pixels, Pixels); 2], steps: u32) -> CallResult {
        let steps = steps.max(1);
        let device = self.android.device();
        let dp = |x: i64, y: i64| self.dp(x as f64, y as f64);
        let count = i64::from(steps);
        let ends = fingers.map(|(from, to)| {
            let along = |from: i64, to: i64| from + (to - from) / count * count;
            dp(along(from.0, to.0), along(from.1, to.1))
        });
        let starts = fingers.map(|((x, y), _)| dp(x, y));
        device.sleep(SWIPE_STEP_TIME * steps).await;
        if let Some(gesture) = Gesture::of_two(starts, ends) {
            device.touch(gesture).await;
        }
        Ok(true.into())
    }

    /// Two fingers side by side in an object's middle, or at a share of its width.
    async fn pinch(&self, selector: &Value, share: f64, spread: bool, steps: u32) -> CallResult {
        let refused = |text: &str| Err(CallError::Other(format!("java.lang.{text}")));
        if !(0.0..=1.0).contains(&share) {
            return refused("IllegalArgumentException: Percent must be between 0 and 100");
        }
        let (all, index) = self.one(selector)?;
        let bounds = index.of(&all).bounds;
        let width = bounds.right - bounds.left;
        if width <= 2 * FINGER_HALF_WIDTH {
            return refused("IllegalStateException: Object width is too small for operation");
        }
        let (x, y) = bounds.centre();
        let (near, far) = (FINGER_HALF_WIDTH, ((width / 2) as f64 * share) as i64);
        let (from, to) = if spread { (near, far) } else { (far, near) };
        let fingers = [-1, 1].map(|side| ((x + side * from, y), (x + side * to, y)));
        self.two_fingers(fingers, steps).await
    }

    async fn inject(&self, action: &Value, x: &Value, y: &Value) -> CallResult {
        let at = self.point(x, y)?;
        let pointers: &[Pointer] = match action.as_u64() {
            Some(0) => &[Pointer::Down(at)],
            Some(1) => &[Pointer::Move(at), Pointer::Up],
            _ => &[Pointer::Move(at)],
        };
        for pointer in pointers {
            self.android.device().pointer(*pointer).await;
        }
        Ok(true.into())
    }

    /// The view a scrolling method means: the one named, or what scrolls inside of it.
    fn scroller(&self, selector: &Value) -> Result<(NodeKey, f64), CallError> {
        let (all, index) = self.one(selector)?;
        let inside = all[index.tree].below(index.view);
        let found = inside
            .into_iter()
            .find(|at| all[index.tree].0[*at].scrolled.is_some());
        let view = &all[index.tree].0[found.unwrap_or(index.view)];
        let scale = self.android.device().screen().scale;
        Ok((
            view.key,
            (view.bounds.bottom - view.bounds.top) as f64 / scale,
        ))
    }

    async fn scroll(&self, selector: &Value, direction: f64) -> CallResult {
        let (key, height) = self.scroller(selector)?;
        let by = direction * height * SHARE;
        let device = self.android.device();
        Ok(device.world(|world| world.scroll_by(key, by)).into())
    }

    async fn scroll_all(&self, selector: &Value, direction: f64) -> CallResult {
        let (key, _) = self.scroller(selector)?;
        let device = self.android.device();
        device.world(|world| world.scroll_by(key, direction * 1e9));
        Ok(true.into())
    }

    async fn scroll_to(&self, selector: &Value, target: &Value) -> CallResult {
        let (key, height) = self.scroller(selector)?;
        let device = self.android.device();
        let there = || self.find(target).is_ok_and(|(_, found)| !found.is_empty());
        if there() {
            return Ok(true.into());
        }
        device.world(|world| world.scroll_by(key, -1e9));
        while !there() {
            if !device.world(|world| world.scroll_by(key, height * SHARE)) {
                return Ok(false.into());
            }
        }
        Ok(true.into())
    }
}

fn steps_of(value: &Value) -> u32 {
    let steps = value
        .as_f64()
        .unwrap_or(0.0)
        .clamp(0.0, f64::from(MAX_STEPS));
    steps as u32
}
