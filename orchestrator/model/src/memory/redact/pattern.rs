//! What is looked for in a text: a secret or a part of one, in whatever encoding.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::reading::{Encoded, is_ambiguous};

/// A line of a secret that is at least this long is a secret itself; logs show single lines.
const LINE_BYTES: usize = 8;
/// A secret of fewer characters is hidden only as a word: it cannot be told from ordinary text.
const WORD_CHARS: usize = 4;
/// Base64 of a secret is looked for when this many of its characters say nothing else.
const BASE64_CHARS: usize = 8;

/// Bytes to be found.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    bytes: Vec<u8>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Anywhere,
    /// Not next to letters and digits.
    Word,
    /// The characters of Base64 next to it hold some bits of the secret too.
    Base64,
}

impl Pattern {
    /// What to look for so that a value is hidden.
    pub(super) fn of(value: &str) -> Vec<Self> {
        let kind = match value.chars().count() {
            0..WORD_CHARS => Kind::Word,
            _ => Kind::Anywhere,
        };
        let lines = value.lines().map(str::trim);
        let lines = lines.filter(|line| line.len() >= LINE_BYTES && *line != value);
        let mut patterns = vec![Self {
            bytes: value.into(),
            kind,
        }];
        patterns.extend(lines.map(|line| Self {
            bytes: line.into(),
            kind: Kind::Anywhere,
        }));
        patterns.extend(in_base64(value.as_bytes()));
        patterns
    }

    pub(super) fn first_byte(&self) -> u8 {
        self.bytes.first().copied().unwrap_or_default()
    }

    /// What the pattern covers when it begins at this place, if it does.
    pub(super) fn find_at(&self, text: &[u8], at: usize) -> Option<Range<usize>> {
        let end = self.end_at(text, at)?;
        match self.kind {
            Kind::Anywhere => Some(at..end),
            Kind::Word => is_word(text, at, end).then_some(at..end),
            Kind::Base64 => {
                let is_more = |at: &usize| text.get(*at).is_some_and(|&byte| in_alphabet(byte));
                let start = at.checked_sub(1).filter(is_more).unwrap_or(at);
                Some(start..end + usize::from(is_more(&end)))
            }
        }
    }

    /// Where the pattern ends when it begins at this place: as far as possible.
    fn end_at(&self, text: &[u8], at: usize) -> Option<usize> {
        let (done, at) = self.agreed(text, 0, at);
        match text.get(at) {
            _ if done == self.bytes.len() => Some(at),
            Some(&byte) if is_ambiguous(byte) || matches!(byte, b'"' | b'\r') => {
                self.furthest_end(text, (done, at))
            }
            Some(_) | None => None,
        }
    }

    /// How far pattern and text agree where the text can be read in one way only.
    fn agreed(&self, text: &[u8], mut done: usize, mut at: usize) -> (usize, usize) {
        while let (Some(wanted), Some(byte)) = (self.bytes.get(done), text.get(at))
            && wanted == byte
            && !is_ambiguous(*byte)
        {
            done += 1;
            at += 1;
        }
        (done, at)
    }

    /// The same as [`Self::end_at`], in all the ways the text can be read.
    fn furthest_end(&self, text: &[u8], from: (usize, usize)) -> Option<usize> {
        let encoded = Encoded::new(text);
        let mut furthest = None;
        // Places of the pattern and of the text up to which they agree.
        let mut states = vec![from];
        let mut next = 0;
        while let Some(&(done, at)) = states.get(next) {
            next += 1;
            let (done, at) = self.agreed(text, done, at);
            let rest = &self.bytes[done..];
            if rest.is_empty() {
                furthest = furthest.max(Some(at));
                continue;
            }
            let mut go_on = |state| {
                if !states.contains(&state) {
                    states.push(state);
                }
            };
            for reading in encoded.read(at).iter() {
                if rest.starts_with(reading.bytes()) {
                    go_on((done + reading.bytes().len(), reading.end));
                }
                // Forms end lines with two characters.
                if reading.bytes() == b"\r" && rest.starts_with(b"\n") {
                    go_on((done, reading.end));
                }
            }
            // A shell's word may change its kind of quotes inside.
            if done > 0 && matches!(text.get(at..at + 2), Some(b"'\"" | b"\"'")) {
                go_on((done, at + 2));
            }
        }
        furthest
    }
}

/// Whether neither a letter nor a digit stands beside it. The end of an escape is none.
fn is_word(text: &[u8], start: usize, end: usize) -> bool {
    let (before, after) = (&text[..start], &text[end..]);
    let after = String::from_utf8_lossy(&after[..after.len().min(4)]);
    if after.chars().next().is_some_and(char::is_alphanumeric) {
        return false;
    }
    let tail = String::from_utf8_lossy(&before[before.len().saturating_sub(6)..]);
    let is_escape = |length: usize, opens: &str| {
        let from = tail.len().checked_sub(length);
        from.and_then(|from| tail.get(from..))
            .is_some_and(|tail| tail.starts_with(opens))
    };
    let escapes = [(2, "\\"), (3, "%"), (4, "\\x"), (6, "\\u"), (6, "%u")];
    !tail.ends_with(char::is_alphanumeric)
        || escapes
            .iter()
            .any(|(length, opens)| is_escape(*length, opens))
}

/// The characters of a value's Base64 that no neighbour has a say in, for each place among three
/// bytes at which the value may stand, in both alphabets.
fn in_base64(value: &[u8]) -> Vec<Pattern> {
    let mut patterns = Vec::new();
    for before in 0..3 {
        let text = STANDARD_NO_PAD.encode([&[0; 2][..before], value].concat());
        let from = [0, 2, 3][before];
        let to = (before + value.len()) / 3 * 4 + [0, 1, 2][(before + value.len()) % 3];
        let Some(core) = text.get(from..to).filter(|core| core.len() >= BASE64_CHARS) else {
            continue;
        };
        let for_urls = core.replace('+', "-").replace('/', "_");
        if for_urls != core {
            patterns.push(for_urls);
        }
        patterns.push(core.to_owned());
    }
    let pattern = |text: String| Pattern {
        bytes: text.into(),
        kind: Kind::Base64,
    };
    patterns.into_iter().map(pattern).collect()
}

const fn in_alphabet(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}
