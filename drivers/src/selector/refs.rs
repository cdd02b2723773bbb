//! Snapshot references: short names for what is on the screen, and the list people read.
//!
//! A name is a letter and up to three digits, from a hash of what an element is and where it
//! lies to the nearest ten units, so the same screen gives the same names again; equal ones get
//! a letter behind it (`k42`, `k42b`). What changes by using an element, such as the text in a
//! field or a check mark, is not hashed. Pages bring names of their own, which are kept.

mod label;

use std::collections::HashMap;
use std::fmt::Write as _;

use super::condition::identifier;
use crate::command::SnapshotDetail;
use crate::geometry::{Rect, Size};
use crate::mark::{has_app, is_system};
use crate::observation::SnapshotRef;
use crate::tree::{AndroidNode, IosNode, Node, NodeDetail, NodeId, Tree, WebNode};

pub(super) use label::{describe, label, role};

/// Deepest indentation of the list, in levels: deeper trees are no easier to read for it.
const MAX_INDENT: usize = 20;

/// The references of a screen and the list in which they are shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RefList {
    /// In document order.
    pub refs: Vec<SnapshotRef>,
    /// One line per reference, indented like the tree: `[y778] Button "Sign in" [disabled]`.
    pub text: String,
}

/// The references of what can be seen, in document order.
pub fn refs(tree: &Tree, screen: Size) -> Vec<SnapshotRef> {
    list_refs(tree, screen, SnapshotDetail::default()).refs
}

/// The element a reference stands for, on the same screen or on one that looks the same.
pub fn find_ref(tree: &Tree, screen: Size, name: &str) -> Option<NodeId> {
    let everything = SnapshotDetail {
        offscreen: true,
        ..SnapshotDetail::default()
    };
    [SnapshotDetail::default(), everything]
        .into_iter()
        .flat_map(|detail| list_refs(tree, screen, detail).refs)
        .find(|reference| reference.name == name)
        .and_then(|reference| reference.node)
}

/// The references of a screen and the list of them. `screen` of no size means unknown.
pub fn list_refs(tree: &Tree, screen: Size, detail: SnapshotDetail) -> RefList {
    let mut list = RefList::default();
    let mut names = Names::default();
    // The listed elements the current one lies in: where each ends, and its label.
    let mut open: Vec<(u32, String)> = Vec::new();
    let skip_system = has_app(tree);
    let mut hidden = 0_usize;
    // Typing does not use the keys of a keyboard: they are one line.
    let (mut keys, mut keyboard_end) = (0_usize, 0);
    for (id, node) in tree.iter() {
        while open.last().is_some_and(|(end, _)| *end <= id.0) {
            open.pop();
        }
        let label = label(tree, id);
        let is_key = match &node.detail {
            NodeDetail::Android(detail) => is_input_method(detail.package.as_deref()),
            NodeDetail::Ios(detail) if detail.element_type.as_deref() == Some("Keyboard") => {
                keyboard_end = tree.descendants(id).end;
                true
            }
            NodeDetail::Ios(_) | NodeDetail::Web(_) => id.0 < keyboard_end,
        };
        if (skip_system && is_system(node)) || !is_meaningful(node, label.as_deref()) {
            continue;
        }
        // The text of a button is often an element of its own: once is enough.
        let repeats = open
            .last()
            .is_some_and(|(_, outer)| label.as_ref() == Some(outer));
        if repeats && !is_interactive(node) {
            continue;
        }
        if !detail.offscreen && !is_on_screen(node, screen) {
            hidden += 1;
            continue;
        }
        if is_key && !detail.offscreen {
            keys += 1;
            continue;
        }
        let reference = SnapshotRef {
            name: names.next(tree, id, node),
            node: Some(id),
            role: role(node),
            label: label.unwrap_or_default(),
            bounds: node.bounds,
        };
        let _ = writeln!(
            list.text,
            "{:indent$}{}",
            "",
            line(&reference, node, detail.bounds),
            indent = open.len().min(MAX_INDENT) * 2
        );
        open.push((tree.descendants(id).end, reference.label.clone()));
        list.refs.push(reference);
    }
    if list.refs.is_empty() {
        list.text.push_str("(no elements)\n");
    }
    if keys > 0 {
        let _ = writeln!(list.text, "(keyboard, {keys} keys)");
    }
    if hidden > 0 {
        let _ = writeln!(list.text, "({hidden} more out of sight)");
    }
    list.text.truncate(list.text.trim_end().len());
    list
}

/// Whether an Android package is an on-screen keyboard's.
pub fn is_input_method(package: Option<&str>) -> bool {
    package.is_some_and(|package| package.split('.').any(|part| part == "inputmethod"))
}

/// A label in quotes, which it cannot end by itself: what an app shows names no other element.
pub fn quoted_label(label: &str) -> String {
    format!("\"{}\"", label.replace('\\', "\\\\").replace('"', "\\\""))
}

fn line(reference: &SnapshotRef, node: &Node, bounds: bool) -> String {
    let mut line = format!("[{}] {}", reference.name, reference.role);
    if !reference.label.is_empty() {
        let _ = write!(line, " {}", quoted_label(&reference.label));
    }
    for state in states(&node.detail) {
        // Whatever an app calls its states, an element is one line.
        if let Some(state) = label::tidy(Some(&state)) {
            let _ = write!(line, " [{state}]");
        }
    }
    if let Some(Rect { left, top, .. }) = node.bounds.filter(|_| bounds) {
        let size = node.bounds.map_or((0.0, 0.0), |b| (b.width(), b.height()));
        let _ = write!(line, " {{{left:.0},{top:.0},{:.0},{:.0}}}", size.0, size.1);
    }
    line
}

fn states(detail: &NodeDetail) -> Vec<String> {
    match detail {
        NodeDetail::Android(node) => android_states(node),
        NodeDetail::Ios(node) => ios_states(node),
        NodeDetail::Web(node) => web_states(node),
    }
}

fn android_states(node: &AndroidNode) -> Vec<String> {
    let check = if node.is_checked {
        "checked"
    } else {
        "unchecked"
    };
    let mut states = named(&[
        (check, node.is_checkable),
        ("selected", node.is_selected),
        ("focused", node.is_focused),
        ("disabled", !node.is_enabled),
        ("password", node.is_password),
        ("heading", node.is_heading),
        ("scrollable", node.is_scrollable),
    ]);
    states.extend(
        node.state_description
            .iter()
            .map(|state| format!("state {state}")),
    );
    let id = node.unique_id.as_ref().or(node.resource_id.as_ref());
    states.extend(id.map(|id| format!("id {id}")));
    states
}

fn ios_states(node: &IosNode) -> Vec<String> {
    let is_switch = matches!(node.element_type.as_deref(), Some("Switch" | "Toggle"));
    let check = match node.value.as_deref() {
        Some("1") => "checked",
        _ => "unchecked",
    };
    let mut states = named(&[
        (check, is_switch),
        ("selected", node.is_selected),
        ("focused", node.is_focused),
        ("disabled", !node.is_enabled),
        ("scrollable", is_ios_scrollable(node)),
    ]);
    states.extend(identifier(node).map(|id| format!("id {id}")));
    states
}

fn web_states(node: &WebNode) -> Vec<String> {
    let level = node.level.map(|level| format!("level {level}"));
    let id = node.test_id.as_ref().map(|id| format!("id {id}"));
    level
        .into_iter()
        .chain(node.states.iter().cloned())
        .chain(id)
        .collect()
}

fn named(states: &[(&str, bool)]) -> Vec<String> {
    let held = states.iter().filter(|(_, held)| *held);
    held.map(|(name, _)| (*name).to_owned()).collect()
}

/// Whether a reader would miss the element.
fn is_meaningful(node: &Node, label: Option<&str>) -> bool {
    label.is_some() || is_interactive(node)
}

/// Whether the element can be acted on, or shows what was acted on.
fn is_interactive(node: &Node) -> bool {
    match &node.detail {
        NodeDetail::Android(node) => {
            node.is_clickable
                || node.is_long_clickable
                || node.is_editable
                || node.is_checkable
                || node.is_focused
                || node.is_selected
                || node.is_scrollable
        }
        NodeDetail::Ios(node) => {
            node.is_focused
                || node.is_selected
                || is_ios_scrollable(node)
                || matches!(
                    node.element_type.as_deref(),
                    Some(
                        "Button"
                            | "CheckBox"
                            | "ComboBox"
                            | "DatePicker"
                            | "Link"
                            | "MenuItem"
                            | "PickerWheel"
                            | "PopUpButton"
                            | "RadioButton"
                            | "SearchField"
                            | "SecureTextField"
                            | "SegmentedControl"
                            | "Slider"
                            | "Stepper"
                            | "Switch"
                            | "Tab"
                            | "TextField"
                            | "TextView"
                            | "Toggle"
                    )
                )
        }
        NodeDetail::Web(node) => node.reference.is_some(),
    }
}

fn is_ios_scrollable(node: &IosNode) -> bool {
    matches!(
        node.element_type.as_deref(),
        Some("ScrollView" | "Table" | "CollectionView" | "WebView")
    )
}

/// Whether some of the element can be seen. Children of invisible elements are looked at too:
/// both platforms call containers invisible whose contents are in plain sight.
fn is_on_screen(node: &Node, screen: Size) -> bool {
    let visible = match &node.detail {
        NodeDetail::Android(node) => node.is_visible,
        NodeDetail::Ios(node) => node.is_visible,
        NodeDetail::Web(_) => true,
    };
    let unknown = screen.to_rect().is_empty();
    visible
        && node.bounds.is_none_or(|bounds| {
            !bounds.is_empty() && (unknown || bounds.intersection(&screen.to_rect()).is_some())
        })
}

/// Gives out names and remembers which are taken.
#[derive(Default)]
struct Names {
    given: HashMap<String, u32>,
}

impl Names {
    fn next(&mut self, tree: &Tree, id: NodeId, node: &Node) -> String {
        if let NodeDetail::Web(web) = &node.detail
            && let Some(reference) = &web.reference
        {
            return reference.clone();
        }
        let base = short_hash(&identity(tree, id, node));
        let count = self.given.entry(base.clone()).or_default();
        *count += 1;
        match *count {
            1 => base,
            count => base + &letters(count),
        }
    }
}

/// What an element is and where, but not what it holds just now.
fn identity(tree: &Tree, id: NodeId, node: &Node) -> String {
    let tens = |value: f64| (value / 10.0).floor();
    let (x, y) = node.bounds.map_or((0.0, 0.0), |bounds| {
        let center = bounds.center();
        (tens(center.x), tens(center.y))
    });
    let name = label::lasting(tree, id).unwrap_or_default();
    let own = match &node.detail {
        NodeDetail::Android(node) => node.resource_id.as_deref(),
        NodeDetail::Ios(node) => identifier(node),
        NodeDetail::Web(node) => node.test_id.as_deref(),
    };
    format!("{}|{name}|{}|{x},{y}", role(node), own.unwrap_or_default())
}

/// A letter and up to three digits, from FNV-1a.
fn short_hash(identity: &str) -> String {
    let hash = identity
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    // The upper half is mixed better than the lower.
    let hash = hash >> 32;
    let letter = char::from(b'a' + u8::try_from(hash % 26).unwrap_or(0));
    format!("{letter}{}", hash / 26 % 1000)
}

/// 2 is `b`, 26 is `z`, 27 is `aa`, as columns of a spreadsheet.
fn letters(mut number: u32) -> String {
    let mut letters = String::new();
    while number > 0 {
        number -= 1;
        letters.insert(0, char::from(b'a' + u8::try_from(number % 26).unwrap_or(0)));
        number /= 26;
    }
    letters
}
