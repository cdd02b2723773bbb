//! Takes secrets out of texts, in whatever way a browser, a shell or JSON writes them.

mod pattern;
mod reading;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::ops::Range;

use self::pattern::Pattern;
use self::reading::{Encoded, is_ambiguous};
use crate::yaml::Value;

/// Knows every value that must not be shown and puts the template of its name in its place.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Redactor {
    hidden: Vec<Hidden>,
    /// Where in `hidden` the patterns are that begin with a byte, in the order of the bytes.
    starts: Vec<(u8, usize, usize)>,
    /// Bytes at which there may be one.
    begins: Bytes,
}

/// A set of bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Bytes([u64; 4]);

impl Bytes {
    const fn add(&mut self, byte: u8) {
        self.0[(byte >> 6) as usize] |= 1 << (byte & 63);
    }

    const fn contains(self, byte: u8) -> bool {
        self.0[(byte >> 6) as usize] & (1 << (byte & 63)) != 0
    }
}

#[derive(Clone, PartialEq, Eq)]
struct Hidden {
    name: String,
    value: String,
    patterns: Vec<Pattern>,
}

impl Redactor {
    /// Hides a value from now on. An empty one cannot be hidden.
    pub fn hide(&mut self, name: &str, value: &str) {
        let known = |hidden: &Hidden| hidden.name == name && hidden.value == value;
        if value.is_empty() || self.hidden.iter().any(known) {
            return;
        }
        let patterns = Pattern::of(value);
        for (place, pattern) in patterns.iter().enumerate() {
            let start = (pattern.first_byte(), self.hidden.len(), place);
            let at = self.starts.partition_point(|known| *known < start);
            self.starts.insert(at, start);
            self.begins.add(pattern.first_byte());
        }
        (0..=u8::MAX)
            .filter(|byte| is_ambiguous(*byte))
            .for_each(|byte| self.begins.add(byte));
        self.hidden.push(Hidden {
            name: name.to_owned(),
            value: value.to_owned(),
            patterns,
        });
    }

    /// What hides these names and values.
    pub fn of(secrets: &[(String, String)]) -> Self {
        let mut redactor = Self::default();
        for (name, value) in secrets {
            redactor.hide(name, value);
        }
        redactor
    }

    /// Takes the secrets out of texts where they are.
    pub fn redact_all<'t>(&self, texts: impl IntoIterator<Item = &'t mut String>) {
        for text in texts {
            if let Cow::Owned(redacted) = self.redact(text) {
                *text = redacted;
            }
        }
    }

    /// Whether nothing is hidden.
    pub const fn is_empty(&self) -> bool {
        self.hidden.is_empty()
    }

    /// The text with each secret in it replaced by its template: `{{password}}`. Where secrets
    /// overlap, all they cover goes. A template that stands for a secret already stays as it is,
    /// so that doing it twice changes nothing.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let covered = self.covered(text);
        if covered.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut redacted = String::with_capacity(text.len());
        let mut end = 0;
        for (range, name) in covered {
            redacted.push_str(&text[end..range.start]);
            redacted.push_str(&template(name));
            end = range.end;
        }
        redacted.push_str(&text[end..]);
        Cow::Owned(redacted)
    }

    /// What a file holds, with every secret in it replaced; as it is when nothing is hidden.
    pub fn redact_file(&self, bytes: Vec<u8>) -> Vec<u8> {
        if self.is_empty() {
            return bytes;
        }
        let text = String::from_utf8_lossy(&bytes);
        self.redact(&text).into_owned().into_bytes()
    }

    /// The JSON with every secret in it replaced, in keys and numbers too.
    pub fn redact_json(&self, json: &serde_json::Value) -> serde_json::Value {
        match json {
            serde_json::Value::String(text) => self.redact(text).into(),
            serde_json::Value::Number(number) => match self.redact(&number.to_string()) {
                Cow::Borrowed(_) => json.clone(),
                Cow::Owned(text) => text.into(),
            },
            serde_json::Value::Array(items) => {
                items.iter().map(|item| self.redact_json(item)).collect()
            }
            serde_json::Value::Object(fields) => fields
                .iter()
                .map(|(key, value)| (self.redact(key).into_owned(), self.redact_json(value)))
                .collect(),
            serde_json::Value::Null | serde_json::Value::Bool(_) => json.clone(),
        }
    }

    /// The value with every secret in it replaced: arguments as a recording may keep them. Keys
    /// stay; tools name them, not people.
    pub fn redact_value(&self, value: &Value) -> Value {
        let redacted = value.try_map::<Infallible>(&mut |_, scalar, _| {
            Ok(match self.redact(&scalar.text) {
                Cow::Borrowed(_) => None,
                Cow::Owned(text) => Some(Value::text(text)),
            })
        });
        match redacted {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// The stretches that hold secrets, in order, apart from each other, each with the name of the
    /// secret that begins it.
    fn covered(&self, text: &str) -> Vec<(Range<usize>, &str)> {
        let mut found = self.found(text.as_bytes());
        if found.is_empty() {
            return found;
        }
        let templates: Vec<Range<usize>> = self
            .hidden
            .iter()
            .map(|hidden| template(&hidden.name))
            .flat_map(|template| matches(text, &template).collect::<Vec<_>>())
            .collect();
        let is_done = |range: &Range<usize>| {
            templates
                .iter()
                .any(|done| done.start <= range.start && range.end <= done.end)
        };
        found.retain(|(range, _)| !is_done(range));
        found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        let mut covered: Vec<(Range<usize>, &str)> = Vec::with_capacity(found.len());
        for (range, name) in found {
            match covered.last_mut() {
                Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
                Some(_) | None => covered.push((range, name)),
            }
        }
        covered
    }

    /// Everything that is found, in whatever order, with the names of the secrets.
    fn found(&self, text: &[u8]) -> Vec<(Range<usize>, &str)> {
        let mut found = Vec::new();
        if self.is_empty() {
            return found;
        }
        for (at, &byte) in text.iter().enumerate() {
            if !self.begins.contains(byte) {
                continue;
            }
            if !is_ambiguous(byte) {
                self.find_at(text, at, byte, &mut found);
                continue;
            }
            let mut seen = Bytes::default();
            for reading in Encoded::new(text).read(at).iter() {
                let first = reading.bytes()[0];
                if self.begins.contains(first) && !seen.contains(first) {
                    seen.add(first);
                    self.find_at(text, at, first, &mut found);
                }
            }
        }
        found
    }

    /// Whatever begins at a place where `first` can be read.
    fn find_at<'a>(
        &'a self,
        text: &[u8],
        at: usize,
        first: u8,
        found: &mut Vec<(Range<usize>, &'a str)>,
    ) {
        let from = self.starts.partition_point(|(byte, ..)| *byte < first);
        let starts = self.starts[from..].iter();
        for (_, hidden, pattern) in starts.take_while(|(byte, ..)| *byte == first) {
            let hidden = &self.hidden[*hidden];
            if let Some(range) = hidden.patterns[*pattern].find_at(text, at) {
                found.push((range, hidden.name.as_str()));
            }
        }
    }
}

/// All places of a word in a text, those that overlap too.
fn matches<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text[from..].find(word)?;
        from = start + text[start..].chars().next().map_or(1, char::len_utf8);
        Some(start..start + word.len())
    })
}

fn template(name: &str) -> String {
    format!("{{{{{name}}}}}")
}

/// Names only.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.hidden.iter().map(|hidden| &hidden.name))
            .finish()
    }
}
