//! Which cells of a matrix to run: the product of the axes, less what is excluded, thinned to what
//! the cover asks for, plus what is added.

mod condition;
mod pairs;
mod space;

use std::collections::{BTreeMap, BTreeSet};

use packtrain_model::{Axis, Cell};

pub use condition::{Condition, ConditionError};
use space::Space;

/// The most cells a matrix may come to.
pub const MAX_CELLS: usize = 100_000;

/// A matrix.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// What varies.
    pub axes: Vec<Axis>,
    /// What is left out of the product.
    pub exclude: Vec<Pattern>,
    /// Cells beside the product; what they do not say is as in the reference.
    pub add: Vec<Cell>,
    /// The first cell; axes it does not name have their first value.
    pub reference: Cell,
    /// How much of the product to run.
    pub cover: Cover,
}

/// What a cell has to be like: a condition for each axis named.
pub type Pattern = BTreeMap<String, Condition>;

/// How much of the product to run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cover {
    /// Everything.
    #[default]
    All,
    /// Every pair of values of two axes at least once.
    Pairs,
    /// The reference, and each other value on its own.
    OneAtATime,
}

impl Request {
    /// Which entry of `exclude`, from 0, leaves a cell with a value of each axis out.
    pub fn excluded_by(&self, cell: &Cell) -> Option<usize> {
        let holds = |axis: &String, condition: &Condition| {
            let value = cell.0.get(axis);
            value.is_some_and(|value| condition.holds(value))
        };
        let matches = |pattern: &Pattern| pattern.iter().all(|(axis, one)| holds(axis, one));
        self.exclude.iter().position(matches)
    }
}

/// The cells to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cells {
    /// The cells; the first is the reference.
    pub cells: Vec<Cell>,
    /// How many cells of the product are excluded.
    pub excluded: usize,
    /// Values and pairs of values that the cover asks for and no cell has, because of what is
    /// excluded: `engine=firefox, fontScale=2`.
    pub unreachable: Vec<String>,
}

/// Why there are no cells. Always the user's fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CoverError {
    /// An axis without values.
    #[error("axis `{axis}` has no values")]
    NoValues {
        /// The axis.
        axis: String,
    },
    /// An axis that is there twice, or a value of one.
    #[error("axis `{axis}` is defined twice, or lists the same value twice")]
    Repeated {
        /// The axis.
        axis: String,
    },
    /// `exclude` names an axis that is none.
    #[error("exclude {} names an unknown axis `{axis}`", index + 1)]
    UnknownExcludedAxis {
        /// Which entry, from 0.
        index: usize,
        /// The axis.
        axis: String,
    },
    /// An entry of `exclude` leaves nothing out.
    #[error("exclude {} matches no cell: no `{axis}` is {condition}", index + 1)]
    IdleExclude {
        /// Which entry, from 0.
        index: usize,
        /// The axis whose condition no value meets.
        axis: String,
        /// The condition.
        condition: String,
    },
    /// An empty entry of `exclude` would leave everything out.
    #[error("exclude {} has no conditions and would exclude every cell", index + 1)]
    EmptyExclude {
        /// Which entry, from 0.
        index: usize,
    },
    /// `add` names an axis that is none.
    #[error("add {} names an unknown axis `{axis}`", index + 1)]
    UnknownAddedAxis {
        /// Which entry, from 0.
        index: usize,
        /// The axis.
        axis: String,
    },
    /// The reference is not a cell of the product.
    #[error("the reference has `{axis}={value}`, which is not one of the axis' values")]
    UnknownReference {
        /// The axis.
        axis: String,
        /// The value.
        value: String,
    },
    /// The reference is excluded.
    #[error("the reference cell ({cell}) is excluded by exclude {}", index + 1)]
    ReferenceExcluded {
        /// The cell.
        cell: String,
        /// By which entry, from 0.
        index: usize,
    },
    /// More than [`MAX_CELLS`].
    #[error("the matrix has more than {MAX_CELLS} cells")]
    TooMany,
}

/// The cells of a matrix. The same request has the same cells each time.
///
/// # Errors
///
/// Mistakes in the request.
pub fn cover(request: &Request) -> Result<Cells, CoverError> {
    let reference = reference(request)?;
    let space = Space::new(request)?;
    for (index, cell) in request.add.iter().enumerate() {
        if let Some(axis) = cell.0.keys().find(|axis| !reference.0.contains_key(*axis)) {
            let axis = axis.clone();
            return Err(CoverError::UnknownAddedAxis { index, axis });
        }
    }
    let start = space.row(&reference);
    if let Some(index) = space.excluded_by(&start) {
        let cell = reference.to_string();
        return Err(CoverError::ReferenceExcluded { cell, index });
    }
    let (rows, unreachable) = match request.cover {
        Cover::All => (all(&space, &start)?, Vec::new()),
        Cover::OneAtATime => one_at_a_time(&space, &start),
        // Without a second axis there are no pairs.
        Cover::Pairs if request.axes.len() < 2 => one_at_a_time(&space, &start),
        Cover::Pairs => pairs::pairs(&space, &start)?,
    };
    let added = request.add.iter().map(|cell| {
        let mut whole = reference.0.clone();
        whole.extend(cell.0.clone());
        Cell(whole)
    });
    let mut seen = BTreeSet::new();
    let cells: Vec<Cell> = rows
        .iter()
        .map(|row| space.cell(row))
        .chain(added)
        .filter(|cell| seen.insert(cell.clone()))
        .collect();
    if cells.len() > MAX_CELLS {
        return Err(CoverError::TooMany);
    }
    Ok(Cells {
        cells,
        excluded: space.count_excluded(),
        unreachable,
    })
}

/// The reference with a value for each axis.
fn reference(request: &Request) -> Result<Cell, CoverError> {
    let mut whole = BTreeMap::new();
    for Axis { name, values, .. } in &request.axes {
        let axis = name.clone();
        let Some(first) = values.first() else {
            return Err(CoverError::NoValues { axis });
        };
        let distinct: BTreeSet<_> = values.iter().collect();
        let is_known = whole.insert(name.clone(), first.clone()).is_some();
        if is_known || distinct.len() < values.len() {
            return Err(CoverError::Repeated { axis });
        }
    }
    for (name, value) in &request.reference.0 {
        let known = request.axes.iter().find(|axis| axis.name == *name);
        if !known.is_some_and(|axis| axis.values.contains(value)) {
            let (axis, value) = (name.clone(), value.clone());
            return Err(CoverError::UnknownReference { axis, value });
        }
        whole.insert(name.clone(), value.clone());
    }
    Ok(Cell(whole))
}

/// The whole product, the reference first.
fn all(space: &Space, start: &[usize]) -> Result<Vec<Vec<usize>>, CoverError> {
    if space.product() > MAX_CELLS {
        return Err(CoverError::TooMany);
    }
    let mut rows = vec![start.to_vec()];
    let mut row = vec![0; start.len()];
    loop {
        if space.excluded_by(&row).is_none() {
            rows.push(row.clone());
        }
        // Count up, the last axis fastest.
        let mut places = (0..row.len()).rev();
        let Some(place) = places.find(|&place| row[place] + 1 < space.values(place)) else {
            return Ok(rows);
        };
        row[place] += 1;
        row[place + 1..].fill(0);
    }
}

/// The reference, and each other value of each axis on its own.
fn one_at_a_time(space: &Space, start: &[usize]) -> (Vec<Vec<usize>>, Vec<String>) {
    let mut rows = vec![start.to_vec()];
    let mut unreachable = Vec::new();
    for axis in 0..start.len() {
        for value in (0..space.values(axis)).filter(|value| *value != start[axis]) {
            let mut row = start.to_vec();
            row[axis] = value;
            if space.excluded_by(&row).is_none() {
                rows.push(row);
            } else {
                unreachable.push(space.name(axis, value));
            }
        }
    }
    (rows, unreachable)
}

#[cfg(test)]
mod tests;
