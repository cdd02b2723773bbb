//! Text patterns: a regular expression that must match the whole text, or else the very text.
//!
//! Patterns come from trail files, so nothing here may eat memory or time: the size of a
//! compiled pattern is limited, look-around runs under a limit of steps, and a pattern that
//! cannot be used stands for its own text and says so in a note. Plain text, which most
//! patterns are, needs no regular expression at all.
//!
//! The `regex` crate runs everything it can, in linear time. Look-around, back-references and
//! possessive parts go to `fancy-regex`, which shares its automata and adds two small crates:
//! `^(?!.*Loading).*$` is how trails say "anything but".

use std::sync::atomic::{AtomicU32, Ordering};

use super::java;

/// Longest pattern that is read as a regular expression, in bytes.
const MAX_LENGTH: usize = 10_000;
/// Largest compiled automaton, in bytes.
const MAX_SIZE: usize = 4 << 20;
/// Deepest nesting of groups.
const MAX_NESTING: u32 = 60;
/// Steps back before a backtracking pattern gives up on one text.
const MAX_STEPS: usize = 20_000;
/// Texts a pattern may give up on before it is not tried any more.
const MAX_SURRENDERS: u32 = 10;

/// How a pattern is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Case-sensitive, `.` stops at line ends. What is not a regular expression is compared as text.
    Native,
    /// Ignores case, `.` crosses line ends, `^` and `$` match at them. What is not a regular
    /// expression is compared as text, ignoring case.
    Maestro,
}

/// A pattern, compiled once.
#[derive(Debug)]
pub struct Pattern {
    source: String,
    matcher: Matcher,
    /// Why the pattern is compared as text, when it was not meant so.
    note: Option<String>,
    surrenders: AtomicU32,
}

#[derive(Debug)]
enum Matcher {
    Text(String),
    TextIgnoringCase(String),
    Linear(Box<regex::Regex>),
    Backtracking(Box<fancy_regex::Regex>),
    /// Only the pattern's own text.
    Nothing,
}

impl Pattern {
    /// Compiles a pattern. Never fails: what cannot be compiled stands for its own text.
    pub fn new(source: &str, dialect: Dialect) -> Self {
        let (matcher, note) = match Matcher::compile(source, dialect) {
            Ok(matcher) => (matcher, None),
            Err(reason) => {
                let matcher = match dialect {
                    Dialect::Native => Matcher::Nothing,
                    Dialect::Maestro => Matcher::TextIgnoringCase(source.to_owned()),
                };
                (matcher, Some(reason))
            }
        };
        Self {
            source: source.to_owned(),
            matcher,
            note,
            surrenders: AtomicU32::new(0),
        }
    }

    /// The pattern as written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether the whole of `text` matches, or is the pattern's own text.
    pub fn matches(&self, text: &str) -> bool {
        let matched = match &self.matcher {
            Matcher::Text(literal) => text == literal,
            Matcher::TextIgnoringCase(literal) => equal_ignoring_case(literal, text),
            Matcher::Linear(regex) => regex.is_match(text),
            Matcher::Backtracking(regex) => self.backtrack(regex, text),
            Matcher::Nothing => false,
        };
        matched || text == self.source
    }

    /// What a reader should know: why it is compared as text, or that it was too hard to match.
    pub fn note(&self) -> Option<String> {
        if let Some(reason) = &self.note {
            return Some(format!(
                "`{}` is compared as plain text, not as a pattern: {reason}",
                self.source
            ));
        }
        let texts = self.surrenders.load(Ordering::Relaxed);
        (texts > 0).then(|| {
            format!(
                "`{}` takes too many steps to match; it gave up on {texts} texts and counts as \
                 not matching them",
                self.source
            )
        })
    }

    /// The words in the pattern, without its operators: what a person had in mind.
    pub(super) fn words(&self) -> String {
        match &self.matcher {
            Matcher::Text(literal) | Matcher::TextIgnoringCase(literal) => literal.clone(),
            Matcher::Linear(_) | Matcher::Backtracking(_) => self
                .source
                .replace(r"\Q", "")
                .replace(r"\E", "")
                .replace(r"(?i)", "")
                .replace(r"(?s)", "")
                .replace(|c| r"\^$.|?*+()[]{}".contains(c), ""),
            Matcher::Nothing => self.source.clone(),
        }
    }

    fn backtrack(&self, regex: &fancy_regex::Regex, text: &str) -> bool {
        if self.surrenders.load(Ordering::Relaxed) >= MAX_SURRENDERS {
            return false;
        }
        regex.is_match(text).unwrap_or_else(|_| {
            self.surrenders.fetch_add(1, Ordering::Relaxed);
            false
        })
    }
}

impl Matcher {
    fn compile(source: &str, dialect: Dialect) -> Result<Self, String> {
        if source.len() > MAX_LENGTH {
            return Err(format!("it is longer than {MAX_LENGTH} bytes"));
        }
        let java = java::translate(source)?;
        let maestro = dialect == Dialect::Maestro;
        if let Some(literal) = java.literal {
            return Ok(if maestro {
                Self::TextIgnoringCase(literal)
            } else {
                Self::Text(literal)
            });
        }
        let whole = format!(r"\A(?:{})\z", java.regex);
        if java.backtracks {
            fancy_regex::RegexBuilder::new(&whole)
                .case_insensitive(maestro)
                .dot_matches_new_line(maestro)
                .multi_line(maestro)
                .crlf(true)
                .backtrack_limit(MAX_STEPS)
                .max_prog_size(MAX_SIZE / 64)
                .delegate_size_limit(MAX_SIZE)
                .delegate_dfa_size_limit(MAX_SIZE)
                .build()
                .map(|regex| Self::Backtracking(Box::new(regex)))
                .map_err(|error| one_line(&error.to_string()))
        } else {
            regex::RegexBuilder::new(&whole)
                .case_insensitive(maestro)
                .dot_matches_new_line(maestro)
                .multi_line(maestro)
                // Java's `.` stops at a carriage return too.
                .crlf(true)
                .size_limit(MAX_SIZE)
                .dfa_size_limit(MAX_SIZE)
                .nest_limit(MAX_NESTING)
                .build()
                .map(|regex| Self::Linear(Box::new(regex)))
                .map_err(|error| one_line(&error.to_string()))
        }
    }
}

/// The last line of an error, where the regex crates say what is wrong.
fn one_line(error: &str) -> String {
    let line = error.lines().last().unwrap_or_default();
    line.trim().trim_start_matches("error: ").to_owned()
}

/// Java's comparison of two characters without case: upper, then lower, one for one.
fn equal_ignoring_case(one: &str, other: &str) -> bool {
    if one.is_ascii() && other.is_ascii() {
        return one.eq_ignore_ascii_case(other);
    }
    one.chars().map(fold).eq(other.chars().map(fold))
}

fn fold(c: char) -> char {
    let upper = single(c.to_uppercase()).unwrap_or(c);
    single(upper.to_lowercase()).unwrap_or(upper)
}

fn single(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let only = chars.next();
    if chars.next().is_some() { None } else { only }
}
