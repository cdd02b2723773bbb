//! What a touch does.

use crate::app::{AppId, Role, Rules, Value};
use crate::geometry::Point;
use crate::shape::Platform;
use crate::world::effects::OwnedRow;
use crate::world::finger::{Gesture, Pointer};
use crate::world::keyboard::Cap;
use crate::world::layout::{Target, WindowLayout};
use crate::world::snapshot::{Node, NodeKey, WindowKind};
use crate::world::{Display, World};

/// A touch that begins this close to an edge is for the system.
const EDGE: f64 = 16.0;

/// What a touch met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TouchOutcome {
    /// A node that does something.
    Node(NodeKey),
    /// Nothing that does something.
    Nothing,
}

/// A hit, freed from the layout it was found in.
struct Hit {
    key: NodeKey,
    act: Act,
}

enum Act {
    Back,
    Answer(usize),
    Cap(Cap),
    Icon(AppId),
    Element(Box<TouchedElement>),
}

struct TouchedElement {
    role: Role,
    bind: Option<String>,
    tap: Rules,
    long_press: Rules,
    change: Rules,
    row: Option<OwnedRow>,
}

impl World {
    /// Follows one movement of a finger; what it touched when the movement ended a gesture.
    pub fn pointer(&mut self, movement: Pointer) -> Option<TouchOutcome> {
        let gesture = self.finger.follow(movement, self.now)?;
        Some(self.gesture(gesture))
    }

    /// Touches the screen; points are dp or pt as the device is held.
    pub fn gesture(&mut self, gesture: Gesture) -> TouchOutcome {
        if self.display == Display::Off {
            return TouchOutcome::Nothing;
        }
        match gesture {
            Gesture::Tap(at) => self.touch(at, false),
            Gesture::LongPress(at) => self.touch(at, true),
            Gesture::Swipe { from, to } => self.swipe(from, to),
            Gesture::Pinch { at, scale } => self.pinch(at, scale),
        }
    }

    fn touch(&mut self, at: Point, long: bool) -> TouchOutcome {
        let hit = match self.find_hit(at, long) {
            HitTest::Hit(hit) => hit,
            HitTest::OutsideDialog => {
                self.cancel_dialog();
                return TouchOutcome::Nothing;
            }
            HitTest::Nothing => return TouchOutcome::Nothing,
        };
        match (hit.act, self.front.clone()) {
            (Act::Answer(index), _) => {
                self.answer(index);
            }
            (Act::Icon(app), None) => {
                // An icon is there only for what is installed.
                let _ = self.launch(&app);
            }
            (_, None) | (Act::Icon(_), Some(_)) => {}
            (Act::Back, Some(app)) => self.go_back(&app),
            (Act::Cap(cap), Some(_)) => self.press_cap(cap),
            (Act::Element(element), Some(app)) => {
                let row = element.row.as_ref();
                if element.role.is_input() {
                    self.focus(&app, hit.key);
                }
                if long {
                    self.carry_out(&app, &element.long_press, row);
                } else {
                    if element.role.is_toggle() {
                        self.flip(&app, element.bind.as_deref(), &element.change, row);
                    }
                    self.carry_out(&app, &element.tap, row);
                }
            }
        }
        TouchOutcome::Node(hit.key)
    }

    fn flip(&mut self, app: &AppId, bind: Option<&str>, change: &Rules, row: Option<&OwnedRow>) {
        let Some(run) = self.running.get_mut(app) else {
            return;
        };
        if let Some(name) = bind {
            let on = run.variable(name).is_some_and(Value::is_truthy);
            run.assign(name, Value::Bool(!on));
        }
        self.changed();
        self.carry_out(app, change, row);
    }

    pub(super) fn focus(&mut self, app: &AppId, key: NodeKey) {
        let Some(run) = self.running.get_mut(app) else {
            return;
        };
        if run.focus == Some(key) && !run.keyboard_hidden {
            return;
        }
        run.leave_field();
        run.focus = Some(key);
        self.moved();
        self.bring_into_view(key);
    }

    fn press_cap(&mut self, cap: Cap) {
        match cap {
            Cap::Types(c) => {
                self.type_text(&c.to_string());
            }
            Cap::Presses(key) => self.key(key),
            Cap::Hides => {
                self.hide_keyboard();
            }
        }
    }

    fn find_hit(&self, at: Point, long: bool) -> HitTest {
        for window_layout in self.lay_out().iter().rev() {
            let inside = window_layout.window.bounds.contains(at);
            match window_layout.window.kind {
                WindowKind::Keyboard if !inside => {}
                WindowKind::Dialog | WindowKind::SystemDialog if !inside => {
                    return HitTest::OutsideDialog;
                }
                WindowKind::Starting => return HitTest::Nothing,
                _ => return hit_in(window_layout, at, long).map_or(HitTest::Nothing, HitTest::Hit),
            }
        }
        HitTest::Nothing
    }

    fn swipe(&mut self, from: Point, to: Point) -> TouchOutcome {
        let (width, height) = (self.width(), self.height());
        let no_dialog = self.top_dialog().is_none();
        if self.shape.platform == Platform::Ios && no_dialog {
            if from.y > height - EDGE && from.y - to.y > height * 0.2 {
                self.go_home();
                return TouchOutcome::Nothing;
            }
            let deep = self.front_run().is_some_and(|run| run.screens.len() > 1);
            if from.x < EDGE
                && to.x - from.x > width * 0.3
                && deep
                && let Some(app) = self.front.clone()
            {
                self.go_back(&app);
                return TouchOutcome::Nothing;
            }
        }
        self.scroll_at(from, from.y - to.y)
    }
}

/// What a point aims at.
enum HitTest {
    Hit(Hit),
    /// Outside of a dialog that must be answered first.
    OutsideDialog,
    Nothing,
}

/// The deepest node at that point which does something.
fn hit_in(window_layout: &WindowLayout<'_>, at: Point, long: bool) -> Option<Hit> {
    let nodes = window_layout
        .window
        .nodes
        .iter()
        .zip(&window_layout.targets);
    let at_point = |(node, target): &(&Node, &Target<'_>)| {
        node.visible.contains(at) && acts(node, target, long)
    };
    let (node, target) = nodes.rev().find(at_point)?;
    // What is disabled still keeps the touch from what lies below it.
    if !node.flags.enabled {
        return None;
    }
    let act = match target {
        Target::Nothing => return None,
        Target::Back => Act::Back,
        Target::Answer(index) => Act::Answer(*index),
        Target::Cap(cap) => Act::Cap(*cap),
        Target::Icon(app) => Act::Icon(app.clone()),
        Target::Element(element, row) => Act::Element(Box::new(TouchedElement {
            role: element.role,
            bind: element.bind.as_ref().map(|b| b.value.clone()),
            tap: element.tap.clone(),
            long_press: element.long_press.clone(),
            change: element.change.clone(),
            row: row.map(OwnedRow::from),
        })),
    };
    Some(Hit { key: node.key, act })
}

fn acts(node: &Node, target: &Target<'_>, long: bool) -> bool {
    match target {
        Target::Nothing => false,
        Target::Back | Target::Answer(_) | Target::Cap(_) | Target::Icon(_) => true,
        Target::Element(..) => node.flags.clickable || (long && node.flags.long_clickable),
    }
}
