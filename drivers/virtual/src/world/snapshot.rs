//! What can be seen on a device at one moment: windows and their nodes, laid out in dp or pt.
//! The platforms serialise this in their own form.

use crate::app::{AppId, Role};
use crate::geometry::{Point, Rect};

/// How the device is held, counted as Android counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Rotation {
    /// As usual.
    #[default]
    Upright,
    /// Turned left, landscape.
    Left,
    /// On its head.
    UpsideDown,
    /// Turned right, landscape.
    Right,
}

impl Rotation {
    /// Android's number for it, 0 to 3.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The rotation of that number.
    pub fn from_number(number: u8) -> Option<Self> {
        let all = [Self::Upright, Self::Left, Self::UpsideDown, Self::Right];
        all.into_iter().find(|rotation| rotation.number() == number)
    }

    /// Whether width and height are exchanged.
    pub const fn is_landscape(self) -> bool {
        matches!(self, Self::Left | Self::Right)
    }

    /// A size as this rotation shows it.
    pub const fn turn<T: Copy>(self, width: T, height: T) -> (T, T) {
        if self.is_landscape() {
            (height, width)
        } else {
            (width, height)
        }
    }
}

/// Whether apps are drawn bright or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Theme {
    /// Dark on bright.
    #[default]
    Light,
    /// Bright on dark.
    Dark,
}

/// What can be seen at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Width as the device is held.
    pub width: f64,
    /// Height as the device is held.
    pub height: f64,
    /// How it is held.
    pub rotation: Rotation,
    /// Whether the screen is lit.
    pub lit: bool,
    /// Bright or dark.
    pub theme: Theme,
    /// How large text is, 1 being usual.
    pub font_scale: f64,
    /// The windows from the bottom to the top.
    pub windows: Vec<Window>,
}

impl Snapshot {
    /// The window that has the focus: the topmost that is not the keyboard.
    pub fn active(&self) -> Option<&Window> {
        (self.windows.iter().rev()).find(|w| w.kind != WindowKind::Keyboard)
    }

    /// The node with that key, and its window.
    pub fn find(&self, key: NodeKey) -> Option<(&Window, &Node)> {
        self.windows.iter().find_map(|window| {
            let node = window.nodes.iter().find(|n| n.key == key)?;
            Some((window, node))
        })
    }
}

/// What a window is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WindowKind {
    /// The launcher or home screen.
    Launcher,
    /// An app that has not drawn yet; it has only a root.
    Starting,
    /// An app.
    App,
    /// A dialog of the app below it.
    Dialog,
    /// The keyboard.
    Keyboard,
    /// A dialog of the system, above everything.
    SystemDialog,
}

/// One window.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// What it is for.
    pub kind: WindowKind,
    /// The app it belongs to; for a dialog of the system, the package that shows it.
    pub app: AppId,
    /// The app's name, or the dialog's title.
    pub title: String,
    /// Android: the activity's full class name.
    pub activity: String,
    /// The screen's name in the app file, empty outside of apps.
    pub screen: String,
    /// Where it is.
    pub bounds: Rect,
    /// Its nodes in document order; the first is the root, over the whole window.
    pub nodes: Vec<Node>,
}

impl Window {
    /// The children of the node at `index`, in order.
    pub fn children(&self, index: usize) -> impl Iterator<Item = (usize, &Node)> {
        (self.nodes.iter().enumerate()).filter(move |(_, node)| node.parent == Some(index))
    }
}

/// A node's identity: the same element (and row) has the same key in every snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct NodeKey(pub u64);

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeRole {
    /// The window itself.
    Root,
    /// The bar at the top of a screen.
    Bar,
    /// The bar's title.
    BarTitle,
    /// The bar's way back.
    BackButton,
    /// The card of a dialog.
    Dialog,
    /// Its title.
    DialogTitle,
    /// Its message.
    DialogText,
    /// One of its answers, by its place.
    DialogButton(u8),
    /// The keyboard.
    Keyboard,
    /// A key of it.
    Key,
    /// An app on the home screen.
    Icon,
    /// An element of the app file.
    Element(Role),
}

/// How far a scrolling node is scrolled, in dp or pt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScrollPosition {
    /// What has gone out at the top.
    pub offset: f64,
    /// The most that can.
    pub most: f64,
}

/// What can be said of a node in one word each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(missing_docs, reason = "the names are those of the platforms")]
pub struct Flags {
    pub enabled: bool,
    pub clickable: bool,
    pub long_clickable: bool,
    pub focusable: bool,
    pub focused: bool,
    pub checkable: bool,
    pub checked: bool,
    pub selected: bool,
    pub scrollable: bool,
    pub password: bool,
}

/// One node of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Who it is.
    pub key: NodeKey,
    /// The index of the node it stands in; `None` for the root.
    pub parent: Option<usize>,
    /// What it is.
    pub role: NodeRole,
    /// Its id in the app file; empty when it has none.
    pub id: String,
    /// What it shows: a label, or a field's value (dots for a password).
    pub text: String,
    /// What a screen reader says instead.
    pub desc: String,
    /// What stands in the field while it is empty.
    pub hint: String,
    /// Where it is, parts outside of the screen or of its list included.
    pub bounds: Rect,
    /// The part that is inside of the screen and of all it stands in; empty when nothing is.
    pub visible: Rect,
    /// One word each.
    pub flags: Flags,
    /// For something that scrolls.
    pub scrolled: Option<ScrollPosition>,
}

impl Node {
    /// Whether any of it can be seen. Other windows may still lie above it.
    pub fn is_visible(&self) -> bool {
        !self.visible.is_empty()
    }

    /// The middle of what can be seen of it.
    pub fn centre(&self) -> Point {
        self.visible.centre()
    }

    /// The role in the app file, when it comes from there.
    pub const fn element(&self) -> Option<Role> {
        match self.role {
            NodeRole::Element(role) => Some(role),
            _ => None,
        }
    }
}
