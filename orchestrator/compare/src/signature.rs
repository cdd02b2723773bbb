//! When two failures are the same: the same words, once what differs by nature is taken out of them.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::input::Cell;
use crate::normal::is_actionable;
use crate::words::cut;

/// The longest title, in characters.
const MAX_TITLE: usize = 100;

/// What differs by nature, and what to read instead.
static VARIANCES: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    [
        // 3.2 s, 250ms, 1m 04s
        (
            r"\b\d+(?:\.\d+)?\s?(?:ms|s|sec|seconds?|min|minutes?)\b",
            "<time>",
        ),
        (r"\b0x[0-9a-fA-F]+\b", "<address>"),
        (
            r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
            "<id>",
        ),
        (r"\b(?:localhost|\d{1,3}(?:\.\d{1,3}){3}):\d+\b", "<host>"),
        // (12, 340), [0,63][1080,210]
        (r"[(\[]-?\d+(?:\.\d+)?,\s?-?\d+(?:\.\d+)?[)\]]", "<point>"),
        (r"\bref(?:erence)? [a-z]+\d+\b", "<ref>"),
        (r"\s+", " "),
    ]
    .into_iter()
    .filter_map(|(pattern, instead)| Some((Regex::new(pattern).ok()?, instead)))
    .collect()
});

/// A number, with the word before it that makes it a fact: `status 404` and `status 500` are two.
static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let facts = r"(?:status|(?:close|error|exit|status|with) code):? ";
    Regex::new(&format!(
        r"(?i)\b(?:({facts})\d{{1,5}}(?:\.\d+)?|\d+(?:\.\d+)?)\b"
    ))
    .ok()
});

/// A message without what differs by nature: the device, the cell's own values, times, numbers.
pub(crate) fn of(message: &str, cell: &Cell) -> String {
    let device = cell.device.as_str();
    let name = device.rsplit('/').next().unwrap_or_default();
    let mut text = without_name(&without_name(message, device), name);
    for (axis, value) in &cell.values {
        if value.len() >= 4 {
            text = replace_word(&text, value, &format!("<{axis}>"));
        }
    }
    let text = without_variances(text);
    let Some(number) = &*NUMBER else { return text };
    let instead = |found: &Captures<'_>| match found.get(1) {
        Some(_) => found[0].to_owned(),
        None => "<number>".to_owned(),
    };
    number.replace_all(&text, instead).into_owned()
}

/// A text without what differs by nature: times, addresses, ids, hosts, points, references.
pub fn without_variances(text: String) -> String {
    VARIANCES.iter().fold(text, |text, (pattern, instead)| {
        match pattern.replace_all(&text, *instead) {
            Cow::Borrowed(_) => text,
            Cow::Owned(changed) => changed,
        }
    })
}

/// A text without a device's name.
pub fn without_name(text: &str, name: &str) -> String {
    replace_word(text, name, "<device>")
}

/// A text with something else for a word, where that is not part of a longer one: a device called `a`
/// must not eat letters.
pub(crate) fn replace_word(text: &str, word: &str, instead: &str) -> String {
    if word.is_empty() {
        return text.to_owned();
    }
    let part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    // What does not begin or end like a word needs no boundary there.
    let (first, last) = (word.chars().next(), word.chars().next_back());
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = None;
    while let Some(start) = rest.find(word) {
        let end = start + word.len();
        let left = rest[..start].chars().next_back().or(before);
        let inside = part(first) && part(left) || part(last) && part(rest[end..].chars().next());
        result.push_str(&rest[..start]);
        result.push_str(if inside { word } else { instead });
        before = last;
        rest = &rest[end..];
    }
    result.push_str(rest);
    result
}

/// A title out of a message: what is the matter with an element when it says so, else its first line.
/// With whether it names an element.
pub(crate) fn title(message: &str) -> (String, bool) {
    let mut lines = message.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    if let Some((element, rest)) = only_element(line) {
        // `link "Reports" is there, but hidden by CSS`
        if let Some((_, why)) = rest.split_once("there, but ") {
            let why = why.split([';', '(', '\n']).next().unwrap_or_default();
            let why = why.trim_end_matches(['.', ' ']);
            let title = format!("{element} is {why}");
            return (cut(&title, MAX_TITLE).into_owned(), true);
        }
        // `link "Reports" is hidden by CSS`
        let clause = rest.split([';', ',', '(', ':']).next();
        let clause = clause.unwrap_or_default().trim();
        if clause.starts_with("is ") && clause.chars().count() < 40 {
            return (format!("{element} {}", clause.trim_end_matches('.')), true);
        }
        let words = [
            ("disabled", "is disabled"),
            ("hidden", "is hidden"),
            ("not visible", "is not visible"),
            ("covered", "is covered"),
            ("no element", "is missing"),
            ("no visible element", "is missing"),
            ("not found", "is missing"),
            ("not on the screen", "is missing"),
            ("matches nothing", "is missing"),
        ];
        let lower = line.to_lowercase();
        if let Some((_, what)) = words.iter().find(|(word, _)| lower.contains(word)) {
            return (format!("{element} {what}"), true);
        }
    }
    match line {
        "" => ("Failed without a message".to_owned(), false),
        line => (cut(line, MAX_TITLE).into_owned(), false),
    }
}

/// What stands in quotes, when only one thing does, with its role, and what is said behind it.
fn only_element(line: &str) -> Option<(String, &str)> {
    let mut parts = line.split('"');
    let (before, quoted, rest) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || quoted.is_empty() {
        return None;
    }
    let role = before.split_whitespace().next_back().unwrap_or_default();
    let others = [
        "heading", "dialog", "image", "text", "listitem", "cell", "row",
    ];
    let is_role = is_actionable(role) || others.contains(&role);
    let (role, space) = if is_role { (role, " ") } else { ("", "") };
    Some((format!("{role}{space}\"{quoted}\""), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(device: &str) -> Cell {
        Cell {
            device: device.to_owned(),
            ..Cell::default()
        }
    }

    #[test]
    fn what_differs_by_nature_makes_no_two_failures_of_one() {
        let one = "`pixel-1`: nothing at 127.0.0.1:5037 after 5.0 s, tapped (12, 340), 3 of 9";
        let other = "`pixel-2`: nothing at localhost:40001 after 5120ms, tapped (8, 2), 4 of 9";
        let one = of(one, &cell("android/pixel-1"));
        assert_eq!(one, of(other, &cell("android/pixel-2")));
        assert!(one.starts_with("`<device>`: nothing at <host> after <time>"));
    }

    #[test]
    fn statuses_and_exit_codes_tell_failures_apart() {
        for (one, other) in [
            ("status 404", "status 500"),
            ("exit code 1", "exit code 127"),
            ("closed with code 1006", "closed with code 1011"),
            ("error code: 11003", "error code: 11004"),
            ("status 404.13", "status 404.14"),
        ] {
            assert_ne!(of(one, &cell("a")), of(other, &cell("a")));
            assert_eq!(without_variances(one.to_owned()), one);
        }
        for typed in [
            ["enter code 482913", "enter code 118204"],
            ["code 482", "code 118"],
        ] {
            assert_eq!(of(typed[0], &cell("a")), of(typed[1], &cell("a")));
        }
    }
}
