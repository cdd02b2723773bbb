//! Texts that differ within a language, and those that belong to another one.

use std::collections::BTreeSet;

use super::{Fact, Look, most, usual};
use crate::align::{has_words, is_raw_key};
use crate::answer::ItemKind;

impl Look<'_, '_> {
    /// Names and values that differ within a language.
    pub(super) fn texts(&self) -> Vec<Fact> {
        let mut groups = self.groups(&["locale"]);
        for group in &mut groups {
            // What is laid out like the reference first: other layouts may call it otherwise.
            group.sort_by_key(|(session, _)| !self.is_usual_layout(*session));
        }
        let translated = groups.iter().map(|group| self.is_translated(group).0);
        let translated: Vec<bool> = translated.collect();
        let mut facts = Vec::new();
        for element in 0..self.elements.nodes.len() {
            let kinds = [ItemKind::Name, ItemKind::RawKey, ItemKind::Value];
            let [mut called, mut raw, mut holds] = kinds.map(|kind| self.fact(kind, element));
            called.is_faint = true;
            let reference = self.looked().first().and_then(|(_, screen)| {
                let node = self.node(element, *screen)?;
                Some(self.elements.screens[*screen].prepared.exact(node).0)
            });
            for (group, is_translated) in groups.iter().zip(&translated) {
                let sessions = group.iter().map(|(session, _)| *session);
                if sessions
                    .clone()
                    .all(|session| !self.is_usual_layout(session))
                {
                    called.unknown.extend(sessions);
                }
                let nodes = group.iter().filter_map(|&(session, screen)| {
                    Some((session, screen, self.node(element, screen)?))
                });
                let nodes: Vec<(usize, usize, usize)> = nodes.collect();
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
            let found = [called, raw, holds].into_iter();
            facts.extend(found.filter(|one| !one.bad.is_empty()));
        }
        facts
    }

    /// Texts of a language that are those of another one, though a third has its own; and keys that
    /// stand where a text belongs.
    pub(super) fn untranslated(&self) -> Vec<Fact> {
        let groups = self.groups(&["locale"]);
        let mut facts = Vec::new();
        if groups.len() < 2 {
            return facts;
        }
        for element in 0..self.elements.nodes.len() {
            let name = |screen: usize| {
                let node = self.node(element, screen)?;
                Some(self.elements.screens[screen].prepared.name(node))
            };
            let usual_of = |group: &Vec<(usize, usize)>| -> Option<&str> {
                let names = group.iter().filter_map(|(_, screen)| name(*screen));
                usual(&names.collect::<Vec<_>>()).copied()
            };
            let names: Vec<Option<&str>> = groups.iter().map(usual_of).collect();
            let Some(reference) = names.first().copied().flatten() else {
                continue;
            };
            for (group, own) in groups.iter().zip(&names).skip(1) {
                let Some(own) = *own else { continue };
                let kind = if is_raw_key(own) && !is_raw_key(reference) {
                    ItemKind::RawKey
                } else if self.is_foreign(group, own, reference, &names) {
                    ItemKind::Untranslated
                } else {
                    continue;
                };
                let change = (Some(reference.to_owned()), Some(own.to_owned()));
                let bad = group
                    .iter()
                    .filter(|(_, screen)| name(*screen) == Some(own));
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
        let words = |least: usize| {
            let words = name.split_whitespace();
            let words = words.filter(|word| word.chars().all(char::is_alphabetic));
            words.filter(|word| word.chars().count() >= least).count()
        };
        if is_other {
            return words(4) > 0;
        }
        is_translated && name == reference && words(3) > 1
    }
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
