//! Screens, compared step by step up to where a session first left the way.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use packtrain_model::screen::{ScreenNode, ScreenTree};

use super::conventions::Conventions;
use super::elements::Elements;
use super::facts::Look;
use super::failures::fail;
use super::field::Field;
use super::sighting::Sightings;
use crate::align::{self, Alignment, Prepared, Texts};
use crate::answer::{self, ClusterKind, Difference, Item, ItemKind, Occurrence};
use crate::defects::named;
use crate::input::{Step, StepStatus};
use crate::normal::is_actionable;
use crate::words::digest;

/// Explained differences told of one screen at most; they are counted all.
pub(super) const MAX_EXPLAINED: usize = 30;
/// Unlike nodes from which a screen may be another one.
const ANOTHER_SCREEN: usize = 6;

/// What comparing screens came to.
#[derive(Default)]
pub(super) struct Screens<'a> {
    pub(super) differences: Vec<Difference>,
    pub(super) expected: Vec<answer::Expected>,
    pub(super) expectations: Vec<answer::Expectation>,
    pub(super) conventions: Conventions,
    cache: RefCell<Cache<'a>>,
    /// By trail, step and platform.
    elements: HashMap<(usize, u32, &'a str), Elements<'a>>,
}

/// A screen as a session sees it: equal trees with equal memories read alike.
pub(super) type Seen<'a> = (&'a str, usize);

#[derive(Default)]
pub(super) struct Cache<'a> {
    memories: Vec<&'a [(String, String)]>,
    prepared: HashMap<Seen<'a>, Rc<Prepared<'a>>>,
    alignments: HashMap<(Seen<'a>, Seen<'a>), Rc<Alignment>>,
}

/// Two screens, aligned.
pub(super) struct Pair<'a> {
    pub(super) was: Rc<Prepared<'a>>,
    pub(super) is: Rc<Prepared<'a>>,
    pub(super) alignment: Rc<Alignment>,
}

impl<'a> Cache<'a> {
    pub(super) fn seen(
        &mut self,
        field: &Field<'a>,
        session: usize,
        step: &'a Step,
    ) -> Option<Seen<'a>> {
        let tree = step.tree.as_ref()?;
        let memory = field.run.sessions[session].memory.as_slice();
        let known = self.memories.iter().position(|other| *other == memory);
        let memory_place = known.unwrap_or_else(|| {
            self.memories.push(memory);
            self.memories.len() - 1
        });
        let seen = (tree.digest.as_str(), memory_place);
        let prepared = self.prepared.entry(seen);
        prepared.or_insert_with(|| Rc::new(Prepared::new(&tree.tree, &Texts::new(memory))));
        Some(seen)
    }

    pub(super) fn prepared(&self, seen: Seen<'a>) -> Option<Rc<Prepared<'a>>> {
        self.prepared.get(&seen).cloned()
    }

    pub(super) fn pair(&mut self, was: Seen<'a>, is: Seen<'a>) -> Option<Pair<'a>> {
        let (key, was, is) = ((was, is), self.prepared(was)?, self.prepared(is)?);
        let alignment = self.alignments.entry(key);
        let alignment = alignment.or_insert_with(|| Rc::new(align::align(&was, &is)));
        let alignment = Rc::clone(alignment);
        Some(Pair { was, is, alignment })
    }
}

/// Compares the screens of all sessions, and says where they failed.
pub(super) fn compare<'a>(field: &Field<'a>, sightings: &mut Sightings) -> Screens<'a> {
    let mut screens = Screens::default();
    let mut counts = Counts {
        hits: vec![0; field.run.expectations.len()],
        ..Counts::default()
    };
    for (trail, steps) in field.run.trails.iter().enumerate() {
        for step in &steps.steps {
            for (platform, cell) in field.platforms() {
                let sessions = field.nearest_to(trail, cell);
                let is_here = |session: &usize| {
                    let own = &field.run.sessions[*session];
                    field.platform(own.cell) == platform
                        && own.is_told()
                        && field.passed(*session, step.step)
                        && !counts.off.contains(session)
                };
                let sessions: Vec<usize> = sessions.iter().copied().filter(is_here).collect();
                let at = (trail, step.step, platform);
                screens.step(field, at, sessions, &mut counts, sightings);
            }
        }
    }
    for (place, session) in field.sessions() {
        if let Some(earlier) = &session.earlier {
            let step = Step {
                step: earlier.step,
                message: earlier.message.clone(),
                ..Step::default()
            };
            let at = (place, Some(earlier.attempt));
            fail(field, &screens, at, &step, None, sightings);
        }
        let mut steps = session.steps.iter().filter(|_| session.is_told());
        if let Some(step) = steps.find(|step| step.status == StepStatus::Failed) {
            let listed = screens.list_failed(field, place, step.step);
            fail(field, &screens, (place, None), step, listed, sightings);
        }
    }
    screens.platforms(field);
    let expected = counts.expected.into_iter();
    let expected = expected.map(|((axis, kind), count)| answer::Expected { axis, kind, count });
    screens.expected = expected.collect();
    let expectations = field.run.expectations.iter().zip(counts.hits);
    let expectations = expectations.map(|(expectation, hits)| answer::Expectation {
        text: expectation.text.clone(),
        hits,
    });
    screens.expectations = expectations.collect();
    screens
}

#[derive(Default)]
struct Counts {
    expected: BTreeMap<(String, ItemKind), usize>,
    hits: Vec<usize>,
    /// What was seen of a session at an earlier step.
    known: BTreeSet<(usize, String)>,
    /// The sessions that left the way.
    off: BTreeSet<usize>,
}

impl<'a> Screens<'a> {
    /// Two sessions' screens at steps of theirs, aligned.
    pub(super) fn pair(
        &self,
        field: &Field<'a>,
        was: (usize, u32),
        is: (usize, u32),
    ) -> Option<Pair<'a>> {
        let mut cache = self.cache.borrow_mut();
        let one = cache.seen(field, was.0, field.step(was.0, was.1)?)?;
        let other = cache.seen(field, is.0, field.step(is.0, is.1)?)?;
        cache.pair(one, other)
    }

    /// Compares the screens of a step on a platform.
    fn step(
        &mut self,
        field: &Field<'a>,
        (trail, step, platform): (usize, u32, &'a str),
        mut sessions: Vec<usize>,
        counts: &mut Counts,
        sightings: &mut Sightings,
    ) {
        let others = self.others(field, &sessions, step);
        let words = step_words(field, trail, step);
        let odd = others.news.iter().map(|session| (*session, false));
        let early = others.early.iter().map(|session| (*session, true));
        for (session, is_early) in odd.chain(early) {
            let occurrence = Occurrence {
                difference: Some(self.list(trail, step, (session, others.base), Vec::new())),
                ..Occurrence::at(trail, session, step)
            };
            let key = format!("difference: another screen at {words}, {is_early}");
            let title = format!("Another screen at step {step}: {words}");
            let told = || (title, String::new());
            let sighted = sightings.add(ClusterKind::Difference, key, occurrence, told);
            sighted.is_early = is_early;
        }
        // Whatever follows differs for this.
        counts.off.extend(&others.news);
        sessions.retain(|one| !others.news.contains(one) && !others.early.contains(one));
        let elements = Elements::new(field, self.cache.get_mut(), &sessions, step);
        let look = Look {
            field,
            elements: &elements,
            step,
        };
        let has_several = elements.screens.len() > 1 || elements.looked.len() > 1;
        let facts = if has_several {
            look.facts()
        } else {
            Vec::new()
        };
        let early = self.early(field, &elements, step);
        // What is reported of each session, and what explains the rest.
        let mut told: BTreeMap<usize, ScreenChanges> = BTreeMap::new();
        let mut explained: BTreeMap<usize, Vec<Item>> = BTreeMap::new();
        for (place, fact) in facts.iter().enumerate() {
            for excuse in &fact.excused {
                self.conventions.add(field, fact, excuse);
                let count = counts.expected.entry((excuse.name.clone(), fact.kind));
                *count.or_default() += excuse.sessions.len();
                for session in &excuse.sessions {
                    let item = Item {
                        expected_by: Some(excuse.name.clone()),
                        ..look.item(fact, *session)
                    };
                    explained.entry(*session).or_default().push(item);
                }
            }
            for (session, _) in fact.news() {
                let mut item = look.item(fact, session);
                let values = &field.values[field.run.sessions[session].cell];
                for (expectation, hits) in field.run.expectations.iter().zip(&mut counts.hits) {
                    if expectation.is_for(trail) && expectation.applies(&item, step, values) {
                        *hits += 1;
                        item.expected_by = Some(format!("expect: {}", expectation.text));
                        break;
                    }
                }
                if item.expected_by.is_some() {
                    explained.entry(session).or_default().push(item);
                    continue;
                }
                let key = item_key(&item);
                // What was seen at an earlier step is not news at a later one.
                let (items, keys) = told.entry(session).or_default();
                if counts.known.insert((session, key.clone())) {
                    keys.push((key, place));
                }
                items.push(item);
            }
        }
        let base = elements.looked.first().map(|(session, _)| *session);
        for (session, (items, keys)) in told {
            if keys.is_empty() {
                continue;
            }
            let is_unlike = |other: usize| {
                let mut facts = keys.iter().map(|(_, fact)| &facts[*fact].bad);
                facts.any(|bad| bad.contains_key(&other) && bad.contains_key(&session))
            };
            let against = field.nearest(session, |other| {
                let mut looked = elements.looked.iter();
                other != session && looked.any(|(one, _)| *one == other) && !is_unlike(other)
            });
            let against = against.or(base).unwrap_or(session);
            let more = explained.remove(&session).unwrap_or_default();
            let items = items
                .into_iter()
                .chain(more.into_iter().take(MAX_EXPLAINED));
            let at = self.list(trail, step, (session, against), items.collect());
            for (key, place) in keys {
                let fact = &facts[place];
                let item = look.item(fact, session);
                let occurrence = Occurrence {
                    nearest: Some(against),
                    difference: Some(at),
                    ..Occurrence::at(trail, session, step)
                };
                let title = || (item_title(&item), item_detail(&item));
                let sighted = sightings.add(ClusterKind::Difference, key, occurrence, title);
                sighted.excused.extend(fact.excused());
                let is_early = |is_bad: bool| {
                    let looked = elements.looked.iter().map(|(one, _)| one);
                    let mut of = looked.filter(|one| fact.bad.contains_key(*one) == is_bad);
                    of.all(|one| early.contains(one))
                };
                sighted.is_early = is_early(true) || is_early(false);
                sighted.rank = rank(&item, field.step(against, step));
            }
        }
        self.elements.insert((trail, step, platform), elements);
    }

    /// The sessions that may have been looked at a moment too early: they still show what they did at
    /// the step before, others do not, and at the next step they go on like them.
    fn early(&self, field: &Field<'a>, elements: &Elements<'a>, step: u32) -> BTreeSet<usize> {
        let digest = |session: usize, step: u32| {
            let tree = field.step(session, step)?.tree.as_ref()?;
            Some(tree.digest.as_str())
        };
        let is_unchanged = |session: usize| {
            let before = field.before(session, step);
            before.is_some_and(|before| digest(session, before) == digest(session, step))
        };
        let (early, others): (Vec<usize>, Vec<usize>) = (elements.looked.iter())
            .map(|(session, _)| *session)
            .partition(|session| is_unchanged(*session));
        let next = step.saturating_add(1);
        let Some(&other) = others.first().filter(|other| field.passed(**other, next)) else {
            return BTreeSet::new();
        };
        let goes_on = |session: &usize| {
            let alike = self.alike(field, (other, next), (*session, next));
            field.passed(*session, next) && alike.is_some_and(|(_, unlike)| unlike == 0)
        };
        early.into_iter().filter(goes_on).collect()
    }

    /// The sessions that are on another screen than the one nearest to the reference.
    fn others(&self, field: &Field<'a>, sessions: &[usize], step: u32) -> Others {
        let mut others = Others::default();
        let Some(&base) = sessions.first() else {
            return others;
        };
        let (mut odd, mut alike) = (Vec::new(), Vec::new());
        for &session in sessions {
            if !self.is_another_screen(field, (session, base), step) {
                alike.push(session);
            } else if self.is_early_or_late(field, (session, base), step) {
                others.early.push(session);
            } else {
                odd.push(session);
            }
        }
        others.base = base;
        if odd.is_empty() {
            return others;
        }
        // Where most are on the other one, it is the reference that went astray.
        if sessions.len() > 2 && odd.len() * 4 >= sessions.len() * 3 {
            others.base = odd[0];
            others.news = alike;
            return others;
        }
        others.news = odd;
        others
    }

    /// Lists differences for the report: their place in the list.
    pub(super) fn list(
        &mut self,
        trail: usize,
        step: u32,
        (session, against): (usize, usize),
        items: Vec<Item>,
    ) -> usize {
        let news = items.iter().filter(|item| item.expected_by.is_none());
        let text: Vec<String> = news.map(item_key).collect();
        self.differences.push(Difference {
            trail,
            step,
            session,
            against,
            against_step: None,
            digest: digest(text.join("\n"), 6),
            items,
        });
        self.differences.len() - 1
    }

    /// Counts how each platform's screens differ from those of the first: what people call the same is
    /// another element there.
    fn platforms(&mut self, field: &Field<'a>) {
        let Some(reference) = field.reference.map(|cell| field.platform(cell)) else {
            return;
        };
        let mut differing: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut keys: Vec<_> = self.elements.keys().copied().collect();
        keys.sort_unstable();
        for (trail, step, platform) in keys {
            let first = |platform: &'a str| {
                let elements = self.elements.get(&(trail, step, platform))?;
                elements.looked.first().map(|(session, _)| *session)
            };
            let both = first(reference).zip(first(platform));
            let both = both.filter(|_| platform != reference);
            let pair = both.and_then(|(was, is)| self.pair(field, (was, step), (is, step)));
            let Some(pair) = pair else { continue };
            let items = align::differences(&pair.was, &pair.is, &pair.alignment);
            let titles = differing.entry(platform.to_owned()).or_default();
            titles.extend(items.iter().map(item_title));
        }
        self.conventions.platforms = differing;
    }

    /// An element of a session's step as the reference calls it.
    pub(super) fn as_in_reference(
        &self,
        field: &Field<'a>,
        place: usize,
        step: u32,
        element: &str,
    ) -> Option<String> {
        let session = &field.run.sessions[place];
        let key = (session.trail, step, field.platform(session.cell));
        let elements = self.elements.get(&key)?;
        let screen = elements.screen_of(place)?;
        let nodes = &screen.prepared.tree().nodes;
        // A driver says more exactly what a text is: `paragraph`.
        let (said, text) = element.split_once(" \"").unwrap_or((element, ""));
        let text = text.trim_end_matches('"');
        let place = |is: &dyn Fn(&ScreenNode) -> bool| nodes.iter().position(is);
        let at = place(&|node| named(node) == element)
            .or_else(|| place(&|node| node.name == text && !text.is_empty()))?;
        let (_, name) = elements.called(screen.elements[at]);
        Some(match name {
            "" => said.to_owned(),
            name => format!("{said} \"{name}\""),
        })
    }
}

/// What is reported of a session, and what of it is new, each with its fact.
type ScreenChanges = (Vec<Item>, Vec<(String, usize)>);

/// The sessions of a step that are on another screen.
#[derive(Default)]
struct Others {
    /// One that is on the usual screen.
    base: usize,
    news: Vec<usize>,
    /// Those that were looked at a moment too early.
    early: Vec<usize>,
}

/// How much of a difference is harm: what the recording uses is missing, then what a person can act on,
/// then the rest, then texts.
fn rank(item: &Item, step: Option<&Step>) -> u8 {
    let is_used = step.is_some_and(|step| {
        let mut uses = step.uses.iter();
        uses.any(|(role, name)| *name == item.name && (role.is_empty() || *role == item.role))
    });
    match item.kind {
        ItemKind::Missing | ItemKind::State if is_used => 0,
        ItemKind::Missing if is_actionable(&item.role) => 1,
        ItemKind::State | ItemKind::RawKey => 2,
        ItemKind::Missing | ItemKind::Added => 3,
        ItemKind::Role | ItemKind::Value => 4,
        ItemKind::Name | ItemKind::Untranslated | ItemKind::Matches => 5,
        ItemKind::Order | ItemKind::OutOfView | ItemKind::IntoView => 6,
    }
}

/// Whether so many alike and unlike nodes are those of two different screens.
pub(crate) const fn is_another((alike, unlike): (usize, usize)) -> bool {
    unlike >= ANOTHER_SCREEN && unlike > alike * 2
}

/// How many named nodes of two screens are alike, and how many are not.
pub(crate) fn alike(was: &ScreenTree, is: &ScreenTree, alignment: &Alignment) -> (usize, usize) {
    let named = |tree: &ScreenTree, aligned: &[Option<usize>]| {
        let nodes = tree.nodes.iter().zip(aligned);
        let nodes = nodes.filter(|(node, _)| !node.name.is_empty());
        let (alike, unlike): (Vec<_>, Vec<_>) = nodes.partition(|(_, to)| to.is_some());
        (alike.len(), unlike.len())
    };
    let (same, gone) = named(was, &alignment.to);
    let (_, came) = named(is, &alignment.from);
    (same, gone.max(came))
}

/// What makes two differences the same, whatever session they are of.
pub(crate) fn item_key(item: &Item) -> String {
    let Item {
        kind, role, name, ..
    } = item;
    // What a state or a number became is part of it; what a text became is not.
    let became = match kind {
        ItemKind::State | ItemKind::Role => item.is.as_deref().unwrap_or_default(),
        _ => "",
    };
    let name = Texts::default().normal(name);
    format!("difference:{kind}:{role}:{name}:{became}")
}

pub(crate) fn item_title(item: &Item) -> String {
    let name = match (item.name.as_str(), item.role.as_str()) {
        ("", role) => format!("A {role}"),
        (name, "") => format!("\"{name}\""),
        (name, role) => format!("{role} \"{name}\""),
    };
    let is = item.is.as_deref().unwrap_or_default();
    let was = item.was.as_deref().unwrap_or_default();
    match item.kind {
        ItemKind::Missing => format!("{name} is missing"),
        ItemKind::Added => format!("{name} is extra"),
        ItemKind::Role => format!("\"{}\" is a {is}, not a {was}", item.name),
        ItemKind::Name => format!("{name} is called \"{is}\""),
        ItemKind::Value => format!("{name} has another value"),
        ItemKind::State if is.contains("disabled") && !was.contains("disabled") => {
            format!("{name} is disabled")
        }
        ItemKind::State if is.is_empty() => format!("{name} is not {was}"),
        ItemKind::State => format!("{name} is {is}"),
        ItemKind::Order => format!("{name} is in another place"),
        ItemKind::OutOfView => format!("{name} is out of view"),
        ItemKind::IntoView => format!("{name} is in view"),
        ItemKind::Untranslated => format!("{name} is not translated"),
        ItemKind::RawKey if is.is_empty() => format!("The text key \"{}\" is shown", item.name),
        ItemKind::RawKey => format!("The text key \"{is}\" is shown"),
        ItemKind::Matches => format!("{} matched {is} elements, not {was}", item.name),
    }
}

pub(crate) fn item_detail(item: &Item) -> String {
    match (&item.was, &item.is) {
        (Some(was), Some(is)) => format!("{} \"{}\": was {was:?}, is {is:?}", item.role, item.name),
        _ if item.name.is_empty() => item.role.clone(),
        _ => format!("{} \"{}\"", item.role, item.name),
    }
}

pub(super) fn step_words(field: &Field<'_>, trail: usize, step: u32) -> String {
    let known = field.run.trails[trail].text(step);
    known.map_or_else(|| format!("step {step}"), str::to_owned)
}

impl<'a> Screens<'a> {
    /// Whether more of a screen is unlike than alike.
    fn is_another_screen(
        &self,
        field: &Field<'a>,
        (place, against): (usize, usize),
        step: u32,
    ) -> bool {
        let alike = || self.alike(field, (against, step), (place, step));
        place != against && alike().is_some_and(is_another)
    }

    /// Whether one of the two was looked at before the next page came, and the other after it: what the
    /// session shows at a step its baseline shows at the step before or behind, or one of them still shows
    /// what it did at the step before; and at the next step they agree.
    fn is_early_or_late(
        &self,
        field: &Field<'a>,
        (place, against): (usize, usize),
        step: u32,
    ) -> bool {
        let agree = |of_baseline: u32, own: u32| {
            let alike = self.alike(field, (against, of_baseline), (place, own));
            alike.is_some_and(|(alike, unlike)| alike > unlike * 2)
        };
        let (before, next) = (step.checked_sub(1), step.saturating_add(1));
        let mut beside = before.into_iter().chain([next]);
        let is_unchanged = |session: usize| {
            let before = field.before(session, step);
            let alike = before.and_then(|at| self.alike(field, (session, at), (session, step)));
            alike.is_some_and(|(_, unlike)| unlike == 0)
        };
        (beside.any(|other| field.passed(against, other) && agree(other, step))
            || is_unchanged(against)
            || is_unchanged(place))
            && field.passed(place, next)
            && agree(next, next)
    }

    /// How many named nodes of two screens are alike, and how many are not.
    fn alike(
        &self,
        field: &Field<'a>,
        was: (usize, u32),
        is: (usize, u32),
    ) -> Option<(usize, usize)> {
        let pair = self.pair(field, was, is)?;
        Some(alike(pair.was.tree(), pair.is.tree(), &pair.alignment))
    }
}
