//! Which step of one run is which of another.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// For each step of the later run its place in the earlier one: by index when that says the same, else
/// by the longest run of equal words.
pub fn align(was: &[&str], is: &[&str]) -> Vec<Option<usize>> {
    if was == is {
        return (0..is.len()).map(Some).collect();
    }
    let mut places = vec![None; is.len()];
    for op in capture_diff_slices(Algorithm::Lcs, was, is) {
        if let DiffOp::Equal {
            old_index,
            new_index,
            len,
        } = op
        {
            for offset in 0..len {
                places[new_index + offset] = Some(old_index + offset);
            }
        }
    }
    places
}
