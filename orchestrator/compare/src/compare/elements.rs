//! The elements of a step's screens, each once, whatever a screen calls it and wherever it shows it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use super::field::Field;
use super::screens::{Cache, Seen};
use crate::align::Prepared;

/// Screens that the rest of a screen's nodes are looked for on, after the one that is most like it.
const MORE_SOURCES: usize = 3;

/// Elements that not every screen shows and that are looked at as one in two languages, at most.
const MAX_JOINED: usize = 150;

/// The elements of one step on one platform.
pub(super) struct Elements<'a> {
    /// Unequal screens, the one nearest to the reference first.
    pub(super) screens: Vec<Screen<'a>>,
    /// For each element its node on each screen.
    pub(super) nodes: Vec<Vec<Option<usize>>>,
    /// The sessions that were looked at with their screens, those nearest to the reference first.
    pub(super) looked: Vec<(usize, usize)>,
}

/// A screen, with the element that each of its nodes is.
pub(super) struct Screen<'a> {
    seen: Seen<'a>,
    pub(super) prepared: Rc<Prepared<'a>>,
    pub(super) elements: Vec<usize>,
    /// The first session that shows it.
    session: usize,
}

/// Roles and names of what a screen names.
fn texts<'p>(prepared: &'p Prepared<'_>) -> impl Iterator<Item = (&'p str, &'p str)> {
    let nodes = prepared.tree().nodes.iter().enumerate();
    nodes
        .map(|(node, own)| (own.role.as_str(), prepared.name(node)))
        .filter(|(_, name)| !name.is_empty())
}

impl<'a> Elements<'a> {
    /// The elements of these sessions' screens at a step; those without a screen are left out.
    pub(super) fn new(
        field: &Field<'a>,
        cache: &mut Cache<'a>,
        sessions: &[usize],
        step: u32,
    ) -> Self {
        let mut elements = Self {
            screens: Vec::new(),
            nodes: Vec::new(),
            looked: Vec::new(),
        };
        for &session in sessions {
            let own = field.step(session, step);
            let Some(seen) = own.and_then(|own| cache.seen(field, session, own)) else {
                continue;
            };
            let known = elements.screens.iter().position(|one| one.seen == seen);
            if let Some(known) = known {
                elements.looked.push((session, known));
            } else if let Some(prepared) = cache.prepared(seen) {
                elements.looked.push((session, elements.screens.len()));
                elements.add(field, cache, (session, seen), prepared);
            }
        }
        elements.join(field);
        elements
    }

    /// What no screen shows twice is one element: of one name in a language, wherever it stands, or of one
    /// place and never in the same language.
    fn join(&mut self, field: &Field<'a>) {
        let is_somewhere = |element: &usize| self.nodes[*element].contains(&None);
        let somewhere = (0..self.nodes.len()).filter(is_somewhere);
        let somewhere: Vec<usize> = somewhere.take(MAX_JOINED).collect();
        // The names of an element by language.
        let names = |elements: &Self, element: usize| -> BTreeMap<String, String> {
            let looked = elements.looked.iter();
            let shown = looked.filter_map(|(session, screen)| {
                let node = elements.nodes[element][*screen]?;
                let name = elements.screens[*screen].prepared.name(node);
                Some((field.locale(*session).to_owned(), name.to_owned()))
            });
            shown.collect()
        };
        let mut called: BTreeMap<usize, BTreeMap<String, String>> = (somewhere.iter())
            .map(|element| (*element, names(self, *element)))
            .collect();
        for (at, &one) in somewhere.iter().enumerate() {
            for &other in &somewhere[at + 1..] {
                let (first, second) = (&called[&one], &called[&other]);
                let is_unnamed = first.is_empty() || second.is_empty();
                if is_unnamed || self.called(one).0 != self.called(other).0 {
                    continue;
                }
                let mut screens = self.nodes[one].iter().zip(&self.nodes[other]);
                let is_apart = screens.all(|(one, other)| one.is_none() || other.is_none());
                let is_foreign = second.keys().all(|locale| !first.contains_key(locale));
                let mut shared = second.iter();
                let is_alike = match is_foreign {
                    true => self.parent(one) == self.parent(other),
                    false => shared
                        .any(|(locale, name)| !name.is_empty() && first.get(locale) == Some(name)),
                };
                if !is_apart || !is_alike {
                    continue;
                }
                for screen in 0..self.screens.len() {
                    if let Some(node) = self.nodes[other][screen].take() {
                        self.nodes[one][screen] = Some(node);
                        self.screens[screen].elements[node] = one;
                    }
                }
                let more = called.insert(other, BTreeMap::new()).unwrap_or_default();
                called.entry(one).or_default().extend(more);
            }
        }
    }

    /// Adds a screen: its nodes are those of the screens that are most like it, or elements of its own.
    fn add(
        &mut self,
        field: &Field<'a>,
        cache: &mut Cache<'a>,
        (session, seen): (usize, Seen<'a>),
        prepared: Rc<Prepared<'a>>,
    ) {
        let locale = field.locale(session);
        let own_layout = field.layout(session);
        // First what says the same, in this language most likely, then what is laid out like it.
        let said: HashSet<(&str, &str)> = texts(&prepared).collect();
        let mut sources: Vec<usize> = (0..self.screens.len()).collect();
        sources.sort_by_cached_key(|source| {
            let other = &self.screens[*source];
            let same = texts(&other.prepared).filter(|text| said.contains(text));
            (Reverse(same.count()), field.apart(session, other.session))
        });
        if let Some((_, rest)) = sources.split_first_mut() {
            rest.sort_by_key(|source| {
                let other = self.screens[*source].session;
                let is_kin = field.locale(other) == locale;
                let is_unlike = field.layout(other) != own_layout;
                (is_unlike, is_kin, field.apart(session, other))
            });
        }
        let mut own: Vec<Option<usize>> = vec![None; prepared.tree().nodes.len()];
        let mut taken = vec![false; self.nodes.len()];
        for (rank, source) in sources.into_iter().take(MORE_SOURCES + 1).enumerate() {
            if own.iter().all(Option::is_some) {
                break;
            }
            let there = &self.screens[source];
            let Some(pair) = cache.pair(there.seen, seen) else {
                continue;
            };
            for (node, from) in pair.alignment.from.iter().enumerate() {
                let (None, Some(from)) = (own[node], *from) else {
                    continue;
                };
                let element = there.elements[from];
                // What is called something in this language is found by that name.
                let is_alike = || {
                    let is = &pair.is.tree().nodes[node];
                    let was = &pair.was.tree().nodes[from];
                    is.id.is_some() && is.id == was.id || pair.was.name(from) == pair.is.name(node)
                };
                let is_known = || {
                    let mut screens = self.screens.iter().zip(&self.nodes[element]);
                    screens.any(|(one, at)| at.is_some() && field.locale(one.session) == locale)
                };
                if !taken[element] && (rank == 0 || is_alike() || !is_known()) {
                    own[node] = Some(element);
                    taken[element] = true;
                }
            }
        }
        let place = self.screens.len();
        for at in &mut self.nodes {
            at.push(None);
        }
        let elements: Vec<usize> = (own.into_iter().enumerate())
            .map(|(node, element)| {
                let element = element.unwrap_or_else(|| {
                    self.nodes.push(vec![None; place + 1]);
                    self.nodes.len() - 1
                });
                self.nodes[element][place] = Some(node);
                element
            })
            .collect();
        self.screens.push(Screen {
            seen,
            prepared,
            elements,
            session,
        });
    }

    /// Where an element stands on the screen nearest to the reference that has it: screen and node.
    pub(super) fn first(&self, element: usize) -> Option<(usize, usize)> {
        let mut nodes = self.nodes[element].iter().enumerate();
        nodes.find_map(|(screen, node)| Some((screen, (*node)?)))
    }

    /// Role and name of an element in the words of the screen nearest to the reference.
    pub(super) fn called(&self, element: usize) -> (&str, &str) {
        self.first(element).map_or(("", ""), |(screen, node)| {
            let node = &self.screens[screen].prepared.tree().nodes[node];
            (node.role.as_str(), node.name.as_str())
        })
    }

    /// The element that holds an element.
    pub(super) fn parent(&self, element: usize) -> Option<usize> {
        let (screen, node) = self.first(element)?;
        let screen = &self.screens[screen];
        Some(screen.elements[screen.prepared.parent(node)?])
    }

    /// The screen of a session.
    pub(super) fn screen_of(&self, session: usize) -> Option<&Screen<'a>> {
        let (_, screen) = self.looked.iter().find(|(one, _)| *one == session)?;
        self.screens.get(*screen)
    }
}
