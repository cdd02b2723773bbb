//! Numbers and foreign texts as words.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

/// `1 device`, `3 devices`.
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Cuts a text to a number of characters, with `…` in place of what is missing.
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.chars().count() <= most {
        return Cow::Borrowed(text);
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    Cow::Owned(format!("{}…", kept.trim_end()))
}

/// Milliseconds as `3.2 s`.
pub(crate) fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1_000, ms % 1_000 / 100)
}

/// So many of the first bytes of a SHA-256, in hex digits.
pub(crate) fn digest(content: impl AsRef<[u8]>, bytes: usize) -> String {
    let hash = Sha256::digest(content);
    let bytes = hash.iter().take(bytes);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}
