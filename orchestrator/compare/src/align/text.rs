//! Texts without what differs by nature: dates, times, amounts, numbers, and what a trail remembers.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::signature;

/// How texts of one session are read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Texts {
    /// Values a trail remembers, with their names; the longest first.
    memory: Vec<(String, String)>,
}

/// Values shorter than this occur by accident.
const SHORTEST_VALUE: usize = 3;

/// What engines call a request that came to nothing; pages show it.
const NETWORK: [&str; 3] = [
    "NetworkError when attempting to fetch resource.",
    "Failed to fetch",
    "Load failed",
];

const CURRENCIES: &str = r"[$€£¥₹]|\b(?:EUR|USD|GBP|CHF|JPY|kr)\b";

static CLASSES: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let amount =
        format!(r"(?:{CURRENCIES})[\s\u{{a0}}]?\d[\d.,']*|\d[\d.,']*[\s\u{{a0}}]?(?:{CURRENCIES})");
    [
        (r"\d{1,4}([-./])\d{1,2}[-./]\d{1,4}", "<date>"),
        (
            r"\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp]\.?[Mm]\b\.?)?",
            "<time>",
        ),
        (amount.as_str(), "<amount>"),
        (r"\d+(?:[.,]\d+)*", "<number>"),
    ]
    .into_iter()
    .filter_map(|(pattern, class)| Some((Regex::new(pattern).ok()?, class)))
    .collect()
});

impl Texts {
    /// Reads texts of a session that remembers these values, given by name.
    pub fn new(memory: &[(String, String)]) -> Self {
        // What a cell is configured with is in its values, and `light` is in many texts.
        let told = memory.iter().filter(|(name, value)| {
            !name.starts_with("axis.") && value.chars().count() >= SHORTEST_VALUE
        });
        let told = told.map(|(name, value)| (value.clone(), format!("<{name}>")));
        let mut memory: Vec<(String, String)> = told.collect();
        memory.sort_by(|(one, a), (other, b)| other.len().cmp(&one.len()).then(a.cmp(b)));
        Self { memory }
    }

    /// A text with names for what the session remembers, where that is not a part of a longer word.
    pub fn without_memory(&self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        for (value, name) in &self.memory {
            if text.contains(value.as_str()) {
                text = signature::replace_word(&text, value, name).into();
            }
        }
        text.into_owned()
    }

    /// A text with names for what the session remembers and for dates and times: what it says within
    /// one language.
    pub fn exact(&self, text: &str) -> String {
        self.classed(text, 2)
    }

    /// A text with classes for what differs by nature.
    pub fn normal(&self, text: &str) -> String {
        self.classed(text, CLASSES.len())
    }

    fn classed(&self, text: &str, classes: usize) -> String {
        // Marks of direction and glyphs of icon fonts are not words.
        let is_mark = |c: char| {
            matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
                | '\u{e000}'..='\u{f8ff}' | '\u{feff}')
        };
        let mut text = Cow::Borrowed(text);
        if text.contains(is_mark) {
            let words = text.replace(is_mark, " ");
            text = Cow::Owned(words.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        for words in NETWORK {
            if text.contains(words) {
                text = Cow::Owned(text.replace(words, "<network error>"));
            }
        }
        text = Cow::Owned(self.without_memory(&text));
        if !text.contains(|c: char| c.is_ascii_digit()) {
            return text.into_owned();
        }
        for (class, name) in CLASSES.iter().take(classes) {
            if let Cow::Owned(changed) = class.replace_all(&text, *name) {
                text = changed.into();
            }
        }
        text.into_owned()
    }
}

/// Whether a text has words that can be translated.
pub(crate) fn has_words(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    letters >= 3 && text.chars().any(char::is_lowercase)
}

/// Whether a key stands where a text belongs: `cart.empty.title`, `{0} items`, `%1$s`.
pub(crate) fn is_raw_key(text: &str) -> bool {
    static KEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"^[a-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*[A-Za-z_][A-Za-z0-9_-]*){2,}$|\{\{?\s*[A-Za-z0-9_.]+\s*\}\}?|%(?:\d+\$)?[sd@]",
        )
        .ok()
    });
    KEY.as_ref().is_some_and(|key| key.is_match(text))
}
