//! Which step of one run is which of another.

use similar::Algorithm;

use crate::align::equal;

/// For each step of the later run its place in the earlier one: by index when that says the same, else
/// by the longest run of equal words.
pub fn align(was: &[&str], is: &[&str]) -> Vec<Option<usize>> {
    if was == is {
        return (0..is.len()).map(Some).collect();
    }
    let mut places = vec![None; is.len()];
    for (one, other) in equal(Algorithm::Lcs, was, is) {
        places[other] = Some(one);
    }
    places
}
