//! What a touch does.

use crate::app::{AppId, Element, Value};
use crate::geometry::Point;
use crate::shape::Platform;
use crate::world::finger::{Gesture, Pointer};
use crate::world::keyboard::Cap;
use crate::world::layout::Target;
use crate::world::running::Row;
use crate::world::snapshot::{NodeKey, WindowKind};
use crate::world::{Display, World};

/// A touch that begins this close to an edge is for the system.
const EDGE: f64 = 16.0;

impl World {
    /// Follows one movement of a finger.
    pub fn pointer(&mut self, movement: Pointer) {
        if let Some(gesture) = self.finger.follow(movement, self.now) {
            self.gesture(gesture);
        }
    }

    /// Touches the screen; points are dp or pt as the device is held.
    pub fn gesture(&mut self, gesture: Gesture) {
        if self.display == Display::Off {
            return;
        }
        match gesture {
            Gesture::Tap(at) => self.touch(at, false),
            Gesture::LongPress(at) => self.touch(at, true),
            Gesture::Swipe { from, to } => self.swipe(from, to),
            Gesture::Pinch { at, scale } => self.pinch(at, scale),
        }
    }

    fn touch(&mut self, at: Point, long: bool) {
        let Some((key, target)) = self.hit(at, long) else {
            return;
        };
        match (target, self.front.clone()) {
            (Target::Answer(index), _) => {
                self.answer(index);
            }
            (Target::Icon(app), None) => {
                // An icon is there only for what is installed.
                let _ = self.launch(&app);
            }
            (_, None) | (Target::Nothing | Target::Icon(_), Some(_)) => {}
            (Target::Back, Some(app)) => self.go_back(&app),
            (Target::Cap(cap), Some(_)) => self.press_cap(cap),
            (Target::Element(element, row), Some(app)) => {
                let row = row.as_ref();
                if element.role.is_input() {
                    self.focus(&app, key);
                }
                if long {
                    self.carry_out(&app, &element.long_press, row);
                } else {
                    if element.role.is_toggle() {
                        self.flip(&app, &element, row);
                    }
                    self.carry_out(&app, &element.tap, row);
                }
            }
        }
    }

    fn flip(&mut self, app: &AppId, element: &Element, row: Option<&Row>) {
        if let (Some(run), Some(name)) = (self.running.get_mut(app), &element.bind) {
            let on = run.variable(&name.value).is_some_and(Value::is_truthy);
            run.assign(&name.value, Value::Bool(!on));
        }
        self.changed();
        self.carry_out(app, &element.change, row);
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
        self.scroll_into_view(key);
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

    /// The deepest node at that point which does something, of the window that the point is in.
    /// A point outside of a dialog closes the dialog, if that can be.
    fn hit(&mut self, at: Point, long: bool) -> Option<(NodeKey, Target)> {
        let layout = self.window_at(at)?;
        let is_dialog = matches!(
            layout.window.kind,
            WindowKind::Dialog | WindowKind::SystemDialog
        );
        if is_dialog && !layout.window.bounds.contains(at) {
            self.cancel_dialog();
            return None;
        }
        let nodes = layout.window.nodes.iter().zip(layout.targets);
        let (node, target) = nodes.rev().find(|(node, target)| {
            node.visible.contains(at)
                && match target {
                    Target::Nothing => false,
                    Target::Element(..) => {
                        node.flags.clickable || (long && node.flags.long_clickable)
                    }
                    _ => true,
                }
        })?;
        // What is disabled still keeps the touch from what lies below it.
        node.flags.enabled.then_some((node.key, target))
    }

    fn swipe(&mut self, from: Point, to: Point) {
        let (width, height) = (self.width(), self.height());
        let no_dialog = self.top_dialog().is_none();
        if self.shape.platform == Platform::Ios && no_dialog {
            if from.y > height - EDGE && from.y - to.y > height * 0.2 {
                self.home();
                return;
            }
            let deep = self.front_run().is_some_and(|run| run.screens.len() > 1);
            if from.x < EDGE
                && to.x - from.x > width * 0.3
                && deep
                && let Some(app) = self.front.clone()
            {
                self.go_back(&app);
                return;
            }
        }
        self.scroll_at(from, from.y - to.y)
    }
}
