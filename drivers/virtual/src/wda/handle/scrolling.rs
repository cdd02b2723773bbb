//! Scrolling: some way in a direction, and to an element.

use serde_json::Value;

use super::Handler;
use super::gestures::SWIPE_TIME;
use crate::geometry::Point;
use crate::wda::error::{ErrorKind, WdaError};
use crate::wda::find::find;
use crate::wda::tree::ElementTree;
use crate::world::Gesture;

impl Handler<'_> {
    pub(super) async fn scroll(&mut self) -> Result<Value, WdaError> {
        let (tree, at) = self.target().await?;
        if let Some(name) = self.arguments.text("name") {
            let named = find(&tree, at, "name", name)?;
            return self.scroll_to_last(&tree, &named, "identifier", name).await;
        }
        if let Some(direction) = self.arguments.text("direction") {
            // Words WebDriverAgent does not know do nothing.
            if let Some(direction) = Direction::named(direction) {
                let distance = self.arguments.number("distance").unwrap_or(1.0);
                self.scroll_by(&tree, at, direction, distance).await;
            }
            return Ok(Value::Null);
        }
        if let Some(predicate) = self.arguments.text("predicateString") {
            let matching = find(&tree, at, "predicate string", predicate)?;
            return self
                .scroll_to_last(&tree, &matching, "predicate", predicate)
                .await;
        }
        if self.arguments.get("toVisible").is_some() {
            return self.bring_into_view(&tree, at).await;
        }
        Err(WdaError::invalid_argument("Unsupported scroll type"))
    }

    pub(super) async fn scroll_to(&mut self) -> Result<Value, WdaError> {
        let (tree, at) = self.element().await?;
        self.bring_into_view(&tree, at).await
    }

    async fn scroll_to_last(
        &self,
        tree: &ElementTree,
        found: &[usize],
        how: &str,
        what: &str,
    ) -> Result<Value, WdaError> {
        match found.last() {
            Some(&at) => self.bring_into_view(tree, at).await,
            None => Err(WdaError::new(
                ErrorKind::NoSuchElement,
                format!("'{what}' {how} didn't match any elements"),
            )),
        }
    }

    async fn bring_into_view(&self, tree: &ElementTree, at: usize) -> Result<Value, WdaError> {
        self.act().await;
        let element = tree.get(at);
        if element.is_some_and(|element| element.flags.visible) {
            return Ok(Value::Null);
        }
        let node = element.and_then(|element| element.node);
        let scrolled = node.is_some_and(|node| {
            self.world(|world, now| world.scroll_into_view(node, now));
            let snapshot = self.device().snapshot();
            snapshot
                .find(node)
                .is_some_and(|(_, node)| node.is_visible())
        });
        if scrolled {
            Ok(Value::Null)
        } else {
            Err(WdaError::invalid_state(
                "Failed to find scrollable visible parent with 2 visible children",
            ))
        }
    }

    async fn scroll_by(&self, tree: &ElementTree, at: usize, direction: Direction, distance: f64) {
        let Some(element) = tree.get(at) else {
            return;
        };
        let (w, h) = (element.frame.w * distance, element.frame.h * distance);
        // A scroll shows what is in that direction, so the finger goes the other way.
        let (dx, dy) = direction.of(w, h);
        let Some(from) = self.touch_point(element) else {
            return;
        };
        let to = Point::new(from.x - dx, from.y - dy);
        self.touch(Gesture::Swipe { from, to }, SWIPE_TIME).await;
    }
}

/// One of the four ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
    Left,
    Right,
}

impl Direction {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "up" => Self::Up,
            "down" => Self::Down,
            "left" => Self::Left,
            "right" => Self::Right,
            _ => return None,
        })
    }

    /// A vector that way, of these lengths.
    pub(super) const fn of(self, w: f64, h: f64) -> (f64, f64) {
        match self {
            Self::Up => (0.0, -h),
            Self::Down => (0.0, h),
            Self::Left => (-w, 0.0),
            Self::Right => (w, 0.0),
        }
    }
}
