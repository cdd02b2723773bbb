//! From text to [`List`]. Text is hostile: its length and nesting are bounded.

mod condition;
mod here;
mod word;

use crate::android::shell::syntax::{
    Command, Item, Join, Kind, List, Piece, Pipeline, Redirect, Target, Word,
};

/// The longest text, in bytes.
const MAX_TEXT: usize = 256 * 1024;
/// The deepest nesting of brackets, quotes and keywords.
const MAX_DEPTH: usize = 48;

/// Why a text is no command line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxError {
    /// This stands where it cannot.
    #[error("syntax error: unexpected '{0}'")]
    Unexpected(String),
    /// A quote or bracket is not closed.
    #[error("no closing quote")]
    Unclosed,
    /// Too long or nested too deep.
    #[error("syntax error: too complex")]
    TooComplex,
}

impl SyntaxError {
    /// Whether more text could make it a command line.
    pub fn needs_more(&self) -> bool {
        match self {
            Self::Unclosed => true,
            Self::Unexpected(what) => what == "EOF",
            Self::TooComplex => false,
        }
    }
}

type Parsed<T> = Result<T, SyntaxError>;

/// Reads a whole text.
pub fn parse(text: &str) -> Parsed<List> {
    if text.len() > MAX_TEXT {
        return Err(SyntaxError::TooComplex);
    }
    let mut parser = Parser {
        chars: text.chars().collect(),
        at: 0,
        depth: 0,
        here: Vec::new(),
        bodies: Vec::new(),
    };
    let mut list = parser.list(&[])?;
    match parser.peek() {
        Some(c) => Err(SyntaxError::Unexpected(c.to_string())),
        None => {
            here::fill(&mut list, &parser.bodies);
            Ok(list)
        }
    }
}

struct Parser {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    /// Here-documents whose bodies begin after this line: number, end, whether expanded.
    here: Vec<(String, bool)>,
    /// Bodies in the order of their redirections.
    bodies: Vec<Word>,
}

const KEYWORDS: [&str; 12] = [
    "then", "elif", "else", "fi", "do", "done", "esac", "}", "if", "while", "until", "for",
];

impl Parser {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn eat(&mut self, text: &str) -> bool {
        let matches = text
            .chars()
            .enumerate()
            .all(|(i, c)| self.peek_at(i) == Some(c));
        if matches {
            self.at += text.chars().count();
        }
        matches
    }

    /// Spaces, comments and continued lines.
    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r') => self.at += 1,
                Some('\\') if self.peek_at(1) == Some('\n') => self.at += 2,
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn newlines(&mut self) -> Parsed<()> {
        loop {
            self.blanks();
            if self.peek() != Some('\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    /// Takes a line's end, and the bodies of here-documents that begin after it.
    fn newline(&mut self) -> Parsed<()> {
        self.at += 1;
        for (end, expanded) in std::mem::take(&mut self.here) {
            let mut body = String::new();
            loop {
                let mut line = String::new();
                while let Some(c) = self.peek().filter(|c| *c != '\n') {
                    line.push(c);
                    self.at += 1;
                }
                let more = self.peek().is_some();
                self.at += usize::from(more);
                if line == end || !more {
                    break;
                }
                body.push_str(&line);
                body.push('\n');
            }
            let word = if expanded {
                let mut inner = Self {
                    chars: body.chars().collect(),
                    at: 0,
                    depth: self.depth + 1,
                    here: Vec::new(),
                    bodies: Vec::new(),
                };
                Word(inner.double_quoted(None)?)
            } else {
                word::quoted(&body)
            };
            self.bodies.push(word);
        }
        Ok(())
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(SyntaxError::TooComplex);
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Commands up to the end, a closing bracket or one of the keywords `ends`.
    fn list(&mut self, ends: &[&str]) -> Parsed<List> {
        let mut items = Vec::new();
        loop {
            self.newlines()?;
            match self.peek() {
                None | Some(')') => break,
                Some(';') if self.peek_at(1) == Some(';') => break,
                _ if self.keyword().is_some_and(|k| ends.contains(&k.as_str())) => break,
                _ => {}
            }
            let mut item = self.item()?;
            self.blanks();
            match self.peek() {
                Some('&') => {
                    self.at += 1;
                    item.background = true;
                }
                Some(';') if self.peek_at(1) != Some(';') => self.at += 1,
                Some('\n') => self.newline()?,
                None | Some(')' | ';') => {}
                // `fi` and its like may follow a bracket directly.
                Some(c) => {
                    let known = self.keyword().is_some_and(|k| ends.contains(&k.as_str()));
                    if !known {
                        return Err(SyntaxError::Unexpected(c.to_string()));
                    }
                }
            }
            items.push(item);
        }
        Ok(List(items))
    }

    fn item(&mut self) -> Parsed<Item> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let join = if self.eat("&&") {
                Join::And
            } else if self.eat("||") {
                Join::Or
            } else {
                break;
            };
            self.newlines()?;
            rest.push((join, self.pipeline()?));
        }
        Ok(Item {
            first,
            rest,
            background: false,
        })
    }

    fn pipeline(&mut self) -> Parsed<Pipeline> {
        self.blanks();
        let mut negated = false;
        let timed = self.keyword().as_deref() == Some("time");
        if timed {
            self.at += 4;
            self.blanks();
        }
        while self.peek() == Some('!') && self.peek_at(1).is_none_or(char::is_whitespace) {
            self.at += 1;
            negated = !negated;
            self.blanks();
        }
        let mut commands = vec![self.command()?];
        loop {
            self.blanks();
            if self.peek() != Some('|') || self.peek_at(1) == Some('|') {
                break;
            }
            self.at += 1;
            self.newlines()?;
            commands.push(self.command()?);
        }
        Ok(Pipeline {
            negated,
            timed,
            commands,
        })
    }

    /// The keyword that begins here, without taking it.
    fn keyword(&self) -> Option<String> {
        let word: String = (self.chars[self.at.min(self.chars.len())..].iter())
            .take_while(|c| c.is_ascii_lowercase() || **c == '}' || **c == '{' || **c == '!')
            .take(8)
            .collect();
        let next = self.peek_at(word.chars().count());
        let ended = next.is_none_or(|c| c.is_whitespace() || ";&|()<>".contains(c));
        (ended && !word.is_empty()).then_some(word)
    }

    fn expect(&mut self, word: &str) -> Parsed<()> {
        self.newlines()?;
        if self.keyword().as_deref() == Some(word) {
            self.at += word.chars().count();
            return Ok(());
        }
        Err(self.unexpected())
    }

    fn unexpected(&self) -> SyntaxError {
        let next = self
            .keyword()
            .or_else(|| self.peek().map(|c| c.to_string()));
        SyntaxError::Unexpected(next.unwrap_or_else(|| "EOF".to_owned()))
    }

    fn command(&mut self) -> Parsed<Command> {
        self.blanks();
        let kind = match (self.peek(), self.keyword().as_deref()) {
            (Some('('), _) => {
                self.at += 1;
                let list = self.nested(|p| p.list(&[]))?;
                if !self.eat(")") {
                    return Err(self.unexpected());
                }
                Kind::Subshell(list)
            }
            (_, Some("{")) => {
                self.at += 1;
                let list = self.nested(|p| p.list(&["}"]))?;
                self.expect("}")?;
                Kind::Group(list)
            }
            (_, Some("if")) => self.nested(Self::if_command)?,
            (_, Some(word @ ("while" | "until"))) => {
                let until = word == "until";
                self.at += 5;
                self.nested(|p| {
                    let condition = p.list(&["do"])?;
                    p.expect("do")?;
                    let body = p.list(&["done"])?;
                    p.expect("done")?;
                    Ok(Kind::Loop {
                        condition,
                        body,
                        until,
                    })
                })?
            }
            _ if self.begins_condition() => self.condition()?,
            (_, Some("for")) => self.nested(Self::for_command)?,
            (_, Some("case")) => self.nested(Self::case_command)?,
            (_, Some(word)) if KEYWORDS.contains(&word) => return Err(self.unexpected()),
            _ => return self.simple(),
        };
        let mut redirects = Vec::new();
        while let Some(redirect) = self.redirect()? {
            redirects.push(redirect);
        }
        Ok(Command { kind, redirects })
    }

    fn if_command(&mut self) -> Parsed<Kind> {
        let mut branches = Vec::new();
        let mut otherwise = None;
        self.at += 2;
        loop {
            let condition = self.list(&["then"])?;
            self.expect("then")?;
            let body = self.list(&["elif", "else", "fi"])?;
            branches.push((condition, body));
            match self.keyword().as_deref() {
                Some("elif") => self.at += 4,
                Some("else") => {
                    self.at += 4;
                    otherwise = Some(self.list(&["fi"])?);
                    break;
                }
                _ => break,
            }
        }
        self.expect("fi")?;
        Ok(Kind::If {
            branches,
            otherwise,
        })
    }

    fn for_command(&mut self) -> Parsed<Kind> {
        self.at += 3;
        self.blanks();
        let variable = self.name();
        if variable.is_empty() {
            return Err(self.unexpected());
        }
        self.newlines()?;
        let mut words = None;
        if self.keyword().as_deref() == Some("in") {
            self.at += 2;
            let mut all = Vec::new();
            loop {
                self.blanks();
                match self.word()? {
                    Some(word) => all.push(word),
                    None => break,
                }
            }
            words = Some(all);
        }
        self.blanks();
        self.eat(";");
        self.expect("do")?;
        let body = self.list(&["done"])?;
        self.expect("done")?;
        Ok(Kind::For {
            variable,
            words,
            body,
        })
    }

    fn case_command(&mut self) -> Parsed<Kind> {
        self.at += 4;
        self.blanks();
        let word = self.word()?.ok_or_else(|| self.unexpected())?;
        self.expect("in")?;
        let mut arms = Vec::new();
        loop {
            self.newlines()?;
            if self.keyword().as_deref() == Some("esac") {
                break;
            }
            self.eat("(");
            let mut patterns = Vec::new();
            loop {
                self.blanks();
                patterns.push(self.word()?.ok_or_else(|| self.unexpected())?);
                self.blanks();
                if !self.eat("|") {
                    break;
                }
            }
            if !self.eat(")") {
                return Err(self.unexpected());
            }
            arms.push((patterns, self.list(&["esac"])?));
            if !self.eat(";;") {
                break;
            }
        }
        self.expect("esac")?;
        Ok(Kind::Case { word, arms })
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.peek() {
            let fits =
                c == '_' || c.is_ascii_alphabetic() || (!name.is_empty() && c.is_ascii_digit());
            if !fits {
                break;
            }
            name.push(c);
            self.at += 1;
        }
        name
    }

    fn simple(&mut self) -> Parsed<Command> {
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            if words.is_empty() {
                let start = self.at;
                let name = self.name();
                if !name.is_empty() && self.eat("=") {
                    assignments.push((name, self.word()?.unwrap_or_default()));
                    continue;
                }
                if !name.is_empty() && assignments.is_empty() && self.eat("()") {
                    self.newlines()?;
                    let body = Box::new(self.nested(Self::command)?);
                    return Ok(Command {
                        kind: Kind::Function { name, body },
                        redirects,
                    });
                }
                self.at = start;
            }
            match self.word()? {
                Some(word) => words.push(word),
                None => break,
            }
        }
        if words.is_empty() && assignments.is_empty() && redirects.is_empty() {
            return Err(self.unexpected());
        }
        Ok(Command {
            kind: Kind::Simple { assignments, words },
            redirects,
        })
    }

    fn redirect(&mut self) -> Parsed<Option<Redirect>> {
        self.blanks();
        let start = self.at;
        let mut digits = String::new();
        while let Some(c) = self.peek().filter(char::is_ascii_digit) {
            digits.push(c);
            self.at += 1;
        }
        let both = digits.is_empty() && self.peek() == Some('&') && self.peek_at(1) == Some('>');
        if both {
            self.at += 2;
            self.blanks();
            let word = self.word()?.ok_or_else(|| self.unexpected())?;
            let target = Target::Both(word);
            return Ok(Some(Redirect { fd: None, target }));
        }
        type Make = fn(Word) -> Target;
        let kinds: [(&str, Make); 8] = [
            ("<<<", Target::HereText),
            (">>", Target::Append),
            (">&", Target::CopyOf),
            (">|", Target::Write),
            ("<<", Target::Here),
            ("<&", Target::CopyOf),
            (">", Target::Write),
            ("<", Target::Read),
        ];
        for (sign, make) in kinds {
            if !self.eat(sign) {
                continue;
            }
            let dash = sign == "<<" && self.eat("-");
            self.blanks();
            let word = self.word()?.ok_or_else(|| self.unexpected())?;
            if sign == "<<" || dash {
                let expanded = word.plain().is_some();
                let end: String = (word.0.iter())
                    .filter_map(|piece| match piece {
                        Piece::Literal { text, .. } => Some(text.as_str()),
                        _ => None,
                    })
                    .collect();
                self.here.push((end, expanded));
            }
            let fd = digits.parse().ok().or(sign.starts_with('<').then_some(0));
            let target = make(word);
            return Ok(Some(Redirect { fd, target }));
        }
        self.at = start;
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[-a-z \"'`$(){}|&;<>#!=\\\\\n\\[\\]*?0-9]{0,120}") {
            let _ = parse(&text);
        }

        #[test]
        fn quoted_text_is_one_word(text in "[^'\u{0}]{0,60}") {
            let list = parse(&format!("echo '{text}'")).expect("parsed");
            let Kind::Simple { words, .. } = &list.0[0].first.commands[0].kind else {
                panic!("a simple command");
            };
            prop_assert_eq!(words.len(), 2);
            prop_assert_eq!(&words[1], &word::quoted(&text));
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_crash() {
        for open in ["(", "$(", "\"$(", "{ ", "if "] {
            assert!(parse(&open.repeat(100_000)).is_err());
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        assert_eq!(parse("echo 'a"), Err(SyntaxError::Unclosed));
        assert_eq!(
            parse("a; ) b"),
            Err(SyntaxError::Unexpected(")".to_owned()))
        );
        assert_eq!(parse("fi"), Err(SyntaxError::Unexpected("fi".to_owned())));
        assert_eq!(
            parse("if true; then"),
            Err(SyntaxError::Unexpected("EOF".to_owned()))
        );
    }
}
