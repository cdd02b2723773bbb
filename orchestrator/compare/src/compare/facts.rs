//! What differs between the screens of one step on one platform: each difference once, with the
//! sessions that have it and those for which their layout or language explains it.
//!
//! Texts are compared within a language, order and view within a layout. What all cells of a layout or a
//! language have, alike and with a counterpart elsewhere, is how they are; what has no counterpart is
//! news wherever it is missing.

mod excuses;
mod texts;

use std::collections::{BTreeMap, BTreeSet};

use packtrain_drivers::Hidden;
use packtrain_model::screen::ScreenNode;

use super::elements::Elements;
use super::field::Field;
use crate::align::{self, is_raw_key, stands_by_itself};
use crate::answer::{Item, ItemKind};
use crate::defects::named;
use crate::normal::is_actionable;

/// Facts and axes that change a screen's layout.
pub(super) const LAYOUT: [&str; 8] = [
    "width",
    "viewport",
    "form",
    "orientation",
    "fontScale",
    "textSize",
    "density",
    "size",
];
/// Missing and added elements that are paired at most.
const MAX_PAIRED: usize = 200;

/// A difference.
#[derive(Debug, Clone, Default)]
pub(super) struct Fact {
    pub(super) kind: ItemKind,
    pub(super) element: usize,
    /// What the element is called nearest to the reference.
    pub(super) role: String,
    pub(super) name: String,
    /// What each session that has it shows, and the others.
    pub(super) bad: BTreeMap<usize, Change>,
    /// The sessions for which it is not news.
    pub(super) excused: Vec<Excuse>,
    /// Whether nothing but digits differs.
    pub(super) is_faint: bool,
    /// The sessions for which it is unknown: their language is shown in other layouts only.
    unknown: BTreeSet<usize>,
}

/// What the others show, and what a session does.
pub(super) type Change = (Option<String>, Option<String>);

/// Sessions for which a value explains a difference.
#[derive(Debug, Clone, Default)]
pub(super) struct Excuse {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) sessions: Vec<usize>,
    /// The control that opens what is hidden.
    pub(super) behind: Option<String>,
}

impl Fact {
    /// The sessions for which it is news.
    pub(super) fn news(&self) -> impl Iterator<Item = (usize, &Change)> {
        let excused: BTreeSet<usize> = self.excused().collect();
        let bad = self.bad.iter();
        bad.filter(move |(session, _)| !excused.contains(session))
            .map(|(session, change)| (*session, change))
    }

    /// The sessions for which it is none.
    pub(super) fn excused(&self) -> impl Iterator<Item = usize> {
        let sessions = self.excused.iter().flat_map(|excuse| &excuse.sessions);
        sessions.copied()
    }
}

/// A step's screens.
pub(super) struct Look<'e, 'a> {
    pub(super) field: &'e Field<'a>,
    pub(super) elements: &'e Elements<'a>,
    pub(super) step: u32,
}

/// What three of four have.
fn most<T: PartialEq>(values: &[T]) -> Option<&T> {
    let count = |one: &T| values.iter().filter(|other| *other == one).count();
    values
        .iter()
        .find(|one| values.len() > 2 && count(one) * 4 >= values.len() * 3)
}

/// What most have, and otherwise what the first has: a reference in the minority is what differs.
fn usual<T: PartialEq>(values: &[T]) -> Option<&T> {
    most(values).or_else(|| values.first())
}

/// What is usual, and the sessions that have something else; `None` when all have the same.
fn odd<T: PartialEq + Clone>(seen: Vec<(usize, T)>) -> Option<(T, Vec<(usize, T)>)> {
    let values: Vec<&T> = seen.iter().map(|(_, value)| value).collect();
    let usual: T = (*usual(&values)?).clone();
    let odd = seen.into_iter().filter(|(_, value)| *value != usual);
    let odd: Vec<_> = odd.collect();
    (!odd.is_empty()).then_some((usual, odd))
}

impl<'e> Look<'e, '_> {
    /// All differences, in document order for each kind.
    pub(super) fn facts(&self) -> Vec<Fact> {
        let mut facts = self.shown();
        facts.extend(self.texts());
        facts.extend(self.untranslated());
        facts.extend(self.states());
        facts.extend(self.order());
        for fact in &mut facts {
            self.excuse(fact);
        }
        self.excuse_opened(&mut facts);
        self.excuse_parts(&mut facts);
        let views = self.views(&facts);
        facts.extend(views);
        facts
    }

    fn fact(&self, kind: ItemKind, element: usize) -> Fact {
        let (role, name) = self.elements.called(element);
        Fact {
            kind,
            element,
            role: role.to_owned(),
            name: name.to_owned(),
            ..Fact::default()
        }
    }

    fn looked(&self) -> &'e [(usize, usize)] {
        &self.elements.looked
    }

    fn node(&self, element: usize, screen: usize) -> Option<usize> {
        self.elements.nodes[element][screen]
    }

    /// An element as a screen shows it.
    fn shown_as(&self, element: usize, screen: usize) -> Option<&ScreenNode> {
        let node = self.node(element, screen)?;
        Some(&self.elements.screens[screen].prepared.tree().nodes[node])
    }

    /// What a session's screen has and does not show.
    fn hidden(&self, session: usize) -> &'e [Hidden] {
        let step = self.field.step(session, self.step);
        let tree = step.and_then(|step| step.tree.as_ref());
        tree.map_or(&[], |seen| &seen.tree.hidden)
    }

    /// Whether a session is laid out like the reference.
    fn is_usual_layout(&self, session: usize) -> bool {
        let first = self.looked().first().map_or(session, |(first, _)| *first);
        self.field.layout(session) == self.field.layout(first)
    }

    /// What sessions of equal values are, each group with the nearest to the reference first.
    fn groups(&self, names: &[&str]) -> Vec<Vec<(usize, usize)>> {
        type Group<'v> = (Vec<Option<&'v str>>, Vec<(usize, usize)>);
        let mut groups: Vec<Group<'_>> = Vec::new();
        for &(session, screen) in self.looked() {
            let key = names.iter().map(|name| self.field.value(session, name));
            let key: Vec<_> = key.collect();
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, group)) => group.push((session, screen)),
                None => groups.push((key, vec![(session, screen)])),
            }
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }

    /// What an element is called on screens of a language, without what differs by nature.
    fn name_in(&self, element: usize, locale: &str) -> Option<&str> {
        let mut looked = self.looked().iter();
        looked.find_map(|&(session, screen)| {
            let node = self.node(element, screen)?;
            let is_own = self.field.locale(session) == locale;
            is_own.then(|| self.elements.screens[screen].prepared.name(node))
        })
    }

    /// What a session hides of an element: what it is in, if that is known.
    fn hides(&self, session: usize, element: usize) -> Option<Option<String>> {
        let (role, name) = self.elements.called(element);
        let hidden = self.hidden(session);
        if hidden.is_empty() {
            return None;
        }
        let locale = self.field.locale(session);
        let mut looked = self.looked().iter();
        let own = looked.find_map(|&(other, screen)| {
            let node = self.shown_as(element, screen)?;
            (self.field.locale(other) == locale).then(|| named(node))
        });
        let found = match &own {
            Some(own) => hidden.iter().find(|one| one.element == *own),
            // In a language that never shows it, what has its role may be it, where another language hides
            // it in the same layout.
            None => hidden
                .iter()
                .find(|one| one.element == format!("{role} \"{name}\""))
                .or_else(|| {
                    let mut others = self.looked().iter().map(|(other, _)| *other);
                    let is_hidden = others.any(|other| {
                        self.field.layout(other) == self.field.layout(session)
                            && self.field.locale(other) != locale
                            && self.name_in(element, self.field.locale(other)).is_some()
                            && self.hides(other, element).is_some()
                    });
                    let is_kin = |one: &&Hidden| one.element.split(' ').next() == Some(role);
                    hidden.iter().filter(|_| is_hidden).find(is_kin)
                }),
        };
        found.map(|one| one.behind.clone())
    }

    /// Elements that some screens show and others do not.
    fn shown(&self) -> Vec<Fact> {
        let mut facts: Vec<Fact> = Vec::new();
        for element in 0..self.elements.nodes.len() {
            let looked = self.looked().iter();
            let shown = looked.map(|(session, at)| (*session, self.node(element, *at).is_some()));
            let Some((is_usual, odd)) = odd(shown.collect()) else {
                continue;
            };
            let bad: BTreeMap<usize, Change> = (odd.into_iter())
                .map(|(session, _)| (session, (None, None)))
                .collect();
            let (role, name) = self.elements.called(element);
            let kind = match is_usual {
                true => ItemKind::Missing,
                false if is_raw_key(name) => ItemKind::RawKey,
                false => ItemKind::Added,
            };
            let is_told = || {
                let parent = self.elements.parent(element);
                let mut told = facts.iter();
                told.any(|fact| Some(fact.element) == parent && fact.bad.keys().eq(bad.keys()))
            };
            if stands_by_itself(role) || !name.is_empty() && !is_told() {
                facts.push(Fact {
                    bad,
                    ..self.fact(kind, element)
                });
            }
        }
        self.paired(facts)
    }

    /// What is missing somewhere and what stands there in its place are one: in another role, or called
    /// otherwise.
    fn paired(&self, mut facts: Vec<Fact>) -> Vec<Fact> {
        let of = |facts: &[Fact], kind: ItemKind| -> Vec<usize> {
            let places = (0..facts.len()).filter(|place| facts[*place].kind == kind);
            places.take(MAX_PAIRED).collect()
        };
        let mut added = of(&facts, ItemKind::Added);
        let mut gone: BTreeSet<usize> = BTreeSet::new();
        for place in of(&facts, ItemKind::Missing) {
            let one = &facts[place];
            let is_kin = |other: &Fact, by_name: bool| {
                let session = other.bad.keys().next().copied().unwrap_or_default();
                let locale = self.field.locale(session);
                let name = |element| self.name_in(element, locale);
                let is_called = match (name(one.element), name(other.element)) {
                    (Some(was), Some(is)) => was == is,
                    _ => one.name == other.name,
                };
                let parent = |element| self.elements.parent(element);
                let is_same = match by_name {
                    true => is_called && !one.name.is_empty(),
                    false => one.role == other.role && parent(one.element) == parent(other.element),
                };
                is_same && one.bad.keys().eq(other.bad.keys())
            };
            let found = [true, false].into_iter().find_map(|by_name| {
                let mut added = added.iter();
                added.position(|other| is_kin(&facts[*other], by_name))
            });
            let Some(at) = found else { continue };
            let other = added.remove(at);
            let (was, is) = (&facts[place], &facts[other]);
            let (kind, change) = match was.role == is.role {
                true => (ItemKind::Name, (was.name.clone(), is.name.clone())),
                false => (ItemKind::Role, (was.role.clone(), is.role.clone())),
            };
            let change = (Some(change.0), Some(change.1));
            let one = &mut facts[place];
            one.kind = kind;
            for told in one.bad.values_mut() {
                told.clone_from(&change);
            }
            gone.insert(other);
        }
        let kept = facts.into_iter().zip(0..);
        let kept = kept.filter(|(_, place)| !gone.contains(place));
        kept.map(|(fact, _)| fact).collect()
    }

    /// States that differ.
    fn states(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        for element in 0..self.elements.nodes.len() {
            let nodes = self.looked().iter().filter_map(|&(session, screen)| {
                let node = self.shown_as(element, screen)?;
                Some((session, node.states.join(", ")))
            });
            let Some((state, odd)) = odd(nodes.collect()) else {
                continue;
            };
            let change = |own| (Some(state.clone()), Some(own));
            let odd = odd.into_iter();
            facts.push(Fact {
                bad: odd.map(|(session, own)| (session, change(own))).collect(),
                ..self.fact(ItemKind::State, element)
            });
        }
        facts
    }

    /// What stands elsewhere than on the other screens of its layout.
    fn order(&self) -> Vec<Fact> {
        let mut facts: BTreeMap<usize, Fact> = BTreeMap::new();
        for group in self.groups(&LAYOUT) {
            let screens: BTreeSet<usize> = group.iter().map(|(_, screen)| *screen).collect();
            let everywhere = |element: &usize| {
                let mut screens = screens.iter();
                screens.all(|screen| self.node(*element, *screen).is_some())
            };
            let orders: Vec<Vec<usize>> = (group.iter())
                .map(|(_, screen)| {
                    let elements = self.elements.screens[*screen].elements.iter();
                    elements.copied().filter(everywhere).collect()
                })
                .collect();
            let Some(order) = usual(&orders) else {
                continue;
            };
            let at = orders.iter().position(|own| own == order);
            let (_, base) = group[at.unwrap_or_default()];
            let odd = group.iter().zip(&orders).filter(|(_, own)| *own != order);
            for ((session, screen), own) in odd {
                let sequence = own.iter().filter_map(|element| self.node(*element, base));
                let is_out = align::out_of_order(&sequence.collect::<Vec<_>>());
                let moved = own.iter().zip(is_out).filter(|(_, is_out)| *is_out);
                let moved: BTreeSet<usize> = moved.map(|(element, _)| *element).collect();
                for &element in &moved {
                    let parent = |screen: usize| {
                        let node = self.node(element, screen)?;
                        let screen = &self.elements.screens[screen];
                        Some(screen.elements[screen.prepared.parent(node)?])
                    };
                    let with_parent = parent(*screen)
                        .is_some_and(|own| moved.contains(&own) && parent(base) == Some(own));
                    let node = self.shown_as(element, *screen);
                    let is_named = node.is_some_and(|node| !node.name.is_empty());
                    if is_named && !with_parent {
                        let fact = facts.entry(element);
                        let fact = fact.or_insert_with(|| self.fact(ItemKind::Order, element));
                        fact.bad.insert(*session, (None, None));
                    }
                }
            }
        }
        facts.into_values().collect()
    }

    /// What is in view on some screens of a layout and a language and not on others, where nothing else
    /// moved it.
    fn views(&self, facts: &[Fact]) -> Vec<Fact> {
        let built: BTreeSet<usize> = (facts.iter().filter(|fact| fact.kind.moves_others()))
            .flat_map(|fact| fact.news().map(|(session, _)| session))
            .collect();
        let mut views = Vec::new();
        let groups = self.groups(&[&LAYOUT[..], &["locale", "model", "os"]].concat());
        for element in 0..self.elements.nodes.len() {
            let (role, _) = self.elements.called(element);
            if !is_actionable(role) && role != "heading" {
                continue;
            }
            let (mut out, mut into) = (
                self.fact(ItemKind::OutOfView, element),
                self.fact(ItemKind::IntoView, element),
            );
            for group in &groups {
                let group = group.iter().filter(|(session, _)| !built.contains(session));
                let seen = group.filter_map(|&(session, screen)| {
                    let node = self.shown_as(element, screen)?;
                    let tree = self.elements.screens[screen].prepared.tree();
                    Some((session, align::in_view(tree, node)?))
                });
                let Some((is_usual, odd)) = odd(seen.collect()) else {
                    continue;
                };
                let fact = if is_usual { &mut out } else { &mut into };
                let odd = odd.into_iter().map(|(session, _)| (session, (None, None)));
                fact.bad.extend(odd);
            }
            views.extend([out, into].into_iter().filter(|one| !one.bad.is_empty()));
        }
        views
    }

    /// A difference as reported for a session.
    pub(super) fn item(&self, fact: &Fact, session: usize) -> Item {
        let (was, is) = fact.bad.get(&session).cloned().unwrap_or_default();
        let at = |screen: usize| self.shown_as(fact.element, screen)?.bounds;
        let mut looked = self.looked().iter();
        let own = looked.find(|(one, _)| *one == session);
        let there = || at(self.elements.first(fact.element)?.0);
        Item {
            kind: fact.kind,
            role: fact.role.clone(),
            // Where the reference is what differs, the others say what it is called.
            name: match (fact.kind, &was) {
                (ItemKind::Name, Some(was)) if is.as_ref() == Some(&fact.name) => was.clone(),
                _ => fact.name.clone(),
            },
            was,
            is,
            at: own.and_then(|(_, screen)| at(*screen)).or_else(there),
            ..Item::default()
        }
    }
}
