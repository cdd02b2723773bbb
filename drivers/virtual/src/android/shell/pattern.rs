//! Shell patterns: `*`, `?`, `[…]`.

/// Whether `pattern` matches all of `text`. A character after `\` stands for itself.
pub fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    // Greedy with one point to come back to: linear in space, never exponential in time.
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match one(&pattern[p..], text[t]) {
            Some(0) => {
                star = Some((p, t));
                p += 1;
            }
            Some(length) => {
                p += length;
                t += 1;
            }
            None => match star {
                Some((star_p, star_t)) => {
                    star = Some((star_p, star_t + 1));
                    p = star_p + 1;
                    t = star_t + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// How many characters of the pattern match `c`: 0 for a `*`, `None` when it does not match.
fn one(pattern: &[char], c: char) -> Option<usize> {
    match pattern {
        [] => None,
        ['*', ..] => Some(0),
        ['?', ..] => Some(1),
        ['\\', escaped, ..] => (*escaped == c).then_some(2),
        ['[', rest @ ..] => match set(rest, c) {
            Some((length, true)) => Some(length + 1),
            Some((_, false)) => None,
            None => (c == '[').then_some(1),
        },
        [plain, ..] => (*plain == c).then_some(1),
    }
}

/// The length of a set up to and with its `]`, and whether `c` is in it.
fn set(pattern: &[char], c: char) -> Option<(usize, bool)> {
    let negated = matches!(pattern.first(), Some('!' | '^'));
    let mut at = usize::from(negated);
    let first = at;
    let mut found = false;
    loop {
        let from = *pattern.get(at)?;
        if from == ']' && at > first {
            return Some((at + 1, found != negated));
        }
        match (pattern.get(at + 1), pattern.get(at + 2)) {
            (Some('-'), Some(to)) if *to != ']' => {
                found |= (from..=*to).contains(&c);
                at += 3;
            }
            _ => {
                found |= from == c;
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns_match_as_in_a_shell() {
        for (pattern, text) in [
            ("*", ""),
            ("*.apk", "a.apk"),
            ("a*b*c", "aXXbYYc"),
            ("?[0-9]", "x7"),
            ("[!a]b", "cb"),
            ("\\*", "*"),
            ("[D]evice*", "DeviceServer"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("*.apk", "a.apk2"), ("?", ""), ("[a-c]", "d"), ("\\*", "x")] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    proptest! {
        #[test]
        fn no_pattern_makes_it_panic_or_hang(pattern in "[a*?\\[\\]!\\\\-]{0,30}", text in "[ab*]{0,60}") {
            let _ = matches(&pattern, &text);
        }
    }
}
