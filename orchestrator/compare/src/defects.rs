//! Layout defects of phones, as they show in bounds: what crosses the screen's edge where nothing
//! scrolls, and elements to act on that overlap. What covers what does not show in bounds.

use packtrain_drivers::{Defect, DefectKind, Rect};
use packtrain_model::screen::{ScreenNode, ScreenTree};

use crate::normal::is_actionable;

/// Shadows and rounding reach over an edge; less than this is not a defect, in units of the bounds.
const TOLERANCE: i32 = 2;
/// Elements that are looked at for overlaps at most.
const MAX_ELEMENTS: usize = 500;

/// The defects of a screen, in document order.
pub fn of(tree: &ScreenTree) -> Vec<Defect> {
    let mut defects = crossings(tree);
    defects.extend(overlaps(tree));
    defects
}

/// `button "Buy"`, as reports name an element.
pub fn named(node: &ScreenNode) -> String {
    match node.name.as_str() {
        "" => node.role.clone(),
        name => format!("{} \"{name}\"", node.role),
    }
}

/// A defect as a sentence: `button "Buy" overlaps link "Help"`.
pub fn sentence(defect: &Defect) -> String {
    let other = defect.other.iter().map(|other| format!(" {other}"));
    let other: String = other.collect();
    format!("{} {}{other}", defect.element, defect.kind.words())
}

fn crossings(tree: &ScreenTree) -> Vec<Defect> {
    let (width, height) = (tree.width.round() as i32, tree.height.round() as i32);
    let mut defects = Vec::new();
    // The depth of the outermost node that scrolls, while below it.
    let mut scroller: Option<u32> = None;
    for node in &tree.nodes {
        if scroller.is_some_and(|depth| node.depth <= depth) {
            scroller = None;
        }
        if scroller.is_none() && matches!(node.role.as_str(), "scroller" | "list" | "table") {
            scroller = Some(node.depth);
        }
        let Some(at @ [left, top, right, bottom]) = node.bounds else {
            continue;
        };
        let is_content =
            is_actionable(&node.role) || matches!(node.role.as_str(), "text" | "heading" | "image");
        let is_in_view = left < width && top < height && right > 0 && bottom > 0;
        let over = (-left).max(-top).max(right.saturating_sub(width));
        let over = over.max(bottom.saturating_sub(height));
        if scroller.is_none() && is_content && is_in_view && over > TOLERANCE && width > 0 {
            defects.push(Defect {
                kind: DefectKind::CrossesEdge,
                element: named(node),
                other: None,
                at: Some(rect(at)),
                by: Some(f64::from(over)),
            });
        }
    }
    defects
}

fn overlaps(tree: &ScreenTree) -> Vec<Defect> {
    let elements = tree.nodes.iter().enumerate();
    let elements = elements.filter(|(_, node)| is_actionable(&node.role));
    let elements = elements.filter_map(|(place, node)| Some((place, node, node.bounds?)));
    let elements: Vec<(usize, &ScreenNode, [i32; 4])> = elements.take(MAX_ELEMENTS).collect();
    let mut defects = Vec::new();
    for (index, (place, one, at)) in elements.iter().enumerate() {
        for (other_place, other, with) in &elements[index + 1..] {
            let across = at[2].min(with[2]).saturating_sub(at[0].max(with[0]));
            let down = at[3].min(with[3]).saturating_sub(at[1].max(with[1]));
            let over = across.min(down);
            // One that holds another whole is its row, or its parent.
            if over > TOLERANCE
                && !holds(*at, *with)
                && !holds(*with, *at)
                && !is_below(tree, *place, *other_place)
            {
                defects.push(Defect {
                    kind: DefectKind::Overlaps,
                    element: named(one),
                    other: Some(named(other)),
                    at: Some(rect(*at)),
                    by: Some(f64::from(over)),
                });
            }
        }
    }
    defects
}

/// Whether a later node is below an earlier one in the tree.
fn is_below(tree: &ScreenTree, place: usize, later: usize) -> bool {
    let depth = tree.nodes[place].depth;
    let mut between = tree.nodes[place + 1..=later].iter();
    between.all(|node| node.depth > depth)
}

fn holds(outer: [i32; 4], inner: [i32; 4]) -> bool {
    outer[0] <= inner[0] && outer[1] <= inner[1] && outer[2] >= inner[2] && outer[3] >= inner[3]
}

fn rect(at: [i32; 4]) -> Rect {
    let [left, top, right, bottom] = at.map(f64::from);
    Rect::new(left, top, right, bottom)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(nodes: &[(u32, &str, &str, [i32; 4])]) -> ScreenTree {
        ScreenTree {
            width: 390.0,
            height: 844.0,
            nodes: nodes
                .iter()
                .map(|(depth, role, name, at)| ScreenNode {
                    depth: *depth,
                    role: (*role).to_owned(),
                    name: (*name).to_owned(),
                    bounds: Some(*at),
                    ..ScreenNode::default()
                })
                .collect(),
            ..ScreenTree::default()
        }
    }

    fn found(nodes: &[(u32, &str, &str, [i32; 4])]) -> Vec<(DefectKind, String, f64)> {
        of(&screen(nodes))
            .into_iter()
            .map(|defect| (defect.kind, defect.element, defect.by.unwrap_or_default()))
            .collect()
    }

    #[test]
    fn an_element_over_the_edge_is_a_defect_unless_something_scrolls() {
        let over = (1, "button", "Cart", [350, 0, 404, 40]);
        assert_eq!(
            found(&[over]),
            [(DefectKind::CrossesEdge, "button \"Cart\"".to_owned(), 14.0)]
        );
        assert_eq!(found(&[(0, "scroller", "", [0, 0, 390, 844]), over]), []);
        let beside = (0, "scroller", "", [0, 50, 390, 844]);
        assert_eq!(
            found(&[beside, (0, "button", "Cart", [350, 0, 404, 40])]).len(),
            1
        );
    }

    #[test]
    fn an_element_at_the_edge_or_wholly_out_of_view_is_none() {
        assert_eq!(found(&[(0, "button", "Cart", [350, 0, 391, 40])]), []);
        assert_eq!(found(&[(0, "button", "Next", [390, 0, 780, 40])]), []);
        assert_eq!(found(&[(0, "group", "Background", [-20, 0, 410, 40])]), []);
    }

    #[test]
    fn elements_to_act_on_that_overlap_are_a_defect_and_neighbours_are_none() {
        let buy = (0, "button", "Buy", [0, 0, 100, 40]);
        assert_eq!(
            found(&[buy, (0, "button", "Help", [90, 20, 200, 60])]),
            [(DefectKind::Overlaps, "button \"Buy\"".to_owned(), 10.0)]
        );
        assert_eq!(found(&[buy, (0, "button", "Help", [99, 0, 200, 40])]), []);
        assert_eq!(found(&[buy, (0, "text", "Help", [50, 0, 200, 40])]), []);
        assert_eq!(found(&[buy, (0, "button", "Close", [80, 10, 95, 30])]), []);
        assert_eq!(found(&[buy, (1, "button", "Close", [80, -2, 95, 30])]), []);
    }
}
