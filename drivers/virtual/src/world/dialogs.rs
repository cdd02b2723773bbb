//! Dialogs: of the app file, of the system that asks for a permission, of an app that broke, and
//! those a fault puts on top.

use crate::app::{AppId, Ask, Permission};
use crate::geometry::Rect;
use crate::shape::Platform;
use crate::world::World;
use crate::world::app_event::AppEvent;
use crate::world::catalog::SPRINGBOARD;
use crate::world::layout::{Target, WindowLayout, plain};
use crate::world::layout_builder::{named, step};
use crate::world::snapshot::{NodeRole, WindowKind};

/// A dialog that is open.
#[derive(Debug, Clone, PartialEq)]
pub enum OpenDialog {
    /// One of the app file.
    Named {
        /// The app it belongs to.
        app: AppId,
        /// Its name there.
        name: String,
    },
    /// The system asks for a permission.
    Asks {
        /// For whom.
        app: AppId,
        /// For what, and what follows.
        ask: Ask,
    },
    /// An app does not answer.
    Hangs(AppId),
    /// An app crashed, or a fault put it there; its buttons only close it.
    Sudden {
        /// In bold.
        title: String,
        /// The message.
        text: String,
        /// The answers.
        buttons: Vec<String>,
    },
}

/// What a dialog shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DialogView {
    /// In bold; may be empty.
    pub title: String,
    /// The message; may be empty.
    pub text: String,
    /// The answers, in reading order.
    pub buttons: Vec<String>,
    /// The permission it asks for, when it does.
    pub permission: Option<Permission>,
    /// Whether back or a tap beside it closes it.
    pub cancelable: bool,
    /// Whether it is the system's.
    pub system: bool,
}

impl World {
    /// The topmost dialog, as iOS alerts and Android dialogs are handled.
    pub fn dialog(&self) -> Option<DialogView> {
        self.top_dialog().map(|dialog| self.view(dialog))
    }

    /// Gives the topmost dialog its answer number `index`; false when there is none such.
    pub fn answer(&mut self, index: usize) -> bool {
        let Some(view) = self.dialog() else {
            return false;
        };
        if index >= view.buttons.len() {
            return false;
        }
        let Some(dialog) = self.close_top_dialog() else {
            return false;
        };
        match dialog {
            OpenDialog::Named { app, name } => {
                let definition = (self.running.get(&app)).and_then(|r| r.app.dialogs.get(&name));
                if let Some(button) = definition.and_then(|d| d.buttons.get(index)) {
                    let rules = button.tap.clone();
                    self.carry_out(&app, &rules, None);
                }
            }
            // Android offers consent first, iOS refusal.
            OpenDialog::Asks { app, ask } if (index == 0) == self.allows_first() => {
                self.set_permission(&app, ask.permission, true);
                self.carry_out(&app, &ask.allow, None);
            }
            OpenDialog::Asks { app, ask } => {
                if let Some(install) = self.installed.get_mut(&app) {
                    *install.refusals.entry(ask.permission).or_default() += 1;
                }
                self.carry_out(&app, &ask.deny, None);
            }
            OpenDialog::Hangs(app) if index == 0 => self.stop(&app),
            OpenDialog::Hangs(_) | OpenDialog::Sudden { .. } => {}
        }
        true
    }

    fn allows_first(&self) -> bool {
        self.shape.platform == Platform::Android
    }

    /// Puts a dialog of the system on top.
    pub fn show_system_dialog(&mut self, dialog: OpenDialog) {
        if let OpenDialog::Hangs(app) = &dialog {
            let app = app.clone();
            self.app_events.push(AppEvent::Hung { app });
        }
        self.system_dialogs.push(dialog);
        self.moved();
    }

    /// The topmost dialog is closed without an answer when it allows that.
    pub(super) fn cancel_dialog(&mut self) -> bool {
        let cancelable = self.dialog().is_some_and(|d| d.cancelable);
        cancelable && self.close_top_dialog().is_some()
    }

    pub(super) fn top_dialog(&self) -> Option<&OpenDialog> {
        let of_app = || {
            let run = self.front_run().filter(|run| run.ready_at <= self.now)?;
            run.dialogs.last()
        };
        self.top_system_dialog().or_else(of_app)
    }

    /// The dialog of the system that is to be seen.
    pub(super) fn top_system_dialog(&self) -> Option<&OpenDialog> {
        self.system_dialogs.get(self.system_dialog_in_sight()?)
    }

    /// On Android the question for a permission is an activity of the app that asks and goes to the
    /// back with it; an alert of iOS stays.
    fn system_dialog_in_sight(&self) -> Option<usize> {
        let in_sight = |dialog: &OpenDialog| match (self.shape.platform, dialog) {
            (Platform::Android, OpenDialog::Asks { app, .. }) => self.front.as_ref() == Some(app),
            _ => true,
        };
        self.system_dialogs.iter().rposition(in_sight)
    }

    fn close_top_dialog(&mut self) -> Option<OpenDialog> {
        let dialog = match self.system_dialog_in_sight() {
            Some(place) => Some(self.system_dialogs.remove(place)),
            None => self.front_run_mut()?.dialogs.pop(),
        };
        self.moved();
        dialog
    }

    fn view(&self, dialog: &OpenDialog) -> DialogView {
        let mut view = DialogView {
            system: true,
            ..DialogView::default()
        };
        match dialog {
            OpenDialog::Named { app, name } => {
                let run = self.running.get(app);
                let definition = run.and_then(|r| Some((r, r.app.dialogs.get(name)?)));
                if let Some((run, definition)) = definition {
                    let scope = self.scope(run);
                    view.title = scope.words(definition.title.as_ref());
                    view.text = scope.words(definition.text.as_ref());
                    let buttons = definition.buttons.iter();
                    view.buttons = buttons.map(|b| scope.words(Some(&b.text))).collect();
                    view.cancelable = definition.cancelable;
                    view.system = definition.system;
                }
            }
            OpenDialog::Asks { app, ask } => self.view_ask(&mut view, app, ask),
            OpenDialog::Hangs(app) => {
                view.title = format!("{} isn't responding", self.name_of(app));
                view.buttons = vec!["Close app".to_owned(), "Wait".to_owned()];
            }
            OpenDialog::Sudden {
                title,
                text,
                buttons,
            } => {
                view.title.clone_from(title);
                view.text.clone_from(text);
                view.buttons.clone_from(buttons);
            }
        }
        view
    }

    fn view_ask(&self, view: &mut DialogView, app: &AppId, ask: &Ask) {
        let name = self.name_of(app);
        let own = match (&ask.text, self.running.get(app)) {
            (Some(words), Some(run)) => Some(self.scope(run).words(Some(words))),
            _ => None,
        };
        view.permission = Some(ask.permission);
        match self.shape.platform {
            Platform::Android => {
                view.text = own.unwrap_or_else(|| ask.permission.android_question(&name));
                view.buttons = vec!["Allow".to_owned(), "Don’t allow".to_owned()];
            }
            Platform::Ios => {
                view.title = own.unwrap_or_else(|| ask.permission.ios_question(&name));
                view.buttons = vec!["Don’t Allow".to_owned(), "Allow".to_owned()];
            }
        }
    }

    pub(super) fn name_of(&self, app: &AppId) -> String {
        (self.installed.get(app)).map_or_else(|| app.to_string(), |i| i.app.app.name.clone())
    }

    /// The package that shows a dialog of the system.
    fn shown_by(&self, dialog: &OpenDialog) -> AppId {
        match (self.shape.platform, dialog) {
            (_, OpenDialog::Named { app, .. }) if !self.view(dialog).system => app.clone(),
            (Platform::Ios, _) => SPRINGBOARD.into(),
            (Platform::Android, OpenDialog::Asks { .. }) => {
                "com.google.android.permissioncontroller".into()
            }
            (Platform::Android, _) => "android".into(),
        }
    }

    pub(super) fn dialog_window(&self, dialog: &OpenDialog, kind: WindowKind) -> WindowLayout {
        let view = self.view(dialog);
        let (width, height) = (self.width(), self.height());
        let card_w = f64::min(296.0, width - 48.0);
        let inner_w = card_w - 48.0;
        let lines = |text: &str| match text.chars().count() {
            0 => 0.0,
            n => (n as f64 * 8.5 / inner_w).ceil(),
        };
        let (title_h, text_h) = (lines(&view.title) * 28.0, lines(&view.text) * 24.0);
        let stacked = view.permission.is_some() || view.buttons.len() > 2;
        let rows = if stacked { view.buttons.len() } else { 1 };
        let card_h = 24.0 + title_h + 8.0 + text_h + 16.0 + rows as f64 * 52.0 + 8.0;
        let x = (width - card_w) / 2.0;
        let y = ((height - card_h) / 2.0).max(0.0);
        let card = Rect::new(x, y, card_w, card_h);

        let app = self.shown_by(dialog);
        let key = step(named(app.as_str()), named(&view.title) ^ named(&view.text));
        let label = if view.title.is_empty() {
            &view.text
        } else {
            &view.title
        };
        let mut layout = WindowLayout::new(kind, app, label, card, step(key, 99));
        layout.window.activity = match dialog {
            OpenDialog::Asks { .. } => {
                "com.android.permissioncontroller.permission.ui.GrantPermissionsActivity".to_owned()
            }
            _ => self
                .front_run()
                .map_or_else(String::new, |run| self.activity_of(run)),
        };
        let node = plain(NodeRole::Dialog, key, Some(0), card, label);
        layout.add(node, Target::Nothing);
        let mut top = y + 24.0;
        let texts = [
            (NodeRole::DialogTitle, &view.title, title_h),
            (NodeRole::DialogText, &view.text, text_h),
        ];
        for (i, (role, text, tall)) in texts.into_iter().enumerate() {
            if text.is_empty() {
                continue;
            }
            let place = Rect::new(x + 24.0, top, inner_w, tall);
            let node = plain(role, step(key, 1 + i as u64), Some(1), place, text);
            layout.add(node, Target::Nothing);
            top += tall + 8.0;
        }
        top += 8.0;
        let count = view.buttons.len().max(1) as f64;
        for (i, text) in view.buttons.iter().enumerate() {
            let place = if stacked {
                Rect::new(x + 16.0, top + i as f64 * 52.0, card_w - 32.0, 48.0)
            } else {
                let each = (card_w - 32.0) / count;
                Rect::new(x + 16.0 + i as f64 * each, top, each - 4.0, 48.0)
            };
            let role = NodeRole::DialogButton(u8::try_from(i).unwrap_or(u8::MAX));
            let mut node = plain(role, step(key, 10 + i as u64), Some(1), place, text);
            node.flags.clickable = true;
            node.flags.focusable = true;
            layout.add(node, Target::Answer(i));
        }
        layout
    }
}
