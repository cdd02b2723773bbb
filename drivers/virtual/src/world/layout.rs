//! Which windows are on the screen, and what stands in them.

use crate::app::{AppId, Element, Screen as AppScreen};
use crate::geometry::Rect;
use crate::shape::Platform;
use crate::world::catalog::{LAUNCHER, SPRINGBOARD};
use crate::world::keyboard::Cap;
use crate::world::layout_builder::{LayoutBuilder, Placement, named, step};
use crate::world::running::{Row, RunningApp, Scope};
use crate::world::snapshot::{Flags, Node, NodeKey, NodeRole, Snapshot, Window, WindowKind};
use crate::world::{Display, World};

/// What a tap on a node means.
#[derive(Debug, Clone)]
pub(super) enum Target<'a> {
    Nothing,
    Element(&'a Element, Option<Row<'a>>),
    Back,
    Answer(usize),
    Cap(Cap),
    Icon(AppId),
}

/// A window with the meaning of its nodes.
pub(super) struct WindowLayout<'a> {
    pub window: Window,
    pub targets: Vec<Target<'a>>,
}

impl World {
    /// What can be seen now.
    pub fn snapshot(&mut self) -> Snapshot {
        Snapshot {
            platform: self.shape.platform,
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
    pub(super) fn lay_out(&self) -> Vec<WindowLayout<'_>> {
        let mut windows = Vec::new();
        match self.front_run() {
            None => windows.push(self.launcher()),
            Some(run) if run.ready_at > self.now => windows.push(self.splash(run)),
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

    pub(super) fn screen_rect(&self) -> Rect {
        Rect::new(0.0, 0.0, self.width(), self.height())
    }

    fn launcher(&self) -> WindowLayout<'_> {
        let (id, name) = match self.shape.platform {
            Platform::Android => (LAUNCHER, "Launcher"),
            Platform::Ios => (SPRINGBOARD, "SpringBoard"),
        };
        let bounds = self.screen_rect();
        let mut nodes = vec![plain(NodeRole::Root, named(id), None, bounds, name)];
        nodes[0].text = String::new();
        let mut targets = vec![Target::Nothing];
        let top = self.shape.status_bar + 32.0;
        let area = Rect::new(16.0, top, bounds.w - 32.0, bounds.h - top);
        for (app, label, place) in self.icons(area) {
            let mut node = plain(
                NodeRole::Icon,
                step(named(id), named(app.as_str())),
                Some(0),
                place,
                &label,
            );
            node.desc = label;
            node.id = app.to_string();
            node.flags.clickable = true;
            node.flags.long_clickable = true;
            node.flags.focusable = true;
            node.visible = place.clip(&bounds);
            nodes.push(node);
            targets.push(Target::Icon(app));
        }
        let activity = format!("{id}.NexusLauncherActivity");
        let kind = WindowKind::Launcher;
        let window = Window::of(kind, id.into(), name.to_owned(), activity, bounds, nodes);
        WindowLayout { window, targets }
    }

    fn splash<'a>(&self, run: &'a RunningApp) -> WindowLayout<'a> {
        let bounds = self.screen_rect();
        let id = run.app.id(self.shape.platform);
        let root = plain(NodeRole::Root, named(id.as_str()), None, bounds, "");
        WindowLayout {
            window: self.window(run, WindowKind::Starting, vec![root]),
            targets: vec![Target::Nothing],
        }
    }

    fn window(&self, run: &RunningApp, kind: WindowKind, nodes: Vec<Node>) -> Window {
        let id = run.app.id(self.shape.platform).clone();
        Window {
            kind,
            title: run.app.app.name.clone(),
            activity: self.activity_of(run),
            screen: run.screen_name().to_owned(),
            bounds: self.screen_rect(),
            nodes,
            app: id,
        }
    }

    fn app_window<'a>(&'a self, run: &'a RunningApp) -> WindowLayout<'a> {
        let bounds = self.screen_rect();
        let key = named(run.screen_name());
        let mut builder = LayoutBuilder {
            scope: self.scope(run),
            stretch: bounds.w / run.app.app.canvas.max(1.0),
            text: self.font_scale(),
            nodes: Vec::new(),
            targets: Vec::new(),
        };
        builder.add(
            plain(NodeRole::Root, key, None, bounds, ""),
            Target::Nothing,
        );
        if let Some(screen) = run.app.screens.get(run.screen_name()) {
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
        WindowLayout {
            window: self.window(run, WindowKind::App, builder.nodes),
            targets: builder.targets,
        }
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

    fn bar<'a>(
        &self,
        builder: &mut LayoutBuilder<'a>,
        run: &'a RunningApp,
        screen: &'a AppScreen,
        key: u64,
    ) {
        let scope = builder.scope;
        let (top, tall) = (self.shape.status_bar, self.bar_height());
        let area = Rect::new(0.0, top, self.width(), tall);
        let title = scope.words(screen.title.as_ref());
        let mut bar = plain(NodeRole::Bar, step(key, 2), Some(0), area, &title);
        bar.id = "toolbar".to_owned();
        let bar = builder.add(bar, Target::Nothing);
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
            builder.add(back, Target::Back);
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
            builder.add(node, Target::Nothing);
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

    fn keyboard_window(&self) -> WindowLayout<'_> {
        let bounds = self.keyboard_bounds();
        let key = named("keyboard");
        let mut nodes = vec![plain(NodeRole::Root, key, None, bounds, "")];
        let mut targets = vec![Target::Nothing];
        nodes.push(plain(NodeRole::Keyboard, step(key, 1), Some(0), bounds, ""));
        targets.push(Target::Nothing);
        for (i, cap) in self.keys().into_iter().enumerate() {
            let key = step(key, 2 + i as u64);
            let mut node = plain(NodeRole::Key, key, Some(1), cap.bounds, &cap.label);
            node.flags.clickable = true;
            nodes.push(node);
            targets.push(Target::Cap(cap.cap));
        }
        let id = match self.shape.platform {
            Platform::Android => "com.google.android.inputmethod.latin",
            Platform::Ios => SPRINGBOARD,
        };
        let (kind, title) = (WindowKind::Keyboard, "InputMethod".to_owned());
        let window = Window::of(kind, id.into(), title, String::new(), bounds, nodes);
        WindowLayout { window, targets }
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
