//! Conditions on one axis or fact, and which cells meet them.

use std::collections::{BTreeMap, BTreeSet};

use super::Name;
use super::bits::Bits;
use crate::answer;
use crate::order::rank;

/// A condition.
#[derive(Debug, Clone)]
pub(super) struct Literal {
    pub(super) told: answer::Literal,
    /// What is derived from the same thing is never taken for an explanation beside it.
    pub(super) family: String,
    /// Where it stands in a sentence: axes and facts in the order they are named.
    pub(super) order: usize,
    /// Whether a run can be asked for it: what follows from it is not an explanation of its own.
    pub(super) is_axis: bool,
    pub(super) bits: Bits,
}

impl Literal {
    pub(super) fn is(&self, told: &answer::Literal) -> bool {
        self.told == *told
    }
}

/// Conditions that the same cells meet.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) bits: Bits,
    /// The best reading of each family, the simplest first.
    pub(super) members: Vec<usize>,
    pub(super) family: String,
}

/// What a name is derived from: a screen's width follows from the viewport, and to tell them as two
/// explanations would be to tell one twice.
pub(super) fn family(name: &str) -> &str {
    match name {
        "viewport" | "size" | "width" | "height" | "orientation" | "density" => "screen",
        "engine" | "browser" => "engine",
        "device" | "platform" | "os" | "model" | "form" | "touch" => "device",
        other => other,
    }
}

/// How well a name reads among those of its family; the lower the better.
fn preference(name: &str, value: &str) -> usize {
    match name {
        "width" | "platform" => 1,
        // All of iOS may be tablets too.
        "form" if matches!(value, "iphone" | "ipad") => 0,
        "form" | "engine" | "orientation" => 2,
        "viewport" | "browser" | "os" => 3,
        "size" | "model" => 4,
        "device" => 5,
        "height" | "touch" | "density" => 6,
        _ => 0,
    }
}

/// All conditions on these cells that some meet and some do not.
pub(super) fn of(names: &[Name], cells: &[BTreeMap<String, String>]) -> Vec<Literal> {
    let mut literals = Vec::new();
    for (order, name) in names.iter().enumerate() {
        let of = |cell: &usize| cells[*cell].get(&name.name);
        let values: BTreeSet<&String> = (0..cells.len()).filter_map(|cell| of(&cell)).collect();
        let mut push = |is: &str,
                        value: &str,
                        next: Option<&str>,
                        is_alone: bool,
                        holds: &dyn Fn(&str) -> bool| {
            let meets = |cell: &usize| of(cell).is_some_and(|value| holds(value));
            literals.push(Literal {
                told: answer::Literal {
                    fact: name.name.clone(),
                    is: is.to_owned(),
                    value: value.to_owned(),
                    next: next.map(str::to_owned),
                    is_alone,
                },
                family: family(&name.name).to_owned(),
                order,
                is_axis: name.is_axis,
                bits: Bits::of(cells.len(), (0..cells.len()).filter(meets)),
            });
        };
        let ranked = values.iter().map(|value| Some((rank(value)?, *value)));
        let ranked: Option<Vec<(f64, &String)>> = ranked.collect();
        let Some(mut ranked) = ranked.filter(|_| name.ordered) else {
            for value in values {
                push("=", value, None, true, &|other| other == value);
            }
            continue;
        };
        ranked.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        // Sizes of one width are one value.
        ranked.dedup_by(|(one, _), (other, _)| one == other);
        for (place, (_, value)) in ranked.iter().enumerate() {
            if place > 0 && place + 1 < ranked.len() {
                let is_equal = |other: &str| rank(other) == rank(value);
                push("=", value, None, true, &is_equal);
            }
        }
        for (place, pair) in ranked.windows(2).enumerate() {
            let [(low, below), (high, above)] = pair else {
                continue;
            };
            let cut = f64::midpoint(*low, *high);
            let is_low = |value: &str| rank(value).is_some_and(|rank| rank < cut);
            let is_high = |value: &str| rank(value).is_some_and(|rank| rank >= cut);
            let is_last = place + 2 == ranked.len();
            push("<=", below, Some(above), place == 0, &is_low);
            push(">=", above, Some(below), is_last, &is_high);
        }
    }
    literals
}

/// The conditions that tell these cells apart, those that the same of them meet together.
pub(super) fn groups(literals: &[Literal], all: &Bits) -> Vec<Group> {
    let mut sorted: Vec<usize> = (0..literals.len()).collect();
    sorted.sort_by_key(|place| {
        let literal = &literals[*place];
        let told = &literal.told;
        let is_fact = !literal.is_axis && family(&told.fact) != "screen";
        let preference = preference(&told.fact, &told.value);
        (is_fact, preference, literal.order, &told.is, &told.value)
    });
    let mut groups: Vec<Group> = Vec::new();
    for place in sorted {
        let literal = &literals[place];
        let bits = literal.bits.and(all);
        if bits.is_empty() || bits == *all {
            continue;
        }
        match groups.iter_mut().find(|group| group.bits == bits) {
            Some(group) => {
                // A fact that an axis or another fact tells apart as well follows from it, or from what
                // neither of them says.
                let follows = |other: &usize| {
                    let other = &literals[*other];
                    let is_derived = |name: &str| !matches!(family(name), "screen" | "device");
                    other.family == literal.family
                        || !literal.is_axis && (other.is_axis || is_derived(&literal.told.fact))
                };
                if !group.members.iter().any(follows) {
                    group.members.push(place);
                }
            }
            None => groups.push(Group {
                bits,
                members: vec![place],
                family: literal.family.clone(),
            }),
        }
    }
    groups
}
