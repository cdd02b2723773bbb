//! The tree of views as Android's accessibility shows it, in pixels, and as `uiautomator dump`
//! writes it. Source: AOSP `AccessibilityNodeInfoDumper`.

use crate::app::Role;
use crate::geometry::Rect;
use crate::world::{Node, NodeKey, NodeRole, Snapshot, Window, WindowKind};

/// A rectangle in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pixels {
    /// Left edge.
    pub left: i64,
    /// Top edge.
    pub top: i64,
    /// Right edge, outside.
    pub right: i64,
    /// Bottom edge, outside.
    pub bottom: i64,
}

impl Pixels {
    fn of(rect: &Rect, scale: f64) -> Self {
        let px = |dp: f64| (dp * scale).round() as i64;
        Self {
            left: px(rect.x),
            top: px(rect.y),
            right: px(rect.right()),
            bottom: px(rect.bottom()),
        }
    }

    /// `[l,t][r,b]`
    pub fn shown(&self) -> String {
        format!(
            "[{},{}][{},{}]",
            self.left, self.top, self.right, self.bottom
        )
    }

    /// The middle.
    pub const fn centre(&self) -> (i64, i64) {
        ((self.left + self.right) / 2, (self.top + self.bottom) / 2)
    }
}

/// A view.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct View {
    /// Its full class name.
    pub class: &'static str,
    /// The package that shows it.
    pub package: String,
    /// `package:id/name`; empty when it has none.
    pub resource: String,
    /// What it shows; the hint while a field is empty.
    pub text: String,
    /// What stands in the field while it is empty.
    pub hint: String,
    /// Whether `text` is the hint.
    pub shows_hint: bool,
    /// What a screen reader says.
    pub description: String,
    /// Its place among its parent's children, those that cannot be seen included.
    pub index: usize,
    /// The part that can be seen.
    pub bounds: Pixels,
    /// One word each.
    pub flags: crate::world::Flags,
    /// Its children, by their places in the tree's list.
    pub children: Vec<usize>,
    /// The parent's place in the tree's list.
    pub parent: Option<usize>,
    /// The node it stands for; views that only wrap others have their node's.
    pub key: NodeKey,
    /// How far it is scrolled, for what scrolls.
    pub scrolled: Option<crate::world::ScrollPosition>,
}

/// The views of one window in document order; the first is the root.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tree(pub Vec<View>);

/// The trees of the windows, the one with the focus first. What lies below a dialog, which takes
/// all touches, is not told of.
pub fn trees(snapshot: &Snapshot, scale: f64) -> Vec<Tree> {
    let is_dialog = |w: &Window| matches!(w.kind, WindowKind::Dialog | WindowKind::SystemDialog);
    let mut windows: Vec<&Window> = snapshot.windows.iter().collect();
    let dialog = windows.iter().rposition(|w| is_dialog(w)).unwrap_or(0);
    let mut place = 0..;
    windows.retain(|w| place.next() >= Some(dialog) || w.kind == WindowKind::Keyboard);
    windows.reverse();
    windows.sort_by_key(|w| w.kind == WindowKind::Keyboard);
    windows
        .into_iter()
        .map(|window| Tree::of(window, snapshot, scale))
        .collect()
}

/// The tree of the window that has the focus, as `uiautomator dump` sees it.
pub fn active_tree(snapshot: &Snapshot, scale: f64) -> Option<Tree> {
    snapshot
        .active()
        .map(|window| Tree::of(window, snapshot, scale))
}

impl Tree {
    fn of(window: &Window, snapshot: &Snapshot, scale: f64) -> Self {
        let screen = Rect::new(0.0, 0.0, snapshot.width, snapshot.height);
        let mut builder = Builder {
            window,
            scale,
            screen,
            views: Vec::new(),
        };
        let Some(root) = window.nodes.first() else {
            return Self::default();
        };
        // The frames an activity puts around its content.
        let frame = builder.wrap("android.widget.FrameLayout", "", root, None, 0);
        let mut inner = frame;
        if matches!(window.kind, WindowKind::App | WindowKind::Launcher) {
            inner = builder.wrap(
                "android.widget.FrameLayout",
                "android:id/content",
                root,
                Some(frame),
                0,
            );
        }
        builder.children(0, inner);
        Self(builder.views)
    }

    /// The view at `index` and all below it, in document order.
    pub fn below(&self, index: usize) -> Vec<usize> {
        let mut found = vec![index];
        let mut at = 0;
        while let Some(view) = found.get(at).copied() {
            // Children stand behind their parents in the list, so sorting restores the order.
            found.extend(&self.0[view].children);
            at += 1;
        }
        found.sort_unstable();
        found
    }
}

struct Builder<'a> {
    window: &'a Window,
    scale: f64,
    screen: Rect,
    views: Vec<View>,
}

impl Builder<'_> {
    fn wrap(
        &mut self,
        class: &'static str,
        resource: &str,
        node: &Node,
        parent: Option<usize>,
        index: usize,
    ) -> usize {
        let bounds = Pixels::of(&node.visible.clip(&self.screen), self.scale);
        self.views.push(View {
            class,
            package: self.window.app.to_string(),
            resource: resource.to_owned(),
            index,
            bounds,
            flags: crate::world::Flags {
                enabled: true,
                ..crate::world::Flags::default()
            },
            parent,
            key: node.key,
            ..View::default()
        });
        let view_index = self.views.len() - 1;
        if let Some(parent) = parent {
            self.views[parent].children.push(view_index);
        }
        view_index
    }

    /// Adds the children of the node at `node` below the view `parent`.
    fn children(&mut self, node: usize, parent: usize) {
        let window = self.window;
        for (index, (node_index, child)) in window.children(node).enumerate() {
            if !child.is_visible() || child.visible.clip(&self.screen).is_empty() {
                continue;
            }
            let view = self.view(child, node_index, parent, index);
            self.children(node_index, view);
        }
    }

    fn view(&mut self, node: &Node, node_index: usize, parent: usize, index: usize) -> usize {
        let childless = self.window.children(node_index).next().is_none();
        let class = class_of(node, childless);
        let resource = self.resource_of(node);
        let view = self.wrap(class, &resource, node, Some(parent), index);
        let made = &mut self.views[view];
        made.flags = node.flags;
        made.scrolled = node.scrolled;
        made.description.clone_from(&node.desc);
        made.hint.clone_from(&node.hint);
        made.shows_hint = node.text.is_empty() && !node.hint.is_empty();
        made.text = match node.role {
            NodeRole::Bar | NodeRole::Dialog | NodeRole::BackButton => String::new(),
            NodeRole::Key => {
                made.description.clone_from(&node.text);
                String::new()
            }
            NodeRole::Element(Role::Image) => String::new(),
            _ if made.shows_hint => node.hint.clone(),
            _ => node.text.clone(),
        };
        view
    }

    fn resource_of(&self, node: &Node) -> String {
        let package = &self.window.app;
        let permission = package.as_str() == "com.google.android.permissioncontroller";
        let buttons = (self.window.nodes.iter())
            .filter(|n| matches!(n.role, NodeRole::DialogButton(_)))
            .count();
        let name = match node.role {
            NodeRole::Dialog if permission => "grant_dialog",
            NodeRole::DialogText if permission => "permission_message",
            NodeRole::DialogButton(0) if permission => "permission_allow_button",
            NodeRole::DialogButton(_) if permission => "permission_deny_button",
            NodeRole::DialogButton(_) if package.as_str() == "android" && is_of_error(node) => {
                match node.text.as_str() {
                    "Wait" => "aerr_wait",
                    "App info" => "aerr_app_info",
                    _ => "aerr_close",
                }
            }
            NodeRole::Dialog => "parentPanel",
            NodeRole::DialogTitle => "alertTitle",
            NodeRole::DialogText => "message",
            // The positive answer stands last and is button1.
            NodeRole::DialogButton(i) => match buttons.saturating_sub(usize::from(i)) {
                0 | 1 => "button1",
                2 => "button2",
                _ => "button3",
            },
            NodeRole::Root | NodeRole::BarTitle | NodeRole::BackButton | NodeRole::Icon => {
                return String::new();
            }
            NodeRole::Keyboard => return format!("{package}:id/keyboard_area"),
            NodeRole::Key => return format!("{package}:id/key_{}", node.text.to_lowercase()),
            NodeRole::Bar | NodeRole::Element(_) if node.id.is_empty() => return String::new(),
            NodeRole::Bar | NodeRole::Element(_) => return format!("{package}:id/{}", node.id),
        };
        let owner = match permission && !matches!(node.role, NodeRole::DialogTitle) {
            true => "com.android.permissioncontroller",
            false => "android",
        };
        format!("{owner}:id/{name}")
    }
}

fn is_of_error(node: &Node) -> bool {
    matches!(node.text.as_str(), "Wait" | "App info" | "Close app")
}

const fn class_of(node: &Node, childless: bool) -> &'static str {
    match node.role {
        NodeRole::Root => "android.widget.FrameLayout",
        NodeRole::Bar => "android.view.ViewGroup",
        NodeRole::BarTitle | NodeRole::DialogTitle | NodeRole::DialogText | NodeRole::Icon => {
            "android.widget.TextView"
        }
        NodeRole::BackButton => "android.widget.ImageButton",
        NodeRole::Dialog => "android.widget.LinearLayout",
        NodeRole::DialogButton(_) => "android.widget.Button",
        NodeRole::Keyboard | NodeRole::Key => "android.widget.FrameLayout",
        NodeRole::Element(role) => match role {
            Role::Text | Role::Header | Role::Link => "android.widget.TextView",
            Role::Button => "android.widget.Button",
            Role::Image => "android.widget.ImageView",
            Role::Input | Role::Secure | Role::Search => "android.widget.EditText",
            Role::Switch => "android.widget.Switch",
            Role::Checkbox => "android.widget.CheckBox",
            Role::Progress => "android.widget.ProgressBar",
            Role::Group => "android.view.ViewGroup",
            Role::Scroll => "android.widget.ScrollView",
            Role::List => "androidx.recyclerview.widget.RecyclerView",
            Role::Cell if childless => "android.widget.TextView",
            Role::Cell => "android.widget.LinearLayout",
            Role::Webview => "android.webkit.WebView",
        },
    }
}

/// How a tree is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// As `uiautomator dump` does.
    Aosp,
    /// As androidx' dumper in an agent does, with more attributes.
    Agent,
}

/// Writes trees as XML, byte for byte as the platform's serializer does.
pub fn write_xml(trees: &[Tree], rotation: u8, style: Style, compressed: bool) -> String {
    let mut writer = Writer {
        out: "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>".to_owned(),
        style,
        compressed,
        depth: 0,
    };
    writer.line();
    writer
        .out
        .push_str(&format!("<hierarchy rotation=\"{rotation}\""));
    let mut trees = trees.iter().filter(|tree| !tree.0.is_empty()).peekable();
    if trees.peek().is_none() {
        writer.out.push_str(" />");
        return writer.out;
    }
    writer.out.push('>');
    writer.depth = 1;
    for tree in trees {
        writer.view(tree, 0);
    }
    writer.depth = 0;
    writer.line();
    writer.out.push_str("</hierarchy>");
    writer.out
}

struct Writer {
    out: String,
    style: Style,
    compressed: bool,
    depth: usize,
}

impl Writer {
    /// A new line, where the serializer is told to indent.
    fn line(&mut self) {
        if self.style == Style::Agent {
            self.out.push_str("\r\n");
            self.out.push_str(&"  ".repeat(self.depth));
        }
    }

    fn view(&mut self, tree: &Tree, index: usize) {
        let view = &tree.0[index];
        // A compressed tree leaves out what only holds others together.
        let matters = !self.compressed
            || view.parent.is_none()
            || view.flags.clickable
            || view.flags.scrollable
            || !view.text.is_empty()
            || !view.description.is_empty()
            || !view.resource.is_empty();
        if matters {
            self.line();
            self.out.push_str("<node");
            self.attributes(tree, index);
            if view.children.is_empty() {
                self.out.push_str(" />");
                return;
            }
            self.out.push('>');
            self.depth += 1;
        }
        for child in &view.children {
            self.view(tree, *child);
        }
        if matters {
            self.depth -= 1;
            self.line();
            self.out.push_str("</node>");
        }
    }

    fn attribute(&mut self, name: &str, value: &str) {
        let quote = if value.contains('"') { '\'' } else { '"' };
        self.out.push_str(&format!(" {name}={quote}"));
        for c in value.chars() {
            match c {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '\'' if quote == '\'' => self.out.push_str("&apos;"),
                '\n' | '\r' | '\t' => self.out.push_str(&format!("&#{};", u32::from(c))),
                // Characters XML cannot hold become dots.
                c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => self.out.push('.'),
                c => self.out.push(c),
            }
        }
        self.out.push(quote);
    }

    fn attributes(&mut self, tree: &Tree, index: usize) {
        let view = &tree.0[index];
        if needs_name(tree, index) {
            self.attribute("NAF", "true");
        }
        let flag = |on: bool| if on { "true" } else { "false" };
        let flags = &view.flags;
        let number = view.index.to_string();
        let pairs = [
            ("index", number.as_str()),
            ("text", &view.text),
            ("resource-id", &view.resource),
            ("class", view.class),
            ("package", &view.package),
            ("content-desc", &view.description),
            ("checkable", flag(flags.checkable)),
            ("checked", flag(flags.checked)),
            ("clickable", flag(flags.clickable)),
            ("enabled", flag(flags.enabled)),
            ("focusable", flag(flags.focusable)),
            ("focused", flag(flags.focused)),
            ("scrollable", flag(flags.scrollable)),
            ("long-clickable", flag(flags.long_clickable)),
            ("password", flag(flags.password)),
            ("selected", flag(flags.selected)),
        ];
        for (name, value) in pairs {
            self.attribute(name, value);
        }
        if self.style == Style::Agent {
            self.attribute("visible-to-user", "true");
        }
        self.attribute("bounds", &view.bounds.shown());
        if self.style == Style::Agent {
            self.attribute("drawing-order", &(view.index + 1).to_string());
            self.attribute("hint", &view.hint);
            self.attribute("display-id", "0");
        }
    }
}

/// Whether something can be used and has no name that a screen reader could say: clickable and
/// enabled, without text or description in it or its children.
fn needs_name(tree: &Tree, index: usize) -> bool {
    let view = &tree.0[index];
    let named = |view: &View| !view.text.is_empty() || !view.description.is_empty();
    view.flags.clickable
        && view.flags.enabled
        && !tree
            .below(index)
            .into_iter()
            .any(|below| named(&tree.0[below]))
        && !matches!(
            view.class,
            "android.widget.GridView" | "android.widget.TableLayout"
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Rotation, Theme};

    /// How many windows accessibility tells of.
    fn told(kinds: &[WindowKind]) -> usize {
        let window = |&kind: &WindowKind| Window {
            kind,
            app: "com.a".into(),
            title: String::new(),
            activity: String::new(),
            screen: String::new(),
            bounds: Rect::new(0.0, 0.0, 9.0, 9.0),
            nodes: Vec::new(),
        };
        let snapshot = Snapshot {
            width: 9.0,
            height: 9.0,
            rotation: Rotation::default(),
            lit: true,
            theme: Theme::default(),
            font_scale: 1.0,
            windows: kinds.iter().map(window).collect(),
        };
        trees(&snapshot, 1.0).len()
    }

    #[test]
    fn what_a_dialog_keeps_from_touches_is_not_told_of_but_the_keyboard_is() {
        use WindowKind::{App, Dialog, Keyboard, SystemDialog};
        assert_eq!(told(&[App, Keyboard]), 2);
        assert_eq!(told(&[App, Dialog]), 1);
        assert_eq!(told(&[App, Keyboard, Dialog]), 2);
        assert_eq!(told(&[App, Dialog, Keyboard, SystemDialog]), 2);
    }
}
