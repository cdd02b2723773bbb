//! Reads requirements.

use std::fmt;

use packtrain_model::suggest;

use super::version::Version;
use super::{Attribute, Comparison, Condition, DEEPEST, LONGEST, Value};

/// Why a text is not a requirement. All of these are the writer's to mend.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequirementError {
    /// It is longer than [`LONGEST`]: it has so many characters.
    #[error("a requirement takes {LONGEST} characters at most, this one has {0}")]
    TooLong(usize),
    /// Its parentheses and `!` nest deeper than [`DEEPEST`].
    #[error("`{}` nests deeper than {DEEPEST} at column {}", .0.text, .0.column)]
    TooDeep(Place),
    /// Something else than what could stand there stands where it cannot be read.
    #[error("expected {1}, found {2} at {0}")]
    Syntax(Place, &'static str, String),
    /// It asks about something that devices do not have; with what was probably meant.
    #[error(
        "unknown attribute `{}` at {}: {}there are {}, and `label=<key>:<value>`",
        .1, .0,
        .2.map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default(),
        Attribute::NAMED.map(|(name, _)| name).join(", ")
    )]
    UnknownAttribute(Place, String, Option<&'static str>),
    /// The comparison does not go with the attribute.
    #[error("`{1}` has no order at {0}: use `=`, `!=` or `~`")]
    NoOrder(Place, String),
}

/// A place in a requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The whole text.
    text: String,
    /// In characters from 1.
    column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {} of `{}`", self.column, self.text)
    }
}

/// Writes a word or value, in quotes when it would not be read as one without.
pub(super) fn write_value(f: &mut fmt::Formatter<'_>, text: &str, is_pattern: bool) -> fmt::Result {
    let is_plain = !text.is_empty()
        && text != "*"
        && text.chars().all(is_of_word)
        && (is_pattern || !text.contains(['*', '?']));
    if is_plain {
        f.write_str(text)
    } else {
        write_quoted(f, text)
    }
}

/// Writes a label's key, in quotes when it would be taken for an attribute without.
pub(super) fn write_key(f: &mut fmt::Formatter<'_>, key: &str) -> fmt::Result {
    if Attribute::named(key).is_some() || slip(key).is_some() {
        write_quoted(f, key)
    } else {
        write_value(f, key, false)
    }
}

/// The attribute that was probably meant. Short words are close to everything: `lab` is not a `label`.
fn slip(word: &str) -> Option<&'static str> {
    const SHORTEST: usize = 5;
    let names = Attribute::NAMED.map(|(name, _)| name);
    suggest::closest(word, names).filter(|_| word.chars().count() >= SHORTEST)
}

fn write_quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            f.write_str("\\")?;
        }
        write!(f, "{c}")?;
    }
    f.write_str("\"")
}

fn is_of_word(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !"&|!()=<>~\"\\,".contains(c)
}

pub(super) fn parse(text: &str) -> Result<Condition, RequirementError> {
    let characters = text.chars().count();
    if characters > LONGEST {
        return Err(RequirementError::TooLong(characters));
    }
    let mut parser = Parser {
        text,
        characters: text.chars().collect(),
        at: 0,
        depth: 0,
    };
    parser.skip_space();
    if parser.peek().is_none() {
        return Ok(Condition::Anything);
    }
    let condition = parser.either()?;
    match parser.peek() {
        None => Ok(condition),
        Some(_) => Err(parser.expected("`&`, `|` or the end")),
    }
}

struct Parser<'a> {
    text: &'a str,
    characters: Vec<char>,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    /// Takes a sign, and the space after it. Doubled signs are what programmers write.
    fn take(&mut self, sign: char) -> bool {
        let is_there = self.peek() == Some(sign);
        if is_there {
            self.at += 1;
            if matches!(sign, '&' | '|') && self.peek() == Some(sign) {
                self.at += 1;
            }
            self.skip_space();
        }
        is_there
    }

    fn either(&mut self) -> Result<Condition, RequirementError> {
        let mut parts = Vec::new();
        loop {
            match self.every()? {
                Condition::Either(inner) => parts.extend(inner),
                part => parts.push(part),
            }
            if !self.take('|') {
                return Ok(single_or(parts, Condition::Either));
            }
        }
    }

    fn every(&mut self) -> Result<Condition, RequirementError> {
        let mut parts = Vec::new();
        loop {
            match self.one()? {
                Condition::Every(inner) => parts.extend(inner),
                part => parts.push(part),
            }
            if !self.take('&') {
                return Ok(single_or(parts, Condition::Every));
            }
        }
    }

    fn one(&mut self) -> Result<Condition, RequirementError> {
        let began = self.at;
        let is_not = self.peek() == Some('!');
        if !is_not && self.peek() != Some('(') {
            return self.term();
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(RequirementError::TooDeep(self.place(began)));
        }
        let condition = if is_not {
            self.take('!');
            Condition::Not(Box::new(self.one()?))
        } else {
            self.take('(');
            let inner = self.either()?;
            if !self.take(')') {
                return Err(self.expected("`&`, `|` or `)`"));
            }
            inner
        };
        self.depth -= 1;
        Ok(condition)
    }

    fn term(&mut self) -> Result<Condition, RequirementError> {
        const TERM: &str = "an attribute, a platform, a classifier, a label or a device";
        let began = self.at;
        let is_quoted = self.peek() == Some('"');
        let word = self.word(TERM)?;
        let Some(comparison) = self.comparison() else {
            self.skip_space();
            return Ok(match word.as_str() {
                "*" if !is_quoted => Condition::Anything,
                _ => Condition::Word(word),
            });
        };
        let attribute = self.attribute(word, is_quoted, comparison, began)?;
        if comparison.is_of_order() && !attribute.is_ordered() {
            let name = attribute.name().to_owned();
            return Err(RequirementError::NoOrder(self.place(began), name));
        }
        self.skip_space();
        let value_at = self.at;
        let is_quoted = self.peek() == Some('"');
        let text = self.word("a value")?;
        let wrong = |parser: &Self, expected| {
            let place = parser.place(value_at);
            Err(RequirementError::Syntax(
                place,
                expected,
                format!("`{text}`"),
            ))
        };
        let is_like = comparison == Comparison::Like;
        let is_number = attribute.is_ordered() && !is_like;
        let number = is_number.then(|| Version::parse(&text)).flatten();
        if is_number && number.is_none() {
            return wrong(self, "a number");
        }
        if !is_like && !is_quoted && text.contains(['*', '?']) {
            return wrong(self, "`~` before a pattern, or quotes around the value");
        }
        self.skip_space();
        Ok(Condition::Compare {
            attribute,
            comparison,
            value: Value { text, number },
        })
    }

    /// What a comparison asks about. A word that is not an attribute is a label's key, unless it looks
    /// like a slip of the finger; quotes or `label=` say that it is none.
    fn attribute(
        &self,
        word: String,
        is_quoted: bool,
        comparison: Comparison,
        began: usize,
    ) -> Result<Attribute, RequirementError> {
        if is_quoted {
            return Ok(Attribute::LabelAt(word));
        }
        if let Some(attribute) = Attribute::named(&word) {
            return Ok(attribute);
        }
        let meant = slip(&word);
        if meant.is_some() || comparison.is_of_order() {
            let place = self.place(began);
            return Err(RequirementError::UnknownAttribute(place, word, meant));
        }
        Ok(Attribute::LabelAt(word))
    }

    fn comparison(&mut self) -> Option<Comparison> {
        let before = self.at;
        self.skip_space();
        let rest = &self.characters[self.at..];
        let there = |sign: &str| rest.iter().copied().take(sign.len()).eq(sign.chars());
        let signs = Comparison::SIGNS.into_iter();
        let longest = (signs.filter(|(sign, _)| there(sign))).max_by_key(|(sign, _)| sign.len());
        self.at = longest.map_or(before, |(sign, _)| self.at + sign.len());
        longest.map(|(_, comparison)| comparison)
    }

    /// A word, or text in quotes where `\` takes the next character as it is.
    fn word(&mut self, expected: &'static str) -> Result<String, RequirementError> {
        if self.peek() != Some('"') {
            let rest = self.characters[self.at..].iter();
            let word: String = rest.take_while(|c| is_of_word(**c)).collect();
            self.at += word.chars().count();
            return match word.is_empty() {
                true => Err(self.expected(expected)),
                false => Ok(word),
            };
        }
        let mut text = String::new();
        let mut is_taken_as_it_is = false;
        loop {
            self.at += 1;
            match self.peek() {
                None => return Err(self.expected("the closing `\"`")),
                Some(c) if is_taken_as_it_is => {
                    text.push(c);
                    is_taken_as_it_is = false;
                }
                Some('\\') => is_taken_as_it_is = true,
                Some('"') => break,
                Some(c) => text.push(c),
            }
        }
        self.at += 1;
        Ok(text)
    }

    fn expected(&self, expected: &'static str) -> RequirementError {
        let found = (self.peek()).map_or_else(|| "the end".to_owned(), |c| format!("`{c}`"));
        RequirementError::Syntax(self.place(self.at), expected, found)
    }

    fn place(&self, at: usize) -> Place {
        Place {
            text: self.text.to_owned(),
            column: at + 1,
        }
    }
}

fn single_or(mut parts: Vec<Condition>, several: fn(Vec<Condition>) -> Condition) -> Condition {
    match parts.len() {
        1 => parts.swap_remove(0),
        _ => several(parts),
    }
}
