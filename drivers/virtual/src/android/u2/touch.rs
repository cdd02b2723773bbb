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
/// A press that long is a long one.
const LONG_PRESS_TIME: Duration = Duration::from_millis(600);
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
            ("click", [x, y]) if x.is_number() && y.is_number() => self.tap(x, y, None).await,
            ("click", [x, y, ms]) if x.is_number() && y.is_number() => {
                let ms = ms.as_u64().unwrap_or(0).min(60_000);
                self.tap(x, y, Some(Duration::from_millis(ms))).await
            }
            ("click", [selector, ..]) => self.tap_on(selector, None).await,
            ("longClick", [selector, ..]) => self.tap_on(selector, Some(LONG_PRESS_TIME)).await,
            ("swipe" | "drag", [x1, y1, x2, y2, steps]) => {
                match (self.point(x1, y1), self.point(x2, y2)) {
                    (Some(from), Some(to)) => {
                        self.stroke(from, to, steps_of(steps)).await;
                        Ok(true.into())
                    }
                    _ => Err(CallError::NoMethod),
                }
            }
            ("swipe", [selector, Value::String(direction), rest @ ..]) => {
                let steps = rest.last().map_or(10, steps_of);
                self.swipe_on(selector, direction, steps).await
            }
            ("swipePoints", [Value::Array(points), steps]) => {
                self.swipe_points(points, steps_of(steps)).await
            }
            ("dragTo", [selector, x, y, steps]) => {
                let to = self.point(x, y);
                self.drag_to(selector, to, steps_of(steps)).await
            }
            ("dragTo", [selector, target, steps]) => {
                let to = match self.one(target) {
                    Ok((all, index)) => {
                        let (x, y) = index.of(&all).bounds.centre();
                        self.point(&x.into(), &y.into())
                    }
                    Err(error) => return Some(Err(error)),
                };
                self.drag_to(selector, to, steps_of(steps)).await
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
    fn point(&self, x: &Value, y: &Value) -> Option<Point> {
        let scale = self.android.device().screen().scale;
        Some(Point::new(x.as_f64()? / scale, y.as_f64()? / scale))
    }

    async fn tap(&self, x: &Value, y: &Value, press: Option<Duration>) -> CallResult {
        let at = self.point(x, y).ok_or(CallError::NoMethod)?;
        let device = self.android.device();
        let time = press.unwrap_or_default();
        device.sleep(time).await;
        device.touch(Gesture::of(at, at, time)).await;
        Ok(true.into())
    }

    async fn tap_on(&self, selector: &Value, press: Option<Duration>) -> CallResult {
        let (all, index) = self.one(selector)?;
        let (x, y) = index.of(&all).bounds.centre();
        self.tap(&x.into(), &y.into(), press).await
    }

    async fn stroke(&self, from: Point, to: Point, steps: u32) {
        let device = self.android.device();
        let time = SWIPE_STEP_TIME * steps;
        device.sleep(time).await;
        device.touch(Gesture::of(from, to, time)).await;
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
        let (from, to) = (
            self.point(&x.into(), &y.into()),
            self.point(&to_x.into(), &to_y.into()),
        );
        if let (Some(from), Some(to)) = (from, to) {
            self.stroke(from, to, steps).await;
        }
        Ok(true.into())
    }

    async fn swipe_points(&self, points: &[Value], steps: u32) -> CallResult {
        let points: Option<Vec<Point>> = points
            .chunks_exact(2)
            .map(|pair| self.point(&pair[0], &pair[1]))
            .collect();
        let points = points.ok_or(CallError::NoMethod)?;
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return Err(CallError::NoMethod);
        };
        let segments = u32::try_from(points.len() - 1).unwrap_or(1);
        self.stroke(*first, *last, steps.saturating_mul(segments).min(MAX_STEPS))
            .await;
        Ok(true.into())
    }

    async fn drag_to(&self, selector: &Value, to: Option<Point>, steps: u32) -> CallResult {
        let (all, index) = self.one(selector)?;
        let (x, y) = index.of(&all).bounds.centre();
        if let (Some(from), Some(to)) = (self.point(&x.into(), &y.into()), to) {
            self.stroke(from, to, steps).await;
        }
        Ok(true.into())
    }

    /// Both fingers go by whole pixels a step, and leave where that leads, as
    /// `UiObject.performTwoPointerGesture` has them.
    async fn two_fingers(&self, fingers: [(Pixels, Pixels); 2], steps: u32) -> CallResult {
        let steps = steps.max(1);
        let device = self.android.device();
        let dp = |x: i64, y: i64| {
            let scale = device.screen().scale;
            Point::new(x as f64 / scale, y as f64 / scale)
        };
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
        let at = self.point(x, y).ok_or(CallError::NoMethod)?;
        let device = self.android.device();
        match action.as_u64() {
            Some(0) => {
                device.pointer(Pointer::Down(at)).await;
            }
            Some(1) => {
                device.pointer(Pointer::Move(at)).await;
                device.pointer(Pointer::Up).await;
            }
            _ => {
                device.pointer(Pointer::Move(at)).await;
            }
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
        loop {
            if there() {
                return Ok(true.into());
            }
            let moved = device.world(|world| world.scroll_by(key, height * SHARE));
            if !moved {
                return Ok(false.into());
            }
        }
    }
}

fn steps_of(value: &Value) -> u32 {
    let steps = value
        .as_f64()
        .unwrap_or(0.0)
        .clamp(0.0, f64::from(MAX_STEPS));
    steps as u32
}
