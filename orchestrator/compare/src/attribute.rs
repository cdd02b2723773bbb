//! What the cells that went another way have in common: the shortest conditions on axes and facts that
//! tell bad cells from good ones exactly, unless chance would find some as easily.
//!
//! Nothing here depends on the order of cells. A cell is one device in one configuration; repeats of
//! it are one cell, flaky when they differ.

mod bits;
mod chance;
mod literals;
mod search;
mod words;

use std::collections::BTreeMap;

use crate::answer::{ClusterKind, Explanation, Verdict};
use bits::Bits;
use chance::Chance;
use literals::{Group, Literal};
use search::{Conjunction, Found};

/// Below this, chance is not taken for the cause.
const GATE: f64 = 0.02;
/// The same for explanations that are not exact, of which there are more.
const MOSTLY_GATE: f64 = 0.004;
/// Alternatives told at most.
const MAX_ALTERNATIVES: usize = 4;

/// The cells of a run, by what may explain them.
#[derive(Debug, Clone, Default)]
pub struct Table {
    literals: Vec<Literal>,
    /// Sorted, for among equal covers the search takes the first that it comes to.
    cells: Vec<BTreeMap<String, String>>,
    /// Where each of them was given.
    order: Vec<usize>,
    names: Vec<Name>,
}

/// An axis or a derived fact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Name {
    /// Its name.
    pub name: String,
    /// Whether its values are numbers or sizes.
    pub ordered: bool,
    /// Whether a run can be asked for a value of it.
    pub is_axis: bool,
}

/// How a cell did with regard to one thing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CellVerdict {
    /// It says nothing of it: infrastructure, cancelled, not run, not recorded.
    #[default]
    Absent,
    /// It does not have it.
    Good,
    /// Some of its repeats have it, or one attempt had; it counts half.
    Flaky,
    /// It has it.
    Bad,
}

/// What tells the bad cells from the good ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Finding {
    /// How sure it is.
    pub verdict: Verdict,
    /// In words, without the command that tells alternatives apart.
    pub words: String,
    /// Whether its one cell has it only sometimes.
    pub is_flaky: bool,
    /// The fewest words that are true of all bad cells and of no other; empty where there are none.
    pub place: String,
    /// Alternatives of a tie; parts of a cause otherwise.
    pub explanations: Vec<Explanation>,
    /// The axis values of a cell that would tell the first two alternatives apart.
    pub next: Option<BTreeMap<String, String>>,
}

impl Table {
    /// A table of cells: each has values of axes and facts by name.
    pub fn new(names: &[Name], cells: &[BTreeMap<String, String>]) -> Self {
        let mut order: Vec<usize> = (0..cells.len()).collect();
        order.sort_by_key(|place| &cells[*place]);
        let cells: Vec<_> = order.iter().map(|place| cells[*place].clone()).collect();
        Self {
            literals: literals::of(names, &cells),
            cells,
            order,
            names: names.to_vec(),
        }
    }

    /// Standings as given, in the order of the table's cells; equal cells may change places.
    fn sorted(&self, standings: &[CellVerdict]) -> Vec<CellVerdict> {
        let standing = |place: &usize| standings.get(*place).copied().unwrap_or_default();
        let standings = self.order.iter().map(standing);
        let mut sorted: Vec<_> = self.cells.iter().zip(standings).collect();
        sorted.sort();
        sorted.into_iter().map(|(_, standing)| standing).collect()
    }

    /// Judges what several sets of cells have in common. The more there are to judge, the smaller
    /// each one's chance has to be; equal sets, and those too small for any answer, do not count.
    pub fn judge(&self, sets: &[(ClusterKind, Vec<CellVerdict>)]) -> Vec<Finding> {
        let sets = sets.iter();
        let sets = sets.map(|(kind, standings)| (*kind, self.sorted(standings)));
        let sets: Vec<_> = sets.collect();
        let mut testable: Vec<(f64, &Vec<CellVerdict>)> = Vec::new();
        let mut searched = Vec::new();
        for (_, standings) in &sets {
            let found = Searched::new(self, standings);
            let known = testable.iter().any(|(_, other)| *other == standings);
            if found.least_chance() < GATE && !known {
                testable.push((found.chance(), standings));
            }
            searched.push(found);
        }
        // Holm's procedure: the least probable has to pass against all, the next against the rest.
        testable.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let mut factors: Vec<(f64, &Vec<CellVerdict>)> = Vec::new();
        let mut failed = false;
        for (place, (chance, standings)) in testable.iter().enumerate() {
            let factor = (testable.len() - place) as f64;
            failed |= chance * factor >= GATE;
            let factor = if failed { f64::INFINITY } else { factor };
            factors.push((factor, standings));
        }
        let sets = sets.iter().zip(searched);
        let findings = sets.map(|((kind, standings), searched)| {
            let known = factors.iter().find(|(_, other)| *other == standings);
            let factor = known.map_or(1.0, |(factor, _)| *factor);
            self.finding(*kind, &searched, factor)
        });
        findings.collect()
    }

    fn finding(&self, kind: ClusterKind, searched: &Searched, factor: f64) -> Finding {
        let words = words::Words::new(kind, &searched.counts);
        let simple = |verdict, words: String| Finding {
            verdict,
            words,
            ..Finding::default()
        };
        match &searched.result {
            Outcome::Everywhere => simple(Verdict::Everywhere, words.everywhere()),
            Outcome::Single => Finding {
                is_flaky: searched.counts.flaky > 0,
                ..simple(Verdict::Single, words.single())
            },
            Outcome::Nothing => simple(Verdict::Unknown, words.unknown()),
            Outcome::Exact(found, chance) => {
                let explanations = searched.explain(self, found, *chance);
                let is_cover = found.parts.len() > 1;
                let (verdict, words) = match explanations.as_slice() {
                    all if chance * factor >= GATE => (Verdict::Weak, words.weak(all, is_cover)),
                    all if is_cover && found.is_unique => (Verdict::Cause, words.causes(all)),
                    all if is_cover => (Verdict::Weak, words.ambiguous(all)),
                    [only] => (Verdict::Cause, words.cause(only)),
                    all => (Verdict::Tie, words.tie(all)),
                };
                let next = Some(&explanations).filter(|_| verdict == Verdict::Tie);
                Finding {
                    verdict,
                    words,
                    place: words::place(&explanations, is_cover),
                    next: next.and_then(|all| self.next(searched, all)),
                    explanations,
                    ..Finding::default()
                }
            }
            Outcome::Mostly(found, chance) => {
                let explanations = searched.explain(self, found, *chance);
                if chance * factor >= MOSTLY_GATE {
                    return simple(Verdict::Unknown, words.unknown());
                }
                Finding {
                    verdict: Verdict::Mostly,
                    words: words.mostly(&explanations),
                    explanations,
                    ..Finding::default()
                }
            }
        }
    }

    /// Values of axes for which the first alternative holds and the second does not, or the other
    /// way round: a bad cell with one value changed.
    fn next(
        &self,
        searched: &Searched,
        explanations: &[Explanation],
    ) -> Option<BTreeMap<String, String>> {
        let [first, second, ..] = explanations else {
            return None;
        };
        let bad = || searched.bad.iter().map(|cell| &self.cells[cell]);
        let base = bad().min()?;
        let family = |fact: &str| literals::family(fact).to_owned();
        for (one, other) in [(second, first), (first, second)] {
            for literal in &one.all_of {
                let kin = family(&literal.fact);
                if other.all_of.iter().any(|l| family(&l.fact) == kin) {
                    continue;
                }
                let Some(axis) = self.axis_of(&literal.fact) else {
                    continue;
                };
                // Another cell's value of that axis, from a cell where the condition does not hold.
                let known = self.literals.iter().find(|l| l.is(literal))?;
                let cells = self.cells.iter().enumerate();
                let others = cells.filter(|(cell, _)| !known.bits.contains(*cell));
                let values = others.filter_map(|(_, values)| values.get(axis));
                let value = values.filter(|value| Some(*value) != base.get(axis)).min();
                if let Some(value) = value {
                    let mut cell = base.clone();
                    let is_axis = |name: &String| {
                        let mut names = self.names.iter();
                        names.any(|one| one.is_axis && one.name == *name)
                    };
                    cell.retain(|name, _| is_axis(name));
                    cell.insert(axis.to_owned(), value.clone());
                    return Some(cell);
                }
            }
        }
        None
    }

    /// The axis a fact follows from.
    fn axis_of(&self, fact: &str) -> Option<&str> {
        let axes = self.names.iter().filter(|name| name.is_axis);
        let mut axes = axes.map(|axis| axis.name.as_str());
        let mut kin = axes.clone();
        axes.find(|axis| *axis == fact)
            .or_else(|| kin.find(|axis| literals::family(axis) == literals::family(fact)))
    }
}

/// How many cells are what.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Counts {
    good: usize,
    flaky: usize,
    bad: usize,
}

impl Counts {
    const fn all(&self) -> usize {
        self.good + self.flaky + self.bad
    }
}

/// A set of cells with what was found of it.
struct Searched {
    counts: Counts,
    groups: Vec<Group>,
    bad: Bits,
    flaky: Bits,
    all: Bits,
    result: Outcome,
    least: f64,
}

/// What a search came to.
enum Outcome {
    Everywhere,
    Single,
    Nothing,
    /// With how probable it is that chance does as well.
    Exact(Found, f64),
    Mostly(Found, f64),
}

impl Searched {
    fn new(table: &Table, standings: &[CellVerdict]) -> Self {
        let of = |standing: CellVerdict| {
            let places = (0..table.cells.len())
                .filter(|cell| standings.get(*cell).copied().unwrap_or_default() == standing);
            Bits::of(table.cells.len(), places)
        };
        use CellVerdict::{Bad, Flaky, Good};
        let [good, flaky, bad] = [Good, Flaky, Bad].map(of);
        let counts = Counts {
            good: good.count(),
            flaky: flaky.count(),
            bad: bad.count(),
        };
        let all = good.or(&flaky).or(&bad);
        let mut searched = Self {
            counts,
            groups: literals::groups(&table.literals, &all),
            bad,
            flaky,
            all,
            result: Outcome::Nothing,
            least: 1.0,
        };
        searched.result = searched.search(&good);
        searched
    }

    fn search(&mut self, good: &Bits) -> Outcome {
        let counts = self.counts;
        if counts.bad + counts.flaky == 1 {
            return Outcome::Single;
        }
        if counts.good == 0 && counts.flaky == 0 {
            return Outcome::Everywhere;
        }
        if counts.bad + counts.flaky == 0 || self.groups.is_empty() {
            return Outcome::Nothing;
        }
        let chance = Chance::new(counts.all());
        let space = search::Space::new(&self.groups, good, &self.bad);
        self.least = 1.0 / chance.ways(counts.bad.max(1));
        if counts.flaky == 0
            && let Some((found, hypotheses)) = space.exact()
        {
            let chance = (hypotheses / chance.ways(counts.bad)).min(1.0);
            return Outcome::Exact(found, chance);
        }
        match space.mostly(&chance, &self.flaky, &self.all) {
            Some((found, chance)) => Outcome::Mostly(found, chance),
            None => Outcome::Nothing,
        }
    }

    /// The least chance that any explanation of these cells could have.
    fn least_chance(&self) -> f64 {
        match self.result {
            Outcome::Everywhere | Outcome::Single => 1.0,
            _ => self.least,
        }
    }

    /// The chance of what was found, on the scale of [`GATE`].
    fn chance(&self) -> f64 {
        match self.result {
            Outcome::Exact(_, chance) => chance,
            Outcome::Mostly(_, chance) => (chance * GATE / MOSTLY_GATE).min(1.0),
            Outcome::Everywhere | Outcome::Single | Outcome::Nothing => 1.0,
        }
    }

    /// What was found with its counts: all parts, or all alternatives of one part.
    fn explain(&self, table: &Table, found: &Found, chance: f64) -> Vec<Explanation> {
        // Of a part that stands with others, one reading is reported.
        let readings = match found.parts.len() {
            1 => usize::MAX,
            _ => 1,
        };
        let parts = found.parts.iter().map(|part| (part, readings));
        let others = found.alternatives.iter().map(|one| (one, usize::MAX));
        let explanations = parts.chain(others).flat_map(|(part, readings)| {
            let spoken = self.spoken(table, part).into_iter().take(readings);
            spoken.map(|all_of| self.counted(part, all_of, chance))
        });
        explanations.take(MAX_ALTERNATIVES).collect()
    }

    /// The readings of a conjunction: conditions of different families that the same cells meet
    /// cannot be told apart.
    fn spoken(&self, table: &Table, part: &Conjunction) -> Vec<Vec<crate::answer::Literal>> {
        let mut readings = vec![Vec::new()];
        for group in &part.groups {
            let choices = &self.groups[*group].members;
            let longer = readings.into_iter().flat_map(|reading: Vec<usize>| {
                choices.iter().filter_map(move |choice| {
                    let family = |place: usize| &table.literals[place].family;
                    let mut others = reading.iter();
                    let taken = others.any(|other| family(*other) == family(*choice));
                    (!taken).then(|| [reading.as_slice(), &[*choice]].concat())
                })
            });
            readings = longer.take(MAX_ALTERNATIVES).collect();
        }
        let told = |reading: Vec<usize>| {
            let literals = reading.iter().map(|place| &table.literals[*place]);
            let mut literals: Vec<&Literal> = literals.collect();
            literals.sort_by_key(|literal| literal.order);
            let told = literals.iter().map(|literal| literal.told.clone());
            told.collect()
        };
        readings.into_iter().map(told).collect()
    }

    fn counted(
        &self,
        part: &Conjunction,
        all_of: Vec<crate::answer::Literal>,
        chance: f64,
    ) -> Explanation {
        let weight = |bits: &Bits| {
            bits.and(&self.bad).count() as f64 + bits.and(&self.flaky).count() as f64 / 2.0
        };
        let inside = part.bits.and(&self.all);
        let outside = self.all.without(&part.bits);
        Explanation {
            all_of,
            bad: weight(&inside),
            bad_of: inside.count(),
            good: weight(&outside),
            good_of: outside.count(),
            chance,
        }
    }
}

#[cfg(test)]
mod tests;
