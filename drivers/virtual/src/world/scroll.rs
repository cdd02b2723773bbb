//! Scrolling: by a finger, and to a node.

use crate::geometry::{Point, Rect};
use crate::world::World;
use crate::world::snapshot::{Node, NodeKey};

impl World {
    /// Scrolls what lies at `at` by `by`; positive shows what is further down.
    pub(super) fn scroll_at(&mut self, at: Point, by: f64) {
        let nodes = self.window_at(at).map(|layout| layout.window.nodes);
        let scrolls = |n: &Node| n.flags.scrollable && n.visible.contains(at);
        if let Some(node) = nodes.into_iter().flatten().rfind(scrolls) {
            self.scroll_by(node.key, by);
        }
    }

    /// Scrolls the node by `by`, as an accessibility action does; false when it cannot.
    pub fn scroll_by(&mut self, key: NodeKey, by: f64) -> bool {
        let scrolled = (self.lay_out().iter())
            .flat_map(|l| &l.window.nodes)
            .find(|n| n.key == key)
            .and_then(|n| n.scrolled);
        let Some(scrolled) = scrolled else {
            return false;
        };
        let to = (scrolled.offset + by).clamp(0.0, scrolled.most);
        let moves = (to - scrolled.offset).abs() > 0.5;
        self.scroll_to(key, to);
        moves
    }

    /// Scrolls until the node is seen as a whole; false when it is not there.
    pub fn scroll_into_view(&mut self, key: NodeKey) -> bool {
        let window_layout = self.lay_out();
        for window in window_layout.iter().map(|l| &l.window) {
            let Some(node) = window.nodes.iter().find(|n| n.key == key) else {
                continue;
            };
            let mut above = node.parent;
            while let Some(index) = above {
                let container = &window.nodes[index];
                if let Some(scrolled) = container.scrolled {
                    let by = out_of(&node.bounds, &container.visible);
                    let to = (scrolled.offset + by).clamp(0.0, scrolled.most);
                    let container = container.key;
                    self.scroll_to(container, to);
                    return true;
                }
                above = container.parent;
            }
            return true;
        }
        false
    }

    fn scroll_to(&mut self, key: NodeKey, offset: f64) {
        let Some(run) = self.front_run_mut() else {
            return;
        };
        let before = run.scrolled.insert(key, offset).unwrap_or(0.0);
        if (before - offset).abs() > 0.01 {
            self.moved();
        }
    }
}

/// How far `node` must move up to be inside of `opening`; negative means down.
fn out_of(node: &Rect, opening: &Rect) -> f64 {
    if node.y < opening.y {
        node.y - opening.y
    } else if node.bottom() > opening.bottom() {
        (node.bottom() - opening.bottom()).min(node.y - opening.y)
    } else {
        0.0
    }
}
