//! What of an element can be seen, from its bounds and from what its platform says. Pure.

use std::collections::HashSet;

use packtrain_drivers::{NodeDetail, NodeId, Rect, Size, Snapshot, Tree};

/// Whether some of an element is in sight.
///
/// Both platforms call containers invisible whose contents are in plain sight, so an element is
/// in sight when anything in it is.
pub(crate) fn in_sight(tree: &Tree, id: NodeId, screen: Size) -> bool {
    let on_screen = |id| {
        tree.get(id)
            .and_then(|node| node.bounds)
            .is_none_or(|bounds| visible_part(bounds, screen).is_some())
    };
    let called_visible = |id| {
        tree.get(id).is_some_and(|node| match &node.detail {
            NodeDetail::Android(node) => node.is_visible,
            NodeDetail::Ios(node) => node.is_visible,
            NodeDetail::Web(_) => true,
        })
    };
    on_screen(id)
        && (called_visible(id)
            || tree
                .descendants(id)
                .map(NodeId)
                .any(|inner| called_visible(inner) && on_screen(inner)))
}

/// The part of a rectangle that lies on the screen; all of it when the screen's size is unknown.
pub(crate) fn visible_part(bounds: Rect, screen: Size) -> Option<Rect> {
    let screen = screen.to_rect();
    if screen.is_empty() {
        return (!bounds.is_empty()).then_some(bounds);
    }
    bounds.intersection(&screen)
}

/// How much of a rectangle lies on the screen, from 0 to 1. What is larger than the screen counts
/// as whole once it fills it.
pub(crate) fn visible_share(bounds: Rect, screen: Size) -> f64 {
    let Some(part) = visible_part(bounds, screen) else {
        return 0.0;
    };
    let whole = screen.to_rect();
    let most = |extent: f64, limit: f64| {
        if limit > 0.0 {
            extent.min(limit)
        } else {
            extent
        }
    };
    (part.width() / most(bounds.width(), whole.width()))
        * (part.height() / most(bounds.height(), whole.height()))
}

/// The order in which matches are used: from top to bottom, then left to right, without bounds
/// last; otherwise as in the document.
pub(crate) fn sort(tree: &Tree, ids: &mut [NodeId]) {
    let position = |id: NodeId| {
        tree.get(id)
            .and_then(|node| node.bounds)
            // Adding zero makes the two zeros equal.
            .map_or((f64::INFINITY, f64::INFINITY), |bounds| {
                (bounds.top + 0.0, bounds.left + 0.0)
            })
    };
    ids.sort_by(|&a, &b| {
        let (a, b) = (position(a), position(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
}

/// Whether a look shows texts in sight that the one before did not, and more than a clock would
/// bring. At the end of a list, where it only springs back, there are none.
pub(crate) fn shows_more(before: &Snapshot, after: &Snapshot) -> bool {
    let known: HashSet<&str> = texts_in_sight(before).collect();
    let new: HashSet<&str> = texts_in_sight(after)
        .filter(|text| !known.contains(text))
        .collect();
    new.len() > 1
}

/// The texts of what lies on the screen; iOS tells of all lines of a list, seen or not.
fn texts_in_sight(snapshot: &Snapshot) -> impl Iterator<Item = &str> {
    let screen = snapshot.screen;
    let on_screen = move |bounds| visible_part(bounds, screen).is_some();
    let nodes = snapshot.tree.nodes().iter();
    let seen = nodes.filter(move |node| node.bounds.is_none_or(on_screen));
    seen.flat_map(|node| {
        let texts = match &node.detail {
            NodeDetail::Android(node) => [&node.text, &node.content_description],
            NodeDetail::Ios(node) => [&node.label, &node.value],
            NodeDetail::Web(node) => [&node.name, &node.value],
        };
        texts.into_iter().filter_map(|text| text.as_deref())
    })
}
