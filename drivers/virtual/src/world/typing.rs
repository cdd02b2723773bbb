//! Text and keys.

use std::sync::Arc;

use crate::app::{AppId, Element, Value};
use crate::shape::Platform;
use crate::world::layout::Target;
use crate::world::running::Row;
use crate::world::snapshot::{NodeKey, WindowKind};
use crate::world::{Display, World};

/// The longest text a field takes, in characters.
const MAX_TEXT: usize = 4096;

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
pub enum Key {
    /// Confirms a field.
    Enter,
    /// Deletes the character before.
    Backspace,
    /// Deletes the character after; the caret is always at the end, so nothing.
    Delete,
    /// To the next field.
    Tab,
    /// As [`Key::Back`] for the keyboard and dialogs.
    Escape,
    /// Marks all text of the field.
    SelectAll,
    /// Copies the field's text.
    Copy,
    /// Copies and empties it.
    Cut,
    /// Types what was copied.
    Paste,
    /// To the home screen.
    Home,
    /// Android: back.
    Back,
    /// Lights the screen or darkens it.
    Power,
    /// Lights it.
    Wake,
    /// Darkens it.
    Sleep,
    /// Any other, which does nothing here: volume, camera, an arrow.
    Other,
}

/// A field of the app in front.
struct Field {
    app: AppId,
    key: NodeKey,
    element: Arc<Element>,
    row: Option<Row>,
}

impl World {
    /// Whether the keyboard is up.
    pub fn keyboard_shown(&self) -> bool {
        if self.keyboard_forced {
            return true;
        }
        self.front_run().is_some_and(|run| {
            run.focus.is_some() && !run.keyboard_hidden && run.ready_at <= self.now
        }) && self.display == Display::On
    }

    /// Sends the keyboard away; false when it was not up.
    pub fn hide_keyboard(&mut self) -> bool {
        if !self.keyboard_shown() {
            return false;
        }
        self.keyboard_forced = false;
        let leaves = self.shape.platform == Platform::Ios;
        if let Some(run) = self.front_run_mut() {
            // iOS takes the focus away with the keyboard, Android leaves it.
            if leaves {
                run.leave_field();
            }
            run.keyboard_hidden = true;
        }
        self.moved();
        true
    }

    /// The keyboard comes up although nobody asked for it.
    pub fn force_keyboard(&mut self) {
        self.keyboard_forced = true;
        self.moved();
    }

    /// Types into the field with the focus; false when there is none.
    pub fn type_text(&mut self, text: &str) -> bool {
        let Some(field) = self.field() else {
            return false;
        };
        let mut lines = text.split('\n');
        let first = lines.next().unwrap_or("");
        self.edit(&field, |old, replace| {
            if replace {
                first.to_owned()
            } else {
                old + first
            }
        });
        for line in lines {
            self.key(Key::Enter);
            self.type_text(line);
        }
        true
    }

    /// Gives the field with that key a new text, as an accessibility action does: without
    /// touching the focus. False when it is no field.
    pub fn set_text(&mut self, key: NodeKey, text: &str) -> bool {
        let Some(field) = self.field_with(|k| k == key) else {
            return false;
        };
        self.edit(&field, |_, _| text.to_owned());
        true
    }

    /// Presses a key.
    pub fn key(&mut self, key: Key) {
        match key {
            Key::Home => self.home(),
            Key::Back => self.back(),
            Key::Power => {
                let other = match self.display {
                    Display::On => Display::Off,
                    Display::Off => Display::On,
                };
                self.set_display(other);
            }
            Key::Wake => self.set_display(Display::On),
            Key::Sleep => self.set_display(Display::Off),
            Key::Escape => {
                if !self.cancel_dialog() {
                    self.hide_keyboard();
                }
            }
            Key::Enter
            | Key::Tab
            | Key::Backspace
            | Key::SelectAll
            | Key::Copy
            | Key::Cut
            | Key::Paste => {
                if let Some(field) = self.field() {
                    self.key_in_field(key, &field);
                }
            }
            Key::Delete | Key::Other => {}
        }
    }

    fn key_in_field(&mut self, key: Key, field: &Field) {
        match key {
            Key::Enter if !field.element.submit.is_empty() => {
                self.hide_keyboard();
                self.carry_out(&field.app, &field.element.submit, field.row.as_ref());
            }
            Key::Enter | Key::Tab => self.next_field(field),
            Key::Backspace => self.edit(field, |mut old, all| {
                if all {
                    return String::new();
                }
                old.pop();
                old
            }),
            Key::SelectAll => {
                if let Some(run) = self.running.get_mut(&field.app) {
                    run.all_selected = true;
                }
            }
            Key::Copy => self.clipboard = self.text_of(field),
            Key::Cut => {
                self.clipboard = self.text_of(field);
                self.edit(field, |_, _| String::new());
            }
            Key::Paste => {
                let copied = self.clipboard.clone();
                self.edit(field, |old, all| if all { copied } else { old + &copied });
            }
            Key::Delete
            | Key::Escape
            | Key::Home
            | Key::Back
            | Key::Power
            | Key::Wake
            | Key::Sleep
            | Key::Other => {}
        }
    }

    fn back(&mut self) {
        if self.display == Display::Off || self.hide_keyboard() {
            return;
        }
        if self.top_dialog().is_some() {
            self.cancel_dialog();
        } else if let Some(app) = self.front.clone() {
            self.go_back(&app);
        }
    }

    fn next_field(&mut self, field: &Field) {
        let window_layout = self.lay_out();
        let next = window_layout
            .iter()
            .find(|l| l.window.kind == WindowKind::App)
            .and_then(|l| {
                let mut inputs = (l.window.nodes.iter()).filter(|n| {
                    n.flags.enabled && n.element().is_some_and(crate::app::Role::is_input)
                });
                inputs.by_ref().find(|n| n.key == field.key)?;
                inputs.next().map(|n| n.key)
            });
        match next {
            Some(key) => self.focus(&field.app.clone(), key),
            None => {
                self.hide_keyboard();
            }
        }
    }

    fn text_of(&self, field: &Field) -> String {
        let Some(run) = self.running.get(&field.app) else {
            return String::new();
        };
        match &field.element.bind {
            Some(name) => run
                .variable(&name.value)
                .map(ToString::to_string)
                .unwrap_or_default(),
            None => run.typed.get(&field.key).cloned().unwrap_or_default(),
        }
    }

    /// Changes a field's text; `change` is given the old text and whether all of it is marked.
    fn edit(&mut self, field: &Field, change: impl FnOnce(String, bool) -> String) {
        let old = self.text_of(field);
        let Some(run) = self.running.get_mut(&field.app) else {
            return;
        };
        let mut text = change(old, run.all_selected);
        if let Some((end, _)) = text.char_indices().nth(MAX_TEXT) {
            text.truncate(end);
        }
        run.all_selected = false;
        match &field.element.bind {
            Some(name) => run.assign(&name.value, Value::Text(text)),
            None => {
                run.typed.insert(field.key, text);
            }
        }
        self.changed();
        self.carry_out(&field.app, &field.element.change, field.row.as_ref());
    }

    fn field(&self) -> Option<Field> {
        let focus = self.front_run()?.focus?;
        // What is typed goes to the topmost window; a dialog has no fields.
        if self.top_dialog().is_some() || self.display == Display::Off {
            return None;
        }
        self.field_with(|key| key == focus)
    }

    fn field_with(&self, wanted: impl Fn(NodeKey) -> bool) -> Option<Field> {
        let mut windows = self.lay_out().into_iter();
        let layout = windows.find(|l| l.window.kind == WindowKind::App)?;
        let mut nodes = layout.window.nodes.iter().zip(layout.targets);
        let (node, target) = nodes.find(|(node, _)| wanted(node.key))?;
        let Target::Element(element, row) = target else {
            return None;
        };
        let app = self.front.clone()?;
        (element.role.is_input() && node.flags.enabled).then_some(Field {
            app,
            key: node.key,
            element,
            row,
        })
    }

    pub(super) fn title_before(&self, run: &crate::world::running::RunningApp) -> String {
        let before = run
            .screens
            .iter()
            .rev()
            .nth(1)
            .and_then(|s| run.app.screens.get(s));
        let title = before.map(|s| self.scope(run).words(s.title.as_ref()));
        title
            .filter(|t| !t.is_empty())
            .unwrap_or_else(|| "Back".to_owned())
    }

    pub(super) fn back_leads_somewhere(
        &self,
        run: &crate::world::running::RunningApp,
        screen: &crate::app::Screen,
    ) -> bool {
        match &screen.back {
            Some(back) => back.value != "exit",
            None => run.screens.len() > 1,
        }
    }
}
