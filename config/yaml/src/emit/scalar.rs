//! How to write a scalar so that everybody reads the same.

use crate::value::{Meaning, Scalar, Style};

/// The lines of a scalar that stands behind a key or a dash: one, or a `|` block.
pub(super) fn block(scalar: &Scalar) -> Vec<String> {
    if let Some(word) = untyped(scalar) {
        return vec![word];
    }
    if let Some(lines) = literal(&scalar.text) {
        return lines;
    }
    vec![text(&scalar.text)]
}

/// A scalar between brackets or braces.
pub(super) fn flow(scalar: &Scalar) -> String {
    untyped(scalar).unwrap_or_else(|| flow_text(&scalar.text))
}

/// A key of a block mapping, quoted where it has to be.
pub fn key(key: &str) -> String {
    text(key)
}

/// A key between braces.
pub(super) fn flow_key(key: &str) -> String {
    flow_text(key)
}

/// What must stay without quotes to stay what it is.
fn untyped(scalar: &Scalar) -> Option<String> {
    match scalar.meaning() {
        Meaning::Null => Some("null".to_owned()),
        Meaning::Bool(value) => Some(value.to_string()),
        Meaning::Integer(_) | Meaning::Float(_) => Some(scalar.text.clone()),
        Meaning::Text => None,
    }
}

/// A text on one line: plain, else in single quotes, else in double quotes.
fn text(text: &str) -> String {
    // Which quotes a leading `#` gets does not matter; trails have always had these.
    let double = text.is_empty()
        || text.starts_with('#')
        || !text.chars().all(is_printable)
        || is_ambiguous(text);
    if double {
        double_quoted(text)
    } else if is_plain(text) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

/// Between brackets only the simplest words go without quotes.
fn flow_text(text: &str) -> String {
    let simple = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'));
    if simple && !is_ambiguous(text) {
        text.to_owned()
    } else {
        double_quoted(text)
    }
}

/// A text of several lines as a `|` block; `None` where a block could be misread.
fn literal(text: &str) -> Option<Vec<String>> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    if !body.contains('\n') && body.len() == text.len() {
        return None;
    }
    let readable = !body.is_empty()
        // More than one line break at the end would swallow the empty lines that follow.
        && !body.ends_with('\n')
        // The first line tells the indentation.
        && !body.starts_with([' ', '\t', '\n'])
        && body.split('\n').all(|line| {
            line.chars().all(is_printable) && (line.is_empty() || !line.trim().is_empty())
        });
    if !readable {
        return None;
    }
    let header = if body.len() == text.len() { "|-" } else { "|" };
    Some(
        std::iter::once(header)
            .chain(body.split('\n'))
            .map(str::to_owned)
            .collect(),
    )
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if is_printable(c) => quoted.push(c),
            c if (c as u32) <= 0xff => quoted.push_str(&format!("\\x{:02x}", c as u32)),
            c if (c as u32) <= 0xffff => quoted.push_str(&format!("\\u{:04x}", c as u32)),
            c => quoted.push_str(&format!("\\U{:08x}", c as u32)),
        }
    }
    quoted.push('"');
    quoted
}

/// What may stand in a file as itself: no control characters, no line breaks of other standards,
/// nothing that turns the reading direction around, no byte order mark.
fn is_printable(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a text of printable characters can stand without quotes.
fn is_plain(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_whitespace() || "-?:,[]{}#&*!|>'\"%@`".contains(c))
        && !text.ends_with(|c: char| c.is_whitespace() || c == ':')
        && !text.contains(": ")
        && !text.contains(" #")
}

/// Whether some YAML reader, ours or an old one, takes the plain text for something else.
fn is_ambiguous(text: &str) -> bool {
    let plain = Scalar {
        text: text.to_owned(),
        style: Style::Plain,
    };
    let lower = text.to_ascii_lowercase();
    plain.meaning() != Meaning::Text
        || matches!(lower.as_str(), "yes" | "no" | "on" | "off" | "=" | "<<")
        || looks_like_a_number(&lower)
}

/// Numbers of any YAML version, times and dates: `0x1f`, `1_000`, `7:30`, `2026-11-21`, `.inf`.
fn looks_like_a_number(lower: &str) -> bool {
    let unsigned = lower.strip_prefix(['+', '-']).unwrap_or(lower);
    if matches!(unsigned, ".inf" | ".nan" | "inf" | "nan") {
        return true;
    }
    unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && unsigned.contains(|c: char| c.is_ascii_digit())
        && unsigned
            .chars()
            .all(|c| c.is_ascii_hexdigit() || matches!(c, '.' | '_' | ':' | '-' | '+' | 'x' | 'o'))
}
