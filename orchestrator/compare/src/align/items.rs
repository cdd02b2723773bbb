//! What differs between two aligned screens, as a list.

use packtrain_model::screen::{ScreenNode, ScreenTree};

use super::text::is_raw_key;
use super::{Alignment, Prepared};
use crate::answer::{Item, ItemKind};
use crate::normal::is_actionable;

pub(super) fn of(was: &Prepared<'_>, is: &Prepared<'_>, alignment: &Alignment) -> Vec<Item> {
    let mut items = Vec::new();
    let moved = moved(was, is, alignment);
    for (place, node) in was.tree.nodes.iter().enumerate() {
        let other = alignment.to[place];
        if let Some(other) = other {
            pair(was, is, (place, other), &mut items);
        } else if stands_alone(was, &alignment.to, place) {
            items.push(item(ItemKind::Missing, node, None));
        }
        if moved[place] {
            let at = other.and_then(|other| is.tree.nodes[other].bounds);
            items.push(item(ItemKind::Order, node, at));
        }
    }
    for (place, node) in is.tree.nodes.iter().enumerate() {
        if alignment.from[place].is_none() && stands_alone(is, &alignment.from, place) {
            let kind = if is_raw_key(&node.name) {
                ItemKind::RawKey
            } else {
                ItemKind::Added
            };
            items.push(item(kind, node, None));
        }
    }
    // What is missing or new moves others in and out of view.
    if items.iter().any(|item| item.kind.moves_others()) {
        items.retain(|item| !matches!(item.kind, ItemKind::OutOfView | ItemKind::IntoView));
    }
    items
}

/// Whether a node that only one screen has is reported on its own: what a person can act on, headings and
/// dialogs always; others unless their container is reported already.
fn stands_alone(side: &Prepared<'_>, aligned: &[Option<usize>], place: usize) -> bool {
    let node = &side.tree.nodes[place];
    if stands_by_itself(&node.role) {
        return true;
    }
    !node.name.is_empty() && side.parents[place].is_none_or(|parent| aligned[parent].is_some())
}

/// Whether elements of a role are reported regardless of their container.
pub(crate) fn stands_by_itself(role: &str) -> bool {
    is_actionable(role) || matches!(role, "heading" | "dialog")
}

fn item(kind: ItemKind, node: &ScreenNode, at: Option<[i32; 4]>) -> Item {
    Item {
        kind,
        role: node.role.clone(),
        name: node.name.clone(),
        at: at.or(node.bounds),
        ..Item::default()
    }
}

fn pair(
    was: &Prepared<'_>,
    is: &Prepared<'_>,
    (place, other): (usize, usize),
    items: &mut Vec<Item>,
) {
    let (one, two) = (&was.tree.nodes[place], &is.tree.nodes[other]);
    let mut push = |kind, was: Option<String>, is: Option<String>| {
        items.push(Item {
            was,
            is,
            ..item(kind, one, two.bounds)
        });
    };
    if was.names[place] != is.names[other] {
        let kind = if is_raw_key(&two.name) && !is_raw_key(&one.name) {
            ItemKind::RawKey
        } else {
            ItemKind::Name
        };
        push(kind, Some(one.name.clone()), Some(two.name.clone()));
    }
    if was.values[place] != is.values[other] {
        push(ItemKind::Value, one.value.clone(), two.value.clone());
    }
    if one.states != two.states {
        let [was, is] = [one, two].map(|node| Some(node.states.join(", ")));
        push(ItemKind::State, was, is);
    }
    if !is_actionable(&one.role) && one.role != "heading" {
        return;
    }
    match (in_view(was.tree, one), in_view(is.tree, two)) {
        (Some(true), Some(false)) => push(ItemKind::OutOfView, None, None),
        (Some(false), Some(true)) => push(ItemKind::IntoView, None, None),
        _ => (),
    }
}

/// Whether any of a node is on the screen; `None` when that is not known.
pub(crate) fn in_view(tree: &ScreenTree, node: &ScreenNode) -> Option<bool> {
    let [left, top, right, bottom] = node.bounds?.map(f64::from);
    let is_known = tree.width > 0.0 && tree.height > 0.0;
    is_known.then_some(
        left < tree.width && top < tree.height && right > 0.0 && bottom > 0.0 && right > left,
    )
}

/// Which nodes stand in another order: those outside the longest run that kept it. Of a part that
/// moved as a whole, only its top is reported.
fn moved(was: &Prepared<'_>, is: &Prepared<'_>, alignment: &Alignment) -> Vec<bool> {
    let aligned = alignment.to.iter().enumerate();
    let aligned = aligned.filter_map(|(place, other)| Some((place, (*other)?)));
    let (places, others): (Vec<usize>, Vec<usize>) = aligned.unzip();
    let mut moved = vec![false; alignment.to.len()];
    for (place, is_out) in places.into_iter().zip(out_of_order(&others)) {
        moved[place] = is_out;
    }
    let with_parent = |place: usize| {
        let (parent, other) = was.parents[place].zip(alignment.to[place])?;
        // It moved with its parent when both screens have it in the same one.
        (moved[parent] && is.parents[other] == alignment.to[parent]).then_some(())
    };
    let is_told = |place: usize| {
        let says = !was.tree.nodes[place].name.is_empty();
        moved[place] && says && with_parent(place).is_none()
    };
    (0..moved.len()).map(is_told).collect()
}

/// Which of these stand outside of the longest run that rises.
pub(crate) fn out_of_order(sequence: &[usize]) -> Vec<bool> {
    // Patience sorting: the last of each pile, and what was before each.
    let mut piles: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(sequence.len());
    for (index, place) in sequence.iter().enumerate() {
        let pile = piles.partition_point(|last| sequence[*last] < *place);
        before.push(pile.checked_sub(1).map(|pile| piles[pile]));
        if pile == piles.len() {
            piles.push(index);
        } else {
            piles[pile] = index;
        }
    }
    let mut is_out = vec![true; sequence.len()];
    let mut next = piles.last().copied();
    while let Some(index) = next {
        is_out[index] = false;
        next = before[index];
    }
    is_out
}
