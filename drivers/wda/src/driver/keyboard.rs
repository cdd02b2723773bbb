//! The on-screen keyboard: whether it is up, and how it goes away.
//!
//! An iPhone's keyboard has no key to hide it. WebDriverAgent would tap keys it is given names
//! of and then wait three seconds, so the ways that work are tried here, the surest first: a key
//! or button that says it hides the keyboard, one that says Done, and a short drag above the
//! keyboard, at which many lists send it away. A screen whose keyboard stayed at that once is not
//! dragged again in the same session.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use packtrain_drivers::{CommandContext, NodeId, Observation, Point, Rect, Tree};
use tokio::time::Instant;

use super::{Result, WdaDriver, done, noted};
use crate::gesture::Gesture;
use crate::source::{self, ios};

/// What says that it hides the keyboard and does nothing else, in lower case.
const HIDES: &[&str] = &[
    "hide keyboard",
    "dismiss keyboard",
    "close keyboard",
    "dismiss",
    "done",
];
/// How far a drag goes, as a part of the room above the keyboard: enough to be one, too little
/// to lose one's place.
const DRAG: f64 = 0.06;
/// How long a keyboard takes to slide away.
const DISMISS_TIMEOUT: Duration = Duration::from_millis(400);

/// The keyboard on a screen.
#[derive(Debug, Clone, PartialEq)]
struct Keyboard {
    bounds: Option<Rect>,
    /// Where to tap to hide it, the surest first.
    ways: Vec<Point>,
}

/// A screen, by the app and the kinds and identifiers of its elements; what they say, where they
/// are and which keyboard is up does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeyboardScreen(u64);

impl WdaDriver {
    pub(super) async fn hide_keyboard(&mut self, ctx: &CommandContext) -> Result<Observation> {
        let tree = self.tree(ctx).await?;
        let Some(keyboard) = keyboard(&tree) else {
            return done();
        };
        for way in &keyboard.ways {
            self.touch("hide the keyboard", Gesture::tap(*way), ctx)
                .await?;
            if self.is_hidden(ctx).await? {
                return done();
            }
        }
        let screen = KeyboardScreen::of(&tree);
        if !self.state.undismissable.contains(&screen)
            && let Some(drag) = self.drag_above(&keyboard)
        {
            self.touch("hide the keyboard", drag, ctx).await?;
            if self.is_hidden(ctx).await? {
                return done();
            }
            self.state.undismissable.push(screen);
        }
        noted("the keyboard is still shown: this app offers no way to hide it")
    }

    /// Whether the keyboard goes away within the time it needs for it.
    async fn is_hidden(&mut self, ctx: &CommandContext) -> Result<bool> {
        let end = Instant::now() + ctx.remaining_up_to(DISMISS_TIMEOUT);
        if keyboard(&self.tree(ctx).await?).is_none() {
            return Ok(true);
        }
        tokio::time::sleep_until(end).await;
        Ok(keyboard(&self.tree(ctx).await?).is_none())
    }

    fn drag_above(&self, keyboard: &Keyboard) -> Option<Gesture> {
        let room = keyboard.bounds.filter(|bounds| bounds.top > 0.0)?.top;
        let x = self.screen_size().width / 2.0;
        let (from, to) = (room * (0.5 + DRAG), room * 0.5);
        let time = Duration::from_millis(200);
        Some(Gesture::swipe(Point::new(x, from), Point::new(x, to), time))
    }
}

impl KeyboardScreen {
    fn of(tree: &Tree) -> Self {
        let mut hasher = DefaultHasher::new();
        source::root(tree).0.hash(&mut hasher);
        let mut keyboard_ends = 0;
        for (id, node) in tree
            .iter()
            .filter_map(|(id, node)| Some((id, ios(&node.detail)?)))
        {
            if node.element_type.as_deref() == Some("Keyboard") {
                keyboard_ends = tree.descendants(id).end;
            }
            if id.0 >= keyboard_ends {
                (&node.element_type, &node.identifier).hash(&mut hasher);
            }
        }
        Self(hasher.finish())
    }
}

/// The keyboard of a screen, if it is up.
fn keyboard(tree: &Tree) -> Option<Keyboard> {
    let node = |id: NodeId| tree.get(id).and_then(|node| ios(&node.detail));
    let kind = |id: NodeId| node(id).and_then(|node| node.element_type.as_deref());
    let bounds = |id: NodeId| tree.get(id).and_then(|node| node.bounds);
    let ids = || tree.iter().map(|(id, _)| id);
    let board = ids()
        .filter(|&id| kind(id) == Some("Keyboard"))
        .find(|&id| bounds(id).is_none_or(|bounds| !bounds.is_empty()))?;
    let belongs = |id: NodeId| {
        tree.ancestors(id)
            .any(|above| above == board || kind(above) == Some("Toolbar"))
    };
    let rank = |id: NodeId| {
        let said = node(id)?;
        [&said.identifier, &said.name, &said.label]
            .into_iter()
            .flatten()
            .filter_map(|text| {
                let text = text.trim().to_lowercase();
                HIDES.iter().position(|hides| *hides == text)
            })
            .min()
    };
    let mut ways: Vec<(usize, Point)> = ids()
        .filter(|&id| matches!(kind(id), Some("Key" | "Button")) && belongs(id))
        .filter_map(|id| Some((rank(id)?, bounds(id)?.center())))
        .collect();
    ways.sort_by_key(|(rank, _)| *rank);
    Some(Keyboard {
        bounds: bounds(board),
        ways: ways.into_iter().map(|(_, way)| way).collect(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::source;

    fn at(kind: &str, label: &str, y: f64, children: Value) -> Value {
        json!({
            "type": kind, "label": label, "children": children,
            "rect": {"x": 0, "y": y, "width": 100, "height": 20},
        })
    }

    fn read(children: Value) -> Option<Keyboard> {
        let screen = json!({"type": "Application", "children": children});
        keyboard(&source::read(&screen.to_string()).unwrap())
    }

    #[test]
    fn keys_that_hide_the_keyboard_are_found_in_it_and_in_the_bar_above_it() {
        let found = read(json!([
            at("Button", "Done", 0.0, json!([])),
            at(
                "Toolbar",
                "",
                500.0,
                json!([at("Button", "Done", 500.0, json!([]))])
            ),
            at(
                "Keyboard",
                "",
                520.0,
                json!([
                    at("Key", "q", 520.0, json!([])),
                    at("Key", "Hide keyboard", 540.0, json!([])),
                    at("Button", "return", 560.0, json!([])),
                ])
            ),
        ]))
        .unwrap();
        assert_eq!(
            found.ways,
            [Point::new(50.0, 550.0), Point::new(50.0, 510.0)]
        );
        assert_eq!(found.bounds.map(|bounds| bounds.top), Some(520.0));
    }

    #[test]
    fn a_keyboard_of_no_size_is_none() {
        let mut flat = at("Keyboard", "", 0.0, json!([]));
        flat["rect"]["height"] = 0.into();
        assert_eq!(read(json!([flat])), None);
        assert_eq!(read(json!([])), None);
    }
}
