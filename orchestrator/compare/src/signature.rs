//! When two failures are the same: the same words, once what differs by nature is taken out of them.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::input::Cell;

/// The longest title, in characters.
const MAX_TITLE: usize = 100;

/// What differs by nature, and what to read instead.
static VARY: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    [
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
        (r"[(\[]-?\d+(?:\.\d+)?,\s?-?\d+(?:\.\d+)?[)\]]", "<point>"),
        (r"\bref(?:erence)? [a-z]+\d+\b", "<ref>"),
        (r"\b\d+(?:\.\d+)?\b", "<number>"),
        (r"\s+", " "),
    ]
    .into_iter()
    .filter_map(|(pattern, instead)| Some((Regex::new(pattern).ok()?, instead)))
    .collect()
});

/// A message without what differs by nature: the device, the cell's own values, times, numbers.
pub(crate) fn of(message: &str, cell: &Cell) -> String {
    let mut text = message.to_owned();
    let device = cell.device.as_str();
    let name = device.rsplit('/').next().unwrap_or_default();
    for word in [device, name] {
        // A device called `a` must not eat letters.
        if word.len() >= 3 {
            text = text.replace(word, "<device>");
        }
    }
    for (axis, value) in &cell.values {
        if value.len() >= 4 {
            text = text.replace(value.as_str(), &format!("<{axis}>"));
        }
    }
    VARY.iter().fold(text, |text, (pattern, instead)| {
        match pattern.replace_all(&text, *instead) {
            Cow::Borrowed(_) => text,
            Cow::Owned(changed) => changed,
        }
    })
}

/// A title out of a message: what is the matter with an element when it says so, else its first line.
pub(crate) fn title(message: &str) -> String {
    let line = message
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
        .trim();
    let words = [
        ("disabled", "is disabled"),
        ("hidden", "is hidden"),
        ("not visible", "is hidden"),
        ("covered", "is covered"),
        ("no element", "is missing"),
        ("no visible element", "is missing"),
        ("not found", "is missing"),
        ("matches nothing", "is missing"),
    ];
    let lower = line.to_lowercase();
    let said = words.iter().find(|(word, _)| lower.contains(word));
    if let (Some((_, what)), Some(name)) = (said, only_quoted(line)) {
        return format!("\"{name}\" {what}");
    }
    if line.is_empty() {
        return "Failed without a message".to_owned();
    }
    if line.chars().count() <= MAX_TITLE {
        return line.to_owned();
    }
    let cut: String = line.chars().take(MAX_TITLE - 1).collect();
    format!("{}…", cut.trim_end())
}

/// What stands in quotes, when only one thing does.
fn only_quoted(line: &str) -> Option<&str> {
    let mut parts = line.split('"');
    let (_, quoted, _) = (parts.next()?, parts.next()?, parts.next()?);
    (parts.next().is_none() && !quoted.is_empty()).then_some(quoted)
}
