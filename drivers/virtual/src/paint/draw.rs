//! From a snapshot to a picture: flat boxes, borders and readable text, a colour per role.

use packtrain_canvas::{Align, Canvas, Rgb};

use crate::app::Role;
use crate::geometry::Rect;
use crate::world::{Node, NodeRole, Snapshot, Theme, Window, WindowKind};

/// The colours of a theme.
struct Colours {
    ground: Rgb,
    card: Rgb,
    ink: Rgb,
    faint: Rgb,
    line: Rgb,
    main: Rgb,
    on_main: Rgb,
}

const LIGHT: Colours = Colours {
    ground: [250, 250, 252],
    card: [255, 255, 255],
    ink: [28, 27, 31],
    faint: [121, 116, 126],
    line: [202, 196, 208],
    main: [25, 99, 166],
    on_main: [255, 255, 255],
};

const DARK: Colours = Colours {
    ground: [20, 18, 24],
    card: [43, 41, 48],
    ink: [230, 225, 229],
    faint: [147, 143, 153],
    line: [73, 69, 79],
    main: [158, 202, 255],
    on_main: [0, 50, 88],
};

/// Draws `snapshot` in `width` x `height` pixels.
pub(super) fn draw(snapshot: &Snapshot, width: u32, height: u32) -> Canvas {
    let scale = f64::from(width) / snapshot.width.max(1.0);
    if !snapshot.lit {
        return Canvas::new(width, height, scale, [0, 0, 0]);
    }
    let colours = match snapshot.theme {
        Theme::Light => &LIGHT,
        Theme::Dark => &DARK,
    };
    let canvas = Canvas::new(width, height, scale, colours.ground);
    let mut brush = Brush {
        canvas,
        colours,
        text: snapshot.font_scale,
    };
    for window in &snapshot.windows {
        brush.window(window, snapshot);
    }
    brush.canvas
}

struct Brush<'a> {
    canvas: Canvas,
    colours: &'a Colours,
    /// How large text is.
    text: f64,
}

impl Brush<'_> {
    fn window(&mut self, window: &Window, snapshot: &Snapshot) {
        let c = self.colours;
        match window.kind {
            WindowKind::Launcher => self.canvas.fill(&window.bounds, [56, 84, 120]),
            WindowKind::Starting | WindowKind::App => self.canvas.fill(&window.bounds, c.ground),
            WindowKind::Keyboard => self.canvas.fill(&window.bounds, c.line),
            WindowKind::Dialog | WindowKind::SystemDialog => {}
        }
        let full = window.bounds.h >= snapshot.height;
        if full {
            let clock = Rect::new(16.0, 2.0, 80.0, 20.0);
            // Always the same time: the picture depends on nothing but what is on the screen.
            self.canvas.text(&clock, "9:41", 14.0, c.ink, Align::Left);
        }
        for node in window.nodes.iter().filter(|n| n.is_visible()) {
            self.node(node);
        }
    }

    fn node(&mut self, node: &Node) {
        let c = self.colours;
        let seen = &node.visible;
        match node.role {
            NodeRole::Root | NodeRole::Keyboard => {}
            NodeRole::Bar => {
                self.canvas.fill(seen, c.main);
            }
            NodeRole::BarTitle => self.label(node, 20.0, c.on_main, Align::Left),
            NodeRole::BackButton => {
                let text = if node.text.is_empty() {
                    "<"
                } else {
                    &node.text
                };
                self.canvas.text(seen, text, 18.0, c.on_main, Align::Centre);
            }
            NodeRole::Dialog => {
                self.canvas.fill(seen, c.card);
                self.canvas.frame(seen, c.ink);
            }
            NodeRole::DialogTitle => self.label(node, 20.0, c.ink, Align::Left),
            NodeRole::DialogText => self.label(node, 14.0, c.ink, Align::Left),
            NodeRole::DialogButton(_) => {
                self.canvas.frame(seen, c.line);
                self.label(node, 16.0, c.main, Align::Centre);
            }
            NodeRole::Key => {
                let inner = Rect::new(seen.x + 2.0, seen.y + 3.0, seen.w - 4.0, seen.h - 6.0);
                self.canvas.fill(&inner, c.card);
                self.label(node, 16.0, c.ink, Align::Centre);
            }
            NodeRole::Icon => self.icon(node),
            NodeRole::Element(role) => self.element(node, role),
        }
    }

    fn element(&mut self, node: &Node, role: Role) {
        let c = self.colours;
        let seen = node.visible;
        match role {
            Role::Text => self.label(node, 16.0, c.ink, Align::Left),
            Role::Header => self.label(node, 24.0, c.ink, Align::Left),
            Role::Link => self.label(node, 16.0, c.main, Align::Left),
            Role::Button => {
                let colour = if node.flags.enabled { c.main } else { c.line };
                self.canvas.fill(&seen, colour);
                self.label(node, 16.0, c.on_main, Align::Centre);
            }
            Role::Input | Role::Secure | Role::Search => self.field(node),
            Role::Switch => {
                self.label(node, 16.0, c.ink, Align::Left);
                self.toggle(node, 44.0);
            }
            Role::Checkbox => {
                self.label(node, 16.0, c.ink, Align::Left);
                self.toggle(node, 24.0);
            }
            Role::Image => {
                self.canvas.fill(&seen, c.line);
                self.canvas.frame(&seen, c.faint);
                self.canvas
                    .text(&seen, &node.desc, 14.0, c.ink, Align::Centre);
            }
            Role::Progress => {
                self.canvas.frame(&seen, c.line);
                let half = Rect::new(seen.x, seen.y, seen.w / 2.0, seen.h);
                self.canvas.fill(&half, c.main);
            }
            Role::Cell => {
                let edge = Rect::new(seen.x, seen.bottom() - 1.0, seen.w, 1.0);
                self.canvas.fill(&edge, c.line);
                if !node.text.is_empty() {
                    self.label(node, 16.0, c.ink, Align::Left);
                }
            }
            Role::Webview => self.canvas.frame(&seen, c.line),
            Role::Group | Role::Scroll | Role::List => {}
        }
    }

    /// The node's text, only while enough of the node can be seen to stand in it.
    fn label(&mut self, node: &Node, size: f64, colour: Rgb, align: Align) {
        if node.visible.h >= node.bounds.h * 0.6 {
            self.canvas
                .text(&node.visible, &node.text, size * self.text, colour, align);
        }
    }

    fn field(&mut self, node: &Node) {
        let c = self.colours;
        let seen = node.visible;
        self.canvas.fill(&seen, c.card);
        let edge = if node.flags.focused { c.main } else { c.faint };
        self.canvas.frame(&seen, edge);
        let (text, colour) = if node.text.is_empty() {
            (&node.hint, c.faint)
        } else {
            (&node.text, c.ink)
        };
        let inner = Rect::new(seen.x + 12.0, seen.y, seen.w - 24.0, seen.h);
        self.canvas
            .text(&inner, text, 16.0 * self.text, colour, Align::Left);
    }

    fn toggle(&mut self, node: &Node, width: f64) {
        let c = self.colours;
        let seen = node.visible;
        let box_ = Rect::new(
            seen.right() - width,
            seen.y + (seen.h - 24.0) / 2.0,
            width,
            24.0,
        );
        self.canvas.frame(&box_, c.ink);
        if node.flags.checked {
            let half = Rect::new(
                box_.x + box_.w / 2.0,
                box_.y + 3.0,
                box_.w / 2.0 - 3.0,
                18.0,
            );
            self.canvas.fill(&half, c.main);
        }
    }

    fn icon(&mut self, node: &Node) {
        let seen = node.visible;
        let size = 56.0;
        let picture = Rect::new(seen.x + (seen.w - size) / 2.0, seen.y, size, size);
        let hash = node.key.0.to_le_bytes();
        let colour = [hash[0] / 2 + 96, hash[1] / 2 + 96, hash[2] / 2 + 96];
        self.canvas.fill(&picture, colour);
        let first: String = node.text.chars().take(1).collect();
        self.canvas
            .text(&picture, &first, 32.0, [20, 20, 20], Align::Centre);
        let below = Rect::new(seen.x - 4.0, seen.y + size, seen.w + 8.0, 24.0);
        self.canvas
            .text(&below, &node.text, 12.0, [255, 255, 255], Align::Centre);
    }
}
