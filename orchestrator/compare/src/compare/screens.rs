//! Screens, compared step by step up to where a session first left the way.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use packtrain_model::screen::ScreenTree;
use sha2::{Digest, Sha256};

use super::field::Field;
use super::sighting::Sightings;
use crate::align::{self, Alignment, Prepared, Texts, Varied};
use crate::answer::{self, ClusterKind, Difference, Item, ItemKind, Occurrence};
use crate::defects::named;
use crate::input::{OutcomeKind, Step, StepStatus};
use crate::signature;

/// Explained differences told of one screen at most; they are counted all.
const MAX_EXPLAINED: usize = 30;
/// Unlike nodes from which a screen may be another one.
const ANOTHER_SCREEN: usize = 6;

/// What comparing screens came to.
pub(super) struct Screens<'a> {
    pub(super) differences: Vec<Difference>,
    pub(super) expected: Vec<answer::Expected>,
    pub(super) expectations: Vec<answer::Expectation>,
    cache: std::cell::RefCell<Cache<'a>>,
}

/// A screen as a session sees it: equal trees with equal memories read alike.
type Seen<'a> = (&'a str, usize);

#[derive(Default)]
struct Cache<'a> {
    memories: Vec<&'a [(String, String)]>,
    prepared: HashMap<Seen<'a>, Rc<Prepared<'a>>>,
    alignments: HashMap<(Seen<'a>, Seen<'a>), Rc<Alignment>>,
    items: HashMap<ItemsKey<'a>, Rc<Vec<Item>>>,
}

/// What a list of differences depends on: the screens, what varied, and which step's elements count.
type ItemsKey<'a> = (Seen<'a>, Seen<'a>, Varied, (usize, u32));

/// Two screens, aligned.
pub(super) struct Pair<'a> {
    pub(super) was: Rc<Prepared<'a>>,
    pub(super) is: Rc<Prepared<'a>>,
    pub(super) alignment: Rc<Alignment>,
}

impl<'a> Cache<'a> {
    fn seen(&mut self, field: &Field<'a>, session: usize, step: &'a Step) -> Option<Seen<'a>> {
        let tree = step.tree.as_ref()?;
        let memory = field.run.sessions[session].memory.as_slice();
        let known = self.memories.iter().position(|other| *other == memory);
        let memory_place = known.unwrap_or_else(|| {
            self.memories.push(memory);
            self.memories.len() - 1
        });
        let seen = (tree.digest.as_str(), memory_place);
        self.prepared.entry(seen).or_insert_with(|| {
            let pairs = memory
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()));
            Rc::new(Prepared::new(&tree.tree, &Texts::new(pairs)))
        });
        Some(seen)
    }

    fn pair(&mut self, was: Seen<'a>, is: Seen<'a>) -> Option<Pair<'a>> {
        let (one, other) = (
            self.prepared.get(&was)?.clone(),
            self.prepared.get(&is)?.clone(),
        );
        let alignment = self.alignments.entry((was, is));
        let alignment = alignment
            .or_insert_with(|| Rc::new(align::align(&one, &other)))
            .clone();
        Some(Pair {
            was: one,
            is: other,
            alignment,
        })
    }
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

    /// The differences of a step's screens.
    fn items(&self, field: &Field<'a>, was: usize, is: usize, step: u32) -> Option<Rc<Vec<Item>>> {
        let (before, here) = (field.step(was, step)?, field.step(is, step)?);
        let mut cache = self.cache.borrow_mut();
        let one = cache.seen(field, was, before)?;
        let other = cache.seen(field, is, here)?;
        if one == other && before.matched == here.matched {
            return Some(Rc::default());
        }
        let varied = field.varied(was, is);
        let key = (one, other, varied, (field.run.sessions[is].trail, step));
        let known = if before.matched == here.matched {
            cache.items.get(&key).cloned()
        } else {
            None
        };
        if let Some(items) = known {
            return Some(items);
        }
        let via = field.via(was, is, step).and_then(|via| {
            let between = cache.seen(field, via, field.step(via, step)?)?;
            Some((cache.pair(one, between)?, cache.pair(between, other)?))
        });
        let mut pair = cache.pair(one, other)?;
        if let Some((there, back)) = via {
            pair.alignment = Rc::new(there.alignment.through(&back.alignment));
        }
        let uses: Vec<(String, String)> = before.uses.iter().chain(&here.uses).cloned().collect();
        let mut items = align::differences(&pair.was, &pair.is, &pair.alignment, &key.2, &uses);
        for (by, count) in &here.matched {
            let other = before.matched.iter().find(|(other, _)| other == by);
            if let Some((_, was)) = other.filter(|(_, was)| was != count) {
                items.push(Item {
                    kind: ItemKind::Matches,
                    name: by.clone(),
                    was: Some(was.to_string()),
                    is: Some(count.to_string()),
                    ..Item::default()
                });
            }
        }
        let items = Rc::new(items);
        if before.matched == here.matched {
            cache.items.insert(key, Rc::clone(&items));
        }
        Some(items)
    }
}

/// Compares the screens of all sessions, and says where they failed.
pub(super) fn compare<'a>(field: &Field<'a>, sightings: &mut Sightings) -> Screens<'a> {
    let mut screens = Screens {
        differences: Vec::new(),
        expected: Vec::new(),
        expectations: Vec::new(),
        cache: std::cell::RefCell::default(),
    };
    let mut counts = Counts {
        expected: BTreeMap::new(),
        hits: vec![0; field.run.expectations.len()],
    };
    let mut sessions: Vec<usize> = field.sessions().map(|(place, _)| place).collect();
    // The references of devices first: what they lack, all of the device's cells do.
    sessions.sort_by_key(|place| {
        let cell = field.run.sessions[*place].cell;
        (field.device_reference(cell).is_some(), *place)
    });
    for place in sessions {
        let session = &field.run.sessions[place];
        if !matches!(session.outcome, OutcomeKind::Passed | OutcomeKind::Failed) {
            continue;
        }
        if let Some(earlier) = &session.earlier {
            let step = Step {
                step: earlier.step,
                message: earlier.message.clone(),
                ..Step::default()
            };
            fail(field, &screens, place, &step, None, sightings);
        }
        let mut known = BTreeSet::new();
        for step in &session.steps {
            match step.status {
                StepStatus::Other => continue,
                StepStatus::Failed => {
                    let against = field.nearest(place, |other| field.passed(other, step.step));
                    let listed = against.and_then(|against| {
                        let looked =
                            screens.look(field, &mut counts, (place, against), step.step)?;
                        Some(screens.list(field, (place, against), step.step, &looked))
                    });
                    fail(field, &screens, place, step, listed, sightings);
                    break;
                }
                StepStatus::Passed => (),
            }
            let Some(against) = field.baseline(place, step.step) else {
                continue;
            };
            let pair = (place, against);
            let Some(looked) = screens.look(field, &mut counts, pair, step.step) else {
                continue;
            };
            let mut news: Vec<(String, String, String)> = looked
                .news
                .iter()
                .map(|item| (item_key(item), item_title(item), item_detail(item)))
                .collect();
            let is_another = is_another_screen(&screens, field, pair, step.step);
            if is_another && is_early_or_late(&screens, field, pair, step.step) {
                continue;
            }
            if is_another {
                let words = step_words(field, session.trail, step.step);
                let key = format!("difference: another screen at {words}");
                let title = format!("Another screen at step {}: {words}", step.step);
                news = vec![(key, title, String::new())];
            }
            // What was seen at an earlier step is no news at a later one.
            news.retain(|(key, ..)| known.insert(key.clone()));
            if !news.is_empty() {
                let at = screens.list(field, pair, step.step, &looked);
                for (key, title, detail) in news {
                    let occurrence = Occurrence {
                        trail: session.trail,
                        session: place,
                        step: step.step,
                        difference: Some(at),
                        ..Occurrence::default()
                    };
                    let told = || (title, detail);
                    sightings.add(ClusterKind::Difference, key, occurrence, told);
                }
            }
            if is_another {
                // Whatever follows differs for this.
                break;
            }
        }
    }
    inherit(field, sightings);
    sightings.join_differences();
    screens.expected = counts
        .expected
        .into_iter()
        .map(|((axis, kind), count)| answer::Expected { axis, kind, count })
        .collect();
    screens.expectations = field
        .run
        .expectations
        .iter()
        .zip(counts.hits)
        .map(|(expectation, hits)| answer::Expectation {
            text: expectation.text.clone(),
            hits,
        })
        .collect();
    screens
}

struct Counts {
    expected: BTreeMap<(String, ItemKind), usize>,
    hits: Vec<usize>,
}

impl<'a> Screens<'a> {
    /// The differences of a step: the news among them, then what is explained, which is counted.
    fn look(
        &self,
        field: &Field<'a>,
        counts: &mut Counts,
        (place, against): (usize, usize),
        step: u32,
    ) -> Option<Looked> {
        let mut items: Vec<Item> = self.items(field, against, place, step)?.to_vec();
        let values = &field.values[field.run.sessions[place].cell];
        let trail = field.run.sessions[place].trail;
        for item in items.iter_mut().filter(|item| item.expected_by.is_none()) {
            for (expectation, hits) in field.run.expectations.iter().zip(&mut counts.hits) {
                if expectation.is_for(trail) && expectation.applies(item, step, values) {
                    *hits += 1;
                    item.expected_by = Some(format!("expect: {}", expectation.text));
                    break;
                }
            }
        }
        for item in &items {
            let by = item.expected_by.as_ref();
            if let Some(axis) = by.filter(|by| !by.starts_with("expect: ")) {
                let count = counts.expected.entry((axis.clone(), item.kind));
                *count.or_default() += 1;
            }
        }
        let (explained, news) = items
            .into_iter()
            .partition(|item| item.expected_by.is_some());
        Some(Looked { news, explained })
    }

    /// Lists differences for the report: their place in the list.
    fn list(
        &mut self,
        field: &Field<'a>,
        (place, against): (usize, usize),
        step: u32,
        looked: &Looked,
    ) -> usize {
        let keys = looked.news.iter().map(item_key);
        let text: Vec<String> = keys.collect();
        let explained = looked.explained.iter().take(MAX_EXPLAINED);
        self.differences.push(Difference {
            trail: field.run.sessions[place].trail,
            step,
            session: place,
            against,
            against_step: None,
            digest: digest(&text.join("\n")),
            items: looked.news.iter().chain(explained).cloned().collect(),
        });
        self.differences.len() - 1
    }
}

/// The differences of a step.
struct Looked {
    news: Vec<Item>,
    /// What an axis, or the user, explains.
    explained: Vec<Item>,
}

fn digest(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Whether more of a screen is unlike than alike.
fn is_another_screen<'a>(
    screens: &Screens<'a>,
    field: &Field<'a>,
    (place, against): (usize, usize),
    step: u32,
) -> bool {
    screens
        .alike(field, (against, step), (place, step))
        .is_some_and(is_another)
}

/// Whether so many alike and unlike nodes are those of two different screens.
pub(crate) const fn is_another((alike, unlike): (usize, usize)) -> bool {
    unlike >= ANOTHER_SCREEN && unlike > alike * 2
}

/// How many named nodes of two screens are alike, and how many are not.
pub(crate) fn alike(was: &ScreenTree, is: &ScreenTree, alignment: &Alignment) -> (usize, usize) {
    let named = |tree: &ScreenTree, aligned: &[Option<usize>]| {
        let nodes = tree
            .nodes
            .iter()
            .zip(aligned)
            .filter(|(node, _)| !node.name.is_empty());
        let (alike, unlike): (Vec<_>, Vec<_>) = nodes.partition(|(_, to)| to.is_some());
        (alike.len(), unlike.len())
    };
    let (same, gone) = named(was, &alignment.to);
    let (_, came) = named(is, &alignment.from);
    (same, gone.max(came))
}

/// Whether one of the two was looked at before the next page came, and the other after it: what the
/// session shows at a step its baseline shows at the step before or behind, and at the next step they
/// agree.
fn is_early_or_late<'a>(
    screens: &Screens<'a>,
    field: &Field<'a>,
    (place, against): (usize, usize),
    step: u32,
) -> bool {
    let agree = |of_baseline: u32, own: u32| {
        let alike = screens.alike(field, (against, of_baseline), (place, own));
        alike.is_some_and(|(alike, unlike)| alike > unlike * 2)
    };
    let beside = [step.checked_sub(1), step.checked_add(1)];
    let mut beside = beside.into_iter().flatten();
    let next = step.saturating_add(1);
    beside.any(|other| field.passed(against, other) && agree(other, step))
        && field.passed(place, next)
        && agree(next, next)
}

/// What makes two differences the same, whatever session they are of.
pub(crate) fn item_key(item: &Item) -> String {
    let Item {
        kind, role, name, ..
    } = item;
    // What a state or a number became is part of it; what a text became is not.
    let became = match kind {
        ItemKind::State | ItemKind::Matches => item.is.as_deref().unwrap_or_default(),
        _ => "",
    };
    let name = Texts::default().normal(name);
    format!("difference:{}:{role}:{name}:{became}", kind_word(*kind))
}

const fn kind_word(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::Missing => "missing",
        ItemKind::Added => "added",
        ItemKind::Name => "name",
        ItemKind::Value => "value",
        ItemKind::State => "state",
        ItemKind::Order => "order",
        ItemKind::OutOfView => "out_of_view",
        ItemKind::IntoView => "into_view",
        ItemKind::Untranslated => "untranslated",
        ItemKind::RawKey => "raw_key",
        ItemKind::Matches => "matches",
    }
}

pub(crate) fn item_title(item: &Item) -> String {
    let name = if item.name.is_empty() {
        format!("A {}", item.role)
    } else {
        format!("\"{}\"", item.name)
    };
    let is = item.is.as_deref().unwrap_or_default();
    let was = item.was.as_deref().unwrap_or_default();
    match item.kind {
        ItemKind::Missing => format!("{name} is missing"),
        ItemKind::Added => format!("{name} is only here"),
        ItemKind::Name => format!("{name} is called \"{is}\""),
        ItemKind::Value => format!("{name} holds another value"),
        ItemKind::State if is.contains("disabled") && !was.contains("disabled") => {
            format!("{name} is disabled")
        }
        ItemKind::State if is.is_empty() => format!("{name} is not {was}"),
        ItemKind::State => format!("{name} is {is}"),
        ItemKind::Order => format!("{name} stands elsewhere"),
        ItemKind::OutOfView => format!("{name} is out of view"),
        ItemKind::IntoView => format!("{name} is in view"),
        ItemKind::Untranslated => format!("{name} is not translated"),
        ItemKind::RawKey => {
            let key = if is.is_empty() {
                item.name.as_str()
            } else {
                is
            };
            format!("The text key \"{key}\" is shown")
        }
        ItemKind::Matches => format!(
            "{} matched {is} elements, {was} in the reference",
            item.name
        ),
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
    let steps = field.run.trails[trail].steps.iter();
    let known = steps.clone().find(|one| one.step == step);
    known.map_or_else(|| format!("step {step}"), |step| step.text.clone())
}

/// Notes where a session failed.
fn fail<'a>(
    field: &Field<'a>,
    screens: &Screens<'a>,
    place: usize,
    step: &Step,
    difference: Option<usize>,
    sightings: &mut Sightings,
) {
    let session = &field.run.sessions[place];
    let cell = field.cell_of(place);
    let normal = signature::of(&step.message, cell);
    let occurrence = Occurrence {
        trail: session.trail,
        session: place,
        step: step.step,
        difference,
        ..Occurrence::default()
    };
    let told = element_title(field, screens, place, step.step)
        .unwrap_or_else(|| signature::title(&step.message));
    // A title that names an element says enough; other messages say it of their step.
    let key = if told.starts_with('"') {
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
    let nearest = field
        .nearest(place, |other| {
            field.passed(other, step) && locale(other) == locale(place)
        })
        .or_else(|| field.nearest(place, |other| field.passed(other, step)))?;
    let uses = &field.step(baseline, step)?.uses;
    // The screen on which the step began there is the one it failed on here.
    let before = |session: usize| {
        let steps = field.run.sessions[session].steps.iter().rev();
        let before = steps.map(|one| one.step).find(|one| *one < step)?;
        Some((session, before))
    };
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
        let at = there.alignment.to[at]?;
        let Some(to) = here.alignment.to[at] else {
            return Some(format!("\"{name}\" is missing"));
        };
        let (was, is) = (&before.nodes[at], &now.nodes[to]);
        let is_disabled = |states: &[String]| states.iter().any(|state| state == "disabled");
        let was_in_view = align::in_view(before, was) == Some(true);
        if was_in_view && align::in_view(now, is) == Some(false) {
            Some(format!("\"{name}\" is hidden"))
        } else if is_disabled(&is.states) && !is_disabled(&was.states) {
            Some(format!("\"{name}\" is disabled"))
        } else {
            None
        }
    })
}

impl<'a> Screens<'a> {
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

    /// An element of a session's step as its baseline calls it.
    pub(super) fn as_in_baseline(
        &self,
        field: &Field<'a>,
        (place, against): (usize, usize),
        step: u32,
        element: &str,
    ) -> Option<String> {
        let pair = self.pair(field, (against, step), (place, step))?;
        let at = pair
            .is
            .tree()
            .nodes
            .iter()
            .position(|node| named(node) == element)?;
        Some(named(&pair.was.tree().nodes[pair.alignment.from[at]?]))
    }
}

/// What the reference of a device lacks beside the reference of all, the device's other cells lack too,
/// unless theirs is a difference of the same element.
fn inherit(field: &Field<'_>, sightings: &mut Sightings) {
    let elements = |signature: &str| {
        signature
            .splitn(4, ':')
            .nth(3)
            .unwrap_or_default()
            .to_owned()
    };
    let mut own: BTreeSet<(usize, String)> = BTreeSet::new();
    for ((_, signature), sighted) in &sightings.kinds {
        own.extend(
            sighted
                .occurrences
                .keys()
                .map(|session| (*session, elements(signature))),
        );
    }
    for ((kind, signature), sighted) in &mut sightings.kinds {
        if *kind != ClusterKind::Difference {
            continue;
        }
        for (place, session) in field.sessions() {
            let Some(reference) = field.device_reference(session.cell) else {
                continue;
            };
            let from = sighted.occurrences.values().find(|one| {
                let other = &field.run.sessions[one.session];
                other.cell == reference && other.trail == session.trail
            });
            if let Some(from) = from.cloned()
                && field.passed(place, from.step)
                && !own.contains(&(place, elements(signature)))
            {
                sighted.occurrences.entry(place).or_insert(Occurrence {
                    session: place,
                    ..from
                });
            }
        }
    }
}
