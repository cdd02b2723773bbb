//! Patterns of `*` and `?`.

/// Whether `text` is like `pattern`: `*` is any characters or none, `?` is one. Case does not matter.
/// Takes the product of the lengths at most.
pub(super) fn is_like(text: &str, pattern: &str) -> bool {
    let text: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
    let pattern: Vec<char> = pattern.chars().flat_map(char::to_lowercase).collect();
    let (mut at, mut place) = (0, 0);
    // Where the last `*` stood and what it began with: it takes one more whenever the rest fails.
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(place) {
            Some('*') => {
                star = Some((place, at));
                place += 1;
            }
            Some(&wanted) if wanted == '?' || wanted == text[at] => {
                at += 1;
                place += 1;
            }
            Some(_) | None => {
                let Some((stood, began)) = star else {
                    return false;
                };
                star = Some((stood, began + 1));
                at = began + 1;
                place = stood + 1;
            }
        }
    }
    pattern[place..].iter().all(|&rest| rest == '*')
}
