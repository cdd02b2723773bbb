//! Placeholders in what a tool source is started and called with: `{host}`, `{port}`. Other
//! braces, `${x}`, `{{x}}` and JSON, are none. Knows nothing of their values.

/// The placeholders there are.
pub const PLACEHOLDERS: [&str; 5] = ["host", "port", "token", "device", "run_dir"];

/// The words in braces of a text, known or not, in their order.
pub(crate) fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, name, tail) = next(rest)?;
        rest = tail;
        Some(name)
    })
}

/// The text with values in place of its placeholders. What has none stays as it is, and values are
/// not searched for more.
pub fn fill_placeholders(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let (mut filled, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, name, tail)) = next(rest) {
        filled += before;
        filled += &value(name).unwrap_or_else(|| format!("{{{name}}}"));
        rest = tail;
    }
    filled + rest
}

/// What stands before the first `{word}`, the word, and what follows.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let is_word = |c: char| c.is_ascii_lowercase() || c == '_';
    text.match_indices('{').find_map(|(at, _)| {
        let (before, inside) = (&text[..at], &text[at + 1..]);
        let (name, tail) = inside.split_at(inside.find(|c| !is_word(c))?);
        let tail = tail.strip_prefix('}')?;
        let is_doubled = before.ends_with('{') && tail.starts_with('}');
        let is_own = !is_doubled && !before.ends_with('$');
        (is_own && !name.is_empty()).then_some((before, name, tail))
    })
}
