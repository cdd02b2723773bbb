//! Errors in words people use, and what they may have meant.

use serde_saphyr::Error;

use crate::layer::settings;

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
pub(crate) fn words(error: &Error) -> (String, Option<String>) {
    match error {
        Error::SerdeUnknownField {
            field, expected, ..
        } => (
            format!("unknown key `{field}`"),
            unknown_key(field, expected),
        ),
        Error::SerdeUnknownVariant {
            variant, expected, ..
        } => (
            format!("`{variant}` is not one of {}", expected.join(", ")),
            nearest(variant, expected.iter().copied())
                .map(|word| format!("did you mean `{word}`?")),
        ),
        Error::SerdeMissingField { field, .. } => (format!("`{field}` is missing"), None),
        Error::DuplicateMappingKey { key: name, .. } => {
            let name = name.as_deref().unwrap_or("a key");
            (
                format!("`{name}` is there twice"),
                Some("keep one of them".into()),
            )
        }
        Error::InvalidScalar { ty, .. } => (format!("expected {}", scalar(ty)), None),
        Error::InvalidBooleanStrict { .. } => ("expected true or false".into(), None),
        Error::NullIntoString { .. } => ("expected a text".into(), None),
        Error::Unexpected { expected, .. } => (format!("expected {}", kind(expected)), None),
        Error::Message { msg, .. } => (msg.clone(), None),
        Error::AliasError { error, .. } => words(error),
        other => {
            let text = other.to_string();
            let place = text.rfind(" at line ").unwrap_or(text.len());
            (text[..place].to_owned(), None)
        }
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
    (!expected.is_empty()).then(|| format!("known keys here: {}", expected.join(", ")))
}

fn scalar(ty: &str) -> &'static str {
    match ty {
        "boolean" => "true or false",
        "floating point" => "a number",
        _ if ty.starts_with('u') => "a whole number, 0 or more",
        _ if ty.starts_with('i') => "a whole number",
        _ => "another value",
    }
}

fn kind(expected: &str) -> &str {
    match expected {
        "string scalar" | "string" => "a text",
        "sequence start" => "a list",
        "mapping start" => "keys and values",
        other => other,
    }
}
