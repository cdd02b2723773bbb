//! Steps that failed: what became of the element that they needed, and how the screen differs.

use super::field::Field;
use super::screens::{MAX_EXPLAINED, Pair, Screens, alike, step_words};
use super::sighting::Sightings;
use crate::align::{self, Texts};
use crate::answer::{ClusterKind, Occurrence};
use crate::defects::named;
use crate::input::Step;
use crate::signature;

impl<'a> Screens<'a> {
    /// Lists how the screen on which a step failed differs from the one on which it began elsewhere: an
    /// action that failed left what was there before it.
    pub(super) fn list_failed(
        &mut self,
        field: &Field<'a>,
        place: usize,
        step: u32,
    ) -> Option<usize> {
        let against = field.nearest(place, |other| field.passed(other, step))?;
        let unlike = |at: u32| {
            let pair = self.pair(field, (against, at), (place, step))?;
            let (alike, unlike) = alike(pair.was.tree(), pair.is.tree(), &pair.alignment);
            Some(unlike.saturating_sub(alike) + unlike)
        };
        let steps = field.before(against, step).into_iter().chain([step]);
        let steps = steps.filter_map(|at| Some((unlike(at)?, at)));
        let (_, began) = steps.min_by_key(|(unlike, _)| *unlike)?;
        let pair = self.pair(field, (against, began), (place, step))?;
        let items = align::differences(&pair.was, &pair.is, &pair.alignment);
        let items = items.into_iter().take(MAX_EXPLAINED).collect();
        let trail = field.run.sessions[place].trail;
        let at = self.list(trail, step, (place, against), items);
        self.differences[at].against_step = (began != step).then_some(began);
        Some(at)
    }
}

/// Notes where a session failed.
pub(super) fn fail<'a>(
    field: &Field<'a>,
    screens: &Screens<'a>,
    (place, attempt): (usize, Option<u32>),
    step: &Step,
    difference: Option<usize>,
    sightings: &mut Sightings,
) {
    let session = &field.run.sessions[place];
    let cell = field.cell_of(place);
    let normal = signature::of(&step.message, cell);
    let occurrence = Occurrence {
        attempt,
        nearest_step: difference.and_then(|at| screens.differences[at].against_step),
        difference,
        ..Occurrence::at(session.trail, place, step.step)
    };
    // A title that names an element says enough; other messages say it of their step. The driver knows
    // best why an element cannot be used, and the reference what it is called.
    let (said, is_said) = signature::title(&step.message);
    let (told, is_named) = match element_title(field, screens, place, step.step) {
        Some(told) => match (said.rsplit_once('"'), told.rsplit_once('"')) {
            (Some((_, why)), Some((element, _))) if is_said && why != " is missing" => {
                (format!("{element}\"{why}"), true)
            }
            _ => (told, true),
        },
        None => (said, is_said),
    };
    let key = if is_named {
        format!("failure:{}", Texts::default().normal(&told))
    } else {
        let words = step_words(field, session.trail, step.step);
        format!("failure:{words}:{normal}")
    };
    let is_flaky = session.earlier.is_some();
    let detail = step.message.clone();
    let sighted = sightings.add(ClusterKind::Failure, key, occurrence, || (told, detail));
    if is_flaky {
        sighted.flaky.push(place);
    }
}

/// What became of an element that the step uses, seen from the nearest session that passed: whatever
/// language it speaks here.
fn element_title<'a>(
    field: &Field<'a>,
    screens: &Screens<'a>,
    place: usize,
    step: u32,
) -> Option<String> {
    // The recording speaks the language of the reference, and the nearest that of this session.
    let locale = |session: usize| field.cell_of(session).values.get("locale");
    let baseline = field.baseline(place, step)?;
    let passed = |other: usize| field.passed(other, step);
    let is_own = |other: usize| passed(other) && locale(other) == locale(place);
    let nearest = field.nearest(place, is_own);
    let nearest = nearest.or_else(|| field.nearest(place, passed))?;
    let uses = &field.step(baseline, step)?.uses;
    // The screen on which the step began there is the one it failed on here.
    let before = |session: usize| Some((session, field.before(session, step)?));
    let there = screens.pair(field, before(baseline)?, before(nearest)?)?;
    let here = screens.pair(field, before(nearest)?, (place, step))?;
    became(&there, &here, uses)
}

/// The first of some elements of the reference that is missing, hidden or disabled here, seen from a
/// screen that has it in the language of here.
fn became(there: &Pair<'_>, here: &Pair<'_>, uses: &[(String, String)]) -> Option<String> {
    let (reference, before, now) = (there.was.tree(), here.was.tree(), here.is.tree());
    uses.iter().find_map(|(role, name)| {
        let mut nodes = reference.nodes.iter();
        let at = nodes.position(|node| node.role == *role && node.name == *name)?;
        let element = named(&reference.nodes[at]);
        let at = there.alignment.to[at]?;
        let Some(to) = here.alignment.to[at] else {
            return Some(format!("{element} is missing"));
        };
        let (was, is) = (&before.nodes[at], &now.nodes[to]);
        let is_disabled = |states: &[String]| states.iter().any(|state| state == "disabled");
        let was_in_view = align::in_view(before, was) == Some(true);
        let is_hidden = was_in_view && align::in_view(now, is) == Some(false);
        let is_disabled = is_disabled(&is.states) && !is_disabled(&was.states);
        let word = if is_hidden { "hidden" } else { "disabled" };
        (is_hidden || is_disabled).then(|| format!("{element} is {word}"))
    })
}
