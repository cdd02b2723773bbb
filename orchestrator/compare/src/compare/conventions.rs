//! Differences that are not news, folded into a line for each thing that explains them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::facts::{Excuse, Fact};
use super::field::{Field, said};
use super::screens::item_title;
use crate::answer::{Convention, Item, ItemKind};
use crate::words::count;

/// Differences that are named in a line at most.
const MAX_NAMED: usize = 30;

/// What is folded.
#[derive(Debug, Default)]
pub(super) struct Conventions {
    /// By the control that opens what is hidden, axis or fact, and value.
    explained: BTreeMap<(Reverse<Option<String>>, String, String), Folded>,
    /// How the screens of other platforms differ, by platform.
    pub(super) platforms: BTreeMap<String, BTreeSet<String>>,
    /// Hosts that could not be reached, with the requests.
    pub(super) out_of_reach: BTreeMap<String, Folded>,
    /// What every cell has.
    pub(super) everywhere: BTreeSet<String>,
}

#[derive(Debug, Default)]
pub(super) struct Folded {
    pub(super) cells: BTreeSet<usize>,
    pub(super) titles: BTreeSet<String>,
}

impl Conventions {
    /// Folds what a layout or a language explains of a difference.
    pub(super) fn add(&mut self, field: &Field<'_>, fact: &Fact, excuse: &Excuse) {
        let behind = Reverse(excuse.behind.clone());
        let key = (behind, excuse.name.clone(), excuse.value.clone());
        let folded = self.explained.entry(key).or_default();
        let sessions = excuse.sessions.iter();
        let cells = sessions.map(|one| field.run.sessions[*one].cell);
        folded.cells.extend(cells);
        let change = excuse.sessions.first().and_then(|one| fact.bad.get(one));
        let (was, is) = change.cloned().unwrap_or_default();
        folded.titles.insert(match (fact.kind, &excuse.behind) {
            (ItemKind::Missing, Some(_)) => format!("{} \"{}\"", fact.role, fact.name),
            (kind, _) => item_title(&Item {
                kind,
                role: fact.role.clone(),
                name: fact.name.clone(),
                was,
                is,
                ..Item::default()
            }),
        });
    }

    /// A line for each.
    pub(super) fn lines(self, field: &Field<'_>) -> Vec<Convention> {
        let mut lines = Vec::new();
        for ((Reverse(behind), name, value), folded) in self.explained {
            let at = match name.as_str() {
                "width" | "viewport" | "size" => format!("At {}", said(&name, &value)),
                _ => format!("In {}", said(&name, &value)),
            };
            let all = folded.titles.len();
            let text = match &behind {
                Some(behind) => {
                    let is_link = |title: &String| title.starts_with("link ");
                    let are_links = folded.titles.iter().all(is_link);
                    let word = if are_links { "link" } else { "element" };
                    let control = behind.split('"').nth(1).unwrap_or(behind);
                    format!("{at} {} behind {control}.", counted(all, word))
                }
                None => {
                    let elements = count(all, "element is", "elements are");
                    format!("{at} {elements} arranged or named differently.")
                }
            };
            lines.push(line(text, &name, folded));
        }
        for (platform, titles) in self.platforms {
            if titles.is_empty() {
                continue;
            }
            let of = |cell: &usize| field.platform(*cell) == platform;
            let folded = Folded {
                cells: (0..field.run.cells.len()).filter(of).collect(),
                titles,
            };
            let name = match platform.as_str() {
                "ios" => "iPhones",
                "android" => "Android",
                _ => "Browsers",
            };
            let elements = count(folded.titles.len(), "element", "elements");
            let text = format!("{name}: {elements} of other names, roles or places.");
            lines.push(line(text, "platform", folded));
        }
        for (host, folded) in self.out_of_reach {
            let addresses = count(folded.titles.len(), "address", "addresses");
            let text = format!("{host} could not be reached ({addresses}).");
            lines.push(line(text, "network", folded));
        }
        if !self.everywhere.is_empty() {
            let all = self.everywhere.len();
            let all = count(all, "defect or error", "defects and errors");
            let text = format!("The same in every cell: {all}.");
            let folded = Folded {
                cells: (0..field.run.cells.len()).collect(),
                titles: self.everywhere,
            };
            lines.push(line(text, "everywhere", folded));
        }
        lines
    }
}

fn line(text: String, by: &str, folded: Folded) -> Convention {
    Convention {
        text,
        by: by.to_owned(),
        cells: folded.cells.into_iter().collect(),
        count: folded.titles.len(),
        items: folded.titles.into_iter().take(MAX_NAMED).collect(),
    }
}

/// `three links are`, `1 element is`.
fn counted(count: usize, word: &str) -> String {
    let words = ["0", "one", "two", "three", "four", "five", "six"];
    let number = words.get(count).map(|word| (*word).to_owned());
    let number = number.unwrap_or_else(|| count.to_string());
    match count {
        1 => format!("{number} {word} is"),
        _ => format!("{number} {word}s are"),
    }
}
