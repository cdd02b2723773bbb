//! Whether the on-screen keyboard lies over an element, as far as the tree tells. Pure.

use packtrain_drivers::selector::is_input_method;
use packtrain_drivers::{NodeDetail, NodeId, Point, Tree};

/// Whether a touch at `point`, meant for `wanted`, would hit the keyboard instead. A keyboard that
/// is not in the tree is not known of.
pub(super) fn is_under_keyboard(tree: &Tree, wanted: NodeId, point: Point) -> bool {
    tree.iter().any(|(id, node)| {
        let is_keyboard = match &node.detail {
            NodeDetail::Ios(node) => {
                node.element_type.as_deref() == Some("Keyboard") && node.is_visible
            }
            // The keyboard's window may fill the screen; its keys do not.
            NodeDetail::Android(node) => {
                node.is_clickable && node.is_visible && is_input_method(node.package.as_deref())
            }
            NodeDetail::Web(_) => false,
        };
        is_keyboard
            && node.bounds.is_some_and(|bounds| bounds.contains(point))
            && !belongs_to(tree, wanted, id)
    })
}

/// Whether an element is the keyboard's own.
fn belongs_to(tree: &Tree, wanted: NodeId, keyboard: NodeId) -> bool {
    let own_package = tree.get(wanted).is_some_and(|node| match &node.detail {
        NodeDetail::Android(node) => is_input_method(node.package.as_deref()),
        NodeDetail::Ios(_) | NodeDetail::Web(_) => false,
    });
    own_package || wanted == keyboard || tree.descendants(keyboard).contains(&wanted.0)
}
