//! Which windows are on the screen, and what stands in them.

use std::sync::Arc;

use crate::app::{AppId, Element, Screen as AppScreen};
use crate::geometry::{Point, Rect};
use crate::shape::Platform;
use crate::world::catalog::{LAUNCHER, SPRINGBOARD};
use crate::world::keyboard::Cap;
use crate::world::layout_builder::{LayoutBuilder, Placement, named, step};
use crate::world::running::{Row, RunningApp, Scope};
use crate::world::snapshot::{Flags, Node, NodeKey, NodeRole, Snapshot, Window, WindowKind};
use crate::world::{Display, World};

/// What a tap on a node means.
#[derive(Debug, Clone)]
pub(super) enum Target {
    Nothing,
    Element(Arc<Element>, Option<Row>),
    Back,
    Answer(usize),
    Cap(Cap),
    Icon(AppId),
}

/// A window with the meaning of its nodes.
pub(super) struct WindowLayout {
    pub window: Window,
    pub targets: Vec<Target>,
}

impl WindowLayout {
    /// A window with nothing but its root.
    pub fn new(kind: WindowKind, app: AppId, title: &str, bounds: Rect, key: u64) -> Self {
        let window = Window {
            kind,
            app,
            title: title.to_owned(),
            activity: String::new(),
            screen: String::new(),
            bounds,
            nodes: vec![plain(NodeRole::Root, key, None, bounds, "")],
        };
        Self {
            window,
            targets: vec![Target::Nothing],
        }
    }

    /// Adds a node and what a tap on it means; returns its index.
    pub fn add(&mut self, node: Node, target: Target) -> usize {
        self.window.nodes.push(node);
        self.targets.push(target);
        self.targets.len() - 1
    }
}

impl World {
    /// What can be seen now.
    pub fn snapshot(&mut self) -> Snapshot {
        Snapshot {
            width: self.width(),
            height: self.height(),
            rotation: self.rotation,
            lit: self.display == Display::On,
            theme: self.theme,
            font_scale: self.font_scale(),
            windows: self.lay_out().into_iter().map(|l| l.window).collect(),
        }
    }

    /// The windows from the bottom to the top.
    pub(super) fn lay_out(&self) -> Vec<WindowLayout> {
        let mut windows = Vec::new();
        match self.front_run() {
            None => windows.push(self.launcher()),
            Some(run) if run.ready_at > self.now => {
                let id = run.app.id(self.shape.platform);
                windows.push(self.window(run, WindowKind::Starting, id.as_str()));
            }
            Some(run) => {
                windows.push(self.app_window(run));
                if let Some(dialog) = run.dialogs.last() {
                    windows.push(self.dialog_window(dialog, WindowKind::Dialog));
                }
            }
        }
        if self.keyboard_shown() {
            windows.push(self.keyboard_window());
        }
        if let Some(dialog) = self.top_system_dialog() {
            windows.push(self.dialog_window(dialog, WindowKind::SystemDialog));
        }
        windows
    }

    /// The window that a touch at that point is for: the keyboard's only where it is.
    pub(super) fn window_at(&self, at: Point) -> Option<WindowLayout> {
        self.lay_out().into_iter().rfind(|layout| {
            layout.window.kind != WindowKind::Keyboard || layout.window.bounds.contains(at)
        })
    }

    pub(super) fn screen_rect(&self) -> Rect {
        Rect::new(0.0, 0.0, self.width(), self.height())
    }

    fn launcher(&self) -> WindowLayout {
        let (id, name) = match self.shape.platform {
            Platform::Android => (LAUNCHER, "Launcher"),
            Platform::Ios => (SPRINGBOARD, "SpringBoard"),
        };
        let (kind, bounds) = (WindowKind::Launcher, self.screen_rect());
        let mut layout = WindowLayout::new(kind, id.into(), name, bounds, named(id));
        layout.window.activity = format!("{id}.NexusLauncherActivity");
        let top = self.shape.status_bar + 32.0;
        let area = Rect::new(16.0, top, bounds.w - 32.0, bounds.h - top);
        for (app, label, place) in self.icons(area) {
            let key = step(named(id), named(app.as_str()));
            let mut node = plain(NodeRole::Icon, key, Some(0), place, &label);
            node.desc = label;
            node.id = app.to_string();
            node.flags.clickable = true;
            node.flags.long_clickable = true;
            node.flags.focusable = true;
            node.visible = place.clip(&bounds);
            layout.add(node, Target::Icon(app));
        }
        layout
    }

    /// The window of an app, with nothing but its root.
    fn window(&self, run: &RunningApp, kind: WindowKind, key: &str) -> WindowLayout {
        let id = run.app.id(self.shape.platform).clone();
        let (title, bounds) = (&run.app.app.name, self.screen_rect());
        let mut layout = WindowLayout::new(kind, id, title, bounds, named(key));
        layout.window.activity = self.activity_of(run);
        run.screen_name().clone_into(&mut layout.window.screen);
        layout
    }

    fn app_window(&self, run: &RunningApp) -> WindowLayout {
        let key = named(run.screen_name());
        let mut builder = LayoutBuilder {
            scope: self.scope(run),
            stretch: self.width() / run.app.app.canvas.max(1.0),
            text: self.font_scale(),
            layout: self.window(run, WindowKind::App, run.screen_name()),
        };
        if let Some(screen) = run.screen() {
            let content = self.content_area(run, screen);
            if screen.title.is_some() || !screen.bar.is_empty() {
                self.bar(&mut builder, run, screen, key);
            }
            builder.place(
                &screen.elements,
                Placement {
                    parent: 0,
                    area: content,
                    clip: content,
                    enabled: true,
                    key: step(key, 1),
                    row: None,
                },
            );
        }
        builder.layout
    }

    const fn bar_height(&self) -> f64 {
        match self.shape.platform {
            Platform::Android => 56.0,
            Platform::Ios => 44.0,
        }
    }

    /// Where the elements of a screen stand: below the bars, above the keyboard if it gives way.
    pub(super) fn content_area(&self, run: &RunningApp, screen: &AppScreen) -> Rect {
        let bar = if screen.title.is_some() || !screen.bar.is_empty() {
            self.bar_height()
        } else {
            0.0
        };
        let top = self.shape.status_bar + bar;
        let gives_way = run.app.app.keyboard == crate::app::KeyboardMode::Resize;
        let bottom = if gives_way && self.keyboard_shown() {
            self.keyboard_bounds().y
        } else {
            self.height() - self.shape.bottom_bar
        };
        Rect::new(0.0, top, self.width(), bottom - top)
    }

    fn bar(&self, builder: &mut LayoutBuilder<'_>, run: &RunningApp, screen: &AppScreen, key: u64) {
        let scope = builder.scope.clone();
        let (top, tall) = (self.shape.status_bar, self.bar_height());
        let area = Rect::new(0.0, top, self.width(), tall);
        let title = scope.words(screen.title.as_ref());
        let mut bar = plain(NodeRole::Bar, step(key, 2), Some(0), area, &title);
        bar.id = "toolbar".to_owned();
        let bar = builder.layout.add(bar, Target::Nothing);
        let mut left = 16.0;
        if self.back_leads_somewhere(run, screen) {
            let place = Rect::new(0.0, top, 56.0, tall);
            let label = match self.shape.platform {
                Platform::Android => String::new(),
                Platform::Ios => self.title_before(run),
            };
            let mut back = plain(NodeRole::BackButton, step(key, 3), Some(bar), place, &label);
            if self.shape.platform == Platform::Android {
                back.desc = "Navigate up".to_owned();
            }
            back.flags.clickable = true;
            back.flags.focusable = true;
            builder.layout.add(back, Target::Back);
            left = 72.0;
        }
        let widths: Vec<f64> = (screen.bar.iter())
            .map(|e| {
                let label = scope.words(e.text.as_ref()).chars().count();
                (24.0 + 9.0 * label as f64 * self.font_scale()).max(48.0)
            })
            .collect();
        let right = area.right() - widths.iter().sum::<f64>() - 8.0;
        let mut place = Rect::new(left, top, (right - left).max(0.0), tall);
        if !title.is_empty() {
            let node = plain(NodeRole::BarTitle, step(key, 4), Some(bar), place, &title);
            builder.layout.add(node, Target::Nothing);
        }
        place.x = right;
        for (i, (element, width)) in screen.bar.iter().zip(widths).enumerate() {
            let slot = Rect::new(place.x, top + (tall - 44.0) / 2.0, width, 44.0);
            builder.place_one(
                element,
                slot,
                Placement {
                    parent: bar,
                    area: slot,
                    clip: area,
                    enabled: true,
                    key: step(key, 16 + i as u64),
                    row: None,
                },
            );
            place.x += width;
        }
    }

    fn keyboard_window(&self) -> WindowLayout {
        let id = match self.shape.platform {
            Platform::Android => "com.google.android.inputmethod.latin",
            Platform::Ios => SPRINGBOARD,
        };
        let (kind, bounds) = (WindowKind::Keyboard, self.keyboard_bounds());
        let key = named("keyboard");
        let mut layout = WindowLayout::new(kind, id.into(), "InputMethod", bounds, key);
        let keyboard = plain(NodeRole::Keyboard, step(key, 1), Some(0), bounds, "");
        layout.add(keyboard, Target::Nothing);
        for (i, cap) in self.keys().into_iter().enumerate() {
            let key = step(key, 2 + i as u64);
            let mut node = plain(NodeRole::Key, key, Some(1), cap.bounds, &cap.label);
            node.flags.clickable = true;
            layout.add(node, Target::Cap(cap.cap));
        }
        layout
    }

    /// What paths mean in the app of `run`.
    pub(super) fn scope<'a>(&'a self, run: &'a RunningApp) -> Scope<'a> {
        static NOTHING_GRANTED: std::collections::BTreeSet<crate::app::Permission> =
            std::collections::BTreeSet::new();
        let install = self.installed.get(run.app.id(self.shape.platform));
        Scope {
            run,
            granted: install.map_or(&NOTHING_GRANTED, |i| &i.granted),
            row: None,
            platform: self.shape.platform,
        }
    }
}

/// A node with a role, a place and a text; enabled, and seen as a whole.
pub(super) fn plain(
    role: NodeRole,
    key: u64,
    parent: Option<usize>,
    bounds: Rect,
    text: &str,
) -> Node {
    Node {
        key: NodeKey(key),
        parent,
        role,
        id: String::new(),
        text: text.to_owned(),
        desc: String::new(),
        hint: String::new(),
        bounds,
        visible: bounds,
        flags: Flags {
            enabled: true,
            ..Flags::default()
        },
        scrolled: None,
    }
}
