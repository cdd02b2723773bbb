//! The product of the axes as numbers, and what is excluded of it, without ever writing it out.

use std::collections::{BTreeMap, HashMap};

use packtrain_model::{Axis, Cell};

use super::{CoverError, Request};

/// The product. A row is a value's place for each axis.
pub(super) struct Space<'a> {
    axes: &'a [Axis],
    /// For each entry of `exclude` and each axis it names: which values it hits.
    patterns: Vec<BTreeMap<usize, Vec<bool>>>,
}

/// A row that is not complete.
pub(super) type Partial = Vec<Option<usize>>;

/// Steps that the search for a completion may take; only a knot of exclusions needs more.
const MAX_SEARCH: usize = 20_000;

impl<'a> Space<'a> {
    pub(super) fn new(request: &'a Request) -> Result<Self, CoverError> {
        let axes = request.axes.as_slice();
        let mut patterns = Vec::new();
        for (index, pattern) in request.exclude.iter().enumerate() {
            if pattern.is_empty() {
                return Err(CoverError::EmptyExclude { index });
            }
            let mut hits = BTreeMap::new();
            for (name, condition) in pattern {
                let axis = name.clone();
                let Some(place) = axes.iter().position(|axis| axis.name == *name) else {
                    return Err(CoverError::UnknownExcludedAxis { index, axis });
                };
                let values = axes[place].values.iter();
                let hit: Vec<bool> = values.map(|value| condition.holds(value)).collect();
                if !hit.contains(&true) {
                    return Err(CoverError::IdleExclude {
                        index,
                        axis,
                        condition: condition.to_string(),
                    });
                }
                hits.insert(place, hit);
            }
            patterns.push(hits);
        }
        Ok(Self { axes, patterns })
    }

    /// How many axes.
    pub(super) const fn axes(&self) -> usize {
        self.axes.len()
    }

    /// How many values an axis has.
    pub(super) fn values(&self, axis: usize) -> usize {
        self.axes[axis].values.len()
    }

    /// Axes and values as text, whatever order the axes are in.
    pub(super) fn sorted_text(&self) -> String {
        let lines = self.axes.iter();
        let lines = lines.map(|axis| format!("{}={}\n", axis.name, axis.values.join(",")));
        let mut lines: Vec<String> = lines.collect();
        lines.sort();
        lines.concat()
    }

    /// `engine=firefox`.
    pub(super) fn name(&self, axis: usize, value: usize) -> String {
        format!("{}={}", self.axes[axis].name, self.axes[axis].values[value])
    }

    /// How many cells; the most there can be when it is more.
    pub(super) fn product(&self) -> usize {
        self.product_from(0)
    }

    fn product_from(&self, axis: usize) -> usize {
        (axis..self.axes()).fold(1, |all: usize, axis| all.saturating_mul(self.values(axis)))
    }

    pub(super) fn row(&self, cell: &Cell) -> Vec<usize> {
        let place = |axis: &Axis| {
            let value = cell.0.get(&axis.name);
            let place = axis.values.iter().position(|other| Some(other) == value);
            place.unwrap_or_default()
        };
        self.axes.iter().map(place).collect()
    }

    pub(super) fn cell(&self, row: &[usize]) -> Cell {
        let values = self.axes.iter().zip(row);
        let values = values.map(|(axis, &at)| (axis.name.clone(), axis.values[at].clone()));
        Cell(values.collect())
    }

    /// The entry of `exclude` that leaves a row out.
    pub(super) fn excluded_by(&self, row: &[usize]) -> Option<usize> {
        self.patterns
            .iter()
            .position(|pattern| pattern.iter().all(|(&axis, hit)| hit[row[axis]]))
    }

    /// Whether what a row has so far is excluded whatever comes to it.
    fn is_blocked(&self, row: &Partial) -> bool {
        self.patterns.iter().any(|pattern| {
            let mut hits = pattern.iter();
            hits.all(|(&axis, hit)| row[axis].is_some_and(|value| hit[value]))
        })
    }

    /// Whether a row can be completed to one that is not excluded.
    pub(super) fn is_possible(&self, row: &Partial) -> bool {
        if self.is_blocked(row) {
            return false;
        }
        // Axes that no exclusion names are free.
        let open: Vec<usize> = (0..self.axes())
            .filter(|axis| row[*axis].is_none())
            .filter(|axis| self.patterns.iter().any(|p| p.contains_key(axis)))
            .collect();
        let mut row = row.clone();
        self.complete(&mut row, &open, &mut 0)
    }

    fn complete(&self, row: &mut Partial, open: &[usize], steps: &mut usize) -> bool {
        let Some((&axis, rest)) = open.split_first() else {
            return true;
        };
        for value in 0..self.values(axis) {
            *steps += 1;
            if *steps > MAX_SEARCH {
                return false;
            }
            row[axis] = Some(value);
            if !self.is_blocked(row) && self.complete(row, rest, steps) {
                return true;
            }
        }
        row[axis] = None;
        false
    }

    /// How many cells of the product are excluded.
    pub(super) fn count_excluded(&self) -> usize {
        let live: Vec<bool> = vec![true; self.patterns.len()];
        self.count(0, live, &mut HashMap::new())
    }

    /// The same from an axis on, for the patterns that the axes before it left in question.
    fn count(
        &self,
        axis: usize,
        live: Vec<bool>,
        known: &mut HashMap<(usize, Vec<bool>), usize>,
    ) -> usize {
        if !live.contains(&true) {
            return 0;
        }
        let met = |(pattern, live): (&BTreeMap<usize, Vec<bool>>, &bool)| {
            *live && pattern.keys().all(|named| *named < axis)
        };
        if self.patterns.iter().zip(&live).any(met) {
            return self.product_from(axis);
        }
        let key = (axis, live);
        if let Some(count) = known.get(&key) {
            return *count;
        }
        let live = &key.1;
        let mut count: usize = 0;
        for value in 0..self.values(axis) {
            let next =
                self.patterns.iter().zip(live).map(|(pattern, live)| {
                    *live && pattern.get(&axis).is_none_or(|hit| hit[value])
                });
            count = count.saturating_add(self.count(axis + 1, next.collect(), known));
        }
        known.insert(key, count);
        count
    }
}
