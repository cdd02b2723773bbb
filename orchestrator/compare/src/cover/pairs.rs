//! Every pair of values in few rows: greedy, row by row. Each candidate starts from a pair that is
//! still open, or the search stalls; the other axes are filled by most new pairs in random order.
//! The randomness is that of a fixed seed.

use super::space::{Partial, Space};
use super::{CoverError, MAX_CELLS};

/// Candidates for each row.
const CANDIDATES: usize = 20;
/// Values of all axes together at most: a table of their pairs is kept.
const MAX_VALUES: usize = 2_000;

/// Rows that hold every pair of values that is possible, the first of them `start`, and the pairs
/// that are not possible.
pub(super) fn pairs(
    space: &Space,
    start: &[usize],
) -> Result<(Vec<Vec<usize>>, Vec<String>), CoverError> {
    let mut table = Table::new(space).ok_or(CoverError::TooMany)?;
    let mut unreachable = table.drop_impossible(space);
    let mut random = Random::new(&space.sorted_text());
    let mut rows = vec![start.to_vec()];
    table.take(start);
    while let Some(first) = table.any(0) {
        let mut best: Option<(usize, Vec<usize>)> = None;
        for _ in 0..CANDIDATES {
            let from = random.below(table.open.len());
            let pair = table.any(from).unwrap_or(first);
            let row = candidate(space, &table, pair, &mut random);
            let new = table.count(&row);
            if best.as_ref().is_none_or(|(most, _)| new > *most) {
                best = Some((new, row));
            }
        }
        match best {
            Some((new, row)) if new > 0 => {
                table.take(&row);
                rows.push(row);
            }
            // No candidate holds even the pair it started from; it is dropped, or this never ends.
            _ => {
                table.drop(first);
                unreachable.push(name(space, first));
            }
        }
        if rows.len() > MAX_CELLS {
            return Err(CoverError::TooMany);
        }
    }
    Ok((rows, unreachable))
}

/// A value: the axis, and its place there.
type Value = (usize, usize);

/// `engine=firefox, fontScale=2`.
fn name(space: &Space, (one, other): (Value, Value)) -> String {
    let (one, other) = (space.name(one.0, one.1), space.name(other.0, other.1));
    format!("{one}, {other}")
}

/// Which pairs no row has yet.
struct Table {
    /// Where each axis begins among all values.
    starts: Vec<usize>,
    /// The value at each place.
    values: Vec<Value>,
    /// For each two places, the lower first.
    open: Vec<bool>,
}

impl Table {
    fn new(space: &Space) -> Option<Self> {
        let mut starts = Vec::new();
        let mut values = Vec::new();
        for axis in 0..space.axes() {
            starts.push(values.len());
            values.extend((0..space.values(axis)).map(|value| (axis, value)));
        }
        if values.len() > MAX_VALUES {
            return None;
        }
        let count = values.len();
        let open = (0..count * count)
            .map(|at| values[at / count].0 < values[at % count].0)
            .collect();
        Some(Self {
            starts,
            values,
            open,
        })
    }

    fn at(&self, one: Value, other: Value) -> usize {
        let (low, high) = (one.min(other), one.max(other));
        (self.starts[low.0] + low.1) * self.values.len() + self.starts[high.0] + high.1
    }

    fn is_open(&self, one: Value, other: Value) -> bool {
        self.open[self.at(one, other)]
    }

    /// The first open pair from a place on, around the end.
    fn any(&self, from: usize) -> Option<(Value, Value)> {
        let mut places = (from..self.open.len()).chain(0..from);
        let at = places.find(|at| self.open[*at])?;
        let count = self.values.len();
        Some((self.values[at / count], self.values[at % count]))
    }

    fn drop(&mut self, pair: (Value, Value)) {
        let at = self.at(pair.0, pair.1);
        self.open[at] = false;
    }

    fn drop_impossible(&mut self, space: &Space) -> Vec<String> {
        let mut unreachable = Vec::new();
        let count = self.values.len();
        for at in 0..self.open.len() {
            if !self.open[at] {
                continue;
            }
            let (one, other) = (self.values[at / count], self.values[at % count]);
            let mut row: Partial = vec![None; space.axes()];
            row[one.0] = Some(one.1);
            row[other.0] = Some(other.1);
            if !space.is_possible(&row) {
                self.open[at] = false;
                unreachable.push(name(space, (one, other)));
            }
        }
        unreachable
    }

    fn pairs_of(row: &[usize]) -> impl Iterator<Item = (Value, Value)> + '_ {
        row.iter().enumerate().flat_map(move |(axis, &value)| {
            let others = row.iter().enumerate().skip(axis + 1);
            others.map(move |(other, &with)| ((axis, value), (other, with)))
        })
    }

    fn count(&self, row: &[usize]) -> usize {
        Self::pairs_of(row)
            .filter(|(one, other)| self.is_open(*one, *other))
            .count()
    }

    fn take(&mut self, row: &[usize]) {
        for pair in Self::pairs_of(row) {
            self.drop(pair);
        }
    }
}

/// A row that holds a pair. The pair is possible, and so is each value added to it.
fn candidate(
    space: &Space,
    table: &Table,
    pair: (Value, Value),
    random: &mut Random,
) -> Vec<usize> {
    let mut row: Partial = vec![None; space.axes()];
    row[pair.0.0] = Some(pair.0.1);
    row[pair.1.0] = Some(pair.1.1);
    let mut open: Vec<usize> = (0..space.axes())
        .filter(|axis| row[*axis].is_none())
        .collect();
    random.shuffle(&mut open);
    for axis in open {
        let turn = random.below(space.values(axis));
        let new = |value: usize| {
            let known = row.iter().enumerate();
            let known = known.filter_map(|(other, with)| Some((other, (*with)?)));
            known
                .filter(|with| table.is_open((axis, value), *with))
                .count()
        };
        let mut values: Vec<(usize, usize)> = (0..space.values(axis))
            .map(|place| (place + turn) % space.values(axis))
            .map(|value| (new(value), value))
            .collect();
        values.sort_by_key(|(new, _)| usize::MAX - new);
        let fits = values.iter().map(|(_, value)| *value).find(|value| {
            row[axis] = Some(*value);
            space.is_possible(&row)
        });
        row[axis] = fits.or(Some(turn));
    }
    let row: Vec<usize> = row.into_iter().flatten().collect();
    if space.excluded_by(&row).is_some() {
        // The search for a completion was given up; a row without new pairs is thrown away.
        return Vec::new();
    }
    row
}

/// SplitMix64: small, and the same everywhere.
struct Random(u64);

impl Random {
    /// Seeded with the FNV-1a hash of a text.
    fn new(text: &str) -> Self {
        Self(text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }

    /// A number below a bound; 0 when there is none.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % bound.max(1) as u64).unwrap_or_default()
    }

    fn shuffle(&mut self, items: &mut [usize]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
