//! The word that was probably meant.

/// The candidate closest to `word`, when one is close enough to be a slip of the finger.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    within(word, candidates, usize::MAX)
}

/// The same, when they differ in at most so many letters.
pub fn within<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Option<&'a str> {
    // A longer word is not a slip, and measuring it would cost its length squared.
    const LONGEST: usize = 64;
    if word.is_empty() || word.len() > LONGEST {
        return None;
    }
    let wanted = simplified(word);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST)
        .map(|candidate| {
            let distance = strsim::damerau_levenshtein(&wanted, &simplified(candidate));
            (distance, candidate)
        })
        .filter(|(distance, candidate)| {
            *distance <= candidate.chars().count().div_ceil(3).min(most)
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// ``did you mean `x`?``, when there is such an x.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    closest(word, candidates).map(|meant| format!("did you mean `{meant}`?"))
}

/// Case, `_` and `-` are what people mix up without noticing.
fn simplified(word: &str) -> String {
    word.chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{closest, within};

    #[test]
    fn a_slip_of_the_finger_finds_the_word_that_was_meant() {
        let keys = ["step", "verify", "recording", "recordable", "maxRetries"];
        assert_eq!(closest("recordng", keys), Some("recording"));
        assert_eq!(closest("max_retries", keys), Some("maxRetries"));
        assert_eq!(closest("Verfy", keys), Some("verify"));
    }

    #[test]
    fn a_different_word_finds_nothing() {
        let keys = ["step", "verify"];
        assert_eq!(closest("android-phone", keys), None);
        assert_eq!(closest("", keys), None);
        assert_eq!(closest(&"step".repeat(1000), keys), None);
    }

    #[test]
    fn a_short_word_has_room_for_fewer_slips_than_are_allowed() {
        let kinds = ["web", "ios", "web/desktop"];
        for other in ["e5", "w1", "rio", "ios17", "web/dektops1"] {
            assert_eq!(within(other, kinds, 2), None, "{other}");
        }
        for (slip, meant) in [("wbe", "web"), ("web/dekstopp", "web/desktop")] {
            assert_eq!(within(slip, kinds, 2), Some(meant));
        }
    }
}
