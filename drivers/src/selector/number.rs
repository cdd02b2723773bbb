//! A plain text that begins or ends with a digit is not part of a longer number: `1 task` is not
//! in `11 tasks`, nor `1` in `1.5`, `1,000`, `1\u{a0}000`, `-1` or `1½`. Patterns know nothing of it.

/// What stands before a text and does not end in a part of its number: a digit, with a sign of
/// groups or of decimals behind it or not, or a minus that no word stands before.
const BEFORE: &str = r"(?:[\s\S]*(?:[^\p{N}.,'’\u00a0\u2007-\u2009\u202f−-]|[^\p{N}][.,'’\u00a0\u2007-\u2009\u202f]|[\p{L}\p{N}][−-])|[.,'’\u00a0\u2007-\u2009\u202f])?";
/// What follows a text and does not go on with its number.
const AFTER: &str = r"(?:[^\p{N}.,'’\u00a0\u2007-\u2009\u202f][\s\S]*|[.,'’\u00a0\u2007-\u2009\u202f](?:[^\p{N}][\s\S]*)?)?";
const ANYTHING: &str = r"[\s\S]*";

/// The regular expressions of what stands before and behind `text` in a text that contains it, for
/// JavaScript, Java and the regex crate alike; `None` when it is enough to look for it.
pub fn around_number(text: &str) -> Option<(&'static str, &'static str)> {
    let is_digit = |c: Option<char>| c.is_some_and(char::is_numeric);
    let text = text.trim();
    match (
        is_digit(text.chars().next()),
        is_digit(text.chars().next_back()),
    ) {
        (true, true) => Some((BEFORE, AFTER)),
        (true, false) => Some((BEFORE, ANYTHING)),
        (false, true) => Some((ANYTHING, AFTER)),
        (false, false) => None,
    }
}

/// Whether `part` is in `text`, and not within a longer number.
pub fn contains_plain(text: &str, part: &str) -> bool {
    let Some((before, after)) = around_number(part) else {
        return text.contains(part);
    };
    let whole = |pattern: &str| regex::Regex::new(&format!(r"\A(?:{pattern})\z"));
    let (Ok(before), Ok(after)) = (whole(before), whole(after)) else {
        return false;
    };
    let mut places = text.match_indices(part);
    places.any(|(at, _)| {
        // What stands beside a number is a few characters; a file is long.
        let behind = &text[at + part.len()..];
        let start = text[..at]
            .char_indices()
            .rev()
            .nth(2)
            .map_or(0, |(at, _)| at);
        let end = behind
            .char_indices()
            .nth(3)
            .map_or(behind.len(), |(at, _)| at);
        before.is_match(&text[start..at]) && after.is_match(&behind[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selector::{Dialect, Pattern};

    fn contains(text: &str, part: &str) -> bool {
        let (before, after) = around_number(part).unwrap();
        let pattern = format!("{before}{}{after}", regex::escape(part));
        let pattern = Pattern::new(&pattern, Dialect::Maestro);
        assert_eq!(pattern.note(), None);
        let is_in = pattern.matches(text);
        if text.contains(part) {
            assert_eq!(contains_plain(text, part), is_in, "{part} in {text}");
        }
        is_in
    }

    #[test]
    fn a_plain_text_with_a_digit_at_its_end_is_not_in_a_longer_number() {
        for (text, part) in [
            ("11 tasks left", "1 tasks left"),
            ("1.5", "1"),
            ("1,000", "1"),
            ("1,000", "000"),
            ("1'000 CHF", "1"),
            ("It is -1", "1"),
            ("−1", "1"),
            ("v1.5", "5"),
            ("1\u{202f}234", "234"),
            ("1\u{a0}234 €", "1"),
            ("1\u{2009}234", "234"),
            ("1½", "1"),
            ("1½", "½"),
            ("10²", "10"),
            ("Page 12", "Page 1"),
            ("Total: 1.50", "Total: 1"),
        ] {
            assert!(!contains(text, part), "{part} in {text}");
        }
        for (text, part) in [
            ("You have 1 tasks left, 11 in all", "1 tasks left"),
            ("11 or 1", "1"),
            ("1, 2 and 3.", "3"),
            ("1, 2 and 3.", "1"),
            ("v1.5", "1.5"),
            ("room A-1", "1"),
            ("1-2", "2"),
            ("€5", "5"),
            ("(5)", "5"),
            ("Page 1\nof 20", "page 1"),
            ("11:30", "30"),
            (".5", "5"),
            ("1 234", "234"),
            ("5\u{a0}€", "5"),
            ("Total\u{202f}5", "5"),
            ("1½", "1½"),
        ] {
            assert!(contains(text, part), "{part} in {text}");
        }
    }
}
