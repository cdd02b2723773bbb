//! Movements of one finger or two, in the words of W3C actions.
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

/// Movements of fingers that touch the glass at the same time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gesture {
    fingers: Vec<Finger>,
}

/// A movement of one finger and how long it takes.
#[derive(Debug, Clone, PartialEq)]
struct Finger {
    steps: Vec<Value>,
    lasts: Duration,
}

impl Gesture {
    pub(crate) fn tap(at: Point) -> Self {
        Self::hold(at, TAP_TIME)
    }

    pub(crate) fn hold(at: Point, time: Duration) -> Self {
        Finger::at(at).rest(time).up().into()
    }

    pub(crate) fn swipe(from: Point, to: Point, time: Duration) -> Self {
        Finger::at(from).move_to(to, time).up().into()
    }

    pub(crate) fn drag(from: Point, to: Point, time: Duration) -> Self {
        let lifted = Finger::at(from).rest(LIFT_TIME).move_to(to, time);
        lifted.rest(DROP_TIME).up().into()
    }

    pub(crate) fn pinch(from: [Point; 2], to: [Point; 2], time: Duration) -> Self {
        let fingers = from.into_iter().zip(to);
        Self {
            fingers: fingers
                .map(|(from, to)| Finger::at(from).move_to(to, time).up())
                .collect(),
        }
    }

    /// How long it takes.
    pub(crate) fn lasts(&self) -> Duration {
        let each = self.fingers.iter().map(|finger| finger.lasts);
        each.max().unwrap_or_default()
    }

    /// The body of `/actions`.
    pub(crate) fn into_body(self) -> Value {
        let pointers = self.fingers.into_iter().enumerate();
        let pointers = pointers.map(|(number, finger)| {
            json!({
                "type": "pointer",
                "id": format!("finger{number}"),
                "parameters": {"pointerType": "touch"},
                "actions": finger.steps,
            })
        });
        json!({"actions": pointers.collect::<Vec<_>>()})
    }
}

impl From<Finger> for Gesture {
    fn from(finger: Finger) -> Self {
        Self {
            fingers: vec![finger],
        }
    }
}

impl Finger {
    /// It comes down at a point.
    fn at(point: Point) -> Self {
        let finger = Self {
            steps: Vec::new(),
            lasts: Duration::ZERO,
        };
        finger
            .move_to(point, Duration::ZERO)
            .then(json!({"type": "pointerDown", "button": 0}))
    }

    fn move_to(mut self, to: Point, time: Duration) -> Self {
        self.lasts += time;
        self.then(json!({
            "type": "pointerMove",
            "duration": millis(time),
            "x": to.x,
            "y": to.y,
        }))
    }

    fn rest(mut self, time: Duration) -> Self {
        self.lasts += time;
        self.then(json!({"type": "pause", "duration": millis(time)}))
    }

    fn up(self) -> Self {
        self.then(json!({"type": "pointerUp", "button": 0}))
    }

    fn then(mut self, step: Value) -> Self {
        self.steps.push(step);
        self
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
