//! Movements of one finger, in the words of W3C actions.
//!
//! Wire: `FBW3CActionsSynthesizer.m` of <https://github.com/appium/WebDriverAgent>: it makes one
//! event of the whole, which takes exactly its time and waits for nothing.

use std::time::Duration;

use packtrain_drivers::Point;
use serde_json::{Value, json};

/// How long a finger rests on the glass in a tap. Shorter ones some apps take for none.
const TAP_TIME: Duration = Duration::from_millis(60);
/// How long it rests before it drags something: longer than iOS takes to lift it.
const LIFT_TIME: Duration = Duration::from_millis(700);
/// How long it rests before it drops something, lest it be thrown.
const DROP_TIME: Duration = Duration::from_millis(200);

/// A movement and how long it takes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gesture {
    steps: Vec<Value>,
    pub(crate) lasts: Duration,
}

impl Gesture {
    /// A finger comes down at a point.
    fn at(point: Point) -> Self {
        let mut gesture = Self {
            steps: Vec::new(),
            lasts: Duration::ZERO,
        };
        gesture.move_to(point, Duration::ZERO);
        gesture
            .steps
            .push(json!({"type": "pointerDown", "button": 0}));
        gesture
    }

    pub(crate) fn tap(at: Point) -> Self {
        Self::hold(at, TAP_TIME)
    }

    pub(crate) fn hold(at: Point, time: Duration) -> Self {
        Self::at(at).rest(time).up()
    }

    pub(crate) fn swipe(from: Point, to: Point, time: Duration) -> Self {
        let mut gesture = Self::at(from);
        gesture.move_to(to, time);
        gesture.up()
    }

    pub(crate) fn drag(from: Point, to: Point, time: Duration) -> Self {
        let mut gesture = Self::at(from).rest(LIFT_TIME);
        gesture.move_to(to, time);
        gesture.rest(DROP_TIME).up()
    }

    fn move_to(&mut self, to: Point, time: Duration) {
        self.steps.push(json!({
            "type": "pointerMove",
            "duration": millis(time),
            "x": to.x,
            "y": to.y,
        }));
        self.lasts += time;
    }

    fn rest(mut self, time: Duration) -> Self {
        self.steps
            .push(json!({"type": "pause", "duration": millis(time)}));
        self.lasts += time;
        self
    }

    fn up(mut self) -> Self {
        self.steps.push(json!({"type": "pointerUp", "button": 0}));
        self
    }

    /// The body of `/actions`.
    pub(crate) fn into_body(self) -> Value {
        json!({"actions": [{
            "type": "pointer",
            "id": "finger",
            "parameters": {"pointerType": "touch"},
            "actions": self.steps,
        }]})
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
