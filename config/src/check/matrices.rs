//! Rules for matrices: every combination is of axes that there are, and of their values.

use std::collections::{BTreeMap, BTreeSet};

use packtrain_yaml::suggest::did_you_mean;

use super::Violation;
use crate::key::KeyPath;
use crate::settings::{Mask, Matrix};

type Checked = Result<(), Violation>;

/// Most values of an axis.
const MAX_VALUES: usize = 200;
/// Most axes of a matrix.
const MAX_AXES: usize = 20;
/// Most configurations of a matrix.
const MAX_CELLS: u32 = 10_000;

pub(super) fn matrix(key: &KeyPath, matrix: &Matrix) -> Checked {
    let axes = &matrix.axes.0;
    let axes_key = key.child("axes");
    if axes.is_empty() {
        let none = Violation::new(key.clone(), "a matrix needs an axis");
        return Err(none.hint("such as `axes: { locale: [en-US, de-DE] }`"));
    }
    if axes.len() > MAX_AXES {
        let message = format!("more than {MAX_AXES} axes");
        return Err(Violation::new(axes_key, message));
    }
    if matrix.limit == 0 || matrix.limit > MAX_CELLS {
        let message = format!("must be between 1 and {MAX_CELLS}");
        return Err(Violation::new(key.child("limit"), message));
    }
    let mut known = BTreeMap::new();
    for (name, values) in axes {
        let key = axes_key.child(name);
        let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.is_empty() || !name.chars().all(fine) {
            let odd = Violation::new(key, format!("invalid axis name `{name}`"));
            return Err(odd.hint("use letters, digits, dots, dashes and underscores"));
        }
        if values.is_empty() || values.len() > MAX_VALUES {
            let message = format!("an axis has 1 to {MAX_VALUES} values");
            return Err(Violation::new(key, message));
        }
        let mut seen = BTreeSet::new();
        for value in values {
            if value.value.trim().is_empty() || value.value.contains([',', '\n', '=']) {
                let message = format!("invalid value `{}`", value.value);
                let odd = Violation::new(key, message);
                return Err(odd.hint("values must not contain commas, line breaks or equals signs"));
            }
            if !seen.insert(value.value.as_str()) {
                let message = format!("`{}` is given twice", value.value);
                return Err(Violation::new(key, message));
            }
        }
        known.insert(name.as_str(), seen);
    }
    for (part, rows) in [("exclude", &matrix.exclude), ("add", &matrix.add)] {
        for (index, row) in rows.iter().enumerate() {
            let key = key.child(part).child(index.to_string());
            combination(&key, row, &known, part != "reference")?;
            if row.is_empty() {
                return Err(Violation::new(key, "names no axis"));
            }
        }
    }
    combination(&key.child("reference"), &matrix.reference, &known, false)?;
    for (index, expected) in matrix.expect.iter().enumerate() {
        let key = key.child("expect").child(index.to_string());
        combination(&key.child("when"), &expected.when, &known, true)?;
    }
    Ok(())
}

/// A combination names axes that there are. Its values are the axis' own, except where new ones or
/// comparisons are possible.
fn combination(
    key: &KeyPath,
    row: &BTreeMap<String, String>,
    known: &BTreeMap<&str, BTreeSet<&str>>,
    is_free: bool,
) -> Checked {
    for (axis, value) in row {
        let key = key.child(axis);
        let Some(values) = known.get(axis.as_str()) else {
            let unknown = Violation::new(key, format!("unknown axis `{axis}`"));
            let names: Vec<_> = known.keys().copied().collect();
            let meant = did_you_mean(axis, names.iter().copied());
            let all = || format!("available: {}", names.join(", "));
            return Err(unknown.hint(meant.unwrap_or_else(all)));
        };
        if !is_free && !values.contains(value.as_str()) {
            let values: Vec<_> = values.iter().copied().collect();
            let message = format!("`{value}` is not a value of `{axis}`");
            let hint = format!("its values are {}", values.join(", "));
            return Err(Violation::new(key, message).hint(hint));
        }
    }
    Ok(())
}

/// A mask says one thing.
pub(super) fn mask(key: &KeyPath, mask: &Mask) -> Checked {
    let said = [&mask.css, &mask.text, &mask.rect];
    if said.iter().filter(|part| part.is_some()).count() != 1 {
        return Err(Violation::new(
            key.clone(),
            "takes one of css, text and rect",
        ));
    }
    if let Some(rect) = &mask.rect {
        let numbers: Option<Vec<f64>> = rect.split(',').map(|n| n.trim().parse().ok()).collect();
        if numbers.is_none_or(|numbers| {
            numbers.len() != 4 || numbers.iter().any(|n| !n.is_finite() || *n < 0.0)
        }) {
            let odd = Violation::new(key.child("rect"), format!("invalid rectangle `{rect}`"));
            return Err(odd.hint("expected left, top, width and height, such as 0,0,320,24"));
        }
    }
    Ok(())
}
