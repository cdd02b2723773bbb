//! One device's state: what is installed, what runs, what the screen shows, what a touch does.
//!
//! Pure: no sockets, no tasks, no clock of its own. [`World::advance`] tells it the time since
//! the device was made, which must not run backwards.

mod app_event;
mod apps;
mod catalog;
mod configuration;
mod dialogs;
mod effects;
mod finger;
mod icons;
mod keyboard;
mod layout;
mod layout_builder;
mod pinch;
mod running;
mod scroll;
mod snapshot;
mod touch;
mod typing;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub use self::app_event::AppEvent;
pub use self::apps::{AppState, Installed, LaunchKind, Launched, NotInstalled};
pub use self::catalog::{CHROME, Catalog, LAUNCHER, SETTINGS, SPRINGBOARD};
pub use self::dialogs::{DialogView, OpenDialog};
pub use self::finger::{Finger, Gesture, Pointer};
pub use self::pinch::TwoFingers;
pub use self::snapshot::{
    Flags, Node, NodeKey, NodeRole, Rotation, ScrollPosition, Snapshot, Theme, Window, WindowKind,
};
pub use self::typing::Key;

use self::configuration::Configuration;
use self::effects::Pending;
use self::running::{Install, RunningApp};
use crate::app::AppId;
use crate::latency::{Dice, Latency};
use crate::shape::Shape;

/// What a world is made of; all of it may be shared by a fleet.
#[derive(Debug, Clone)]
pub struct WorldOptions {
    /// The body of the device.
    pub shape: &'static Shape,
    /// The apps there are.
    pub catalog: Arc<Catalog>,
    /// How long things take.
    pub latency: Arc<Latency>,
    /// What the device's dice start from.
    pub seed: u64,
}

/// Whether the screen is lit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Display {
    /// It is.
    On,
    /// It is dark, and touches do nothing.
    Off,
}

/// One device's state.
#[derive(Debug)]
pub struct World {
    shape: &'static Shape,
    catalog: Arc<Catalog>,
    latency: Arc<Latency>,
    dice: Dice,
    now: Duration,
    installed: BTreeMap<AppId, Install>,
    running: BTreeMap<AppId, RunningApp>,
    /// `None` is the launcher.
    front: Option<AppId>,
    /// Dialogs of the system, the last one on top.
    system_dialogs: Vec<OpenDialog>,
    pending: Vec<Pending>,
    rotation: Rotation,
    display: Display,
    theme: Theme,
    configuration: Configuration,
    clipboard: String,
    finger: Finger,
    next_pid: u32,
    /// The screen moves until then.
    moving_until: Duration,
    last_change: Duration,
    revision: u64,
    /// A fault brought the keyboard up.
    keyboard_forced: bool,
    app_events: Vec<AppEvent>,
}

impl World {
    /// A device that has just been set up: the launcher is in front.
    pub fn new(options: WorldOptions) -> Self {
        let mut world = Self {
            shape: options.shape,
            catalog: options.catalog,
            latency: options.latency,
            dice: Dice::new(options.seed),
            now: Duration::ZERO,
            installed: BTreeMap::new(),
            running: BTreeMap::new(),
            front: None,
            system_dialogs: Vec::new(),
            pending: Vec::new(),
            rotation: Rotation::Upright,
            display: Display::On,
            theme: Theme::Light,
            configuration: Configuration::default(),
            clipboard: String::new(),
            finger: Finger::default(),
            next_pid: 4200,
            moving_until: Duration::ZERO,
            last_change: Duration::ZERO,
            revision: 0,
            keyboard_forced: false,
            app_events: Vec::new(),
        };
        for app in world.catalog.clone().preinstalled() {
            let id = app.id(world.shape.platform).clone();
            world.installed.insert(id, Install::new(app.clone()));
        }
        world
    }

    /// Lets everything happen that is due by `now`.
    pub fn advance(&mut self, now: Duration) {
        self.now = self.now.max(now);
        while let Some(pending) = self.take_due() {
            self.carry_out_pending(pending);
        }
    }

    /// The time since the device was made, as it was told last.
    pub const fn now(&self) -> Duration {
        self.now
    }

    /// When something happens next without anybody touching the device.
    pub fn next_due(&self) -> Option<Duration> {
        let starting = self.running.values().map(|run| run.ready_at);
        let later = starting
            .chain([self.moving_until])
            .chain(self.pending.iter().map(|p| p.due));
        later.filter(|due| *due > self.now).min()
    }

    /// Grows with every change of what can be seen.
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// Since when nothing has moved; `None` while something does, or always will.
    pub fn quiet_since(&mut self) -> Option<Duration> {
        let busy = self.pending.iter().any(|p| p.busy)
            || self.moving_until > self.now
            || self.starting()
            || self.front_screen().is_some_and(|s| s.animates);
        (!busy).then(|| self.last_change.max(self.moving_until))
    }

    /// Whether the app in front has not drawn its first picture yet.
    pub fn starting(&self) -> bool {
        self.front_run().is_some_and(|run| run.ready_at > self.now)
    }

    /// How the device is held.
    pub const fn rotation(&self) -> Rotation {
        self.rotation
    }

    /// Turns the device.
    pub fn rotate(&mut self, rotation: Rotation) {
        if self.rotation != rotation {
            self.rotation = rotation;
            self.moved();
        }
    }

    /// Whether the screen is lit.
    pub const fn display(&self) -> Display {
        self.display
    }

    /// Lights the screen or darkens it.
    pub fn set_display(&mut self, display: Display) {
        if self.display != display {
            self.display = display;
            self.changed();
        }
    }

    /// Whether apps are drawn bright or dark.
    pub const fn theme(&self) -> Theme {
        self.theme
    }

    /// Has apps drawn bright or dark.
    pub fn set_theme(&mut self, theme: Theme) {
        if self.theme != theme {
            self.theme = theme;
            self.moved();
        }
    }

    /// What was copied last.
    pub fn clipboard(&self) -> &str {
        &self.clipboard
    }

    /// Copies `text`.
    pub fn set_clipboard(&mut self, text: &str) {
        self.clipboard = text.to_owned();
    }

    /// Width of the screen as the device is held.
    pub fn width(&self) -> f64 {
        let screen = self.screen();
        self.rotation.turn(screen.width(), screen.height()).0
    }

    /// Height of the screen as the device is held.
    pub fn height(&self) -> f64 {
        let screen = self.screen();
        self.rotation.turn(screen.width(), screen.height()).1
    }

    /// Notes that something that can be seen is different now.
    const fn changed(&mut self) {
        self.last_change = self.now;
        self.revision += 1;
    }

    /// As [`World::changed`], with a movement that takes its time.
    fn moved(&mut self) {
        self.changed();
        let until = self.now + self.latency.transition.pick(&mut self.dice);
        self.moving_until = self.moving_until.max(until);
    }
}

#[cfg(test)]
mod tests;
