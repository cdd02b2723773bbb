//! What differs between the screens of one step on one platform: each difference once, with the
//! sessions that have it and those for which their layout or language explains it.
//!
//! Texts are compared within a language, order and view within a layout. What all cells of a layout or a
//! language have, alike and with a counterpart elsewhere, is how they are; what has no counterpart is
//! news wherever it is missing.

use std::collections::{BTreeMap, BTreeSet};

use packtrain_drivers::Hidden;

use super::elements::Elements;
use super::field::Field;
use crate::align::{self, has_words, is_raw_key, stands_by_itself};
use crate::answer::{Item, ItemKind};
use crate::defects::named;
use crate::normal::is_actionable;

/// Facts and axes that lay a screen out anew.
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
    /// The sessions for which it is no news.
    pub(super) excused: Vec<Excuse>,
    /// Whether nothing but digits differs.
    pub(super) is_faint: bool,
    /// The sessions of which nobody can say: their language is shown in other layouts only.
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

    /// What a session's screen has and does not show.
    fn hidden(&self, session: usize) -> &'e [Hidden] {
        let step = self.field.step(session, self.step);
        let tree = step.and_then(|step| step.tree.as_ref());
        tree.map_or(&[], |seen| &seen.tree.hidden)
    }

    /// Whether a session is laid out like the reference.
    fn is_usual_layout(&self, session: usize) -> bool {
        let first = self.looked().first().map_or(session, |(first, _)| *first);
        let value = |session: usize, name: &str| self.field.value(session, name).map(str::to_owned);
        LAYOUT
            .iter()
            .all(|name| value(session, name) == value(first, name))
    }

    /// What sessions of equal values are, each group with the nearest to the reference first.
    fn groups(&self, names: &[&str]) -> Vec<Vec<(usize, usize)>> {
        type Group<'v> = (Vec<Option<&'v str>>, Vec<(usize, usize)>);
        let mut groups: Vec<Group<'_>> = Vec::new();
        for &(session, screen) in self.looked() {
            let key: Vec<_> = (names.iter())
                .map(|name| self.field.value(session, name))
                .collect();
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
            let node = self.node(element, screen)?;
            let is_own = self.field.locale(other) == locale;
            is_own.then(|| named(&self.elements.screens[screen].prepared.tree().nodes[node]))
        });
        let found = match &own {
            Some(own) => hidden.iter().find(|one| one.element == *own),
            // In a language that never shows it, what has its role may be it, where another language hides
            // it in the same layout.
            None => hidden
                .iter()
                .find(|one| one.element == format!("{role} \"{name}\""))
                .or_else(|| {
                    let layout = |one: usize| LAYOUT.map(|name| self.field.value(one, name));
                    let mut others = self.looked().iter().map(|(other, _)| *other);
                    let is_hidden = others.any(|other| {
                        layout(other) == layout(session)
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
            let shown: Vec<bool> = (self.looked().iter())
                .map(|(_, screen)| self.node(element, *screen).is_some())
                .collect();
            let Some(&is_usual) = usual(&shown) else {
                continue;
            };
            let bad: BTreeMap<usize, Change> = (self.looked().iter().zip(&shown))
                .filter(|(_, shown)| **shown != is_usual)
                .map(|((session, _), _)| (*session, (None, None)))
                .collect();
            if bad.is_empty() {
                continue;
            }
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
                let is_here =
                    one.role == other.role && parent(one.element) == parent(other.element);
                one.bad.keys().eq(other.bad.keys())
                    && if by_name {
                        is_called && !one.name.is_empty()
                    } else {
                        is_here
                    }
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
        let kept = facts.into_iter().enumerate();
        kept.filter(|(place, _)| !gone.contains(place))
            .map(|(_, fact)| fact)
            .collect()
    }

    /// Names and values that differ within a language.
    fn texts(&self) -> Vec<Fact> {
        let mut groups = self.groups(&["locale"]);
        for group in &mut groups {
            // What is laid out like the reference first: other layouts may call it otherwise.
            group.sort_by_key(|(session, _)| !self.is_usual_layout(*session));
        }
        let translated: Vec<bool> = groups
            .iter()
            .map(|group| self.is_translated(group).0)
            .collect();
        let mut facts = Vec::new();
        for element in 0..self.elements.nodes.len() {
            let (mut called, mut raw) = (
                self.fact(ItemKind::Name, element),
                self.fact(ItemKind::RawKey, element),
            );
            let mut holds = self.fact(ItemKind::Value, element);
            called.is_faint = true;
            let reference = self.looked().first().and_then(|(_, screen)| {
                let node = self.node(element, *screen)?;
                Some(self.elements.screens[*screen].prepared.exact(node).0)
            });
            for (group, is_translated) in groups.iter().zip(&translated) {
                if group
                    .iter()
                    .all(|(session, _)| !self.is_usual_layout(*session))
                {
                    called
                        .unknown
                        .extend(group.iter().map(|(session, _)| *session));
                }
                let nodes: Vec<(usize, usize, usize)> = (group.iter())
                    .filter_map(|&(session, screen)| {
                        Some((session, screen, self.node(element, screen)?))
                    })
                    .collect();
                let text =
                    |screen: usize, node: usize| self.elements.screens[screen].prepared.exact(node);
                let texts: Vec<_> = nodes.iter().map(|(_, s, node)| text(*s, *node)).collect();
                let names: Vec<&str> = texts.iter().map(|(name, _)| *name).collect();
                let values: Vec<Option<&str>> = texts.iter().map(|(_, value)| *value).collect();
                // What is not translated is called what the reference calls it.
                let is_own = |one: &&&str| !is_translated && Some(**one) == reference;
                let name = most(&names).or_else(|| names.iter().find(is_own));
                let (Some(name), Some(value)) = (name.or(names.first()), usual(&values)) else {
                    continue;
                };
                let normal = |at: usize| {
                    let (_, screen, node) = nodes[at];
                    self.elements.screens[screen].prepared.name(node)
                };
                let usual_at = names.iter().position(|one| one == name).unwrap_or_default();
                let is_faint = (0..nodes.len()).all(|at| normal(at) == normal(usual_at));
                let distinct: BTreeSet<&&str> = names.iter().collect();
                // What nearly every cell has another number of is a number of its own.
                let is_own = is_faint && distinct.len() > 2 && distinct.len() * 2 > names.len();
                for (at, (session, ..)) in nodes.iter().enumerate() {
                    if names[at] != *name && !is_own {
                        let is_raw = is_raw_key(names[at]) && !is_raw_key(name);
                        let fact = if is_raw { &mut raw } else { &mut called };
                        fact.is_faint &= is_faint;
                        let change = (Some((*name).to_owned()), Some(names[at].to_owned()));
                        fact.bad.insert(*session, change);
                    }
                    if values[at] != *value {
                        let of = |text: &Option<&str>| text.map(str::to_owned);
                        holds.bad.insert(*session, (of(value), of(&values[at])));
                    }
                }
            }
            facts.extend(
                [called, raw, holds]
                    .into_iter()
                    .filter(|one| !one.bad.is_empty()),
            );
        }
        facts
    }

    /// Texts of a language that are those of another one, though a third has its own; and keys that
    /// stand where a text belongs.
    fn untranslated(&self) -> Vec<Fact> {
        let groups = self.groups(&["locale"]);
        let mut facts = Vec::new();
        if groups.len() < 2 {
            return facts;
        }
        for element in 0..self.elements.nodes.len() {
            let usual_of = |group: &Vec<(usize, usize)>| -> Option<&str> {
                let names: Vec<&str> = (group.iter())
                    .filter_map(|&(_, screen)| {
                        let node = self.node(element, screen)?;
                        Some(self.elements.screens[screen].prepared.name(node))
                    })
                    .collect();
                usual(&names).copied()
            };
            let names: Vec<Option<&str>> = groups.iter().map(usual_of).collect();
            let Some(reference) = names.first().copied().flatten() else {
                continue;
            };
            for (group, name) in groups.iter().zip(&names).skip(1) {
                let Some(name) = *name else { continue };
                let kind = if is_raw_key(name) && !is_raw_key(reference) {
                    ItemKind::RawKey
                } else if self.is_foreign(group, name, reference, &names) {
                    ItemKind::Untranslated
                } else {
                    continue;
                };
                let same = |&&(_, screen): &&(usize, usize)| {
                    let node = self.node(element, screen);
                    node.is_some_and(|node| {
                        self.elements.screens[screen].prepared.name(node) == name
                    })
                };
                let change = (Some(reference.to_owned()), Some(name.to_owned()));
                let bad = group.iter().filter(same);
                facts.push(Fact {
                    bad: bad.map(|(session, _)| (*session, change.clone())).collect(),
                    ..self.fact(kind, element)
                });
            }
        }
        facts
    }

    /// Whether most texts of a group's first screen are not the reference's, and whether most are written
    /// in other letters than Latin.
    fn is_translated(&self, group: &[(usize, usize)]) -> (bool, bool) {
        let (mut all, mut own, mut others) = (0_usize, 0_usize, 0_usize);
        if let Some((_, screen)) = group.first() {
            let screen = &self.elements.screens[*screen];
            for (element, node) in screen.elements.iter().zip(&screen.prepared.tree().nodes) {
                let is_other = is_other_script(&node.name);
                all += usize::from(is_other || has_words(&node.name));
                others += usize::from(is_other);
                own += usize::from(is_other || self.elements.called(*element).1 != node.name);
            }
        }
        (own * 2 > all, others * 2 > all)
    }

    /// Whether a text on a group's screens belongs to another language, while most of the screen is
    /// translated: Latin letters among others, or some words that are the reference's.
    fn is_foreign(
        &self,
        group: &[(usize, usize)],
        name: &str,
        reference: &str,
        names: &[Option<&str>],
    ) -> bool {
        let same = names.iter().filter(|other| **other == Some(name)).count();
        // A name that every language has is a name.
        if same < 2 || !has_words(name) || name.contains("://") || same == names.len() && same > 2 {
            return false;
        }
        let (is_translated, is_other) = self.is_translated(group);
        let words = |longest: usize| {
            let is_word = |word: &&str| {
                word.chars().count() >= longest && word.chars().all(char::is_alphabetic)
            };
            name.split_whitespace().filter(is_word).count()
        };
        if is_other {
            return words(4) > 0;
        }
        is_translated && name == reference && words(3) > 1
    }

    /// States that differ.
    fn states(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        for element in 0..self.elements.nodes.len() {
            let nodes: Vec<(usize, String)> = (self.looked().iter())
                .filter_map(|&(session, screen)| {
                    let node = self.node(element, screen)?;
                    let node = &self.elements.screens[screen].prepared.tree().nodes[node];
                    Some((session, node.states.join(", ")))
                })
                .collect();
            let states: Vec<&String> = nodes.iter().map(|(_, states)| states).collect();
            let Some(&state) = usual(&states) else {
                continue;
            };
            let others = nodes.iter().filter(|(_, own)| own != state);
            let bad: BTreeMap<usize, Change> = others
                .map(|(session, own)| (*session, (Some(state.clone()), Some(own.clone()))))
                .collect();
            if !bad.is_empty() {
                facts.push(Fact {
                    bad,
                    ..self.fact(ItemKind::State, element)
                });
            }
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
            let Some(base) = orders.iter().position(|own| own == order) else {
                continue;
            };
            let base = group[base].1;
            for ((session, screen), own) in group.iter().zip(&orders) {
                if own == order {
                    continue;
                }
                let here = &self.elements.screens[*screen];
                let sequence: Vec<usize> = own
                    .iter()
                    .filter_map(|element| self.node(*element, base))
                    .collect();
                let is_out = align::out_of_order(&sequence);
                let moved: BTreeSet<usize> = (own.iter().zip(is_out))
                    .filter(|(_, is_out)| *is_out)
                    .map(|(element, _)| *element)
                    .collect();
                for &element in &moved {
                    let parent = |screen: usize| {
                        let node = self.node(element, screen)?;
                        let screen = &self.elements.screens[screen];
                        Some(screen.elements[screen.prepared.parent(node)?])
                    };
                    let with_parent = parent(*screen)
                        .is_some_and(|own| moved.contains(&own) && parent(base) == Some(own));
                    let node = self.node(element, *screen);
                    let is_named =
                        node.is_some_and(|node| !here.prepared.tree().nodes[node].name.is_empty());
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
        let is_built = |fact: &&Fact| {
            matches!(
                fact.kind,
                ItemKind::Missing | ItemKind::Added | ItemKind::Order | ItemKind::RawKey
            )
        };
        let built: BTreeSet<usize> = (facts.iter().filter(is_built))
            .flat_map(|fact| fact.news().map(|(session, _)| session))
            .collect();
        let mut views = Vec::new();
        let names: Vec<&str> = LAYOUT
            .into_iter()
            .chain(["locale", "model", "os"])
            .collect();
        let groups = self.groups(&names);
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
                let seen: Vec<(usize, bool)> = (group.iter())
                    .filter(|(session, _)| !built.contains(session))
                    .filter_map(|&(session, screen)| {
                        let node = self.node(element, screen)?;
                        let tree = self.elements.screens[screen].prepared.tree();
                        Some((session, align::in_view(tree, &tree.nodes[node])?))
                    })
                    .collect();
                let views: Vec<bool> = seen.iter().map(|(_, is)| *is).collect();
                let Some(&is_usual) = usual(&views) else {
                    continue;
                };
                let fact = if is_usual { &mut out } else { &mut into };
                let others = seen.iter().filter(|(_, is)| *is != is_usual);
                fact.bad
                    .extend(others.map(|(session, _)| (*session, (None, None))));
            }
            views.extend([out, into].into_iter().filter(|one| !one.bad.is_empty()));
        }
        views
    }

    /// The values that all sessions have which meet a condition and no other: `width` `390`.
    fn explained(&self, names: &[&str], has: impl Fn(usize) -> bool) -> Vec<Excuse> {
        let mut excuses: Vec<Excuse> = Vec::new();
        for name in names {
            let values: BTreeSet<&str> = (self.looked().iter())
                .filter_map(|(session, _)| self.field.value(*session, name))
                .collect();
            for value in values {
                let (of, others): (Vec<usize>, Vec<usize>) = (self.looked().iter())
                    .map(|(session, _)| *session)
                    .partition(|session| self.field.value(*session, name) == Some(value));
                let is_known = excuses.iter().any(|one| one.sessions == of);
                if !others.is_empty() && !is_known && of.iter().all(|session| has(*session)) {
                    excuses.push(Excuse {
                        name: (*name).to_owned(),
                        value: value.to_owned(),
                        sessions: of,
                        behind: None,
                    });
                }
            }
        }
        excuses
    }

    /// Notes what a layout or a language explains of a difference: what has a counterpart.
    fn excuse(&self, fact: &mut Fact) {
        let names: Vec<&str> = match fact.kind {
            ItemKind::Missing | ItemKind::Added | ItemKind::Role | ItemKind::Order => {
                LAYOUT.into_iter().chain(["locale"]).collect()
            }
            // A switch of colours says what it switches to.
            ItemKind::Name if is_of_colours(fact) => vec!["colorScheme"],
            // No layout changes an amount.
            ItemKind::Name if fact.is_faint => return,
            ItemKind::Name => LAYOUT.to_vec(),
            // What is open depends on the room there is, and a switch of colours shows them.
            ItemKind::State if changes_only(fact, &["expanded"]) => LAYOUT.to_vec(),
            ItemKind::State
                if changes_only(fact, &["checked", "pressed", "selected"])
                    && speaks_of_colours(&fact.name) =>
            {
                vec!["colorScheme"]
            }
            _ => return,
        };
        let element = fact.element;
        let (bad, unknown) = (&fact.bad, &fact.unknown);
        let mut excuses = match fact.kind {
            ItemKind::Missing => self.explained(&names, |session| {
                bad.contains_key(&session) && self.hides(session, element).is_some()
            }),
            // A control without a name is not told among what is hidden.
            ItemKind::Added if fact.name.is_empty() => {
                self.explained(&LAYOUT, |session| bad.contains_key(&session))
            }
            ItemKind::Added => {
                let good = self
                    .looked()
                    .iter()
                    .filter(|(one, _)| !bad.contains_key(one));
                let hidden = good.filter(|(one, _)| self.hides(*one, element).is_some());
                match hidden.count() {
                    0 => Vec::new(),
                    _ => self.explained(&names, |session| bad.contains_key(&session)),
                }
            }
            _ => self.explained(&names, |session| {
                bad.contains_key(&session) || unknown.contains(&session)
            }),
        };
        if fact.kind == ItemKind::Missing {
            for excuse in &mut excuses {
                let mut sessions = excuse.sessions.iter();
                excuse.behind = sessions.find_map(|one| self.hides(*one, element).flatten());
            }
        }
        fact.excused = excuses;
    }

    /// Links that are out of the document in a layout are behind the only control that is there and
    /// nowhere else.
    fn excuse_opened(&self, facts: &mut [Fact]) {
        let is_open = |fact: &Fact, of: &Excuse| {
            let excused: BTreeSet<usize> = fact.excused().collect();
            let mut sessions = of.sessions.iter();
            sessions.all(|one| fact.bad.contains_key(one) && !excused.contains(one))
        };
        for value in self.explained(&LAYOUT, |_| true) {
            let gone: Vec<usize> = (0..facts.len())
                .filter(|place| {
                    let fact = &facts[*place];
                    fact.kind == ItemKind::Missing && is_open(fact, &value)
                })
                .collect();
            let has = |fact: &Fact| {
                let mut sessions = value.sessions.iter();
                fact.kind == ItemKind::Added && sessions.all(|one| fact.bad.contains_key(one))
            };
            let controls: Vec<usize> = (0..facts.len())
                .filter(|place| facts[*place].role == "button" && has(&facts[*place]))
                .collect();
            let is_link = |role: &str| matches!(role, "link" | "menuitem" | "tab");
            if !gone.iter().any(|place| is_link(&facts[*place].role)) {
                continue;
            }
            let [control] = controls[..] else { continue };
            let behind = format!("button \"{}\"", facts[control].name);
            let elements: BTreeSet<usize> = gone.iter().map(|at| facts[*at].element).collect();
            for place in gone {
                let fact = &facts[place];
                let parent = self.elements.parent(fact.element);
                let in_gone = parent.is_some_and(|parent| elements.contains(&parent));
                let is_box = matches!(fact.role.as_str(), "region" | "list");
                if is_link(&fact.role) || is_box || in_gone && !stands_by_itself(&fact.role) {
                    facts[place].excused.push(Excuse {
                        behind: Some(behind.clone()),
                        ..value.clone()
                    });
                }
            }
            let fact = &mut facts[control];
            if fact
                .excused
                .iter()
                .all(|known| known.sessions != value.sessions)
            {
                fact.excused.push(value.clone());
            }
        }
    }

    /// Texts and images come and go with what they are in, and with what they stand beside; what holds
    /// others, with those.
    fn excuse_parts(&self, facts: &mut [Fact]) {
        for value in self.explained(&LAYOUT, |_| true) {
            let is_excused = |fact: &Fact| {
                let mut excuses = fact.excused.iter();
                excuses.any(|one| one.name == value.name && one.value == value.value)
            };
            let excused: BTreeSet<usize> = (facts.iter())
                .filter(|fact| is_excused(fact))
                .flat_map(|fact| [Some(fact.element), self.elements.parent(fact.element)])
                .flatten()
                .collect();
            for fact in facts.iter_mut() {
                let parent = self.elements.parent(fact.element);
                let is_part = matches!(fact.kind, ItemKind::Missing | ItemKind::Added)
                    && !stands_by_itself(&fact.role)
                    && (excused.contains(&fact.element)
                        || parent.is_some_and(|parent| excused.contains(&parent)));
                let mut sessions = value.sessions.iter();
                if is_part
                    && !is_excused(fact)
                    && sessions.all(|session| fact.bad.contains_key(session))
                {
                    fact.excused.push(value.clone());
                }
            }
        }
    }

    /// A difference as it is told of a session.
    pub(super) fn item(&self, fact: &Fact, session: usize) -> Item {
        let (was, is) = fact.bad.get(&session).cloned().unwrap_or_default();
        let at = |screen: usize| {
            let node = self.node(fact.element, screen)?;
            self.elements.screens[screen].prepared.tree().nodes[node].bounds
        };
        let mut looked = self.looked().iter();
        let own = looked.find(|(one, _)| *one == session);
        let there = || {
            self.elements
                .first(fact.element)
                .and_then(|(screen, _)| at(screen))
        };
        Item {
            kind: fact.kind,
            role: fact.role.clone(),
            name: fact.name.clone(),
            was,
            is,
            at: own.and_then(|(_, screen)| at(*screen)).or_else(there),
            ..Item::default()
        }
    }
}

/// Whether a control is called after colour schemes wherever it differs.
fn is_of_colours(fact: &Fact) -> bool {
    let speaks = |text: &Option<String>| text.as_deref().is_some_and(speaks_of_colours);
    is_actionable(&fact.role) && fact.bad.values().all(|(was, is)| speaks(was) && speaks(is))
}

fn speaks_of_colours(text: &str) -> bool {
    let text = text.to_lowercase();
    ["dark", "light", "theme", "dunkel", "hell"]
        .iter()
        .any(|word| text.contains(word))
}

/// Whether nothing but these states differs.
fn changes_only(fact: &Fact, states: &[&str]) -> bool {
    let of = |text: &Option<String>| -> BTreeSet<String> {
        let states = text.iter().flat_map(|text| text.split(", "));
        states
            .filter(|state| !state.is_empty())
            .map(str::to_owned)
            .collect()
    };
    fact.bad.values().all(|(was, is)| {
        let (was, is) = (of(was), of(is));
        let mut changed = was.symmetric_difference(&is);
        changed.all(|state| states.contains(&state.split('=').next().unwrap_or_default()))
    })
}

/// Whether most letters of a text are none of the Latin alphabet.
fn is_other_script(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (mut all, mut other) = (0_usize, 0_usize);
    for letter in letters {
        all += 1;
        other += usize::from(u32::from(letter) > 0x24f);
    }
    all > 0 && other * 2 > all
}
