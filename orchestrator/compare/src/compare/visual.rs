//! Pictures, compared where all that draws is equal: within a visual key.

use std::collections::BTreeMap;
use std::rc::Rc;

use packtrain_model::screen::ScreenTree;

use super::field::Field;
use super::screens::{Screens, step_words};
use super::sighting::Sightings;
use crate::answer::{BoxKind, ClusterKind, Noise, Occurrence, PictureBox, Visual, VisualKind};
use crate::defects::named;
use crate::input::{Pictures, SeenPicture};
use crate::picture::{self, Album, Area, Difference};

/// Pictures kept decoded.
const MAX_DECODED: usize = 6;

pub(super) fn compare<'a>(
    field: &Field<'a>,
    screens: &Screens<'a>,
    pictures: &mut dyn Pictures,
    sightings: &mut Sightings,
) -> (Vec<Visual>, Vec<Noise>) {
    let mut compared = PictureComparisons {
        album: Album::new(pictures, MAX_DECODED),
        known: BTreeMap::new(),
    };
    let (mut visual, mut noise) = (Vec::new(), Vec::new());
    let mut groups: BTreeMap<(usize, u32, &str), Vec<usize>> = BTreeMap::new();
    for (place, session) in field.sessions() {
        let key = field.cell_of(place).visual_key.as_str();
        for step in &session.steps {
            if !key.is_empty() && step.picture.is_some() && field.passed(place, step.step) {
                let group = groups.entry((session.trail, step.step, key));
                group.or_default().push(place);
            }
        }
    }
    for ((trail, step, _), sessions) in groups {
        let seen = |place: usize| field.step(place, step)?.picture.as_ref();
        let mut digests = sessions.iter().map(|at| seen(*at).map(|one| &one.digest));
        let first = digests.next().flatten();
        if digests.all(|other| other == first) {
            continue;
        }
        let noisy = noises(&mut compared, field, step, &sessions);
        noise.extend(noisy.iter().map(|(&cell, boxes)| Noise {
            trail,
            step,
            cell,
            boxes: boxes.clone(),
        }));
        // The cell nearest to the reference is what the others are compared with.
        let base = sessions.iter().copied().min_by_key(|place| {
            let cell = field.run.sessions[*place].cell;
            let is_other = field.reference != Some(cell);
            (is_other, field.unlike_reference(cell), *place)
        });
        let Some(base) = base else { continue };
        for &place in &sessions {
            if field.run.sessions[place].cell == field.run.sessions[base].cell {
                continue;
            }
            let (Some(was), Some(is)) = (seen(base), seen(place)) else {
                continue;
            };
            let cells = [base, place].map(|place| field.run.sessions[place].cell);
            let noisy = noisy.iter().filter(|(cell, _)| cells.contains(cell));
            let masks: Vec<[i32; 4]> = noisy.flat_map(|(_, boxes)| boxes).copied().collect();
            let tree = field.step(place, step).and_then(|own| own.tree.as_ref());
            let told = match &*compared.difference(was, is, &masks) {
                Some(found) => told_difference(found, tree.map(|seen| &*seen.tree), is.scale),
                None => Some(Visual {
                    kind: VisualKind::Failed,
                    ..Visual::default()
                }),
            };
            let Some(told) = told else { continue };
            let told = Visual {
                trail,
                step,
                session: place,
                against: base,
                ..told
            };
            let words = step_words(field, trail, step);
            let occurrence = Occurrence {
                nearest: Some(base),
                visual: Some(visual.len()),
                ..Occurrence::at(trail, place, step)
            };
            // In the reference's words, or each language has a cluster of its own.
            let element = told.boxes.iter().find_map(|one| one.element.clone());
            let element = element.map(|element| {
                let known = screens.as_in_reference(field, place, step, &element);
                known.unwrap_or(element)
            });
            if let Some((key, title)) = cluster(&told, element, step, &words) {
                let detail = format!("{} pixels differ", told.pixels);
                sightings.add(ClusterKind::Visual, key, occurrence, || (title, detail));
            }
            visual.push(told);
        }
    }
    (visual, noise)
}

/// What differs between repeats of one cell.
fn noises(
    compared: &mut PictureComparisons<'_>,
    field: &Field<'_>,
    step: u32,
    sessions: &[usize],
) -> BTreeMap<usize, Vec<[i32; 4]>> {
    let mut noisy: BTreeMap<usize, Vec<[i32; 4]>> = BTreeMap::new();
    let mut first: BTreeMap<usize, usize> = BTreeMap::new();
    for &place in sessions {
        let cell = field.run.sessions[place].cell;
        let Some(&base) = first.get(&cell) else {
            first.insert(cell, place);
            continue;
        };
        let seen = |place: usize| field.step(place, step)?.picture.as_ref();
        let (Some(was), Some(is)) = (seen(base), seen(place)) else {
            continue;
        };
        let difference = compared.difference(was, is, &[]);
        let boxes = difference.as_ref().as_ref().map(Difference::boxes);
        if let Some(boxes) = boxes.filter(|boxes| !boxes.is_empty()) {
            let known = noisy.entry(cell).or_default();
            known.extend(boxes);
            known.sort_unstable();
            known.dedup();
        }
    }
    noisy
}

/// What makes two visual differences the same, and how it is called.
fn cluster(
    visual: &Visual,
    element: Option<String>,
    step: u32,
    words: &str,
) -> Option<(String, String)> {
    let (key, title) = match (visual.kind, element) {
        (VisualKind::Failed, _) => return None,
        (VisualKind::Size, _) => {
            let title = format!("The picture of step {step} has another size: {words}");
            (format!("size:{words}"), title)
        }
        (VisualKind::Shifted, _) => {
            let way = way(visual.shift.unwrap_or_default());
            let title = format!("The screen of step {step} moved {way}: {words}");
            (format!("{words}:moved {way}"), title)
        }
        (VisualKind::Changed, Some(element)) => {
            let title = format!("{element} looks different");
            (element, title)
        }
        (VisualKind::Changed, None) => {
            let title = format!("Step {step} looks different: {words}");
            (words.to_owned(), title)
        }
    };
    Some((format!("visual:{key}"), title))
}

/// Where something moved to: `down 12 px`.
pub(crate) fn way([right, down]: [i32; 2]) -> String {
    match (right, down) {
        (0, down) if down > 0 => format!("down {down} px"),
        (0, down) => format!("up {} px", -down),
        (right, _) if right > 0 => format!("to the right {right} px"),
        (right, _) => format!("to the left {} px", -right),
    }
}

/// A difference as reported; `None` for none.
pub(crate) fn told_difference(
    difference: &Difference,
    tree: Option<&ScreenTree>,
    scale: f64,
) -> Option<Visual> {
    let boxed = |area: &Area| PictureBox {
        at: area.at,
        pixels: area.pixels,
        element: tree.and_then(|tree| smallest(tree, area.at, scale)),
        kind: area.kind,
    };
    let (kind, shift, pixels, boxes) = match difference {
        Difference::None => return None,
        Difference::Size => (VisualKind::Size, None, 0, Vec::new()),
        Difference::Changed { pixels, areas } => {
            let boxes = areas.iter().map(boxed).collect();
            (VisualKind::Changed, None, *pixels, boxes)
        }
        Difference::Shifted { by, pixels, at } => {
            let (at, pixels, kind) = (*at, *pixels, BoxKind::Changed);
            let boxes = vec![boxed(&Area { at, pixels, kind })];
            (VisualKind::Shifted, Some(*by), pixels, boxes)
        }
    };
    Some(Visual {
        kind,
        shift,
        pixels,
        boxes,
        ..Visual::default()
    })
}

/// The smallest named node that holds a box.
fn smallest(tree: &ScreenTree, at: [i32; 4], scale: f64) -> Option<String> {
    let scale = if scale > 0.0 { scale } else { 1.0 };
    // A pixel over the edge is smoothing.
    let [left, top, right, bottom] = at.map(|edge| f64::from(edge) / scale);
    let named_nodes = tree.nodes.iter().filter(|node| !node.name.is_empty());
    let holding = named_nodes.filter_map(|node| {
        let [l, t, r, b] = node.bounds?.map(f64::from);
        let holds = l <= left + 1.0 && t <= top + 1.0 && r >= right - 1.0 && b >= bottom - 1.0;
        holds.then_some(((r - l) * (b - t), node))
    });
    let smallest = holding.min_by(|(one, _), (other, _)| one.total_cmp(other));
    smallest.map(|(_, node)| named(node))
}

/// Pictures, each pair compared once.
struct PictureComparisons<'a> {
    album: Album<'a>,
    /// Nothing where one of them could not be read.
    known: BTreeMap<Compare, Rc<Option<Difference>>>,
}

/// What is compared: two digests, and what is left out.
type Compare = (String, String, Vec<[i32; 4]>);

impl PictureComparisons<'_> {
    fn difference(
        &mut self,
        was: &SeenPicture,
        is: &SeenPicture,
        masks: &[[i32; 4]],
    ) -> Rc<Option<Difference>> {
        if was.digest == is.digest {
            return Rc::new(Some(Difference::None));
        }
        let mut masks = [masks, &was.masked, &is.masked].concat();
        masks.sort_unstable();
        masks.dedup();
        let key = (was.digest.clone(), is.digest.clone(), masks);
        if let Some(known) = self.known.get(&key) {
            return Rc::clone(known);
        }
        let pair = (self.album.get(&was.digest)).zip(self.album.get(&is.digest));
        let compared = pair.map(|(was, is)| picture::difference(&was, &is, &key.2));
        let compared = Rc::new(compared);
        self.known.insert(key, Rc::clone(&compared));
        compared
    }
}
