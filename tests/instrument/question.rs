//! What is asked of the comparison: where a defect is planted, what is then said, and what is true.

use std::collections::BTreeMap;

use packtrain_compare::answer::{Cluster, ClusterKind, Comparison};

use super::condition::{Condition, is_exact, is_sure, meets, met, told, values};
use super::defects::Defect;
use super::recording::{Random, Recordings, compared, compose};

/// An axis that none of the recordings has, and its values.
pub(crate) type Added = (&'static str, &'static [&'static str]);

pub(crate) const BUILD: Added = ("build", &["old", "new"]);
pub(crate) const FLAG: Added = ("flag", &["off", "on"]);

/// A way of planting: which axes and devices there are, and where the defect is; at random where that is
/// empty.
pub(crate) struct Question {
    pub(crate) name: &'static str,
    pub(crate) words: &'static str,
    pub(crate) added: &'static [Added],
    pub(crate) devices: &'static [&'static str],
    pub(crate) condition: &'static str,
}

#[rustfmt::skip]
pub(crate) const QUESTIONS: [Question; 6] = [
    Question { name: "one", words: "1 literal", added: &[BUILD], devices: &[], condition: "build=new" },
    Question { name: "two", words: "2 literals", added: &[FLAG], devices: &[], condition: "locale=de-DE & viewport=390x844" },
    Question { name: "three", words: "3 literals", added: &[FLAG, BUILD], devices: &[], condition: "build=new & locale=de-DE & viewport=390x844" },
    Question { name: "or", words: "a or b, each a pair", added: &[FLAG, BUILD], devices: &[], condition: "build=new & locale=de-DE | flag=on & viewport=390x844" },
    Question { name: "device", words: "one device of three", added: &[], devices: &["desk", "studio", "kiosk"], condition: "device=web/studio" },
    Question { name: "random", words: "random 20 %", added: &[FLAG], devices: &[], condition: "" },
];

impl Question {
    /// How often it is asked: chance more than once.
    pub(crate) const fn repeats(&self) -> u64 {
        if self.condition.is_empty() { 2 } else { 1 }
    }

    /// Where the defect is to be seen; `None` where its condition would be another one.
    fn condition(&self, defect: &Defect) -> Option<Condition> {
        let all_of = |text: &'static str| text.split(" & ").filter_map(|one| one.split_once('='));
        let any_of = self
            .condition
            .split(" | ")
            .map(|text| all_of(text).collect());
        let mut any_of: Condition = any_of
            .filter(|all_of: &Vec<_>| !all_of.is_empty())
            .collect();
        // Where all cells that are to look alike have it, no picture tells.
        let is_drawn = defect.kinds == [ClusterKind::Visual];
        if is_drawn && self.name == "two" {
            return None;
        }
        match (defect.only, any_of.as_mut_slice()) {
            (None, _) => Some(any_of),
            (Some(only), [all_of]) if all_of.contains(&only) => Some(any_of),
            (Some(only), [all_of]) if all_of.len() == 1 => {
                all_of.push(only);
                Some(any_of)
            }
            (Some(_), _) => None,
        }
    }

    /// Composes the run in which the defect is where the condition holds; without one, in a random
    /// fifth. `None` where it is not to be asked.
    pub(crate) fn ask(
        &self,
        recordings: &Recordings,
        defect: &Defect,
        seed: u64,
    ) -> Option<Answer> {
        let condition = self.condition(defect)?;
        let wrong = recordings.wrong.get(defect.id)?;
        let right = &recordings.right;
        let number: u64 = defect.id[1..].parse().ok()?;
        let mut random = Random(number * 1_000 + seed);
        let mut chosen = BTreeMap::new();
        let view = compose(
            right.first()?,
            self.added,
            self.devices,
            &mut random,
            |base, values, random| {
                let bad = match condition.as_slice() {
                    [] => random.below(5) == 0,
                    condition => meets(condition, values),
                };
                chosen.insert(values.clone(), bad);
                match bad {
                    true => wrong.session(base),
                    false => right[random.below(right.len())].session(base),
                }
            },
        );
        let comparison = compared(&view);
        let bad = comparison.cells.iter().map(|cell| chosen[&values(cell)]);
        Some(Answer {
            bad: bad.collect(),
            literals: condition.iter().map(Vec::len).sum(),
            comparison,
        })
    }
}

/// What was said of a composed run, and what is true of it.
pub(crate) struct Answer {
    pub(crate) comparison: Comparison,
    /// By cell.
    bad: Vec<bool>,
    /// Of the condition; 0 where there is none.
    literals: usize,
}

/// A card about a defect.
pub(crate) struct About<'a> {
    /// Its place among the cards, from 1.
    pub(crate) place: usize,
    pub(crate) card: &'a Cluster,
    /// Whether it has all the bad cells.
    pub(crate) is_whole: bool,
    /// Whether it says exactly where the defect is.
    pub(crate) is_exact: bool,
}

impl About<'_> {
    fn told(&self) -> String {
        format!("place {}: {}", self.place, told(self.card))
    }
}

impl Answer {
    /// The cards that count. Times of a composed run come from several: only a defect of times is asked
    /// for them.
    pub(crate) fn cards(&self, defect: &Defect) -> Vec<&Cluster> {
        let is_slow = defect.kinds.contains(&ClusterKind::Slow);
        let cards = self.comparison.clusters.iter();
        cards
            .filter(|card| is_slow || card.kind != ClusterKind::Slow)
            .collect()
    }

    pub(crate) fn about(&self, defect: &Defect) -> Vec<About<'_>> {
        let cards = self.cards(defect).into_iter().enumerate();
        cards
            .filter(|(_, card)| is_about(defect, card))
            .map(|(place, card)| {
                let mut bad = (0..self.bad.len()).filter(|at| self.bad[*at]);
                let is_whole = bad.all(|at| card.cells.contains(&at));
                let cells = &self.comparison.cells;
                About {
                    place: place + 1,
                    card,
                    is_whole,
                    is_exact: is_whole && is_exact(card, cells, &self.bad, self.literals),
                }
            })
            .collect()
    }

    /// Cards of whatever that are sure of another condition than the defect's: of what is seen of it on
    /// a part of the bad cells, and of others, which is untrue.
    pub(crate) fn sure_otherwise(&self, defect: &Defect) -> (Vec<&Cluster>, Vec<&Cluster>) {
        let (cells, size) = (&self.comparison.cells, self.literals);
        let cards = self.cards(defect).into_iter();
        let cards = cards.filter(|card| is_sure(card.verdict));
        cards
            .filter(|card| !is_exact(card, cells, &self.bad, size))
            .partition(|card| {
                let met = met(&card.explanations, cells);
                let is_within = met.iter().zip(&self.bad).all(|(met, bad)| *bad || !met);
                is_within && size > 0
            })
    }

    /// What is said instead of what is true; nothing where all is right.
    pub(crate) fn unmet(&self, defect: &Defect) -> Option<String> {
        let about = self.about(defect);
        let (_, untrue) = self.sure_otherwise(defect);
        let untrue = untrue.first().map(|card| told(card));
        if self.literals == 0 {
            return untrue.map(|card| format!("SURE OF CHANCE; {card}"));
        }
        let first = self.cards(defect).first().map(|card| told(card));
        let first = first.unwrap_or_else(|| "no card".to_owned());
        let whole = about.iter().find(|about| about.is_whole);
        match (whole, about.first()) {
            (None, None) => Some(format!("NOT NAMED; first {first}")),
            (None, Some(part)) => Some(format!("IN PARTS; {}", part.told())),
            (Some(whole), _) if !about.iter().any(|about| about.is_exact) => {
                Some(format!("NOT EXACT; {}", whole.told()))
            }
            (Some(whole), _) if whole.place > 1 => {
                Some(format!("PLACE {}; first {first}", whole.place))
            }
            (Some(_), _) => untrue.map(|card| format!("UNTRUE; {card}")),
        }
    }
}

fn is_about(defect: &Defect, card: &Cluster) -> bool {
    let words = format!("{} {} {}", card.title, card.detail, card.also.join(" "));
    defect.kinds.contains(&card.kind)
        && (defect.about.is_empty() || defect.about.iter().any(|about| words.contains(about)))
}
