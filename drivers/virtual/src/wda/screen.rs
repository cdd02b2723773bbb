//! From what a world shows to what XCTest sees: the elements of one app.

use super::element_type::ElementType;
use super::tree::{Element, ElementKey, ElementTree, RawValue};
use crate::app::Role;
use crate::geometry::Rect;
use crate::world::{Node, NodeRole, SPRINGBOARD, Snapshot, Window, WindowKind};

/// The process of the home screen.
pub(crate) const SPRINGBOARD_PID: u32 = 58;

/// The app whose elements are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AppFacts {
    pub(crate) bundle_id: String,
    pub(crate) name: String,
    pub(crate) pid: u32,
}

/// The elements of `app` in `snapshot`, nesting no deeper than `max_depth`.
pub(crate) fn observe(
    snapshot: &Snapshot,
    app: &AppFacts,
    status_bar: f64,
    max_depth: usize,
) -> ElementTree {
    let screen = Rect::new(0.0, 0.0, snapshot.width, snapshot.height);
    let mut root = Element::new(key(&app.bundle_id, 0), ElementType::APPLICATION, screen);
    root.label.clone_from(&app.name);
    let mut observer = Observer {
        snapshot,
        tree: ElementTree::new(&app.bundle_id, app.pid, root),
        screen,
        // The application counts, too.
        levels: max_depth.max(1) - 1,
    };
    let home = app.bundle_id == SPRINGBOARD;
    if home {
        observer.status_bar(status_bar);
    }
    for (at, window) in snapshot.windows.iter().enumerate() {
        if belongs(window, app) {
            observer.window(at, window);
        }
    }
    observer.tree
}

/// The keyboard shows in the tree of the app it types into, and a dialog of the system in that of
/// the home screen, whatever is in front.
fn belongs(window: &Window, app: &AppFacts) -> bool {
    let home = app.bundle_id == SPRINGBOARD;
    match window.kind {
        WindowKind::Launcher | WindowKind::SystemDialog => home,
        WindowKind::App | WindowKind::Starting | WindowKind::Dialog => {
            window.app.as_str() == app.bundle_id
        }
        WindowKind::Keyboard => !home,
    }
}

/// An identity for an element that only holds others.
fn key(of: &str, number: u64) -> ElementKey {
    let hash = of.bytes().fold(0x6c62_272e_07bb_0142_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    ElementKey(hash.rotate_left(7) ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

struct Observer<'s> {
    snapshot: &'s Snapshot,
    tree: ElementTree,
    screen: Rect,
    levels: usize,
}

impl Observer<'_> {
    fn status_bar(&mut self, height: f64) {
        let frame = Rect::new(0.0, 0.0, self.screen.w, height);
        let window = Element::new(key("status bar", 0), ElementType::WINDOW, frame);
        let bar = Element::new(key("status bar", 1), ElementType::STATUS_BAR, frame);
        self.nested(window, |observer| observer.nested(bar, |_| {}));
    }

    fn window(&mut self, at: usize, window: &Window) {
        let name = format!("{} {:?} {}", window.app, window.kind, window.screen);
        let frame = Element::new(key(&name, 1), ElementType::WINDOW, self.screen);
        let inside = Element::new(key(&name, 2), ElementType::OTHER, self.screen);
        self.nested(frame, |observer| {
            observer.nested(inside, |observer| {
                for (child, node) in window.children(0) {
                    observer.node(at, window, child, node);
                }
            });
        });
    }

    fn node(&mut self, window_at: usize, window: &Window, at: usize, node: &Node) {
        let Some(element) = self.element(window_at, window, at, node) else {
            return;
        };
        self.nested(element, |observer| {
            for (child, node) in window.children(at) {
                observer.node(window_at, window, child, node);
            }
        });
    }

    fn nested(&mut self, element: Element, inside: impl FnOnce(&mut Self)) {
        if self.levels == 0 {
            return;
        }
        self.levels -= 1;
        self.tree.open(element);
        inside(self);
        self.tree.close();
        self.levels += 1;
    }

    fn element(
        &self,
        window_at: usize,
        window: &Window,
        at: usize,
        node: &Node,
    ) -> Option<Element> {
        let kind = kind(node)?;
        let mut element = Element::new(ElementKey(node.key.0), kind, node.bounds);
        element.node = Some(node.key);
        element.identifier.clone_from(&node.id);
        element.label = [&node.desc, &node.text]
            .into_iter()
            .find(|text| !text.is_empty())
            .cloned()
            .unwrap_or_default();
        self.say(&mut element, window, at, node);
        let reachable = node.is_visible() && self.reachable(window_at, node);
        element.flags.enabled = node.flags.enabled;
        element.flags.selected =
            node.flags.selected || (kind == ElementType::BUTTON && node.flags.checked);
        element.flags.keyboard_focus = node.flags.focused && kind.takes_text();
        element.flags.visible = reachable;
        element.flags.hittable = reachable && node.flags.enabled;
        element.flags.accessibility_element = stops_reader(kind, window, at, node, &element);
        element.traits = traits(kind, node, &element);
        Some(element)
    }

    /// What differs from "the label is what it shows".
    fn say(&self, element: &mut Element, window: &Window, at: usize, node: &Node) {
        match node.role {
            NodeRole::Element(Role::Input | Role::Secure | Role::Search) => {
                element.label.clone_from(&node.desc);
                if !node.text.is_empty() {
                    element.value = RawValue::Text(node.text.clone());
                }
                element.placeholder = Some(node.hint.clone());
            }
            NodeRole::Element(Role::Switch) => element.value = RawValue::Flag(node.flags.checked),
            NodeRole::Element(Role::Checkbox) => {
                let on = if node.flags.checked { "1" } else { "0" };
                element.value = RawValue::Text(on.to_owned());
            }
            NodeRole::Element(Role::Progress) => {
                element.value = RawValue::Text("1".to_owned());
                if element.label.is_empty() {
                    element.label = "In progress".to_owned();
                }
            }
            NodeRole::Element(Role::Cell) if node.flags.clickable && element.label.is_empty() => {
                // UIKit reads a row as one, from the texts in it.
                let texts = window.children(at).filter_map(|(_, inner)| {
                    let said = [&inner.desc, &inner.text];
                    said.into_iter().find(|text| !text.is_empty()).cloned()
                });
                element.label = texts.collect::<Vec<_>>().join(", ");
            }
            NodeRole::Icon | NodeRole::Dialog | NodeRole::Bar => {
                element.identifier.clone_from(&element.label);
                if node.role == NodeRole::Bar {
                    element.label.clear();
                }
            }
            NodeRole::Key | NodeRole::BackButton | NodeRole::DialogButton(_) => {
                element.identifier.clone_from(&element.label);
            }
            NodeRole::Root
            | NodeRole::BarTitle
            | NodeRole::DialogTitle
            | NodeRole::DialogText
            | NodeRole::Keyboard
            | NodeRole::Element(_) => {}
        }
    }

    /// Whether no window above lies over the middle of it.
    fn reachable(&self, window_at: usize, node: &Node) -> bool {
        let middle = node.centre();
        !self
            .snapshot
            .windows
            .iter()
            .skip(window_at + 1)
            .any(|above| above.bounds.contains(middle))
    }
}

fn kind(node: &Node) -> Option<ElementType> {
    Some(match node.role {
        NodeRole::Root => return None,
        NodeRole::Bar => ElementType::NAVIGATION_BAR,
        NodeRole::BarTitle | NodeRole::DialogTitle | NodeRole::DialogText => {
            ElementType::STATIC_TEXT
        }
        NodeRole::BackButton | NodeRole::DialogButton(_) => ElementType::BUTTON,
        NodeRole::Dialog => ElementType::ALERT,
        NodeRole::Keyboard => ElementType::KEYBOARD,
        // The key that confirms is a button on iOS, and a phone has none to hide the keyboard.
        NodeRole::Key if node.text == "return" => ElementType::BUTTON,
        NodeRole::Key if node.text == "Hide" => return None,
        NodeRole::Key => ElementType::KEY,
        NodeRole::Icon => ElementType::ICON,
        NodeRole::Element(role) => match role {
            Role::Text | Role::Header => ElementType::STATIC_TEXT,
            Role::Button | Role::Checkbox => ElementType::BUTTON,
            Role::Link => ElementType::LINK,
            Role::Image => ElementType::IMAGE,
            Role::Input => ElementType::TEXT_FIELD,
            Role::Secure => ElementType::SECURE_TEXT_FIELD,
            Role::Search => ElementType::SEARCH_FIELD,
            Role::Switch => ElementType::SWITCH,
            Role::Progress => ElementType::ACTIVITY_INDICATOR,
            Role::Group => ElementType::OTHER,
            Role::Scroll => ElementType::SCROLL_VIEW,
            Role::List => ElementType::TABLE,
            Role::Cell => ElementType::CELL,
            Role::Webview => ElementType::WEB_VIEW,
        },
    })
}

/// Whether a screen reader stops at it: at what says or does something, and at a row as a whole
/// when there is nothing to do in it.
fn stops_reader(
    kind: ElementType,
    window: &Window,
    at: usize,
    node: &Node,
    element: &Element,
) -> bool {
    match kind {
        ElementType::BUTTON
        | ElementType::LINK
        | ElementType::SWITCH
        | ElementType::STATIC_TEXT
        | ElementType::TEXT_FIELD
        | ElementType::SECURE_TEXT_FIELD
        | ElementType::SEARCH_FIELD
        | ElementType::ACTIVITY_INDICATOR
        | ElementType::KEY
        | ElementType::ICON => true,
        ElementType::IMAGE => !element.label.is_empty(),
        ElementType::CELL => {
            let acts = |inner: &Node| inner.flags.clickable || inner.flags.checkable;
            node.flags.clickable && !window.children(at).any(|(_, inner)| acts(inner))
        }
        _ => node.flags.clickable,
    }
}

fn traits(kind: ElementType, node: &Node, element: &Element) -> Vec<&'static str> {
    let mut traits = Vec::new();
    match kind {
        ElementType::BUTTON | ElementType::SWITCH | ElementType::ICON => traits.push("Button"),
        ElementType::LINK => traits.push("Link"),
        ElementType::IMAGE => traits.push("Image"),
        ElementType::STATIC_TEXT => traits.push("StaticText"),
        ElementType::SEARCH_FIELD => traits.push("SearchField"),
        ElementType::KEY => traits.push("KeyboardKey"),
        _ => {}
    }
    let heads = matches!(
        node.role,
        NodeRole::BarTitle | NodeRole::DialogTitle | NodeRole::Element(Role::Header)
    );
    for (has, name) in [
        (heads, "Header"),
        (element.flags.selected, "Selected"),
        (!element.flags.enabled, "NotEnabled"),
    ] {
        if has {
            traits.push(name);
        }
    }
    traits
}

#[cfg(test)]
mod tests;
