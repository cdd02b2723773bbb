//! Installing, launching, stopping; permissions; who is in front.

use std::sync::Arc;
use std::time::Duration;

use crate::app::{App, AppId, Permission};
use crate::shape::Platform;
use crate::world::World;
use crate::world::app_event::AppEvent;
use crate::world::catalog::{LAUNCHER, SPRINGBOARD, link_rules};
use crate::world::dialogs::OpenDialog;
use crate::world::running::{Install, RunningApp, ScreenTransition};

/// What an app does at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppState {
    /// Nothing: it is not there.
    NotInstalled,
    /// It has no process.
    NotRunning,
    /// It runs behind another.
    Background,
    /// It is in front.
    Foreground,
}

/// What a launch found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchKind {
    /// No process.
    Cold,
    /// A process in the background.
    Warm,
    /// The app in front already.
    AlreadyInFront,
}

/// A launch that was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launched {
    /// What it found.
    pub kind: LaunchKind,
    /// When the first picture is drawn.
    pub ready_at: Duration,
}

/// An app that is not on the device was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not installed")]
pub struct NotInstalled(pub AppId);

/// An app that is on the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Its id.
    pub id: AppId,
    /// What stands under its icon.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Whether it belongs to the system.
    pub system: bool,
    /// Its process, when it has one.
    pub pid: Option<u32>,
    /// When it was first installed.
    pub installed_at: Duration,
    /// When it was last installed.
    pub updated_at: Duration,
    /// The permissions it holds.
    pub granted: Vec<Permission>,
    /// Android: the class of its launcher activity, in full.
    pub main_activity: String,
}

impl World {
    /// The apps on the device, by id.
    pub fn installed(&self) -> impl Iterator<Item = Installed> {
        self.installed.iter().map(|(id, install)| {
            let app = &install.app;
            Installed {
                id: id.clone(),
                name: app.app.name.clone(),
                version: (install.version.clone()).unwrap_or_else(|| app.app.version.clone()),
                system: self.catalog.is_system(app),
                pid: self.running.get(id).map(|run| run.pid),
                installed_at: install.installed_at,
                updated_at: install.updated_at,
                granted: install.granted.iter().copied().collect(),
                main_activity: in_full(id, &app.app.activity),
            }
        })
    }

    /// One of them.
    pub fn installed_app(&self, id: &AppId) -> Option<Installed> {
        self.installed().find(|app| app.id == *id)
    }

    /// What the app does at the moment.
    pub fn app_state(&self, id: &AppId) -> AppState {
        let home = matches!(id.as_str(), LAUNCHER | SPRINGBOARD);
        if home && self.front.is_none() || self.front.as_ref() == Some(id) {
            AppState::Foreground
        } else if home || self.running.contains_key(id) {
            AppState::Background
        } else if self.installed.contains_key(id) {
            AppState::NotRunning
        } else {
            AppState::NotInstalled
        }
    }

    /// The app in front; the launcher or home screen when no other is.
    pub fn front(&self) -> AppId {
        self.front
            .clone()
            .unwrap_or_else(|| match self.shape.platform {
                Platform::Android => LAUNCHER.into(),
                Platform::Ios => SPRINGBOARD.into(),
            })
    }

    /// Installs an app, over an older one if need be. An id the catalog does not know becomes an
    /// app with one empty screen.
    pub fn install(&mut self, id: &AppId, version: Option<String>) {
        let app = match self.catalog.find(self.shape.platform, id) {
            Some(app) => app.clone(),
            None => Arc::new(blank(id)),
        };
        self.end(id);
        let now = self.now;
        let install = self.installed.entry(id.clone()).or_insert_with(|| {
            let mut fresh = Install::new(app);
            fresh.installed_at = now;
            fresh
        });
        install.updated_at = now;
        install.version = version;
        self.changed();
    }

    /// Removes an app and its data; false when it is not there.
    pub fn uninstall(&mut self, id: &AppId) -> bool {
        self.end(id);
        let there = self.installed.remove(id).is_some();
        self.configuration.forget(id);
        self.changed();
        there
    }

    /// Brings an app to the front, starting it if it does not run.
    ///
    /// # Errors
    /// When it is not on the device.
    pub fn launch(&mut self, id: &AppId) -> Result<Launched, NotInstalled> {
        if matches!(id.as_str(), LAUNCHER | SPRINGBOARD) {
            self.home();
            return Ok(Launched {
                kind: LaunchKind::Warm,
                ready_at: self.now,
            });
        }
        let Some(install) = self.installed.get(id) else {
            return Err(NotInstalled(id.clone()));
        };
        let (app, kept) = (install.app.clone(), install.kept.clone());
        let in_front = self.front.as_ref() == Some(id);
        if let Some(run) = self.running.get(id) {
            let ready_at = run.ready_at.max(self.now);
            if in_front {
                return Ok(Launched {
                    kind: LaunchKind::AlreadyInFront,
                    ready_at,
                });
            }
            self.front = Some(id.clone());
            self.moved();
            let warm = self.now + self.latency.warm_start.pick(&mut self.dice);
            self.moving_until = self.moving_until.max(warm);
            return Ok(Launched {
                kind: LaunchKind::Warm,
                ready_at: ready_at.max(warm),
            });
        }
        let ready_at = self.now + self.latency.cold_start.pick(&mut self.dice);
        self.next_pid += 1 + u32::try_from(self.dice.up_to(30)).unwrap_or(0);
        let mut run = RunningApp::new(app, self.next_pid, ready_at, kept);
        run.language = self.app_locale(id).map(str::to_owned);
        self.running.insert(id.clone(), run);
        self.front = Some(id.clone());
        self.changed();
        self.on_enter(id, ready_at);
        Ok(Launched {
            kind: LaunchKind::Cold,
            ready_at,
        })
    }

    /// Shows the screen of an app whose activity is `class` (`.Main` or in full); false when it
    /// has none such. The app must run.
    pub fn show_activity(&mut self, id: &AppId, class: &str) -> bool {
        let wanted = in_full(id, class);
        let Some(run) = self.running.get_mut(id) else {
            return false;
        };
        let known = self.catalog.find(self.shape.platform, id).is_some();
        if !known || wanted == in_full(id, &run.app.app.activity) {
            return true;
        }
        let found = run.app.screens.iter().find(|(_, screen)| {
            (screen.activity.as_ref()).is_some_and(|own| in_full(id, own) == wanted)
        });
        let Some(name) = found.map(|(name, _)| name.clone()) else {
            return false;
        };
        if run.screen_name() != name {
            run.enter(&name, ScreenTransition::Push);
            let ready_at = run.ready_at;
            self.moved();
            self.on_enter(id, ready_at);
        }
        true
    }

    /// Whether an app has an activity of that class (`.Main` or in full).
    pub fn has_activity(&self, id: &AppId, class: &str) -> bool {
        let wanted = in_full(id, class);
        self.installed.get(id).is_some_and(|install| {
            let app = &install.app;
            let own = app.screens.values().filter_map(|s| s.activity.as_ref());
            // Of a package nobody described, nobody knows the activities.
            let known = self.catalog.find(self.shape.platform, id).is_some();
            !known
                || own
                    .chain([&app.app.activity])
                    .any(|a| in_full(id, a) == wanted)
        })
    }

    /// The app that claims a link best.
    pub fn handler_of(&self, url: &str) -> Option<Installed> {
        let (id, _) = (self.installed.iter())
            .filter_map(|(id, install)| Some((id, link_rules(&install.app, url)?.0)))
            .max_by_key(|(_, length)| *length)?;
        self.installed_app(&id.clone())
    }

    /// Opens a link in the app that claims it best; the app that opened, or `None`.
    pub fn open(&mut self, url: &str) -> Option<AppId> {
        let (_, id, rules, rest) = (self.installed.iter())
            .filter_map(|(id, install)| {
                let (length, rules, rest) = link_rules(&install.app, url)?;
                Some((length, id.clone(), rules.clone(), rest.to_owned()))
            })
            .max_by_key(|(length, ..)| *length)?;
        self.launch(&id).ok()?;
        if let Some(run) = self.running.get_mut(&id) {
            run.url = (url.to_owned(), rest);
        }
        self.carry_out(&id, &rules, None);
        Some(id)
    }

    /// Ends an app's process; its kept variables stay.
    pub fn stop(&mut self, id: &AppId) {
        if self.end(id) {
            self.moved();
        }
    }

    /// Ends an app and forgets all it held; false when it is not there.
    pub fn clear(&mut self, id: &AppId) -> bool {
        self.stop(id);
        match self.installed.get_mut(id) {
            Some(install) => {
                install.wipe();
                true
            }
            None => false,
        }
    }

    /// An app dies; on Android a dialog says so.
    pub fn crash(&mut self, id: &AppId) {
        let pid = self.running.get(id).map(|run| run.pid);
        if self.end(id) {
            let app = id.clone();
            self.app_events
                .extend(pid.map(|pid| AppEvent::Crashed { app, pid }));
            if self.shape.platform == Platform::Android {
                self.system_dialogs.push(OpenDialog::Sudden {
                    title: format!("{} keeps stopping", self.name_of(id)),
                    text: String::new(),
                    buttons: ["App info", "Close app"].map(str::to_owned).to_vec(),
                });
            }
            self.moved();
        }
    }

    /// To the launcher or home screen; apps go on running.
    pub fn home(&mut self) {
        if self.front.take().is_some() {
            self.moved();
        }
    }

    /// Switches the power off and on: nothing runs afterwards.
    pub fn reboot(&mut self) {
        let all: Vec<_> = self.running.keys().cloned().collect();
        for id in all {
            self.end(&id);
        }
        self.system_dialogs.clear();
        self.pending.clear();
        self.clipboard.clear();
        self.changed();
    }

    /// Grants or revokes a permission; false when the app is not there.
    pub fn set_permission(&mut self, id: &AppId, permission: Permission, granted: bool) -> bool {
        let Some(install) = self.installed.get_mut(id) else {
            return false;
        };
        if granted {
            install.granted.insert(permission);
        } else {
            install.granted.remove(&permission);
        }
        self.changed();
        true
    }

    /// What a variable of a running app holds, for tests that look behind the screen.
    pub fn variable(&self, id: &AppId, name: &str) -> Option<&crate::app::Value> {
        self.running.get(id)?.variable(name)
    }

    fn end(&mut self, id: &AppId) -> bool {
        self.pending.retain(|p| p.app != *id);
        (self.system_dialogs).retain(|d| !matches!(d, OpenDialog::Asks { app, .. } if app == id));
        if self.front.as_ref() == Some(id) {
            self.front = None;
        }
        let Some(run) = self.running.remove(id) else {
            return false;
        };
        if let Some(install) = self.installed.get_mut(id) {
            let mut kept = run.changed;
            if let Some(keep) = &run.app.app.keep {
                kept.retain(|variable, _| keep.iter().any(|name| name.value == *variable));
            }
            install.kept = kept;
        }
        true
    }

    pub(super) fn front_run(&self) -> Option<&RunningApp> {
        self.running.get(self.front.as_ref()?)
    }

    pub(super) fn front_run_mut(&mut self) -> Option<&mut RunningApp> {
        self.running.get_mut(self.front.as_ref()?)
    }

    pub(super) fn front_screen(&self) -> Option<&crate::app::Screen> {
        self.front_run()?.screen()
    }

    /// The full class name of the activity an app shows.
    pub(super) fn activity_of(&self, run: &RunningApp) -> String {
        let own = run.screen().and_then(|s| s.activity.as_deref());
        let id = run.app.id(self.shape.platform);
        in_full(id, own.unwrap_or(&run.app.app.activity))
    }
}

/// A class name in full: `.Main` is relative to the package.
fn in_full(id: &AppId, class: &str) -> String {
    if class.starts_with('.') {
        format!("{id}{class}")
    } else {
        class.to_owned()
    }
}

/// An app nobody described: its manifest has seen to it that its id has no quotes.
fn blank(id: &AppId) -> App {
    let text = format!(
        "app: {{ id: '{id}', name: '{id}', start: main, preinstalled: false }}\n\
         screens: {{ main: {{ elements: [{{ text: '{id}' }}] }} }}\n"
    );
    App::parse(&text, id.as_str()).expect("letters, digits and points stand in quotes")
}
