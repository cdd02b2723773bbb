//! Reads requirements.

use std::fmt;

use packtrain_model::suggest;

use super::version::Version;
use super::{Attribute, Comparison, Condition, DEEPEST, LONGEST};

/// Why a text is not a requirement, in one sentence. It is the writer's to mend.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RequirementError(String);

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
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    write!(f, "\"{escaped}\"")
}

fn is_of_word(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !"&|!()=<>~\"\\,".contains(c)
}

pub(super) fn parse(text: &str) -> Result<Condition, RequirementError> {
    let characters = text.chars().count();
    if characters > LONGEST {
        return Err(RequirementError(format!(
            "a requirement takes {LONGEST} characters at most, this one has {characters}"
        )));
    }
    let mut parser = Parser {
        text,
        rest: text.trim_start(),
        depth: 0,
    };
    if parser.rest.is_empty() {
        return Ok(Condition::Anything);
    }
    let condition = parser.either()?;
    match parser.rest {
        "" => Ok(condition),
        _ => Err(parser.expected("`&`, `|` or the end")),
    }
}

struct Parser<'a> {
    text: &'a str,
    /// What has not been read.
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Takes a sign, and the space after it. Doubled signs are what programmers write.
    fn take(&mut self, sign: char) -> bool {
        let Some(mut rest) = self.rest.strip_prefix(sign) else {
            return false;
        };
        if matches!(sign, '&' | '|') {
            rest = rest.strip_prefix(sign).unwrap_or(rest);
        }
        self.rest = rest.trim_start();
        true
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
        if !self.rest.starts_with(['!', '(']) {
            return self.term();
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            let (text, column) = (self.text, self.column(self.rest));
            return Err(RequirementError(format!(
                "`{text}` nests deeper than {DEEPEST} at column {column}"
            )));
        }
        let condition = if self.take('!') {
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
        let began = self.rest;
        let (word, is_quoted) = self.word(TERM)?;
        let Some(comparison) = self.comparison() else {
            self.skip_space();
            return Ok(match word.as_str() {
                "*" if !is_quoted => Condition::Anything,
                _ => Condition::Word(word),
            });
        };
        let attribute = self.attribute(word, is_quoted, comparison, began)?;
        if comparison.is_of_order() && !attribute.is_ordered() {
            let (name, place) = (attribute.name(), self.place(began));
            return Err(RequirementError(format!(
                "`{name}` has no order, at {place}: use `=`, `!=` or `~`"
            )));
        }
        self.skip_space();
        let value_at = self.rest;
        let (text, is_quoted) = self.word("a value")?;
        let wrong = |expected| Err(self.found(value_at, expected, &format!("`{text}`")));
        let is_like = comparison == Comparison::Like;
        let is_number = attribute.is_ordered() && !is_like;
        let number = is_number.then(|| Version::parse(&text)).flatten();
        if is_number && number.is_none() {
            return wrong("a number");
        }
        if !is_like && !is_quoted && text.contains(['*', '?']) {
            return wrong("`~` before a pattern, or quotes around the value");
        }
        self.skip_space();
        Ok(Condition::Compare {
            attribute,
            comparison,
            value: text,
            number,
        })
    }

    /// What a comparison asks about. A word that is not an attribute is a label's key, unless it looks
    /// like a slip of the finger; quotes or `label=` say that it is none.
    fn attribute(
        &self,
        word: String,
        is_quoted: bool,
        comparison: Comparison,
        began: &str,
    ) -> Result<Attribute, RequirementError> {
        if is_quoted {
            return Ok(Attribute::LabelAt(word));
        }
        if let Some(attribute) = Attribute::named(&word) {
            return Ok(attribute);
        }
        let meant = slip(&word).map(|meant| format!("did you mean `{meant}`? "));
        if meant.is_none() && !comparison.is_of_order() {
            return Ok(Attribute::LabelAt(word));
        }
        let (place, meant) = (self.place(began), meant.unwrap_or_default());
        let known = Attribute::NAMED.map(|(name, _)| name).join(", ");
        Err(RequirementError(format!(
            "unknown attribute `{word}` at {place}: {meant}available: {known}, and \
             `label=<key>:<value>`"
        )))
    }

    fn comparison(&mut self) -> Option<Comparison> {
        let rest = self.rest.trim_start();
        let signs = Comparison::SIGNS.into_iter();
        let there = signs.filter_map(|(sign, it)| Some((rest.strip_prefix(sign)?, it)));
        let (rest, comparison) = there.min_by_key(|(rest, _)| rest.len())?;
        self.rest = rest;
        Some(comparison)
    }

    /// A word, or text in quotes where `\` takes the next character as it is; and whether it is in quotes.
    fn word(&mut self, expected: &str) -> Result<(String, bool), RequirementError> {
        let Some(quoted) = self.rest.strip_prefix('"') else {
            let end = self.rest.find(|c| !is_of_word(c));
            let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            if word.is_empty() {
                return Err(self.expected(expected));
            }
            self.rest = rest;
            return Ok((word.to_owned(), false));
        };
        let (mut text, mut characters) = (String::new(), quoted.chars());
        loop {
            match characters.next() {
                Some('"') => break,
                Some('\\') => text.extend(characters.next()),
                Some(c) => text.push(c),
                None => return Err(self.found("", "the closing `\"`", "the end")),
            }
        }
        self.rest = characters.as_str();
        Ok((text, true))
    }

    fn expected(&self, expected: &str) -> RequirementError {
        let found = self.rest.chars().next();
        let found = found.map_or_else(|| "the end".to_owned(), |c| format!("`{c}`"));
        self.found(self.rest, expected, &found)
    }

    fn found(&self, rest: &str, expected: &str, found: &str) -> RequirementError {
        let place = self.place(rest);
        RequirementError(format!("expected {expected}, found {found} at {place}"))
    }

    /// Where `rest`, what had not been read, began.
    fn place(&self, rest: &str) -> String {
        format!("column {} of `{}`", self.column(rest), self.text)
    }

    /// In characters from 1.
    fn column(&self, rest: &str) -> usize {
        self.text.chars().count() - rest.chars().count() + 1
    }
}

fn single_or(mut parts: Vec<Condition>, several: fn(Vec<Condition>) -> Condition) -> Condition {
    match parts.len() {
        1 => parts.swap_remove(0),
        _ => several(parts),
    }
}
