//! The search for conditions that hold on bad cells only: all conjunctions of up to three, then the
//! fewest of them that cover every bad cell.

use super::bits::Bits;
use super::chance::{Chance, choose_few};
use super::literals::Group;

/// Conditions in a conjunction at most.
const MAX_LENGTH: usize = 3;
/// Conjunctions in a cover at most.
const MAX_PARTS: usize = 4;
/// Steps of the search for a smallest cover at most.
const MAX_SEARCH: usize = 4_000;

/// Conditions that hold together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Conjunction {
    pub(super) groups: Vec<usize>,
    pub(super) bits: Bits,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Found {
    /// Each bad cell meets one of these.
    pub(super) parts: Vec<Conjunction>,
    /// What does as well as an only part.
    pub(super) alternatives: Vec<Conjunction>,
    /// Whether no other parts do as well.
    pub(super) is_unique: bool,
}

/// All conjunctions over one set of cells.
pub(super) struct Space<'a> {
    groups: &'a [Group],
    bad: &'a Bits,
    /// Those that hold on bad cells only and of which nothing can be left out, shortest first.
    pure: Vec<Conjunction>,
    /// How many conjunctions there are up to each length.
    counts: [f64; MAX_LENGTH + 1],
    /// How many of them hold on as many cells as are bad.
    sized: [f64; MAX_LENGTH + 1],
}

impl<'a> Space<'a> {
    pub(super) fn new(groups: &'a [Group], good: &Bits, bad: &'a Bits) -> Self {
        let mut space = Self {
            groups,
            bad,
            pure: Vec::new(),
            counts: [0.0; MAX_LENGTH + 1],
            sized: [0.0; MAX_LENGTH + 1],
        };
        space.enumerate(good);
        for length in 1..=MAX_LENGTH {
            space.counts[length] += space.counts[length - 1];
            space.sized[length] += space.sized[length - 1];
        }
        space
    }

    fn enumerate(&mut self, good: &Bits) {
        let count = self.groups.len();
        let size = self.bad.count();
        let related =
            |one: usize, other: usize| self.groups[one].family == self.groups[other].family;
        // Whether a condition, or two, hold on bad cells only.
        let mut is_pure = vec![false; count * count];
        let mut pure: [Vec<Conjunction>; MAX_LENGTH + 1] = Default::default();
        let (mut counts, mut sized) = (self.counts, self.sized);
        let mut note = |length: usize, bits: &Bits| {
            counts[length] += 1.0;
            if bits.count() == size {
                sized[length] += 1.0;
            }
        };
        let conjunction = |groups: &[usize], bits: &Bits| Conjunction {
            groups: groups.to_vec(),
            bits: bits.clone(),
        };
        for one in 0..count {
            let bits = &self.groups[one].bits;
            note(1, bits);
            if !bits.meets(good) {
                is_pure[one * count + one] = true;
                pure[1].push(conjunction(&[one], bits));
            }
        }
        let (mut two, mut three) = (Bits::default(), Bits::default());
        // The cells that meet two conditions, unless none does or one follows from the other.
        let both = |two: &mut Bits, one: usize, other: usize| {
            !related(one, other) && {
                two.set_and(&self.groups[one].bits, &self.groups[other].bits);
                !two.is_empty()
            }
        };
        for one in 0..count {
            for other in one + 1..count {
                if !both(&mut two, one, other) {
                    continue;
                }
                note(2, &two);
                let shorter = is_pure[one * count + one] || is_pure[other * count + other];
                if !shorter && !two.meets(good) {
                    pure[2].push(conjunction(&[one, other], &two));
                }
                is_pure[one * count + other] = shorter || !two.meets(good);
            }
        }
        for one in 0..count {
            for other in one + 1..count {
                if !both(&mut two, one, other) {
                    continue;
                }
                for third in other + 1..count {
                    if related(one, third) || related(other, third) {
                        continue;
                    }
                    three.set_and(&two, &self.groups[third].bits);
                    if three.is_empty() {
                        continue;
                    }
                    note(3, &three);
                    let shorter = is_pure[one * count + other]
                        || is_pure[one * count + third]
                        || is_pure[other * count + third];
                    if !shorter && !three.meets(good) {
                        pure[3].push(conjunction(&[one, other, third], &three));
                    }
                }
            }
        }
        (self.counts, self.sized) = (counts, sized);
        self.pure = pure.into_iter().flatten().collect();
    }

    /// The simplest explanation that is exact, and how many are as simple or simpler.
    pub(super) fn exact(&self) -> Option<(Found, f64)> {
        let mut whole = self.pure.iter().filter(|one| one.bits == *self.bad);
        if let Some(first) = whole.next() {
            let length = first.groups.len();
            let others = whole.filter(|other| other.groups.len() == length);
            let found = Found {
                parts: vec![first.clone()],
                alternatives: others.cloned().collect(),
                is_unique: true,
            };
            return Some((found, self.sized[length]));
        }
        self.cover()
    }

    /// The fewest conjunctions that cover the bad cells.
    fn cover(&self) -> Option<(Found, f64)> {
        let useful = self.useful();
        let most = useful.iter().map(|one| one.bits.count()).max()?;
        for parts in 2..=MAX_PARTS {
            if most * parts < self.bad.count() {
                continue;
            }
            let mut search = CoverSearch {
                useful: &useful,
                most,
                best: Vec::new(),
                length: usize::MAX,
                steps: 0,
            };
            search.run(self.bad, parts, &mut Vec::new());
            let Some(first) = search.best.first() else {
                continue;
            };
            let longest = first.iter().map(|part| useful[*part].groups.len()).max()?;
            let found = Found {
                parts: first.iter().map(|part| useful[*part].clone()).collect(),
                alternatives: Vec::new(),
                is_unique: search.best.len() == 1 && search.steps < MAX_SEARCH,
            };
            // All that is simpler, and as many parts of what is as long.
            let simpler = (1..parts).map(|parts| choose_few(self.counts[MAX_LENGTH], parts));
            let simpler: f64 = simpler.sum();
            return Some((found, simpler + choose_few(self.counts[longest], parts)));
        }
        None
    }

    /// The conjunctions worth a part of a cover: none that covers less than one as short.
    fn useful(&self) -> Vec<&Conjunction> {
        let mut useful: Vec<&Conjunction> = Vec::new();
        let mut sorted: Vec<&Conjunction> = self.pure.iter().collect();
        sorted.sort_by_key(|one| (one.groups.len(), usize::MAX - one.bits.count()));
        for one in sorted {
            let is_better = |other: &&Conjunction| {
                one.bits.is_within(&other.bits)
                    && (one.bits != other.bits || other.groups.len() < one.groups.len())
            };
            if !useful.iter().any(is_better) {
                useful.push(one);
            }
        }
        useful
    }

    /// The conjunction that tells the bad cells best where none does exactly, and how probable it is
    /// that chance does as well. Cells that are flaky count half, rounded against the finding.
    pub(super) fn mostly(&self, chance: &Chance, flaky: &Bits, all: &Bits) -> Option<(Found, f64)> {
        let halves = |bits: &Bits| bits.common(self.bad) * 2 + bits.common(flaky);
        let total = halves(all);
        let mut best: Option<(f64, Vec<usize>, Bits)> = None;
        let mut equal: Vec<Conjunction> = Vec::new();
        let mut consider = |groups: &[usize], bits: &Bits| {
            let (inside, hits) = (bits.count(), halves(bits));
            // More than half of what is there, and more than half of all that is bad.
            if hits <= inside || hits * 2 <= total || hits < 4 {
                return;
            }
            let fisher = chance.fisher(inside, total.div_ceil(2), hits / 2);
            let chance = fisher * self.counts[groups.len()];
            let is_better = best.as_ref().is_none_or(|(least, ..)| chance < *least);
            if is_better {
                best = Some((chance, groups.to_vec(), bits.clone()));
                equal.clear();
            } else if let Some((least, known, _)) = &best
                && (chance - least).abs() <= least * 1e-9
                && known.len() == groups.len()
            {
                let (groups, bits) = (groups.to_vec(), bits.clone());
                equal.push(Conjunction { groups, bits });
            }
        };
        for (one, group) in self.groups.iter().enumerate() {
            consider(&[one], &group.bits);
            for (other, with) in self.groups.iter().enumerate().skip(one + 1) {
                if group.family != with.family {
                    consider(&[one, other], &group.bits.and(&with.bits));
                }
            }
        }
        let (chance, groups, bits) = best?;
        let found = Found {
            parts: vec![Conjunction { groups, bits }],
            alternatives: equal,
            is_unique: true,
        };
        Some((found, chance))
    }
}

/// Branch and bound: the first bad cell that is left has to be covered by one of those that do.
struct CoverSearch<'a> {
    useful: &'a [&'a Conjunction],
    most: usize,
    /// The covers of the fewest conditions, each sorted.
    best: Vec<Vec<usize>>,
    length: usize,
    steps: usize,
}

impl CoverSearch<'_> {
    fn run(&mut self, left: &Bits, parts: usize, chosen: &mut Vec<usize>) {
        self.steps += 1;
        // The cell that fewest cover leaves the fewest branches.
        let covering = |cell: &usize| {
            let useful = self.useful.iter();
            useful.filter(|one| one.bits.contains(*cell)).count()
        };
        let Some(cell) = left.iter().min_by_key(covering) else {
            return self.keep(chosen);
        };
        if left.count() > parts * self.most || parts == 0 || self.steps >= MAX_SEARCH {
            return;
        }
        for place in 0..self.useful.len() {
            let one = self.useful[place];
            if one.bits.contains(cell) {
                chosen.push(place);
                self.run(&left.without(&one.bits), parts - 1, chosen);
                chosen.pop();
            }
        }
    }

    fn keep(&mut self, chosen: &[usize]) {
        let lengths = chosen.iter().map(|at| self.useful[*at].groups.len());
        let length = lengths.sum();
        let mut sorted = chosen.to_vec();
        sorted.sort_unstable();
        if length < self.length {
            self.length = length;
            self.best = vec![sorted];
        } else if length == self.length && !self.best.contains(&sorted) && self.best.len() < 8 {
            self.best.push(sorted);
        }
    }
}
