//! Two looks at the same step of the same cell, compared.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use packtrain_model::screen::{NOTATION, ScreenTree};

use super::answer::{Change, ChangeKind, ChangeStatus};
use super::names::is_another_major;
use crate::align::{self, Alignment, Prepared, Texts};
use crate::answer::{Item, ItemKind, Visual, VisualKind};
use crate::compare::screens::{alike, is_another, item_detail, item_title};
use crate::compare::visual::{told_difference, way};
use crate::defects::named;
use crate::picture::{self, Picture};
use crate::words;

/// A step's screen, as it was or is.
#[derive(Debug, Clone, Default)]
pub(super) struct Screen<'a> {
    /// What drew it, with its version.
    pub(super) engine: Cow<'a, str>,
    /// What is left out, in pixels.
    pub(super) masks: Vec<[i32; 4]>,
    /// Pixels for each unit of the tree's bounds.
    pub(super) scale: f64,
    /// Layout defects, as sentences.
    pub(super) defects: Vec<String>,
    pub(super) tree: Option<Arc<ScreenTree>>,
    /// Whether its tree was recorded and cannot be read.
    pub(super) is_tree_lost: bool,
    /// What the session remembers, by name.
    pub(super) memory: &'a [(String, String)],
    pub(super) picture: Option<Rc<Picture>>,
    /// Whether its picture was recorded and cannot be read.
    pub(super) is_picture_lost: bool,
}

impl Screen<'_> {
    /// Leaves its picture out of the comparison.
    pub(super) fn without_picture(&mut self) {
        (self.picture, self.is_picture_lost) = (None, false);
    }
}

/// Why a screen whose tree is lost cannot be compared.
pub(super) const UNREADABLE: &str = "its screen cannot be read";

/// What comparing two screens came to.
#[derive(Debug, Default)]
pub(super) struct Compared {
    pub(super) changes: Vec<Change>,
    /// What could not be compared.
    pub(super) unknown: Vec<&'static str>,
    /// Whether it is another screen: what follows differs for that.
    pub(super) is_another: bool,
}

impl Compared {
    /// Proposes a tree for one of an older notation, where no difference does.
    pub(super) fn propose_anew(&mut self, was: &Screen<'_>, is: &Screen<'_>) {
        let is_told = (self.changes.iter()).any(|change| change.kind == ChangeKind::Tree);
        let notations = Notations::of(was.tree.as_deref(), is.tree.as_deref());
        let detail = notations.differ().filter(|_| !is_told);
        let title = "what the screen holds was approved in an older notation";
        self.changes.extend(detail.map(|detail| Change {
            status: ChangeStatus::Proposed,
            detail,
            ..Change::of(ChangeKind::Tree, title)
        }));
    }
}

/// Compares two screens; what is expected to differ is no news.
pub(super) fn compare(
    was: &Screen<'_>,
    is: &Screen<'_>,
    is_expected: impl Fn(&Item) -> bool,
) -> Compared {
    let mut compared = Compared::default();
    let mut moves = Vec::new();
    let notations = Notations::of(was.tree.as_deref(), is.tree.as_deref());
    match (&was.tree, &is.tree) {
        _ if notations.unlike().is_some() => compared.unknown.extend(notations.unlike()),
        (Some(before), Some(now)) => {
            let one = Prepared::new(before, &Texts::new(was.memory));
            let other = Prepared::new(now, &Texts::new(is.memory));
            let alignment = align::align(&one, &other);
            compared.is_another = is_another(alike(before, now, &alignment));
            if compared.is_another {
                let change = Change::of(ChangeKind::Tree, "another screen");
                compared.changes.push(change);
            } else {
                let items = align::differences(&one, &other, &alignment);
                let news = items.iter().filter(|item| !is_expected(item));
                compared.changes.extend(news.map(told));
                moves = moved(before, now, &alignment);
            }
        }
        (before, now) => compared.unknown.extend(missing(
            [before.is_some(), now.is_some()],
            [was.is_tree_lost, is.is_tree_lost],
            ["the base's screen cannot be read", UNREADABLE],
            [
                "what the screen held was not recorded before",
                "what the screen held was not recorded",
            ],
        )),
    }
    let new = is.defects.iter().filter(|one| !was.defects.contains(one));
    let new = new.map(|defect| Change::of(ChangeKind::Defect, defect));
    compared.changes.extend(new);
    // Trees and defects are read by one notation.
    if let Some(detail) = notations.differ() {
        // What follows is not known to differ for this.
        compared.is_another = false;
        for change in &mut compared.changes {
            change.status = ChangeStatus::Proposed;
            change.detail = match change.detail.as_str() {
                "" => detail.clone(),
                more => format!("{more}; {detail}"),
            };
        }
    }
    for defect in was.defects.iter().filter(|one| !is.defects.contains(one)) {
        compared.changes.push(Change {
            status: ChangeStatus::Fixed,
            ..Change::of(ChangeKind::Defect, format!("gone: {defect}"))
        });
    }
    match (&was.picture, &is.picture) {
        (Some(before), Some(now)) => {
            let mut masks = [was.masks.as_slice(), &is.masks].concat();
            masks.sort_unstable();
            masks.dedup();
            let difference = picture::difference(before, now, &masks);
            let visual = told_difference(&difference, is.tree.as_deref(), is.scale);
            let status = match is_another_major(&was.engine, &is.engine) {
                true => ChangeStatus::Proposed,
                false => ChangeStatus::Changed,
            };
            compared.changes.extend(visual.map(|visual| Change {
                status,
                detail: visual_detail(&visual, was, is),
                ..seen(visual, &moves, is)
            }));
        }
        (before, now) => compared.unknown.extend(missing(
            [before.is_some(), now.is_some()],
            [was.is_picture_lost, is.is_picture_lost],
            [
                "the base's picture cannot be read",
                "its picture cannot be read",
            ],
            [
                "its picture was not recorded before",
                "its picture was not recorded",
            ],
        )),
    }
    compared
}

/// The notations of two trees, the base's first; those of a tree that is not there are equal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Notations {
    was: u32,
    is: u32,
}

impl Notations {
    pub(super) fn of(was: Option<&ScreenTree>, is: Option<&ScreenTree>) -> Self {
        let of = |one: Option<&ScreenTree>, other| one.or(other).map_or(NOTATION, |it| it.notation);
        Self {
            was: of(was, is),
            is: of(is, was),
        }
    }

    /// Why they say nothing of each other.
    pub(super) const fn unlike(self) -> Option<&'static str> {
        match self {
            Self { is, .. } if is > NOTATION => Some(
                "its screen was recorded by a newer Packtrain, in a notation that this one cannot \
                 read: update Packtrain",
            ),
            Self { was, .. } if was > NOTATION => Some(
                "the base's screen was recorded by a newer Packtrain, in a notation that this one \
                 cannot read: update Packtrain",
            ),
            Self { was, is } if was > is => Some(
                "its screen is in an older notation than the base's: run it again with this \
                 Packtrain",
            ),
            Self { .. } => None,
        }
    }

    /// What is said of differences that another notation may explain.
    pub(super) fn differ(self) -> Option<String> {
        let Self { was, is } = self;
        (was < is && is <= NOTATION).then(|| format!("written in notation {was}, now in {is}"))
    }
}

/// Why something cannot be compared that not both sides have, the base first: it is lost, or only the
/// other side has it. Nothing where neither ever had it.
fn missing(
    has: [bool; 2],
    is_lost: [bool; 2],
    lost: [&'static str; 2],
    never: [&'static str; 2],
) -> Vec<&'static str> {
    let [one, other] = has;
    let is_never = [other && !one, one && !other];
    let (is, whys) = if is_lost.contains(&true) {
        (is_lost, lost)
    } else {
        (is_never, never)
    };
    let whys = whys.into_iter().zip(is).filter(|(_, is)| *is);
    whys.map(|(why, _)| why).collect()
}

/// A difference of trees, as one of what was and is.
fn told(item: &Item) -> Change {
    let name = match item.name.as_str() {
        "" => format!("a {}", item.role),
        name => format!("{} \"{name}\"", item.role),
    };
    let title = if item.kind == ItemKind::Missing {
        format!("{name} is missing")
    } else if matches!(item.kind, ItemKind::Added | ItemKind::RawKey) {
        format!("{name} is new")
    } else {
        item_title(item)
    };
    let detail = match (&item.was, &item.is) {
        (Some(_), Some(_)) => item_detail(item),
        _ => String::new(),
    };
    Change {
        detail,
        ..Change::of(ChangeKind::Tree, title)
    }
}

/// An element that stands elsewhere, in the units of bounds.
struct Move {
    element: String,
    by: [i32; 2],
    was: [i32; 4],
    is: [i32; 4],
}

/// Named elements of unchanged size that stand elsewhere; of what moved together, its outermost.
fn moved(was: &ScreenTree, is: &ScreenTree, alignment: &Alignment) -> Vec<Move> {
    let mut moves: Vec<Move> = Vec::new();
    // The depth of the outermost element that moved, and how far, while below it.
    let mut inside: Option<(u32, [i32; 2])> = None;
    for (node, to) in was.nodes.iter().zip(&alignment.to) {
        inside = inside.filter(|(depth, _)| node.depth > *depth);
        let other = to.and_then(|to| is.nodes.get(to));
        let (Some(one), Some(two)) = (node.bounds, other.and_then(|other| other.bounds)) else {
            continue;
        };
        let by = [two[0].wrapping_sub(one[0]), two[1].wrapping_sub(one[1])];
        let ends = [two[2].wrapping_sub(one[2]), two[3].wrapping_sub(one[3])];
        let is_told = inside.is_some_and(|(_, known)| known == by);
        if by == [0, 0] || by != ends || is_told || node.name.is_empty() {
            continue;
        }
        inside = Some((node.depth, by));
        moves.push(Move {
            element: named(node),
            by,
            was: one,
            is: two,
        });
    }
    moves
}

/// A difference of pictures in words, with the elements that moved.
fn seen(visual: Visual, moves: &[Move], screen: &Screen<'_>) -> Change {
    let scale = Some(screen.scale).filter(|scale| *scale > 0.0);
    let scale = scale.unwrap_or(1.0);
    let in_pixels = |value: i32| (f64::from(value) * scale).round() as i32;
    let several = |elements: &[&str]| match elements {
        [] => "the screen".to_owned(),
        [only] => (*only).to_owned(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    };
    let meets = |bounds: [i32; 4], at: [i32; 4]| {
        let [left, top, right, bottom] = bounds.map(in_pixels);
        left < at[2] && top < at[3] && right > at[0] && bottom > at[1]
    };
    let touches = |one: &Move, at: [i32; 4]| meets(one.was, at) || meets(one.is, at);
    let by = |one: &Move| one.by.map(in_pixels);
    let movers = moves.iter();
    let movers = movers.filter(|one| visual.boxes.iter().any(|area| touches(one, area.at)));
    let movers: Vec<&Move> = movers.collect();
    let explained = |way: [i32; 2]| {
        let mut boxes = visual.boxes.iter();
        let own = movers.iter().filter(|one| by(one) == way);
        !visual.boxes.is_empty() && boxes.all(|area| own.clone().any(|one| touches(one, area.at)))
    };
    let shift = visual.shift.or_else(|| {
        let way = by(movers.first()?);
        explained(way).then_some(way)
    });
    let title = match (visual.kind, shift) {
        (VisualKind::Shifted | VisualKind::Changed, Some(shift)) => {
            let own = movers.iter().filter(|one| by(one) == shift);
            let names: Vec<&str> = own.map(|one| one.element.as_str()).collect();
            let more = match shift {
                [0, _] | [_, 0] => way(shift),
                [right, down] => format!("{} and {}", way([right, 0]), way([0, down])),
            };
            format!("{} moved {more}", several(&names))
        }
        (VisualKind::Shifted | VisualKind::Changed, None) => {
            let mut names: Vec<String> = Vec::new();
            for area in &visual.boxes {
                // What no element holds whole is of those that it meets.
                let nodes = screen.tree.iter().flat_map(|tree| &tree.nodes);
                let met = nodes.filter(|node| {
                    let here = node.bounds.is_some_and(|bounds| meets(bounds, area.at));
                    here && area.element.is_none() && !node.name.is_empty()
                });
                let elements = area.element.iter().cloned().chain(met.map(named));
                for element in elements {
                    if !names.contains(&element) {
                        names.push(element);
                    }
                }
            }
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let verb = if names.len() > 1 { "look" } else { "looks" };
            format!("{} {verb} different", several(&names))
        }
        (VisualKind::Size, _) => "the picture has another size".to_owned(),
        (VisualKind::Failed, _) => "the picture cannot be compared".to_owned(),
    };
    Change {
        shift,
        pixels: Some(visual.pixels),
        boxes: visual.boxes,
        ..Change::of(ChangeKind::Visual, title)
    }
}

fn visual_detail(visual: &Visual, was: &Screen<'_>, is: &Screen<'_>) -> String {
    let pixels = match visual.kind {
        VisualKind::Size => {
            let size = |screen: &Screen<'_>| {
                let picture = screen.picture.as_ref();
                picture.map_or_else(String::new, |one| format!("{}x{}", one.width, one.height))
            };
            format!("was {}, is {}", size(was), size(is))
        }
        VisualKind::Shifted | VisualKind::Changed | VisualKind::Failed => {
            let pixels = usize::try_from(visual.pixels).unwrap_or(usize::MAX);
            words::count(pixels, "pixel differs", "pixels differ")
        }
    };
    if was.engine == is.engine {
        return pixels;
    }
    format!("{pixels}; drawn by {}, now by {}", was.engine, is.engine)
}
