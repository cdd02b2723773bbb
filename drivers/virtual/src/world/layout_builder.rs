//! Where the elements of a screen stand: frames, flow, rows and scroll offsets.

use std::sync::Arc;

use crate::app::{Element, Items, Record, Role, Value};
use crate::geometry::Rect;
use crate::shape::Platform;
use crate::world::layout::{Target, WindowLayout};
use crate::world::running::{Row, Scope};
use crate::world::snapshot::{Flags, Node, NodeKey, NodeRole, ScrollPosition};

/// Space left and right of an element without a frame, on the app's canvas.
const MARGIN: f64 = 16.0;
/// Space between two elements without frames.
const GAP: f64 = 12.0;
/// The most rows outside of the screen that iOS lists.
const MAX_HIDDEN_ROWS: usize = 200;

/// Puts the nodes of one window together.
pub(super) struct LayoutBuilder<'a> {
    pub scope: Scope<'a>,
    /// Device width per canvas width.
    pub stretch: f64,
    /// Height per height on the canvas: larger text makes everything taller.
    pub text: f64,
    pub layout: WindowLayout,
}

/// Where something is placed: in what node, in which area, seen through which opening.
#[derive(Clone)]
pub(super) struct Placement {
    pub parent: usize,
    pub area: Rect,
    pub clip: Rect,
    pub enabled: bool,
    pub key: u64,
    pub row: Option<Row>,
}

/// One more step of a node's identity. (FNV-1a)
pub(super) fn step(key: u64, with: u64) -> u64 {
    with.to_le_bytes().iter().fold(key, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The identity of something with a name.
pub(super) fn named(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl LayoutBuilder<'_> {
    /// Places elements below each other or by their frames; returns how high they are together.
    pub fn place(&mut self, elements: &[Arc<Element>], placement: Placement) -> f64 {
        let (mut flow, mut lowest) = (placement.area.y + GAP, placement.area.y);
        for (i, element) in elements.iter().enumerate() {
            let scope = self.scope_of(placement.row.as_ref());
            if !scope.holds(element.visible_if.as_ref().map(|c| &c.value)) {
                continue;
            }
            let bounds = self.bounds(element, &placement.area, flow);
            let index = self.place_one(
                element,
                bounds,
                Placement {
                    key: step(placement.key, i as u64),
                    ..placement.clone()
                },
            );
            let bottom = self.layout.window.nodes[index].bounds.bottom();
            lowest = lowest.max(bottom);
            flow = flow.max(bottom + GAP);
        }
        lowest - placement.area.y
    }

    fn bounds(&self, element: &Element, area: &Rect, flow: f64) -> Rect {
        let (stretch, text) = (self.stretch, self.text);
        let Some(frame) = element.frame else {
            let height = text * element.height.unwrap_or(element.role.default_height());
            let x = area.x + MARGIN * stretch;
            return Rect::new(x, flow, area.w - 2.0 * MARGIN * stretch, height);
        };
        let x = area.x + frame.x * stretch;
        let y = if frame.y < 0.0 {
            area.bottom() + frame.y * text
        } else {
            area.y + frame.y * text
        };
        let w = if frame.w > 0.0 {
            frame.w * stretch
        } else {
            area.right() - x + frame.w * stretch
        };
        let h = if frame.h > 0.0 {
            frame.h * text
        } else {
            area.bottom() - y + frame.h * text
        };
        Rect::new(x, y, w, h)
    }

    /// Places one element at `bounds`; returns its index.
    pub fn place_one(
        &mut self,
        element: &Arc<Element>,
        bounds: Rect,
        placement: Placement,
    ) -> usize {
        let node = self.node(element, bounds, &placement);
        let enabled = node.flags.enabled;
        let visible = node.visible;
        let key = node.key;
        let index = self.layout.add(
            node,
            Target::Element(element.clone(), placement.row.clone()),
        );
        let inside = Placement {
            parent: index,
            area: bounds,
            clip: visible,
            enabled,
            ..placement.clone()
        };
        match element.role {
            Role::List => self.list(element, key, inside),
            Role::Scroll => self.scroll(&element.elements, key, inside),
            Role::Group if bounds.h == 0.0 => {
                // Its height is that of its content, which is seen through the same opening.
                let open = Placement {
                    clip: placement.clip,
                    ..inside
                };
                let height = self.place(&element.elements, open);
                let node = &mut self.layout.window.nodes[index];
                node.bounds.h = height;
                node.visible = node.bounds.clip(&placement.clip);
            }
            _ => {
                self.place(&element.elements, inside);
            }
        }
        index
    }

    fn scroll(&mut self, elements: &[Arc<Element>], key: NodeKey, placement: Placement) {
        let offset = self.offset(key);
        let shifted = Placement {
            area: Rect {
                y: placement.area.y - offset,
                ..placement.area
            },
            ..placement.clone()
        };
        let before = self.layout.window.nodes.len();
        let height = self.place(elements, shifted) + GAP;
        let most = (height - placement.area.h).max(0.0);
        self.set_scrolled(placement.parent, offset.min(most), most);
        // The content became shorter than it was scrolled: put it back to where it ends.
        let excess = offset - offset.min(most);
        if excess > 0.0 {
            for node in &mut self.layout.window.nodes[before..] {
                node.bounds.y += excess;
                node.visible = node.bounds.clip(&placement.clip);
            }
        }
    }

    fn list(&mut self, list: &Element, key: NodeKey, placement: Placement) {
        let Some(item) = &list.item else {
            return self.scroll(&list.elements, key, placement);
        };
        let rows = self.rows(list);
        let height = item.height.unwrap_or(Role::Cell.default_height()).max(1.0) * self.text;
        let most = (height * rows.len() as f64 - placement.area.h).max(0.0);
        let offset = self.offset(key).min(most);
        self.set_scrolled(placement.parent, offset, most);
        let mut hidden = 0;
        for (place, row) in rows.into_iter().enumerate() {
            let y = placement.area.y + height * place as f64 - offset;
            let bounds = Rect::new(placement.area.x, y, placement.area.w, height);
            if bounds.clip(&placement.clip).is_empty() {
                // Android detaches rows that are scrolled out; iOS still lists them.
                hidden += 1;
                if self.scope.platform == Platform::Android || hidden > MAX_HIDDEN_ROWS {
                    continue;
                }
            }
            let index = self.place_one(
                item,
                bounds,
                Placement {
                    key: step(placement.key, 0x1_0000 + row.index as u64),
                    row: Some(row),
                    ..placement.clone()
                },
            );
            if item.role == Role::Text {
                self.layout.window.nodes[index].role = NodeRole::Element(Role::Cell);
            }
        }
    }

    /// The rows a list shows, filtered.
    fn rows(&self, list: &Element) -> Vec<Row> {
        let records: &[Arc<Record>] = match &list.items {
            None => &[],
            Some(Items::These(records)) => records,
            Some(Items::Of(name)) => match self.scope.run.variable(&name.value) {
                Some(Value::List(records)) => records,
                _ => &[],
            },
        };
        let record = |i: usize| match records.len() {
            0 => Arc::default(),
            n => records[i % n].clone(),
        };
        let rows = (0..list.repeat.unwrap_or(records.len())).map(|index| Row {
            index,
            record: record(index),
        });
        let filter = list.filter.as_ref().map(|c| &c.value);
        rows.filter(|row| self.scope_of(Some(row)).holds(filter))
            .collect()
    }

    fn scope_of(&self, row: Option<&Row>) -> Scope<'_> {
        Scope {
            row: row.cloned(),
            ..self.scope
        }
    }

    fn offset(&self, key: NodeKey) -> f64 {
        self.scope.run.scrolled.get(&key).copied().unwrap_or(0.0)
    }

    fn set_scrolled(&mut self, index: usize, offset: f64, most: f64) {
        let node = &mut self.layout.window.nodes[index];
        node.scrolled = Some(ScrollPosition { offset, most });
        node.flags.scrollable = most > 0.0;
        node.flags.focusable |= most > 0.0;
    }

    fn node(&self, element: &Element, bounds: Rect, placement: &Placement) -> Node {
        let scope = self.scope_of(placement.row.as_ref());
        let key = NodeKey(placement.key);
        let role = element.role;
        let value = match &element.bind {
            Some(bind) => scope.value(&bind.value),
            None if role.is_input() => {
                Value::Text(scope.run.typed.get(&key).cloned().unwrap_or_default())
            }
            None => Value::Null,
        };
        let text = match role {
            Role::Secure => "•".repeat(value.to_string().chars().count()),
            Role::Input | Role::Search => value.to_string(),
            _ => scope.words(element.text.as_ref()),
        };
        let clickable = !element.tap.is_empty()
            || role.is_input()
            || role.is_toggle()
            || matches!(role, Role::Button | Role::Link);
        let enabled = |condition: Option<&crate::document::At<_>>| {
            scope.holds(condition.map(|c: &crate::document::At<crate::app::Condition>| &c.value))
        };
        Node {
            key,
            parent: Some(placement.parent),
            role: NodeRole::Element(role),
            id: element.id.clone().unwrap_or_default(),
            text,
            desc: scope.words(element.desc.as_ref()),
            hint: scope.words(element.hint.as_ref()),
            bounds,
            visible: bounds.clip(&placement.clip),
            flags: Flags {
                enabled: placement.enabled && enabled(element.enabled_if.as_ref()),
                clickable,
                long_clickable: !element.long_press.is_empty() || role.is_input(),
                focusable: clickable,
                focused: scope.run.focus == Some(key),
                checkable: role.is_toggle(),
                checked: role.is_toggle() && value.is_truthy(),
                selected: element.selected_if.is_some() && enabled(element.selected_if.as_ref()),
                scrollable: false,
                password: role == Role::Secure,
            },
            scrolled: None,
        }
    }
}
