//! Errors in words people use, and what they may have meant.

use crate::layer::settings;
use crate::node::Wrong;

/// How alike two words must be to be suggested, from 0 to 1.
const ALIKE: f64 = 0.6;

/// The word most like `wanted`, if any is alike.
pub(crate) fn nearest<'a>(
    wanted: &str,
    words: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let wanted = wanted.to_lowercase();
    words
        .into_iter()
        .map(|word| (strsim::jaro_winkler(&wanted, &word.to_lowercase()), word))
        .filter(|(likeness, word)| {
            *likeness >= ALIKE
                && strsim::levenshtein(&wanted, &word.to_lowercase()) <= 1 + wanted.len() / 3
        })
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, word)| word)
}

/// What is wrong and what to do about it.
pub(crate) fn words(wrong: &Wrong) -> (String, Option<String>) {
    match wrong {
        Wrong::Kind(kind) => (format!("expected {kind}"), None),
        Wrong::UnknownKey(key, known) => (format!("unknown key `{key}`"), unknown_key(key, known)),
        Wrong::UnknownWord(word, known) => (
            format!("`{word}` is not one of {}", known.join(", ")),
            nearest(word, known.iter().copied()).map(|word| format!("did you mean `{word}`?")),
        ),
        Wrong::MissingKey(key) => (format!("`{key}` is missing"), None),
        Wrong::RepeatedKey(key) => (
            format!("duplicate key `{key}`"),
            Some("remove one of them".into()),
        ),
        Wrong::Other(words) => (words.clone(), None),
    }
}

fn unknown_key(field: &str, expected: &[&'static str]) -> Option<String> {
    if let Some(word) = nearest(field, expected.iter().copied()) {
        return Some(format!("did you mean `{word}`?"));
    }
    let elsewhere: Vec<String> = settings()
        .into_iter()
        .filter(|setting| setting.key.parts().last().is_some_and(|name| name == field))
        .filter_map(|setting| setting.key.parent())
        .map(|parent| {
            format!("`{parent}`")
                .replace('*', "<name>")
                .replace(".#", "[]")
        })
        .collect();
    if !elsewhere.is_empty() {
        return Some(format!("`{field}` belongs in {}", elsewhere.join(" or ")));
    }
    (!expected.is_empty()).then(|| format!("known keys: {}", expected.join(", ")))
}
