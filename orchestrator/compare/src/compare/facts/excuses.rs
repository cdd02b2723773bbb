//! What a layout, a language or a switch of colours explains of a difference.

use std::collections::BTreeSet;

use super::{Excuse, Fact, LAYOUT, Look};
use crate::align::stands_by_itself;
use crate::answer::ItemKind;
use crate::normal::is_actionable;

impl Look<'_, '_> {
    /// The values that all sessions have which meet a condition and no other: `width` `390`.
    fn explained(&self, names: &[&str], has: impl Fn(usize) -> bool) -> Vec<Excuse> {
        let mut excuses: Vec<Excuse> = Vec::new();
        for name in names {
            let values: BTreeSet<&str> = (self.looked().iter())
                .filter_map(|(session, _)| self.field.value(*session, name))
                .collect();
            for value in values {
                let looked = self.looked().iter().map(|(session, _)| *session);
                let (of, others): (Vec<usize>, Vec<usize>) =
                    looked.partition(|session| self.field.value(*session, name) == Some(value));
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
    pub(super) fn excuse(&self, fact: &mut Fact) {
        let is_called = matches!(fact.kind, ItemKind::Name | ItemKind::Role);
        if is_called && self.is_used(fact) {
            return;
        }
        let names: Vec<&str> = match fact.kind {
            ItemKind::Missing | ItemKind::Added | ItemKind::Role | ItemKind::Order => {
                [&LAYOUT[..], &["locale"]].concat()
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
                let mut looked = self.looked().iter();
                let is_hidden = looked
                    .any(|(one, _)| !bad.contains_key(one) && self.hides(*one, element).is_some());
                let names = if is_hidden { names.as_slice() } else { &[] };
                self.explained(names, |session| bad.contains_key(&session))
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

    /// Whether the recording of the step uses an element, by any of its names.
    fn is_used(&self, fact: &Fact) -> bool {
        let is = |name: &String| {
            let changes = fact.bad.values();
            *name == fact.name || changes.clone().any(|(_, is)| is.as_ref() == Some(name))
        };
        let steps = self.looked().iter();
        let mut steps = steps.filter_map(|(session, _)| self.field.step(*session, self.step));
        steps.any(|step| {
            step.uses.iter().any(|(role, name)| {
                (role.is_empty() || *role == fact.role) && !name.is_empty() && is(name)
            })
        })
    }

    /// Links that are out of the document in a layout are behind the only control that is there and
    /// nowhere else.
    pub(super) fn excuse_opened(&self, facts: &mut [Fact]) {
        let is_open = |fact: &Fact, of: &Excuse| {
            let excused: BTreeSet<usize> = fact.excused().collect();
            let mut sessions = of.sessions.iter();
            sessions.all(|one| fact.bad.contains_key(one) && !excused.contains(one))
        };
        for value in self.explained(&LAYOUT, |_| true) {
            let places = |is: &dyn Fn(&Fact) -> bool| -> Vec<usize> {
                (0..facts.len())
                    .filter(|place| is(&facts[*place]))
                    .collect()
            };
            let gone = places(&|fact| fact.kind == ItemKind::Missing && is_open(fact, &value));
            let controls = places(&|fact| {
                let mut sessions = value.sessions.iter();
                let is_added = fact.role == "button" && fact.kind == ItemKind::Added;
                is_added && sessions.all(|one| fact.bad.contains_key(one))
            });
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
            let excused = &mut facts[control].excused;
            if excused.iter().all(|one| one.sessions != value.sessions) {
                excused.push(value.clone());
            }
        }
    }

    /// Texts and images come and go with what they are in, and with what they stand beside; what holds
    /// others, with those.
    pub(super) fn excuse_parts(&self, facts: &mut [Fact]) {
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
}

/// Whether a control is called after colour schemes wherever it differs.
fn is_of_colours(fact: &Fact) -> bool {
    let speaks = |text: &Option<String>| text.as_deref().is_some_and(speaks_of_colours);
    is_actionable(&fact.role) && fact.bad.values().all(|(was, is)| speaks(was) && speaks(is))
}

fn speaks_of_colours(text: &str) -> bool {
    let text = text.to_lowercase();
    let words = ["dark", "light", "theme", "dunkel", "hell"];
    words.iter().any(|word| text.contains(word))
}

/// Whether nothing but these states differs.
fn changes_only(fact: &Fact, states: &[&str]) -> bool {
    let of = |text: &Option<String>| -> BTreeSet<String> {
        let states = text.iter().flat_map(|text| text.split(", "));
        let states = states.filter(|state| !state.is_empty());
        states.map(str::to_owned).collect()
    };
    fact.bad.values().all(|(was, is)| {
        let (was, is) = (of(was), of(is));
        let mut changed = was.symmetric_difference(&is);
        changed.all(|state| states.contains(&state.split('=').next().unwrap_or_default()))
    })
}
